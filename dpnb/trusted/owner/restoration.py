"""``dpnb restore``: an owner goes on with the ledger that there is, and what was spent stays spent.

For every pool the larger of the mark's total and the ledger's is booked, as an entry of the chain with the owner's reason; so
totals never fall. Where no mark can be trusted, nobody knows what was spent, and the whole budget is booked. Protected rows
that were attached since the copy was made stay known, by the ledger that was set aside. A charge from before a restore is
never completed any more: its answer may have left.

The order survives a kill at any step: ledger, then notes, then mark; until the mark is replaced the ledger stays frozen, and
the same command does it again.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from dpnb.trusted import system
from dpnb.trusted.canonical import read_json
from dpnb.trusted.curator import holds, pins, totals
from dpnb.trusted.curator.audit_trail import examine
from dpnb.trusted.curator.chain import head, record, timestamp
from dpnb.trusted.curator.database import aside, made, named, opened, sync_folder
from dpnb.trusted.curator.guard import mark_at, note_in_copies, noted, notes_of
from dpnb.trusted.curator.known_content import Known, learn, listed
from dpnb.trusted.curator.mark import (
    Mark,
    MarkFile,
    Total,
    advanced,
    key_id,
    keyed,
    ledger_id,
    mark_of,
    shortfall,
    total_of,
)
from dpnb.trusted.curator.terms import Terms
from dpnb.trusted.errors import DpnbError, OwnerError
from dpnb.trusted.owner import act_entries
from dpnb.trusted.owner.act_entries import Act
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.schema import Schema
from dpnb.trusted.wire.filelock import FileLock
from dpnb.trusted.wire.places import Home, write_private

_PARTS = ("", "-wal", "-shm", "-journal")
"""A ledger, its journal with its index, and the journal that a program leaves which writes it in another way and is killed."""


def restore(home: Home, reason: str, source: Path | None = None, *, by: str | None = None) -> str:
    """Book what was spent at least, and let a frozen home be used again.

    Parameters
    ----------
    home : Home
    reason : str
        Why; it stays in the ledger.
    source : Path, optional
        A backup (its folder, or the ledger in it) to put in the place of what is there, which is set aside.
    by : str, optional
        Who; by default the operating system's user.

    Returns
    -------
    str
        What was booked, in words.

    Raises
    ------
    OwnerError
        When a curator runs, when the ledger is damaged, or when nothing says what was spent.
    """
    if not reason.strip():
        raise OwnerError("A restore needs a reason: it is recorded in the ledger.")
    try:
        booked = _restored(home, source, Act(by or system.user_name(), reason, timestamp()))
    except (OSError, RuntimeError) as error:  # a RuntimeError is a link that leads to itself
        fault = getattr(error, "strerror", None) or "a link leads to itself"
        name = Path(getattr(error, "filename", None) or home.ledger).name
        raise OwnerError(
            f"The home {home.root} could not be restored, because of {name} ({fault}). Move that out of the home, or free some "
            "space, and run this again."
        ) from error
    if not booked:
        return "Restored. Nothing was ever charged, so nothing is booked as spent."
    return "\n".join(["Restored. Booked as spent, for good:", *booked])


def _restored(home: Home, source: Path | None, act: Act) -> list[str]:
    with _alone(home.make()):
        mark = _trusted(home.ledger)
        floor = _spent_there(home.ledger, mark)
        if source is not None:
            _put_back(home, source)
        elif not home.ledger.exists():
            _begin_anew(home, mark)
        _refuse_damaged(home)
        return _booked(home, mark, floor, act)


@contextmanager
def _alone(home: Home) -> Iterator[None]:
    lock = FileLock(home.lock)
    if not lock.acquire():
        raise OwnerError(f"A curator runs in {home.root}. Shut down its kernels, and restore then.")
    try:
        yield
    finally:
        lock.free()


def _trusted(ledger: Path) -> Mark | None:
    """Return the mark, unless a prepared copy knows a later one: then it is an older copy itself."""
    mark = mark_at(ledger)
    if mark is None:
        return None
    later = [note for note in noted(ledger) if note.ledger != mark.ledger or note.entry > mark.entry]
    return mark if not later or _was_restored_to(ledger, later) else None


def _was_restored_to(ledger: Path, notes: list[Mark]) -> bool:
    """Tell whether a restore booked this very ledger, wrote these notes, and died before it replaced the mark."""
    if not ledger.exists():
        return False
    with suppress(DpnbError), aside(ledger) as db:
        kind = db.execute("SELECT kind FROM entries ORDER BY entry DESC LIMIT 1").fetchone()
        held = {(note.ledger, note.entry, note.head) for note in notes} == {(ledger_id(db), *head(db))}
        return held and kind == ("restore",) and examine(db).intact
    return False


def _spent_there(ledger: Path, mark: Mark | None) -> dict[str, PrivacyLoss]:
    """Return what to book by the ledger that is there, which may be set aside: it may hold charges above the mark.

    A trusted mark is raised to it, so that a restore that dies between here and its end forgets nothing either. Without
    one the ledgers that were set aside are asked too: a restore that died may have put them there.
    """
    if mark is None:
        return _spent_in([ledger, *_ledgers_aside(ledger)], ledger)
    with suppress(DpnbError), _intact(ledger) as db:
        if db is not None and shortfall(db, mark) is None:
            _replace_mark(ledger, replace(advanced(None, db), key=mark.key))
            return _wanted(db, ledger, mark)
    return {}


def _ledgers_aside(ledger: Path) -> list[Path]:
    return sorted(ledger.parent.glob(f"set-aside-*/{ledger.name}"))


@contextmanager
def _intact(ledger: Path) -> Iterator[sqlite3.Connection | None]:
    """Read a ledger, if it is there and every entry of it agrees."""
    if not ledger.exists():
        yield None
        return
    with aside(ledger) as db:
        yield db if examine(db).intact else None


def _spent_in(ledgers: Iterable[Path], home: Path) -> dict[str, PrivacyLoss]:
    """Return the most that any of some ledgers would book without a mark; the first one says in which measure."""
    found: dict[str, PrivacyLoss] = {}
    for ledger in ledgers:
        with suppress(DpnbError), _intact(ledger) as db:
            wanted = {} if db is None else _wanted(db, home, None)
            for pool, spent in wanted.items():
                with suppress(OwnerError):
                    found[pool] = _larger(pool, found.get(pool), spent)
    return found


def _begin_anew(home: Home, mark: Mark | None) -> None:
    if mark is None and not notes_of(home.ledger):
        raise OwnerError(
            "There is no ledger here, no mark and no prepared copy, so nothing says what was spent. Put a copy of the ledger "
            'back with dpnb restore --from BACKUP --reason "…".'
        )
    _set_aside(home)
    made(home.ledger, timestamp)


def _put_back(home: Home, source: Path) -> None:
    copy = source / home.ledger.name if source.is_dir() else source
    if not copy.is_file() or copy.resolve() == home.ledger.resolve():
        raise OwnerError(f"There is no copy of a ledger at {copy}. Name the folder that dpnb backup made.")
    draft = home.root / f".{home.ledger.name}.{secrets.token_hex(4)}"
    try:
        copied(copy, draft)
        if (fault := _fault_in(draft)) is not None:
            raise OwnerError(f"The copy {copy} is damaged ({fault}). Name another one.")
        _set_aside(home)
        system.replace(draft, home.ledger)
        sync_folder(home.root)
    finally:
        for part in _PARTS:
            draft.with_name(draft.name + part).unlink(missing_ok=True)
    _put_key_back(home, copy.with_name(home.key.name))
    signing = copy.with_name(home.signing_key.name)
    if signing.exists() and not home.signing_key.exists():
        write_private(home.signing_key, signing.read_bytes())


def copied(ledger: Path, copy: Path) -> None:
    """Copy one consistent state of a ledger, its journal included, into a new file that is on disk when this returns."""
    os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with aside(ledger) as source, named(copy), closing(sqlite3.connect(copy)) as into:
        source.backup(into)
    descriptor = os.open(copy, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _put_key_back(home: Home, key: Path) -> None:
    """Put the key of a backup beside its ledger, under which each unit's rows were chosen; another one is set aside."""
    if key.exists() and key_id(home.ledger) != key_id(key):
        _moved_aside(home, [home.key])
        write_private(home.key, key.read_bytes())


def _set_aside(home: Home) -> None:
    """Move the ledger that is there, and its journals, into a folder: nothing that may say what was spent is deleted."""
    _moved_aside(home, [home.ledger.with_name(home.ledger.name + part) for part in _PARTS])


def _moved_aside(home: Home, present: list[Path]) -> None:
    """Move files into a folder that holds all of them from the moment that it has its name: the first of them leaves first."""
    present = [path for path in present if path.exists()]
    if not present:
        return
    folder = home.root / f"set-aside-{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(2)}"
    draft = folder.with_name(f".{folder.name}")
    draft.mkdir(mode=0o700)
    for path in present:
        os.link(path, draft / path.name, follow_symlinks=False)
    draft.rename(folder)
    sync_folder(home.root)
    for path in present:
        path.unlink()


def _fault_in(ledger: Path) -> str | None:
    with aside(ledger) as db:
        return examine(db).fault


def _refuse_damaged(home: Home) -> None:
    try:
        fault = _fault_in(home.ledger)
    except OwnerError as error:
        if "damaged" not in error.message:
            raise
        fault = "it cannot be read at all"
    if fault is not None:
        raise OwnerError(
            f"{home.ledger.name} itself is damaged ({fault}). Put a good copy in its place with "
            'dpnb restore --from BACKUP --reason "…"; without one, move it out of the home and restore again: a new ledger '
            "then begins at what the mark records as spent."
        )


def _booked(home: Home, mark: Mark | None, floor: dict[str, PrivacyLoss], act: Act) -> list[str]:
    with named(home.ledger), closing(opened(home.ledger)) as db:
        known = _known_aside(home.ledger, ledger_id(db))
        db.execute("BEGIN IMMEDIATE")
        try:
            learn(db, act.time, known)
            act_entries.learn(db, _held_aside(home.ledger, mark, ledger_id(db)), act)
            wanted = _wanted(db, home.ledger, mark)
            wanted |= {pool: _larger(pool, wanted.get(pool), spent) for pool, spent in floor.items()}
            for pool, spent in sorted(wanted.items()):
                _book(db, pool, spent, mark, act)
            now = keyed(advanced(None, db), home.ledger)
            db.execute("COMMIT")
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")
        note_in_copies(home.ledger, now)
        _replace_mark(home.ledger, now)
    return [f"    {pool}: {spent}" for pool, spent in sorted(wanted.items())]


def _known_aside(ledger: Path, name: str) -> list[Known]:
    """List the content that was attached since the copy was made, by the ledgers that were set aside."""
    found: list[Known] = []
    for other in _ledgers_aside(ledger):
        with suppress(DpnbError), _intact(other) as db:
            found += listed(db) if db is not None and ledger_id(db) == name else []
    return found


def _held_aside(ledger: Path, mark: Mark | None, name: str) -> list[Mapping[str, str]]:
    """List what was held by the mark, by the notes beside it, and by the ledgers that were set aside."""
    found = [known.holds for known in (*([] if mark is None else [mark]), *noted(ledger))]
    for other in _ledgers_aside(ledger):
        with suppress(DpnbError), _intact(other) as db:
            if db is not None and ledger_id(db) == name:
                found.append(holds.held_since(db, 0))
    return found


def _replace_mark(ledger: Path, mark: Mark) -> None:
    marks = MarkFile.made(mark_of(ledger), mark)
    try:
        marks.replaced(mark)
    finally:
        marks.close()


def _book(db: sqlite3.Connection, pool: str, spent: PrivacyLoss, mark: Mark | None, act: Act) -> None:
    before = total_of(db, pool)
    body = {
        "pool": pool,
        "period": totals.period_of(db, pool),
        "spent": spent.to_json(),
        "before": None if before is None else before.spent.to_json(),
        "mark": None if mark is None else {"entry": mark.entry, "head": mark.head},
        "by": act.by,
        "reason": act.reason,
    }
    record(db, act.time, "restore", body)


def _wanted(db: sqlite3.Connection, ledger: Path, mark: Mark | None) -> dict[str, PrivacyLoss]:
    """Return what to book for every pool: the larger of mark and ledger, and its whole budget where there is no mark."""
    known = dict(advanced(None, db).totals)
    found = {pool: total.spent for pool, total in known.items()}
    for pool, total in (mark.totals if mark is not None else _noted_totals(ledger)).items():
        found[pool] = _larger(pool, found.get(pool), total.spent)
    if mark is None:
        for pool, cap in (*_pinned(db), *_noted_caps(ledger)):
            found[pool] = _larger(pool, found.get(pool), cap)
    return found


def _larger(pool: str, one: PrivacyLoss | None, two: PrivacyLoss) -> PrivacyLoss:
    if one is None or (not one and one.measure is not two.measure):
        return two
    if one.measure is not two.measure:
        if not two:
            return one
        raise OwnerError(
            f"{pool} is kept in {one.measure.symbol} here and in {two.measure.symbol} by the mark. Restore from a newer backup; "
            "without one, move the ledger out of the home and restore again."
        )
    return PrivacyLoss(one.measure, max(one.amount, two.amount), max(one.delta, two.delta))


def _pinned(db: sqlite3.Connection) -> Iterator[tuple[str, PrivacyLoss]]:
    for (pool,) in db.execute("SELECT DISTINCT pool FROM attachments").fetchall():
        budget = pins.pool_budget(db, pool)
        if budget is not None:
            yield pool, budget.cap


def _noted_totals(ledger: Path) -> dict[str, Total]:
    found: dict[str, Total] = {}
    for mark in noted(ledger):
        for pool, total in mark.totals.items():
            if pool not in found or total.exceeds(found[pool]):
                found[pool] = total
    return found


def _noted_caps(ledger: Path) -> Iterator[tuple[str, PrivacyLoss]]:
    for note in notes_of(ledger):
        with suppress(OSError, ValueError, TypeError, KeyError, DpnbError):
            facts = read_json(note.read_bytes())
            terms = Terms.of(Schema.from_json(facts["schema"]), facts["known_as"])
            yield terms.pool, terms.budget.cap
