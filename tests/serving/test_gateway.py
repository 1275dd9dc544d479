"""What the desk hands on, and what it does not, asked in this process; each was once a way round."""

from __future__ import annotations

import contextlib
import json
import threading
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from unittest.mock import Mock

import pytest

from dpnb.client import session
from dpnb.client.priced_batch import batch_of
from dpnb.client.service import Service
from dpnb.client.session import Session
from dpnb.client.transport import InMemory
from dpnb.errors import AccessError, FrozenError, OwnerError, PlanError
from dpnb.planner.request import Ask
from dpnb.trusted.curator import failpoints, service, statement
from dpnb.trusted.curator.terms import Terms
from dpnb.trusted.owner.issued_tokens import tokens_of
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.serving.gateway import _OTHERS, Gateway
from dpnb.trusted.serving.hub import Identities
from dpnb.trusted.serving.served_curator import OWNER, BucketedRandomness, ServedCurator
from dpnb.trusted.serving.settings import read_settings
from dpnb.trusted.wire.codec import encode
from dpnb.trusted.wire.messages import Cancel, Cap, Describe, Hello, Open, Peek, Statement, Submit
from tests.serving.conftest import CONFIG, write_people

NONE = "0" * 32
NOWHERE = Service("https", "host.example", None, "")


class Office:
    """A desk with its tokens, and kernels that ask it in this process."""

    def __init__(self, settings):
        self.tokens = tokens_of(settings.home.make())
        self.desk = Gateway.of(settings, Identities(self.tokens))
        self.curator = self.desk.curator

    def token(self, principal="ada", *scopes, datasets=()):
        """A token, as the door lets it in."""
        return self.tokens.find(self.tokens.issue(principal, scopes or ("release",), 1, datasets)[0])

    def told(self, message, token):
        """A reply, read."""
        return json.loads(self.desk.carry_out(self.desk.read(encode(message)), token))

    def people(self, token):
        """A kernel's handle on the people."""
        way = InMemory(lambda body: self.desk.carry_out(self.desk.read(body), token))
        return Session(lambda: way, service=NOWHERE).open_served("people")

    def close(self):
        """Close the desk."""
        self.desk.close()

    def entries(self):
        """How many entries the ledger has."""
        return len(self.curator._ledger.statement())


GROUPS = "each = { epsilon = 0.9 }\ngroups = { mine = { epsilon = 0.8 }, theirs = { epsilon = 0.2 } }"


def test_the_cap_of_a_reply_is_that_of_a_group_of_ones_own(settings):
    """Of all that the owner lets groups and tokens spend, a reply tells what holds whoever asks (``test_replay`` says why it may)."""
    file = settings.home.root.parent / "curator.toml"
    file.write_text(CONFIG.format(port=8443, each=GROUPS, more=""))
    with contextlib.closing(Office(read_settings(file))) as office:
        office.tokens.issue("bob", ("release",), 1, groups=("theirs",), epsilon="0.1")
        ada = office.tokens.find(office.tokens.issue("ada", ("release",), 1, groups=("mine",))[0])
        data = office.people(ada)
        batch = batch_of([data.count()], Ask.make(epsilon="0.1"))
        asked = Submit(handle=data.handle, request="a" * 32, digest=batch.digest, plan=batch.body)
        told = office.told(asked, ada)
    assert (told["cap"]["amount"], told["whose"]) == ("0.8", "what its owner lets the group mine spend")
    assert not any(word in json.dumps(told) for word in ("theirs", "bob", '"0.2"'))


def released(data, epsilon="0.1"):
    """A count, released."""
    count = data.count()
    return data.session.release([count], Ask.make(epsilon=epsilon))


@pytest.fixture
def settings(tmp_path):
    write_people(tmp_path)
    (tmp_path / "curator.toml").write_text(CONFIG.format(port=8443, each="each = { epsilon = 1 }", more=""))
    return read_settings(tmp_path / "curator.toml")


@pytest.fixture
def office(settings):
    with contextlib.closing(Office(settings)) as made:
        yield made


def test_a_charge_that_cannot_be_stored_is_a_fault_until_one_can_be(office, monkeypatch):
    """For instance because of an error of the disk: /health says so, and the log says why."""
    data = office.people(office.token())
    assert office.desk.fault() is None

    def broken(*_, **__):
        raise OwnerError("disk I/O error")

    with monkeypatch.context() as during:
        during.setattr(office.curator._ledger, "charge", broken)
        for word in (None, None, "failing"):
            with pytest.raises(OwnerError, match="see why in its log"):
                released(data)
            assert office.desk.fault() == word
    released(data)
    assert office.desk.fault() is None
    office.curator._ledger.freeze("an entry does not follow from the one before it")
    assert office.desk.fault() == "frozen"
    told = {figure.name: figure.values for figure in office.desk.figures()}
    assert (told["dpnb_frozen"], told["dpnb_budget_left"]) == ({"": True}, {})


def test_health_reads_the_tokens_again_only_where_they_changed(office, monkeypatch):
    """Anybody may ask for it without a token, and a file may hold thousands of them: 1,000 took 6 ms of the loop of all requests."""
    office.token()
    assert office.desk.fault() is None
    monkeypatch.setattr(office.tokens, "listed", read := Mock())
    assert office.desk.fault() is None
    read.assert_not_called()


# revoked, expired, another's ---------------------------------------------------------------------------------


def test_a_token_revoked_while_its_request_waits_is_not_answered(office):
    """For its last byte, or behind others: it was let in before, and asks now."""
    ada = office.token()
    handle = office.told(Open(name="people"), ada)["handle"]
    office.tokens.revoke("ada")
    for message in (Hello(), Open(name="people"), Describe(handle=handle), Cancel(request=NONE)):
        assert office.told(message, ada)["code"] == "access"


def test_a_token_revoked_before_the_charge_spends_nothing(office, monkeypatch):
    """The last moment at which it matters."""
    data = office.people(office.token())
    monkeypatch.setattr(
        failpoints, "at", lambda step: step == "before-charge" and office.tokens.revoke("ada")
    )
    with pytest.raises(AccessError, match="unknown, expired or revoked"):
        released(data)
    monkeypatch.undo()
    assert office.people(office.token()).budget.spent.amount == 0


def test_a_replayed_request_is_answered_once_and_by_nobody_elses_charge(office):
    """Sent again it is the same answer for the same charge; whoever caught it and holds another token hears nothing of it."""
    ada, bob = office.token(), office.token("bob")
    data = office.people(ada)
    batch = batch_of([data.count()], Ask.make(epsilon="0.5", fresh=True))
    message = Submit(handle=data.handle, request="a" * 32, digest=batch.digest, plan=batch.body)
    sent = [office.told(message, ada) for _ in range(3)]
    assert sent[0]["releases"] == sent[1]["releases"] == sent[2]["releases"]
    assert data.budget.spent.amount == Fraction(1, 2)
    assert office.told(message, bob)["code"] == "gone"  # a handle of hers
    caught = Submit(
        handle=office.people(bob).handle, request=message.request, digest=message.digest, plan=message.plan
    )
    his = office.told(caught, bob)
    assert his["code"] == "reused"
    other = batch_of([data.age.sum()], Ask.make(epsilon="0.5", fresh=True))
    again = Submit(handle=data.handle, request="a" * 32, digest=other.digest, plan=other.body)
    assert office.told(again, ada)["code"] == "reused"
    assert data.budget.spent.amount == Fraction(1, 2)


def test_a_handle_that_nobody_opened_here_is_opened_by_name_first(office):
    """What the desk does not know of is asked for again, under the token that asks."""
    ada = office.token()
    handle = office.told(Open(name="people"), ada)["handle"]
    office.desk._opened.clear()
    reply = office.told(Describe(handle=handle), ada)
    assert (reply["code"], reply["details"]) == ("gone", {"reattach": True})
    assert office.told(Describe(handle=handle), office.token("bob"))["code"] == "gone"


def test_nobody_is_called_as_the_owner_or_a_token_is(office):
    """Whose handles are open from the start, or whom a revocation would hit too."""
    for name in (OWNER, "00c0ffee"):
        with pytest.raises(OwnerError, match="letters, digits"):
            office.tokens.issue(name, ("release",), 1)


def test_a_statement_names_its_dataset(office):
    """So that a token for one dataset reads no other."""
    assert office.told(Statement(), office.token())["code"] == "plan"


# time --------------------------------------------------------------------------------------------------------


def test_an_answer_is_known_at_a_whole_multiple_of_the_bucket():
    """After its charge, whatever the scan took; one that missed the first is counted."""
    for took in (0.001, 0.1, 0.2499, 0.26, 0.7):
        slept, late, clock = [], [], iter([5.0, 5.0 + took])
        BucketedRandomness(
            bucket=0.25, late=lambda late=late: late.append(1), clock=clock.__next__, sleep=slept.append
        ).settling()()
        assert (took + slept[0]) / 0.25 == pytest.approx(round((took + slept[0]) / 0.25))
        assert len(late) == (took > 0.25)


def test_nothing_tells_an_answer_before_its_bucket_ends(office):
    """Not a statement, a price, a cancel or a second batch on another connection, and not to an auditor."""
    ada, eve = office.token(), office.token("eve", "audit")
    data = office.people(ada)
    seen = []

    def look(_):
        rows = office.told(Statement(handle=data.handle), ada)["rows"]
        mine = office.told(Open(name="people"), eve)["handle"]
        audited = office.told(Statement(handle=mine), eve)["rows"]
        seen.append([row["answered"] for row in (*rows, *audited) if row["kind"] == "charge"])
        request = next(iter(data.session._waiting.values()))
        seen.append(office.told(Cancel(request=request), ada)["state"])
        second = Submit(handle=data.handle, request="1" * 32, digest=NONE, plan=b"{}")
        seen.append(office.told(second, ada)["message"].startswith("Another batch of yours is running"))

    office.curator._randomness = BucketedRandomness(bucket=60.0, sleep=look)
    released(data)
    assert seen == [[False, False], "charged", True]
    rows = office.told(Statement(handle=data.handle), ada)["rows"]
    assert [row["answered"] for row in rows if row["kind"] == "charge"] == [True]


def test_the_time_of_a_release_is_that_of_its_charge(office, monkeypatch):
    """It says nothing of how long the scan took."""
    data = office.people(office.token())
    scanned = []
    monkeypatch.setattr(failpoints, "at", lambda step: scanned.append(step) if step == "scanned" else None)
    office.curator._randomness = replace(BucketedRandomness(), now=lambda: "late" if scanned else "early")
    count = data.count()
    data.session.release([count], Ask.make(epsilon="0.1"))
    assert scanned
    assert count.releases[0].time == "early"


# what an owner does once -------------------------------------------------------------------------------------


def test_an_open_reads_no_file_pins_nothing_and_freezes_nothing(office, tmp_path):
    """The file is half written, the schema half edited: who opens goes on with what was attached at the start."""
    before = office.entries()
    (tmp_path / "people.csv").write_text("age,g\n1,a\n")
    (tmp_path / "people.dpnb.toml").write_text(
        '[dataset]\nname = "people"\nadjacency = "change-one"\nrows = 7\n'
    )
    for place in range(8):
        data = office.people(office.token(f"analyst-{place}"))
        assert data.schema.unit.adjacency == "add-remove"
    assert office.entries() == before
    assert released(data).charged.amount == Fraction(1, 10)


@pytest.mark.slow
def test_terms_that_the_owner_changed_meanwhile_close_the_dataset(office):
    """A loosening from a terminal, or a tightening: until the service is started anew, or its owner lets it take them up."""
    ada = office.token()
    old = office.told(Open(name="people"), ada)["handle"]
    released(office.people(ada))  # from now on looser terms are a loosening
    first = office.curator.served["people"]
    terms = Terms.of(first.schema, first.known_as)
    smaller = replace(terms, budget=Budget.from_toml({"epsilon": 2}))
    office.curator._ledger.attach(smaller, "other rows", by="owner")
    assert office.told(Open(name="people"), ada)["code"] == "gone"
    office.desk.take_up()  # the owner's file still has the old terms, which are looser now: it says so in the log
    assert office.told(Open(name="people"), ada)["code"] == "gone"
    assert "Earlier openings pinned" in office.curator._home.log.read_text()
    schema = office.curator.settings.datasets["people"].source.path
    Path(schema).write_text(Path(schema).read_text().replace("epsilon = 3", "epsilon = 2"))
    office.desk.take_up()
    opened = office.told(Open(name="people"), ada)
    assert opened["budget"]["cap"]["amount"] == "1"  # what each may spend; the budget is the new one
    assert office.curator.served["people"].budget.cap.amount == 2
    assert opened["handle"] == old or office.told(Describe(handle=old), ada)["code"] == "gone"


def test_what_changes_in_the_owners_file_holds_at_once_or_is_said_to_wait(office):
    """Seen: a reload read nothing of it, and said nothing."""
    ada, file = office.token(), office.curator.settings.file
    log, before = office.curator._home.log, office.told(Open(name="people"), office.token())
    text = file.read_text()
    file.write_text(text.replace("epsilon = 1", "epsilon = 0.25") + "numbers = 300\n")
    office.desk.take_up()
    assert not log.exists(), log.read_text()
    told = office.told(Open(name="people"), ada)
    assert [one["budget"]["cap"]["amount"] for one in (before, told)] == ["1", "0.25"]
    assert office.curator.declared["people"].numbers == 300
    more = '[datasets.others]\nschema = "people.dpnb.toml"\n'
    file.write_text(text.replace("127.0.0.1:8443", "127.0.0.1:9443") + more)
    office.desk.take_up()
    assert "port, [datasets.others] changed. This holds from the next start" in log.read_text()
    assert office.told(Open(name="people"), ada)["budget"]["cap"]["amount"] == "1"
    file.write_text(text.replace("epsilon = 1", "rho = 1"))
    office.desk.take_up()
    file.write_text("[")
    office.desk.take_up()
    assert "each must be in ε" in log.read_text()
    assert log.read_text().count("reading the configuration again") == 1
    assert office.told(Open(name="people"), ada)["budget"]["cap"]["amount"] == "1"


def test_what_each_may_spend_of_a_shared_budget_is_taken_up_for_all_its_datasets(settings):
    """Seen: each was compared with what the file said of the other before, and neither was taken up."""
    folder, file = settings.file.parent, settings.file
    schema = (folder / "people.dpnb.toml").read_text().replace("\nsource", '\npool = "all"\nsource')
    (folder / "people.dpnb.toml").write_text(schema)
    (folder / "others.dpnb.toml").write_text(schema.replace("people", "others"))
    (folder / "others.csv").write_text("age,g\n1,a\n2,b\n")
    each = "each = { epsilon = 1 }\n"
    text = file.read_text() + f'[datasets.others]\nschema = "others.dpnb.toml"\n{each}'
    file.write_text(text)
    with contextlib.closing(Office(read_settings(file))) as office:
        log = office.curator._home.log
        for times, told in ((2, False), (1, True)):  # of one alone, the other contradicts it
            file.write_text(text.replace("epsilon = 1", f"epsilon = 0.{times}", times))
            office.desk.take_up()
            caps = {one.each.cap.amount for one in office.curator.declared.values()}
            assert caps == {Fraction(1, 5)}
            assert (log.exists() and "share a budget" in log.read_text()) == told


def test_another_hub_is_said_to_wait_for_the_next_start(settings):
    """Seen: the log named everything else that was not taken up."""
    file = settings.file
    hub = '[hub]\napi = "http://127.0.0.1:8081/hub/api"\nservice = "dpnb"\n'
    file.write_text(file.read_text() + hub)
    with contextlib.closing(Office(read_settings(file))) as office:
        log = office.curator._home.log
        office.desk.take_up()
        assert not log.exists()
        file.write_text(file.read_text().replace("8081", "9081"))
        office.desk.take_up()
        assert ": hub changed. This holds from the next start" in log.read_text()


def test_what_an_owner_says_of_a_loosening_is_for_auditors(office):
    """The change is everybody's, the reason is not: it may name anything."""
    ada, eve = office.token(), office.token("eve", "audit")
    handles = [office.told(Open(name="people"), token)["handle"] for token in (ada, eve)]
    first = office.curator.served["people"]
    terms = replace(Terms.of(first.schema, first.known_as), budget=Budget.from_toml({"epsilon": 5}))
    office.curator._ledger.attach(terms, "rows", by="owner", reason="moved to /srv/secret")
    notes = [
        [
            row["note"]
            for row in office.told(Statement(handle=handle), token)["rows"]
            if row["kind"] == "loosen"
        ]
        for handle, token in zip(handles, (ada, eve), strict=True)
    ]
    assert "budget: ε 3 → ε 5" in notes[0][0]
    assert "secret" not in notes[0][0]
    assert "secret" in notes[1][0]


def test_an_owners_fault_keeps_its_reason(office, monkeypatch):
    """A full disk with a path in its text: one sentence for the analyst, the rest in the log."""
    ada = office.token()
    handle = office.told(Open(name="people"), ada)["handle"]

    def full(*_):
        raise OwnerError("/srv/secret/ledger.sqlite3 cannot be written: no space left")

    monkeypatch.setattr(office.curator, "reply", full)
    reply = office.told(Describe(handle=handle), ada)
    assert (reply["code"], "secret" in json.dumps(reply)) == ("owner", False)
    assert "/srv/secret" in office.curator.settings.home.log.read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            ("[datasets.people]", '[datasets.again]\nschema = "people.dpnb.toml"\n[datasets.people]'),
            "are the same dataset in the ledger",
        ),
        (("{ epsilon = 1 }", "{ rho = 1 }"), "must be in ε, like the budget"),
        (
            ("[datasets.people]", '[datasets.other]\nschema = "other.dpnb.toml"\n[datasets.people]'),
            "give both the same each",
        ),
    ],
)
def test_what_two_caps_would_mean_is_told_at_the_start(settings, tmp_path, change, says):
    """Before anybody asks."""
    pooled = (
        (tmp_path / "people.dpnb.toml")
        .read_text()
        .replace('name = "people"', 'name = "people"\npool = "county"')
    )
    (tmp_path / "people.dpnb.toml").write_text(pooled)
    (tmp_path / "other.csv").write_text("age,g\n" + "3,a\n" * 40)
    (tmp_path / "other.dpnb.toml").write_text(
        pooled.replace('"people"', '"other"').replace("people.csv", "other.csv")
    )
    text = (tmp_path / "curator.toml").read_text()
    (tmp_path / "curator.toml").write_text(text.replace(*change))
    with pytest.raises(OwnerError, match=says):
        ServedCurator.of(read_settings(tmp_path / "curator.toml"))
    del settings


# a frozen ledger ---------------------------------------------------------------------------------------------


def test_of_a_frozen_ledger_nobody_is_told_anything(office, monkeypatch):
    """No budget, no entry, no price, whoever asks."""
    tokens = office.token(), office.token("eve", "release", "audit")
    handle = office.told(Open(name="people"), tokens[0])["handle"]
    monkeypatch.setattr(ServedCurator, "frozen", "entry 3 was edited")
    asked = [
        Open(name="people"),
        Describe(handle=handle),
        Statement(handle=handle),
        Peek(handle=handle, plan=b"{}"),
        Submit(handle=handle, request=NONE, digest=NONE, plan=b"{}"),
        Cancel(request=NONE),
    ]
    replies = [office.told(message, token) for token in tokens for message in asked]
    assert {reply["code"] for reply in replies} == {"frozen"}
    assert "entry 3" not in json.dumps(replies)


def test_a_service_does_not_start_on_a_frozen_ledger(office, settings, monkeypatch):
    """Its owner hears the whole of it."""
    office.desk.close()
    monkeypatch.setattr(ServedCurator, "frozen", "entry 3 was edited")
    with pytest.raises(FrozenError, match="entry 3"):
        ServedCurator.of(settings)


# one among many ----------------------------------------------------------------------------------------------


def test_caps_in_a_loop_are_no_entries_in_a_loop(office):
    """The same cap is written once; ten others a minute, and then a sentence."""
    clock = [0.0]
    office.desk._clock = lambda: clock[0]
    data = office.people(office.token())
    before = office.entries()
    for _ in range(9):
        data.session.cap(epsilon="0.5", dataset=data)
    assert office.entries() == before + 1
    data.session.cap(epsilon="0.6", dataset=data)
    with pytest.raises(PlanError, match="10 times within a minute"):
        data.session.cap(epsilon="0.7", dataset=data)
    bob = office.people(office.token("bob"))
    bob.session.cap(epsilon="0.7", dataset=bob)
    clock[0] += 61
    data.session.cap(epsilon="0.7", dataset=data)
    assert office.entries() == before + 4


def test_one_principal_fills_no_pool_of_threads(office):
    """A fourth request beside three is told to come again; another principal's is answered."""
    ada, bob = office.token(), office.token("bob")
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(office.desk._at_once("ada", _OTHERS))
        assert "Several requests of yours" in office.told(Open(name="people"), ada)["message"]
        assert office.told(Open(name="people"), bob)["is"] == "attached"
    assert office.told(Open(name="people"), ada)["is"] == "attached"


def test_cancels_of_one_principal_forget_no_cancel_of_another(office, monkeypatch):
    """Each has a list of their own."""
    monkeypatch.setattr("dpnb.trusted.curator.service._MOST_CANCELLED", 5)
    ada, bob = office.token(), office.token("bob")
    office.told(Cancel(request=NONE), bob)
    for place in range(20):
        office.told(Cancel(request=f"{place:032x}"), ada)
    cancelled = office.curator._cancelled
    assert list(cancelled["bob"]) == [NONE]
    assert len(cancelled["ada"]) == 5


def test_a_cap_needs_the_scope_that_it_limits(office):
    """An auditor's token writes nothing."""
    eve = office.token("eve", "audit")
    handle = office.told(Open(name="people"), eve)["handle"]
    assert office.told(Cap(handle=handle, epsilon="1"), eve)["code"] == "access"
    assert office.told(Cancel(request=NONE), eve)["code"] == "access"


# long answers and statements ---------------------------------------------------------------------------------


def test_a_long_statement_is_told_page_by_page_and_without_the_charges_of_others(office, monkeypatch):
    """Seen: 50,000 charges in one reply took 8.8 s and 386 MB, and those of others were read to whoever had none."""
    ada, bob = office.token(), office.token("bob")
    people, theirs = office.people(ada), office.people(bob)
    for place in range(7):
        people.session.release([people.age.clip(0, 50 + place).sum()], Ask.make(epsilon="0.001"))
    theirs.session.release([theirs.count()], Ask.make(epsilon="0.001"))
    monkeypatch.setattr(service, "MOST_ROWS", 3)
    monkeypatch.setattr(session, "MOST_ROWS", 3)
    read, row_of = [], statement.row_of
    monkeypatch.setattr(
        statement, "row_of", lambda act, *rest, **how: read.append(act[2]) or row_of(act, *rest, **how)
    )
    pages, ask = [], session.Session._rows
    monkeypatch.setattr(session.Session, "_rows", lambda *asked: pages.append(ask(*asked)) or pages[-1])
    assert [row["kind"] for row in theirs.session.ledger_rows(theirs)] == ["attach", "charge"]
    assert (read.count("charge"), len(pages)) == (1, 1)
    assert [row["kind"] for row in people.session.ledger_rows(people)] == ["attach"] + ["charge"] * 7
    assert len(pages) > 2


def test_nobody_waits_while_a_receipt_or_a_statement_is_read(office, monkeypatch):
    """Seen: the receipt of an answer of 19 MB, 75 bytes to ask for, kept every charge waiting for seconds, free."""
    people = office.people(office.token())
    report = people.session.release([people.count()], Ask.make(epsilon="0.1"))
    entry = report.measurements[0].releases[0].entry
    ledger, slow = office.curator._ledger, threading.Event()
    waiting = threading.Event()

    def read(*asked, **how):
        waiting.set()
        assert slow.wait(30)
        return reads(*asked, **how)

    for module, name, asked in (
        (service, "signed_receipt", lambda: people.session.receipt(people, entry)),
        (statement, "rows_of", lambda: people.session.ledger_rows(people)),
    ):
        reads = getattr(module, name)
        monkeypatch.setattr(module, name, read)
        beside = threading.Thread(target=asked)
        beside.start()
        assert waiting.wait(30)
        free = ledger._lock.acquire(timeout=20)
        if free:
            ledger._lock.release()
        slow.set()
        beside.join()
        assert free
        monkeypatch.undo()
        slow.clear()
        waiting.clear()
