"""What was published stands without a curator: every number is signed, opens as an estimate, and a flipped digit is found."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import html.parser
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dpnb
from dpnb.__main__ import main
from dpnb.client.publication import merged, read_publication
from dpnb.errors import OwnerError, PlanError
from dpnb.owner.repository_metadata import ddi, schema_org
from dpnb.owner.signed_records import verify_receipt_file
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.releases import signature
from dpnb.trusted.wire.places import Home
from tests.owner.conftest import write_people

STATISTICS = """
[statistics]
mean_age = "people.age.mean()"
by_sex = "people.groupby('sex').count().weight(2)"
quarters = "people.age.quantile([0.25, 0.5, 0.75])"
men = "people[people.sex == 'm'].age.mean()"
tree = "people.age.tree()"
moments = "people.moments('age', people.sex == 'm')"
spread = "people.age.std()"
known = "people[~people.age.is_missing()].count()"
"""
ASKED = ("--epsilon", "3")
FEW_ASKED = ("--epsilon", "0.5")
WHY = ("--reason", "the study ended")
YES = "--yes"


FEW = """
[statistics]
number = "people.count()"
old = "people[people.age > 60].age.mean()"
"""


def picked(folder, text=STATISTICS, asked=ASKED, file="picked.toml"):
    (folder / file).write_text(text)
    return (folder / "people.dpnb.toml", "--statistics", folder / file, *asked)


@pytest.fixture(scope="module")
def owner(tmp_path_factory):
    """The folder of an owner who released, closed and published, once for all tests that only read it; and a receipt."""
    folder = tmp_path_factory.mktemp("owner")
    write_people(folder)
    words, few = (
        [str(word) for word in found]
        for found in (picked(folder), picked(folder, FEW, FEW_ASKED, "few.toml"))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPNB_HOME", str(folder / "home"))
        assert main(["admin", "release", *words, "--yes"]) == 0
        assert main(["admin", "release", *few, "--yes"]) == 0
        (*_, entry) = charges()
        assert main(["admin", "receipt", str(entry), "--to", str(folder / "receipt.json")]) == 0
        assert main(["admin", "close", "people", *WHY, "--yes"]) == 0
        assert main(["admin", "publish", *words, "--to", str(folder / "out"), *WHY, YES]) == 0
        assert main(["admin", "publish", *few, "--to", str(folder / "few"), *WHY, YES]) == 0
    return folder


def charges():
    """The entries of the charges of this home."""
    with Ledger(Home.current().ledger) as ledger:
        return [row.entry for row in ledger.statement("people") if row.kind == "charge"]


@pytest.fixture
def published(owner):
    """The published files."""
    return owner / "out"


def record(published):
    return json.loads((published / "people.releases.json").read_text())


@pytest.fixture
def receipt(owner, tmp_path):
    """A signed receipt of several answers, as its file says it; the file and its key are in this test's folder."""
    for name in ("receipt.json", "receipt.pub"):
        shutil.copy(owner / name, tmp_path / name)
    return json.loads((tmp_path / "receipt.json").read_text())


def differences(value):
    """Every record that differs from one in one place: a value changed, a key or an item gone, one more, items in another order."""
    if isinstance(value, dict):
        yield {**value, "more": 0}
        for name, one in value.items():
            yield {key: kept for key, kept in value.items() if key != name}
            yield from ({**value, name: other} for other in differences(one))
    elif isinstance(value, list):
        yield [*value, *value[-1:]] if value else [0]
        if value != value[::-1]:
            yield value[::-1]
        for place, one in enumerate(value):
            yield value[:place] + value[place + 1 :]
            yield from ([*value[:place], other, *value[place + 1 :]] for other in differences(one))
    elif isinstance(value, str):
        yield value + " "
        if value != value.upper():
            yield value.upper()
        if re.search("[0-9]", value):
            yield re.sub("[0-9]", lambda digit: str((int(digit[0]) + 1) % 10), value, count=1)
    else:
        yield not value if isinstance(value, bool) else 0 if value is None else value + 1


def unnoticed(whole, read, path):
    """The records that differ from a signed one and are read all the same."""
    found = []
    for one in differences(whole):
        path.write_text(json.dumps(one))
        with contextlib.suppress(OwnerError):
            read(path)
            found.append(one)
    return found


def test_the_plan_is_shown_before_anything_is_spent(folder, admin):
    status, said = admin("release", *picked(folder), "--plan")
    assert status == 0
    assert "nothing spent" in said
    assert "±" in said
    status, said = admin("release", *picked(folder))
    assert status == 2
    assert "This spends ε 3 of people, for good." in said
    with Ledger(Home.current().ledger) as ledger:
        assert not ledger.spent("dataset:people")


def test_synthetic_rows_are_planned_with_the_people_that_are_said(folder, admin):
    """Their number is private: without one to plan with, nothing tells whether the tables are worth it."""
    words = picked(folder, "[statistics]\nrows = \"people.per_unit(1).synthetic('age', 'sex')\"\n")
    status, said = admin("release", *words, YES)
    assert (status, "assume_n=5000" in said) == (2, True)
    with Ledger(Home.current().ledger) as ledger:
        assert not ledger.spent("dataset:people")
    status, said = admin("release", *words, "--plan", "--assume-n", "50000")
    assert (status, "nothing spent" in said, "assume_n=5000" in said) == (0, True, False)


def test_a_release_that_is_run_again_is_free_and_asks_nothing(folder, admin):
    first = admin("release", *picked(folder), "--yes", as_json=True)[1]
    again = admin("release", *picked(folder), as_json=True)
    assert again[0] == 0
    assert (first["charged"]["amount"], again[1]["charged"]["amount"]) == ("3", "0")


def test_nothing_that_was_not_released_is_published(folder, admin):
    status, said = admin("publish", *picked(folder), "--to", folder / "out", *WHY, YES)
    assert status == 2
    assert "First: dpnb admin release." in said
    assert not (folder / "out").exists()


def test_every_published_answer_is_an_estimate_without_any_curator(published, tmp_path, monkeypatch):
    """In a home that nobody made: values and intervals, arithmetic, readings, tables, regressions."""
    monkeypatch.setenv("DPNB_HOME", str(tmp_path / "nobody"))
    found = dpnb.open(published / "people.releases.json")
    assert not (tmp_path / "nobody").exists()
    names = ["mean_age", "by_sex", "quarters", "men", "tree", "moments", "spread", "known"]
    assert list(found.published) == names
    mean = found.age.mean()
    assert mean is found.published["mean_age"]
    low, high = mean.interval(kind="privacy")
    assert low < float(mean) < high
    apart = found[found.sex == "m"].age.mean() - mean
    assert apart.interval()[0] < float(apart) < apart.interval()[1]
    assert float(mean - found["age"].mean()) == 0
    assert len(found.groupby("sex").count().table()) == 2
    assert 0 <= found.age.tree().median().value <= 100
    fit = found.moments("age", found.sex == "m")
    assert fit.shape == (3, 3)
    dpnb.report([mean], to=tmp_path / "report.html")


def test_publications_of_one_dataset_open_as_one(folder, admin, tmp_path):
    """What both hold is concluded from all of its draws, each once; what one holds is there; another dataset's is refused."""
    declaration = folder / "people.dpnb.toml"
    files = []
    for place, lines in enumerate((("people.age.mean()", "people.count()"), ("people.age.mean()",))):
        picked_here = folder / f"p{place}.toml"
        picked_here.write_text(
            "[statistics]\n" + "\n".join(f'q{n} = "{line}"' for n, line in enumerate(lines))
        )
        asked = (declaration, "--statistics", picked_here, "--epsilon", 1 + place)
        assert admin("release", *asked, "--yes")[0] == 0
        assert admin("publish", *asked, "--to", tmp_path / f"out{place}", *WHY, YES)[0] == 0
        files.append(tmp_path / f"out{place}" / "people.releases.json")
    one, two, both = dpnb.open(files[0]), dpnb.open(files[1]), dpnb.open(files)
    assert [len(alone.age.mean().releases) for alone in (one, two)] == [1, 1]
    assert list(both.published) == ["q0", "q1"]
    assert both.count().value == one.count().value
    mean = both.age.mean()
    assert len(mean.releases) == 2
    low, high = mean.interval(kind="privacy")
    assert all(high - low < np.ptp(alone.age.mean().interval(kind="privacy")) for alone in (one, two))
    again = dpnb.open([files[0], files[0]]).age.mean()
    assert again.interval() == one.age.mean().interval()
    other = json.loads(files[1].read_text())
    with pytest.raises(OwnerError, match="Open each by itself"):
        merged([record(files[0].parent), {**other, "dataset": "others"}])


def test_a_publication_holds_what_its_loss_gave_and_nothing_else_that_is_stored(folder, admin, tmp_path):
    """Seen: a mean and a median released at 1 and then at 2; each publication gave the mean of both, and the median that cost more."""
    lines = '[statistics]\nmean = "people.age.mean()"\nmiddle = "people.age.median()"\n'
    asked = [picked(folder, lines, ("--epsilon", loss)) for loss in ("1", "2")]
    assert [admin("release", *one, YES)[0] for one in asked] == [0, 0]
    for place, one in enumerate(asked):
        to = tmp_path / str(place)
        assert admin("publish", *one, "--to", to, *WHY, YES)[0] == 0
        statistics = record(to)["statistics"]
        found = [[release["entry"] for release in single["releases"]] for single in statistics]
        assert found == [[charges()[place]]] * 2
        assert [receipt["receipt"]["entry"] for receipt in record(to)["receipts"]] == [charges()[place]]


def test_a_question_that_was_not_published_says_what_was(published):
    people = dpnb.open(published / "people.releases.json")
    with pytest.raises(
        PlanError, match=r"`people.age.sum\(\)` was not published. Published were: people.age.mean\(\), "
    ):
        people.age.sum()
    with pytest.raises(PlanError, match="nobody is asked"):
        people.budget.spent
    with pytest.raises(OwnerError, match="leave mode= out"):
        dpnb.open(published / "people.releases.json", mode="teaching")


def test_it_is_verified_on_another_machine_with_the_public_key_alone(published, tmp_path):
    """A home that is not there, files alone, a process of its own."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("people.releases.json", "people.pub"):
        shutil.copy(published / name, elsewhere / name)
    command = [sys.executable, "-m", "dpnb", "verify", "people.releases.json", "--key", "people.pub"]
    done = subprocess.run(
        command,
        cwd=elsewhere,
        env={"PATH": "", "DPNB_HOME": "nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "8 statistics of people" in done.stdout


def test_any_difference_in_a_publication_is_found(owner, tmp_path):
    """In each field, one at a time: questions, values, laws, losses, times, receipts, the declaration, the signature."""
    whole, key = record(owner / "few"), (owner / "few" / "people.pub").read_text()
    path = tmp_path / "changed.releases.json"
    assert unnoticed(whole, lambda found: read_publication(found, key), path) == []
    path.write_text(json.dumps(whole))
    assert read_publication(path, key)


def test_numbers_signed_by_another_key_do_not_verify(published, tmp_path, capsys):
    """Somebody changes a number and signs the whole anew, receipts too: only the owner's key tells."""
    other = signature.new_key()
    whole = record(published)
    whole["statistics"][0]["releases"][0]["parts"][0]["values"][0] += 1
    forged = {name: value for name, value in whole.items() if name != "signature"} | {
        "key": signature.public_key(other)
    }
    path = tmp_path / "forged.releases.json"
    path.write_text(json.dumps({**forged, "signature": signature.sign("publication", forged, other)}))
    assert main(["verify", str(path), "--key", str(published / "people.pub")]) == 2
    with pytest.raises(OwnerError):
        dpnb.open(path)  # its receipts are another key's


def test_a_receipt_is_verified_without_a_server(receipt, tmp_path, capsys):
    assert set(receipt["receipt"]) == {
        *("format", "ledger", "principal", "plan", "dataset", "data_version", "released", "answers"),
        *("loss", "spent", "entry", "answered", "head"),
    }
    assert main(verify_of(tmp_path)) == 0
    assert f"{len(receipt['releases'])} answers are what was signed" in capsys.readouterr().out


def verify_of(folder):
    return ["verify", str(folder / "receipt.json"), "--key", str(folder / "receipt.pub")]


def test_any_difference_in_a_receipt_is_found(receipt, tmp_path):
    """In each field of the receipt and of the answers beside it, one at a time: an answer more or less, another order of them too."""
    key = (tmp_path / "receipt.pub").read_text()
    assert unnoticed(receipt, lambda path: verify_receipt_file(path, key), tmp_path / "changed.json") == []


def swapped(field):
    """Give the first two answers each other's word for something."""

    def change(answers):
        one, two = answers[:2]
        one[field], two[field] = two[field], one[field]

    return change


SEEN = {
    "questions swapped": swapped("question"),
    "measurements swapped": swapped("measured"),
    "parts swapped": swapped("parts"),
    "all dropped": lambda answers: answers.clear(),
}


@pytest.mark.parametrize("change", SEEN.values(), ids=SEEN)
def test_a_receipt_binds_what_was_asked(receipt, tmp_path, capsys, change):
    """The seen: all of these were "answers are what was signed", with status 0."""
    change(receipt["releases"])
    (tmp_path / "receipt.json").write_text(json.dumps(receipt))
    assert main(verify_of(tmp_path)) == 2
    assert "what was signed" not in capsys.readouterr().out


def test_a_file_that_says_something_twice_is_refused(receipt, published, tmp_path):
    """Of two fields of one name readers take different ones."""
    key = (tmp_path / "receipt.pub").read_text()
    twice = json.dumps(receipt).replace('"question":', '"question": "another", "question":', 1)
    (tmp_path / "twice.json").write_text(twice)
    with pytest.raises(OwnerError, match="damaged"):
        verify_receipt_file(tmp_path / "twice.json", key)
    text = json.dumps(record(published)).replace('"dataset":', '"dataset": "another", "dataset":', 1)
    (tmp_path / "twice.releases.json").write_text(text)
    with pytest.raises(OwnerError, match="damaged"):
        read_publication(tmp_path / "twice.releases.json")


def test_an_answers_receipt_needs_no_terminal(folder, tmp_path, admin):
    """From one's own curator: the same receipt, answers and key that the owner's command writes for the charge."""
    people = dpnb.open(folder / "people.dpnb.toml", quiet=True)
    mean = people.age.mean()
    with pytest.raises(PlanError, match="comes from 0"):
        dpnb.receipt(mean, to=tmp_path / "pending.json")
    with pytest.raises(PlanError, match="one released answer"):
        dpnb.receipt({"mean": mean}, to=tmp_path / "pending.json")
    dpnb.release([mean], epsilon="0.5")
    record = dpnb.receipt(mean, to=tmp_path / "mean.json")
    assert main(["verify", str(tmp_path / "mean.json"), "--key", str(tmp_path / "mean.pub")]) == 0
    admin("receipt", record["entry"], "--to", tmp_path / "owner.json")
    owners, mine = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("owner", "mean"))
    assert owners == mine
    assert (tmp_path / "owner.pub").read_bytes() == (tmp_path / "mean.pub").read_bytes()


def test_a_receipt_is_the_same_whenever_it_is_made(folder, admin, tmp_path):
    """A function of ledger and key: later charges and another life of the curator change nothing of it. No other entry has one."""
    admin("release", *picked(folder), "--yes")
    (entry,) = charges()
    assert admin("receipt", entry - 1, "--to", tmp_path / "none.json")[0] == 2
    status, facts = admin("receipt", entry, "--to", tmp_path / "one.json", as_json=True)
    with Ledger(Home.current().ledger) as ledger:
        assert (status, facts["head"]) == (0, ledger.verify().head)
    admin("freeze", "people", *WHY)
    admin("receipt", entry, "--to", tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_what_is_published_is_an_entry_with_the_files_hash(owner, published):
    digest = hashlib.sha256((published / "people.releases.json").read_bytes()).hexdigest()
    with Ledger(owner / "home" / "ledger.sqlite3") as ledger:
        entry, *_ = [row for row in ledger.statement("people") if row.kind == "publish"]
    assert entry.told == f"sha256 {digest}"


class Page(html.parser.HTMLParser):
    """What a page asks of a network, and its text."""

    def __init__(self):
        super().__init__()
        self.asked, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.asked += [
            value for name, value in attrs if name in {"src", "href"} and not value.startswith("#")
        ]

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_stands_alone_and_says_how_to_cite_and_to_verify(published):
    page = Page()
    page.feed((published / "people.html").read_text())
    text = " ".join(page.text)
    assert page.asked == []
    for words in (
        "How to cite",
        "dpnb verify people.releases.json --key people.pub",
        "Data dictionary",
        "Methods",
        "is closed",
    ):
        assert words in text


def test_the_table_and_the_entry_of_the_registry_say_what_the_file_says(published):
    rows = list(csv.DictReader((published / "people.csv").read_text().splitlines()))
    found = dpnb.open(published / "people.releases.json")
    assert float(rows[0]["value"]) == float(found.age.mean())
    assert {row["statistic"] for row in rows} == set(found.published)
    entry = (published / "people.registry.yaml").read_text()
    assert "      epsilon: 4.0\n" in entry
    assert 'access_type: "Non-interactive"' in entry


def test_the_metadata_for_repositories_hold_every_released_number_and_no_other(published):
    """In the field names of schema.org and DDI; value, both intervals and the loss of each cell are those of the signed file."""
    said = json.loads((published / "people.schema-org.json").read_text())
    assert (said["@type"], said["name"]) == ("Dataset", "A small town: differentially private statistics")
    table = csv.DictReader((published / "people.csv").read_text().splitlines())
    rows = {"tree": None}  # of more cells than are listed
    for row in table:
        if row["statistic"] != "tree":
            rows[": ".join(filter(None, (row["statistic"], row["cell"])))] = row
    found = {one["name"]: one for one in said["variableMeasured"]}
    answers = dpnb.open(published / "people.releases.json").published
    assert set(found) == set(rows)
    assert "value" not in found["tree"]
    for name, one in found.items():
        references = {part["name"]: part for part in one["valueReference"]}
        assert one["@type"] == "PropertyValue"
        assert one["measurementTechnique"].startswith("differentially private: ")
        assert references["privacy loss"]["value"] == str(answers[name.split(":")[0]].loss)
        assert one.get("unitText") == ("rows" if name.startswith(("by_sex", "known")) else None)
        if (row := rows[name]) is not None:
            assert one["value"] == float(row["value"])
        for kind in ("privacy", "confidence"):
            if row is not None and row[f"{kind}_low"] and row[f"{kind}_high"]:
                ends = references[f"{kind} interval (95 %)"]
                assert [ends["minValue"], ends["maxValue"]] == [
                    float(row[f"{kind}_low"]),
                    float(row[f"{kind}_high"]),
                ]

    book = json.loads((published / "people.ddi.json").read_text())["codeBook"]
    age, sex = book["dataDscr"]["var"]
    assert age["valrng"] == {"range": {"@min": 0, "@max": 100}}
    assert sex["catgry"] == [{"catValu": "f"}, {"catValu": "m"}]
    assert sex["sumStat"] == []
    types = {one["statistic"]: one["@type"] for one in age["sumStat"]}
    quarters = {f"quarters quantile={q}": "medn" if q == 0.5 else "other" for q in (0.25, 0.5, 0.75)}
    assert types == {"mean_age": "mean", "spread": "stdev", "known": "vald", **quarters}
    assert [one.get("@otherType") for one in age["sumStat"]] == [
        name if type_ == "other" else None for name, type_ in types.items()
    ]
    mean = next(one for one in age["sumStat"] if one["statistic"] == "mean_age")
    assert mean["#text"] == float(answers["mean_age"])
    assert mean["privacy interval (95 %)"] == [*map(float, answers["mean_age"].interval(kind="privacy"))]
    assert mean["privacy loss"] == str(answers["mean_age"].loss)
    notes = {one["@subject"]: one for one in book["dataDscr"]["notes"]}
    assert set(notes) == {
        "by_sex",
        "men",
        "moments",
        "tree",
    }  # a filter or groups: never the summary of a column
    assert [one["#text"] for one in notes["by_sex"]["sumStat"]] == [*map(float, answers["by_sex"].value)]


def test_metadata_of_people_who_have_one_row_each(dpnb_home):
    """Their counts are of people; a number that was computed from answers is of no type and no unit; a list of modes is no mode."""
    nhefs = dpnb.open("nhefs", seed=1, quiet=True)
    named = {"smokers": nhefs[nhefs.age > 50].count(), "usual": nhefs.age.mode(), "three": nhefs.age.top_k(3)}
    dpnb.release(list(named.values()), epsilon="1")
    named["more"] = named["smokers"] + 1
    signed = {"ledger": "one", "published": "2026-01-01T00:00:00+00:00"}
    said = schema_org(signed, named, nhefs.schema, "cited")["variableMeasured"]
    assert {one["name"]: one["unitText"] for one in said if "unitText" in one} == {"smokers": "people"}
    told = ddi(signed, named, nhefs.schema, "cited")["codeBook"]["dataDscr"]
    known = {one["@name"]: [part["catValu"] for part in one.get("catgry", ())] for one in told["var"]}
    assert known == {one.name: [*map(str, one.values or ())] for one in nhefs.schema.columns}
    age = next(one for one in told["var"] if one["@name"] == "age")
    assert [one["@type"] for one in age["sumStat"]] == ["mode", "other", "other", "other"]
    notes = {one["@subject"]: [part["@type"] for part in one["sumStat"]] for one in told["notes"]}
    assert notes == {"smokers": ["vald"], "more": ["other"]}


def test_a_publication_overwrites_nothing(owner, published, monkeypatch, capsys):
    monkeypatch.setenv("DPNB_HOME", str(owner / "home"))
    before = (published / "people.releases.json").read_bytes(), _entries(owner)
    words = [str(word) for word in picked(owner)]
    assert main(["admin", "publish", *words, "--to", str(published), *WHY, YES]) == 2
    assert "exists and is left as it is" in capsys.readouterr().err
    assert ((published / "people.releases.json").read_bytes(), _entries(owner)) == before


def _entries(owner):
    with Ledger(owner / "home" / "ledger.sqlite3") as ledger:
        return ledger.verify().entries


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("__import__('os').getcwd()", "is not one question of people"),
        ("people.session.close()", "is not one question of people"),
        ("people.__class__", "is not one question of people"),
        ("[x for x in people]", "is not one question of people"),
        ("people.age", "publish a question"),
        ("people.age.mean() * 2", "publish a question"),
        ("people.agee.mean()", "agee"),
        ("people.age.mean(", "cannot be read"),
    ],
)
def test_a_statistic_that_is_no_question_is_refused_by_name(folder, admin, text, words):
    source, option, path, *loss = picked(folder)
    path.write_text("[statistics]\n" + f"odd = {json.dumps(text)}\n")
    status, said = admin("release", source, option, path, *loss, "--plan")
    assert status == 2
    assert "picked.toml, odd: " in said
    assert words in said


def test_killed_between_its_entry_and_its_files_a_publication_is_made_again(owner, tmp_path, monkeypatch):
    """The entry comes first: no file is out that no entry names, and the same command goes the way again."""
    monkeypatch.setenv("DPNB_HOME", str(owner / "home"))
    words = ["admin", "publish", *map(str, picked(owner)), *WHY, YES, "--to"]

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", killed)
        with pytest.raises(KeyboardInterrupt):
            main([*words, str(tmp_path / "one")])
    assert list((tmp_path / "one").iterdir()) == []
    assert main([*words, str(tmp_path / "two")]) == 0
    assert read_publication(tmp_path / "two" / "people.releases.json")["dataset"] == "people"
