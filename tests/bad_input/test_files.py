"""Files as they come: what is wrong with a file is told to the owner, what is wrong in the data changes nothing."""

from __future__ import annotations

import os

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpnb
from dpnb.errors import DpnbError, OwnerError, Unavailable
from tests.bad_input.conftest import short

DATA = {
    "header only": "x,y\n",
    "one row": "x,y\n3,1\n",
    "one row without a line end": "x,y\n3,1",
    "all NULL": "x,y\n,\n,\n,\n",
    "mistyped": "x,y\nabc,def\nNaN,true\n1e400,1\n--3,0\n12 000,0\n",
    "NaN and infinities": "x,y\nnan,nan\ninf,inf\n-inf,-inf\nInfinity,1\n5,1\n",
    "constant": "x,y\n" + "4,1\n" * 50,
    "nobody in one group": "x,y\n" + "4,0\n" * 50,
    "bytes of zero": b"x,y\n1,1\n\x00,0\n3,1\n",
    "byte order mark, CRLF": b"\xef\xbb\xbfx,y\r\n1,1\r\n2,0\r\n",
    "quoted numbers": 'x,y\n"1","0"\n2,"1"\n',
    "other columns too": "name,x,y\nAnn,1,1\nBob,2,0\n",
}


def everything(data):
    """One question of each kind, in groups and under a filter."""
    return {
        "n": data.count(),
        "some": data[data.x > 3].count(),
        "mean": data.x.mean(),
        "groups": data.groupby("y").x.mean(),
        "difference": data.x.difference(by="y"),
        "median": data.x.median(ci=True),
        "variance": data.x.variance(),
        "std": data.y.std(),
        "counts": data.y.value_counts(),
        "histogram": data.x.histogram(),
        "sum": data.groupby("y").x.sum(),
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", DATA)
def test_whatever_the_rows_hold_every_question_has_its_answer(desk, kind):
    """No rows, missing, mistyped, infinite, constant: finite values of the declared shape, both intervals or the reason."""
    data = desk.open(DATA[kind])
    report = dpnb.release(everything(data), epsilon=5)
    assert report.charged.amount == 5
    for estimate in report.values():
        assert np.isfinite(estimate.to_numpy() if estimate.shape else estimate.value).all()
        assert estimate.interval(kind="privacy") is not None
        try:
            estimate.interval(kind="confidence")
        except Unavailable as reason:
            short(reason)
    assert report["groups"].shape == report["counts"].shape == (2,)


FAULTS = {
    "missing": (None, ".csv", "There is no file"),
    "empty": ("", ".csv", "is empty: it needs at least a line of column names"),
    "a blank first line": ("\n1,1\n", ".csv", "no column names in its first line"),
    "without the column": ("y\n1\n", ".csv", 'have no column "x"'),
    "a column twice": ("x,x,y\n1,1,1\n", ".csv", "names a column twice"),
    "a row too long": ("x,y\n1,1\n7731,0,7\n", ".csv", "line 3 has another number of fields"),
    "a row too short": ("x,y\n1,1\n7731\n", ".csv", "line 3 has another number of fields"),
    "an open quote": ('x,y\n1,1\n"7731,0\n3,1\n', ".csv", "line 3 ends inside a quoted field"),
    "a number on two lines": ('x,y\n"7731\n",1\n2,0\n', ".csv", "line 2 ends inside a quoted field"),
    "a stray quote": ('x,y\n1,1\n7731",0\n', ".csv", "line 3 has a quote inside"),
    "two kinds of line ends": ("x,y\n1,1\r\n7731,0\n", ".csv", "line 2 ends in another way"),
    "not UTF-8": (b"x,y\n1,1\n\xff\xfe7731,0\n", ".csv", "not UTF-8"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), ".csv", "not UTF-8"),
    "CSV called Parquet": ("x,y\n1,1\n", ".parquet", "cannot be read as parquet"),
    "CSV called DuckDB": ("x,y\n1,1\n", ".duckdb", "cannot be read as duckdb"),
    "Parquet cut short": (b"PAR1" + bytes(40), ".parquet", "cannot be read as parquet"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_of_the_file_is_told_to_the_owner_without_a_row(desk, kind):
    """Missing, empty, damaged or of another kind: one short line that names the file and what is wrong."""
    content, suffix, words = FAULTS[kind]
    with pytest.raises(OwnerError) as fault:
        desk.open(content, suffix)
    assert words in short(fault.value)
    assert "7731" not in str(fault.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_says_so(desk):
    """No permission is a fault of the file."""
    desk.open("x,y\n1,1\n", name="closed")
    (desk.folder / "closed.csv").chmod(0)
    with pytest.raises(OwnerError, match="cannot be read"):
        dpnb.open(str(desk.folder / "closed.csv"), quiet=True)


def test_a_folder_is_no_file(desk):
    """A folder with a schema beside it."""
    desk.folder.joinpath("t1.csv").mkdir()
    with pytest.raises(OwnerError, match="is a folder"):
        desk.open(None)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (".", "is a folder"),
        ("people.ods", "save a spreadsheet as .xlsx or CSV"),
        ("mk.py", "dpnb reads .csv"),
    ],
)
def test_what_is_no_table_is_not_taken_for_the_name_of_a_study(what, words):
    """A folder and a file of another kind: the message says what can be opened, whether or not it is there."""
    with pytest.raises(OwnerError, match=words):
        dpnb.open(what)


@pytest.mark.parametrize("rows", [0, 2, 77, 10**9])
def test_a_wrong_public_row_count_does_not_tell_the_true_one(desk, rows):
    """The schema says another number of rows than the file holds: the message is the same whatever the file holds."""
    told = set()
    for content in ("x,y\n" + "1,1\n" * 13, "x,y\n" + "1,1\n" * 41):
        with pytest.raises(OwnerError) as fault:
            desk.open(content, size=f'adjacency = "change-one"\nrows = {rows}', name="same")
        told.add(short(fault.value, 260))
    assert len(told) == 1
    assert not {"13", "41"} & set(told.pop().split())


FRAMES = {
    "no rows": {"x": [], "y": []},
    "texts": {"x": ["a", None, "3"], "y": [1, 0, None]},
    "objects": {"x": [object(), 3], "y": [1, 0]},
    "dates among objects": {"x": [pd.Timestamp("2020-01-01"), 3], "y": [1, 0]},
    "categories": {"x": pd.Categorical([1, 2]), "y": [True, False]},
    "lists": {"x": [[1], [2]], "y": [1, 0]},
    "nullable": {"x": pd.array([1, None], dtype="Int64"), "y": pd.array([True, None], dtype="boolean")},
    "huge integers": {"x": [10**30, -(10**30)], "y": [1, 0]},
    "infinities": {"x": [np.inf, -np.inf], "y": [np.nan, 1]},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_of_any_kind_is_answered(desk, kind):
    """Mistyped frames are missing values, not errors."""
    data = dpnb.open(pd.DataFrame(FRAMES[kind]), schema=desk.declaration(), quiet=True)
    report = dpnb.release({"mean": data.x.mean(), "y": data.y.mean()}, epsilon=1)
    assert np.isfinite([report["mean"].value, report["y"].value]).all()


NAMES = [
    "",
    "x" * 5000,
    "x" * 300,
    "x" * 300 + ".csv",
    "é" * 200,
    "a\0b.csv",
    "a\udc80b.csv",
    "\n",
    "https://x.example/a.csv",
    "a.xlsx",
    "hivv",
    3,
    None,
    b"a.csv",
]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name)[:20])
def test_what_is_no_study_and_no_file_is_told_what_to_type(desk, name):
    """Empty, endless, unprintable, remote, unknown and of another type."""
    with pytest.raises(DpnbError) as fault:
        dpnb.open(name, quiet=True)
    assert "vocabulary" not in short(fault.value)


FRAME = pd.DataFrame({"x": [1, 2], "y": [0, 1]})
NO_FRAMES = {
    "LazyFrame": (pl.LazyFrame({"x": [1], "y": [0]}), ".collect()"),
    "Series": (FRAME.x, ".to_frame()"),
    "Series of polars": (pl.Series("x", [1]), ".to_frame()"),
    "RangeIndex": (FRAME.index, ".to_frame()"),
    "Int64Array": (pa.array([1]), "pyarrow.table({"),
    "ChunkedArray": (pa.chunked_array([[1]]), "pyarrow.table({"),
    "RecordBatchReader": (pa.table({"x": [1]}).to_reader(), ".read_all()"),
    "DuckDBPyRelation": (duckdb.sql("SELECT 1 AS x, 0 AS y"), ".df()"),
    "DataFrameGroupBy": (FRAME.groupby("y"), "the frame that it groups"),
    "GroupBy": (pl.DataFrame(FRAME).group_by("y"), "the frame that it groups"),
    "Expr": (pl.col("x"), "a dictionary of columns"),
    "Timestamp": (pd.Timestamp("2020-01-01"), "a dictionary of columns"),
    "int": (3, "a dictionary of columns"),
    "float64": (np.float64(3), "a dictionary of columns"),
    "list": ([{"x": 1, "y": 0}], "a dictionary of columns"),
    "ndarray": (np.zeros((2, 2)), "a dictionary of columns"),
    "generator": ((one for one in [1]), "a dictionary of columns"),
    "type": (pd.DataFrame, "a dictionary of columns"),
}


@pytest.mark.parametrize("kind", NO_FRAMES)
def test_what_is_no_frame_is_told_its_kind_and_what_makes_one(desk, kind):
    """Seen: of most of them "The frame has no column 'x'", of a GroupBy an AttributeError."""
    value, fix = NO_FRAMES[kind]
    with pytest.raises(OwnerError) as fault:
        dpnb.open(value, schema=desk.declaration(), quiet=True)
    assert f"not {kind.partition(' ')[0]}." in str(fault.value)
    assert fix in str(fault.value)


@pytest.mark.parametrize(
    "cells",
    [
        5,
        "abc",
        {"a": 1},
        {1, 2},
        np.float64(3),
        pl.col("x"),
        pa.scalar(1),
        pd.Timestamp(0),
        FRAME.groupby("y").x,
    ],
)
def test_what_is_no_column_is_told_its_kind(desk, cells):
    """Seen: {"x": 5} was a TypeError, and a text was opened as a column of its letters."""
    with pytest.raises(OwnerError, match=f'"x" is of type {type(cells).__name__}: a column is a list'):
        dpnb.open({"x": cells, "y": [0]}, schema=desk.declaration(), quiet=True)


@pytest.mark.parametrize(
    "schema",
    [3, "nope.toml", {}, {"dataset": 3}, "", object()],
    ids=["number", "no-file", "empty", "no-table", "no-text", "object"],
)
def test_what_is_no_schema_is_told_what_to_type(desk, schema):
    """A number, a file that is not there, an empty mapping."""
    (desk.folder / "d.csv").write_text("x,y\n1,1\n")
    with pytest.raises(DpnbError) as fault:
        dpnb.open(str(desk.folder / "d.csv"), schema=schema, quiet=True)
    short(fault.value)


def test_a_frame_whose_type_has_no_numbers_is_refused(desk):
    """A column of dates where numbers are declared: the owner is told by its type, whatever the rows hold."""
    frame = pd.DataFrame({"x": pd.to_datetime(["2020-01-01"]), "y": [1]})
    with pytest.raises(OwnerError, match="convert it first"):
        dpnb.open(frame, schema=desk.declaration(), quiet=True)
