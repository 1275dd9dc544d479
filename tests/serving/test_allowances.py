"""What an analyst may make others pay is decided before a charge, and told."""

from __future__ import annotations

import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from secrets import token_hex

import pytest
from msgspec import Raw

from dpnb.client.priced_batch import batch_of
from dpnb.errors import AccessError, OwnerError, PlanError
from dpnb.planner.request import Ask
from dpnb.trusted import system
from dpnb.trusted.canonical import canonical, read_json
from dpnb.trusted.query.plan import digest_of
from dpnb.trusted.serving import allowances, gateway, served_curator
from dpnb.trusted.serving.allowances import SECOND, WorkBuckets
from dpnb.trusted.serving.settings import read_settings
from dpnb.trusted.wire.codec import encode
from dpnb.trusted.wire.messages import Receipt, Submit
from tests.serving.conftest import CONFIG, write_people
from tests.serving.test_gateway import Office, released


@pytest.fixture
def office(tmp_path):
    """Open a desk in this folder, as its owner's file says."""
    write_people(tmp_path)
    file = tmp_path / "curator.toml"
    made = []

    def opened(each="", more=""):
        for one in made:
            one.close()
        file.write_text(CONFIG.format(port=8443, each=each, more=more))
        made[:] = [Office(read_settings(file))]
        return made[0]

    yield opened
    for one in made:
        one.close()


def test_no_more_numbers_are_stored_for_an_analyst_than_the_owner_says(office):
    """Seen: 12 charges of 1.5 kB, 10⁻⁷ of the cap, added 241 MB that can never be deleted."""
    here = office(each="numbers = 330")  # a count is one number, and a vector counts a hundred more
    ada = here.token()
    data = here.people(ada)
    asked = [batch_of([data[data.age > n].count()], Ask.make(epsilon="0.1")) for n in range(4)]
    messages = [
        Submit(handle=data.handle, request=f"{n:032x}", digest=one.digest, plan=one.body)
        for n, one in enumerate(asked)
    ]
    told = [here.told(message, ada) for message in messages]
    assert [one["is"] for one in told] == ["answered"] * 3 + ["failure"]
    assert "27 of the 330 that you may store of this dataset are left" in told[3]["message"]
    entries = here.entries()
    for message in messages[:3]:  # what is stored is free, and needs no room
        assert here.told(message, ada)["releases"][0]["stored"] or here.entries() == entries
    assert here.told(messages[3], here.token("bob"))["code"] != "plan"
    here = office(each="numbers = 330")  # the ledger knows after a restart
    data = here.people(here.token("ada"))
    with pytest.raises(
        PlanError, match=r"27 of the 330 .* numbers = in the service.s file\. Nothing was spent"
    ):
        released(data)
    assert here.entries() == entries
    released(office(each="numbers = 431").people(here.token("ada")))


def reworded(data, texts=(), again=("all",), epsilon="0.001"):
    """A count to be submitted, with these texts, though it is stored."""
    plan = read_json(bytes(batch_of([data.count()], Ask.make(epsilon=epsilon)).body))
    plan["questions"][0]["texts"] = [*plan["questions"][0]["texts"], *texts]
    text = canonical({**plan, "again": list(again)})
    return Submit(handle=data.handle, request=token_hex(16), digest=digest_of(text), plan=Raw(text.encode()))


@pytest.mark.parametrize(
    ("more", "numbers"),
    [({"texts": ["é" * 1000] * 50}, 60_147), ({"again": [f"{n:032x}" for n in range(1000)]}, 7_101)],
)
def test_what_is_written_beside_numbers_counts_as_much_as_they_do(office, more, numbers):
    """Seen: six charges of one number each added 46 MB for good, by their texts, and counted as 606 of 5,000,000 numbers."""
    here = office(each="numbers = 5000")
    ada = here.token()
    told = here.told(reworded(here.people(ada), **more), ada)
    assert f"stores up to {numbers:,} numbers" in told["message"]
    for kind, epsilon in (("answered", "0.001"), ("failure", "0.002")):  # the ledger knows after a restart
        here = office(each=f"numbers = {numbers}")
        ada = here.token()
        told = here.told(reworded(here.people(ada), **more, epsilon=epsilon), ada)
        assert told["is"] == kind
    assert f"; 0 of the {numbers:,} that you may store" in told["message"]


def test_one_thing_is_measured_so_often_and_no_more(office, monkeypatch):
    """Each look at its price goes through what was bought before; a stored answer stays free."""
    monkeypatch.setattr(served_curator, "TIMES", 2)
    for times in (2, 0):  # the ledger knows after a restart
        here = office()
        ada = here.token()
        data = here.people(ada)
        told = [here.told(reworded(data), ada) for _ in range(times + 1)]
        assert [one["is"] for one in told] == [*["answered"] * times, "failure"]
        assert "measured 2 times, which is the most" in told[-1]["message"]
        assert here.told(reworded(data, again=()), ada)["charged"]["amount"] == "0"
    bob = here.token("bob")
    assert here.told(reworded(here.people(bob)), bob)["is"] == "answered"


def charged_alone(here, data):
    """Let a count be charged, and its answer not be stored."""

    def broken(*_, **__):
        raise OwnerError("no")

    with pytest.MonkeyPatch.context() as during:
        during.setattr(here.curator._ledger, "store", broken)
        with pytest.raises(OwnerError):
            released(data)
    assert data.budget.spent.amount == Fraction(1, 10)


LIMITS = pytest.mark.parametrize(("each", "times"), [("numbers = 150", 200), ("", 1)])


@LIMITS
def test_a_charge_that_was_made_is_completed_whatever_is_allowed_since(office, monkeypatch, each, times):
    """Its answer was paid for: neither limit is held against it."""
    monkeypatch.setattr(served_curator, "TIMES", times)
    here = office(each=each)
    data = here.people(here.token())
    charged_alone(here, data)
    assert released(data).charged.amount == Fraction(1, 10)
    assert data.budget.spent.amount == Fraction(1, 10)


@LIMITS
def test_a_charge_of_an_earlier_life_is_adopted_whatever_is_allowed_since(office, monkeypatch, each, times):
    """Seen: it was refused for want of room, and the answer that was paid for could never be had."""
    monkeypatch.setattr(served_curator, "TIMES", times)
    here = office(each=each)
    charged_alone(here, here.people(here.token()))
    here = office(each=each)
    data = here.people(here.token())
    assert released(data).charged.amount == 0
    assert data.budget.spent.amount == Fraction(1, 10)


@pytest.mark.parametrize("busy", [False, True])
def test_a_charged_request_that_has_to_wait_is_not_charged_again(office, busy):
    """Seen: with an empty bucket the retry was told that nothing was spent, and the next run was a second charge."""
    here = office()
    data = here.people(here.token())
    charged_alone(here, data)
    with contextlib.ExitStack() as held:
        if busy:
            held.enter_context(here.desk._at_once("ada", gateway._BATCHES))
        else:
            here.curator.work._left["ada"] = -SECOND, time.monotonic()
        with pytest.raises(PlanError, match="charged once at most"):
            released(data)
    here.curator.work._left.clear()
    released(data)
    assert data.budget.spent.amount == Fraction(1, 10)


def test_nothing_is_charged_on_a_disk_that_is_almost_full(office, monkeypatch):
    """Refused before the charge, in one sentence for the analyst, and by name in the owner's log; what is stored is still given."""
    here = office(more="free_disk = 64")
    data = here.people(here.token())
    released(data)
    entries = here.entries()
    monkeypatch.setattr(system, "free_bytes", lambda _: 2**26 - 1)
    with pytest.raises(OwnerError, match="see why in its log"):
        released(data, "0.2")
    assert here.entries() == entries
    assert here.desk.fault() == "disk full"
    assert "is full: nothing is charged until there is room" in here.curator._home.log.read_text()
    released(data)


def test_a_cell_of_too_much_work_is_refused_before_its_charge(office):
    """Seen: 513 bytes took 17 seconds of the processor. The estimate is of the plan, the schema and the declared size alone."""
    here = office(more="work = 0.01")
    data = here.people(here.token())
    entries = here.entries()
    with pytest.raises(
        PlanError,
        match=r"about 0\.0[0-9]+ seconds of work, and one may be 0\.01: .* work = in its file\. Nothing",
    ):
        data.session.release([data[data.age > n].count() for n in range(9)], Ask.make(epsilon="0.1"))
    assert here.entries() == entries
    with contextlib.suppress(PlanError):  # the bucket is small
        released(data)


def test_of_long_requests_one_is_answered_at_a_time_and_short_ones_do_not_wait(office, monkeypatch):
    """Seen: beside five who asked for all that they could, one in twenty short releases took eleven times as long."""
    monkeypatch.setattr(served_curator, "LONG", 700)
    here = office()
    ada, bob = (here.people(here.token(name)) for name in ("ada", "bob"))
    done = threading.Event()

    def ask():
        ada.session.release([ada[ada.age > n].count() for n in range(9)], Ask.make(epsilon="0.1"))
        done.set()

    long = threading.Thread(target=ask)
    with here.curator.long:
        long.start()
        released(bob)
        assert not done.wait(1)
    long.join()
    assert done.is_set()


class Passed:
    """A lane for long requests that tells somebody when it is entered and left."""

    def __init__(self, told):
        self.told = told

    def __enter__(self):
        self.told("in")

    def __exit__(self, *_):
        self.told("out")


def test_a_token_revoked_while_its_long_request_waits_spends_nothing(office, monkeypatch):
    """Seen: it was looked at before the wait, charged, and answered."""
    monkeypatch.setattr(served_curator, "LONG", 700)
    here = office()
    ada, bob = (here.people(here.token(name)) for name in ("ada", "bob"))
    here.curator.long = Passed(lambda step: step == "in" and here.tokens.revoke("ada"))
    with pytest.raises(AccessError, match="unknown, expired or revoked"):
        ada.session.release([ada[ada.age > n].count() for n in range(9)], Ask.make(epsilon="0.1"))
    assert bob.session.datasets["people"].budget.left.amount == 3


def test_few_long_requests_wait_and_more_are_told_to_come_again(monkeypatch):
    """Those who wait hold threads that short ones need."""
    monkeypatch.setattr(allowances, "WAITERS", 0)
    lane = allowances.LongLane()
    with ThreadPoolExecutor(1) as beside:
        with lane, lane:
            refused = beside.submit(lane.__enter__).exception()
        assert isinstance(refused, PlanError)
        assert refused.details == {"later": True}
        assert beside.submit(lane.__enter__).exception() is None


def test_no_long_request_waits_while_the_answer_of_another_is_written(office, monkeypatch):
    """Its turn ends when it is answered."""
    monkeypatch.setattr(served_curator, "LONG", 700)
    here = office()
    data = here.people(here.token())
    steps = []
    here.curator.long = Passed(steps.append)
    monkeypatch.setattr(gateway, "encode", lambda told: steps.append("written") or encode(told))
    data.session.release([data[data.age > n].count() for n in range(9)], Ask.make(epsilon="0.1"))
    assert steps[-3:] == ["in", "out", "written"]


def test_a_bucket_is_emptied_by_work_and_fills_again():
    """Five of the largest requests, full again in 100 seconds; a principal's own."""
    now = [0.0]
    buckets = WorkBuckets(2, lambda: now[0])
    buckets.take("ada", 9 * SECOND)
    with pytest.raises(
        PlanError,
        match=r"much work lately: of 10 seconds 1\.00 are left\. Run it again in 10 s: it is charged once",
    ):
        buckets.take("ada", 2 * SECOND)
    buckets.take("bob", 2 * SECOND)
    now[0] = 10
    buckets.take("ada", 2 * SECOND)
    now[0] = 200
    with pytest.raises(PlanError, match=r"about 3 seconds of work, and one may be 2:"):
        buckets.take("ada", 3 * SECOND, whole=True)
    buckets.take("ada", 12 * SECOND)  # what is known only when it is begun is made up for later
    now[0] = 219.5
    with pytest.raises(PlanError, match="again in 1 s"):
        buckets.take("ada", 1)
    now[0] = 220.1
    buckets.take("ada", 1)


def test_a_receipt_that_is_not_ones_own_tells_nothing_of_its_size(office):
    """By what is left in the bucket afterwards."""
    here = office()
    ada, bob = here.token(), here.token("bob")
    data = here.people(ada)
    entry = released(data).measurements[0].releases[0].entry
    handle = here.people(bob).handle
    taken = []

    def take(principal, units, *, whole=False):
        taken.append((principal, units))

    here.curator.work.take = take
    for one in (entry, 10**6):
        assert here.told(Receipt(handle=handle, entry=one), bob)["is"] == "failure"
    assert taken[:2] == taken[2:]
    assert here.told(Receipt(handle=data.handle, entry=entry), ada)["is"] == "receipted"
    assert taken[-1][1] > taken[1][1] == 0


@pytest.mark.parametrize(
    ("each", "more", "words"),
    [
        ("", "work = 61", r"work is a number of seconds from 0\.01 to 60: write work = 2"),
        ("", "work = 0", r"work is a number of seconds from 0\.01 to 60: write work = 2"),
        ("", "free_disk = -1", "free_disk is a number of MiB from 0 to 1,073,741,824: write free_disk = 32"),
        ("numbers = true", "", "numbers is a number from 0 to 1,000,000,000,000: write numbers = 5000000"),
    ],
)
def test_each_allowance_has_its_range(office, each, more, words):
    with pytest.raises(OwnerError, match=words):
        office(each=each, more=more)
