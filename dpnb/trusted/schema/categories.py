"""Declared lists of values: distinct, of one kind, and evenly spaced numbers or not.

A value's code is its place in the list, for ever. A list is written by people: it is never read from the data.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from dpnb.trusted.errors import SchemaError
from dpnb.trusted.records import nearest, no_repeats
from dpnb.trusted.schema.cell import declared_text
from dpnb.trusted.schema.grid import LARGEST_NUMBER

Category = int | str | bool

MOST_VALUES = 100_000


def declared_values(name: str, values: object) -> tuple[Category, ...]:
    """Check a declared list and return it as a tuple."""
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise SchemaError(f'{name}: values must be a list, for example values = [0, 1] or ["no", "yes"]')
    if not 2 <= len(values) <= MOST_VALUES:
        raise SchemaError(
            f"{name}: values lists {len(values)} entries: list 2 to {MOST_VALUES}, without looking"
        )
    kinds = {type(value) for value in values}
    if len(kinds) != 1 or not kinds <= {int, str, bool}:
        raise SchemaError(
            f"{name}: values must be all text, all whole numbers or all true/false; "
            'for decimals write type = "number" with a step'
        )
    for value in values:
        _check_value(name, value)
    no_repeats(values, f"{name} declares value")
    _refuse_collisions(name, values)
    return tuple(values)


def _refuse_collisions(name: str, values: Sequence[Category]) -> None:
    """Refuse two declared values that are one cell when they are read, as 1 and 01 are."""
    seen: dict[str, Category] = {}
    for value in values:
        text = declared_text(value)
        if text is None:
            raise SchemaError(
                f"{name}: the empty text is a missing value, never a category: remove it, or write missing = …"
            )
        other = seen.setdefault(text, value)
        if other is not value:
            raise SchemaError(
                f"{name} declares {other!r} and {value!r}, which are one number when data are read: keep one"
            )


def _check_value(name: str, value: Category) -> None:
    if isinstance(value, str) and len(value) > 512:
        raise SchemaError(f"{name}: a category's value has at most 512 characters")
    if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        raise SchemaError(f"{name}: a category's number must lie within ±10^15; write it as text instead")


def spacing(values: tuple[Category, ...]) -> tuple[Fraction | None, Fraction | None]:
    """Return lower and step of evenly spaced ascending numbers, else a pair of None."""
    if isinstance(values[0], str):
        return None, None
    numbers = [int(value) for value in values]
    gaps = {after - before for before, after in itertools.pairwise(numbers)}
    if len(gaps) != 1 or min(gaps) <= 0:
        return None, None
    return Fraction(numbers[0]), Fraction(gaps.pop())


@lru_cache(maxsize=256)
def codes(values: tuple[Category, ...]) -> dict[Category, int]:
    """Map each declared value to its code."""
    return {value: code for code, value in enumerate(values)}


def unknown_value(value: object, declared: tuple[Category, ...]) -> str:
    """Say that a value is not declared, with a near match."""
    by_text = {str(candidate): candidate for candidate in declared}
    close = nearest(str(value), by_text)
    hint = "" if close is None else f" Did you mean {by_text[close]!r}?"
    return f"no value {value!r}.{hint}"


def listed(values: tuple[Category, ...]) -> str:
    """Write declared values briefly: ``0/1``."""
    text = "/".join(str(value) for value in values[:6])
    return text if len(values) <= 6 else f"{text}/… ({len(values)} values)"
