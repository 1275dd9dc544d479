"""People with many rows, and rows in two tables, opened as they are: answers are of what was declared, from one budget."""

from __future__ import annotations

import tomllib

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpnb
from dpnb.errors import OwnerError, SchemaError
from dpnb.teach.noiseless import truth

PEOPLE, VISITS = 300, 900
DECLARATION = """
[dataset]
name = "hospital"
source = "patients.csv"
adjacency = "add-remove"
unit = "person"
max_rows_per_unit = 1
pool = "hospital"

[budget]
epsilon = 100_000

[columns.age]
type = "integer"
lower = 0
upper = 100

[source.visits]
file = "visits.csv"
on = "person"

[source.visits.columns.day]
type = "date"
bounds = ["2024-01-01", "2024-12-30"]

[source.visits.columns.minutes]
type = "integer"
lower = 0
upper = 240

[source.visits.columns.ward]
type = "category"
values = ["surgery", "medicine"]

[prepare]
visits = { count = "visits", upper = 20 }
minutes = { sum = "visits.minutes", upper = 2000, missing = 0 }
surgery = { any = "visits.ward", is = "surgery" }
ward = { latest = "visits.ward", by = "day" }
"""


def tables(folder):
    """Three hundred patients, visits of most of them and of some strangers, as text; and the same as arrays."""
    rng = np.random.default_rng(8)
    age = rng.integers(0, 101, PEOPLE)
    who = rng.integers(0, PEOPLE + 30, VISITS)
    day = np.datetime64("2024-01-01") + rng.permutation(VISITS) % 360
    minutes, ward = rng.integers(0, 240, VISITS), rng.choice(["surgery", "medicine"], VISITS)
    (folder / "patients.csv").write_text(
        "person,age\n" + "".join(f"p{place},{years}\n" for place, years in enumerate(age))
    )
    (folder / "visits.csv").write_text(
        "person,day,minutes,ward\n"
        + "".join(f"p{w},{d},{m},{at}\n" for w, d, m, at in zip(who, day, minutes, ward, strict=True))
    )
    (folder / "hospital.dpnb.toml").write_text(DECLARATION)
    return age, who, minutes, ward


def released(**questions):
    """The answers with so much loss that noise is nothing beside the rows."""
    report = dpnb.release(questions, epsilon=5000 * len(questions))
    return [report[name] for name in questions]


@pytest.mark.slow
def test_two_tables_answer_as_one(tmp_path, dpnb_home):
    """Each patient counts once, with what is prepared of their visits; strangers' visits count nowhere."""
    age, who, minutes, ward = tables(tmp_path)
    hospital = dpnb.open(tmp_path / "hospital.dpnb.toml", quiet=True)
    seen = np.bincount(who, minlength=PEOPLE + 30)[:PEOPLE]
    total = np.bincount(who, minutes, minlength=PEOPLE + 30)[:PEOPLE]
    cut = np.bincount(who, ward == "surgery", minlength=PEOPLE + 30)[:PEOPLE] > 0
    n, visits, long, old, surgery = released(
        n=hospital.count(),
        visits=hospital.visits.sum(),
        long=hospital[hospital.minutes > 500].count(),
        old=hospital[hospital.age > 60].minutes.sum(),
        surgery=hospital[hospital.surgery == 1].count(),
    )
    assert float(n) == pytest.approx(PEOPLE, abs=1)
    assert float(visits) == pytest.approx(seen.sum(), abs=3)
    assert float(long) == pytest.approx((total > 500).sum(), abs=1)
    assert float(old) == pytest.approx(np.minimum(total, 2000)[age > 60].sum(), abs=60)
    assert float(surgery) == pytest.approx(cut.sum(), abs=1)
    with pytest.raises(OwnerError, match="attached before as protected data"):
        dpnb.open(tmp_path / "visits.csv", schema=alone(), quiet=True)
    pooled = dpnb.open(tmp_path / "visits.csv", schema=alone(pool="hospital"), quiet=True)
    assert pooled.budget.spent == hospital.budget.spent


def alone(**dataset):
    """One table of the two, declared by itself."""
    facts = {"name": "visits", "adjacency": "add-remove", "unit": "person", "max_rows_per_unit": 3}
    columns = {
        "minutes": {"type": "integer", "lower": 0, "upper": 240},
        "day": {"type": "date", "bounds": ["2024-01-01", "2024-12-30"]},
    }
    return {"dataset": facts | dataset, "budget": {"epsilon": 100_000}, "columns": columns}


@pytest.mark.slow
def test_another_visit_is_another_version_of_the_data(tmp_path, dpnb_home):
    """What is stored for one content of either table is no answer about another."""
    tables(tmp_path)
    toml = tmp_path / "hospital.dpnb.toml"
    first = dpnb.open(toml, quiet=True).data_version
    assert dpnb.open(toml, quiet=True).data_version == first
    with (tmp_path / "visits.csv").open("a") as file:
        file.write("p1,2024-05-05,10,surgery\n")
    assert dpnb.open(toml, quiet=True).data_version != first


def test_a_frame_is_prepared(tmp_path, dpnb_home):
    """A dictionary of arrays with ``prepare``."""
    declared = alone() | {
        "prepare": {"visits": {"count": "rows", "upper": 5}, "last": {"latest": "minutes", "by": "day"}}
    }
    del declared["dataset"]["max_rows_per_unit"]
    frame = {
        "person": np.array(["a", "a", "b", "c", "c", "c"]),
        "minutes": np.array([10, 20, 30, 5, 7, 6]),
        "day": np.array(["2024-01-02", "2024-03-01", "2024-01-01", "2024-01-05", "2024-01-09", "2024-01-07"]),
    }
    log = dpnb.open(frame, schema=declared, quiet=True)
    for ask in (lambda: log.person, lambda: log["person"], lambda: log.groupby("person")):
        with pytest.raises(SchemaError, match=r"To count units: visits\.per_unit\(1\)\.count\(\)"):
            ask()
    n, visits, last = released(n=log.count(), visits=log.visits.sum(), last=log.last.sum())
    assert [round(float(one)) for one in (n, visits)] == [3, 6]
    assert float(last) == pytest.approx(20 + 30 + 7, abs=3)


@pytest.mark.slow
def test_frames_are_joined_as_files_are(tmp_path, dpnb_home):
    """The other table is handed over with its frame: the same answers, the same content, and the other one needs no file name."""
    tables(tmp_path)
    people, visits = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("patients", "visits"))
    hospital = dpnb.open(tmp_path / "hospital.dpnb.toml", quiet=True)
    names = ("visits", "minutes", "surgery")
    from_files = released(**{name: hospital[name].sum() for name in names})
    declared = tomllib.loads(
        DECLARATION.replace('file = "visits.csv"\n', "").replace('source = "patients.csv"\n', "")
    )
    for beside in (visits, pl.DataFrame(visits), {name: visits[name].to_numpy() for name in visits}):
        framed = dpnb.open(people, schema=declared, tables={"visits": beside}, quiet=True)
        assert framed.budget.spent == hospital.budget.spent
        from_frames = released(**{name: framed[name].sum() for name in names})
        assert [float(one) for one in from_frames] == pytest.approx(list(map(float, from_files)), abs=60)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, r'declares visits beside its own rows: write tables=\{"visits": visits\}'),
        ({"tables": {}}, r'write tables=\{"visits": visits\}'),
        ({"tables": {"visit": {"person": [1]}}}, r'write tables=\{"visits": visits\}'),
        ({"tables": [1]}, "tables= names the other frames"),
        ({"tables": {"visits": 3}}, "tables= names the other frames"),
        ({"tables": {"visits": {"person": ["p1"]}}}, "The frame 'visits' has no column 'day'"),
    ],
)
def test_tables_that_do_not_go_with_a_declaration_are_told_what_to_write(tmp_path, dpnb_home, given, words):
    """Another table than is declared, none, or one that is no frame; nothing is opened."""
    tables(tmp_path)
    frame = {"person": np.array(["p1"]), "age": np.array([7])}
    with pytest.raises(OwnerError, match=words):
        dpnb.open(frame, schema=tmp_path / "hospital.dpnb.toml", quiet=True, **given)


@pytest.mark.parametrize("given", [{}, {"adjacency": "change-one"}])
def test_a_dictionary_of_several_files_is_told_what_to_write(tmp_path, dpnb_home, given):
    """Seen: "open its declaration, in which [source.NAME] says file = …", which it did."""
    tables(tmp_path)
    with pytest.raises(
        OwnerError, match=r'write its declaration into a file.*\.dpnb\.toml.*tables=\{"visits": visits\}'
    ):
        dpnb.open(tmp_path / "patients.csv", schema=tomllib.loads(DECLARATION), quiet=True, **given)


def test_tables_go_with_a_frame_alone(tmp_path, dpnb_home):
    """A file's other tables stand in its declaration; a declaration without other tables takes none."""
    tables(tmp_path)
    with pytest.raises(OwnerError, match=r"tables= goes with a frame. .*\[source.visits\] with file = …"):
        dpnb.open(tmp_path / "hospital.dpnb.toml", tables={"visits": {"person": [1]}}, quiet=True)
    with pytest.raises(OwnerError, match="declares no other table beside its own rows: leave tables= out"):
        dpnb.open({"person": [1]}, schema=alone(), tables={"visits": {"person": [1]}}, quiet=True)


@pytest.mark.slow
def test_teaching_data_show_the_truth_of_what_is_prepared(tmp_path, dpnb_home):
    """The kernel reads both public tables as the curator does."""
    tables(tmp_path)
    toml = tmp_path / "hospital.dpnb.toml"
    toml.write_text(
        DECLARATION.replace('unit = "person"\n', 'unit = "person"\nmode = "teaching"\npublic = true\n', 1)
    )
    hospital = dpnb.open(toml, quiet=True)
    (visits,) = released(visits=hospital.visits.sum())
    assert truth(visits) == pytest.approx(float(visits), abs=3)
    people, log = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("patients", "visits"))
    framed = dpnb.open(people, schema=toml, tables={"visits": log}, seed=4, quiet=True)
    (again,) = released(visits=framed.visits.sum())
    assert truth(again) == truth(visits)
