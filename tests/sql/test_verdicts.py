"""The 81 queries: what is answered equals DuckDB where noise is nothing, what is refused says what to write."""

from __future__ import annotations

import datetime as dt
import math

import duckdb
import pytest

import dpnb
from dpnb.client.sql import Selected, statements, translate
from dpnb.errors import DpnbError
from tests.sql.tables import DECLARED, PARAMETERS, frames, handles
from tests.sql.verdicts import REFUSED, SAME

LOSS = 10**8
"""Of a batch: noise is nothing beside a row."""


def opened(rows, only=tuple(DECLARED)):
    """The tables, opened as anybody opens them."""
    budget = {"epsilon": 10 * LOSS}
    return {
        name: dpnb.open(
            rows[name],
            schema={**declared, "budget": budget},
            quiet=True,
            tables={"visits": rows["visits"]} if name == "hospital" else None,
        )
        for name, declared in DECLARED.items()
        if name in only
    }


def oracle(rows):
    """DuckDB on the same rows; dates are dates."""
    database = duckdb.connect()
    for name, frame in rows.items():
        database.register(f"raw_{name}", frame)
        dates = ", ".join(f"{one}::DATE AS {one}" for one in frame if one.endswith("date"))
        database.execute(
            f"CREATE TABLE {name} AS SELECT * {f'REPLACE ({dates})' if dates else ''} FROM raw_{name}"
        )
    return database


def answers(texts, tables, parameters=PARAMETERS):
    """The answers to some statements, each dataset's in one batch."""
    made = {name: translate(statements(text)[0], tables, parameters) for name, text in texts.items()}
    by_dataset = {}
    for one in made.values():
        for figure in one.bought:
            by_dataset.setdefault(figure.leaves()[0].dataset.name, []).append(figure)
    for figures in by_dataset.values():
        dpnb.release(figures, epsilon=LOSS)
    return made


def shown(answer: Selected):
    """The rows of an answer without intervals."""
    table = answer.table()
    return list(zip(*(table.columns[name] for name in answer.columns), strict=True))


def truth(database, text):
    """The rows that DuckDB gives; parameters are its own."""
    for name in PARAMETERS:
        text = text.replace(f"{{{{{name}}}}}", f"${name}").replace(f":{name}", f"${name}")
    used = {name: value for name, value in PARAMETERS.items() if f"${name}" in text}
    return database.execute(text, used or None).fetchall()


def plain(cell):
    """A cell as both write it: numbers as floats, dates as ISO text."""
    if isinstance(cell, dt.date):
        return cell.isoformat()[:10]
    return cell if isinstance(cell, str | bool) or cell is None else float(cell)


def alike(one, other, tolerance=1e-3):
    """Whether two cells are equal but for noise."""
    one, other = plain(one), plain(other)
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=0.05)
    return one == other


def differences(mine, theirs, *, ordered):
    """The rows that differ; a group of NULL is DuckDB's alone."""
    theirs = [row for row in theirs if None not in row]
    if not ordered:
        mine, theirs = (
            sorted(rows, key=lambda row: [str(plain(cell)) for cell in row]) for rows in (mine, theirs)
        )
    if len(mine) != len(theirs):
        return [(len(mine), len(theirs))]
    return [(a, b) for a, b in zip(mine, theirs, strict=True) if not all(map(alike, a, b))]


@pytest.mark.slow
def test_what_is_answered_equals_duckdb(dpnb_home):
    """51 queries, three datasets, three batches."""
    rows = frames()
    database, made = oracle(rows), answers(SAME, opened(rows))
    assert len(SAME) == 51
    wrong = {
        name: found
        for name, text in SAME.items()
        if (
            found := differences(
                shown(made[name]), truth(database, text), ordered="ORDER BY" in text and "WITHIN" not in text
            )
        )
    }
    assert not wrong


@pytest.fixture(scope="module")
def tables():
    """Handles that only write questions."""
    return handles()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_what_to_write(name, tables):
    """With the place in the text; what dpnb itself refuses too."""
    text, words = REFUSED[name]
    with pytest.raises(DpnbError) as error:
        translate(statements(text)[0], tables, PARAMETERS)
    assert words in str(error.value)
    assert " (line 1, column " in str(error.value)
    assert error.value.details["line"] == 1
