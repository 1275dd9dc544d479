"""The ledger never overspends, never refunds, never forgets, and says so when its file is not what it was."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpnb.client.remedies import option_that_fits
from dpnb.errors import BudgetError, CuratorError, FrozenError, LossError, OwnerError, RequestReused
from dpnb.trusted.curator import answer_store
from dpnb.trusted.curator import ledger as ledger_module
from dpnb.trusted.curator.admission import Limit
from dpnb.trusted.curator.answer_store import packed
from dpnb.trusted.curator.audit_trail import examine
from dpnb.trusted.curator.chain import GENESIS, link
from dpnb.trusted.curator.database import aside
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.meters import doubled
from dpnb.trusted.curator.terms import Terms, compare
from dpnb.trusted.owner import act_entries
from dpnb.trusted.privacy.accountant import Budget, compose
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.charges import charge_of
from tests.curator.test_failpoints import in_child
from tests.examples import examples

GOLDEN = Path(__file__).parents[1] / "golden" / "ledger"
ROOT = Path(__file__).parents[2]
POOL = "dataset:people"
AGE = {"name": "age", "type": "integer", "missing": "drop", "lower": "0", "upper": "100", "step": "1"}
SEX = {"name": "sex", "type": "category", "missing": "drop", "values": [0, 1]}


def pure(*amounts):
    """One question for each amount."""
    return [
        charge_of(f"key{i}", [f"people.q{i}()"], [PrivacyEvent("pure", Fraction(a))])
        for i, a in enumerate(amounts)
    ]


def charge(ledger, request="r1", questions=None, cap="1", **facts):
    given_facts = {
        "principal": "ann",
        "digest": f"digest of {request}",
        "pool": POOL,
        "dataset": "people",
        "data_version": "v1",
        "schema_version": "s1",
        "mechanism_version": "m1",
        "time": "2026-01-01T00:00:00+00:00",
        **facts,
    }
    cap = cap if isinstance(cap, PrivacyLoss) else PrivacyLoss.pure(cap)
    questions = pure("0.1") if questions is None else questions
    return ledger.charge(request_id=request, cap=cap, questions=questions, **given_facts)


def terms(**changes):
    facts = {
        "dataset": "people",
        "pool": POOL,
        "unit": PrivacyUnit("add-remove"),
        "budget": Budget.from_toml({"epsilon": 4}),
        "mode": "guard-rail",
        "columns": {"age": AGE, "sex": SEX},
        "public": False,
    }
    return Terms(**{**facts, **changes})


# -------------------------------------------------------------------- charges


def test_ten_charges_of_a_tenth_fit_a_budget_of_one_and_the_next_unit_does_not(ledger):
    for i in range(10):
        row = charge(ledger, f"r{i}")
    assert row.spent_after == PrivacyLoss.pure(1)
    with pytest.raises(BudgetError):
        charge(ledger, "r10", pure("1e-9"))
    assert ledger.spent(POOL) == PrivacyLoss.pure(1)


def test_a_refusal_carries_the_exact_figures_and_changes_nothing(ledger):
    charge(ledger, questions=pure("3.6"), cap=4)
    head = ledger.verify()
    with pytest.raises(BudgetError) as refusal:
        charge(ledger, "r2", pure(*["0.2"] * 5), cap=4)
    assert refusal.value.message == ("This cell asks for ε 1; 0.4 is left of 4. Nothing was spent.")
    facts = {name: refusal.value.details[name] for name in ("asked", "left", "cap")}
    assert facts == {"asked": "1", "left": "0.4", "cap": "4"}
    assert ledger.verify() == head


@pytest.mark.parametrize("share", ["1/3", "0.333333333"])
@pytest.mark.parametrize(
    ("cap", "kind"),
    [(PrivacyLoss.pure(1), "pure"), (PrivacyLoss.zcdp("0.1"), "pure"), (PrivacyLoss.zcdp(1), "gaussian")],
)
def test_the_loss_that_fits_what_is_left_is_admitted(ledger, cap, kind, share):
    def ask(total):
        return [
            charge_of(f"k{i}", ["q"], [PrivacyEvent(kind, total * Fraction(w))])
            for i, w in enumerate((share, "0.5"))
        ]

    charge(ledger, "r1", ask(Fraction(3, 10)), cap=cap)
    with pytest.raises(BudgetError):
        charge(ledger, "r2", ask(Fraction(2)), cap=cap)
    events = [event for question in ask(Fraction(2)) for event in question.events]
    name, value = option_that_fits(ledger.room(POOL, "ann", cap).left, events)
    assert name == ("rho" if kind == "gaussian" else "epsilon")
    scale = value / (Fraction(share) + Fraction(1, 2))
    assert charge(ledger, "r3", ask(scale), cap=cap).new


def test_nothing_left_proposes_no_loss_to_type(ledger):
    charge(ledger, questions=pure(1))
    with pytest.raises(BudgetError, match=r"0 is left of 1\. Nothing was spent"):
        charge(ledger, "r2")
    assert option_that_fits(ledger.room(POOL, "ann", PrivacyLoss.pure(1)).left, pure(1)[0].events) is None


def test_the_same_request_is_charged_once_and_reads_the_same_row(ledger):
    """Also where nothing is left for a second one."""
    first, again = charge(ledger, questions=pure(1)), charge(ledger, questions=pure(1))
    assert (first.new, again.new) == (True, False)
    assert (again.entry, again.loss, again.spent_after) == (first.entry, first.loss, first.spent_after)
    assert ledger.spent(POOL) == PrivacyLoss.pure(1)


@pytest.mark.parametrize("other", [{"digest": "another plan"}, {"principal": "bob"}])
def test_a_request_id_is_bound_to_its_principal_and_plan(ledger, other):
    charge(ledger)
    with pytest.raises(RequestReused):
        charge(ledger, **other)
    assert ledger.spent(POOL) == PrivacyLoss.pure("0.1")


def test_pools_join_datasets_in_one_budget_and_other_pools_stay_apart(ledger):
    charge(ledger, "r1", pure("0.6"), pool="pool:county", dataset="people")
    with pytest.raises(BudgetError):
        charge(ledger, "r2", pure("0.6"), pool="pool:county", dataset="schools")
    assert charge(ledger, "r3", pure("0.6"), pool="dataset:schools", dataset="schools").new


def test_the_budget_pinned_at_attach_holds_whatever_cap_is_passed(ledger):
    ledger.attach(terms(budget=Budget.from_toml({"epsilon": 1})), "content")
    with pytest.raises(BudgetError, match=r"1 is left of 1\."):
        charge(ledger, questions=pure(2), cap=100)


def test_caps_limit_a_principal_and_not_the_others(ledger):
    charge(ledger, "r1", pure("0.3"), cap=4, caps=[Limit("the students' cap of ", PrivacyLoss.pure("0.5"))])
    with pytest.raises(BudgetError, match=r"0\.2 is left of the students' cap of 0\.5"):
        charge(
            ledger, "r2", pure("0.3"), cap=4, caps=[Limit("the students' cap of ", PrivacyLoss.pure("0.5"))]
        )
    assert charge(ledger, "r3", pure("0.3"), cap=4, principal="bob").new


def test_a_principals_own_cap_is_recorded_and_can_be_lifted(ledger):
    ledger.set_cap("ann", POOL, PrivacyLoss.pure("0.15"))
    assert ledger.cap("ann", POOL) == PrivacyLoss.pure("0.15")
    charge(ledger, "r1", cap=4)
    with pytest.raises(BudgetError, match=r"0\.05 is left of your own cap of 0\.15"):
        charge(ledger, "r2", cap=4)
    ledger.set_cap("ann", POOL, None)
    assert charge(ledger, "r3", cap=4).new
    assert ledger.verify().intact


def test_a_cap_of_another_measure_is_refused(ledger):
    charge(ledger)
    with pytest.raises(LossError, match="another measure"):
        ledger.set_cap("ann", POOL, PrivacyLoss.zcdp(1))


def test_an_event_that_the_budget_cannot_hold_is_refused_before_anything_is_written(ledger):
    with pytest.raises(LossError, match=r"\[budget\] rho"):
        charge(ledger, questions=[charge_of("k", ["q"], [PrivacyEvent("gaussian", Fraction(1, 2))])])
    assert ledger.verify().entries == 1


def test_a_batch_that_costs_nothing_is_recorded_and_costs_nothing(ledger):
    row = charge(ledger, questions=[charge_of("k", ["people.count()"], [])])
    assert row.new
    assert not row.spent_after


@given(
    st.lists(st.fractions(Fraction(1, 10**9), 2, max_denominator=10**9), min_size=1, max_size=12),
    st.sampled_from([PrivacyLoss.pure(3), PrivacyLoss.zcdp("0.7"), PrivacyLoss.approx("0.7", "1e-6")]),
)
@settings(max_examples=examples(25))
def test_whatever_is_asked_the_cap_holds_and_every_refusal_was_necessary(tmp_path_factory, amounts, cap):
    with Ledger(tmp_path_factory.mktemp("l") / "l") as ledger:
        spent = PrivacyLoss.zero(cap.measure)
        for i, amount in enumerate(amounts):
            asked = PrivacyEvent("pure", amount).loss(cap.measure)
            fits = (spent + asked).bounded().fits_in(cap)
            try:
                charge(ledger, f"r{i}", pure(amount), cap=cap)
            except BudgetError:
                assert not fits
            else:
                assert fits
                spent = (spent + asked).bounded()
        assert not spent or ledger.spent(POOL) == spent
        assert ledger.verify().intact


def test_threads_of_one_ledger_never_overspend(ledger):
    won = []

    def run(name):
        for i in range(15):
            try:
                won.append(charge(ledger, f"{name}-{i}", pure("0.05")).entry)
            except BudgetError:
                return

    threads = [threading.Thread(target=run, args=(name,)) for name in "abcd"]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(won) == len(set(won)) == 20
    assert ledger.spent(POOL) == PrivacyLoss.pure(1)


RACER = """
import sys
from fractions import Fraction
from dpnb.trusted.curator.admission import Limit
from tests.contracts.charges import charge_of
from dpnb.trusted.curator.ledger import Ledger
from dpnb.errors import BudgetError
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
path, name, tries, unit = sys.argv[1:]
won = 0
with Ledger(path, wait=60) as ledger:
    for i in range(int(tries)):
        try:
            won += ledger.charge(
                request_id=f"{name}-{i}", principal=name, digest="d", pool="dataset:people", dataset="people",
                data_version="v", cap=PrivacyLoss.pure(1),
                questions=[charge_of("k", ["q"], [PrivacyEvent("pure", Fraction(unit))])],
            ).new
        except BudgetError:
            pass
print(won)
"""


def race(path, tries, unit):
    command = [sys.executable, "-c", RACER, str(path)]
    racers = [
        subprocess.Popen([*command, name, str(tries), unit], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        for name in ("ann", "bob", "cleo", "dan")
    ]
    won = [int(racer.communicate(timeout=300)[0]) for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * 4
    with Ledger(path) as ledger:
        assert ledger.verify().intact
        return sum(won), ledger.spent(POOL)


def test_four_racing_processes_spend_the_budget_to_the_last_unit_and_not_one_more(path):
    """The four also race to make the file: one ledger comes of it."""
    assert race(path, 40, "0.01") == (100, PrivacyLoss.pure(1))


def test_a_ledger_that_another_makes_and_opens_while_one_looks_for_it_is_no_missing_one(path, monkeypatch):
    """Its journal came after the look at the ledger: it is no trace of one that was there before."""
    exists, others = Path.exists, []

    def look(place):
        there = exists(place)
        if place == path and not others:
            others.append(None)
            others.append(Ledger(path))
        return there

    monkeypatch.setattr(Path, "exists", look)
    with Ledger(path) as ledger:
        assert len(others) == 2
        assert ledger.frozen is None
        charge(ledger)
    others[1].close()


@pytest.mark.soak
@pytest.mark.parametrize("round_", range(10))
def test_four_racing_processes_never_overspend_in_the_long_run(path, round_):
    assert race(path, 1000, "0.0007") == (1428, PrivacyLoss.pure(Fraction(7 * 1428, 10000)))


# ---------------------------------------------------------------------- store


def test_the_first_writer_of_an_answer_wins_and_every_later_one_reads_it(ledger):
    charge(ledger)
    assert ledger.answers("r1", "ann") is best(ledger) is None
    assert ledger.store("r1", "ann", [{"value": [1]}]) == [{"value": [1]}]
    assert ledger.store("r1", "ann", [{"value": [2]}]) == [{"value": [1]}]
    assert ledger.answers("r1", "ann") == [{"value": [1]}]
    assert ledger.verify().intact


def test_a_charged_request_tells_its_principal_which_questions_it_paid_for(ledger):
    assert ledger.charged("r1", "ann") is None
    charge(ledger, "r1", pure("0.1", "0.2"))
    assert ledger.charged("r1", "ann") == ("key0", "key1")
    assert ledger.charged("r1", "bob") is None


@pytest.mark.parametrize("store", [None, "a group"])
def test_an_answer_is_stored_alike_whether_its_charge_is_remembered_or_read_again(
    tmp_path, monkeypatch, store
):
    """What is remembered is what the entry says, and only so much: of three charges, one at most."""
    monkeypatch.setattr("dpnb.trusted.curator.ledger._MOST_CHARGES", 1)
    requests = ("r1", "r2", "r3")

    def stored(name, reopened):
        with Ledger(tmp_path / name) as ledger:
            for request in requests:
                charge(ledger, request, store=store)
            assert len(ledger._charges) == 1
            for request in () if reopened else requests:
                ledger.store(request, "ann", [{"value": [1]}])
        with Ledger(tmp_path / name) as ledger:
            for request in requests if reopened else ():
                ledger.store(request, "ann", [{"value": [1]}])
            with ledger.reading() as db:
                return db.execute("SELECT * FROM stored ORDER BY entry").fetchall()

    assert stored("one", reopened=False) == stored("other", reopened=True)


def test_two_processes_that_answer_one_request_send_one_answer(path):
    with Ledger(path) as one, Ledger(path) as two:
        charge(one)
        assert not charge(two).new
        assert (
            two.store("r1", "ann", [{"value": [7]}])
            == one.store("r1", "ann", [{"value": [8]}])
            == [{"value": [7]}]
        )


def test_no_answer_is_stored_without_a_charge_or_for_other_questions(ledger):
    with pytest.raises(CuratorError, match="without a charge"):
        ledger.store("r1", "ann", [{}])
    charge(ledger)
    with pytest.raises(CuratorError, match="without a charge"):
        ledger.store("r1", "bob", [{}])
    with pytest.raises(CuratorError, match="do not match"):
        ledger.store("r1", "ann", [{}, {}])
    assert ledger.answers("r1", "ann") is None


def test_answers_belong_to_their_principal(ledger):
    charge(ledger)
    ledger.store("r1", "ann", [answer(1)])
    assert ledger.answers("r1", "bob") is None
    assert best(ledger) == 1
    assert best(ledger, principal="bob") is None


def best(ledger, asked="0.1", again=(), measured="key0", **scope):
    facts = {
        "principal": "ann",
        "data_version": "v1",
        "schema_version": "s1",
        "mechanism_version": "m1",
        **scope,
    }
    (found,) = ledger.best_stored(**facts, wanted=[(measured, PrivacyLoss.pure(asked))], again=again)
    return None if found is None else ledger.stored([found])[0]["id"]


def answer(i, **more):
    """A stored answer of one draw, which has the number of its request."""
    return {"id": i, "parts": [{"draw": i}], **more}


def published(ledger, draws, dataset="people"):
    act = act_entries.Act("owner", "why", "2026-01-01T00:00:00+00:00")
    return ledger.act(lambda db: act_entries.publish(db, dataset, "0" * 64, draws, act))


def test_what_is_published_is_everybodys_and_ones_own_comes_first(ledger):
    """Of the draws that are named, of this dataset alone; a published answer serves where one's own costs too little."""
    ledger.attach(terms(), "content")
    for i, (who, amount) in enumerate([("ann", "0.2"), ("ann", "0.3"), ("bob", "0.1")]):
        charge(ledger, f"r{i}", pure(amount), cap=9, principal=who)
        ledger.store(f"r{i}", who, [answer(i)])
    assert best(ledger, principal="eve") is None
    published(ledger, [0])
    assert [best(ledger, asked, principal="eve") for asked in ("0.1", "0.2", "0.3")] == [0, 0, 0]
    assert [best(ledger, asked, principal="bob") for asked in ("0.1", "0.2", "0.3")] == [2, 0, 0]
    assert [best(ledger, asked) for asked in ("0.1", "0.3")] == [0, 1]
    assert best(ledger, again=[0], principal="eve") is None
    assert best(ledger, principal="eve", data_version="v2") is None
    ledger.attach(terms(dataset="others", pool="dataset:others"), "other")
    published(ledger, [1], "others")
    assert best(ledger, "0.3", principal="eve") == 0
    assert ledger.verify().intact


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE stored SET answer = zeroblob(9) WHERE charge <> entry - 1",
        "UPDATE stored SET address = 'x' WHERE charge <> entry - 1",
        "DELETE FROM stored WHERE charge <> entry - 1",
        "UPDATE stored SET draws = '[]' WHERE charge <> entry - 1",
        "INSERT INTO stored SELECT entry, 7, address, charge, question, draws, answer FROM stored WHERE charge <> entry - 1",
        "UPDATE entries SET body = replace(body, '\"answers\":[[', '\"answers\":[[9') WHERE kind = 'publish'",
    ],
)
def test_a_forged_publication_does_not_verify(path, forgery):
    with Ledger(path) as ledger:
        ledger.attach(terms(), "content")
        charge(ledger, "r1")
        ledger.store("r1", "ann", [answer(1)])
        published(ledger, [1])
        assert ledger.verify().intact
    forge(path, forgery)
    with Ledger(path) as ledger:
        assert not ledger.verify().intact


def test_a_row_of_the_store_that_is_missing_is_damage(path):
    """Seen: it was looked up, read as nothing, and the release ended in a StopIteration; nothing was examined."""
    with Ledger(path) as ledger:
        charge(ledger)
        ledger.store("r1", "ann", [answer(1)])
        found = ledger.best_stored("ann", "v1", "s1", "m1", [("key0", PrivacyLoss.pure("0.1"))])
        assert ledger.stored(found) == [answer(1)]
        forge(path, "DELETE FROM stored")
        with pytest.raises(OwnerError, match="dpnb restore"):
            ledger.stored(found)
        assert "stored" in ledger.frozen


@pytest.mark.parametrize(
    "more", [{"after": b"x"}, {"cut": -1}, {"most": 9}], ids=lambda more: next(iter(more))
)
def test_what_is_no_one_packed_answer_of_a_bounded_length_is_not_read(more, monkeypatch):
    """Neither what follows it nor what it unpacks to is taken on trust, when the answer's hash is still to be looked at."""
    *_, stored = packed({"value": [3]})
    assert answer_store.unpacked(stored) == b'{"value":[3]}'
    monkeypatch.setattr(answer_store, "MAX_REPLY", more.get("most", answer_store.MAX_REPLY))
    with pytest.raises(ValueError, match="stored answer"):
        answer_store.unpacked(stored[: more.get("cut")] + more.get("after", b""))


def long_answer(size=20_000, scale=10**8):
    """An answer of many numbers, noised at an ε of 10⁻⁸."""
    draw = random.Random(1)
    noise = [round(scale * math.log(draw.random()) * draw.choice((-1, 1))) for _ in range(size)]
    return answer(0, values=noise)


def test_noised_numbers_are_stored_in_half_the_bytes_that_they_are_written_in(ledger):
    """Seen: 12 charges of 1.5 kB added 241 MB, ten bytes for each number of eight digits, for good."""
    charge(ledger)
    long = long_answer()
    assert ledger.store("r1", "ann", [long]) == ledger.answers("r1", "ann") == [long]
    with ledger.reading() as db:
        (size,) = db.execute("SELECT sum(length(CAST(answer AS BLOB))) FROM stored").fetchone()
    assert size < 5.3 * 20_000 < len(json.dumps(long)) * 0.55


def test_no_charge_waits_while_a_stored_answer_is_read(ledger, monkeypatch):
    """Seen: three connections that looked at the price of an answer of 19 MB, free, took an honest release from 5 ms to 4.2 s."""
    charge(ledger)
    ledger.store("r1", "ann", [long_answer()])
    read = []

    def loads(text):
        if len(text) > 50_000:
            assert not ledger._lock._is_owned()
            read.append(text)
        return json.loads(text)

    monkeypatch.setattr(answer_store, "json", SimpleNamespace(loads=loads))
    (found,) = ledger.best_stored("ann", "v1", "s1", "m1", [("key0", PrivacyLoss.pure("0.1"))], again=[7])
    assert not read
    assert [one["id"] for one in ledger.stored([found])] == [0]
    assert ledger.answers("r1", "ann") == [long_answer()]
    assert len(read) == 2


def test_the_oldest_stored_answer_that_is_enough_serves_or_else_the_dearest(ledger):
    for i, amount in enumerate(["0.2", "0.1", "0.3", "0.2", "0.1"]):
        charge(ledger, f"r{i}", pure(amount), cap=9)
        ledger.store(f"r{i}", "ann", [answer(i)])
    asked = ("0.05", "0.1", "0.15", "0.2", "0.3", "0.4")
    assert [best(ledger, amount) for amount in asked] == [0, 0, 0, 0, 2, 2]
    assert [best(ledger, "0.1", range(held)) for held in range(1, 6)] == [1, 2, 3, 4, None]
    assert [best(ledger, "0.15", held) for held in ([0], [0, 3], [0, 2, 3])] == [2, 2, 1]
    (found,) = ledger.best_stored("ann", "v1", "s1", "m1", [("key0", PrivacyLoss.pure("0.3"))])
    assert (found.loss, found.entry) == (PrivacyLoss.pure("0.3"), 6)
    assert found.paid == {"events": [PrivacyEvent("pure", Fraction(3, 10)).to_json()], "share": {}}


def test_equal_losses_of_different_shares_serve_the_oldest(ledger):
    """What was asked as another share, and cost the same, is the same question to the store."""
    for i, share in enumerate(["1/3", "1/5", "1/7"]):
        one = charge_of(
            "key0", ["q"], [PrivacyEvent("pure", Fraction("0.2"))], {"kind": "epsilon", "share": share}
        )
        charge(ledger, f"r{i}", [one], cap=9)
        ledger.store(f"r{i}", "ann", [answer(i)])
    assert [best(ledger, "0.2", range(held)) for held in range(4)] == [0, 1, 2, None]


def test_a_question_that_was_bought_a_thousand_times_is_looked_up_as_fast_as_one(ledger):
    """Counted in SQLite's own steps and in answers read: neither grows with what was bought afresh."""
    counted = []
    for start, end in ((0, 2), (2, 400)):
        for i in range(start, end):
            charge(ledger, f"r{i}", pure("0.3" if i % 2 else "0.2"), cap=999)
            ledger.store(f"r{i}", "ann", [answer(i, values=[0] * 1000)])
        counted.append(work(ledger, lambda: best(ledger, "0.3")))
    (few, read), (many, read_later) = counted
    assert read == read_later == 1
    assert many <= few + 50


def test_a_question_that_was_put_in_many_ways_is_looked_up_one_after_the_other(ledger, monkeypatch):
    """Seen: after 4,000 charges of 0.4 kB in 4,000 wordings each look at the price took 2 s, under the ledger's lock."""
    for i in range(20):
        one = charge_of("key0", [f"wording {i}"], [PrivacyEvent("pure", Fraction("0.2"))])
        charge(ledger, f"r{i}", [one], cap=9)
        ledger.store(f"r{i}", "ann", [answer(i)])
    read = []
    monkeypatch.setattr(answer_store, "compose", lambda *given: read.append(given) or compose(*given))
    answer_store._composed.cache_clear()
    assert [best(ledger, "0.2"), best(ledger, "0.3", range(7))] == [0, 7]
    assert len(read) == 1


def work(ledger, look):
    """Return the steps of SQLite's machine that a look-up takes, and how many answers it reads."""
    steps, read = [], []
    with ledger.reading() as db:
        db.set_progress_handler(lambda: steps.append(1), 1)
        db.set_trace_callback(lambda text: read.append(text) if text.startswith("SELECT answer ") else None)
        try:
            assert look() == 1
        finally:
            db.set_progress_handler(None, 1)
            db.set_trace_callback(None)
    return len(steps), len(read)


@pytest.mark.parametrize("part", range(5))
def test_a_stored_answer_serves_only_its_exact_key(ledger, part):
    charge(ledger)
    ledger.store("r1", "ann", [answer(1)])
    key = ["ann", "v1", "s1", "m1", "key0"]
    found = []
    for end in ("", " "):
        key[part] += end
        found += ledger.best_stored(*key[:4], [(key[4], PrivacyLoss.pure("0.1"))])
    assert found[0] is not None
    assert found[1] is None


def test_numbers_of_any_size_come_back_from_the_store_as_they_went_in(ledger):
    charge(ledger)
    answer = {"values": [2**200, -(2**70), 0], "text": "é ε ☃"}
    assert ledger.store("r1", "ann", [answer]) == [answer]


# ----------------------------------------------------------------------- pins


def test_the_first_attach_pins_and_the_next_finds_the_same(ledger):
    first, again = ledger.attach(terms(), "content"), ledger.attach(terms(), "content")
    assert (first.first, again.first) == (True, False)
    assert (first.version, first.entry) == (again.version, again.entry)
    assert ledger.pins("people") == terms()


TIGHTER = [
    {"budget": Budget.from_toml({"epsilon": 2})},
    {"mode": "enforced"},
    {"columns": {"age": {**AGE, "lower": "10", "upper": "90", "step": "2"}, "sex": SEX}},
    {"columns": {"age": AGE}},
    {"columns": {"age": AGE, "sex": {**SEX, "values": [1]}}},
]
LOOSER = [
    {"budget": Budget.from_toml({"epsilon": 5})},
    {"budget": Budget.from_toml({"rho": "0.5"})},
    {"unit": PrivacyUnit("change-one", rows=10)},
    {"unit": PrivacyUnit("add-remove", unit="sex", max_rows=2)},
    {"pool": "pool:county"},
    {"public": True},
    {"public": True, "mode": "teaching"},
    {"columns": {"age": {**AGE, "lower": "-1"}, "sex": SEX}},
    {"columns": {"age": {**AGE, "upper": "101"}, "sex": SEX}},
    {"columns": {"age": {**AGE, "step": "0.5"}, "sex": SEX}},
    {"columns": {"age": {**AGE, "missing": {"constant": "0"}}, "sex": SEX}},
    {"columns": {"age": AGE, "sex": {**SEX, "values": [0, 1, 2]}}},
    {"columns": {"age": AGE, "sex": {**SEX, "values": [False, True]}}},
    {"columns": {"age": AGE, "sex": SEX, "pay": AGE}},
]


@pytest.mark.parametrize("change", TIGHTER, ids=str)
def test_tightening_is_an_event_and_its_own_undoing_a_loosening(ledger, change):
    ledger.attach(terms(), "content")
    charge(ledger)
    ledger.attach(terms(**change), "content")
    assert ledger.pins("people") == terms(**change)
    assert [row.kind for row in ledger.statement("people")] == ["attach", "charge", "tighten"]
    with pytest.raises(OwnerError, match="was pinned as"):
        ledger.attach(terms(), "content")
    assert ledger.verify().intact


@pytest.mark.parametrize("change", LOOSER, ids=str)
def test_loosening_is_refused_at_attach_and_names_both_values(ledger, change):
    ledger.attach(terms(), "content")
    charge(ledger)
    with pytest.raises(OwnerError) as refusal:
        ledger.attach(terms(**change), "content")
    first = compare(terms(), terms(**change))[0]
    text = str(refusal.value)
    kept = terms(**change).unit.unit != "row" or terms(**change).budget.measure is not terms().budget.measure
    if kept or change.get("mode"):  # no act allows it, and none is named
        assert ("TEACHING" if change.get("mode") else "keeps its") in text
        assert "loosen" not in text
    else:
        assert first.pinned in text
        assert first.now in text
    assert ledger.pins("people") == terms()


@pytest.mark.parametrize("change", [c for c in LOOSER if "mode" not in c], ids=str)
def test_an_owner_may_loosen_by_a_recorded_act_holding_both_values(ledger, change):
    ledger.attach(terms(), "content")
    with pytest.raises(OwnerError, match="reason"):
        ledger.attach(terms(**change), "content", by="owner", reason=" ")
    ledger.attach(terms(**change), "content", by="owner", reason="a new consent form")
    row = ledger.statement()[-1]
    change_made = compare(terms(), terms(**change))[0]
    assert row.kind == "loosen"
    assert "a new consent form" in row.note
    assert f"{change_made.pinned} → {change_made.now}" in row.note
    assert ledger.verify().intact


def test_content_once_protected_never_opens_as_teaching_under_any_name_or_act(ledger):
    ledger.attach(terms(), "content")
    teaching = terms(dataset="copy", pool="dataset:copy", mode="teaching", public=True)
    with pytest.raises(OwnerError, match="never open as TEACHING"):
        ledger.attach(teaching, "content")
    with pytest.raises(OwnerError, match="never open as TEACHING"):
        ledger.attach(teaching, "content", by="owner", reason="it is only a copy")
    assert ledger.attach(teaching, "other content").first


def test_nothing_at_a_protected_name_or_place_opens_as_teaching(ledger):
    """Whatever its content is, under whichever form of the name, and by no act; other content there may be protected."""
    ledger.attach(terms(), "content", ["mark"], ["here"])
    for name, places in (("people", ()), ("people@add-remove", ()), ("other", ("here",))):
        teaching = terms(dataset=name, pool=f"dataset:{name}", mode="teaching", public=True)
        with pytest.raises(OwnerError, match="opens as TEACHING"):
            ledger.attach(teaching, "new", ["new"], places)
        with pytest.raises(OwnerError, match="opens as TEACHING"):
            ledger.attach(teaching, "new", ["new"], places, by="owner", reason="it is another file")
    other = terms(dataset="other", pool="dataset:other")
    assert ledger.attach(other, "new", ["new"], ["here"]).first
    assert ledger.attach(terms(), "content", ["mark"], ["there"]).version
    free = terms(dataset="peop", pool="dataset:peop", mode="teaching", public=True)
    assert ledger.attach(free, "free", ["free"], ["elsewhere"]).first
    with pytest.raises(OwnerError, match="opens as TEACHING"):
        ledger.attach(free, "free", ["free"], ["there"])
    assert ledger.verify().intact


def test_a_shared_path_is_no_word_of_the_owners(ledger):
    """Two datasets that lay at one path one after the other still have no budget of each other's rows."""
    twin = terms(dataset="twin", pool="dataset:twin")
    ledger.attach(terms(), "content", ["mark"], ["here"])
    ledger.attach(twin, "other", ["other"], ["here"])
    with pytest.raises(OwnerError, match="attached before as protected"):
        ledger.attach(twin, "content", ["mark"], ["here"])


def test_public_content_may_be_shown_guarded_and_still_be_taught_with(ledger):
    ledger.attach(
        terms(mode="guard-rail", public=True, dataset="hiv@guard-rail", pool="dataset:hiv@guard-rail"), "hiv"
    )
    assert ledger.attach(terms(mode="teaching", public=True, dataset="hiv", pool="dataset:hiv"), "hiv").first


def test_content_taught_with_and_then_protected_is_protected_for_good(ledger):
    ledger.attach(terms(mode="teaching", public=True), "content")
    version = ledger.attach(terms(), "content").version
    assert ledger.attach(terms(), "content").version == version
    with pytest.raises(OwnerError, match="opens as TEACHING"):
        ledger.attach(terms(mode="teaching", public=True), "content", by="owner", reason="please")


def test_a_budget_with_charges_keeps_its_measure_even_when_loosened(ledger):
    ledger.attach(terms(), "content")
    charge(ledger)
    with pytest.raises(OwnerError, match="keeps its measure"):
        ledger.attach(
            terms(budget=Budget.from_toml({"rho": 9})), "content", by="owner", reason="zCDP is nicer"
        )


TEXT_BUDGET = Budget.from_toml({"epsilon": 4, "delta": "1e-6"})
OTHER_TERMS = {
    "a measure": {"budget": TEXT_BUDGET},
    "a budget": {"budget": Budget.from_toml({"epsilon": 9})},
    "a unit": {"unit": PrivacyUnit("add-remove", unit="sex", max_rows=2)},
    "an adjacency": {"unit": PrivacyUnit("change-one", rows=4)},
    "a pool": {"pool": "pool:county"},
    "a name": {"dataset": "census", "pool": "dataset:census"},
    "a name to teach with": {
        "dataset": "census",
        "pool": "dataset:census",
        "mode": "teaching",
        "public": True,
    },
    "the mode": {"mode": "teaching", "public": True},
}


@pytest.mark.parametrize("paid", [False, True])
@pytest.mark.parametrize("other", OTHER_TERMS.values(), ids=OTHER_TERMS)
def test_what_an_opening_says_to_type_is_accepted(ledger, other, paid):
    """Seen: adding δ after a charge was told `dpnb loosen`, which answered that a budget with charges keeps its measure."""
    ledger.attach(terms(), "content")
    if paid:
        charge(ledger)
    try:
        ledger.attach(terms(**other), "content")
    except OwnerError as refused:
        if "dpnb loosen" in str(refused):
            ledger.attach(terms(**other), "content", by="owner", reason="as it says")
        else:
            with pytest.raises(OwnerError):
                ledger.attach(terms(**other), "content", by="owner", reason="as it does not say")


def test_a_second_dataset_of_a_pool_meets_the_pools_budget(ledger):
    ledger.attach(terms(pool="pool:county"), "content")
    joining = {"dataset": "schools", "pool": "pool:county"}
    with pytest.raises(OwnerError, match="budget was pinned as ε 4 and is now ε 5"):
        ledger.attach(terms(**joining, budget=Budget.from_toml({"epsilon": 5})), "other")
    assert ledger.attach(terms(**joining), "other").first


def test_a_data_version_is_random_stable_and_no_hash_of_the_content_is_kept(path, tmp_path):
    import hashlib

    fingerprint = hashlib.sha256(b"rows").hexdigest()
    with Ledger(path) as ledger, Ledger(tmp_path / "other") as other:
        version = ledger.attach(terms(), fingerprint).version
        assert ledger.attach(terms(), fingerprint).version == version
        assert ledger.attach(terms(), "new content").version != version
        assert ledger.attach(terms(), fingerprint).version == version
        assert other.attach(terms(), fingerprint).version != version
    assert fingerprint.encode() not in path.read_bytes()
    assert bytes.fromhex(fingerprint) not in path.read_bytes()


def test_two_names_of_one_content_have_versions_of_their_own(ledger):
    twin = terms(dataset="twin", pool="dataset:twin")
    first = ledger.attach(terms(), "content")
    assert first.version != ledger.attach(twin, "content", by="ada", reason="two surveys").version
    assert ledger.attach(twin, "content").entry


@pytest.mark.parametrize("change", [c for c in LOOSER if not {"mode", "pool", "public"} & set(c)], ids=str)
def test_until_something_was_paid_a_typing_error_is_corrected_and_the_correction_recorded(ledger, change):
    ledger.attach(terms(), "content")
    ledger.attach(terms(**change), "content")
    assert ledger.pins("people") == terms(**change)
    assert [row.kind for row in ledger.statement("people")] == ["attach", "correct"]
    assert ledger.verify().intact


def test_that_bounds_were_seen_on_the_data_is_recorded_and_stays(ledger):
    ledger.attach(terms(), "content")
    ledger.attach(terms(seen=True), "content")
    now = "made without a look at the data → made after a look at the data"
    assert f"choice of bounds: {now}" in ledger.statement("people")[-1].note
    with pytest.raises(OwnerError, match="choice of bounds was pinned as made after a look at the data"):
        ledger.attach(terms(), "content")


@pytest.mark.parametrize("change", [{"pool": "pool:county"}, {"public": True}], ids=str)
def test_pool_and_protection_hold_from_the_first_opening(ledger, change):
    ledger.attach(terms(), "content")
    with pytest.raises(OwnerError, match="was pinned as"):
        ledger.attach(terms(**change), "content")


def test_known_rows_get_no_second_budget_and_the_attempt_is_recorded_without_a_pin(ledger):
    ledger.attach(terms(), "state", ["rows", "column"])
    twin = terms(dataset="twin", pool="dataset:twin")
    for marks in (["rows"], ["column", "other"]):
        with pytest.raises(OwnerError) as refusal:
            ledger.attach(twin, "another state", marks, by="ann")
        assert "people" not in str(refusal.value)
        assert "dpnb loosen twin.dpnb.toml" in str(refusal.value)
    assert ledger.pins("twin") is None
    assert [row.kind for row in ledger.statement()] == ["attach"]
    assert ledger.verify().intact
    with ledger.reading() as db:
        acts = db.execute("SELECT body FROM entries WHERE kind = 'refuse'").fetchall()
    assert [json.loads(act[0])["by"] for act in acts] == ["ann", "ann"]
    assert ledger.attach(twin, "another state", ["unknown"]).first


def test_known_rows_may_share_their_budget(ledger):
    ledger.attach(terms(pool="pool:county"), "content")
    assert ledger.attach(terms(dataset="twin", pool="pool:county"), "content").first


def test_five_wrong_sizes_freeze_the_data_under_every_name_until_the_owners_word(ledger):
    for name in ("people", "a", "b", "c", "people"):
        assert ledger.count_wrong_size(name, ["rows"], by="ann") is None
    assert "is frozen" in (ledger.count_wrong_size("d", ["rows"], by="ann") or "")
    with pytest.raises(OwnerError, match="people is frozen"):
        ledger.attach(terms(), "rows")
    with pytest.raises(OwnerError, match="other is frozen"):
        ledger.attach(terms(dataset="other", pool="dataset:other"), "s", ["x", "rows"])
    assert ledger.attach(terms(dataset="free", pool="dataset:free"), "s", ["x"]).first
    ledger.attach(terms(), "rows", by="ada", reason="the codebook was wrong")
    assert ledger.attach(terms(), "rows").entry
    assert ledger.count_wrong_size("people", ["rows"], by="ann") is None
    assert ledger.verify().intact


C1 = PrivacyUnit("change-one", rows=10)


def test_a_public_size_never_becomes_private(ledger):
    ledger.attach(terms(unit=C1), "content")
    for act in (ledger.attach, lambda *facts: ledger.attach(*facts, by="ada", reason="please")):
        with pytest.raises(OwnerError, match="can never become add-remove"):
            act(terms(), "content")


@pytest.mark.parametrize(
    ("budget", "event", "after", "mine"),
    [
        ({"epsilon": 4}, PrivacyEvent("pure", Fraction(1, 2)), PrivacyLoss.pure(2), PrivacyLoss.pure(1)),
        ({"rho": 4}, PrivacyEvent("gaussian", Fraction(1, 4)), PrivacyLoss.zcdp(2), PrivacyLoss.zcdp(1)),
    ],
)
def test_add_remove_becomes_change_one_at_the_old_total_doubled(ledger, budget, event, after, mine):
    old = terms(budget=Budget.from_toml(budget))
    ledger.attach(old, "content")
    for who in ("ann", "bob"):
        question = [charge_of("k", ["q"], (event,))]
        charge(ledger, who, question, cap=old.budget.cap, principal=who)
    new = terms(budget=old.budget, unit=C1)
    with pytest.raises(OwnerError, match="was pinned as"):
        ledger.attach(new, "content")
    ledger.attach(new, "content", by="ada", reason="the size was published")
    assert (ledger.spent(POOL), ledger.spent(POOL, "ann")) == (after, mine)
    row = charge(ledger, "later", [charge_of("k", ["q"], (event,))], cap=old.budget.cap)
    step = PrivacyLoss(after.measure, event.amount)
    assert (row.spent_after, ledger.spent(POOL, "ann")) == (after + step, mine + step)
    assert ledger.spent(POOL, "bob") == mine
    assert ledger.verify().intact


def test_a_doubled_total_may_exceed_the_budget_and_then_nothing_more_is_admitted(ledger):
    ledger.attach(terms(), "content")
    charge(ledger, "r1", pure(3), cap=4)
    ledger.attach(terms(unit=C1), "content", by="ada", reason="the size was published")
    with pytest.raises(BudgetError):
        charge(ledger, "r2", pure("0.000000001"), cap=4)


def test_a_total_that_cannot_be_doubled_stays_under_its_adjacency(path, ledger):
    """A δ of 1 or more is no loss: the owner's act is refused, and the ledger is read and opened as before."""
    budget = Budget.from_toml({"epsilon": 30, "delta": "0.001"})
    ledger.attach(terms(budget=budget), "content")
    events = (
        PrivacyEvent("gaussian", Fraction(11)),
        PrivacyEvent("approximate", Fraction(1), Fraction(1, 2000)),
    )
    charge(ledger, "r1", [charge_of("k", ["q"], events)], cap=budget.cap)
    spent = ledger.spent(POOL)
    with pytest.raises(OwnerError, match="Keep adjacency"):
        ledger.attach(terms(budget=budget, unit=C1), "content", by="ada", reason="the size was published")
    assert ledger.spent(POOL) == spent
    assert ledger.verify().intact
    with Ledger(path) as again:
        assert again.frozen is None


@pytest.mark.parametrize("rho", ["0.001", "0.5", "3"])
def test_a_doubled_delta_covers_every_event_that_its_total_may_hold(rho):
    """(1 + exp(ε)) δ for the largest ε with ε·tanh(ε/2) at most ρ, found by bisection."""
    from math import exp, tanh

    low, high = 0.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * tanh(middle / 2) <= float(Fraction(rho)) else (low, middle)
    found = doubled(PrivacyLoss.approx(rho, "1e-6"))
    assert found.amount == 4 * Fraction(rho)
    assert (1 + exp(low)) * 1e-6 <= float(found.delta) <= (1 + exp(0.57)) * (1 + exp(low)) * 1e-6


def test_a_pool_has_one_unit_and_one_adjacency(ledger):
    ledger.attach(terms(pool="pool:p"), "content")
    second = terms(dataset="b", pool="pool:p", unit=C1)
    charge(ledger, pool="pool:p")
    with pytest.raises(OwnerError, match="one unit and one adjacency"):
        ledger.attach(second, "other")
    with pytest.raises(OwnerError, match="one unit and one adjacency"):
        ledger.attach(second, "other", by="ada", reason="please")


def test_a_pool_that_was_opened_with_two_adjacencies_is_paid_from_with_one(ledger):
    ledger.attach(terms(pool="pool:p"), "content")
    ledger.attach(terms(dataset="b", pool="pool:p", unit=C1), "other")
    charge(ledger, pool="pool:p")
    with pytest.raises(OwnerError, match="one unit and one adjacency"):
        charge(ledger, "r2", pool="pool:p", dataset="b")


def steps_of(ledger, act):
    """How many steps of SQLite's machine an act takes."""
    taken = []
    connection = ledger._connection
    connection.set_progress_handler(lambda: taken.append(None), 1)
    act()
    connection.set_progress_handler(None, 1)
    return len(taken)


def test_a_release_takes_as_many_steps_in_a_long_ledger_as_in_a_short_one(ledger):
    """Charge and answer look each fact up in an index: nothing is read that grows with the ledger."""
    ledger.attach(terms(), "content")

    def release(number):
        row = charge(ledger, f"r{number}", pure("0.001"))
        ledger.store(f"r{number}", "ann", [{"value": number}])
        return row

    for number in range(40):
        release(number)
    before = steps_of(ledger, lambda: release(40))
    for number in range(41, 400):
        release(number)
    row = []
    assert steps_of(ledger, lambda: row.append(release(400))) <= 1.05 * before
    assert row[0].room == ledger.room(POOL, "ann", PrivacyLoss.pure(1))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ({}, {"unit": "sex"}),
        ({"unit": "sex"}, {"unit": "sex", "type": "text"}),
        ({"unit": "sex", "type": "text"}, {"unit": "sex", "type": "integer"}),
        ({"unit": "sex", "type": "text"}, {"unit": "sex"}),
    ],
)
def test_a_budget_with_charges_keeps_its_unit_even_when_loosened(ledger, before, now):
    """And its type: as texts 7 and 07, one person until then, would be two."""
    ledger.attach(terms(unit=PrivacyUnit("add-remove", **before)), "content")
    charge(ledger)
    with pytest.raises(OwnerError, match="keeps its unit"):
        ledger.attach(terms(unit=PrivacyUnit("add-remove", **now)), "content", by="ada", reason="please")


def test_a_unit_without_a_type_becomes_one_of_integers_and_back_only_loosened(ledger):
    """Who is one unit stays one: a declaration that an earlier version pinned without the type of its column opens as it is."""
    plain = terms(unit=PrivacyUnit("add-remove", unit="sex"))
    integers = terms(unit=PrivacyUnit("add-remove", unit="sex", type="integer"))
    ledger.attach(plain, "content")
    charge(ledger)
    ledger.attach(integers, "content")
    with pytest.raises(OwnerError, match="unit_type was pinned as integer and is now none"):
        ledger.attach(plain, "content")
    ledger.attach(plain, "content", by="ada", reason="please")
    ledger.attach(plain, "content")


def test_terms_are_taken_from_a_schema_and_private_pools_cannot_be_mistaken_for_joined_ones():
    from dpnb.trusted.schema import Column, Schema

    columns = (Column.integer("age", 0, 100), Column.category("sex", [0, 1]))
    facts = (columns, PrivacyUnit("add-remove"), Budget.from_toml({"epsilon": 4}))
    alone, joined = Schema("county", "A county", *facts), Schema("people", "People", *facts, pool="county")
    assert (Terms.of(alone).pool, Terms.of(joined).pool) == ("dataset:county", "pool:county")
    assert Terms.of(alone, "county@guard-rail").pool == "dataset:county@guard-rail"
    assert Terms.from_json(json.loads(json.dumps(Terms.of(alone).to_json()))) == Terms.of(alone)


# --------------------------------------------------------------------- resets


def test_a_teaching_budget_can_be_reset_and_its_history_stays(ledger):
    ledger.attach(terms(mode="teaching", public=True), "content")
    charge(ledger, "r1", pure(3), cap=4)
    ledger.reset(POOL)
    assert not ledger.spent(POOL)
    assert charge(ledger, "r2", pure(3), cap=4).spent_after == PrivacyLoss.pure(3)
    assert [row.kind for row in ledger.statement("people")] == ["attach", "charge", "reset", "charge"]
    assert not charge(ledger, "r1", pure(3), cap=4).new
    assert ledger.verify().intact


@pytest.mark.parametrize("mode", ["guard-rail", "enforced"])
def test_a_protected_budget_is_never_reset(ledger, mode):
    ledger.attach(terms(mode=mode), "content")
    with pytest.raises(OwnerError, match="Only a TEACHING"):
        ledger.reset(POOL)


def test_a_pool_is_reset_only_when_all_its_datasets_teach(ledger):
    ledger.attach(terms(pool="pool:p", mode="teaching", public=True), "content")
    ledger.attach(terms(pool="pool:p", dataset="b"), "other")
    with pytest.raises(OwnerError, match="Only a TEACHING"):
        ledger.reset("pool:p")
    with pytest.raises(OwnerError, match="Only a TEACHING"):
        ledger.reset("pool:never attached")


# ------------------------------------------------------------------ statement


def test_a_statement_lists_what_was_asked_and_paid_by_whom(ledger):
    ledger.attach(terms(), "content")
    charge(ledger, "r1", pure("0.1", "0.2"), cap=4)
    charge(ledger, "r2", pure("0.5"), cap=4, principal="bob")
    charge(ledger, "r3", pool="dataset:x", dataset="x")
    ledger.set_cap("bob", POOL, PrivacyLoss.pure(1))
    ledger.store("r1", "ann", [{}, {}])
    kinds = [(row.kind, row.principal, str(row.loss or "")) for row in ledger.statement("people")]
    assert kinds == [
        ("attach", None, ""),
        ("charge", "ann", "ε 0.3"),
        ("charge", "bob", "ε 0.5"),
        ("cap", "bob", ""),
    ]
    mine = ledger.statement("people", "ann")
    assert [row.texts for row in mine] == [(), ("people.q0()", "people.q1()")]
    assert [row.answered for row in mine] == [False, True]
    assert [row.dataset for row in ledger.statement() if row.kind == "charge"] == ["people", "people", "x"]


def test_spent_is_told_for_the_pool_and_for_each_principal(ledger):
    charge(ledger, "r1", pure("0.1"))
    charge(ledger, "r2", pure("0.2"), principal="bob")
    figures = [
        ledger.spent(POOL),
        ledger.spent(POOL, "ann"),
        ledger.spent(POOL, "bob"),
        ledger.spent(POOL, "x"),
    ]
    assert [str(loss) for loss in figures] == ["ε 0.3", "ε 0.1", "ε 0.2", "ε 0"]


# ------------------------------------------------------------- append-only, chain


TABLES = (
    *(
        "entries",
        "secrets",
        "attachments",
        "versions",
        "charges",
        "answers",
        "stored",
        "caps",
        "resets",
        "shares",
    ),
)


@pytest.fixture
def full(path):
    """A ledger with a row in every table, closed."""
    with Ledger(path) as ledger:
        ledger.attach(terms(mode="teaching", public=True), "content")
        charge(ledger, "r1", pure("0.1", "0.2"))
        ledger.store("r1", "ann", [{"value": [1]}, {"value": [2]}])
        ledger.set_cap("ann", POOL, PrivacyLoss.pure("0.9"))
        charge(ledger, "r2")
        ledger.reset(POOL)
        charge(ledger, "r3", caps=[Limit("", PrivacyLoss.pure(1), "group/a")])
    return path


@pytest.mark.parametrize("table", TABLES)
def test_no_row_of_any_table_can_be_changed_deleted_or_replaced(full, table):
    database = sqlite3.connect(full, isolation_level=None)
    column = [row[1] for row in database.execute(f"PRAGMA table_info({table})")][-1]
    before = database.execute(f"SELECT * FROM {table}").fetchall()
    assert before
    for statement in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            database.execute(statement)
    marks = ", ".join("?" * len(before[0]))
    # `answers` passes a second writer over in silence; every other table refuses
    with contextlib.suppress(sqlite3.IntegrityError):
        database.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", before[0])
    assert database.execute(f"SELECT * FROM {table}").fetchall() == before
    database.close()


FORGERIES = [
    "UPDATE entries SET body = replace(body, '0.3', '0.2') WHERE kind = 'charge'",
    "UPDATE entries SET time = '1999' WHERE entry = 2",
    "UPDATE entries SET kind = 'cap' WHERE entry = 4",
    "UPDATE entries SET hash = 'x' WHERE entry = 3",
    "DELETE FROM entries WHERE entry = 4",
    "DELETE FROM entries WHERE entry = (SELECT max(entry) FROM entries)",
    "DELETE FROM entries WHERE entry = 1",
    "UPDATE charges SET spent = replace(spent, '0.3', '0') ",
    "UPDATE charges SET mine = replace(mine, '0.3', '0') ",
    "UPDATE charges SET pool = 'dataset:other' WHERE entry = 4",
    "UPDATE requests SET digest = 'x' WHERE entry = 4",
    "UPDATE requests SET principal = 'bob' WHERE entry = 4",
    "UPDATE requests SET charge = charge + 1 WHERE entry = 4",
    "DELETE FROM requests WHERE request = 'r3'",
    "INSERT INTO requests SELECT 99, 'r9', principal, digest, charge FROM requests LIMIT 1",
    "DELETE FROM charges WHERE entry = 4",
    "INSERT INTO charges SELECT 99, principal, pool, dataset, period, spent, mine FROM charges LIMIT 1",
    f"UPDATE stored SET answer = x'{packed({'value': [3]})[2].hex()}' WHERE place = 0",
    "UPDATE stored SET answer = zeroblob(9) WHERE place = 0",
    "UPDATE stored SET draws = '[7]' WHERE place = 0",
    "UPDATE stored SET question = replace(question, '0.1', '5') WHERE place = 0",
    "UPDATE stored SET address = 'x' WHERE place = 1",
    "DELETE FROM stored WHERE place = 1",
    "UPDATE answers SET charge = charge + 1",
    "UPDATE answers SET entry = entry + 1",
    "DELETE FROM answers",
    "UPDATE caps SET cap = NULL",
    "DELETE FROM caps",
    "DELETE FROM resets",
    "UPDATE resets SET pool = 'dataset:other'",
    "UPDATE attachments SET terms = replace(terms, '\"4\"', '\"400\"')",
    "UPDATE attachments SET budget = replace(budget, '\"4\"', '\"400\"')",
    "UPDATE versions SET protected = 1 - protected",
    "UPDATE shares SET spent = replace(spent, '0.1', '0')",
    "UPDATE shares SET share = 'group/b'",
    "DELETE FROM shares",
    "INSERT INTO shares SELECT 99, share, pool, period, spent FROM shares",
]


def forge(path, *statements):
    """Change a closed ledger behind its triggers' back, and put these as they were."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        triggers = database.execute(query).fetchall()
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        changed = [database.execute(statement).rowcount for statement in statements]
        for _, made in triggers:
            database.execute(made)
    assert all(changed)


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_ledger_does_not_verify(full, forgery):
    with Ledger(full) as ledger:
        honest = ledger.verify()
    assert honest.intact
    assert honest.entries == 9
    forge(full, forgery)
    with aside(full) as database:
        assert not examine(database, honest.head).intact  # by the chain and the tables alone
    with Ledger(full) as ledger:
        assert not ledger.verify().intact


def test_a_trigger_or_an_index_taken_away_does_not_verify(full):
    with contextlib.closing(sqlite3.connect(full)) as database:
        database.execute("DROP TRIGGER charges_no_update")
    with Ledger(full) as ledger:
        assert "triggers" in ledger.verify().fault


@pytest.mark.parametrize("body", ["", "{", "[]", "{}", '{"loss": 1}', "null"])
def test_a_body_that_the_ledger_never_wrote_is_named_and_no_error(full, body):
    """Rehashed from there on, so that the chain holds: what is left is a body that says nothing."""
    with contextlib.closing(sqlite3.connect(full)) as database:
        rows = [list(row) for row in database.execute("SELECT * FROM entries ORDER BY entry")]
    at = next(place for place, row in enumerate(rows) if row[2] == "charge")
    rows[at][3] = body
    for place in range(at, len(rows)):
        rows[place][4] = link(rows[place - 1][4], *rows[place][:4])
    forge(
        full,
        *(
            f"UPDATE entries SET body = '{row[3]}', hash = '{row[4]}' WHERE entry = {row[0]}"
            for row in rows[at:]
        ),
    )
    with aside(full) as database:
        assert f"entry {rows[at][0]}" in examine(database).fault


def test_an_end_cut_off_cleanly_is_seen_by_the_mark_and_by_whoever_kept_a_later_hash(full):
    with Ledger(full) as ledger:
        known = ledger.verify().head
    forge(
        full,
        "DELETE FROM shares WHERE entry = (SELECT max(entry) FROM entries)",
        "DELETE FROM charges WHERE entry = (SELECT max(entry) FROM entries)",
        "DELETE FROM requests WHERE entry = (SELECT max(entry) FROM entries)",
        "DELETE FROM entries WHERE entry = (SELECT max(entry) FROM entries)",
    )
    with aside(full) as database:
        assert examine(database).intact
        assert "cut off" in examine(database, known).fault
    with Ledger(full) as ledger:
        assert ledger.verify().fault == "entry 9 is missing, and an answer left after entry 9"


def test_the_hash_chain_has_the_form_it_always_had(path, monkeypatch):
    """Golden: the same acts give the same hashes, today and in ten years."""
    golden = json.loads((GOLDEN / "chain-v1.json").read_text())
    monkeypatch.setattr(ledger_module, "timestamp", lambda: "2026-01-01T00:00:00+00:00")
    with Ledger(path, life="0" * 16) as ledger:
        charge(ledger, "r1", [charge_of("κ", ["people.q()"], [PrivacyEvent("pure", Fraction(1, 3))])])
        charge(
            ledger,
            "r2",
            [charge_of("k", ["q"], [PrivacyEvent("exponential", Fraction(1, 2))])],
            principal="bob",
        )
        ledger.store("r1", "ann", [{"value": [1, 2]}])
        ledger.set_cap("ann", POOL, PrivacyLoss.pure("0.9"))
        ledger.set_cap("ann", POOL, None)
    with Ledger(path, life="1" * 16) as ledger:  # after a crash: the charge without an answer is adopted
        charge(
            ledger,
            "r3",
            [charge_of("k", ["q"], [PrivacyEvent("exponential", Fraction(1, 2))])],
            principal="bob",
        )
        ledger.store("r3", "bob", [{"value": [3]}])
        assert ledger.verify().intact
    database = sqlite3.connect(path)
    entries = [list(row) for row in database.execute("SELECT * FROM entries ORDER BY entry")]
    database.close()
    assert entries == golden
    previous = GENESIS
    for entry, time_, kind, body, digest in golden:
        assert link(previous, entry, time_, kind, body) == digest
        previous = digest


def test_the_terms_are_written_as_they_always_were():
    golden = json.loads((GOLDEN / "terms-v1.json").read_text())
    assert terms().to_json() == golden
    assert Terms.from_json(golden) == terms()


# -------------------------------------------------------------------- crashes


def victim(path, step):
    """Charge and store, killed before this SQL statement; return the exit status, and what was confirmed before the end."""
    confirmed, statements = path.with_suffix(".confirmed"), itertools.count(1)
    confirmed.touch()

    def work():
        with Ledger(path) as ledger, confirmed.open("a", buffering=1) as say:
            ledger._connection.set_trace_callback(
                lambda _: os.kill(os.getpid(), signal.SIGKILL) if next(statements) == step else None
            )
            charge(ledger, digest="d")
            say.write("charged\n")
            ledger.store("r1", "ann", [{"value": [step]}])
            say.write("stored\n")
        return b""

    return in_child(work)[0], confirmed.read_text().split()


def retry(path, saw):
    """Retry the victim's request; return whether it had charged and stored."""
    with Ledger(path) as ledger:
        assert ledger.verify().intact
        was_stored = ledger.answers("r1", "ann")
        row = charge(
            ledger, "r1", [charge_of("k", ["q"], [PrivacyEvent("pure", Fraction(1, 10))])], digest="d"
        )
        assert not (was_stored and row.new)
        assert not ("charged" in saw and row.new)
        assert "stored" not in saw or was_stored
        answer = ledger.store("r1", "ann", [{"value": ["retry"]}])
        assert answer == (was_stored or [{"value": ["retry"]}])
        assert ledger.spent(POOL) == PrivacyLoss.pure("0.1")
        assert ledger.verify().intact
        return not row.new, bool(was_stored)


@pytest.mark.slow
def test_killed_between_any_two_statements_a_retry_is_one_charge_and_one_answer(tmp_path):
    """Kill -9 before every SQL statement of charge and store: afterwards the chain holds and nothing is paid twice."""
    states = set()
    for step in range(1, 60):
        path = tmp_path / f"ledger{step}"
        status, saw = victim(path, step)
        states.add(retry(path, saw))
        if status == 0:
            break
        assert status == -signal.SIGKILL
    else:
        pytest.fail("the victim never finished")
    assert states == {(False, False), (True, False), (True, True)}


LOOP = """
import sys
from fractions import Fraction
from dpnb.trusted.curator.admission import Limit
from tests.contracts.charges import charge_of
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
path, start = sys.argv[1], int(sys.argv[2])
ledger = Ledger(path)
for i in range(start, start + 100000):
    ledger.charge(
        request_id=f"r{i}", principal="ann", digest="d", pool="dataset:people", dataset="people", data_version="v1",
        cap=PrivacyLoss.pure(10**6), questions=[charge_of(f"k{i}", ["q"], [PrivacyEvent("pure", Fraction(1, 10))])],
    )
    print("c", i, flush=True)
    ledger.store(f"r{i}", "ann", [{"value": [i]}])
    print("s", i, flush=True)
"""


def killed_at_random(path, kills, seed=20261121):
    """Kill a busy process again and again; compare what it had been told with what the ledger holds."""
    draw, charged, stored = random.Random(seed), 0, 0
    for kill in range(kills):
        command = [sys.executable, "-c", LOOP, str(path), str(kill * 100_000)]
        log = path.with_name(f"told{kill}")
        with log.open("w") as told_to:
            busy = subprocess.Popen(command, stdout=told_to, cwd=ROOT)
        while not log.stat().st_size and busy.poll() is None:
            time.sleep(0.001)
        time.sleep(draw.uniform(0, 0.05))
        busy.kill()
        busy.wait()
        told = [line.split()[0] for line in log.read_text().splitlines(keepends=True) if line.endswith("\n")]
        charged += told.count("c")
        stored += told.count("s")
        with Ledger(path) as ledger:
            rows = [row for row in ledger.statement() if row.kind == "charge"]
            assert charged <= len(rows) <= charged + 1
            assert stored <= sum(row.answered for row in rows) <= len(rows)
            charged, stored = len(rows), sum(row.answered for row in rows)
            assert ledger.verify().intact
            assert ledger.spent(POOL) == PrivacyLoss.pure(Fraction(len(rows), 10))


@pytest.mark.slow
def test_killed_at_random_the_ledger_holds_every_charge_and_answer_it_confirmed(path):
    killed_at_random(path, 4)


@pytest.mark.soak
def test_killed_at_random_three_hundred_times(path):
    killed_at_random(path, 300)


# --------------------------------------------------------------------- the file


def test_the_file_and_its_journals_are_their_users_alone(path):
    with Ledger(path) as ledger:
        charge(ledger)
        files = [file for file in path.parent.iterdir() if file.is_file()]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        assert path in files


def test_a_file_that_others_could_read_is_closed_to_them_at_open(path):
    Ledger(path).close()
    path.chmod(0o644)
    Ledger(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_full_sync_and_wal_are_on(ledger):
    with ledger.reading() as db:
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_budget_survives_closing_and_opening(path):
    with Ledger(path) as ledger:
        charge(ledger, questions=pure("0.7"))
    with Ledger(path) as ledger, pytest.raises(BudgetError, match=r"0\.3 is left"):
        charge(ledger, "r2", pure("0.70001"))


def test_a_locked_ledger_says_so(path):
    with Ledger(path, wait=0.05) as ledger:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OwnerError, match=r"is locked by another program.*Nothing was spent"):
            charge(ledger)
        with pytest.raises(OwnerError, match="is locked"):
            Ledger(path, wait=0.05)
        other.execute("ROLLBACK")
        other.close()
        assert charge(ledger).new


def test_a_read_only_ledger_says_so(ledger):
    with ledger.reading() as db:
        db.execute("PRAGMA query_only = ON")
    with pytest.raises(OwnerError, match="is read-only"):
        charge(ledger)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_ledger_without_write_permission_says_so_at_open(path):
    Ledger(path).close()
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        with pytest.raises(OwnerError, match=r"read-only|cannot be opened"):
            Ledger(path)
    finally:
        path.parent.chmod(0o700)


def test_a_full_disk_says_so_spends_nothing_and_the_next_charge_works(ledger):
    with ledger.reading() as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        limit = db.execute("PRAGMA max_page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages}")
    long = [
        charge_of(f"key{i}" + "x" * 1000, ["q"], [PrivacyEvent("pure", Fraction(1, 100))]) for i in range(30)
    ]
    with pytest.raises(OwnerError, match=r"the disk is full.*Nothing was spent"):
        charge(ledger, "r1", long)
    assert ledger.verify().entries == 1
    with ledger.reading() as db:
        db.execute(f"PRAGMA max_page_count = {limit}")
    assert charge(ledger, "r1", long).new


@pytest.mark.parametrize("size", [0, 1, 99, 100, 4096, 10_000])
def test_a_truncated_ledger_is_never_taken_for_a_new_one(path, size):
    with Ledger(path) as ledger:
        for i in range(5):
            charge(ledger, f"r{i}")
    assert path.stat().st_size > size
    with path.open("r+b") as file:
        file.truncate(size)
    with pytest.raises(OwnerError, match=r"damaged|no dpnb ledger"), Ledger(path) as ledger:  # noqa: PT012
        charge(ledger, "r9")
        ledger.verify()


def test_a_ledger_overwritten_in_the_middle_says_so(path):
    with Ledger(path) as ledger:
        for i in range(5):
            charge(ledger, f"r{i}")
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    with pytest.raises(OwnerError, match="damaged"), Ledger(path) as ledger:
        charge(ledger, "r9")


def another_database():
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE mine (x)")
        return database.serialize()


@pytest.mark.parametrize(
    "content",
    [b"not a database" * 100, b"x", another_database(), b""],
    ids=["text", "short", "SQLite", "empty"],
)
def test_another_file_is_not_taken_for_a_ledger_and_is_left_alone(path, content):
    """Nor does the message say where it is."""
    path.write_bytes(content)
    with pytest.raises(OwnerError, match="not a dpnb ledger" if content else "is damaged") as refusal:
        Ledger(path)
    assert path.read_bytes() == content
    assert str(path.parent) not in str(refusal.value)


def test_a_journal_without_its_ledger_is_not_taken_for_a_new_one(path):
    path.with_name(path.name + "-wal").write_bytes(b"x" * 100)
    with Ledger(path) as ledger, pytest.raises(FrozenError):
        charge(ledger)
    assert not path.exists()


def test_a_missing_folder_says_so(tmp_path):
    with pytest.raises(OwnerError, match="cannot be opened"):
        Ledger(tmp_path / "none" / "ledger")


def test_a_failed_creation_leaves_nothing_behind(path, monkeypatch):
    monkeypatch.setattr("dpnb.trusted.curator.database.make_tables", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Ledger(path)
    assert list(path.parent.iterdir()) == []


def test_a_ledger_refuses_to_work_in_a_forked_process(ledger, monkeypatch):
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(CuratorError, match="fork"):
        charge(ledger)


def test_a_charge_stands_and_is_answered_whatever_becomes_of_who_is_told(ledger):
    """Kernels are told after the commit: one that cannot be told does not cost the answer that was paid for."""

    def broken():
        raise RuntimeError("the event loop is closed")

    ledger.listen(broken)
    assert charge(ledger).entry == charge(ledger).entry
    assert [row.kind for row in ledger.statement("people", "ann")].count("charge") == 1


def test_a_statement_lists_what_was_charged_before_a_dataset_changed_its_pool(ledger):
    """To whoever was charged as well as to an auditor."""
    ledger.attach(terms(), "content")
    charge(ledger)
    ledger.attach(terms(pool="pool:county"), "content", reason="one budget for the county")
    charge(ledger, "later", pool="pool:county")
    for whose in ("ann", None):
        kinds = [row.kind for row in ledger.statement("people", whose)]
        assert kinds.count("charge") == 2
