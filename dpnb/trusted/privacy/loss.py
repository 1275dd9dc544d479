"""Privacy losses as exact rationals: how they are read, written, added and compared.

Nothing here rounds in the analyst's favour, and nothing becomes a float except to be shown. Ten losses of 0.1 are
exactly 1. What cannot be read exactly (NaN, infinities, text that is no number) is refused with the number to type.

The texts of :func:`exact_text` and the JSON of :class:`PrivacyLoss` are stored in ledgers: they never change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from numbers import Rational
from typing import Literal, TypeAlias

from dpnb.trusted.errors import LossError
from dpnb.trusted.privacy.measure import Measure

LEAST_EXPONENT, MOST_EXPONENT = max(-(10**9), MIN_EMIN), min(10**9, MAX_EMAX)
"""Exponents of the decimal numbers that bounds are rounded to: a Python of 32 bits has fewer."""

FINEST = 10**9
"""Largest denominator of a number that a person or a message may state."""

_SMALLEST, _LARGEST = Fraction(1, 10**9), Fraction(10**9)
_SMALLEST_DELTA = Fraction(1, 10**300)
_COARSE = 10**60
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_RATIO = re.compile(r"([+-]?\d+)\s*/\s*(\d+)", re.ASCII)
_EXACT = re.compile(r"(-?)(0|[1-9]\d*)(?:\.(\d*[1-9])|/([1-9]\d*))?", re.ASCII)
_LONGEST = 400

Direction = Literal["nearest", "down", "up"]
Numeric: TypeAlias = str | float | Decimal | Fraction


def rational(value: Numeric, *, name: str = "epsilon") -> Fraction:
    """Read a number exactly; a float is read as the decimal that Python prints for it.

    Parameters
    ----------
    value : str, int, float, Decimal or Fraction
        ``"0.1"``, ``"1e-3"``, ``"1/3"``, ``0.1``, …
    name : str
        What the number is, for the error.

    Returns
    -------
    Fraction
        Exactly the number as written: ``rational(0.1) == Fraction(1, 10)``.

    Raises
    ------
    LossError
        For anything that is not a finite number.

    Examples
    --------
    >>> rational(0.1) * 10 == 1
    True
    """
    if type(value) is Fraction:
        return value
    if isinstance(value, bool):
        raise LossError(f"{name} must be a number, not {value}. Write for example {name}=0.5.")
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    text = _as_text(value)
    ratio = _RATIO.fullmatch(text) if len(text) <= _LONGEST else None
    if ratio and int(ratio[2]):
        return Fraction(int(ratio[1]), int(ratio[2]))
    if len(text) <= _LONGEST and _NUMBER.fullmatch(text):
        return Fraction(text)
    raise LossError(f"{name} must be a finite number, not {_shown(text)}. Write for example {name}=0.5.")


def _as_text(value: object) -> str:
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, (str, Decimal)):
        return str(value).strip()
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "ndim", None) == 0:
        return str(item())
    return type(value).__name__


def _shown(text: str) -> str:
    return repr(text if len(text) <= 30 else text[:27] + "…")


def proper_delta(value: Numeric) -> Fraction:
    """Read a δ exactly: above 0, at least 10⁻³⁰⁰, and below 1."""
    delta = rational(value, name="delta")
    if not 0 < delta < 1:
        raise LossError(
            f"delta must be above 0 and below 1, not {brief(delta)}. Write for example delta=1e-6."
        )
    if delta < _SMALLEST_DELTA:
        raise LossError(
            "delta is below 1e-300, the smallest that can be asked. Write for example delta=1e-6."
        )
    return delta


def positive(value: Numeric, *, name: str = "epsilon") -> Fraction:
    """Read a loss that can be asked for: above zero, within [1e-9, 1e9], denominator at most 1e9.

    Parameters
    ----------
    value : str, int, float, Decimal or Fraction
    name : str
        What the number is, for the error.

    Returns
    -------
    Fraction

    Raises
    ------
    LossError
        Naming the nearest usable number.

    Examples
    --------
    >>> positive("0.25")
    Fraction(1, 4)
    """
    number = rational(value, name=name)
    if number <= 0:
        raise LossError(f"{name} must be above 0, not {brief(number)}. Write for example {name}=0.5.")
    if number < _SMALLEST:
        raise LossError(f"{name} is below 1e-09, the smallest that can be asked. Write {name}=1e-9 or more.")
    if number > _LARGEST:
        raise LossError(f"{name} is above 1e+09, the largest that can be asked. Write for example {name}=1.")
    if number.denominator > FINEST:
        fix = exact_text(floored(number))
        raise LossError(f"{name} is written with more than nine decimals. Write {name}={fix}.")
    return number


def floored(x: Fraction) -> Fraction:
    """Round down to a multiple of 10⁻⁹, unless the denominator already is at most 10⁹.

    Examples
    --------
    >>> floored(Fraction(1, 3)), floored(Fraction(2, 3 * 10**9))
    (Fraction(1, 3), Fraction(0, 1))
    """
    return x if x.denominator <= FINEST else Fraction(floor(x * FINEST), FINEST)


def floored_digits(x: Fraction, digits: int = 3) -> Fraction:
    """Round down to `digits` significant decimal digits (and to 10⁻⁹): how every solved value is rounded.

    Examples
    --------
    >>> floored_digits(Fraction("0.123456"))
    Fraction(123, 1000)
    """
    return floored(_digits(x, digits, ROUND_FLOOR))


def added(terms: Iterable[Fraction]) -> Fraction:
    """Return an exact sum.

    Examples
    --------
    >>> added(Fraction(1, n * (n + 1)) for n in range(1, 10))
    Fraction(9, 10)
    """
    return quotients((term, 1) for term in terms)


def quotients(pairs: Iterable[tuple[Fraction | int, Fraction | int]]) -> Fraction:
    """Return an exact sum of quotients, added eight by eight: thousands with foreign denominators one by one take minutes.

    Examples
    --------
    >>> quotients([(1, Fraction(3, 2)), (Fraction(1, 2), Fraction(3, 2))])
    Fraction(1, 1)
    """
    listed = [(a.numerator * b.denominator, a.denominator * b.numerator) for a, b in pairs]
    while len(listed) > _FEW:
        listed = [_sum(listed[at : at + _FEW]).as_integer_ratio() for at in range(0, len(listed), _FEW)]
    return _sum(listed)


_FEW = 8


def _sum(terms: Iterable[tuple[int, int]]) -> Fraction:
    above, below = 0, 1
    for numerator, denominator in terms:
        if denominator == below:
            above += numerator
        else:
            above, below = above * denominator + numerator * below, below * denominator
    return Fraction(above, below)


def bounded_above(x: Fraction) -> Fraction:
    """Return x, or the next multiple of 10⁻⁶⁰ above it when its denominator has outgrown that.

    Sums of losses with ever new denominators would otherwise grow without end. Rounding up can only over-charge.
    """
    return x if x.denominator <= _COARSE else Fraction(ceil(x * _COARSE), _COARSE)


def exact_text(x: Fraction) -> str:
    """Write a rational exactly: a short decimal where there is one, else a ratio.

    Examples
    --------
    >>> exact_text(Fraction(1, 4)), exact_text(Fraction(1, 3))
    ('0.25', '1/3')
    """
    above, below = x.as_integer_ratio()
    if below == 1:
        return str(above)
    places = _decimal_places(below)
    if places is None:
        return f"{above}/{below}"
    digits = f"{abs(above) * (10**places // below):0{places + 1}d}"
    return f"{'-' if above < 0 else ''}{digits[:-places]}.{digits[-places:]}"


_MOST_PLACES = 30


@lru_cache(maxsize=256)
def _decimal_places(denominator: int) -> int | None:
    if 10**_MOST_PLACES % denominator:
        return None
    return next(places for places in range(_MOST_PLACES + 1) if 10**places % denominator == 0)


def parse_exact(text: object) -> Fraction:
    """Read what :func:`exact_text` wrote, and nothing else.

    Raises
    ------
    LossError
        For any text that :func:`exact_text` does not write.
    """
    number = _parsed(text) if isinstance(text, str) and len(text) <= _LONGEST else None
    if number is None:
        raise LossError(f"{_shown(str(text))} is not an exact number as dpnb writes them (0.25, 1/3).")
    return number


@lru_cache(maxsize=256)
def _parsed(text: str) -> Fraction | None:
    found = _EXACT.fullmatch(text)
    if found is None:
        return None
    sign, whole, part, below = found.groups()
    if below is None and len(part or "") <= _MOST_PLACES and not (sign and whole == "0" and part is None):
        part = part or ""
        return Fraction(
            int(sign + whole + part), 10 ** len(part)
        )  # its last digit is not 0: no other text is this number
    number = Fraction(text)
    return None if exact_text(number) != text else number


_ROUNDING: dict[str, str] = {"nearest": ROUND_HALF_EVEN, "down": ROUND_FLOOR, "up": ROUND_CEILING}


def _quotient(x: Fraction, digits: int, rounding: str) -> Decimal:
    # Rounded once, in the direction asked; the numerator and denominator are exact.
    context = Context(prec=digits, rounding=rounding, Emin=LEAST_EXPONENT, Emax=MOST_EXPONENT)
    return context.divide(Decimal(x.numerator), Decimal(x.denominator))


def _digits(x: Fraction, digits: int, rounding: str) -> Fraction:
    return Fraction(_quotient(x, digits, rounding))


@lru_cache(maxsize=256)
def brief(x: Fraction, toward: Direction = "nearest") -> str:
    """Write a number for people, in at most four significant digits.

    What is left is shown rounded ``"down"``, so that the number on the screen can be typed and will fit. The text
    depends on the two arguments alone and no decision reads it, so a text may be kept.

    Examples
    --------
    >>> brief(Fraction(1, 3)), brief(Fraction("0.99999"), "down"), brief(Fraction(1, 10**6))
    ('0.3333', '0.9999', '1e-06')
    """
    rounded = _digits(x, 4, _ROUNDING[toward])
    if rounded and not Fraction(1, 10**4) <= abs(rounded) < 10**7:
        mantissa, exponent = f"{_quotient(rounded, 4, ROUND_HALF_EVEN):.3e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent):+03d}"
    return exact_text(rounded)


_ZERO = Fraction(0)
_MEASURES = {measure.value: measure for measure in Measure}
_FIELDS = {"measure", "amount", "delta"}


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """An amount of privacy loss in one measure.

    Parameters
    ----------
    measure : Measure
    amount : Fraction
        ε for ``PURE``, ρ otherwise; at least 0.
    delta : Fraction
        At least 0 and below 1; always 0 outside ``APPROX_ZCDP``.

    Raises
    ------
    LossError
        For a negative amount, a δ outside [0, 1), a δ in another measure, or arithmetic across measures.

    Examples
    --------
    >>> tenth = PrivacyLoss.pure("0.1")
    >>> sum([tenth] * 10, PrivacyLoss.zero(Measure.PURE)) == PrivacyLoss.pure(1)
    True
    """

    measure: Measure
    amount: Fraction
    delta: Fraction = _ZERO

    def __post_init__(self) -> None:
        if not type(self.amount) is type(self.delta) is Fraction or type(self.measure) is not Measure:
            object.__setattr__(self, "measure", Measure(self.measure))
            object.__setattr__(self, "amount", rational(self.amount, name=self.measure.symbol))
            object.__setattr__(self, "delta", rational(self.delta, name="delta"))
        if self.amount.numerator < 0 or not 0 <= self.delta.numerator < self.delta.denominator:
            raise LossError(f"A privacy loss is {self.measure.symbol} ≥ 0 and 0 ≤ δ < 1.")
        if self.delta and self.measure is not Measure.APPROX_ZCDP:
            raise LossError(
                "This measure has no δ. A budget with δ is written: [budget] epsilon = 1, delta = 1e-6."
            )

    @classmethod
    def pure(cls, epsilon: Numeric) -> PrivacyLoss:
        """Return ε of pure differential privacy."""
        return cls(Measure.PURE, rational(epsilon, name="epsilon"))

    @classmethod
    def zcdp(cls, rho: Numeric) -> PrivacyLoss:
        """Return ρ of zCDP."""
        return cls(Measure.ZCDP, rational(rho, name="rho"))

    @classmethod
    def approx(cls, rho: Numeric, delta: Numeric) -> PrivacyLoss:
        """Return (ρ, δ) of approximate zCDP."""
        return cls(Measure.APPROX_ZCDP, rational(rho, name="rho"), rational(delta, name="delta"))

    @classmethod
    def zero(cls, measure: Measure) -> PrivacyLoss:
        """Return no loss at all, in `measure`."""
        return cls(measure, _ZERO)

    def __add__(self, other: PrivacyLoss) -> PrivacyLoss:
        """Compose two losses: amounts and δ add, valid for fully adaptive questions."""
        if not isinstance(other, PrivacyLoss):
            return NotImplemented
        self._same(other)
        delta = self.delta + other.delta if other.delta else self.delta
        if delta.numerator >= delta.denominator:
            raise LossError(
                "These δ add to 1 or more, which promises nothing: ask fewer questions that need a δ."
            )
        return PrivacyLoss(self.measure, self.amount + other.amount, delta)

    def __sub__(self, other: PrivacyLoss) -> PrivacyLoss:
        """Return what is left of this loss after `other`, never below zero in either part."""
        if not isinstance(other, PrivacyLoss):
            return NotImplemented
        self._same(other)
        delta = max(self.delta - other.delta, _ZERO) if other.delta else self.delta
        amount = self.amount - other.amount
        return PrivacyLoss(self.measure, amount if amount.numerator > 0 else _ZERO, delta)

    def fits_in(self, cap: PrivacyLoss) -> bool:
        """Say whether both parts are at most those of `cap`."""
        self._same(cap)
        return self.amount <= cap.amount and (not self.delta or self.delta <= cap.delta)

    def bounded(self) -> PrivacyLoss:
        """Return this loss with both parts under :func:`bounded_above`."""
        if max(self.amount.denominator, self.delta.denominator) <= _COARSE:
            return self
        return PrivacyLoss(self.measure, bounded_above(self.amount), bounded_above(self.delta))

    def _same(self, other: PrivacyLoss) -> None:
        if self.measure is not other.measure:
            raise LossError(
                f"A loss in {self.measure.symbol} and one in {other.measure.symbol} cannot be combined."
            )

    def __bool__(self) -> bool:
        return self.amount.numerator != 0 or self.delta.numerator != 0

    def __str__(self) -> str:
        return self.brief()

    def brief(self, toward: Direction = "nearest") -> str:
        """Write the loss for people: ``ε 1``, ``ρ 0.5``, ``ρ 0.1, δ 1e-06``.

        Examples
        --------
        >>> str(PrivacyLoss.approx("0.1", "1e-6"))
        'ρ 0.1, δ 1e-06'
        """
        text = f"{self.measure.symbol} {brief(self.amount, toward)}"
        return f"{text}, δ {brief(self.delta, toward)}" if self.delta else text

    def to_json(self) -> dict[str, str]:
        """Write the loss exactly, as JSON texts."""
        return {
            "measure": self.measure.value,
            "amount": exact_text(self.amount),
            "delta": exact_text(self.delta),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, object]) -> PrivacyLoss:
        """Read what :meth:`to_json` wrote, strictly.

        Raises
        ------
        LossError
            For unknown or missing fields, or texts that are not exact numbers.
        """
        word = record.get("measure")
        measure = _MEASURES.get(word) if isinstance(word, str) else None
        if measure is None or record.keys() != _FIELDS:
            raise LossError("A privacy loss is written as measure, amount and delta.")
        return cls(measure, parse_exact(record["amount"]), parse_exact(record["delta"]))
