"""One question, as data: what is asked of which rows. It never holds a value of a row.

The canonical form is injective and typed, and it is permanent: answers are stored under it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from dpnb.errors import PlanError
from dpnb.planner import expression
from dpnb.planner.expression import (
    Expr,
    Plain,
    as_subject,
    decode_value,
    encode_value,
    plain,
    show,
    show_value,
)
from dpnb.statistics import BY_NAME, Statistic
from dpnb.trusted.canonical import canonical

FORMAT = 1
MAX_KEYS = 8
MAX_NUMBERS = 32

Option = Plain | None | tuple[Plain, ...]


def _encode_option(value: Option) -> list[Any]:
    if value is None:
        return ["none"]
    if isinstance(value, tuple):
        return ["list", *(encode_value(v) for v in value)]
    return encode_value(value)


def _decode_option(record: object) -> Option:
    if isinstance(record, list) and record:
        if record == ["none"]:
            return None
        if record[0] == "list" and len(record) <= expression.MAX_LIST + 1:
            pairs = [v for v in record[1:] if isinstance(v, list) and len(v) == 2]
            if len(pairs) == len(record) - 1:
                return tuple(decode_value(*v) for v in pairs)
        elif len(record) == 2:
            return decode_value(*record)
    raise PlanError("An option in this plan is not in canonical form.")


class _Written:
    """Where a canonical text is kept once it was written; it is no field, and in no pickle."""

    __slots__ = ("_canonical",)
    _canonical: str


@dataclass(frozen=True, slots=True, eq=False)
class Question(_Written):
    """A statistic of an expression over the rows that satisfy a filter, by declared groups.

    Parameters
    ----------
    dataset : str
        Name of the dataset.
    statistic : str
        Registered name, for example ``"mean"``.
    target : Expr, optional
        What is summarised; ``None`` for a plain count.
    where : Expr, optional
        Which rows take part; rows where it is false or unknown do not.
    by : tuple of Expr
        The group keys: categories, small integers or bins.
    options : tuple of (str, value)
        The statistic's own options, kept sorted by name.
    other : Expr, optional
        A second target, for statistics of two numbers. A question without one has the form it always had.
    others : tuple of Expr
        Further targets, for statistics of many numbers; the same holds.
    """

    dataset: str
    statistic: str
    target: Expr | None = None
    where: Expr | None = None
    by: tuple[Expr, ...] = ()
    options: tuple[tuple[str, Option], ...] = ()
    other: Expr | None = None
    others: tuple[Expr, ...] = ()

    def __post_init__(self) -> None:
        cleaned: list[tuple[str, Option]] = []
        for name, value in self.options:
            if isinstance(value, tuple | list) and len(value) > expression.MAX_LIST:
                raise PlanError(
                    f"{name}= takes a list of at most {expression.MAX_LIST:,} values, not {len(value):,}."
                )
            if value is None or isinstance(value, tuple | list):
                cleaned.append((name, None if value is None else tuple(plain(v) for v in value)))
            else:
                cleaned.append((name, plain(value)))
        object.__setattr__(self, "options", tuple(sorted(cleaned, key=lambda pair: pair[0])))
        if len(self.by) > MAX_KEYS:
            raise PlanError(f"A question takes at most {MAX_KEYS} group keys.")
        if len(self.others) >= MAX_NUMBERS:
            raise PlanError(f"A question takes at most {MAX_NUMBERS} columns.")

    def __eq__(self, other: object) -> bool:
        """Equal questions have equal canonical forms: an option of 0 is not one of False."""
        return isinstance(other, Question) and self.canonical() == other.canonical()

    def __hash__(self) -> int:
        return hash(self.canonical())

    def option(self, name: str, default: Option = None) -> Option:
        """Return one option, or the default where it was not given."""
        return dict(self.options).get(name, default)

    def to_json(self) -> dict[str, Any]:
        """Return the canonical record."""
        second: dict[str, Any] = {} if self.other is None else {"other": expression.to_json(self.other)}
        if self.others:
            second["others"] = [expression.to_json(expr) for expr in self.others]
        return {
            "format": FORMAT,
            "dataset": self.dataset,
            "statistic": self.statistic,
            "target": None if self.target is None else expression.to_json(self.target),
            "where": None if self.where is None else expression.to_json(self.where),
            "by": [expression.to_json(key) for key in self.by],
            "options": [[name, _encode_option(value)] for name, value in self.options],
            **second,
        }

    @classmethod
    def from_json(cls, record: object) -> Question:
        """Return the question of a canonical record; anything else is refused."""
        names = {"format", "dataset", "statistic", "target", "where", "by", "options"}
        if (
            not isinstance(record, dict)
            or set(record) - {"other", "others"} != names
            or type(record["format"]) is not int
            or record["format"] != FORMAT
        ):
            raise PlanError("A question in this plan is not in canonical form.")
        by, options, others = record["by"], record["options"], record.get("others", [])
        listed = all(isinstance(found, list) for found in (by, options, others))
        if not listed or len(options) > 32 or len(others) > MAX_NUMBERS:
            raise PlanError("A question in this plan is not in canonical form.")
        if not all(isinstance(record[name], str) for name in ("dataset", "statistic")):
            raise PlanError("A question in this plan is not in canonical form.")
        pairs = []
        for pair in options:
            if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):
                raise PlanError("An option in this plan is not in canonical form.")
            pairs.append((pair[0], _decode_option(pair[1])))
        made = cls(
            record["dataset"],
            record["statistic"],
            None if record["target"] is None else expression.from_json(record["target"]),
            None if record["where"] is None else expression.from_json(record["where"]),
            tuple(expression.from_json(key) for key in by),
            tuple(pairs),
            expression.from_json(record["other"]) if "other" in record else None,
            tuple(expression.from_json(expr) for expr in others),
        )
        if made.to_json() != record:
            raise PlanError("A question in this plan is not in canonical form.")
        return made

    def canonical(self) -> str:
        """Return the canonical text: equal for equal questions, different for different ones."""
        try:
            return self._canonical
        except AttributeError:
            object.__setattr__(self, "_canonical", canonical(self.to_json()))
            return self._canonical

    @property
    def subset(self) -> str:
        """The rows that it is about as a person would type them, for example ``hiv[hiv.age > 60]``."""
        cap, where = expression.cap_of(self.where)
        own = expression.typed(self.dataset)
        source = own if cap is None else f"{own}.{show(cap, self.dataset)}"
        return source if where is None else f"{source}[{_bare(show(where, self.dataset))}]"

    @property
    def text(self) -> str:
        """The question as a person would type it, for example ``hiv.got.mean()``."""
        source = self.subset
        form = self._form
        if form.spelling.columns == "keys" and self.target is not None:
            keys = ", ".join(_key_text(key, self.dataset) for key in (*self.by, self.target))
            return f"{source}.{self.statistic}({keys})"
        groups = self.by[:-1] if form.arms else self.by
        if groups:
            keys = ", ".join(_key_text(key, self.dataset) for key in groups)
            source += f".groupby({keys})"
        if form.spelling.columns == "labelled":
            return f"{source}.{self.statistic}({self._candidates()})"
        if (self.others and not form.beside) or form.spelling.columns == "listed":
            return f"{source}.{self.statistic}({self._numbers()})"
        if self.target is not None:
            source = _target_text(self.target, source, self.dataset)
        return f"{source}.{self.statistic}({self._arguments()})"

    @property
    def _form(self) -> Statistic | type[Statistic]:
        """What says how the question is typed; a statistic that is not known is typed as most are."""
        return BY_NAME.get(self.statistic, Statistic)

    def _numbers(self) -> str:
        """Return the columns of a statistic of many numbers, and its options."""
        numbers = [*([] if self.target is None else [self.target]), *self.others]
        listed = [_bare(_key_text(expr, self.dataset)) for expr in numbers]
        return ", ".join([*listed, *(f"{name}={_option_text(value)}" for name, value in self.options)])

    def _candidates(self) -> str:
        """Return the labelled candidates of a choice."""
        numbers, labels = (
            [*([] if self.target is None else [self.target]), *self.others],
            self.option("labels"),
        )
        names = labels if isinstance(labels, tuple) else tuple(range(len(numbers)))
        shown = [
            f"{show_value(name)}: {_bare(show(expr, self.dataset))}"
            for name, expr in zip(names, numbers, strict=False)
        ]
        return "{" + ", ".join(shown) + "}"

    def _arguments(self) -> str:
        spelling = self._form.spelling
        typed = dict(spelling.renamed)
        listed = [_option_text(value) for name, value in self.options if name in spelling.bare]
        listed += [
            f"{typed.get(name, name)}={_option_text(value)}"
            for name, value in self.options
            if name not in spelling.bare
        ]
        if self._form.arms and self.by:
            listed.insert(0, f"by={_key_text(self.by[-1], self.dataset)}")
        beside = [one for one in (self.other, *(self.others if self._form.beside else ())) if one is not None]
        listed = [*(_bare(_key_text(one, self.dataset)) for one in beside), *listed]
        return ", ".join(listed)


def _bare(text: str) -> str:
    return text[1:-1] if text.startswith("(") and text.endswith(")") and text.count("(") == 1 else text


def _key_text(key: Expr, dataset: str) -> str:
    return (
        json.dumps(key.column, ensure_ascii=False) if isinstance(key, expression.Ref) else show(key, dataset)
    )


def _target_text(target: Expr, source: str, dataset: str) -> str:
    return as_subject(show(target, dataset, source))


def _option_text(value: Option) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(show_value(v) for v in value)}]"
    return "None" if value is None else show_value(value)
