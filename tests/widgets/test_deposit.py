"""A deposit's screen says what its owner typed, prices from the declaration alone, and writes nothing but its own files."""

from __future__ import annotations

import json
import shlex
import tomllib

import pytest

import dpnb
from dpnb import widgets
from dpnb.__main__ import main
from dpnb.client import api
from dpnb.errors import OptionError, OwnerError
from dpnb.owner.declaration_form import BLANK, DeclarationForm
from dpnb.owner.deposit import DepositFiles
from dpnb.trusted.schema.owner import load

HEADER = "who,age,sex,income,visit date\n"
FILLED = {
    "dataset": {"unit": "who", "most": "2", "epsilon": "2"},
    "columns": [
        {"name": "sex", "values": "f, m"},
        {"name": "income", "upper": "200000"},
        {"name": "visit date", "lower": "2020-01-01", "upper": "2024-12-31"},
    ],
}
PICKS = {"picks": ["average_age", "people_by_sex"], "shares": [0.7, 0.3], "loss": 1.6}


@pytest.fixture
def people(tmp_path, dpnb_home):
    """A file of rows."""
    path = tmp_path / "people.csv"
    path.write_text(HEADER + "7,30,f,1000,2021-01-01\n" * 5)
    return path


def filled(**more):
    """The form with everything that a draft leaves blank, and what else is typed."""
    dataset = {**FILLED["dataset"], **more.pop("dataset", {})}
    columns = {one["name"]: one for one in FILLED["columns"]}
    return {
        "dataset": dataset,
        "columns": [
            *(
                {
                    **columns,
                    **{name: {**columns.get(name, {"name": name}), **typed} for name, typed in more.items()},
                }.values()
            )
        ],
    }


def form(people):
    return DepositFiles(people).begin().changed(filled())


def test_a_draft_reads_no_row_and_says_what_is_blank(people):
    """Other rows under the same names are the same screen, byte for byte; what no name tells is blank, never wrong."""
    made = widgets.deposit(people)
    whole = {"form": form(people).to_json(), "step": 2, **PICKS}
    made.chosen = whole
    told = made.facts
    people.write_text(HEADER + "9,99999,zebra,-3,never\n")
    made = widgets.deposit(people)
    made.chosen = whole
    assert made.facts == told
    made = widgets.deposit(people)
    found = {(one["column"], one["field"]) for one in made.facts["problems"]}
    assert found == {
        ("", "unit"),
        ("sex", "values"),
        ("income", "upper"),
        ("visit date", "lower"),
        ("visit date", "upper"),
        ("who", "type"),
    }
    assert all(one["blank"] and not one["words"] for one in made.facts["problems"])
    assert made.facts["rows"] == made.facts["catalogue"] == []
    assert not [one for one in people.parent.iterdir() if one.is_file() and one != people]


def test_what_is_written_is_what_the_owners_loader_takes(people):
    """The TOML beside the form is the file that is written, and opens; read again it is the same form."""
    now = form(people)
    assert now.problems == []
    DepositFiles(people).declare(now)
    written = people.with_suffix(".dpnb.toml")
    schema = load(written).schema
    assert schema == now.schema
    assert (schema.unit.unit, schema.unit.max_rows, schema["sex"].values) == ("who", 2, ("f", "m"))
    assert DeclarationForm.read(written.read_text()).toml == now.toml == written.read_text()
    assert [one.name for one in DepositFiles(people).begin().columns if one.use == "no"] == ["who"]


@pytest.mark.parametrize(
    ("typed", "where", "words"),
    [
        ({"age": {"upper": "old"}}, ("age", "upper"), "must be a finite number, not 'old'"),
        ({"age": {"upper": "-1"}}, ("age", "lower"), "must be below upper"),
        ({"age": {"missing": "200"}}, ("age", "missing"), "missing"),
        ({"sex": {"values": "f, f"}}, ("sex", "values"), "twice"),
        ({"visit date": {"lower": "soon"}}, ("visit date", "lower"), "soon"),
        ({"dataset": {"most": "two"}}, ("", "most"), "whole number, not 'two'"),
        ({"dataset": {"most": "0"}}, ("", "most"), "at least 1"),
        ({"dataset": {"epsilon": "-1"}}, ("", "epsilon"), "above 0"),
        ({"dataset": {"delta": "2"}}, ("", "delta"), "below 1"),
        ({"dataset": {"adjacency": "change-one", "size": "many"}}, ("", "size"), "whole number"),
        ({"dataset": {"adjacency": "change-one"}}, ("", "size"), BLANK),
        ({"dataset": {"name": "my people"}}, ("", "name"), "letters, digits"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(people, typed, where, words):
    """In the loader's own words, and of that field alone; the file is not written."""
    now = DepositFiles(people).begin().changed(filled(**typed))
    ((column, field, said),) = now.problems
    assert (column, field) == where
    assert words in said
    with pytest.raises(OwnerError, match="nothing was written"):
        DepositFiles(people).declare(now)


def test_strange_texts_stay_texts(people):
    """Quotes, brackets and line breaks that somebody types or sends are one text of one field, and no line of TOML."""
    wild = 'x"]\n[budget]\nepsilon = 99 # \\'
    now = DepositFiles(people).begin().changed(filled(age={"label": wild}, dataset={"title": wild}))
    found = tomllib.loads(now.toml)
    assert found["budget"] == {"epsilon": "2"}
    assert found["dataset"]["title"] == found["columns"]["age"]["label"] == " ".join(wild.split())
    for junk in (
        None,
        [],
        {"columns": {}, "dataset": 3},
        {"columns": [{"name": "age", "upper": 3}, 7]},
        {"dataset": {"source": "/etc/x"}},
    ):
        assert DepositFiles(people).begin().changed(junk) == DepositFiles(people).begin()


def test_what_has_no_field_is_kept_and_an_older_file_too(people):
    """A pool, a citation, a dialect, a step and a centre of an older declaration stand in the new one; the older file stays beside it."""
    older = 'citation = "A. Author"\npool = "county"\n'
    text = form(people).toml.replace(
        'mode = "guard-rail"\n', f'mode = "guard-rail"\n{older}\n[source]\nragged = true\n'
    )
    text = text.replace('type = "number"\n', 'type = "number"\nstep = 50\ntypical = 30000\n')
    people.with_suffix(".dpnb.toml").write_text(text)
    files = DepositFiles(people)
    now = files.begin().changed({"dataset": {"title": "A town"}})
    said = files.declare(now)
    kept = tomllib.loads(people.with_suffix(".dpnb.toml").read_text())
    assert (kept["dataset"]["pool"], kept["dataset"]["citation"], kept["dataset"]["title"]) == (
        "county",
        "A. Author",
        "A town",
    )
    assert (kept["source"], kept["columns"]["income"]["step"]) == ({"ragged": True}, 50)
    assert kept["columns"]["income"]["typical"] == 30_000
    assert "people.dpnb.before.toml" in said
    assert people.with_suffix(".dpnb.before.toml").read_text() == text
    assert "already says this" in files.declare(now)


def test_a_shared_budget_and_bounds_that_were_seen_are_fields(people):
    """As they are written, read again, and cleared; what cannot be a pool is said at its field."""
    now = DepositFiles(people).begin().changed(filled(dataset={"pool": "county", "bounds": "seen on data"}))
    found = tomllib.loads(now.toml)["dataset"]
    assert (found["pool"], found["bounds"], now.problems) == ("county", "seen on data", [])
    assert DeclarationForm.read(now.toml).toml == now.toml
    assert "known without the data, but for some" in now.toml
    assert now.schema is not None
    cleared = now.changed({"dataset": {"pool": "", "bounds": ""}})
    assert not {"pool", "bounds"} & set(tomllib.loads(cleared.toml)["dataset"])
    ((column, field, _),) = now.changed({"dataset": {"pool": "a/b"}}).problems
    assert (column, field) == ("", "pool")


def test_a_raised_budget_is_a_recorded_act_and_says_what_was_promised(people, monkeypatch):
    """Before anybody was answered it is a correction; afterwards the screen says to whom answers left, and ends in loosen."""
    files = DepositFiles(people)
    files.declare(form(people))
    assert main(["admin", "add", str(files.declaration)]) == 0
    made = widgets.deposit(people)
    raised = form(people).changed({"dataset": {"epsilon": "3"}})
    made.chosen = {"form": raised.to_json(), "step": 1, "reason": "the board allows it"}
    assert made.facts["standing"]["looser"] == []
    data = dpnb.open(files.declaration, quiet=True)
    dpnb.release([data.count()], epsilon="0.5")
    api.close()
    made.chosen = {**made.chosen, "prior": 0.2}
    standing = made.facts["standing"]
    assert standing["looser"] == ["budget: ε 2 → ε 3"]
    assert [spent for _, spent in standing["promised"]] == ["ε 0.5"]
    words = shlex.split(asked(made, "loosen")["cell"].partition("%dp admin ")[2])
    assert words[0] == "loosen"
    assert main(["admin", *words]) == 0
    made.chosen = {**made.chosen, "prior": 0.3}
    assert made.facts["standing"]["looser"] == []


def test_a_catalogue_is_priced_from_the_declaration(people):
    """Every statistic that the columns allow, each with the ± of its loss; what was typed by hand too, with what is wrong with it."""
    made = widgets.deposit(people)
    made.chosen = {
        "form": form(people).to_json(),
        "step": 2,
        "typed": ["people.groupby('sex').age.mean()", "people.sex.mean(", "open('x')"],
    }
    found = {one["name"]: one for one in made.facts["catalogue"]}
    assert {"number_of_rows", "average_age", "people_by_sex", "effect_on_income"} <= set(found)
    assert "average_visit_date" not in found
    assert all(
        one["curve"]["width"] == sorted(one["curve"]["width"], reverse=True)
        for one in found.values()
        if one["curve"]
    )
    assert found["mine_1"]["curve"] is not None
    assert found["mine_2"]["problem"]
    assert "not one question" in found["mine_3"]["problem"]


def asked(made, wish):
    """What the kernel answers to a wish of the hand."""
    sent = []
    made.send = lambda content, buffers=None: sent.append(content)
    made._reply(None, {"ask": wish, "number": 1}, None)
    return sent[0]["answer"]


def test_what_a_step_ends_in_is_what_was_picked_and_typed(people):
    """A reason with quotes, a shell's marks and a line break is one argument; the file of picks has the weights of the split."""
    made = widgets.deposit(people)
    made.chosen = {"form": form(people).to_json(), "step": 2, **PICKS, "reason": "it's $(rm) {x}\n--yes"}
    words = shlex.split(asked(made, "close")["cell"].partition("%dp admin ")[2])
    assert words == ["close", "people", "--reason", "it's $(rm) {x} --yes", "--yes"]
    assert asked(made, "publish")["problem"] == "Nothing was released from here yet: go back to Pre-release."
    assert asked(made, "release")["cell"].endswith("--epsilon 1.6 --yes")
    picked = tomllib.loads(people.with_suffix(".statistics.toml").read_text())
    assert picked == {
        "statistics": {
            "average_age": "people.age.mean().weight(7)",
            "people_by_sex": "people.sex.value_counts().weight(3)",
        },
        "loss": {"epsilon": "1.6"},
    }
    assert "--to" in asked(made, "publish")["cell"]
    assert all("problem" in asked(made, wish) for wish in ("wipe", None))
    made.chosen = {**made.chosen, "reason": "  ", "picks": ["no such"], "shares": [1]}
    assert asked(made, "close")["problem"] == "Give a reason: the ledger keeps it."
    assert asked(made, "release")["problem"] == "Choose at least one statistic."
    assert json.loads(json.dumps(made.facts, allow_nan=False)) == made.facts


def test_a_budget_with_a_delta_is_split_in_rho(people):
    made = widgets.deposit(people)
    made.chosen = {
        "form": DepositFiles(people).begin().changed(filled(dataset={"delta": "1e-6"})).to_json(),
        "step": 2,
        **PICKS,
        "loss": 9,
    }
    assert made.facts["budget"]["symbol"] == "ρ"
    assert 0 < made.facts["budget"]["cap"] < 2
    assert "--rho" in asked(made, "release")["cell"]


def test_what_is_no_file_is_refused(people):
    with pytest.raises(OptionError, match=r'deposit\("people.csv"\)'):
        widgets.deposit(3)
    with pytest.raises(OwnerError, match="absent"):
        widgets.deposit(people.with_name("absent.csv"))
    people.with_suffix(".dpnb.toml").write_text("[dataset\n")
    with pytest.raises(OwnerError, match="repair it, or move it away"):
        widgets.deposit(people)
