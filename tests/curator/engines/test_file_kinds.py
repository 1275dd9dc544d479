"""One table in every kind of file an owner may have: the same codes; and what cannot be read says what to write."""

from __future__ import annotations

import datetime as dt
import gzip
import re
import struct
import sys
import tomllib
import zipfile
from dataclasses import replace

import duckdb
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from pyarrow import feather

from dpnb.__main__ import main
from dpnb.errors import OwnerError
from dpnb.teach.public_rows import PublicRows, read_file
from dpnb.trusted.curator.engines import table_file
from dpnb.trusted.curator.engines.raw_table import open_source
from dpnb.trusted.files import text_file
from dpnb.trusted.files.dialect import Dialect
from dpnb.trusted.files.named_file import NamedFile
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.schema.cell import number_text
from dpnb.trusted.schema.owner import load
from tests.contracts.handed import prepare
from tests.contracts.sas_file import MISSING, write_sas
from tests.contracts.workbook import write_workbook

SCHEMA = Schema(
    "t",
    "t",
    (Column.category("place", ["Goa", "Köln"]), Column.integer("age", 0, 100)),
    PrivacyUnit("add-remove"),
    Budget.from_toml({"epsilon": 1}),
)
ROWS = [("Köln", 41), ("Goa", 7), ("", 99)]
CODES = [(1, 41), (0, 7), (None, 99)]


def text(delimiter=",", end="\n"):
    """The table as text."""
    lines = [("place", "age"), *ROWS]
    return "".join(f"{place}{delimiter}{age}{end}" for place, age in lines)


def packed(content):
    """A gzip file, the same whenever it is made."""
    return gzip.compress(content, mtime=0)


def zipped(path, content, name="people.csv", more=()):
    """An archive of one file, and what else is in it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in (name, *more):
            archive.writestr(member, content)


def codes(path, dialect=None, table=None):
    """What a prepared copy holds of a file."""
    copy = prepare(path, SCHEMA, path.parent / "copy.duckdb", dialect=dialect or Dialect(), table=table)
    with duckdb.connect(str(copy), read_only=True) as connection:
        return connection.execute("SELECT place, age FROM prepared ORDER BY rowid").fetchall()


TEXTS = {
    "p.tsv": (text("\t").encode(), {}),
    "tabs.txt": (text("\t").encode(), {"delimiter": "\t"}),
    "bars.txt": (text("^").encode(), {"delimiter": "^"}),
    "excel.txt": (text("\t", "\r\n").encode("utf-16"), {"delimiter": "\t"}),
    "big-endian.csv": (b"\xfe\xff" + text(";").encode("utf-16-be"), {}),
    "windows.csv": (text(";").encode("cp1252"), {"encoding": "windows-1252"}),
    "mac.csv": (text().encode("mac-roman"), {"encoding": "macroman"}),
    "led.csv": (b"\xef\xbb\xbfsep=;\r\n" + text(";", "\r\n").encode(), {}),
    "bar.csv": (b"sep=:\n" + text(":").encode(), {}),
    "declared.csv": (text(";").replace("age", "age").encode(), {"delimiter": ";"}),
    "P.CSV.GZ": (packed(text().encode()), {}),
    "two.tsv.gz": (
        packed(text("\t")[:9].encode()) + packed(text("\t")[9:].encode()),
        {"encoding": "utf-8"},
    ),
    "ragged.csv.gz": (
        packed(text(";", "\r").encode("cp1252")),
        {"encoding": "cp1252", "line_ends": "any", "ragged": True},
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_read_alike_however_it_is_packed_encoded_and_delimited(tmp_path, name):
    """Seen: of nineteen files six were refused or all missing: tabs in a .txt, UTF-16, Windows letters, sep=; and .csv.gz."""
    content, facts = TEXTS[name]
    (tmp_path / name).write_bytes(content)
    assert codes(tmp_path / name, Dialect.from_toml(facts, "[source]")) == CODES


def test_an_archive_of_one_text_is_read(tmp_path):
    """A folder inside it, and what a Mac adds, are no second file."""
    zipped(tmp_path / "p.zip", text("\t"), "data/people.tsv", ["__MACOSX/._people.tsv", "data/"])
    assert codes(tmp_path / "p.zip") == CODES


@pytest.mark.parametrize("name", ["windows.csv", "led.csv", "P.CSV.GZ", "ragged.csv.gz"])
def test_the_truth_of_a_public_file_is_read_as_the_curator_reads_it(tmp_path, name):
    """An overlay in TEACHING shows the same cells."""
    content, facts = TEXTS[name]
    (tmp_path / name).write_bytes(content)
    terms = {
        "dataset": {"name": "t", "source": str(tmp_path / name), "adjacency": "add-remove"},
        "budget": {"epsilon": 1},
        "columns": {"age": {"type": "integer", "lower": 0, "upper": 100}},
        "source": facts,
    }
    found = read_file(load({key: terms[key] for key in terms if terms[key]}))
    assert list(zip(found["place"], found["age"], strict=True)) == [(p or None, str(a)) for p, a in ROWS]


REFUSED = {
    "p.txt": (text("\t").encode(), {}, 'write delimiter = "\\t", ";", "," or "|" in [source]'),
    "latin.csv": (text().encode("latin-1"), {}, "line 2 is not UTF-8 text: save the file as UTF-8, or write in [source]"),
    "wide.csv": (text().encode("utf-16")[:-1], {}, "line 4 is not utf-16 text"),
    "other.csv": (b"place,age\nGoa,1\nG\x81a,2\n", {"encoding": "cp1252"}, "line 3 is not cp1252 text"),
    "led.csv": (b"sep=;\n" + text(";").encode() + b"x\n", {}, "line 6 has another number of fields"),
    "narrow.csv": (text().encode(), {"encoding": "utf-16"}, "line 1 is not utf-16 text: save the file as UTF-8, or write in [source]"),
    "comma.csv": (b'place;age\n"Goa;x";1\n', {"delimiter": ","}, 'correct delimiter = "…" or write quoting = "none" in [source]'),
    "cut.csv.gz": (packed(text().encode())[:-9], {}, "is damaged, or not what its ending says"),
    "plain.csv.gz": (text().encode(), {}, "is damaged, or not what its ending says"),
    "plain.zip": (text().encode(), {}, "is damaged, or not what its ending says"),
    "p.gz": (packed(b"x"), {}, "unpack the file"),
    "p.xls": (b"x", {}, "save a spreadsheet as .xlsx or CSV"),
    "p.rds": (b"x", {}, "write.csv("),
    "p.json": (b"[]", {}, "write one object on each line, into a .jsonl file"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_read_says_what_to_write(tmp_path, name):
    """One error with the key to change, and nothing of a row."""
    content, facts, words = REFUSED[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(OwnerError) as refused:
        codes(tmp_path / name, Dialect.from_toml(facts, "[source]"))
    assert words in str(refused.value)
    assert "Goa" not in str(refused.value)
    assert not (tmp_path / "copy.duckdb").exists()


def test_an_archive_of_several_files_or_of_none_is_refused(tmp_path):
    """Which of them is meant, nobody says; another kind of file in it is named by its own name."""
    for name, more in (("a.csv", ["b.csv"]), ("a.pdf", []), ("a/", [])):
        zipped(tmp_path / "p.zip", text(), name, more)
        with pytest.raises(OwnerError, match=r"must hold one \.csv, \.tsv or \.txt file"):
            codes(tmp_path / "p.zip")


def test_an_encrypted_or_altered_archive_is_refused(tmp_path):
    """By the mark that it carries, and by the sum of its bytes."""
    zipped(tmp_path / "p.zip", text())
    whole = bytearray((tmp_path / "p.zip").read_bytes())
    secret = whole.copy()
    secret[6] |= 1  # of the file's own record
    secret[whole.index(b"PK\x01\x02") + 8] |= 1  # and of the catalogue's
    odd = whole.copy()
    odd[8] = odd[whole.index(b"PK\x01\x02") + 10] = 97
    altered = whole.copy()
    altered[whole.index(b"PK\x01\x02") + 16] ^= 1
    for content, words in ((secret, "is encrypted"), (odd, "packed in a way"), (altered, "is damaged")):
        (tmp_path / "p.zip").write_bytes(content)
        with pytest.raises(OwnerError, match=words):
            codes(tmp_path / "p.zip")


@pytest.mark.parametrize("ending", [".csv.gz", ".zip"])
def test_what_unpacks_to_far_more_than_it_is_is_refused_before_all_of_it_is_written(
    tmp_path, monkeypatch, ending
):
    """The bytes that come out are counted: no size that the file says of itself is believed."""
    path = tmp_path / f"p{ending}"
    content = (text() + "Goa,1\n" * 2_000_000).encode()
    if ending == ".zip":
        zipped(path, content)
    else:
        path.write_bytes(packed(content))
    monkeypatch.setattr(text_file, "LARGEST", 2**21)
    written: list[int] = []
    with text_file.NamedFile.open(path) as file:
        with pytest.raises(OwnerError, match="as a zip bomb does: unpack it yourself"):
            written.extend(map(len, text_file.TextFile.of(file).blocks()))
        assert 2**20 < sum(written) <= max(2**21, 200 * file.size) < len(content) / 2
    monkeypatch.setattr(text_file, "MOST_PACKED", 2000)
    assert len(codes(path)) == 2_000_003


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"encoding": "utf-7"}, 'encoding = .utf-7.: write "utf-8"'),
        ({"encoding": "iso2022_jp"}, "encoding"),
        ({"encoding": "hz"}, "encoding"),
        ({"encoding": "hex"}, "encoding"),
        ({"encoding": "a\x00"}, "encoding"),
        ({"encoding": 8}, "encoding"),
        ({"delimiter": "a"}, "delimiter = 'a': write one mark"),
        ({"delimiter": '"'}, "delimiter"),
        ({"delimiter": ",,"}, "delimiter"),
        ({"delimiter": "\n"}, "delimiter"),
        ({"delimiter": 9}, "delimiter"),
    ],
)
def test_a_declaration_that_would_mix_rows_is_refused(facts, words):
    """An encoding with states lets one line change what the bytes of another mean; a delimiter is one mark."""
    with pytest.raises(OwnerError, match=words):
        Dialect.from_toml(facts, "[source]")


# Drafts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("p.txt", text("\t").encode(), '[source]\ndelimiter = "\\t"\n'),
        ("q.txt.gz", packed(text("|").encode()), '[source]\ndelimiter = "|"\n'),
        ("r.csv", "größe;age\n1;2\n".encode("cp1252"), '[source]\nencoding = "cp1252"  # a guess'),
        ("s.csv.gz", packed(text().encode()), None),
        ("u.csv", b"sep=;\n" + text(";").encode(), None),
    ],
    ids=["tabs", "packed bars", "cp1252", "packed", "sep"],
)
def test_a_draft_writes_down_how_a_text_is_written(tmp_path, name, content, said):
    """What was found stands in the declaration, where its owner reads it; what the file itself says does not."""
    (tmp_path / name).write_bytes(content)
    assert main(["init", str(tmp_path / name)]) == 0
    drafted = (tmp_path / f"{name[0]}.dpnb.toml").read_text(encoding="utf-8")
    assert (said or "[columns.age]") in drafted
    assert ("[source]" in drafted) == (said is not None)
    assert "[columns.age]" in drafted


# Tables of other programs -----------------------------------------------------------------------------------------

SHEET = [["place", "age"], ["Köln", 41.0], [], ["Goa", "7"], [None, 99]]
FRAME = pd.DataFrame({"place": ["Köln", "Goa", ""], "age": [41.0, 7.0, 99.0]})


def written(folder, ending):
    """The table in a file of each kind."""
    path = folder / f"p{ending}"
    if ending == ".xlsx":
        write_workbook(path, {"People": SHEET})
    elif ending == ".jsonl":
        records = [
            '{"age": 41, "place": "K\\u00f6ln"}',
            "",
            '{"place": "Goa", "age": "7", "x": [1]}',
            '{"age": 99.0}',
        ]
        path.write_text("\ufeff" + "\r\n".join(records))
    elif ending == ".feather":
        FRAME.to_feather(path)
    elif ending == ".dta":
        pyreadstat.write_dta(FRAME, path)
    elif ending == ".parquet":
        FRAME.to_parquet(path)
    elif ending == ".csv":
        FRAME.to_csv(path, index=False)
    elif ending == ".sas7bdat":
        write_sas(path, FRAME.to_dict("list"))
    else:
        pyreadstat.write_sav(FRAME, path, compress=ending == ".zsav")
    return path


@pytest.mark.parametrize("ending", [".xlsx", ".jsonl", ".feather", ".sav", ".zsav", ".dta", ".sas7bdat"])
def test_a_table_of_another_program_is_read_alike(tmp_path, ending):
    """Seen: peers read them all; here each was "convert the file" and a copy on the disk."""
    assert codes(written(tmp_path, ending)) == CODES


@pytest.mark.parametrize(
    "ending", [".xlsx", ".jsonl", ".feather", ".sav", ".zsav", ".dta", ".sas7bdat", ".parquet", ".csv"]
)
def test_the_truth_of_every_kind_of_public_file_is_that_of_its_cells(tmp_path, ending):
    """Seen: "The truth in p.sav is not read: save its table as a CSV or Parquet file", and a renamed column of Parquet not found."""
    path = written(tmp_path, ending)
    columns = {
        "where": {"type": "category", "values": ["Goa", "Köln"], "header": "place"},
        "age": {"type": "integer", "lower": 0, "upper": 100},
    }
    terms = {
        "dataset": {"name": "t", "source": str(path), "adjacency": "add-remove"},
        "budget": {"epsilon": 1},
    }
    owned = load({**terms, "columns": columns})
    found = PublicRows(owned.schema, lambda: read_file(owned)).table.columns
    assert list(zip(found["where"].tolist(), found["age"].tolist(), strict=True)) == CODES


COMMA = {"type": "number", "lower": 0, "upper": 2000, "step": "0.001"}


def test_each_of_two_columns_of_one_header_has_its_cells_as_it_uses_them(tmp_path):
    """Seen: beside a category of the same header two people whom Excel may have merged were one unit, and 1.234 was 1234."""
    write_workbook(tmp_path / "p.xlsx", {"People": [["id"], [2.0**53], [2.0**53], [1.234], [7]]}, large=True)
    columns = {
        "code": {"type": "category", "values": ["7", "8"], "header": "id"},
        "paid": {**COMMA, "decimal": ",", "thousands": ".", "header": "id"},
        "id": COMMA,
    }
    found = {}
    for unit in ("row", "id"):
        facts = {"name": "t", "source": str(tmp_path / "p.xlsx"), "adjacency": "add-remove", "unit": unit}
        facts |= {} if unit == "row" else {"max_rows_per_unit": 2}
        owned = load({"dataset": facts, "budget": {"epsilon": 1}, "columns": columns})
        copy = prepare(owned.source, owned.schema, tmp_path / f"{unit}.duckdb", dialect=owned.dialect)
        with duckdb.connect(str(copy), read_only=True) as connection:
            query = "SELECT code, paid, id FROM prepared ORDER BY paid"
            found[unit] = connection.execute(query).fetchall()
        truth = PublicRows(owned.schema, lambda read=owned: read_file(read)).table.columns
        told = zip(*(truth[name].tolist() for name in ("code", "paid", "id")), strict=True)
        assert sorted(told, key=lambda row: row[1]) == found[unit]
    assert found["id"] == [(None, 1234, 1234), (0, 7000, 7000)]
    assert found["row"] == [*found["id"], *[(None, 2_000_000, 2_000_000)] * 2]


@pytest.mark.parametrize("ending", [".xlsx", ".jsonl", ".feather", ".sav", ".dta", ".sas7bdat"])
def test_what_is_no_such_file_is_damaged_or_says_its_line(tmp_path, ending):
    """Cut, altered, or a text with that ending: one error without a cell, and nothing is written."""
    whole = written(tmp_path, ending).read_bytes()
    for content in (whole[: len(whole) // 2], b"place,age\nGoa,7\n", b"PK\x03\x04" + whole[4:90]):
        (tmp_path / f"q{ending}").write_bytes(content)
        with pytest.raises(
            OwnerError, match=r"damaged|is no JSON object|cannot be read|is encrypted"
        ) as refused:
            codes(tmp_path / f"q{ending}")
        assert "Goa" not in str(refused.value)
        assert not (tmp_path / "copy.duckdb").exists()


@pytest.mark.parametrize(
    ("ending", "module", "package"),
    [(".xlsx", "python_calamine", "python-calamine"), (".sav", "pyreadstat", "pyreadstat"), (".feather", "pyarrow.feather", "pyarrow")],
)  # fmt: skip
def test_a_library_that_is_missing_is_named_with_what_to_install(
    tmp_path, monkeypatch, ending, module, package
):
    """The extra, not a traceback."""
    path = written(tmp_path, ending)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        OwnerError, match=rf'read by {package}, which is not installed: run pip install "dpnb\[files\]"'
    ):
        codes(path)


def test_a_workbook_of_several_sheets_is_read_where_one_is_named(tmp_path):
    """Nobody says which of two is meant; of one sheet no name is needed."""
    write_workbook(tmp_path / "p.xlsx", {"Notes": [["x"]], "People": SHEET})
    assert codes(tmp_path / "p.xlsx", table="People") == CODES
    for table in (None, "Peeple"):
        with pytest.raises(
            OwnerError, match=r'has the sheets Notes, People: name one with table = "…" in \[dataset\]'
        ):
            codes(tmp_path / "p.xlsx", table=table)


def test_the_cells_of_a_sheet_are_what_each_of_them_is(tmp_path):
    """A date, a moment, a truth and a text with blanks among numbers; a line that is left out, as in a CSV file."""
    rows = [
        ["Report", None],
        ["place", "age"],
        ["Goa", True],
        ["Goa", " 7 "],
        ["Goa", dt.date(2020, 1, 2)],
        ["Goa", 1e9],
        ["Total", 4],
    ]
    write_workbook(tmp_path / "p.xlsx", {"People": rows})
    found = codes(tmp_path / "p.xlsx", Dialect(skip=("Report", "Total")))
    assert found == [(0, 1), (0, 7), (0, None), (0, 100)]


@pytest.mark.parametrize("more", [[], ["x"], [dt.date(2020, 1, 2)]], ids=["alone", "a text", "a date"])
def test_a_number_of_a_sheet_has_one_text_whatever_is_beside_it(tmp_path, more):
    """A column of numbers is read at once, and a mixed one cell by cell: 7 is never 7.0."""
    numbers = [7.0, 1e22, 0.1, 2.0**81, None, -0.0, 2.0**53]
    write_workbook(
        tmp_path / "p.xlsx", {"People": [["n", "m"], *([cell, 1] for cell in [*numbers, *more])]}, large=True
    )
    with NamedFile.open(tmp_path / "p.xlsx") as file, duckdb.connect() as connection:
        rows = connection.execute(f"FROM {open_source(connection, file).sql}").fetchall()
    assert [row[0] for row in rows[: len(numbers)]] == [
        None if one is None else number_text(one) for one in numbers
    ]


@pytest.mark.parametrize(
    "cell",
    [('s="3"', "-1e300"), ('s="3"', "1e18"), ('t="b"', "7"), ('t="e"', "#FOO!")],
    ids=["a panic", "a long time", "no boolean", "no error of Excel"],
)
@pytest.mark.parametrize("place", [0, 1, 3])
def test_a_cell_that_the_library_cannot_read_is_the_damage_of_its_file(tmp_path, cell, place):
    """Seen: one cell ended the opening by a PanicException, which is no Exception, an OverflowError or the library's own error."""
    rows = [["place", "age"], ["Köln", 41], ["Goa", 7], [None, 99]]
    rows[place].append(cell)
    write_workbook(tmp_path / "p.xlsx", {"People": rows})
    with pytest.raises(
        OwnerError, match=r"is damaged, or not what its ending says: save it again"
    ) as refused:
        codes(tmp_path / "p.xlsx")
    assert cell[1] not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__
    assert not (tmp_path / "copy.duckdb").exists()


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_who_stops_the_reading_of_a_sheet_is_heard(tmp_path, monkeypatch, stop):
    """Ctrl-C is no damage."""
    write_workbook(tmp_path / "p.xlsx", {"People": SHEET})

    def stopped(*_):
        raise stop

    monkeypatch.setattr(table_file, "_text", stopped)
    with pytest.raises(stop):
        codes(tmp_path / "p.xlsx", Dialect(skip=("Report",)))


@pytest.mark.parametrize("header", [["place", "place", "age"], [None, None]])
def test_a_sheet_without_usable_names_is_refused(tmp_path, header):
    """As a CSV file is."""
    write_workbook(tmp_path / "p.xlsx", {"People": [header, ["Goa", 1, 2]]})
    with pytest.raises(OwnerError, match=r'names a column twice|have no column "place"'):
        codes(tmp_path / "p.xlsx")


def test_a_workbook_with_a_password_or_of_a_bomb_is_refused_before_it_is_read(tmp_path, monkeypatch):
    """An encrypted workbook is no zip file at all; a bomb says how large it is, or the sum of a part is wrong."""
    (tmp_path / "p.xlsx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000))
    with pytest.raises(
        OwnerError, match=r"is encrypted, or of an older Excel: save it as \.xlsx without a password"
    ):
        codes(tmp_path / "p.xlsx")
    write_workbook(tmp_path / "p.xlsx", {"People": SHEET}, [("xl/media/zeros", b"0" * 3_000_000)])
    assert codes(tmp_path / "p.xlsx") == CODES
    monkeypatch.setattr(text_file, "LARGEST", 2**20)
    with pytest.raises(OwnerError, match="as a zip bomb does"):
        codes(tmp_path / "p.xlsx")


def test_a_column_that_a_file_does_not_declare_is_named(tmp_path):
    """A statistics package declares its columns; a line of JSON need not have every one."""
    FRAME[["age"]].to_feather(tmp_path / "p.feather")
    pyreadstat.write_sav(FRAME[["age"]], tmp_path / "p.sav")
    for name in ("p.feather", "p.sav"):
        with pytest.raises(OwnerError, match='have no column "place"'):
            codes(tmp_path / name)
    (tmp_path / "p.jsonl").write_text(
        '{"age": 4}\n{"age": NaN, "place": {"a": 1}}\n{"age": Infinity, "place": "\\ud800"}\n'
    )
    assert codes(tmp_path / "p.jsonl") == [(None, 4), (None, None), (None, 100)]


def test_days_that_no_calendar_has_are_missing_by_themselves(tmp_path):
    """Seen: the library's own dates raise where one cell holds a number beyond the year 9999, and nobody's row could be read."""
    column = Column.dates("visit", "2020-01-01", "2021-12-31")
    schema = replace(SCHEMA, columns=(column,))
    days = [dt.date(2020, 1, 2), dt.date(2020, 1, 3), None, dt.date(2021, 12, 31)]
    pyreadstat.write_sav(pd.DataFrame({"visit": days}), tmp_path / "p.sav")
    pyreadstat.write_dta(pd.DataFrame({"visit": days}), tmp_path / "p.dta")
    write_sas(tmp_path / "p.sas7bdat", {"visit": days})
    for name, number, odd in (
        ("p.sav", 13797388800.0, 1e300),
        ("p.dta", 21917, 2_000_000_000),
        ("p.sas7bdat", 21917.0, -1e300),
    ):
        whole, kind = (tmp_path / name).read_bytes(), "<i" if name == "p.dta" else "<d"
        held = struct.pack(kind, number) if struct.pack(kind, number) in whole else struct.pack("<d", number)
        other = struct.pack("<d" if len(held) == 8 else kind, odd)
        assert whole.count(held) == 1
        for content, found in (
            (whole, [1, 2, None, 730]),
            (whole.replace(held, other), [1, None, None, 730]),
        ):
            (tmp_path / name).write_bytes(content)
            copy = prepare(tmp_path / name, schema, tmp_path / "copy.duckdb")
            with duckdb.connect(str(copy), read_only=True) as connection:
                rows = connection.execute("SELECT visit FROM prepared ORDER BY rowid").fetchall()
            assert [row[0] for row in rows] == found


FAR = {"s": 2**62, "ms": 2**62, "us": 2**62, "ns": -(2**62)}


@pytest.mark.parametrize("unit", FAR)
@pytest.mark.parametrize(
    ("kept", "zone"),
    [
        ("memory", None),
        *((kept, zone) for kept in ("feather", "dictionary") for zone in (None, "Asia/Kolkata")),
    ],
)
def test_a_moment_out_of_every_calendar_is_missing_by_itself_in_any_unit(tmp_path, kept, unit, zone):
    """Seen: one moment of 2^62 seconds or milliseconds in a Feather file, and nobody's row could be read."""
    column = Column.dates("visit", "2020-01-01", "2021-12-31")
    schema = replace(
        SCHEMA, columns=(column, Column.category("day", ["2020-01-03 02:00:00", "2021-12-31 01:00:00"]))
    )
    steps = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    counts = [1578016800 * steps, FAR[unit], None, 1640912400 * steps]
    moments = pa.array(counts, pa.timestamp(unit, zone))
    source = tmp_path / "p.feather"
    if kept == "memory":
        source = {name: moments.to_numpy(zero_copy_only=False) for name in ("visit", "day")}
    else:
        written = moments if kept == "feather" else moments.dictionary_encode()
        feather.write_feather(pa.table({"visit": written, "day": written}), str(source))
    copy = prepare(source, schema, tmp_path / "copy.duckdb")
    with duckdb.connect(str(copy), read_only=True) as connection:
        rows = connection.execute("SELECT visit, day FROM prepared ORDER BY rowid").fetchall()
    far = 0 if unit == "ns" else None  # nanoseconds end in 1677, which a calendar has
    assert rows == [(2, 0), (far, None), (None, None), (730, 1)]


@pytest.mark.parametrize(
    "kept", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_a_text_of_a_feather_file_that_is_not_utf_8_is_refused(tmp_path, kept):
    """Seen: such a cell ended DuckDB by an error that it calls internal."""
    broken = pa.StringArray.from_buffers(
        2, pa.py_buffer(struct.pack("<3i", 0, 3, 6)), pa.py_buffer(b"Goa\xff\xfe2")
    )
    if pa.types.is_dictionary(kept):
        broken = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), broken)
    else:
        broken = broken.cast(kept)
    feather.write_feather(pa.table({"place": broken, "age": [1, 2]}), str(tmp_path / "p.feather"))
    with pytest.raises(OwnerError, match=r'"p.feather" cannot be read as arrow') as refused:
        codes(tmp_path / "p.feather")
    assert "Goa" not in str(refused.value)
    assert not (tmp_path / "copy.duckdb").exists()


@pytest.mark.parametrize(
    ("written", "step"),
    [
        *((one, 1) for one in ("DATE9", "date", "YYMMDD10", "DDMMYYP", "MONYY7", "E8601DA", "YYQ", "WEEKDATX", "NLDATEMD")),
        *((one, 86_400) for one in ("DATETIME20.3", "DATEAMPM", "E8601DT", "B8601DN", "DTDATE9", "NLDATMW")),
        *((one, None) for one in ("TIME", "TOD", "BEST12", "COMMA9", "$DATE", "DATETIMES", "")),
    ],
)  # fmt: skip
def test_a_column_of_sas_is_of_dates_where_its_format_says_so(tmp_path, written, step):
    """Days or seconds since 1960, which the format alone tells apart; a number of another format is a number."""
    path = tmp_path / "p.sas7bdat"
    write_sas(path, {"visit": [21_916.0 * (step or 1), None]}, {"visit": written})
    schema = replace(SCHEMA, columns=(Column.dates("visit", "2020-01-01", "2021-12-31"),))
    if step is None:
        schema = replace(SCHEMA, columns=(Column.integer("visit", 0, 30_000),))
    copy = prepare(path, schema, tmp_path / "copy.duckdb")
    with duckdb.connect(str(copy), read_only=True) as connection:
        rows = connection.execute("SELECT visit FROM prepared ORDER BY rowid").fetchall()
    assert rows == [(1 if step else 21_916,), (None,)]


def test_each_kind_of_missing_of_sas_is_missing(tmp_path):
    """SAS has twenty-eight: . and .A to .Z and ._ differ in one byte."""
    path = tmp_path / "p.sas7bdat"
    write_sas(path, {"place": ["Goa"] * 3, "age": [1.0, None, 2.0]})
    whole = path.read_bytes()
    assert whole.count(MISSING) == 1
    for other in (ord("A"), ord("Z"), ord("_")):
        path.write_bytes(whole.replace(MISSING, MISSING[:5] + bytes([255 - other]) + MISSING[6:]))
        assert codes(path) == [(0, 1), (0, None), (0, 2)]


def test_codes_that_a_file_calls_missing_are_missing(tmp_path):
    """What SPSS keeps out of every mean: 99 is no age."""
    pyreadstat.write_sav(FRAME, tmp_path / "p.sav", missing_ranges={"age": [99], "place": ["Goa"]})
    assert codes(tmp_path / "p.sav") == [(1, 41), (None, 7), (None, None)]


@pytest.mark.parametrize("ending", [".xlsx", ".sav", ".sas7bdat", ".jsonl"])
def test_a_number_that_may_have_merged_two_people_names_nobody(tmp_path, ending):
    """Excel keeps fifteen digits and SPSS a binary64; a number in JSON has every digit it was written with."""
    whose = PrivacyUnit("add-remove", unit="who", max_rows=1)
    schema = replace(SCHEMA, columns=(Column.integer("age", 0, 100),), unit=whose)
    ids = [2**60 + place for place in range(3)]
    if ending == ".xlsx":
        rows = [["who", "age"], *([float(one), 1] for one in ids), [7, 1], [7.0, 1], ["A", 1]]
        write_workbook(tmp_path / "p.xlsx", {"People": rows}, large=True)
    elif ending in (".sav", ".sas7bdat"):
        columns = {"who": [*map(float, ids), 7.0, 7.0, 8.0], "age": [1.0] * 6}
        if ending == ".sav":
            pyreadstat.write_sav(pd.DataFrame(columns), tmp_path / "p.sav")
        else:
            write_sas(tmp_path / "p.sas7bdat", columns)
    else:
        lines = [f'{{"who": {one}, "age": 1}}' for one in (*ids, 7, "7.0", '"A"')]
        (tmp_path / "p.jsonl").write_text("\n".join(lines))
    copy = prepare(tmp_path / f"p{ending}", schema, tmp_path / "copy.duckdb")
    with duckdb.connect(str(copy), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM prepared").fetchone() == (
            5 if ending == ".jsonl" else 2,
        )


SURVEY = pd.DataFrame(
    {
        "sex": [1.0, 2, 9],
        "q7": [1.0, 5, 98],
        "income": [10.0, -1, 3],
        "town": ["G", "P", "G"],
        "kin": [2.0, 0, 7],
    }
)
LABELS = {
    "sex": {1: "Male", 2: "Female", 9: "Refused"},
    "q7": {1: "Never", 5: "Always", 97: "Other", 98: "Don't\nknow"},
    "income": {-1: "Refused", 0: "None"},
    "town": {"G": "Goa", "P": "Pune"},
}


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_a_codebook_in_a_file_is_drafted(tmp_path, ending):
    """Seen: labels, codes and codes for missing of SPSS and Stata were typed again by hand. No cell is drafted."""
    labels = ["Sex of respondent", 'How "often"?', "", None, "Relatives"]
    path = tmp_path / f"p{ending}"
    if ending == ".sav":
        measures = {"sex": "nominal", "q7": "ordinal", "income": "scale", "town": "nominal", "kin": "scale"}
        pyreadstat.write_sav(
            SURVEY,
            path,
            column_labels=labels,
            variable_value_labels=LABELS,
            variable_measure=measures,
            missing_ranges={"sex": [9], "q7": [{"lo": 97, "hi": 99}], "income": [-1], "kin": [7]},
        )
    else:
        numbers = {name: found for name, found in LABELS.items() if name in ("sex", "q7")}
        pyreadstat.write_dta(SURVEY, path, column_labels=labels, variable_value_labels=numbers)
    assert main(["init", str(path), "--all"]) == 0
    text = (tmp_path / "p.dpnb.toml").read_text(encoding="utf-8")
    found = tomllib.loads(text)["columns"]
    assert (found["sex"]["label"], found["q7"]["label"]) == ("Sex of respondent", 'How "often"?')
    assert found["kin"]["label"] == "Relatives"
    assert (found["sex"]["type"], found["q7"]["type"], found["kin"]["type"]) == (
        "category",
        "category",
        "number",
    )
    if ending == ".dta":
        assert (found["sex"]["values"], found["q7"]["values"]) == ([1, 2], [1, 5, 97])
        assert "# 1: Never; 5: Always; 97: Other\nmissing_codes = [98]  # Don't know\n" in text
        return
    assert (found["sex"]["values"], found["sex"]["missing_codes"]) == ([1, 2], [9])
    assert (found["q7"]["values"], found["q7"]["missing_codes"]) == ([1, 5], [97, 98])
    assert (found["income"]["type"], found["income"]["missing_codes"]) == ("number", [-1])
    assert found["town"]["values"] == ["G", "P"]
    assert found["kin"]["missing_codes"] == [7]
    assert "# 1: Male; 2: Female\n" in text
    assert "column names and storage types alone" not in text
    ready = re.sub(r'"TODO[^"]*"', "1", text.replace('"TODO: row', '"row"  # ')).replace(
        "upper = 1", "upper = 100"
    )
    (tmp_path / "p.dpnb.toml").write_text(ready, encoding="utf-8")
    assert [column.name for column in load(tmp_path / "p.dpnb.toml").schema.columns] == list(found)


def test_the_labels_of_a_file_of_sas_are_drafted(tmp_path):
    """Its value labels lie in another file, a catalogue; a column of dates is drafted as one."""
    path = tmp_path / "p.sas7bdat"
    columns = {"sex": [1.0, 2.0], "hired": [dt.datetime(2020, 1, 2, 3), None]}  # noqa: DTZ001 - SAS knows no zone
    write_sas(path, columns, labels={"sex": "Sex of respondent"})
    assert main(["init", str(path), "--all"]) == 0
    found = tomllib.loads((tmp_path / "p.dpnb.toml").read_text(encoding="utf-8"))["columns"]
    assert (found["sex"]["label"], found["hired"]["type"]) == ("Sex of respondent", "datetime")


def test_a_label_says_what_a_short_name_does_not(tmp_path):
    """Seen: agea, "Age of respondent", without bounds, and idno, "Respondent id", as a number to ask about."""
    frame = pd.DataFrame({"agea": [30.0], "idno": [1.0], "q1": [1.0], "hh": [2.0]})
    labels = [
        "Age of respondent",
        "Respondent id",
        "How often have you asked about your age",
        "Anzahl Personen",
    ]
    pyreadstat.write_dta(frame, tmp_path / "p.dta", column_labels=labels)
    assert main(["init", str(tmp_path / "p.dta"), "--all"]) == 0
    text = (tmp_path / "p.dpnb.toml").read_text(encoding="utf-8")
    found = tomllib.loads(text)["columns"]
    assert (found["agea"]["lower"], found["agea"]["upper"], found["hh"]["lower"]) == (0, 120, 0)
    assert "\n# idno is left out: its name suggests" in text
    assert str(found["q1"]["lower"]).startswith("TODO")


def test_a_sheet_that_is_named_to_init_is_named_in_the_draft(tmp_path, capsys):
    """Seen: of a file of several tables the draft did not say which, and did not open."""
    write_workbook(tmp_path / "p.xlsx", {"Notes": [["x"]], "People": SHEET})
    assert main(["init", str(tmp_path / "p.xlsx")]) == 2
    assert "has the sheets Notes, People" in capsys.readouterr().err
    assert main(["init", str(tmp_path / "p.xlsx"), "--table", "People"]) == 0
    drafted = tomllib.loads((tmp_path / "p.dpnb.toml").read_text(encoding="utf-8"))
    assert drafted["dataset"]["table"] == "People"
    assert set(drafted["columns"]) <= {"place", "age"}


def test_a_title_above_a_sheets_header_is_skipped_in_the_draft(tmp_path):
    """Seen: a sheet with a title had one column, named like the title."""
    rows = [["Staff 2024", None], [], ["place", "age"], ["Goa", 7]]
    write_workbook(tmp_path / "p.xlsx", {"Notes": [["Code", "Meaning"], [1, "x"]], "People": rows})
    assert main(["init", str(tmp_path / "p.xlsx"), "--table", "People"]) == 0
    drafted = (tmp_path / "p.dpnb.toml").read_text(encoding="utf-8")
    assert 'skip = ["Staff 2024"]' in drafted
    assert "[columns.place]" in drafted
    assert "[columns.age]" in drafted
    assert main(["init", str(tmp_path / "p.xlsx"), "--table", "Notes", "-o", str(tmp_path / "n.toml")]) == 0
    assert "skip" not in (tmp_path / "n.toml").read_text(encoding="utf-8")
