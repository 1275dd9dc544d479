"""Kills at every step of charge, answer, store and send: answers seen never exceed charges, and a retry completes its charge."""

from __future__ import annotations

import gc
import json
import os
import random
import time

import pytest

from dpnb.client.priced_batch import batch_of
from dpnb.planner.request import Ask
from dpnb.trusted.curator import failpoints
from dpnb.trusted.wire.codec import encode, exact_json
from dpnb.trusted.wire.messages import Again, Answered, Attach, Failure, Submit
from tests.curator import small

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

KILLED = 77


def in_child(work):
    """Run `work` in a forked process; return (exit status, what it wrote)."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        status = 1
        try:
            with os.fdopen(write, "wb") as out:
                out.write(work())
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb") as source:
        said = source.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def killing_at(step):
    """A hook that ends the process, at once and without clean-up, at one step."""

    def hook(now):
        if now == step:
            os._exit(KILLED)

    return hook


class Kernel:
    """Sends one batch after another to curators that die; keeps request ids as a session does."""

    def __init__(self, home):
        self.home = home
        service = small.curator(home)
        self.session = small.session(service)
        self.data = small.opened(self.session, home, epsilon=10**6)
        self.columns = [self.data.x.mean(), self.data.y.mean(), self.data.x.sum(), self.data.x.quantile(0.5)]
        service.close()

    def message(self, request, choice):
        """A fresh batch of one to three questions."""
        items = [_anew(item) for item in choice]
        batch = batch_of(items, Ask.make(epsilon=1, fresh=True))
        plan = batch.body
        return Submit(handle=self.data.handle, request=request, digest=batch.digest, plan=plan)

    def send(self, message, step):
        """Let a new curator answer, killed at `step`; None when it died."""

        def work():
            gc.disable()  # it dies before there is much to collect
            service = small.curator(self.home)
            service.answer(encode(Attach(source=Again(handle=message.handle))), "ann")
            failpoints.install(killing_at(step))
            reply = service.reply(message, "ann")
            return json.dumps([json.loads(bytes(reply.releases)), reply.entry]).encode()

        status, said = in_child(work)
        assert status in {0, KILLED}
        return json.loads(said) if status == 0 else None


def _anew(item):
    from dpnb.estimate import PendingQuestion

    old = item.measurement
    return PendingQuestion(old.question, old.checked, dataset=old.dataset)


def run(home, kills, seed=1):
    """Kill until `kills` kills have happened; check the books as they are after each answer."""
    rng = random.Random(seed)
    kernel = Kernel(home)
    gc.freeze()  # a child that collects what it shares with this process copies it all
    done, count, answered = 0, 0, {}
    while done < kills:
        count += 1
        request = f"{count:032x}"
        message = kernel.message(request, rng.sample(kernel.columns, rng.randint(1, 3)))
        reply = None
        while reply is None:
            step = rng.choice((*failpoints.STEPS, "nowhere"))
            reply = kernel.send(message, step)
            done += reply is None
        answered[request] = reply
    return kernel, answered


def books(home, answered):
    """Check the ledger against the answers that were seen."""
    service = small.curator(home)
    ledger = service._ledger
    charges = [row for row in ledger.statement("small", "ann") if row.kind == "charge"]
    assert len(charges) == len(answered)
    assert all(row.answered for row in charges)
    assert ledger.spent(charges[0].pool).amount == len(answered)
    entries = {entry for _, entry in answered.values()}
    assert entries == {row.entry for row in charges}
    for request, (releases, entry) in answered.items():
        assert ledger.answers(request, "ann") == releases
        assert all(release["entry"] == entry for release in releases)
    assert ledger.verify().intact
    service.close()


@pytest.mark.slow
def test_kills_leave_one_charge_and_one_answer_for_each_request(dpnb_home):
    """Killed at random steps and retried: one charge a request, one stored answer, and the sender saw that one."""
    _, answered = run(dpnb_home, 40)
    books(dpnb_home, answered)


@pytest.mark.soak
def test_10000_kills_leave_one_charge_and_one_answer_for_each_request(dpnb_home):
    """The long version, other kills each time."""
    seed = int(time.time())
    print(f"seed {seed}")  # shown where it fails
    _, answered = run(dpnb_home, 10_000, seed)
    books(dpnb_home, answered)


@pytest.mark.parametrize("step", failpoints.STEPS)
def test_a_kill_charges_only_from_the_charge_on(dpnb_home, step):
    """Before the charge nothing is spent; after it the charge stands, and the retry pays nothing more."""
    kernel = Kernel(dpnb_home)
    message = kernel.message("a" * 32, kernel.columns[:2])
    assert kernel.send(message, step) is None
    service = small.curator(dpnb_home)
    charged = failpoints.STEPS.index(step) >= failpoints.STEPS.index("charged")
    assert (service._ledger.charged("a" * 32, "ann") is not None) is charged
    service.close()
    releases, entry = kernel.send(message, "nowhere")
    books(dpnb_home, {"a" * 32: (releases, entry)})


def test_an_answer_seen_before_a_kill_is_the_answer_of_the_retry(dpnb_home):
    """Stored before sent: the reply lost in a kill is read again, integer for integer."""
    kernel = Kernel(dpnb_home)
    message = kernel.message("a" * 32, kernel.columns[:3])
    first = kernel.send(message, "nowhere")
    assert kernel.send(message, "before-send") is None
    assert kernel.send(message, "nowhere") == first


def test_a_fault_after_the_charge_says_one_constant_code(service, data, dpnb_home):
    """An unexpected fault crosses the wire as `internal` alone; the log has it; the retry completes the charge."""
    batch = batch_of([data.x.mean()], Ask.make(epsilon=1))
    message = Submit(handle=data.handle, request="a" * 32, digest=batch.digest, plan=batch.body)

    def broken(step):
        if step == "scanned":
            raise ZeroDivisionError("77 is somebody's age")

    failpoints.install(broken)
    try:
        body = service.answer(encode(message), "ann")
    finally:
        failpoints.install(None)
    assert b"77" not in body
    failure = json.loads(body)
    assert (failure["is"], failure["code"], failure["details"]) == (
        Failure.__struct_config__.tag,
        "internal",
        {},
    )
    log = dpnb_home / "curator.log"
    assert "somebody's age" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600
    assert data.budget.spent.amount == 1
    reply = service.reply(message, "ann")
    assert isinstance(reply, Answered)
    assert len(exact_json(reply.releases)) == 3
    assert data.budget.spent.amount == 1


def test_four_racing_processes_never_overspend_by_one_unit(dpnb_home):
    """Four curators on one ledger ask for more than there is: what they were charged is at most the cap, exactly."""
    service = small.curator(dpnb_home)
    here = small.session(service)
    data = small.opened(here, dpnb_home, epsilon=2)
    messages = [_one(here, data, f"{place:032x}") for place in range(40)]
    service.close()
    children = []
    for racer in range(4):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                mine = small.curator(dpnb_home)
                mine.answer(encode(Attach(source=Again(handle=data.handle))), "ann")
                for message in messages[racer::4]:
                    mine.answer(encode(message), "ann")
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
    service = small.curator(dpnb_home)
    rows = [row for row in service._ledger.statement("small") if row.kind == "charge"]
    assert len(rows) == 28  # 28 x 0.07 = 1.96 fits in 2, a further one does not
    assert service._ledger.verify().intact
    service.close()


def _one(here, data, request):
    batch = batch_of([_anew(data.x.mean())], Ask.make(epsilon="0.07", fresh=True))
    return Submit(handle=data.handle, request=request, digest=batch.digest, plan=batch.body)
