"""A schema in words and made-up rows, for cards and widgets: functions of what is declared alone."""

from __future__ import annotations

import hashlib

from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Mode, Schema

_SENTENCES = {
    Mode.TEACHING: "Public or synthetic data: truth overlays, seeds and a resettable budget are allowed.",
    Mode.GUARD_RAIL: (
        "Stops accidents. It does not stop the same operating-system user from reading the file, "
        "editing the ledger or starting a new one."
    ),
    Mode.ENFORCED: "Another user, container or host has the data and the ledger.",
}

_MOST_DECIMALS = 18
"""Decimals of any number that a schema declares: 10^18 is below its largest denominator."""


def mode_badge(mode: Mode) -> str:
    """Return the mode as it is written on cards."""
    return mode.value.upper()


def mode_sentence(mode: Mode) -> str:
    """Say in one honest sentence what the mode does and does not stop."""
    return _SENTENCES[mode]


def cap_words(whose: str) -> str:
    """Name the cap of which the least is left, where it is not the dataset's budget, after an amount of it."""
    return f" ({whose})" if whose else ""


def unit_sentence(unit: PrivacyUnit) -> str:
    """Say in one sentence what is hidden.

    Examples
    --------
    >>> unit_sentence(PrivacyUnit("add-remove"))
    'one row = one person; whether any one person is in the data is hidden'
    """
    who = "one row = one person"
    if not unit.by_row:
        rows = "1 row" if unit.max_rows == 1 else f"{unit.max_rows:,} rows"
        who = f"one {unit.unit} = one person, with at most {rows}"
    if unit.adjacency == "add-remove":
        return f"{who}; whether any one person is in the data is hidden"
    size = f"{unit.rows:,} rows" if unit.by_row else f"{unit.units:,} units"
    return f"{who}; what any one person's data say is hidden ({size}: public)"


def dummy_rows(schema: Schema, n: int = 5) -> tuple[dict[str, int | float | str | bool], ...]:
    """Make rows that fit the schema and are a function of it alone: they say nothing about the data."""
    return tuple({column.name: _dummy(column, row) for column in schema.columns} for row in range(n))


def _dummy(column: Column, row: int) -> int | float | str | bool:
    """Make the value of a dummy row: a function of the column and the row number alone."""
    digest = hashlib.sha256(f"{column.name}\0{row}".encode()).digest()
    draw = int.from_bytes(digest[:8], "big")
    if column.values is not None:
        return column.values[draw % len(column.values)]
    if column.text is not None:
        letters = column.text.allowed.replace(" ", "") or " "
        return "".join(letters[byte % len(letters)] for byte in digest[8 : 8 + min(column.text.length, 6)])
    value = column.value_of(_round_code(column, draw))
    return value if isinstance(value, int | str) else round(float(value), _MOST_DECIMALS)


def _round_code(column: Column, draw: int) -> int:
    """Pick a declared grid point, a sixteenth of the range apart where the grid is fine."""
    stride = 2 if column.halved else 1
    declared = (column.size - 1) // stride
    if declared <= 1000:
        return draw % (declared + 1) * stride
    return declared * (draw % 17) // 16 * stride
