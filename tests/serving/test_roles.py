"""What each role may do on a service, cell by cell of the tables in ``docs/service.md`` and ``docs/owner.md``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dpnb
from dpnb import widgets
from dpnb.__main__ import main
from dpnb.errors import OwnerError, PlanError
from dpnb.planner.request import Ask
from dpnb.trusted.serving.settings import read_settings
from dpnb.trusted.wire.messages import Cap, Describe, Open, Peek, Receipt, Statement, Submit
from tests.serving.conftest import CONFIG, write_people
from tests.serving.test_gateway import Office

ROLES = {"analyst": ("release",), "instructor": ("instruct",), "auditor": ("audit",)}
GROUPS = "each = { epsilon = 1 }\ngroups = { class-1 = { epsilon = 2 }, class-2 = { epsilon = 1 } }"
NONE = "0" * 64
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def offices(tmp_path):
    """Services with two classes, in this process, one after another in one home."""
    write_people(tmp_path, 500)
    made = []

    def start(more=""):
        if made:
            made[-1].desk.close()
        (tmp_path / "curator.toml").write_text(CONFIG.format(port=8443, each=GROUPS + more, more=""))
        made.append(Office(read_settings(tmp_path / "curator.toml")))
        return made[-1]

    yield start
    for one in made[-1:]:
        one.desk.close()


@pytest.fixture
def office(offices):
    """A service with two classes, in this process."""
    return offices()


def token(office, principal, *scopes, group="class-1"):
    return office.tokens.find(office.tokens.issue(principal, scopes, 1, (), (group,))[0])


def asked(office, who, epsilon="0.1"):
    """A mean of somebody, released, with its handle."""
    data = office.people(who)
    mean = data.age.mean()
    data.session.release([mean], Ask.make(epsilon=epsilon))
    return mean


def told(office, message, who):
    reply = office.told(message, who)
    return reply.get("code", "told")


def table(page, head):
    """The cells of a table of the docs: by row and column."""
    text = (DOCS / page).read_text().split(head)[1].split("\n\n")[0]
    names = [word.strip(" `") for word in head.strip("| ").split("|")][1:]
    rows = [line.strip("| ").split("|") for line in text.splitlines() if line.startswith("| ")]
    return {cells[0].strip(" `"): dict(zip(names, map(str.strip, cells[1:]), strict=True)) for cells in rows}


SEEN = "| over the wire | analyst | instructor | auditor | metrics |"


def wire(office, what, role):
    """Try one row of the table of the wire as a role: whether it is told."""
    scopes = {**ROLES, "metrics": ("metrics",)}[role]
    mine, bob, eve = (
        token(office, "me", *scopes),
        token(office, "bob", "release"),
        token(office, "eve", "release", group="class-2"),
    )
    entries = {"class": asked(office, bob).releases[0].entry, "other": asked(office, eve).releases[0].entry}
    handle = office.told(Open(name="people"), mine).get("handle", "0" * 32)
    if what == "ask":
        messages = (
            Describe(handle=handle),
            Peek(handle=handle, plan=b"{}"),
            Submit(handle=handle, request="1" * 32, digest=NONE, plan=b"{}"),
            Cap(handle=handle, epsilon="1"),
        )
        return {told(office, message, mine) != "access" for message in messages}
    if what.startswith("entries"):
        rows = office.told(Statement(handle=handle), mine).get("rows", [])
        wanted = {"entries of one's classes": "class", "entries of everybody": "other"}[what]
        return {entries[wanted] in {row["entry"] for row in rows}}
    wanted = {"receipts of one's classes": "class", "receipts of everybody": "other"}[what]
    return {told(office, Receipt(handle=handle, entry=entries[wanted]), mine) == "told"}


@pytest.mark.slow
@pytest.mark.parametrize("role", [*ROLES, "metrics"])
@pytest.mark.parametrize(
    "what",
    [
        *("ask", "entries of one's classes", "entries of everybody"),
        *("receipts of one's classes", "receipts of everybody"),
    ],
)
def test_each_cell_of_the_table_of_the_wire(office, what, role):
    """Told or refused as the page says; what is refused leaves no entry."""
    said = table("service.md", SEEN)[what][role]
    assert said in {"yes", "no"}
    assert wire(office, what, role) == {said == "yes"}
    assert len({row.principal for row in office.curator._ledger.statement() if row.kind == "charge"}) == 2


def test_what_an_instructor_asks_counts_to_no_class(office):
    """Their own share and the budget hold them; what is left of the class's cap stays the class's."""
    teacher = token(office, "teacher", "instruct", "release")
    asked(office, teacher, "0.5")
    ada = office.people(token(office, "ada", "release"))
    ledger = office.curator._ledger
    assert [row.shares for row in ledger.statement() if row.kind == "charge"] == [()]
    assert "in the group class-1" in " ".join(ada.notes)
    assert "class-1" not in " ".join(office.people(teacher).notes)


def test_an_instructor_reads_no_reason_of_the_owners_and_no_class_but_theirs(office):
    bob, eve = token(office, "bob", "release"), token(office, "eve", "release", group="class-2")
    asked(office, bob), asked(office, eve)
    teacher = token(office, "teacher", "instruct", group="class-2")
    handle = office.told(Open(name="people"), teacher)["handle"]
    rows = office.told(Statement(handle=handle), teacher)["rows"]
    assert {row["principal"] for row in rows if row["kind"] == "charge"} == {"eve"}
    nobody = token(office, "nobody", "instruct", group="class-3")
    handle = office.told(Open(name="people"), nobody)["handle"]
    rows = office.told(Statement(handle=handle), nobody)["rows"]
    assert not [row for row in rows if row["kind"] == "charge"]


@pytest.mark.parametrize(
    ("store", "shared"),
    [("principal", {"ada": False, "bob": False, "eve": False, "nobody": False})],
)
def test_nothing_is_shared_unless_its_owner_says_so(offices, store, shared):
    office = offices(f'\nstore = "{store}"')
    _shares(office, shared)


def _shares(office, shared):
    """Ask as the first of class 1; then as others: whether each gets the same draw, free."""
    groups = {"ada": "class-1", "bob": "class-1", "eve": "class-2", "nobody": "class-3"}
    first = asked(office, token(office, "first", "release"))
    for who, same in shared.items():
        other = asked(office, token(office, who, "release", group=groups[who]))
        assert (other.releases[0].parts == first.releases[0].parts) == same, who
    return first


@pytest.mark.slow
@pytest.mark.parametrize(
    ("store", "shared"),
    [
        ("group", {"ada": True, "bob": True, "eve": False, "nobody": False}),
        ("everyone", {"ada": True, "bob": True, "eve": True, "nobody": True}),
    ],
)
def test_a_stored_answer_is_shared_as_its_owner_says(offices, store, shared):
    """With the same integers, charged once; what is measured again is charged anew; another choice moves nothing that is stored."""
    office = offices(f'\nstore = "{store}"')
    _shares(office, shared)
    ledger = office.curator._ledger
    charges = [row.principal for row in ledger.statement() if row.kind == "charge"]
    assert charges == ["first", *(who for who, same in shared.items() if not same)]
    data = office.people(token(office, "ada", "release"))
    data.session.release([data.age.mean()], Ask.make(epsilon="0.1", fresh=True))
    assert len([row for row in ledger.statement() if row.kind == "charge"]) == len(charges) + 1
    assert ledger.verify().intact
    alone = offices()
    asked(alone, token(alone, "bob", "release"))
    charged = [row.principal for row in alone.curator._ledger.statement() if row.kind == "charge"]
    assert (charged[-1] == "bob") == (store == "group")  # what was everybody's stays so


@pytest.mark.parametrize("more", ['\nstore = "nobody"', "\nstore = 3"])
def test_a_store_that_there_is_not_is_refused(offices, more):
    with pytest.raises(OwnerError, match="store is one of principal, group, everyone"):
        offices(more)


def test_a_wall_fills_with_the_answers_of_an_instructors_class(office):
    """Each answer once, as it comes, and nobody's of another class; nothing is spent, and students see only their own."""
    teacher = token(office, "teacher", "instruct", "release")
    question = office.people(teacher).age.mean()
    wall = widgets.wall(question)
    assert "Waiting for answers in your class" in wall.facts["waiting"]
    for place in range(3):
        asked(office, token(office, f"student-{place}", "release"))
    asked(office, token(office, "eve", "release", group="class-2"))
    wall.refresh()
    assert [row["who"] for row in wall.facts["answers"]] == ["student-0", "student-1", "student-2"]
    mean = asked(office, token(office, "student-3", "release"), "0.2")
    wall.refresh()
    wall.refresh()
    assert [row["value"] for row in wall.facts["answers"]][-1] == float(mean)
    assert len(wall.facts["answers"]) == 4
    assert wall.facts["average"] is not None
    assert question.pending
    alone = widgets.wall(office.people(token(office, "student-1", "release")).age.mean())
    assert [row["who"] for row in alone.facts["answers"]] == ["student-1"]
    assert len([row for row in office.curator._ledger.statement() if row.kind == "charge"]) == 5


def test_a_receipt_over_the_wire_is_verified_with_the_key_alone(office, tmp_path, capsys):
    """One's own; a flipped digit is found; another's is refused as an entry that there is not."""
    bob, eve = token(office, "bob", "release"), token(office, "eve", "release")
    mean = asked(office, bob)
    other = asked(office, eve)
    record = dpnb.receipt(mean, to=tmp_path / "mean.json")
    assert (record["principal"], record["dataset"]) == ("bob", "people")
    verify = ["verify", str(tmp_path / "mean.json"), "--key", str(tmp_path / "mean.pub")]
    assert main(verify) == 0
    text = (tmp_path / "mean.json").read_text()
    value = json.loads(text)["releases"][0]["parts"][0]["values"][0]
    (tmp_path / "mean.json").write_text(text.replace(str(value), str(value + 1), 1))
    assert main(verify) == 2
    session = office.people(bob).session
    for entry in (other.releases[0].entry, 1, 10**6):
        with pytest.raises(PlanError, match="is not a charge of yours"):
            session.receipt(office.people(bob), entry)
    with pytest.raises(PlanError, match="comes from 2"):
        dpnb.receipt(mean - other, to=tmp_path / "two.json")
    with pytest.raises(dpnb.errors.OptionError, match="Name a new file"):
        dpnb.receipt(mean, to=tmp_path / "mean.json")
    assert "verify" in capsys.readouterr().out or True
