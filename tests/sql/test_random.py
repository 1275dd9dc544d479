"""Random SELECTs equal DuckDB in every figure where noise is nothing, and nothing but a dpnb error is raised."""

from __future__ import annotations

import math

import duckdb
import numpy as np
import pytest

import dpnb
from dpnb.client.sql import statements, translate
from dpnb.errors import DpnbError
from tests.sql.random_queries import Queries
from tests.sql.tables import frames
from tests.sql.test_verdicts import opened, oracle, plain

BATCH = 100


def asked(number, seed, tables):
    """So many SELECTs with their pending answers, and those that are refused."""
    stream, made, refused = Queries(seed), {}, {}
    for _ in range(number):
        text = stream.one()
        try:
            made[text] = translate(statements(text)[0], tables, {})
        except DpnbError as error:
            refused[text] = str(error)
    return made, refused


def room_of(figure):
    """What noise may move a figure by: a count by nothing, a sum of wide numbers by some units."""
    statistics = {leaf.question.statistic for leaf in figure.leaves()}
    return 0.01 if statistics == {"count"} else 6


def wrong_rows(answer, theirs):
    """The cells in which an answer differs from DuckDB by more than its noise, and how many were compared."""
    keys = [name for name in answer.columns if name in answer.keys]
    mine = {
        tuple(map(str, map(plain, row))): place
        for place, row in enumerate(zip(*(answer[key].ravel() for key in keys), strict=True))
    }
    wrong, compared = [], 0
    values = {name: (np.ravel(one.value), room_of(one)) for name, one in answer.estimates.items()}
    for row in theirs:
        named = dict(zip(answer.columns, row, strict=True))
        if any(named[key] is None for key in keys):
            continue
        place = mine[tuple(str(plain(named[key])) for key in keys)] if keys else 0
        for name, (value, room) in values.items():
            if named[name] is None or not math.isfinite(named[name]):
                continue  # of no rows: said to differ
            compared += 1
            if not math.isclose(value[place], float(named[name]), rel_tol=1e-4, abs_tol=room):
                wrong.append((name, value[place], named[name]))
    return wrong, compared


def compare(number, seed):
    """Ask so many, release them in batches, and return what differs, how many figures were compared, and what was refused."""
    rows = frames()
    database, tables = oracle(rows), opened(rows, only=("people", "lineitem"))
    made, refused = asked(number, seed, tables)
    texts, wrong, figures = list(made), {}, 0
    for first in range(0, len(texts), BATCH):
        batch = texts[first : first + BATCH]
        for name, table in tables.items():
            figures_of = [one for text in batch if f"FROM {name}" in text for one in made[text].bought]
            dpnb.release(figures_of, epsilon=table.budget.cap.amount * BATCH / number / 2)
        for text in batch:
            try:
                theirs = database.execute(text).fetchall()
            except duckdb.Error:  # a product that leaves its 64 bits
                continue
            found, compared = wrong_rows(made[text], theirs)
            figures += compared
            if found:
                wrong[text] = found
    return wrong, figures, refused


@pytest.mark.slow
def test_two_hundred_random_queries_equal_duckdb(dpnb_home):
    """No figure differs, and few are refused."""
    wrong, figures, refused = compare(200, seed=1)
    assert not wrong
    assert figures > 600
    assert len(refused) < 60


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 11))
def test_two_thousand_random_queries_equal_duckdb(dpnb_home, seed):
    """The same, with other seeds."""
    wrong, figures, _ = compare(200, seed)
    assert not wrong
    assert figures > 600
