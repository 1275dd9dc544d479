"""`dpnb init` of a server's table: drafted from the catalogue's names and types; what the rows say never changes a letter of it."""

from __future__ import annotations

import pytest

import dpnb
from dpnb.__main__ import main

KINDS = {
    "age": "smallint",
    "income": "numeric(10, 2)",
    "married": "boolean",
    "visited_on": "date",
    "seen": "timestamptz",
    "job": "varchar(40)",
    "grade": "mood",
    "at": "point",
}


@pytest.fixture
def visits(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = ", ".join(f"{name} {kind}" for name, kind in KINDS.items())
    place.run("CREATE TYPE mood AS ENUM ('elated', 'gloomy')", f"CREATE TABLE visits ({columns})")
    return f"{place.uri}&table=visits"


def drafted(source, tmp_path, *options):
    assert main(["init", source, *options]) == 0
    return (tmp_path / "visits.dpnb.toml").read_text(encoding="utf-8")


def section(text, column):
    return text.partition(f"[columns.{column}]")[2].partition("\n[")[0]


def test_types_of_the_catalogue_are_guessed_like_a_files(visits, tmp_path, capsys):
    text = drafted(visits, tmp_path, "--all")
    assert 'name = "visits"' in text
    for column, said in {
        "age": 'type = "integer"\nlower = 0\nupper = 120',
        "income": 'type = "number"',
        "married": "values = [false, true]",
        "visited_on": 'type = "date"',
        "seen": 'type = "datetime"',
        "job": 'type = "text"',
        "grade": 'type = "category"\nvalues = "TODO',
        "at": 'type = "TODO',
    }.items():
        assert said in section(text, column), column
    assert 'dpnb.open("visits.dpnb.toml")' in capsys.readouterr().out


def test_no_row_and_no_value_of_an_enumeration_changes_a_letter(visits, place, tmp_path):
    empty = drafted(visits, tmp_path)
    (tmp_path / "visits.dpnb.toml").unlink()
    place.run("INSERT INTO visits (age, job, grade) VALUES (41, 'smith', 'gloomy')")
    assert drafted(visits, tmp_path) == empty
    assert "gloomy" not in empty


def test_a_completed_draft_opens_the_table(visits, place, tmp_path):
    place.run("INSERT INTO visits (age) SELECT 30 FROM generate_series(1, 50)")
    head, _, columns = drafted(visits, tmp_path).partition("[columns.age]")
    head = head.replace(
        'epsilon = "TODO: the whole loss that these data may ever pay, for example 4"', "epsilon = 4"
    )
    lines = ['unit = "row"' if line.startswith("unit = ") else line for line in head.splitlines()]
    age = "[columns.age]" + columns.partition("\n[")[0]
    (tmp_path / "visits.dpnb.toml").write_text("\n".join([*lines, age]), encoding="utf-8")
    assert dpnb.open("visits.dpnb.toml").schema.names == ("age",)


def test_a_table_may_be_named_apart_and_in_a_schema_of_its_own(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place.run(
        "CREATE SCHEMA evil", "CREATE TABLE evil.visits (age int)", "GRANT USAGE ON SCHEMA evil TO curator"
    )
    text = drafted(place.uri, tmp_path, "--table", "evil.visits")
    assert '&table=evil.visits"\n' in text


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        ("nothing", [], "nothing: the database has no such table in the schema public"),
        ("visits", ["--with", "stays.csv"], "join a server's tables there"),
    ],
)
def test_what_cannot_be_drafted_says_what_to_do(place, capsys, tmp_path, monkeypatch, table, options, said):
    monkeypatch.chdir(tmp_path)
    assert main(["init", f"{place.uri}&table={table}", *options]) != 0
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_password_in_the_address_is_refused_and_written_nowhere(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "postgresql://a:hunter2@db.example/clinic?table=visits"]) != 0
    said = capsys.readouterr()
    assert "source = … contains a password" in said.err
    assert "hunter2" not in said.err + said.out
    assert not list(tmp_path.iterdir())
