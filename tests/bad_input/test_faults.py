"""Faults around a charge, as a person meets them: nothing is lost, nothing is paid twice, and the message says which it is."""

from __future__ import annotations

import contextlib
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

import dpnb
from dpnb.errors import ChargedError, CuratorError, CuratorGone, OwnerError
from dpnb.trusted.curator import failpoints
from tests.bad_input.conftest import short


@pytest.fixture(autouse=True)
def _no_hook():
    yield
    failpoints.install(None)


def at(step, act):
    """Do something once, at a step of the next release."""
    left = [act]

    def hook(now):
        if now == step and left:
            left.pop()()

    failpoints.install(hook)


def spent(desk):
    """What the ledger says."""
    return desk.service._ledger.spent("dataset:p").amount


def quick(desk):
    """Let the ledger wait for other programs for a moment only."""
    with desk.service._ledger.reading() as db:
        db.execute("PRAGMA busy_timeout = 50")


@contextlib.contextmanager
def locked(desk):
    """Another program holds the ledger."""
    other = sqlite3.connect(desk.home / "ledger.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


def test_a_ledger_locked_before_the_charge_spends_nothing(desk):
    """Told to close the other program; the same cell works afterwards."""
    data = desk.people()
    quick(desk)
    mean = data.x.mean()
    with locked(desk), pytest.raises(OwnerError, match=r"locked.*Nothing was spent") as fault:
        dpnb.release([mean], epsilon=1)
    short(fault.value)
    assert mean.pending
    assert spent(desk) == 0
    dpnb.release([mean], epsilon=1)
    assert spent(desk) == 1


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["locked", "read-only", "full"])
def test_a_ledger_that_fails_between_charge_and_answer_is_never_paid_twice(desk, fault):
    """Locked, read-only or out of room after the charge: the message says that it stands, and the next run completes it."""
    data = desk.people()
    quick(desk)
    mean = data.groupby("g").x.mean()
    ledger, held = desk.service._ledger, contextlib.ExitStack()
    pages = [0]

    def strike():
        if fault == "locked":
            held.enter_context(locked(desk))
            return
        with ledger.reading() as db:
            if fault == "read-only":
                db.execute("PRAGMA query_only = ON")
            else:
                pages[0] = db.execute("PRAGMA max_page_count").fetchone()[0]
                db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")

    if fault == "full":
        mean = data.x.quantile([place / 400 for place in range(1, 400)])
    at("before-store", strike)
    with pytest.raises(
        ChargedError, match="You were charged: run this again to get the answer, without a second charge"
    ) as told:
        dpnb.release([mean], epsilon=1)
    assert "Nothing was spent" not in short(told.value)
    held.close()
    with ledger.reading() as db:
        db.execute("PRAGMA query_only = OFF")
        if pages[0]:
            db.execute(f"PRAGMA max_page_count = {pages[0]}")
    assert mean.pending
    assert spent(desk) == 1
    report = dpnb.release([mean], epsilon=1)
    assert report.charged.amount == 1
    assert not mean.pending
    assert spent(desk) == 1
    assert ledger.verify().intact


def test_a_retry_that_meets_a_locked_ledger_keeps_its_charge(desk):
    """A fault after the charge, then a locked ledger, then peace: three runs of one cell are one charge."""
    data = desk.people()
    quick(desk)
    mean = data.x.mean()

    def fail():
        raise ZeroDivisionError("7731")

    at("scanned", fail)
    with pytest.raises(CuratorError, match="never charged twice") as told:
        dpnb.release([mean], epsilon=1)
    short(told.value)
    with locked(desk), pytest.raises((OwnerError, ChargedError)):
        dpnb.release([mean], epsilon=1)
    dpnb.release([mean], epsilon=1)
    assert spent(desk) == 1
    assert not mean.pending


@pytest.mark.slow
@pytest.mark.parametrize("step", failpoints.STEPS)
def test_a_fault_at_any_step_is_one_charge_after_the_next_run(desk, step):
    """Whatever fails wherever, the message is short and holds no data, and running the cell again costs its price once."""
    data = desk.people()
    mean = data.x.mean()

    def fail():
        raise MemoryError("row 7731")

    at(step, fail)
    with pytest.raises(CuratorError) as told:
        dpnb.release([mean], epsilon=1)
    short(told.value)
    assert spent(desk) == (1 if failpoints.STEPS.index(step) >= failpoints.STEPS.index("charged") else 0)
    dpnb.release([mean], epsilon=1)
    assert spent(desk) == 1


def test_a_truncated_ledger_is_not_taken_for_a_new_one(desk):
    """A curator that finds its ledger cut off does not start with a full budget."""
    data = desk.people()
    dpnb.release([data.x.mean()], epsilon=9)
    desk.service.close()
    file = desk.home / "ledger.sqlite3"
    for beside in ("-wal", "-shm"):
        (desk.home / f"ledger.sqlite3{beside}").unlink(missing_ok=True)
    with file.open("r+b") as ledger:
        ledger.truncate(file.stat().st_size // 2)
    with pytest.raises(OwnerError, match=r"damaged|no dpnb ledger") as told:  # noqa: PT012
        desk.start()
        dpnb.release([desk.people().x.mean()], epsilon=9)
    short(told.value)


@pytest.mark.parametrize(
    "damage", [Path.unlink, lambda copy: copy.write_bytes(b"7731" * 4096)], ids=["gone", "other"]
)
def test_a_prepared_copy_that_was_deleted_or_damaged_is_prepared_again(desk, damage):
    """A folder cleaned, or a copy of another version: opening the file again is all it takes, and the budget is intact."""
    data = desk.people()
    mean = data.x.mean()
    dpnb.release([mean], epsilon=1)
    desk.service.close()
    for copy in (desk.home / "prepared").glob("*.duckdb"):
        damage(copy)
    desk.start()
    again = desk.people()
    assert again.budget.spent.amount == 1
    same = again.x.mean()
    assert dpnb.release([same], epsilon=1).charged.amount == 0
    assert same.value == mean.value
    dpnb.release([again.y.mean()], epsilon=1)
    assert again.budget.spent.amount == 2


def test_a_detached_dataset_says_to_open_it_again(desk):
    """A handle that outlived its copy."""
    data = desk.people()
    desk.session.detach(data)
    with pytest.raises(CuratorGone, match="Open the dataset again"):
        dpnb.release([data.x.mean()], epsilon=1)
    assert spent(desk) == 0


def test_a_full_disk_while_preparing_is_told_and_leaves_nothing(desk, monkeypatch):
    """No room for the copy: told at open, and no draft stays behind."""
    import errno

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", "7731")

    monkeypatch.setattr(desk.service._copies, "_prepare", full)
    with pytest.raises(OwnerError, match="No space left") as told:
        desk.people()
    short(told.value)
    assert list((desk.home / "prepared").iterdir()) == []


def test_losses_of_every_wrong_kind_charge_nothing(desk):
    """Zero, negative, NaN, tiny, huge, text, a list, True, complex: one short line that names the fix."""
    data = desk.people()
    wrong = [
        0,
        -1,
        float("nan"),
        float("inf"),
        1e-300,
        "1e-300",
        "1e-12",
        1e10,
        "one",
        "",
        True,
        [1],
        1j,
        Fraction(0),
    ]
    for value in wrong:
        for name in ("epsilon", "within"):
            with pytest.raises(dpnb.errors.LossError) as told:
                dpnb.release([data.x.sum()], **{name: value})
            assert name in short(told.value)
    assert spent(desk) == 0
