"""A declared column: bounds become a grid with an even number of steps, values become codes.

What never changes: ``value = lower + step * code``; a row's code is ``floor(t + 1/2)`` clamped to the grid; an odd
number of steps is doubled by halving the step; a category's code is its place in the declared list.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, Literal, cast

from dpnb.trusted.canonical import Record, is_record
from dpnb.trusted.errors import SchemaError
from dpnb.trusted.privacy.loss import exact_text
from dpnb.trusted.records import RESERVED, column_name, text_of
from dpnb.trusted.schema.calendar import STEPS, constant, start_of
from dpnb.trusted.schema.categories import Category, codes, declared_values, listed, spacing, unknown_value
from dpnb.trusted.schema.cell import declared_text
from dpnb.trusted.schema.cell_rules import KEYS, LISTS, NO_RULES, CellRules, alike
from dpnb.trusted.schema.free_text import WORD, FreeText
from dpnb.trusted.schema.grid import (
    DEFAULT_STEPS,
    Number,
    check_range,
    exact,
    looks_numeric,
    parse,
    short,
    whole,
    whole_steps,
)

Value = int | Fraction | str | bool
Kind = Literal["integer", "number", "category", "date", "datetime", "text"]

DROP = "drop"
_NUMBERS = ("integer", "number")
_GRID = ("lower", "upper", "step")
_EVERY = ("name", "type", "label", "missing")
WRITTEN: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((*_NUMBERS, *STEPS), _GRID),
    "category": ("values",),
    "text": tuple(word.name for word in fields(FreeText)),
}
"""What a record of each type of column says beside its name, type, label and what is missing."""


@dataclass(frozen=True, slots=True)
class Column:
    """One declared column and its integer grid. Make one with :meth:`integer`, :meth:`number`, :meth:`category`.

    Attributes
    ----------
    name, type, label
        The name in the data, ``"integer"``, ``"number"`` or ``"category"``, and a readable label.
        Or ``"date"``, ``"datetime"``: whole steps of a calendar, numbered as :mod:`dpnb.trusted.schema.calendar` does.
        Or ``"text"``: labels that nobody listed, of several whole numbers each (:mod:`dpnb.trusted.schema.free_text`).
    missing
        ``"drop"``, or the public constant that replaces a missing value.
    lower, step, steps
        ``value = lower + step * code`` for codes 0 to ``steps``. ``steps`` is even for integers and numbers.
        A category whose values are evenly spaced ascending numbers has them too, with ``len(values) - 1`` steps,
        odd or even; other categories have None.
    values
        A category's declared values, in order of their codes.
    halved
        True when the declared grid had an odd number of steps.
    calendar
        Of dates the step: ``"hour"``, ``"day"``, ``"week"`` or ``"month"``; else None.
    typical
        A public centre of a skewed column, from where planners may measure squares. Nothing in this wing reads it: what is asked is priced
        from its request, whatever centre stands in it.
    text
        How the labels of a text are bounded and made alike; else None.
    weights_fixed
        True of a survey's weights, where the owner declares that none depends on other people's rows.
    cells
        What is declared of the reading of one cell: codes for missing ones, how numbers and dates are written.

    Examples
    --------
    >>> age = Column.integer("age", 0, 100, label="age in years")
    >>> age.code_of(41.6), age.value_of(100), age.size
    (42, 100, 101)
    """

    name: str
    type: Kind
    label: str
    missing: Value
    lower: Fraction | None
    step: Fraction | None
    steps: int | None
    values: tuple[Category, ...] | None = None
    halved: bool = False
    calendar: str | None = None
    typical: Fraction | None = None
    text: FreeText | None = None
    weights_fixed: bool = False
    cells: CellRules = NO_RULES

    def __post_init__(self) -> None:
        if self.type not in ("category", "text") and (
            self.steps is None or self.steps % 2 or self.step is None
        ):
            raise SchemaError(
                f"{self.name}: a grid needs an even number of steps; use Column.{self.type}(...)"
            )

    @classmethod
    def integer(
        cls,
        name: str,
        lower: Number,
        upper: Number,
        *,
        step: Number = 1,
        label: str = "",
        missing: Number | str = DROP,
    ) -> Column:
        """Declare a column of whole numbers between two public bounds.

        Raises
        ------
        SchemaError
            When a bound is missing, not a finite whole number, or the bounds leave no range.
        """
        grid = exact(lower, name, "lower"), exact(upper, name, "upper"), exact(step, name, "step")
        for word, number in zip(_GRID, grid, strict=True):
            if number.denominator != 1:
                raise SchemaError(
                    f'{name}: {word} of an integer is a whole number; for decimals write type = "number"'
                )
        return cls._grid(name, "integer", *grid).called(name, label=label, missing=missing)

    @classmethod
    def number(
        cls,
        name: str,
        lower: Number,
        upper: Number,
        *,
        step: Number | None = None,
        label: str = "",
        missing: Number | str = DROP,
    ) -> Column:
        """Declare a column of decimal numbers between two public bounds.

        Parameters
        ----------
        name : str
            The column's name in the data.
        lower, upper : number
            Public bounds, chosen without looking at the data. Values beyond them are clamped.
        step : number, optional
            The grid's step; by default 1/2**20 of the range.
        label : str
            A readable label.
        missing : "drop" or number
            What happens to missing values.

        Raises
        ------
        SchemaError
            When a bound is missing or not finite, ``lower >= upper``, or the step does not divide the range.
        """
        low, high = exact(lower, name, "lower"), exact(upper, name, "upper")
        size = (high - low) / DEFAULT_STEPS if step is None else exact(step, name, "step")
        return cls._grid(name, "number", low, high, size).called(name, label=label, missing=missing)

    @classmethod
    def category(
        cls,
        name: str,
        values: Sequence[Category],
        *,
        label: str = "",
        missing: Category = DROP,
    ) -> Column:
        """Declare a column that holds one of a public list of values; anything else counts as missing.

        Raises
        ------
        SchemaError
            When the list is empty, repeats a value, or mixes text with numbers.
        """
        declared = declared_values(name, values)
        lower, step = spacing(declared)
        steps = None if lower is None else len(declared) - 1
        column = cls(name, "category", "", DROP, lower, step, steps, declared)
        return column.called(name, label=label, missing=missing)

    @classmethod
    def dates(
        cls,
        name: str,
        lower: object,
        upper: object,
        *,
        kind: Literal["date", "datetime"] = "date",
        step: str | None = None,
        label: str = "",
        missing: object = DROP,
    ) -> Column:
        """Declare a column of dates between two public ones: ISO text, or dates of Python.

        Parameters
        ----------
        name, label : str
            The column's name in the data, and a readable one.
        lower, upper : date or ISO text
            Public bounds, chosen without looking at the data. Dates beyond them are clamped.
        kind : {"date", "datetime"}
            Whether hours may count.
        step : {"day", "week", "month", "hour"}, optional
            What is counted: a date becomes the day, week or month it lies in. By default days of a date, hours of a datetime.
        missing : "drop" or date
            What happens to what is no date.

        Raises
        ------
        SchemaError
            When a bound is no date, the step does not go with the type, or the bounds leave no range.
        """
        steps = STEPS[kind]
        step = steps[0] if step is None else step
        if step not in steps:
            hint = 'write type = "datetime"' if step == "hour" else f"write one of {', '.join(steps)}"
            raise SchemaError(f"{name}: step = {step!r} does not go with a {kind}: {hint}")
        low, high = (constant(bound, step, name, "a bound") for bound in (lower, upper))
        if low >= high:
            raise SchemaError(f"{name}: the first of the bounds must be at least a {step} before the second")
        column = cls._grid(name, kind, Fraction(low), Fraction(high), Fraction(1), step)
        return column.called(name, label=label, missing=missing)

    @classmethod
    def free_text(
        cls,
        name: str,
        length: int,
        *,
        label: str = "",
        missing: object = DROP,
        **words: Any,
    ) -> Column:
        """Declare a column of texts that nobody listed: job titles, post codes, diagnoses.

        Parameters
        ----------
        name, label : str
            The column's name in the data, and a readable one.
        length, **words
            How labels are bounded and made alike: see :class:`~dpnb.trusted.schema.free_text.FreeText`.
        missing : "drop" or text
            What happens to a cell without a label: its row leaves, or it has this one.

        Raises
        ------
        SchemaError
            When labels of that length and those characters cannot be.
        """
        try:
            text = FreeText(length, **words)
        except SchemaError as fault:
            raise SchemaError(f"{name}: {fault}") from None
        column = cls(name, "text", "", DROP, None, None, None, text=text)
        return column.called(name, label=label, missing=missing)

    @classmethod
    def declared(cls, name: str, kind: Kind, **facts: Any) -> Column:
        """Declare a column of any type by the words of its own constructor, ``typical`` and ``weights_fixed``, and the rules of its cells.

        Examples
        --------
        >>> Column.declared("age", "integer", lower=0, upper=100, missing_codes=[999]).describe()
        'integer 0 to 100'
        """
        return cls._declared(name, kind, facts, recorded=False)

    @classmethod
    def _declared(cls, name: str, kind: Kind, facts: dict[str, Any], *, recorded: bool) -> Column:
        keys = {word: facts.pop(word) for word in KEYS[kind] if word in facts}
        if "true" in keys:
            facts.setdefault("values", [False, True])
        return cls._made(name, kind, facts).ruled(keys, recorded=recorded)

    @classmethod
    def _made(cls, name: str, kind: Kind, facts: dict[str, Any]) -> Column:
        if kind == "category":
            return cls.category(name, **facts)
        if kind == "text":
            return cls.free_text(name, **facts)
        if kind in STEPS:
            return cls.dates(name, kind=cast("Any", kind), **facts)
        typical, fixed = facts.pop("typical", None), facts.pop("weights_fixed", False)
        make = cls.integer if kind == "integer" else cls.number
        column = make(name, **facts).weighing(fixed)
        return column if typical is None else column.centred_on(typical)

    @classmethod
    def _grid(
        cls, name: str, kind: Kind, lower: Fraction, upper: Fraction, step: Fraction, by: str | None = None
    ) -> Column:
        check_range(name, lower, upper, step)
        steps = whole_steps(name, lower, upper, step)
        halved = steps % 2 == 1
        if halved:
            step, steps = step / 2, steps * 2
        return cls(name, kind, "", DROP, lower, step, steps, None, halved, by)

    def centred_on(self, typical: Number) -> Column:
        """Return the column with a public centre between its bounds.

        Raises
        ------
        SchemaError
            For a column without numbers, a date, or a centre outside the bounds.
        """
        if self.type not in _NUMBERS:
            raise SchemaError(f"{self.name}: typical goes with a column of numbers")
        value = exact(typical, self.name, "typical")
        if not self.bounds[0] <= value <= self.bounds[1]:
            raise SchemaError(f"{self.name}: typical = {short(value)} lies outside {self.describe()}")
        return replace(self, typical=value)

    def called(self, name: str, *, label: str = "", missing: object = DROP) -> Column:
        """Return a column of the same values under a name, with a label and what happens to missing values."""
        constant = DROP if _is_drop(missing) else self._constant(missing)
        return replace(self, name=column_name(name), label=text_of(label, name), missing=constant)

    def weighing(self, fixed: object) -> Column:
        """Return the column as weights of which none depends on other people's rows, as its owner declares, or does not."""
        if not isinstance(fixed, bool):
            raise SchemaError(f"{self.name}: weights_fixed is true or false")
        if fixed and self.bounds[0] < 0:
            raise SchemaError(
                f"{self.name}: no weight is below zero: write lower = 0, or leave weights_fixed out"
            )
        return self if fixed is self.weights_fixed else replace(self, weights_fixed=fixed)

    def ruled(self, keys: Mapping[str, Any], *, recorded: bool = False) -> Column:
        """Return the column with the rules of its cells that are declared, or that a record has.

        Raises
        ------
        SchemaError
            For a rule that says nothing, or that contradicts itself or the values; it names the key.
        """
        cells = CellRules.of(self.name, self.type, keys, self.text, recorded=recorded)
        if cells.format and "%d" not in cells.format and self.calendar != "month":
            raise SchemaError(
                f'{self.name}: format = {cells.format!r} has no day: add %d, or write step = "month"'
            )
        column = replace(self, cells=cells)
        if self.values is not None and cells:
            _refuse_values(column)
        return column

    def value_text(self, value: Category) -> str:
        """Return the canonical text of the cells that a declared value is, as they are read; empty where they are missing."""
        read = self.cells.text_of(value if isinstance(value, str) else str(int(value)))
        return declared_text(read or "") or ""

    def cell_text(self, text: str | None) -> str | None:
        """Return the text that is read of a cell's own text; None where the cell is missing, by its content or by a declared code."""
        read, codes = self.cells.text_of(text), self.cells.missing_codes
        return None if codes and read and alike(read, self.type, self.text) in codes else read

    def _constant(self, constant: object) -> Value:
        """Read the constant that replaces a missing value."""
        if isinstance(constant, list | tuple):
            raise SchemaError(
                f"{self.name}: missing is one value; for cells that mean unknown write missing_codes = {list(constant)!r}"
            )
        if self.text is not None:
            return self._label(constant)
        if self.values is not None:
            return self.values[self.code_of(constant)]
        if self.calendar is not None:
            return self._date(constant)
        if isinstance(constant, str) and not looks_numeric(constant):
            raise SchemaError(
                f'{self.name}: missing is "drop" or a number between its bounds, not {constant!r}'
            )
        value = exact(constant, self.name, "missing")
        if not self.bounds[0] <= value <= self.bounds[1]:
            raise SchemaError(
                f'{self.name}: missing = {short(value)} lies outside {self.describe()}; or write "drop"'
            )
        return value

    def _label(self, constant: object) -> str:
        found = cast("FreeText", self.text).label_of(constant) if isinstance(constant, str) else None
        if found is None:
            raise SchemaError(
                f'{self.name}: missing = {constant!r} is not a label of this column: write "drop", or a label such as "none"'
            )
        return found

    def _date(self, value: object) -> str:
        lower, step, steps = self.grid
        place = self.position_of(value)
        if not 0 <= place <= steps:
            raise SchemaError(f'{self.name}: missing lies outside {self.describe()}; or write "drop"')
        return self._start(lower + place * step)

    def _start(self, number: Fraction) -> str:
        return start_of(math.floor(number), cast("str", self.calendar))

    @property
    def grid(self) -> tuple[Fraction, Fraction, int]:
        """Lower bound, step and number of steps of a numeric column."""
        if self.lower is None or self.step is None or self.steps is None:
            raise SchemaError(f"{self.name} is declared {self.describe()}: it has no numeric bounds")
        return self.lower, self.step, self.steps

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """Lower and upper bound of a numeric column."""
        lower, step, steps = self.grid
        return lower, lower + step * steps

    @property
    def numeric(self) -> bool:
        """True when codes are evenly spaced numbers, so that sums and means have a meaning."""
        return self.lower is not None

    @property
    def drops(self) -> bool:
        """True when missing values leave the statistic, so that its count is private."""
        return _is_drop(self.missing)

    @property
    def size(self) -> int:
        """The number of codes; of a text that of each of its whole numbers."""
        if self.text is not None:
            return WORD
        return len(self.values) if self.values is not None else (self.steps or 0) + 1

    @property
    def parts(self) -> tuple[str, ...]:
        """The columns of the prepared copy: the column itself, or the whole numbers of a text."""
        if self.text is None:
            return (self.name,)
        return tuple(f"{RESERVED}{self.name}:{place}" for place in range(self.text.words))

    @property
    def declared_step(self) -> Fraction | None:
        """The step as declared, before an odd grid was halved."""
        return self.step * 2 if self.halved and self.step is not None else self.step

    @property
    def missing_code(self) -> int | None:
        """The code that replaces a missing value, or None under ``missing = "drop"``; a text has several, :attr:`missing_words`."""
        return None if self.drops or self.text is not None else self.code_of(self.missing)

    @property
    def missing_words(self) -> tuple[int | None, ...]:
        """What replaces a missing text: the whole numbers of a label, or of each None."""
        text = cast("FreeText", self.text)
        return (None,) * text.words if self.drops else text.codes_of(str(self.missing))

    def value_of(self, code: int) -> Value:
        """Return the value that a code stands for.

        Parameters
        ----------
        code : int
            A code from 0 to ``size - 1``.

        Returns
        -------
        int, Fraction, str or bool
            The declared category value, the exact number (an int when whole), or the ISO text of a date.
        """
        if not 0 <= code < self.size:
            raise SchemaError(f"{self.name} has codes 0 to {self.size - 1}, not {code}")
        if self.values is not None:
            return self.values[code]
        lower, step, _ = self.grid
        return whole(lower + step * code) if self.calendar is None else self._start(lower + step * code)

    def position_of(self, value: object) -> Fraction:
        """Return the exact place of a number on the grid's scale, neither rounded nor clamped."""
        lower, step, _ = self.grid
        if self.calendar is not None:
            return (constant(value, self.calendar, self.name, "value") - lower) / step
        if isinstance(value, str):
            raise SchemaError(f"{self.name} is declared {self.describe()}: {value!r} is text, not a number")
        return (exact(value, self.name, "value") - lower) / step

    def code_of(self, value: object) -> int:
        """Return the code that a row holding this value gets.

        Parameters
        ----------
        value : number, str or bool
            A public constant. Numbers are rounded to the grid and clamped to it, infinities too.

        Raises
        ------
        SchemaError
            When a category does not declare the value, or it is not a number where one is needed.
        """
        if self.values is not None:
            return self._category_code(value)
        if isinstance(value, float) and math.isinf(value):
            return 0 if value < 0 else self.size - 1
        place = math.floor(self.position_of(value) + Fraction(1, 2))
        return min(max(place, 0), self.size - 1)

    def _category_code(self, value: Any) -> int:
        declared = cast("tuple[Category, ...]", self.values)
        try:
            code = codes(declared).get(value)
        except TypeError:
            code = None
        if code is None:
            raise SchemaError(f"{self.name} is declared {self.describe()}: {unknown_value(value, declared)}")
        return code

    def describe(self) -> str:
        """Say in a few words what is declared, for cards and errors: ``0/1`` or ``integer 0 to 100``."""
        if self.values is not None:
            return listed(self.values)
        if self.text is not None:
            return f"text of at most {self.text.length} characters"
        lower, upper = self.bounds
        if self.calendar is not None:
            by = "" if self.calendar == STEPS[cast("Any", self.type)][0] else f" by {self.calendar}"
            return f"{self.type} {self._start(lower)} to {self._start(upper)}{by}"
        words = f"{self.type} {short(lower)} to {short(upper)}"
        plain = self.type == "integer" and self.declared_step == 1
        default = self.declared_step == (upper - lower) / DEFAULT_STEPS
        if plain or default:
            return words
        return words + f" in steps of {short(cast('Fraction', self.declared_step))}"

    def to_json(self) -> Record:
        """Write the column exactly, as plain JSON."""
        constant = (
            exact_text(Fraction(self.missing)) if self.type in _NUMBERS and not self.drops else self.missing
        )
        record: Record = {"name": self.name, "type": self.type, "label": self.label} | self.cells.to_json()
        record["missing"] = DROP if self.drops else {"constant": constant}
        if self.values is not None:
            return record | {"values": list(self.values)}
        if self.text is not None:
            return record | self.text.to_json()
        if self.calendar is not None:
            ends = map(self._start, self.bounds)
            return record | dict(zip(_GRID, (*ends, self.calendar), strict=True))
        record |= {} if self.typical is None else {"typical": exact_text(self.typical)}
        record |= {"weights_fixed": True} if self.weights_fixed else {}
        grid = (*self.bounds, cast("Fraction", self.declared_step))
        return record | dict(zip(_GRID, map(exact_text, grid), strict=True))

    @classmethod
    def from_json(cls, record: Any) -> Column:
        """Read what :meth:`to_json` wrote; anything else is refused.

        Raises
        ------
        SchemaError
            For a record of another form, or one that does not declare a column.
        """
        kind: Any = record.get("type") if isinstance(record, Mapping) else None
        if kind not in WRITTEN:
            raise SchemaError(f"a column record needs type {', '.join(WRITTEN)}")
        usual = (*KEYS[kind], *(("typical", "weights_fixed") if kind in _NUMBERS else ()))
        more = [word for word in usual if word in record]
        if not is_record(record, dict.fromkeys((*_EVERY, *WRITTEN[kind], *more), object)):
            raise SchemaError(
                f"a record of a column of type {kind} has {', '.join((*_EVERY, *WRITTEN[kind]))}"
            )
        facts = {word: record[word] for word in record if word not in ("name", "type")}
        lists = ("values", "characters", *LISTS)
        if not all(isinstance(facts.get(word, []), list) for word in lists):
            raise SchemaError(f"a column record's {', '.join(lists)} are lists")
        facts["missing"] = _missing_json(record["missing"])
        if kind in _NUMBERS:
            exact_words = [word for word in (*_GRID, "typical", "missing") if facts.get(word, DROP) != DROP]
            facts |= {word: parse(facts[word], word) for word in exact_words}
        column = cls._declared(record["name"], kind, facts, recorded=True)
        if column.to_json() != record:
            raise SchemaError("a column record has its dates, numbers and labels as they are read")
        return column

    def pricing(self) -> Record:
        """Return the part of the column that a price or an answer depends on."""
        record = self.to_json()
        del record["label"]
        record.pop("typical", None)
        return record


def _refuse_values(column: Column) -> None:
    """Refuse values that the rules make one, or a code for missing cells; lists of true and false go with these two values."""
    name, values, cells = column.name, column.values or (), column.cells
    if cells.true or cells.false:
        if not (cells.true and cells.false):
            raise SchemaError(f"{name}: true and false are declared together: write both lists")
        if len(values) != 2 or set(values) != {0, 1}:
            raise SchemaError(f"{name}: true and false go with values = [false, true]: leave values out")
        return
    seen: dict[str, Category] = {}
    for value in values:
        text = column.value_text(value)
        other = seen.setdefault(text, value)
        if not text or other is not value:
            what = f"{other!r} and {value!r} are one cell" if text else f"{value!r} is a missing cell"
            raise SchemaError(f"{name}: {what} under trim or case: keep one of values, or leave the key out")
        if text in cells.missing_codes:
            raise SchemaError(
                f"{name}: missing_codes and values both name {value!r}: remove it from one of them"
            )


def _is_drop(missing: object) -> bool:
    return isinstance(missing, str) and missing == DROP


def _missing_json(record: object) -> Any:
    """Read what a record says of missing values."""
    if record == DROP:
        return DROP
    if not isinstance(record, Mapping) or set(record) != {"constant"}:
        raise SchemaError('a column record\'s missing is "drop" or {"constant": value}')
    return record["constant"]
