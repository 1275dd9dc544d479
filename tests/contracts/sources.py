"""What every kind of source must do: read each row by itself.

Subclass :class:`SourceContract` and give ``codes(columns, folder)``: prepare a table held in this kind of source, with
:func:`schema`. The contract draws tables, changes one cell to something else, and compares the codes: no other row's
moves. A source that cannot say such a table row by row refuses it; then the owner is told, and no code is read.
"""

from __future__ import annotations

import atexit
import datetime as dt
import math
import random
import shutil
from decimal import Decimal
from functools import cache

import duckdb
import numpy as np
import pytest

from dpnb.client.upload import hand_over
from dpnb.datasets.preparation import quantise
from dpnb.errors import OwnerError
from dpnb.trusted.curator.engines.preparing import _declare_categories, prepared_sql
from dpnb.trusted.curator.engines.raw_table import open_source
from dpnb.trusted.curator.sources import read_arrays
from dpnb.trusted.files.dialect import STRICT
from dpnb.trusted.files.named_file import held
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.wire.places import Home
from tests.contracts.handed import handed
from tests.examples import examples

COLUMNS = (
    Column.category("code", ["01", "02", "04", "1.5"]),
    Column.category("sex", [0, 1]),
    Column.category("yes", [False, True]),
    Column.category("place", ["Goa", "goa", "é", "it's", "2020-01-02", "nan"]),
    Column.integer("age", 0, 100),
    Column.number("money", -5, 5, step="0.5", missing=0),
    Column.dates("visit", "2020-01-01", "2021-12-31"),
    Column.dates("week", "2020-01-01", "2021-12-31", step="week", missing="2020-02-03"),
    Column.dates("at", "2020-01-01", "2021-03-04", kind="datetime"),
    Column.declared("sure", "category", true=["Goa", 1, "1.5"], false=["é", "0"], trim=True, case="any"),
    Column.declared(
        "price",
        "number",
        lower=-5,
        upper=100,
        thousands=",",
        strip="$ a",
        parentheses=True,
        missing_codes=[4, 41.5, "?", "Goa"],
    ),
    Column.declared(
        "form",
        "datetime",
        lower="2020-01-01",
        upper="2021-12-31",
        format="%d/%m/%Y",
        missing_codes=["2020-01-02"],
    ),
)
OF_TEXTS = (
    *COLUMNS,
    Column.declared(
        "share",
        "number",
        lower=-2,
        upper=13,
        decimal=",",
        thousands=".",
        strip="€",
        percent=True,
        missing_codes=["?", "1,5"],
    ),
)
"""The same, and a number with a comma for a point, which a container of texts can hold and one of floats cannot."""
NAMES = tuple(column.name for column in COLUMNS)
UNDECLARED = "note"

NUMBERS = (0, 1, 2, 4, 1.5, 41.5, -3, 100, 0.1, -0.0, math.inf, 2**53 + 1, 2**63, -(2**63), 2**64, 10**40)
TEXTS = (
    "01",
    "02",
    "4",
    "1.0",
    " 1",
    "?",
    "",
    " ",
    "true",
    "False",
    "Goa",
    "goa",
    "é",
    "nan",
    "NaN",
    "NA",
    "inf",
)
TEXTS += (
    "1e999",
    "٣",
    "１",
    "1_000",
    "1,5",
    'say "no"',
    'x"',
    '"oops',
    "it's",
    "a,b",
    "a;b",
    "1\x00",
    "\x00",
    "#",
    "\\",
    "2020-01-02",
    " 2021-03-04T10:30Z ",
    "2020-01-02 00:15:59.9+02:30",
    "2021-02-29",
    "0000-01-01",
    "9999-12-31 23:59-01:00",
    "27/8/2020",
    "31/02/2021 9:05",
    "($1,234.5)",
    "-12,5 %",
    "€ 1.234,5",
    " GOA ",
)
OTHERS = (None, math.nan, True, False, dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 10, 30), Decimal("1.0"))  # noqa: DTZ001
CELLS = (*NUMBERS, *TEXTS, *OTHERS, "line\nbreak", "cr\rlf")

HABITS = (
    lambda draw: draw.choice((1, 2, 4)),
    lambda draw: draw.choice((0.0, 1.0, 1.5, 41.0)),
    lambda draw: draw.choice((True, False)),
    lambda draw: draw.choice(("01", "02", "04")),
    lambda draw: draw.choice(("Goa", "goa", "é", "1")),
    lambda draw: draw.choice((0, 1, None)),
    lambda draw: draw.choice((dt.date(2020, 1, 2), dt.date(2021, 3, 4))),
    lambda draw: draw.choice(CELLS),
)  # fmt: skip
"""How the cells of one column usually look, so that one other cell changes what a library takes the column for."""


def schema(unit=None, columns=COLUMNS):
    """Columns of every type, and a private size."""
    unit = unit or PrivacyUnit("add-remove")
    return Schema(name="t", title="t", columns=columns, unit=unit, budget=Budget.from_toml({"epsilon": 1}))


def table(draw, rows):
    """A table whose columns each have a habit of their own, an undeclared one beside."""
    habits = {name: draw.choice(HABITS) for name in (*NAMES, UNDECLARED)}
    return {name: [habit(draw) for _ in range(rows)] for name, habit in habits.items()}


def changed(draw, columns):
    """The same table with one cell of one row changed, and that row."""
    name, row = draw.choice(list(columns)), draw.randrange(len(columns["age"]))
    cells = list(columns[name])
    cells[row] = draw.choice(CELLS)
    return columns | {name: cells}, row


def codes_by_reference(frame, folder):
    """Hand a frame over as a kernel does, and quantise what the curator finds: the codes, one tuple per row."""
    home = Home(folder / "home")
    path = home.make().hand_over / hand_over(frame, schema(), home).file
    with np.load(path, allow_pickle=False) as arrays:
        columns = read_arrays(arrays)
    path.unlink()
    return list(zip(*(quantise(columns[c.name], c).tolist() for c in COLUMNS), strict=True))


@cache
def engine():
    """One connection for many sources: opening one costs more than reading a small table."""
    connection = duckdb.connect(config={"pandas_analyze_sample": "0", "threads": "1"})
    _declare_categories(connection, schema())
    atexit.register(engine.cache_clear)
    return connection


def codes_by_sql(source, folder, dialect=STRICT):
    """The codes that the curator's statement reads from a source, one tuple per row."""
    workshop = folder / "workshop"
    shutil.rmtree(workshop, ignore_errors=True)
    workshop.mkdir()
    connection = engine()
    with held(source, dialect) as named:
        try:
            raw = open_source(connection, handed(named, schema()), workshop=workshop)
            return connection.execute(prepared_sql({"": raw}, schema(), b"key")).fetchall()
        finally:
            connection.execute("DETACH DATABASE IF EXISTS owners_file")


class SourceContract:
    """Subclass it and give ``codes(columns, folder)``.

    ``TABLES`` tables of ``ROWS`` rows are drawn, with ``CHANGES`` changes each.
    """

    ENDINGS: tuple[str, ...] = ()
    """Of a kind of file, how its names end in the tests of files."""
    ROWS = 7
    TABLES = 6
    CHANGES = 12
    LONG = 1200
    SHARE = 0.25
    """At least this part of the pairs must be readable on both sides, or nothing was tested."""

    @classmethod
    def codes(cls, columns, folder):
        """The codes of these columns held in this kind of source, one tuple per row."""
        raise NotImplementedError

    @classmethod
    def read(cls, columns, folder):
        """The codes, or None where the source is refused."""
        try:
            return cls.codes(columns, folder)
        except OwnerError:
            return None

    @classmethod
    def check(cls, seed, folder):
        """One drawn table and its changes: no other row's codes move. Returns how many pairs were compared."""
        draw = random.Random(seed)
        columns = table(draw, cls.ROWS)
        before, compared = cls.read(columns, folder), 0
        if before is None:
            return 0
        for _ in range(cls.CHANGES):
            neighbour, row = changed(draw, columns)
            after = cls.read(neighbour, folder)
            if after is not None:
                compared += 1
                kept = [
                    (b, a) for place, (b, a) in enumerate(zip(before, after, strict=True)) if place != row
                ]
                moved = [pair for pair in kept if pair[0] != pair[1]]
                assert not moved, f"seed {seed}: changing one cell of row {row} moved {moved}"
        return compared

    # how one cell is read under another Python, the copies of every kind of source show
    @pytest.mark.slow
    def test_one_cell_never_moves_another_rows_code(self, tmp_path):
        """Changed to a number, text, NaN, None, bool, date, huge integer, quote, delimiter, NUL: only its own row moves."""
        seeds = range(examples(self.TABLES))
        compared = sum(self.check(seed, tmp_path) for seed in seeds)
        assert compared > len(seeds) * self.CHANGES * self.SHARE

    @pytest.mark.soak
    def test_one_cell_never_moves_another_rows_code_in_the_long_run(self, tmp_path):
        """The same with many more tables."""
        assert (
            sum(self.check(seed, tmp_path) for seed in range(1000, 1000 + self.LONG))
            > self.LONG * self.CHANGES * self.SHARE
        )
