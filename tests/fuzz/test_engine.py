"""DuckDB answers random cells as the reference does, bit for bit: many small tables at once, raw values, keys of very different sizes."""

from __future__ import annotations

import csv
import itertools
import random
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import numpy as np
import pytest

from dpnb.datasets import preparation
from dpnb.datasets.cell_text import text_of
from dpnb.datasets.exact_answers import answer
from dpnb.errors import DpnbError
from dpnb.planner import price
from dpnb.trusted.aggregate.algebra import (
    CrossMoments,
    FloorDiv,
    Key,
    LabelSums,
    Lit,
    Sub,
    Total,
    ValueCounts,
    bounds,
)
from dpnb.trusted.curator.engines import DuckDBEngine
from dpnb.trusted.files.named_file import NamedFile, NamedFiles
from dpnb.trusted.measurements import code_ranges
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column
from tests.contracts.engine import as_lists
from tests.contracts.handed import prepare
from tests.fuzz import pairs, questions
from tests.fuzz.report import cell
from tests.fuzz.tables import TABLE
from tests.fuzz.test_raw import KEY, Raw, others, rows_of_one

UNITS = (
    PrivacyUnit("add-remove", unit="who", max_rows=2),
    PrivacyUnit("change-one", unit="who", max_rows=3, units=4),
)


def drawn_stack(rng, where):
    """Small tables, one of them empty and one of missing rows, and the rows as they would be handed over."""
    pool, tables = pairs.Rows.drawn(rng, where, 30), rng.choice([2, 40, 700])
    sizes = [rng.choice([0, 1, 2, 5, 9]) for _ in range(tables - 2)]
    places = [[], [len(pool) - 1] * 3, *(rng.choices(range(len(pool)), k=size) for size in sizes)]
    stack = pool.stack(places)
    raw = {}
    for column in where.columns:
        cells = [cell(where, column, pool.row(row)) for table in places for row in table]
        raw[column.name] = np.array([*cells, None], dtype=object)[:-1]
    raw[TABLE] = stack.number.astype(float)
    return stack, raw


NUMBERS = itertools.count()
"""Names for files that are beside one another."""


@contextmanager
def engine_over(raw, where, tables, folder):
    """An engine over a prepared copy of raw values, the number of the table being one more column."""
    numbered = Column.integer(TABLE, 0, max(2, tables + tables % 2))
    wide = replace(where, columns=(*where.columns, numbered), unit=PrivacyUnit("add-remove"))
    copy = prepare(raw, wide, folder / f"{next(NUMBERS)}.duckdb")
    with DuckDBEngine(copy, threads=1) as engine:
        engine._short = False  # so that statements answer
        yield engine


def requests_of(rng, where, priced, stack):
    """What a cell asks, of all rows and table by table, and totals by keys of very different sizes."""
    found = [part.request for item in priced.items for part in item.parts]
    found += [stack.keyed(request) for request in found if not isinstance(request, CrossMoments | LabelSums)]
    ranges = code_ranges(where)
    for request in [request for request in found if isinstance(request, Total | ValueCounts)][:4]:
        low, high = bounds(request.value, ranges)
        width = rng.choice([1, 7, 2**10, max((high - low) // 20_000, 1)])
        size = min((high - low) // width + 1, rng.choice([3, 50, 20_001]))
        key = Key(FloorDiv(Sub(request.value, Lit(low)), width), size)
        found.append(Total(rng.choice([Lit(1), request.value]), request.where, (key, *request.keys[:1])))
    rng.shuffle(found)
    return found


def compared(seed, cells, folder):
    """Hold random cells against the reference; how many requests there were."""
    rng, asked, seen = random.Random(seed), 0, 0
    while seen < cells:
        where = questions.schema(rng)
        stack, raw = drawn_stack(rng, where)
        with engine_over(raw, where, stack.tables, folder) as engine:
            for _ in range(4):
                drawn = [questions.question(rng, name) for name in rng.choices(list(questions.PARTS), k=3)]
                try:
                    priced = price(*questions.batch(rng, where, drawn, caps=False), where)
                except DpnbError:
                    continue
                requests = requests_of(rng, where, priced, stack)
                words = (where.to_json(), [item.text for item in priced.items], requests)
                assert as_lists(engine.answer(requests)) == as_lists(answer(stack.table, requests)), words
                asked, seen = asked + len(requests), seen + 1
    return asked


def compared_prepared(seed, cells, folder):
    """Hold random cells of prepared columns against the reference: own rows, or two files that are joined; how many requests there were."""
    rng, asked, seen = random.Random(seed), 0, 0
    while seen < cells:
        where = questions.prepared(rng, questions.schema(rng, unit=rng.choice(UNITS)))
        full = others(rng, where).also(rows_of_one(rng, where), "me")
        raw = (Raw.empty(where) if where.unit.units is None and rng.random() < 0.2 else full).columns()
        tables = {name: raw[name] for name in where.sources}
        wanted = preparation.prepare(raw[""], where, key=KEY, others=tables)
        with engine_over_files(raw, where, folder / f"{next(NUMBERS)}") as engine:
            for _ in range(4):
                drawn = [questions.question(rng, name) for name in rng.choices(list(questions.PARTS), k=3)]
                try:
                    priced = price(*questions.batch(rng, where, drawn), where)
                except DpnbError:
                    continue
                requests = [part.request for item in priced.items for part in item.parts]
                words = (where.to_json(), [item.text for item in priced.items], raw)
                assert as_lists(engine.answer(requests)) == as_lists(answer(wanted, requests)), words
                asked, seen = asked + len(requests), seen + 1
    return asked


@contextmanager
def engine_over_files(raw, where, folder):
    """An engine over a prepared copy of one table, or of two files."""
    folder.mkdir()
    for name, columns in raw.items():
        with (folder / f"{name or 'own'}.csv").open("w", newline="") as file:
            rows = zip(*(map(written, cells.tolist()) for cells in columns.values()), strict=True)
            csv.writer(file).writerows([list(columns), *rows])
    with ExitStack() as files:
        held = {name: files.enter_context(NamedFile.open(folder / f"{name or 'own'}.csv")) for name in raw}
        own = held.pop("")
        copy = prepare(NamedFiles(own, held) if held else own, where, folder / "copy.duckdb", key=KEY)
        with DuckDBEngine(copy, threads=1) as engine:
            engine._short = False
            yield engine


def written(cell):
    """A cell as a file has it."""
    return None if cell is None else text_of(cell)


def test_random_preparations_and_joins_have_the_references_integers(tmp_path):
    """Raw files through the SQL of one row of each unit and of the join, capped questions too, 4 cells."""
    assert compared_prepared(1, 4, tmp_path) > 8


@pytest.mark.slow
def test_random_cells_have_the_references_integers(tmp_path):
    """Raw values through the SQL quantiser, every statistic's requests, 10 cells."""
    assert compared(1, 10, tmp_path) > 60


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_more_random_cells_have_the_references_integers(part, tmp_path):
    """The long version, anew each time."""
    seed = random.SystemRandom().randrange(2**40)
    print(f"compared({seed}, 1500), compared_prepared({seed}, 300), part {part}")
    compared(seed, 1500, tmp_path)
    compared_prepared(seed, 300, tmp_path)
