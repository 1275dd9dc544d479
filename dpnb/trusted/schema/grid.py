"""Numbers as an owner writes them, read exactly; the arithmetic of a grid.

Everything is a rational: a float is the decimal that it prints as. Not finite, too large and too fine are refused
here, before any grid is made.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpnb.trusted.errors import LossError, SchemaError
from dpnb.trusted.privacy.loss import parse_exact, rational

Number = int | float | str | Decimal | Fraction

DEFAULT_STEPS = 2**20
MOST_STEPS = 2**40
LARGEST_NUMBER = 10**15
LARGEST_DENOMINATOR = 10**12


def exact(value: Any, name: str, word: str) -> Fraction:
    """Read a number exactly; a float is read as the decimal that it prints as."""
    if value is None:
        raise SchemaError(
            f"{name}: {word} is missing: write {word} = a number known without looking at the data"
        )
    try:
        number = rational(value, name=word)
    except LossError as fault:
        raise SchemaError(f"{name}: {fault.message}") from None
    within = LARGEST_NUMBER * number.denominator  # whole numbers compare faster than fractions
    if abs(number.numerator) > within or number.denominator > LARGEST_DENOMINATOR * DEFAULT_STEPS:
        raise SchemaError(f"{name}: {word} must lie within ±10^15 and have at most 12 decimals")
    return number


def looks_numeric(text: str) -> bool:
    """Say whether a text reads as a number."""
    try:
        rational(text)
    except LossError:
        return False
    return True


def parse(text: object, word: str) -> Fraction:
    """Read an exact text of a record."""
    if not isinstance(text, str):
        raise SchemaError(f"a column record's {word} is an exact text such as '0.25' or '1/3'")
    return exact(parse_exact(text), "column", word)


def check_range(name: str, lower: Fraction, upper: Fraction, step: Fraction) -> None:
    """Refuse bounds that leave no range, and a step that is not positive."""
    if lower >= upper:
        raise SchemaError(f"{name}: lower = {short(lower)} must be below upper = {short(upper)}")
    if step <= 0:
        raise SchemaError(f"{name}: step must be positive, not {short(step)}")


def whole_steps(name: str, lower: Fraction, upper: Fraction, step: Fraction) -> int:
    """Count the steps of a grid; refuse one that does not fit its range, or has too many."""
    steps = (upper - lower) / step
    if steps.denominator != 1:
        fit = short(lower + step * math.ceil(steps))
        raise SchemaError(
            f"{name}: step = {short(step)} does not divide the range {short(lower)} to {short(upper)}: "
            f"write upper = {fit}, or another step"
        )
    if steps > MOST_STEPS:
        raise SchemaError(f"{name}: {steps} steps are too many (at most 2^40): write a larger step")
    return int(steps)


def whole(number: Fraction) -> int | Fraction:
    """Return an int where the number is whole."""
    return int(number) if number.denominator == 1 else number


def short(number: Fraction) -> str:
    """Write a number for people."""
    return str(int(number)) if number.denominator == 1 else f"{float(number):.10g}"
