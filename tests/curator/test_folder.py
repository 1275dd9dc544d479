"""A folder of Parquet files is one source: read as one file of the same rows would be, known as strictly, and never in part."""

from __future__ import annotations

import os
import random
import shutil
import tomllib
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpnb
from dpnb.__main__ import main
from dpnb.datasets import load
from dpnb.errors import OwnerError
from dpnb.owner.inspection import inspected
from dpnb.trusted.curator.engines.duckdb import DuckDBEngine
from dpnb.trusted.curator.engines.preparing import prepare
from dpnb.trusted.curator.sources import look_up
from dpnb.trusted.files.named_file import EVERY
from dpnb.trusted.wire.codec import raw
from dpnb.trusted.wire.messages import FileSource
from dpnb.trusted.wire.places import Home
from tests.curator import small

TERMS = """[dataset]
name = "visits"
source = "{source}"
adjacency = "add-remove"

[budget]
epsilon = 9

[columns.age]
type = "integer"
lower = 0
upper = 100
"""


def declared(unit=None):
    """Three columns of mixed types, by row or by person."""
    dataset = {"name": "v", "adjacency": "add-remove"}
    dataset |= {} if unit is None else {"unit": unit, "max_rows_per_unit": 2}
    columns = {
        "age": {"type": "integer", "lower": 0, "upper": 100},
        "ward": {"type": "category", "values": ["surgery", "7"]},
    }
    return load({"dataset": dataset, "budget": {"epsilon": 1}, "columns": columns}).schema


def rows(count, seed=3):
    """People with several rows, missing cells, and texts that may be numbers."""
    rng = random.Random(seed)
    return {
        "who": [rng.choice([*range(9), None]) for _ in range(count)],
        "age": [rng.choice([*range(-5, 110), None]) for _ in range(count)],
        "ward": [rng.choice(["surgery", "7", "7.0", "?", None]) for _ in range(count)],
    }


def write(path, columns, **kinds):
    """One Parquet file."""
    types = {"who": pa.int64(), "age": pa.int32(), "ward": pa.string(), **kinds}
    pq.write_table(pa.table({name: pa.array(cells, types[name]) for name, cells in columns.items()}), path)


def cut(columns, *ends):
    """The same rows in parts."""
    starts = [0, *ends]
    return [{n: c[a:b] for n, c in columns.items()} for a, b in zip(starts, [*ends, None], strict=True)]


@pytest.fixture
def folder(tmp_path):
    """A folder of three files, one of them without rows, and a marker that a writer left."""
    made = tmp_path / "visits"
    made.mkdir()
    for place, part in enumerate(cut(rows(60), 0, 41)):
        write(made / f"part-{place}.parquet", part)
    (made / "_SUCCESS").write_text("")
    return made


@pytest.mark.parametrize("unit", [None, "who"])
def test_a_folder_is_read_as_one_file_of_its_rows_is(folder, tmp_path, unit):
    """The prepared rows, in their order where places count: those of one file."""
    columns, schema = rows(60), declared(unit)
    write(tmp_path / "one.parquet", columns)
    found = {}
    for name, source in {
        "folder": folder,
        "pattern": folder / EVERY,
        "file": tmp_path / "one.parquet",
    }.items():
        copy = tmp_path / f"{name}.duckdb"
        prepare(source, schema, copy, key=b"k")
        with duckdb.connect(str(copy)) as connection:
            found[name] = connection.execute("SELECT * FROM prepared").fetchall()
        DuckDBEngine(copy).close()
    order = (lambda table: table) if unit is None else (lambda table: sorted(table, key=repr))
    assert order(found["folder"]) == order(found["pattern"]) == order(found["file"])


def test_a_long_name_in_the_files_of_a_folder_is_drafted_and_read(tmp_path, dpnb_home):
    """Seen: dpnb init drafted header = … of a folder too, and its declaration was refused: "header goes with one file"."""
    made, long = tmp_path / "visits", "age of the person " * 8
    made.mkdir()
    for place, ages in enumerate(([41, 7], [99])):
        write(made / f"part-{place}.parquet", {long: ages}, **{long: pa.int32()})
    assert main(["init", str(made), "--all"]) == 0
    terms = tomllib.loads((tmp_path / "visits.dpnb.toml").read_text(encoding="utf-8"))
    (name,) = terms["columns"]
    assert terms["columns"][name]["header"] == long
    terms["columns"][name] |= {"type": "integer", "lower": 0, "upper": 120}
    terms["dataset"] |= {"unit": "row"}
    terms["budget"] = {"epsilon": 10**6}
    people = dpnb.open(made, schema=terms, quiet=True)
    answers = dpnb.release({"all": people[name].sum()}, epsilon=10**5)
    assert answers["all"].value == pytest.approx(147, abs=0.1)


def attached(curator, source, name="visits"):
    """What a session is told of a source under a name."""
    terms = small.declared(name=name, adjacency="add-remove")
    terms["dataset"].pop("rows")
    terms["columns"] = {"age": {"type": "integer", "lower": 0, "upper": 100}}
    return small.session(curator).attach(
        FileSource(path=str(source), schema=raw(load(terms).schema.to_json()))
    )


CHANGES = {
    "added": lambda folder: write(folder / "part-3.parquet", rows(2, seed=4)),
    "removed": lambda folder: (folder / "part-2.parquet").unlink(),
    "replaced": lambda folder: write(folder / "part-1.parquet", rows(41, seed=5)),
    "reordered": lambda folder: (folder / "part-2.parquet").rename(folder / "part-0a.parquet"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_among_the_files_is_another_version(folder, dpnb_home, change):
    """Another fingerprint, so that the rows are prepared again; and one that comes while they are read is refused."""
    home = Home(dpnb_home).make()
    (folder.parent / "visits.dpnb.toml").write_text(TERMS.format(source="visits"))
    source = FileSource(path=str(folder))
    with look_up(source, None, home) as first:
        first.check_unchanged()
        CHANGES[change](folder)
        with pytest.raises(OwnerError, match="changed while it was read"):
            first.check_unchanged()
    with look_up(source, None, home) as second:
        assert second.fingerprint != first.fingerprint
        assert set(second.marks) & set(first.marks)
        second.check_unchanged()


@pytest.mark.parametrize("other", ["another folder", "one of the files"])
def test_a_folders_rows_get_no_second_budget(folder, curator, tmp_path, other):
    """Under another name, as a whole, and in part by the bytes of a file."""
    attached(curator, folder)
    if other == "another folder":
        again = shutil.copytree(folder, tmp_path / "copied")
    else:
        again = shutil.copy(folder / "part-1.parquet", tmp_path / "alone.parquet")
    with pytest.raises(OwnerError, match="attached before as protected data"):
        attached(curator, again, name="second")


def held_in(folder):
    """What this process holds open of a folder."""
    links = [place for place in Path("/proc/self/fd").iterdir() if place.is_symlink()]
    return [link for link in map(os.path.realpath, links) if link.startswith(str(folder))]


def linked(folder):
    (folder / "part-3.parquet").symlink_to(folder / "part-1.parquet")


BAD = {
    "empty": (lambda folder: [one.unlink() for one in folder.glob("*")], "holds no .parquet file"),
    "another kind": (
        lambda folder: (folder / "notes.csv").write_text("age\n1\n"),
        "notes.csv, which is not a .parquet file",
    ),
    "a folder below": (
        lambda folder: (folder / "year=2024").mkdir(),
        "year=2024, which is not a .parquet file",
    ),
    "a folder called so": (
        lambda folder: (folder / "x.parquet").mkdir(),
        "is a folder: name one ordinary file",
    ),
    "a link": (linked, "part-3.parquet, which is not a .parquet file of its own"),
    "a pipe": (lambda folder: os.mkfifo(folder / "x.parquet"), "is a named pipe"),
    "no bytes": (lambda folder: (folder / "x.parquet").write_text(""), '"x.parquet" is empty'),
    "no Parquet": (
        lambda folder: (folder / "x.parquet").write_text("age\n1\n"),
        '"x.parquet" cannot be read as parquet',
    ),
    "another type": (
        lambda folder: write(folder / "x.parquet", rows(2), age=pa.float64()),
        '"x.parquet" and "part-0.parquet" do not have the same columns',
    ),
    "another column": (
        lambda folder: write(folder / "x.parquet", {"age": [1]}),
        '"x.parquet" and "part-0.parquet" do not have the same columns',
    ),
    "too many": (
        lambda folder: [(folder / f"p{number}.parquet").write_text("") for number in range(400)],
        "more than 400 Parquet files",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_one_table_is_refused_and_nothing_stays_open(folder, curator, what):
    spoil, text = BAD[what]
    spoil(folder)
    with pytest.raises(OwnerError, match=text):
        attached(curator, folder)
    assert held_in(folder) == []


def test_a_file_that_vanishes_after_the_opening_is_read_to_its_end(folder, dpnb_home):
    """What was opened is read, whatever becomes of the names; the next opening finds other files."""
    home = Home(dpnb_home).make()
    (folder.parent / "visits.dpnb.toml").write_text(TERMS.format(source="visits/*.parquet"))
    with look_up(FileSource(path=str(folder.parent / "visits.dpnb.toml")), None, home) as found:
        (folder / "part-1.parquet").unlink()
        copy = folder.parent / "copy.duckdb"
        prepare(found.rows(), found.schema, copy)
        with duckdb.connect(str(copy)) as connection:
            assert connection.execute("SELECT count(*) FROM prepared").fetchone() == (60,)
        with pytest.raises(OwnerError, match="changed while it was read"):
            found.check_unchanged()


def test_a_hard_link_to_the_homes_own_file_is_refused_before_it_is_opened(folder, curator):
    os.link(curator._home.root / "ledger.sqlite3", folder / "x.parquet")
    with pytest.raises(OwnerError, match="a file of dpnb's own home"):
        attached(curator, folder)


def test_a_folder_goes_from_draft_to_answer(folder, dpnb_home, tmp_path, monkeypatch, capsys):
    """``dpnb init``, the owner's counts and ``dpnb.open`` take the folder as they take a file."""
    monkeypatch.chdir(tmp_path)
    assert main(["init", "visits"]) == 0
    drafted = tmp_path / "visits.dpnb.toml"
    assert 'source = "visits/*.parquet"' in drafted.read_text()
    drafted.write_text(TERMS.format(source="visits/*.parquet"))
    ((_, told),) = inspected(Home(dpnb_home).make(), drafted)
    assert told.rows == 60
    for source in ("visits/", "visits/*.parquet", folder, "visits.dpnb.toml"):
        people = dpnb.open(source)
        released = dpnb.release({"n": people.count()}, epsilon=1)
        assert abs(released["n"].value - 60) < 40
