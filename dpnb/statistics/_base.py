"""The vocabulary of statistics: integers with a public meaning, what is priced, and the protocol.

Everything is public: a :class:`Numeric` says how an integer code is computed from the prepared copy and which range it has,
a :class:`Setting` is a checked question in integer terms, a :class:`Pricing` the mechanisms that answer it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

from dpnb.errors import OptionError, PlanError
from dpnb.inference import NoiseSum
from dpnb.inference.digits import rounded
from dpnb.inference.law import law_of
from dpnb.statistics.released import law_as_sum
from dpnb.trusted.aggregate.algebra import (
    Add,
    Clip,
    FloorDiv,
    IntExpr,
    Key,
    Lit,
    Mul,
    Pred,
    Sub,
    Total,
)
from dpnb.trusted.measurements import Facts, Measurement
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.query.limits import LARGEST
from dpnb.trusted.schema import Column

Target = Literal["none", "number", "pair", "weighted", "numbers", "key", "choice", "value"]
"""What a statistic is of: rows, a number, two, one and its weight, many, a key that becomes an axis, one that is chosen from, or values of a long list."""

Options = Mapping[str, Any]
Readers = Mapping[str, Callable[[Any], Any]]
"""Options of a statistic by name, each of a type of its own."""

_FARTHEST = 10**100
"""How large a value, and how fine a grid, may be: their squares and products are shown as floats."""
_SQUARE_BITS = 20
_POWER_BITS = 15
_LONGEST = 2**4096
"""How large numerator and denominator of a grid may be: exact sums of ratios grow with each of them."""


class _Measured:
    """Keeps a number as it is measured from the middle of its range: no field, and in no pickle."""

    __slots__ = ("_centred",)
    _centred: Centred


@dataclass(frozen=True, slots=True)
class Numeric(_Measured):
    """A number on a public grid: ``value = offset + step · code`` with ``low ≤ code ≤ high``.

    Parameters
    ----------
    code : IntExpr
        How the integer is computed from the prepared copy; missing stays missing.
    offset, step : Fraction
        Origin and spacing of the grid; ``step > 0``.
    low, high : int
        Public range of the code.
    nullable : bool
        Whether a row can lack the value.
    calendar : str, optional
        Of a date the step that it counts: ``"hour"``, ``"day"``, ``"week"`` or ``"month"``.
    typical : Fraction, optional
        The declared centre of its values.
    """

    code: IntExpr
    offset: Fraction
    step: Fraction
    low: int
    high: int
    nullable: bool
    calendar: str | None = None
    typical: Fraction | None = None

    def __post_init__(self) -> None:
        if self.step <= 0 or self.low > self.high:
            raise PlanError("This expression has an empty range.")
        if any(max(abs(n.numerator), n.denominator) > _LONGEST for n in (self.offset, self.step)):
            raise PlanError("The constants of this expression have too many digits together: round them.")
        farthest = max(abs(self.offset + self.step * self.low), abs(self.offset + self.step * self.high))
        if max(farthest, 1 / self.step) > _FARTHEST:
            raise PlanError(
                "The values of this expression are too large, or too close, to be shown: scale it."
            )
        if max(abs(self.low), abs(self.high)) > LARGEST:
            raise PlanError(
                "This expression has too wide a range to be summed exactly; use wider steps or clip it."
            )

    @property
    def lowest(self) -> Fraction:
        """The smallest value."""
        return self.offset + self.step * self.low

    @property
    def highest(self) -> Fraction:
        """The largest value."""
        return self.offset + self.step * self.high

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest value, as the range of an answer."""
        return float(self.lowest), float(self.highest)

    @property
    def binary(self) -> bool:
        """Whether there are just two values."""
        return self.high - self.low == 1

    def rebased(self) -> Numeric:
        """Return the same number with ``value = step · code``: its sum is the sum of the values themselves."""
        if self.offset == 0:
            return self
        step = common_step(self.offset, self.step)
        scale, shift = int(self.step / step), int(self.offset / step)
        code = Add(scaled(self.code, scale), Lit(shift))
        low, high = scale * self.low + shift, scale * self.high + shift
        return Numeric(code, Fraction(0), step, low, high, self.nullable, typical=self.typical)

    def centred(self) -> Centred:
        """Return the code measured from the middle of its range, doubled where the middle is half a step off."""
        try:
            return self._centred
        except AttributeError:
            object.__setattr__(self, "_centred", self._from_middle())
            return self._centred

    def _from_middle(self) -> Centred:
        total = self.low + self.high
        if total % 2 == 0:
            middle = total // 2
            code = Sub(self.code, Lit(middle))
            return Centred(code, self.high - middle, self.offset + self.step * middle, self.step)
        code = Sub(Mul(Lit(2), self.code), Lit(total))
        return Centred(
            code, self.high - self.low, self.offset + self.step * Fraction(total, 2), self.step / 2
        )


def common_step(first: Fraction, second: Fraction) -> Fraction:
    """Return the largest step of which both are whole multiples."""
    a, b = abs(first), abs(second)
    denominator = math.lcm(a.denominator, b.denominator)
    return Fraction(math.gcd(int(a * denominator), int(b * denominator)), denominator)


def scaled(code: IntExpr, factor: int) -> IntExpr:
    """Return a code times a constant."""
    return code if factor == 1 else Mul(Lit(factor), code)


@dataclass(frozen=True, slots=True)
class Centred:
    """A number measured from the middle of its public range: ``value = centre + unit · code``, ``|code| ≤ half``."""

    code: IntExpr
    half: int
    centre: Fraction
    unit: Fraction

    def around(self, place: int) -> Centred:
        """Return the same number measured from a place in units from the middle."""
        if place == 0:
            return self
        return Centred(
            Sub(self.code, Lit(place)), self.half + abs(place), self.centre + self.unit * place, self.unit
        )

    def coarse(self, bits: int) -> Centred:
        """Return the same number on a grid so coarse that ``half ≤ 2^bits``, each row rounded to it."""
        shift = max(0, (self.half - 1).bit_length() - bits)
        if shift == 0:
            return self
        half = _shift(self.half, shift)
        code = Clip(shifted(self.code, shift), -half, half)
        return Centred(code, half, self.centre, self.unit * 2**shift)

    def square(self) -> Square:
        """Return the squared code on a grid of its own, at most 2²⁰ steps above zero."""
        code, half, doubled = self.code, self.half, 0
        if half > 2 ** (_SQUARE_BITS // 2):
            shift = max(0, half.bit_length() - _SQUARE_BITS)
            code, half = shifted(code, shift), _shift(half, shift)
            code = Clip(code, -half, half) if shift else code
            doubled = 2 * shift
        squared: IntExpr = Mul(code, code)
        extra = max(0, (half * half).bit_length() - _SQUARE_BITS - 1)
        top = _shift(half * half, extra)
        return Square(shifted(squared, extra), top, 2 ** (doubled + extra))

    def higher(self) -> tuple[Square, Square]:
        """Return the third and the fourth power of the code, each row rounded to at most 2²⁰ steps."""
        low = self.coarse(_POWER_BITS)
        squared, bits = Mul(low.code, low.code), int(low.unit / self.unit).bit_length() - 1
        return (
            powered(Mul(low.code, squared), low.half**3, 3 * bits),
            powered(Mul(squared, squared), low.half**4, 4 * bits),
        )


@dataclass(frozen=True, slots=True)
class Square:
    """A squared code, or another power of it: ``code² ≈ scale · square`` with ``0 ≤ square ≤ top``; of a third power ``|…| ≤ top``."""

    code: IntExpr
    top: int
    scale: int


def powered(code: IntExpr, top: int, bits: int) -> Square:
    """Return a product of at most `top` that counts ``2^bits`` each, on a grid of its own of at most 2²⁰ steps above zero."""
    extra = max(0, (top - 1).bit_length() - _SQUARE_BITS)
    high = _shift(top, extra)
    return Square(Clip(shifted(code, extra), -high, high) if extra else code, high, 2 ** (bits + extra))


def _shift(value: int, bits: int) -> int:
    return value if bits == 0 else (value + 2 ** (bits - 1)) >> bits


def shifted(code: IntExpr, bits: int) -> IntExpr:
    """Return a code on a grid ``2^bits`` times as coarse, each row rounded to it."""
    return code if bits == 0 else FloorDiv(Add(code, Lit(2 ** (bits - 1))), 2**bits)


@dataclass(frozen=True, slots=True)
class Setting:
    """A checked question in integer terms.

    Parameters
    ----------
    unit : PrivacyUnit
        Whom the release protects.
    target : Numeric, optional
        What is summarised.
    where : Pred, optional
        Which rows take part: the filter, a known target and known keys.
    keys : tuple of Key
        Group cells.
    axes : tuple of Axis
        Their labels.
    private : bool
        Whether the number of rows in a cell is private.
    options : dict
        The statistic's own options, checked.
    subject : str
        What the target is called in words.
    other : Numeric, optional
        The second number of a statistic of two.
    choices : Axis, optional
        The declared values that a selection chooses from; their key is the last of ``keys``.
    numbers : tuple of Numeric
        The numbers of a statistic of many, the target first.
    names : tuple of str
        What each of them is called.
    terms : tuple of str
        What each of them is as a term of a formula, in one spelling, whatever the dataset is called.
    edges : tuple of Fraction
        Edges of the bins that a statistic of a key counts, where it has any.
    nobody : bool
        Whether the schema allows no row that takes part.
    calendar : str, optional
        Of bins of dates the step that their edges count.
    text : Column, optional
        The column of texts of which the values are asked, where nobody listed them.
    most, least : int, optional
        The most and the fewest rows to plan with, as far as released answers tell: for forecasts alone.
    place : float, optional
        How far from the middle of its range the mean of the target lies, in its grid units, as released: for forecasts alone.
    facts : Facts
        The public facts from which the curator derives how far one person moves what is measured.
    """

    unit: PrivacyUnit
    target: Numeric | None
    where: Pred | None
    keys: tuple[Key, ...]
    axes: tuple[Axis, ...]
    private: bool
    options: Options = field(default_factory=dict)
    subject: str = "rows"
    other: Numeric | None = None
    choices: Axis | None = None
    numbers: tuple[Numeric, ...] = ()
    names: tuple[str, ...] = ()
    edges: tuple[Fraction, ...] = ()
    nobody: bool = False
    calendar: str | None = None
    text: Column | None = None
    most: int | None = None
    least: int | None = None
    place: float | None = None
    terms: tuple[str, ...] = ()
    facts: Facts = field(kw_only=True, repr=False, compare=False)
    derived: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was derived of sums and measurements that were priced already."""

    @property
    def at_most(self) -> int | None:
        """The rows that can count at most, where a released or a public number tells."""
        known = [rows for rows in (self.most, self.unit.rows) if rows is not None]
        return min(known) if known else None

    @property
    def at_least(self) -> int:
        """The fewest rows to plan with: where nothing tells of them, a tenth of those that can count at most."""
        return max((self.at_most or SOME_ROWS) // 10, 1) if self.least is None else self.least

    @property
    def total_of_nobody(self) -> float | None:
        """What a sum over all of nobody is; nothing where there may be somebody, or groups."""
        return 0.0 if self.nobody and not self.keys else None

    @property
    def cells(self) -> int:
        """Number of disjoint cells."""
        return math.prod(key.size for key in self.keys)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the answer."""
        return tuple(len(axis.keys) for axis in self.axes)

    @property
    def changes_in_one_cell(self) -> bool:
        """Whether a row that changes stays in its cell: under change-one, where there is one cell."""
        return self.unit.adjacency == "change-one" and self.cells == 1

    def free_count(self, kind: str) -> bool:
        """Tell whether a count beside a centred sum is asked for nothing: under change-one it takes what a row that enters leaves free.

        With several cells that is something for Gaussian noise alone.
        """
        return self.changes_in_one_cell or (self.unit.adjacency == "change-one" and kind == "rho")

    @property
    def public_n(self) -> int | None:
        """The number of rows behind the answer where it is public."""
        return None if self.private or self.keys else self.unit.rows

    @property
    def clustered(self) -> bool:
        """Whether one person may have several rows, so that no sampling error follows from rows."""
        return self.unit.max_rows > 1

    @property
    def row_range(self) -> tuple[float, float]:
        """How many rows there can be: from zero to their public number, where there is one."""
        return 0.0, math.inf if self.unit.rows is None else float(self.unit.rows)

    def size(self, n: float | None) -> float | None:
        """Return the public number of rows behind the answer, or else the assumed one."""
        return n if self.public_n is None else self.public_n

    def number(self) -> Numeric:
        """Return the target of a statistic that needs one."""
        if self.target is None:
            raise PlanError("This statistic needs a column.")
        return self.target

    def second(self) -> Numeric:
        """Return the second number of a statistic of two."""
        if self.other is None:
            raise PlanError("This statistic needs a second column.")
        return self.other

    def total(self, value: IntExpr) -> Total:
        """Return the exact aggregate that sums a value over the cells."""
        return Total(value, self.where, self.keys)


@dataclass(frozen=True, slots=True)
class PriceRow:
    """One line of the price list, in words."""

    name: str
    mechanism: str
    sensitivity: str
    scale: str
    cost: str


@dataclass(frozen=True, slots=True)
class Pricing:
    """How a question will be answered: what is measured under which noise, and the price list in words."""

    parts: tuple[Measurement, ...]
    rows: tuple[PriceRow, ...]

    @property
    def noise(self) -> dict[str, NoiseSum]:
        """The law of the error of one entry of each part that adds noise, before anything is released."""
        return {part.name: law_as_sum(law_of(part.mechanism)) for part in self.parts}

    @property
    def radius(self) -> int:
        """The smallest integer that the noise on an entry of the first part exceeds 1 time in 20 at most."""
        return law_of(self.parts[0].mechanism).tail_radius(0.05)


def width_words(
    setting: Setting,
    width: Callable[[Setting, float | None], float | None],
    n: float | None,
    *,
    arms: bool = False,
) -> str:
    """Return a half-width in words: a number where the size is public or assumed, else from the most rows to the fewest to plan with.

    Parameters
    ----------
    setting : Setting
        The question.
    width : callable
        Half-width for a size, as far as a setting tells where the mean lies.
    n : float or None
        The assumed size.
    arms : bool
        Whether the size is that of two equal arms together.
    """
    found = width(setting, n)
    if found is not None:
        return f"± {rounded(found)}" + ("" if setting.public_n is not None else _about(setting, n, arms=arms))
    if setting.at_most is None:
        half = " in two equal arms" if arms else ""
        return f"± {rounded(width(setting, float(SOME_ROWS)) or 0.0)} if {SOME_ROWS:,} {who(setting.unit)} count{half}"
    each = max(setting.cells // (2 if arms else 1), 1) if setting.most is None else 1
    sizes = tuple(max(rows // each, 1) for rows in (setting.at_most, setting.at_least))
    low, high = (rounded(width(at, float(n)) or 0.0) for at, n in zip(_places(setting), sizes, strict=True))
    return f"± {low} to ± {high}{_about(setting, *sizes, arms=arms)}"


def _places(setting: Setting) -> tuple[Setting, Setting]:
    """Return a setting whose mean lies where noise weighs least, the middle, and one where it weighs most, unless it is known."""
    if setting.place is not None or setting.target is None:
        return setting, setting
    return replace(setting, place=0.0), farthest(setting)


def farthest(setting: Setting) -> Setting:
    """Return a setting whose mean lies at an end of its range, where noise weighs most, unless it is known where it lies."""
    if setting.place is not None or setting.target is None:
        return setting
    return replace(setting, place=float(setting.target.centred().half))


def _about(setting: Setting, n: float | None, least: float | None = None, *, arms: bool) -> str:
    """Say what size is planned with, or from which to which."""
    each = "two arms of" if arms else "groups of" if setting.keys else ""
    sizes = [
        f"{(size or 0.0) / (2 if arms else 1):,.0f}" for size in (n, *([] if least is None else [least]))
    ]
    told = " to ".join(sizes) if least is not None else f"about {sizes[0]}"
    return " " + " ".join(filter(None, ("for", each, told, who(setting.unit), "each" if arms else "")))


def check_levels(levels: Sequence[object]) -> None:
    """Refuse what is no level of a quantile: the ends, too, which every value beyond the last row answers equally well."""
    if not levels or not all(isinstance(at, int | float | Fraction) and 0 <= at <= 1 for at in levels):
        raise OptionError("quantile levels lie between 0 and 1, for example .quantile([0.25, 0.5, 0.75]).")
    if any(at in {0, 1} for at in levels):
        raise OptionError(
            "the smallest and the largest value are one person's, and any value beyond them has the same rank. "
            "Ask .quantile([0.01, 0.99]); the declared bounds are public."
        )


def who(unit: PrivacyUnit) -> str:
    """Say what the rows of a question are: people, where each has one."""
    return "rows" if unit.max_rows > 1 else "people"


def all_count(unit: PrivacyUnit, *rows: int) -> str:
    """Say what is taken for granted where private numbers of rows are planned with."""
    return f"if {' and '.join(f'{one:,}' for one in sorted(rows))} {who(unit)} count"


#: People to plan with where nothing tells how many there are.
SOME_ROWS = 1000

ONE = Lit(1)


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a vector: its keys are public.

    Parameters
    ----------
    name, label : str
        The column, and how to say it.
    keys : tuple
        One key for each place.
    """

    name: str
    label: str
    keys: tuple[Any, ...]
