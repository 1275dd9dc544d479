"""`dpnb init`: a schema is drafted from names and storage types; what the rows say never changes a letter of it."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpnb
from dpnb.__main__ import main
from dpnb.client import api
from dpnb.datasets import load
from dpnb.errors import OwnerError
from dpnb.owner.column_guess import guess
from dpnb.owner.draft import draft, named_from

HEADER = "age,income,home town\n"


def drafted(path):
    assert main(["init", str(path)]) == 0
    return path.with_suffix(".dpnb.toml").read_text(encoding="utf-8")


def test_a_csv_draft_names_its_columns_and_leaves_everything_else_to_do(tmp_path, capsys):
    data = tmp_path / "people.csv"
    data.write_text(HEADER + "41,3.5,Goa\n")
    text = drafted(data)
    assert '[columns.age]\nlabel = "age"' in text
    assert '[columns."home town"]' in text
    assert text.count("\ntrim = true") == 1
    for seen in ("41", "3.5", "Goa"):
        assert seen not in text
    assert "fill in its" in capsys.readouterr().out


def test_a_draft_does_not_open_and_says_where_it_is_unfinished(tmp_path):
    data = tmp_path / "people.csv"
    data.write_text(HEADER)
    drafted(data)
    with pytest.raises(OwnerError, match=r"people\.dpnb\.toml still holds TODO at dataset\.unit"):
        load(tmp_path / "people.dpnb.toml")


def test_a_budget_is_drafted_that_pays_for_texts_where_there_are_some(tmp_path, dpnb_home):
    """Seen: texts were drafted, and no δ, which frequent_values() needs and which no charged budget can gain."""
    data = tmp_path / "people.parquet"
    pq.write_table(pa.table({"age": [30], "product": ["tea"]}), data)
    text = re.sub(r'epsilon = "TODO[^"]*"', "epsilon = 4", drafted(data))
    text = re.sub(r'unit = "TODO[^"]*"', 'unit = "row"', text)
    (tmp_path / "people.dpnb.toml").write_text(text, encoding="utf-8")
    people = dpnb.open(tmp_path / "people.dpnb.toml", quiet=True)
    dpnb.release([people.product.frequent_values()], epsilon="0.5")
    assert "delta" not in draft("people.parquet", [("age", "INTEGER")])
    assert "\n# delta = " in draft("people.csv", [("note", "unknown")])  # it may be declared a text


def test_a_completed_draft_opens(tmp_path):
    data = tmp_path / "people.csv"
    data.write_text("age\n")
    text = drafted(data)
    text = re.sub(r'unit = "TODO[^"]*"', 'unit = "row"', text)
    text = re.sub(r'epsilon = "TODO[^"]*"', "epsilon = 4", text)
    assert "TODO" not in text.partition("[columns")[2]
    (tmp_path / "people.dpnb.toml").write_text(text, encoding="utf-8")
    owned = load(tmp_path / "people.dpnb.toml")
    assert owned.schema["age"].size == 121
    assert owned.source == data


LOG = """person_id,visit_date,admitted_at,age,sex,region,income,children,month,is_member,score,pct_paid,n_visits,blood"""


def test_a_draft_asks_for_little_more_than_outside_knowledge_alone_can_tell(tmp_path):
    """Fourteen columns had 58 blanks, then 14; what a name tells is a guess to correct, whom it names is no column."""
    data = tmp_path / "log.csv"
    data.write_text(LOG + "\n")
    text = drafted(data)
    assert text.count('"TODO') == 8
    assert "\n# [columns.blood]\n" in text
    assert draft(data, whole=True).count('"TODO') == 16
    assert "# person_id is left out" in text
    assert (
        'unit = "TODO: row (one row = one person), or the column that identifies the person: person_id"'
        in text
    )
    assert 'type = "integer"\nlower = 0\nupper = 120' in text
    assert 'label = "income"\ntype = "number"\nlower = 0\nupper = "TODO"' in text


@pytest.mark.parametrize(
    ("name", "stored", "kind"),
    [
        ("age_group", "unknown", "category"),
        ("customerAge", "unknown", "integer"),
        ("created_at", "VARCHAR", "datetime"),
        ("signed_on", "unknown", "date"),
        ("sex", "INTEGER", "category"),
        ("income", "VARCHAR", "category"),
        ("age", "DOUBLE", "number"),
        ("sex", "DOUBLE", "category"),
        ("id", "DOUBLE", "person"),
        ("visit", "DATE", "date"),
        ("seen", "TIMESTAMP", "datetime"),
        ("amount", "DECIMAL(9,2)", "number"),
        ("email", "VARCHAR", "person"),
        ("blood", "unknown", "unknown"),
        ("q17", "BIGINT", "integer"),
        ("member", "BOOLEAN", "boolean"),
        ("is_member", "unknown", "boolean"),
        ("self_employed", "unknown", "boolean"),
        ("PassengerId", "unknown", "person"),
        ("id", "BIGINT", "person"),
        ("AgencyID", "unknown", "identifier"),
        ("product_id", "INTEGER", "identifier"),
        ("address", "unknown", "identifier"),
        ("name", "VARCHAR", "identifier"),
        ("Unnamed: 0", "unknown", "index"),
        ("__index_level_0__", "BIGINT", "index"),
        ("visits", "INTEGER[]", "unknown"),
        ("post_code", "VARCHAR", "text"),
        ("zipCode", "unknown", "text"),
        ("icd10", "unknown", "text"),
        ("discharged", "unknown", "date"),
        ("admitted", "BOOLEAN", "boolean"),
        ("length_of_stay", "unknown", "number"),
        ("ward", "unknown", "category"),
        ("paid", "unknown", "boolean"),
        ("Alter", "unknown", "integer"),
        ("âge_du_patient", "unknown", "integer"),
        ("Geschlecht", "unknown", "category"),
        ("sexe", "BIGINT", "category"),
        ("Einkommen (€)", "unknown", "number"),
        ("Größe_cm", "unknown", "number"),
        ("poids", "unknown", "number"),
        ("PLZ", "unknown", "text"),
        ("code postal", "unknown", "text"),
        ("Datum", "unknown", "date"),
        ("DateDeNaissance", "unknown", "date"),
        ("Raucher (ja/nein)", "unknown", "boolean"),
        ("marié oui/non", "unknown", "boolean"),
        ("Kunden-ID", "unknown", "person"),
        ("Kundennummer", "unknown", "person"),
        ("date_of_diagnosis", "unknown", "date"),
        ("name_of_school", "unknown", "category"),
    ],
)
def test_a_name_says_what_a_column_is_where_its_storage_type_can_hold_that(name, stored, kind):
    assert guess(name, stored).kind == kind


def test_what_may_weigh_people_is_told_how_to_be_declared(tmp_path):
    """A weight by its name alone; not a body's, which has a unit, nor a cell of another table."""
    data = tmp_path / "survey.csv"
    data.write_text("age,Weight,weight_kg\n")
    sections = drafted(data).split("[columns.")
    assert ["# weights_fixed = true" in section for section in sections] == [False, False, True, False]


def test_two_files_that_differ_in_their_rows_alone_have_the_same_draft(tmp_path):
    texts = set()
    for folder, rows in (("a", "1,2,x\n"), ("b", ""), ("c", '"n/a",nan,"☃"\n' * 1000)):
        (tmp_path / folder).mkdir()
        data = tmp_path / folder / "people.csv"
        data.write_text(HEADER + rows, encoding="utf-8")
        texts.add(drafted(data))
    assert len(texts) == 1


def write_parquet(path, numbers, words):
    table = pa.table(
        {
            "age": pa.array(numbers, pa.int32()),
            "income": pa.array([float(n) for n in numbers], pa.float64()),
            "town": pa.array(words).dictionary_encode(),
            "name": pa.array(words, pa.string()),
            "member": pa.array([n > 2 for n in numbers], pa.bool_()),
            "born": pa.array(numbers, pa.date32()),
            "visits": pa.array([[n] for n in numbers], pa.list_(pa.int32())),
        }
    )
    pq.write_table(table, path)


def test_a_parquet_draft_takes_types_from_the_footer_and_nothing_from_levels_or_statistics(tmp_path):
    texts = set()
    for folder, numbers, words in (
        ("a", [1, 2, 3], ["Goa", "Pune", "Goa"]),
        ("b", [77, 91], ["Lima", "Oslo"]),
    ):
        (tmp_path / folder).mkdir()
        data = tmp_path / folder / "people.parquet"
        write_parquet(data, numbers, words)
        texts.add(drafted(data))
    assert len(texts) == 1
    text = texts.pop()
    assert not re.search("Goa|Pune|Lima|Oslo|77|91", text)
    assert '[columns.age]\nlabel = "age"\ntype = "integer"' in text
    assert '[columns.income]\nlabel = "income"\ntype = "number"' in text
    assert '[columns.town]\nlabel = "town"\ntype = "category"\nvalues = "TODO' in text
    assert "# name is left out: its name suggests that it identifies" in text
    assert 'type = "category"\nvalues = [false, true]' in text
    assert '[columns.born]\nlabel = "born"\ntype = "date"' in text
    assert text.count('type = "TODO') == 1  # a list


def test_the_levels_of_an_enum_are_never_drafted(tmp_path):
    data = tmp_path / "people.duckdb"
    with duckdb.connect(str(data)) as engine:
        engine.execute("CREATE TYPE town AS ENUM ('Goa', 'Pune')")
        engine.execute("CREATE TABLE people (town town, pay DECIMAL(9, 2), age UTINYINT)")
        engine.execute("CREATE TABLE other (x INTEGER)")
    assert main(["init", str(data)]) == 2
    assert main(["init", str(data), "--table", "people"]) == 0
    text = (tmp_path / "people.dpnb.toml").read_text(encoding="utf-8")
    assert "Goa" not in text
    assert 'label = "town"\ntype = "category"\nvalues = "TODO' in text
    assert 'label = "pay"\ntype = "number"' in text
    assert 'label = "age"\ntype = "integer"' in text


def test_a_declaration_that_is_there_is_left_with_what_to_do(tmp_path, capsys):
    data = tmp_path / "people.csv"
    data.write_text(HEADER)
    text = drafted(data)
    assert main(["init", str(data)]) == 2
    said = capsys.readouterr().err
    assert (
        "exists already, and is left as it is. To go on with it, fill in its TODO and run dpnb check" in said
    )
    assert f"dpnb init {data} --output another.dpnb.toml" in said
    assert (tmp_path / "people.dpnb.toml").read_text() == text


@pytest.mark.parametrize(
    ("name", "written", "text"),
    [
        ("a.csv", b"", "has no column names in its first line"),
        ("a.csv", b"\n1,2\n", "has no column names in its first line"),
        ("a.csv", b"41,3.5\n", "holds numbers: give the file a header line"),
        ("a.csv", b"age,age\n", "names a column twice"),
        ("a.csv", b"\x81a\n", "is not UTF-8"),
        ("a.csv", None, "There is no file"),
        ("a.parquet", None, "There is no file"),
        ("a.parquet", b"PAR1 or not", "cannot be read as parquet"),
        ("a.duckdb", b"not a database at all", "cannot be read as duckdb"),
        ("a.xls", b"", "dpnb reads .csv"),
    ],
)
def test_a_file_that_cannot_be_drafted_is_refused_without_showing_its_content(
    tmp_path, capsys, name, written, text
):
    data = tmp_path / name
    if written is not None:
        data.write_bytes(written)
    assert main(["init", str(data)]) == 2
    said = capsys.readouterr().err
    assert text in said
    assert "41" not in said
    assert not (tmp_path / "a.dpnb.toml").exists()


def test_other_delimiters_and_a_byte_order_mark_are_understood(tmp_path):
    data = tmp_path / "people.csv"
    data.write_text('\ufeffage;"home; town"\n', encoding="utf-8")
    text = draft(data)
    assert "[columns.age]" in text
    assert '[columns."home; town"]' in text


@pytest.mark.parametrize(
    "file", ["my-survey.csv", "my.survey.parquet", "my survey/*.parquet", "_my-survey-.csv"]
)
def test_a_dataset_is_named_as_a_notebook_can_type_it(file):
    """Seen: ``my-survey.csv`` drafted the name my-survey, which reads as a difference wherever a question is typed."""
    assert named_from(Path(file)) == "my_survey"


def test_names_survive_quoting_whatever_they_hold(tmp_path):
    import tomllib

    names = ['say "hi"', "back\\slash", "naïve", "a.b", "Ü"]
    text = draft(tmp_path / "1 odd név.csv", [(name, "BIGINT") for name in names], whole=True)
    content = tomllib.loads(text)
    assert list(content["columns"]) == names
    assert content["dataset"]["name"] == "data_1_odd_n_v"


def two_files(tmp_path, people="person,age,visits\n", visits="person,date,minutes,region,smoker,diagnosis\n"):
    """A file and another with rows of the same people."""
    for name, header in (("people.csv", people), ("visits.csv", visits)):
        (tmp_path / name).write_text(header + "p1,7,7,7\n")
    return tmp_path / "people.csv", tmp_path / "visits.csv"


@pytest.mark.parametrize("on", [None, "person"])
def test_a_second_file_is_drafted_with_its_lines_of_preparation(tmp_path, on):
    """Joined by the column that is named, or whose name says whose row it is; filled in, and with its lines uncommented, it loads."""
    people, visits = two_files(tmp_path)
    assert main(["init", str(people), "--with", str(visits), *(["--on", on] if on else [])]) == 0
    text = (tmp_path / "people.dpnb.toml").read_text(encoding="utf-8")
    assert 'unit = "person"' in text
    assert 'on = "person"\n' in text
    assert "7" not in text
    assert ("by its name" in text) == (on is None)
    text = re.sub(r'epsilon = "TODO[^"]*"', "epsilon = 4", text)
    text = re.sub(r'(lower|upper) = "TODO[^"]*"', r"\1 = 20", text).replace("upper = …", "upper = 20")
    text = re.sub(r'bounds = "TODO[^"]*"', 'bounds = ["2020-01-01", "2024-12-31"]', text)
    text = re.sub(r'values = "TODO[^"]*"', 'values = ["a", "b"]', text).replace('is = "…"', 'is = "a"')
    (tmp_path / "people.dpnb.toml").write_text(re.sub(r"(?m)^# (?=\S+ = \{)", "", text), encoding="utf-8")
    schema = load(tmp_path / "people.dpnb.toml").schema
    assert schema.names == ("age", "visits", "visits_count", "minutes", "region", "smoker", "diagnosis")
    assert schema.sources == ("visits",)


def test_what_joins_two_files_is_asked_where_no_name_tells_it(tmp_path, capsys):
    """Two columns that could, or none: a TODO. A column that a file lacks, and --on without a second file, are refused."""
    people, visits = two_files(tmp_path, "person,client,age\n", "person,client,minutes\n")
    assert main(["init", str(people), "--with", str(visits)]) == 0
    text = (tmp_path / "people.dpnb.toml").read_text(encoding="utf-8")
    assert text.count('"TODO: the column in every file that identifies the person"') == 2
    for arguments, words in (
        (
            ["--with", str(visits), "--on", "age"],
            "visits.csv has no column age: tables are joined by one that each of them has",
        ),
        (["--on", "person"], "--on names the column that two files are joined by: add --with visits.csv"),
    ):
        assert main(["init", str(people), *arguments, "-o", str(tmp_path / "other.toml")]) == 2
        assert words in capsys.readouterr().err


def test_an_existing_schema_is_left_as_it_is(tmp_path, capsys):
    data = tmp_path / "people.csv"
    data.write_text(HEADER)
    schema = tmp_path / "people.dpnb.toml"
    schema.write_text("mine")
    assert main(["init", str(data)]) == 2
    assert schema.read_text() == "mine"
    assert "--output" in capsys.readouterr().err
    assert main(["init", str(data), "--output", str(tmp_path / "other.toml")]) == 0


def test_the_command_line_runs_as_a_module(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "dpnb", "init", str(tmp_path / "none.csv")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("dpnb: There is no file")


def test_a_reader_that_has_read_enough_is_no_fault(tmp_path):
    """``dpnb statistics | head`` ends in silence, not in a traceback, however early the reader goes."""
    command = [sys.executable, "-m", "dpnb", "statistics"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        said = running.stderr.read()
    assert (running.returncode, said) == (0, b"")


def test_an_owner_records_looser_terms_with_a_reason(dpnb_home, tmp_path, capsys):
    """A looser step is refused at open with the command to type; after it the file opens, and the ledger holds the reason."""
    toml = tmp_path / "pay.dpnb.toml"
    (tmp_path / "pay.csv").write_text("pay\n1\n2\n")
    text = (
        '[dataset]\nname = "pay"\nsource = "pay.csv"\nadjacency = "add-remove"\nunit = "row"\n'
        '[budget]\nepsilon = 1\n[columns.pay]\ntype = "number"\nlower = 0\nupper = 100\nstep = {}\n'
    )
    toml.write_text(text.format(1))
    try:
        people = dpnb.open(toml, quiet=True)
        dpnb.release([people.pay.sum()], epsilon="0.5")
        toml.write_text(text.format("0.5"))
        with pytest.raises(OwnerError, match=rf"dpnb loosen {re.escape(shlex.quote(str(toml)))} --reason"):
            dpnb.open(toml, quiet=True)
        assert main(["loosen", str(toml), "--reason", " "]) == 2
        assert main(["loosen", str(toml), "--reason", "half units are published", "--yes"]) == 0
        assert dpnb.open(toml, quiet=True).schema["pay"].declared_step == Fraction(1, 2)
        assert "half units are published" in str(dpnb.session().statement())
    finally:
        api.close()
    assert "What was spent stays spent" in capsys.readouterr().out


@pytest.mark.parametrize("source", ["spark:lake.visits", "s3://lake/visits"])
def test_what_init_cannot_look_into_is_told_with_a_way_on(source, capsys):
    assert main(["init", source]) != 0
    assert "draft from one Parquet file of the table" in capsys.readouterr().err
