"""The numbers that displays of privacy loss take: any that is not negative, where a question takes only those that can be asked."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from dpnb.errors import LossError
from dpnb.trusted.privacy.loss import rational


def non_negative(value: str | float | Decimal | Fraction, *, name: str = "epsilon") -> Fraction:
    """Read a number exactly that is at least 0."""
    number = rational(value, name=name)
    if number < 0:
        raise LossError(f"{name} must be at least 0.")
    return number
