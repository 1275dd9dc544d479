"""Reading is row-local in every kind of source: the contract, and each case that once was not."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import json
import math
import random
import zipfile
from fractions import Fraction
from unittest.mock import patch

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from pyarrow import feather

from dpnb.client.upload import hand_over
from dpnb.datasets.cell_text import text_of
from dpnb.datasets.containers import plain_column
from dpnb.datasets.preparation import quantise, ranked, read
from dpnb.errors import OwnerError
from dpnb.trusted.curator.engines import csv_rows, table_file
from dpnb.trusted.curator.sources import read_arrays
from dpnb.trusted.files.dialect import Dialect
from dpnb.trusted.files.named_file import FORMATS
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.wire.places import Home
from tests.contracts.handed import prepare
from tests.contracts.sas_file import write_sas
from tests.contracts.sources import (
    CELLS,
    COLUMNS,
    NAMES,
    SourceContract,
    codes_by_reference,
    codes_by_sql,
    engine,
    table,
)
from tests.contracts.workbook import write_workbook


def arrow_column(cells):
    """An Arrow array: typed where all cells are of one type (Arrow itself coerces mixed ones), else of their texts."""
    if len({type(cell) for cell in cells if cell is not None}) <= 1:
        try:
            return pa.array(cells, from_pandas=True)
        except (pa.ArrowException, OverflowError):
            pass
    return pa.array([text_of(cell) for cell in cells], pa.string())


def arrow_table(columns):
    """An Arrow table of these columns."""
    return pa.table({name: arrow_column(cells) for name, cells in columns.items()})


def polars_column(name, cells):
    """A polars column: typed where all cells are of one type, of Python objects otherwise."""
    if len({type(cell) for cell in cells if cell is not None}) <= 1:
        try:
            return pl.Series(name, cells, strict=True)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            pass
    return pl.Series(name, cells, dtype=pl.Object)


class TestLists(SourceContract):
    """A mapping of lists."""

    TABLES = 15

    @classmethod
    def codes(cls, columns, folder):
        return codes_by_reference(columns, folder)


class TestPandas(SourceContract):
    """A DataFrame with whatever types pandas infers."""

    TABLES = 15

    @classmethod
    def codes(cls, columns, folder):
        return codes_by_reference(pd.DataFrame(columns), folder)


class TestNullablePandas(SourceContract):
    """A DataFrame of pandas' nullable types."""

    @classmethod
    def codes(cls, columns, folder):
        return codes_by_reference(pd.DataFrame(columns).convert_dtypes(), folder)


class TestCategoricalPandas(SourceContract):
    """A DataFrame of categories, whose levels are mixed."""

    @classmethod
    def codes(cls, columns, folder):
        frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
        return codes_by_reference(frame.astype("category"), folder)


class TestPolars(SourceContract):
    """A polars frame."""

    TABLES = 15

    @classmethod
    def codes(cls, columns, folder):
        frame = pl.DataFrame([polars_column(name, cells) for name, cells in columns.items()])
        return codes_by_reference(frame, folder)


class TestArrow(SourceContract):
    """An Arrow table."""

    TABLES = 15

    @classmethod
    def codes(cls, columns, folder):
        return codes_by_reference(arrow_table(columns), folder)


class TestArrowDictionaries(SourceContract):
    """An Arrow table of dictionary-encoded texts."""

    @classmethod
    def codes(cls, columns, folder):
        texts = {
            name: pa.array([text_of(cell) for cell in cells], pa.string()) for name, cells in columns.items()
        }
        return codes_by_reference(
            pa.table({name: a.dictionary_encode() for name, a in texts.items()}), folder
        )


def field(cell):
    """A cell as a program writes it into a CSV file."""
    return "" if cell is None or cell != cell else str(cell)  # noqa: PLR0124


def write_csv(path, columns, delimiter=",", encoding="utf-8"):
    """A CSV file that quotes what needs it."""
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, lineterminator="\n", delimiter=delimiter)
        writer.writerow(columns)
        writer.writerows(zip(*(map(field, cells) for cells in columns.values()), strict=True))


def write_parquet(path, columns):
    """A Parquet file."""
    pq.write_table(arrow_table(columns), path)


def write_database(path, columns):
    """A DuckDB file of one table; named at last, since its catalogue has the name that it is written under."""
    aside = path.with_name("aside")
    aside.unlink(missing_ok=True)
    with duckdb.connect(str(aside)) as connection:
        connection.register("held", arrow_table(columns))
        connection.execute("CREATE TABLE t AS SELECT * FROM held")
    aside.rename(path)


def write_gzip(path, columns):
    """A CSV file, packed."""
    write_csv(path.with_name("aside"), columns)
    path.write_bytes(gzip.compress(path.with_name("aside").read_bytes(), mtime=0))


def write_zip(path, columns):
    """A CSV file in an archive."""
    write_csv(path.with_name("aside"), columns)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("people.csv", path.with_name("aside").read_bytes())


def write_lines(path, columns):
    """One object of JSON on each line; what JSON has no word for is a text."""
    rows = zip(*columns.values(), strict=True)
    path.write_text(
        "".join(json.dumps(dict(zip(columns, row, strict=True)), default=str) + "\n" for row in rows)
    )


def write_feather(path, columns):
    """An Arrow file."""
    feather.write_feather(arrow_table(columns), path)


def write_xlsx(path, columns):
    """A workbook of one sheet."""
    write_workbook(path, {"People": [list(columns), *zip(*columns.values(), strict=True)]})


def statistics_frame(columns):
    """The columns as a package of statistics holds them: each of numbers, of days, or of texts."""
    frame = {}
    for name, cells in columns.items():
        kinds = {type(cell) for cell in cells if cell is not None}
        if kinds <= {int, float, bool}:
            frame[name] = pd.Series(
                [None if cell is None else float(cell) for cell in cells], dtype="float64"
            )
        elif kinds == {dt.date}:
            frame[name] = pd.Series(cells, dtype=object)
        else:
            frame[name] = pd.Series([text_of(cell) or "" for cell in cells], dtype=object)
    return pd.DataFrame(frame)


def write_sav(path, columns):
    """A file of SPSS."""
    pyreadstat.write_sav(statistics_frame(columns), path.with_name("aside.sav"))
    path.with_name("aside.sav").rename(path)


def write_zsav(path, columns):
    """The same, packed as SPSS packs it."""
    pyreadstat.write_sav(statistics_frame(columns), path.with_name("aside.zsav"), compress=True)
    path.with_name("aside.zsav").rename(path)


def write_dta(path, columns):
    """A file of Stata, which has no number of 2¹⁰²³ or more: such a cell is missing in it."""
    frame = statistics_frame(columns).apply(
        lambda cells: cells.where(cells.abs() < 2.0**1023) if cells.dtype == "float64" else cells
    )
    pyreadstat.write_dta(frame, path.with_name("aside.dta"), version=15)
    path.with_name("aside.dta").rename(path)


def write_sas7bdat(path, columns):
    """A file of SAS."""
    frame = statistics_frame(columns)
    write_sas(
        path, {name: [None if pd.isna(cell) else cell for cell in frame[name]] for name in frame.columns}
    )


WRITERS = {
    ".jsonl": write_lines,
    ".feather": write_feather,
    ".xlsx": write_xlsx,
    ".sav": write_sav,
    ".dta": write_dta,
    ".sas7bdat": write_sas7bdat,
    ".csv": write_csv,
    ".csv.gz": write_gzip,
    ".zip": write_zip,
    ".parquet": write_parquet,
    ".duckdb": write_database,
}
"""How a file of each kind is written, by an ending; a kind has a contract below as well."""


def test_every_kind_of_file_is_tried():
    """Who adds a kind adds how it is written and its contract: paths and changes of files are tried with each."""
    assert {FORMATS[ending] for ending in WRITERS} == set(FORMATS.values())
    assert {ending for kind in SourceContract.__subclasses__() for ending in kind.ENDINGS} == set(WRITERS)


class TestParquet(SourceContract):
    """A Parquet file."""

    ENDINGS = (".parquet",)
    TABLES, LONG = 2, 400

    @classmethod
    def codes(cls, columns, folder):
        write_parquet(folder / "t.parquet", columns)
        return codes_by_sql(folder / "t.parquet", folder)


class TestDatabase(SourceContract):
    """A table of a DuckDB file."""

    ENDINGS = (".duckdb",)
    TABLES, LONG = 2, 200

    @classmethod
    def codes(cls, columns, folder):
        write_database(folder / "t.duckdb", columns)
        return codes_by_sql(folder / "t.duckdb", folder)


class TestJsonLines(SourceContract):
    """One object of JSON on each line: numbers, truths, texts, null and NaN as they come."""

    ENDINGS = (".jsonl",)
    TABLES, LONG = 3, 300

    @classmethod
    def codes(cls, columns, folder):
        write_lines(folder / "t.jsonl", columns)
        return codes_by_sql(folder / "t.jsonl", folder)


class TestFeather(SourceContract):
    """An Arrow file."""

    ENDINGS = (".feather",)
    TABLES, LONG = 2, 200

    @classmethod
    def codes(cls, columns, folder):
        write_feather(folder / "t.feather", columns)
        return codes_by_sql(folder / "t.feather", folder)


class TestWorkbook(SourceContract):
    """A sheet, whose cells are numbers, truths, dates and texts in any order: each has the code that it has alone."""

    ENDINGS = (".xlsx",)
    TABLES, LONG = 2, 200

    @classmethod
    def codes(cls, columns, folder):
        write_xlsx(folder / "t.xlsx", columns)
        found = codes_by_sql(folder / "t.xlsx", folder)
        with patch.object(table_file, "_CELLS", 0):  # a block for each row
            assert codes_by_sql(folder / "t.xlsx", folder) == found
        return found


class TestStatisticsFiles(SourceContract):
    """Files of SPSS, plain and packed, of Stata and of SAS: a column that is of numbers in one of two files may be of texts in the other."""

    ENDINGS = (".sav", ".dta", ".sas7bdat")
    TABLES, LONG = 2, 100

    @classmethod
    def codes(cls, columns, folder):
        found = []
        for ending in (".sav", ".zsav", ".dta", ".sas7bdat"):
            write = write_zsav if ending == ".zsav" else WRITERS[ending]
            write(folder / f"t{ending}", columns)
            found.append(codes_by_sql(folder / f"t{ending}", folder))
        assert all(one == found[0] for one in found)
        return found[0]


class TestCsv(SourceContract):
    """A CSV file of a program that quotes what needs it: line ends in a cell are refused."""

    ENDINGS = (".csv",)
    TABLES, LONG = 3, 500
    DIALECT = Dialect()

    @classmethod
    def codes(cls, columns, folder):
        write_csv(folder / "t.csv", columns)
        return codes_by_sql(folder / "t.csv", folder, cls.DIALECT)


class TestPackedCsv(SourceContract):
    """The same, packed by itself or in an archive of one file."""

    ENDINGS = (".csv.gz", ".zip")
    TABLES, LONG = 3, 200

    @classmethod
    def codes(cls, columns, folder):
        found = []
        for ending in cls.ENDINGS:
            WRITERS[ending](folder / f"t{ending}", columns)
            found.append(codes_by_sql(folder / f"t{ending}", folder))
        assert found[0] == found[1]
        return found[0]


class TestEncodedText(SourceContract):
    """The same as Excel's text with tabs: UTF-16 with its mark, and in an encoding whose letters have one byte or two."""

    TABLES, LONG = 3, 200

    @classmethod
    def codes(cls, columns, folder):
        found = []
        for encoding in ("utf-16", "gb18030"):
            dialect = Dialect(delimiter="\t", encoding="utf-8" if encoding == "utf-16" else encoding)
            write_csv(folder / "t.txt", columns, delimiter="\t", encoding=encoding)
            found.append(codes_by_sql(folder / "t.txt", folder, dialect))
        assert found[0] == found[1]
        return found[0]


class TestCsvAcrossLines(TestCsv):
    """The same, where quoted line ends are declared."""

    TABLES, LONG = 2, 300
    DIALECT = Dialect(quoting="across lines")


class TestCsvAsTyped(SourceContract):
    """A CSV file of a program that quotes nothing: what cannot be told apart is refused, in any column."""

    TABLES, LONG, SHARE = 8, 600, 0.02
    DIALECT = Dialect()

    @classmethod
    def codes(cls, columns, folder):
        rows = zip(*([field(cell) for cell in cells] for cells in columns.values()), strict=True)
        lines = [",".join(columns), *(",".join(row) for row in rows)]
        (folder / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
        return codes_by_sql(folder / "t.csv", folder, cls.DIALECT)


class TestCsvWithoutQuotes(TestCsvAsTyped):
    """The same, where a quote is declared a letter like others."""

    SHARE = 0.05
    DIALECT = Dialect(quoting="none")


class TestRaggedCsv(TestCsvAsTyped):
    """The same, where a row may have any number of fields: its own text alone decides."""

    TABLES, LONG, SHARE = 3, 300, 0.25
    DIALECT = Dialect(quoting="none", ragged=True)

    @classmethod
    def codes(cls, columns, folder):
        if any(
            isinstance(cell, str) and {"\n", "\r"} & set(cell) for cells in columns.values() for cell in cells
        ):
            raise OwnerError("such a program writes two rows where a cell holds a line end")
        return super().codes(columns, folder)


class TestCsvWithTotals(TestCsv):
    """A CSV file of whose lines some are no rows, by their own first field alone."""

    TABLES, LONG = 2, 300
    DIALECT = Dialect("across lines", skip=("Goa", "?"))

    @classmethod
    def codes(cls, columns, folder):
        """The rows that are kept, each at its place, so that one that leaves moves none."""
        kept = iter(super().codes(columns, folder))
        cells = zip(*(map(field, column) for column in columns.values()), strict=True)
        return [next(kept) if cls.DIALECT.is_row(row) else None for row in cells]


# Every container is the cell function -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", ["i1", "i8", "u8", "f4", "f8", "?", "U12", "f2", ">i4", ">f8", "M8[D]", "M8[ns]"]
)
def test_an_array_of_any_type_is_read_cell_by_cell(dtype):
    """The vectorised reading of a whole array is the reading of its cells, one by one."""
    rng = np.random.default_rng(4)
    array = rng.integers(0, 120, 400).astype(dtype)
    for column in COLUMNS:
        if dtype.startswith("M") and column.type != "category":
            continue
        assert quantise(array, column).tolist() == [read(cell, column) for cell in array]


@pytest.mark.parametrize("seed", range(8))
def test_a_table_of_mixed_cells_is_read_cell_by_cell(seed, tmp_path):
    """Lists, pandas objects and CSV texts have the codes that each cell has by itself."""
    columns = table(random.Random(seed), 60)
    alone = list(zip(*([read(cell, c) for cell in columns[c.name]] for c in COLUMNS), strict=True))
    objects = pd.DataFrame({name: pd.Series(columns[name], dtype=object) for name in NAMES})
    assert codes_by_reference(columns, tmp_path) == alone
    assert codes_by_reference(objects, tmp_path) == alone
    assert codes_by_sql(columns, tmp_path) == alone


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids=repr)
def test_a_cell_has_one_code_in_every_container(cell, tmp_path):
    """One cell, in lists, pandas, polars, Arrow, Parquet and CSV."""
    columns = {name: [cell] for name in (*NAMES, "note")}
    alone = [tuple(read(cell, column) for column in COLUMNS)]
    for kind in (
        TestLists,
        TestPandas,
        TestNullablePandas,
        TestCategoricalPandas,
        TestPolars,
        TestArrow,
        TestParquet,
    ):
        assert kind.read(columns, tmp_path) in (alone, None), kind.__name__
    if not isinstance(cell, float) or not math.isnan(cell):
        assert TestCsv.read(columns, tmp_path) in (alone, None)


# What was seen ----------------------------------------------------------------------------------------------------

CODE = Column.category("code", ["01", "02", "04"])
TRUTH = Column.category("code", [False, True])
TEN = [1, 2, 4] * 333 + [1]
FRAMES = {
    "whole numbers": (CODE, pd.Series(TEN), "?"),
    "floats": (CODE, pd.Series(TEN, dtype=float), "1.0"),
    "truths": (TRUTH, pd.Series([True, False] * 500), "?"),
    "nullable whole numbers": (CODE, pd.Series(TEN, dtype="Int64"), 2.5),
    "texts": (CODE, pd.Series([f"0{n}" for n in TEN], dtype=object), 7),
    "Arrow": (CODE, pd.Series(TEN, dtype="int64[pyarrow]"), None),
    "categories": (CODE, pd.Series(TEN, dtype="category"), "?"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(
    "ninth", ["itself", "?", "1.0", None, math.nan, True, 2.5, 10**30, pd.Timestamp("2020-01-01")]
)
def test_one_odd_cell_leaves_a_frames_other_codes(kind, ninth, tmp_path):
    """Seen: one "?" made pandas' column object, and counts of 334/333/333 became 0/0/0."""
    column, cells, odd = FRAMES[kind]
    frame = pd.DataFrame({"code": cells.astype(object)})
    frame.loc[9, "code"] = odd if ninth == "itself" else ninth
    inferred = pd.DataFrame({"code": pd.Series(frame["code"].tolist())})
    before = codes_of(pd.DataFrame({"code": cells}), column, tmp_path)
    assert None not in before
    for after in (frame, inferred):
        found = codes_of(after, column, tmp_path)
        assert [*found[:9], *found[10:]] == [*before[:9], *before[10:]]


def codes_of(frame, column, folder):
    """The codes of one column of a frame that a kernel hands over."""
    unit, budget = PrivacyUnit("add-remove"), Budget.from_toml({"epsilon": 1})
    home = Home(folder / "home")
    file = hand_over(frame, Schema("t", "t", (column,), unit, budget), home).file
    with np.load(home.hand_over / file, allow_pickle=False) as arrays:
        return quantise(read_arrays(arrays)[column.name], column).tolist()


def test_a_nan_in_a_list_stays_missing_beside_a_text(tmp_path):
    """One type for a whole list, as numpy finds it: where another row holds a text, NaN would be the declared text nan."""
    column = Column.category("code", ["nan", "Goa"])
    for other, code in ((1.5, None), ("Goa", 1), (None, None)):
        assert codes_of({"code": [math.nan, other]}, column, tmp_path) == [None, code]


PEOPLE = Schema("t", "t", (CODE,), PrivacyUnit("add-remove"), Budget.from_toml({"epsilon": 1}))


@pytest.mark.parametrize(
    ("first", "ninth", "line", "words"),
    [
        ('"oops', 'x"', 2, "ends inside a quoted field"),
        ("fine", 'x"', 902, "has a quote inside"),
        ("fine,", "x", 2, "has another number of fields"),
        ('"two\nlines"', "x", 2, "ends inside a quoted field"),
        ("fine\r", "x", 2, "ends in another way"),
        ("fine\rfine", "x", 2, "ends in another way"),
    ],
)  # fmt: skip
def test_a_row_that_would_swallow_others_is_refused_with_its_line(tmp_path, first, ninth, line, words):
    """Seen: in an undeclared column, x" in row 900 and "oops in row 0 moved the count from 1000 to 100."""
    notes = [first, *["fine"] * 899, ninth, *["fine"] * 99]
    lines = ["code,note", *(f"01,{note}" for note in notes)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", newline="")
    with pytest.raises(OwnerError) as refused:
        prepare(tmp_path / "t.csv", PEOPLE, tmp_path / "copy.duckdb")
    assert f"line {line} {words}" in str(refused.value)
    assert "oops" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "dialect", "codes"),
    [
        ('code,note\n01,"oops\n02,x"\n', Dialect(quoting="none"), [0, 1]),
        ('code,note\n01,"oops\n02,x"\n04,y\n', Dialect(quoting="across lines"), [0, 2]),
        ("code,note\n01\n02,x,y\n04,z\n", Dialect(ragged=True), [0, 1, 2]),
        ('code,note\n01,"a,b"\n"02"\n', Dialect(ragged=True), [0, 1]),
        ("code,note\n01,a\r\n02,b\r04,c\n", Dialect(line_ends="any"), [0, 1, 2]),
        ("code,note\r\n01,a\r\n02,b", Dialect(), [0, 1]),
        ("\ufeffcode,note\n01,a\n\n02,b\n\n\n", Dialect(), [0, 1]),
        ("code\n01\n\n02\n", Dialect(), [0, None, 1]),
        ('code,note\n"01","say ""no"", he said"\n02,""\n', Dialect(), [0, 1]),
        ("code,note\n01,a\x00b\n0\x002,b\n", Dialect(), [0, None]),
        ("Codes\n\ncode,note\n01,a\nTotal\n02,b\n", Dialect(skip=("Codes", "Total")), [0, 1]),
        ('"a, b"\ncode,note\n01,Total\n ,Total \nTotals,b\n', Dialect(skip=("a, b", "Total")), [0, None]),
        ("Of; 2024\ncode,note\n02,a\n", Dialect(skip=("Of; 2024",)), [1]),
        ("Note\ncode\n01\n\n02\n", Dialect(skip=("Note",)), [0, None, 1]),
        ("Note\r\ncode,\r\n01,Note,9\r\n", Dialect(skip=("Note",), ragged=True), [0]),
    ],
)  # fmt: skip
def test_what_is_declared_is_read_exactly_so(tmp_path, text, dialect, codes):
    """Quotes as letters, line ends in quotes, ragged rows, mixed line ends, empty lines, lines that are no rows, marks and NUL bytes."""
    (tmp_path / "t.csv").write_text(text, encoding="utf-8", newline="")
    copy = prepare(tmp_path / "t.csv", PEOPLE, tmp_path / "copy.duckdb", dialect=dialect)
    with duckdb.connect(str(copy), read_only=True) as connection:
        rows = connection.execute("SELECT code FROM prepared ORDER BY rowid").fetchall()
    assert [row[0] for row in rows] == codes


def test_text_that_is_not_utf_8_is_refused_with_its_line(tmp_path):
    """Also in a column that nobody declared, a million bytes into the file, at its beginning and in its header."""
    rows, bad = b"01,fine\n" * 100_000, b"02,\xff\n"
    texts = {1: b"code,\xff\n" + rows, 2: b"code,note\n" + bad + rows, 100002: b"code,note\n" + rows + bad}
    for line, text in texts.items():
        (tmp_path / "t.csv").write_bytes(text)
        with pytest.raises(OwnerError, match=f"line {line} is not UTF-8 text"):
            prepare(tmp_path / "t.csv", PEOPLE, tmp_path / "copy.duckdb")


PIECES = [
    "01",
    "02",
    ",",
    ",",
    '"',
    '""',
    "\n",
    "\n",
    "\r\n",
    "\r",
    "x",
    " ",
    "é",
    "\x00",
    "\n01,x\n",
    ',"a""b"',
]


@pytest.mark.slow
@pytest.mark.parametrize("quoting", ["rows", "none", "across lines"])
def test_a_file_that_passes_the_scan_is_read_as_pythons_csv_reads_it(tmp_path, quoting):
    """Pieces of CSV in any order: refused, or read alike by the engine and by Python's strict parser."""
    draw, passed = random.Random(7), 0
    for _ in range(500):
        text = "code,note\n" + "".join(draw.choices(PIECES, k=draw.randint(1, 9)))
        found = parsed(text, Dialect(quoting=quoting), tmp_path)
        if found is None:
            continue
        passed += 1
        style = csv.QUOTE_NONE if quoting == "none" else csv.QUOTE_MINIMAL
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), quoting=style, strict=True) if row]
        assert found == [tuple(cell or None for cell in row) for row in rows[1:]]
    assert passed > 10


@pytest.mark.parametrize(
    "dialect",
    [Dialect(), Dialect("across lines"), Dialect("none", "any", ragged=True), Dialect(skip=("x", "01"))],
)
def test_a_file_is_judged_alike_however_it_is_cut_into_blocks(monkeypatch, dialect):
    """The scan in blocks of a few bytes refuses what it refuses in one block."""
    draw, refused = random.Random(9), 0
    for _ in range(400):
        text = "code,note\n" + "".join(draw.choices(PIECES, k=draw.randint(1, 12)))
        said = set()
        for block in (1 << 24, draw.randint(1, 9)):
            monkeypatch.setattr(csv_rows, "_BLOCK", block)
            said.add(scanned(text, dialect))
        assert len(said) == 1, text
        refused += said.pop()
    assert refused == 0 if dialect.ragged else refused > 30


def scanned(text, dialect):
    """Whether the scan refuses a CSV text of two columns."""
    try:
        csv_rows.check_rows(io.BytesIO(text.encode()), "t.csv", ",", 2, dialect)
    except OwnerError:
        return True
    return False


@pytest.mark.slow
def test_carriage_returns_alone_end_lines_where_that_is_declared():
    """A file of an old machine, longer than the longest row and than a block."""
    lines = "code,note\r" + "01,a\r02,b\r" * 2_000_000
    assert scanned(lines, Dialect())
    assert not scanned(lines, Dialect(line_ends="any"))


def test_a_frame_that_names_a_column_twice_is_refused(tmp_path):
    """Which of the two is meant, nobody says."""
    frame = pd.DataFrame([[1, 2]], columns=["code", "code"])
    with pytest.raises(OwnerError, match="several columns of that name"):
        hand_over(frame, PEOPLE, Home(tmp_path))


def test_a_long_text_of_digits_is_read_in_linear_time():
    """A million digits and a letter: a grammar that backtracks would take hours."""
    assert read("1" * 1_000_000 + "x", Column.integer("n", 0, 10)) is None
    assert read("1" * 1_000_000, Column.integer("n", 0, 10)) == 10


def parsed(text, dialect, folder):
    """The rows that the engine reads from a CSV text, or None where it is refused."""
    from dpnb.trusted.curator.engines.raw_table import open_source
    from dpnb.trusted.files.named_file import held

    (folder / "t.csv").write_text(text, encoding="utf-8", newline="")
    try:
        with held(folder / "t.csv", dialect) as file:
            (folder / "rows.csv").unlink(missing_ok=True)
            return (
                engine()
                .execute(f"SELECT * FROM {open_source(engine(), file, workshop=folder).sql}")
                .fetchall()
            )
    except OwnerError:
        return None


# Units ------------------------------------------------------------------------------------------------------------

IDS = [2**53 + n for n in range(400)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "ids",
    [
        np.array(IDS),
        np.array([*IDS[1:], math.nan]),
        np.array(IDS, dtype=np.uint64),
        pd.Series([np.int64(-(2**63)), *IDS[1:]], dtype=object),
        IDS,
        pd.Series([*IDS[1:], None], dtype="Int64"),
        pa.array(IDS),
        pl.Series(IDS),
        pd.Series(IDS).astype("category"),
    ],
    ids=lambda ids: f"{type(ids).__name__} {getattr(ids, 'dtype', '')}",
)
def test_numbers_that_no_float_carries_name_nobody_in_a_frame(ids, tmp_path):
    """Seen: one more row without an id made pandas' ids floats, and 400 people became 4. None opens, whatever another row holds."""
    smaller = [7, *ids[1:]] if isinstance(ids, list) else ids
    if not isinstance(ids, list):
        smaller = pd.Series(np.asarray(ids, dtype=object)).astype(object).to_list()
        smaller[0] = 7
    assert kept(tmp_path, {"who": ids, "code": [1] * 400}) == 0
    assert kept(tmp_path, {"who": smaller, "code": [1] * 400}) == 1


@pytest.mark.parametrize(
    "ids",
    [np.arange(400, dtype=np.float32), pd.Series(range(400), dtype="Float32"), np.zeros(400, np.longdouble)],
)
def test_floats_of_another_width_name_no_unit_by_their_type(ids, tmp_path):
    """A type is no row: an empty column of it is refused as well."""
    for column in (ids, ids[:0]):
        frame = {"who": column, "code": [1] * len(column)}
        with pytest.raises(OwnerError, match="convert the column to integers or text"):
            hand_over(frame, by_unit(), Home(tmp_path))
        with pytest.raises(OwnerError, match="convert the column to integers or text"):
            prepare(frame, by_unit(), tmp_path / "copy.duckdb")


def by_unit(**unit):
    """A schema of one column and units of one row."""
    whose = PrivacyUnit("add-remove", unit="who", max_rows=1, **unit)
    return Schema("t", "t", (CODE,), whose, Budget.from_toml({"epsilon": 1}))


def kept(folder, source, **unit):
    """How many units a source has, as the engine bounds them; the reference says the same of a frame."""
    from dpnb.datasets import preparation

    schema = by_unit(**unit)
    made = prepare(source, schema, folder / "copy.duckdb")
    with duckdb.connect(str(made), read_only=True) as copy:
        (found,) = copy.execute("SELECT count(*) FROM prepared").fetchone()
    if isinstance(source, dict):
        assert len(preparation.prepare(source, schema).columns["code"].values) == found
    return found


def test_long_ids_are_exact_as_texts_and_as_whole_numbers_of_a_file(tmp_path):
    """Texts in a frame or CSV, and BIGINT in Parquet, keep 400 people apart; a DOUBLE that cannot names nobody."""
    pq.write_table(pa.table({"who": IDS, "code": ["01"] * 400}), tmp_path / "t.parquet")
    floats = [7.0, *(float(n) for n in IDS)]
    pq.write_table(pa.table({"who": floats, "code": ["01"] * 401}), tmp_path / "f.parquet")
    for source in ({"who": [str(n) for n in IDS], "code": [1] * 400}, tmp_path / "t.parquet"):
        assert kept(tmp_path, source) == 400
    assert kept(tmp_path, tmp_path / "f.parquet") == 1


@pytest.mark.slow
def test_no_row_decides_whether_ids_open(tmp_path):
    """Seen: a row whose id was written 07 beside a 7 refused the whole table, and told who opened it that both are there."""
    ids = ["7", "07", "7.0", " 7", "70e-1", "A7", "", None]
    frame = {"who": ids, "code": [1] * 8}
    (tmp_path / "t.csv").write_text("who,code\n" + "".join(f"{one or ''},1\n" for one in ids))
    for source in (frame, tmp_path / "t.csv"):
        assert [kept(tmp_path, source, type=one) for one in ("integer", "text", None)] == [1, 6, 2]


@pytest.mark.slow
def test_fractions_that_no_binary64_holds_identify_no_unit(tmp_path):
    """Seen: two ids that differ by one in 2^60, as fractions, were one person."""
    whole = [Fraction(2**60 + n) for n in range(40)]
    assert kept(tmp_path, {"who": whole, "code": [1] * 40}) == 40
    assert kept(tmp_path, {"who": [Fraction(1, 4), Fraction(3, 4)], "code": [1, 1]}) == 2
    wide = [np.longdouble(1) / 3] * (np.dtype(np.longdouble).itemsize > np.dtype(np.float64).itemsize)
    for third in (Fraction(1, 3), Fraction(10**400, 3), *wide):
        assert kept(tmp_path, {"who": [third, 1], "code": [1, 1]}) == 1


def test_which_rows_a_unit_keeps_does_not_depend_on_the_order_of_columns(tmp_path):
    """Seen: 318 of 500 differed at equal schema.version; engine and reference agree in both orders."""
    from dpnb.datasets import preparation

    one, two = Column.integer("one", 0, 100), Column.integer("two", 0, 100)
    rng = np.random.default_rng(2)
    raw = {
        "who": rng.integers(0, 100, 500),
        "one": rng.integers(0, 100, 500),
        "two": rng.integers(0, 100, 500),
    }
    unit, kept = PrivacyUnit("add-remove", unit="who", max_rows=1), set()
    for columns in ((one, two), (two, one)):
        schema = Schema("t", "t", columns, unit, Budget.from_toml({"epsilon": 1}))
        copy = prepare(raw, schema, tmp_path / "copy.duckdb", key=b"key")
        with duckdb.connect(str(copy), read_only=True) as connection:
            rows = connection.execute("SELECT one, two FROM prepared ORDER BY ALL").fetchall()
        table = preparation.prepare(raw, schema, key=b"key").columns
        assert rows == sorted(zip(table["one"].tolist(), table["two"].tolist(), strict=True))
        kept.add(tuple(rows))
    assert len(kept) == 1
    assert ranked(["a"], [quantise([1], one)], b"").tolist() == [0]


def test_a_span_of_time_among_cells_is_missing_by_itself():
    """To numpy it is an integer, of which some cannot be one: no cell stops the reading of the others."""
    cells = np.array([1, np.timedelta64(1, "s"), np.timedelta64(2, "ns"), "2"], dtype=object)
    assert plain_column(cells).tolist() == ["1", None, None, "2"]


def test_sparse_numbers_name_units():
    """A sparse column of floats is read as a dense one is."""
    column = pd.Series(pd.arrays.SparseArray([1.0, 2.0, 2.0]))
    assert plain_column(column, "id", "unit").tolist() == [1.0, 2.0, 2.0]
