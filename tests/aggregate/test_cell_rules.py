"""What an owner declares of the cells of a column: each rule is the same in every container and in SQL, and what an oracle says."""

from __future__ import annotations

import datetime as dt
import math
import random
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpnb.datasets.preparation import coded, prepare
from dpnb.errors import OwnerError
from dpnb.trusted.curator.engines.preparing import _declare_categories, prepared_sql
from dpnb.trusted.curator.engines.raw_table import open_source
from dpnb.trusted.files.dialect import STRICT
from dpnb.trusted.files.named_file import held
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.owner import load
from tests.contracts.handed import handed
from tests.curator.engines.test_row_locality import WRITERS

AGE: dict[str, Any] = {"type": "integer", "lower": 0, "upper": 100}
DAY: dict[str, Any] = {"type": "date", "bounds": ["2020-01-01", "2021-12-31"]}
SEX: dict[str, Any] = {"type": "category", "values": ["Female", "Male"]}
JOB: dict[str, Any] = {"type": "text", "length": 12, "case": "lower"}


def declared(column: dict[str, Any], **keys: Any) -> Schema:
    """A declaration of this one column, as it is read from its file."""
    return load(
        {
            "dataset": {"name": "people", "adjacency": "add-remove"},
            "budget": {"epsilon": 4},
            "columns": {"x": column | keys},
        }
    ).schema


def codes(schema: Schema, raw: Any, folder: Any) -> list[Any]:
    """The codes that the curator's SQL writes of a file or of a frame; of a text the first of its whole numbers."""
    return [row[0] for row in rows(schema, raw, folder)]


def rows(schema: Schema, raw: Any, folder: Any) -> list[tuple[Any, ...]]:
    """The rows of a copy, by the statement that writes it."""
    with (
        held(raw, STRICT) as named,
        duckdb.connect(config={"pandas_analyze_sample": "0", "threads": "1"}) as engine,
    ):
        _declare_categories(engine, schema)
        source = open_source(engine, handed(named, schema), workshop=folder)
        return engine.execute(prepared_sql({"": source}, schema, b"key")).fetchall()


def everywhere(schema: Schema, cells: list[Any], folder: Any) -> list[Any]:
    """The codes of these cells, which are the same in every container and one by one."""
    (one,) = schema.columns
    wanted = [coded([cell], one)[one.parts[0]].tolist()[0] for cell in cells]
    assert coded(cells, one)[one.parts[0]].tolist() == wanted
    texts = ["" if cell is None or cell != cell else str(cell) for cell in cells]  # noqa: PLR0124
    objects = pd.DataFrame({"x": pd.Series(cells, dtype=object)})
    frames = [
        {"x": cells},
        objects,
        objects.astype("category"),
        pl.DataFrame({"x": texts}, schema={"x": pl.String}),
    ]
    for frame in [*frames, pd.DataFrame({"x": cells}), pd.DataFrame({"x": texts})]:
        assert codes(schema, frame, folder) == wanted, type(frame)
    for ending, make in WRITERS.items():
        for column in (cells, texts):
            path = folder / f"rows{ending}"
            path.unlink(missing_ok=True)
            make(path, {"x": column, "beside": [1] * len(column)})
            assert codes(schema, path, folder) == wanted, ending
    return wanted


# Missing codes ----------------------------------------------------------------------------------------------------

CODED = (
    (AGE, [999, -99, "refused", "."], [41, 999, "999", " 999.0", 998, -99, "-99", "refused", ".", "", None, 7.0],
     [41, None, None, None, 100, None, None, None, None, None, None, 7]),
    (AGE | {"missing": 0}, [999], [41, 999, "x", None], [41, 0, 0, 0]),
    (AGE | {"type": "number"}, [99.5, "-1e0"], [99.5, "99.50", 99, -1, "-1", 1], [None, None, 1038090, None, None, 10486]),
    (SEX, ["refused", 9], ["Male", "refused", 9, "9.0", "Female", "male"], [1, None, None, None, 0, None]),
    (DAY, ["2020-01-01", 99999999, "9999-12-31"], ["2020-01-02", "2020-01-01", "2020-01-01T00:00", " 2020-01-01 ", "9999-12-31", "9999-12-30", 99999999],
     [1, None, None, None, None, 730, None]),
    (JOB, ["Refused", 0], ["nurse", "REFUSED", " refused ", "0", 0, "00"], [int.from_bytes(b"nurse" + bytes(2)), None, None, None, None, int.from_bytes(b"00" + bytes(5))]),
)  # fmt: skip


@pytest.mark.parametrize(("column", "missing", "cells", "wanted"), CODED, ids=range(len(CODED)))
def test_a_cell_that_is_a_code_is_missing(column, missing, cells, wanted, tmp_path):
    """However the code is written, in whatever the cells come; a cell beside it is what it was."""
    assert everywhere(declared(column, missing_codes=missing), cells, tmp_path) == wanted


def test_codes_for_unknown_are_no_upper_bound(tmp_path):
    """Seen: 999 counted as the upper bound, and a mean of 52.69 was told where 47.87 is right."""
    rng = random.Random(43)
    ages = [rng.choice([999, 999, -99]) if rng.random() < 0.2 else rng.randint(18, 90) for _ in range(400)]
    (tmp_path / "people.csv").write_text("x\n" + "\n".join(map(str, ages)) + "\n")
    found = codes(declared(AGE, missing_codes=[999, -99]), tmp_path / "people.csv", tmp_path)
    right = pd.read_csv(tmp_path / "people.csv", na_values=[999, -99])["x"].mean()
    assert np.mean([code for code in found if code is not None]) == right
    wrong = codes(declared(AGE), tmp_path / "people.csv", tmp_path)
    assert abs(np.mean(wrong) - right) > 1


@pytest.mark.parametrize(
    ("column", "keys", "words"),
    [
        (AGE, {"missing": [999, -99]}, r"missing is one value; .* write missing_codes = \[999, -99\]"),
        (SEX, {"missing": ["no", "x"]}, r"missing is one value; .* write missing_codes"),
        (AGE, {"missing_codes": 999}, r"missing_codes is a list: write missing_codes = \[999, -99"),
        (AGE, {"missing_codes": "999"}, "missing_codes is a list"),
        (AGE, {"missing_codes": [999, "999.0"]}, "missing_codes names 999 and '999.0', which are one cell"),
        (AGE, {"missing_codes": [True]}, "missing_codes are numbers and texts, not True"),
        (AGE, {"missing_codes": [[1]]}, "missing_codes are numbers and texts"),
        (AGE, {"missing_codes": [" "]}, "an empty cell is missing in any case"),
        (AGE, {"missing_codes": [math.nan]}, "missing_codes"),
        (AGE, {"missing_codes": list(range(1001))}, "at most 1,000"),
        (SEX, {"missing_codes": ["Male"]}, "missing_codes and values both name 'Male'"),
        ({"type": "category", "values": [0, 1]}, {"missing_codes": ["01"]}, "missing_codes and values both name 1"),
        (JOB, {"missing_codes": ["A", "a "]}, "which are one cell"),
    ],
)  # fmt: skip
def test_a_wrong_rule_is_refused_before_anything_is_pinned(column, keys, words):
    """One clear error that names the key, and where it stands."""
    with pytest.raises(OwnerError, match=words) as refused:
        declared(column, **keys)
    assert str(refused.value).startswith("the schema, [columns.x]: ")


# Every rule -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "keys"),
    [
        (AGE, {"missing_codes": [999, "refused"]}),
        (DAY, {"missing_codes": [dt.date(2020, 1, 1), "n/a"]}),
        (JOB, {"missing_codes": ["refused"]}),
    ],
)
def test_rules_are_part_of_what_is_declared(column, keys):
    """They are written, read again, change the version, and a column without them is what it always was."""
    with_rules, without = declared(column, **keys), declared(column)
    assert Schema.from_json(with_rules.to_json()) == with_rules
    assert with_rules.version != without.version
    assert not without["x"].cells
    assert set(with_rules["x"].to_json()) - set(without["x"].to_json()) == set(keys)


def test_the_unit_is_read_of_the_raw_cell(tmp_path):
    """A code in a column that names the unit as well is missing where it is asked about, and still names its unit."""
    schema = load(
        {
            "dataset": {"name": "p", "adjacency": "add-remove", "unit": "x", "max_rows_per_unit": 2},
            "budget": {"epsilon": 4},
            "columns": {"x": AGE | {"missing_codes": [99]}},
        }
    ).schema
    (tmp_path / "rows.csv").write_text("x\n1\n99\n99\n99\n")
    assert sorted(codes(schema, tmp_path / "rows.csv", tmp_path), key=str) == [1, None, None]
    table = prepare({"x": [1, 99, 99, 99]}, schema)
    assert sorted(table.columns["x"].tolist(), key=str) == [1, None, None]


def test_many_columns_are_read_by_their_own_rules(tmp_path):
    """More columns than a statement reads one by one: each has codes of its own."""
    columns = {f"x{n}": AGE | {"missing_codes": [n]} for n in range(40)}
    schema = load(
        {"dataset": {"name": "p", "adjacency": "add-remove"}, "budget": {"epsilon": 4}, "columns": columns}
    ).schema
    found = rows(schema, {name: list(range(40)) for name in columns}, tmp_path)
    assert found == [tuple(None if n == row else row for n in range(40)) for row in range(40)]
