"""The entries that an owner's acts make: a dataset frozen, opened again or closed, capped below its budget, answers published.

A hold is on every name under which the same rows are known, so that a second name is no way round. A grant is a cap below the
budget, on a pool or on one principal of it: all caps must allow, so it can only make the promise tighter. Every function works
inside its caller's transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from dpnb.trusted.curator import answer_store, pins, totals
from dpnb.trusted.curator.chain import append, record
from dpnb.trusted.curator.holds import STATES, WORDS, state
from dpnb.trusted.errors import LossError, OwnerError
from dpnb.trusted.privacy.loss import PrivacyLoss

_RANK: Final = {held: rank for rank, held in enumerate(STATES.values())}


@dataclass(frozen=True, slots=True)
class Act:
    """Who acts as the owner, why, and when."""

    by: str
    reason: str
    time: str

    def to_json(self) -> dict[str, str]:
        """What an entry says of it: its time stands beside the body."""
        return {"by": self.by, "reason": self.reason}


def hold(db: sqlite3.Connection, kind: str, dataset: str, act: Act) -> int:
    """Freeze, unfreeze or close a dataset, with every name of the same rows; return the entry.

    Raises
    ------
    OwnerError
        For a dataset that the ledger does not know, and for one that is closed.
    """
    _known(db, dataset)
    if state(db, dataset) == "closed":
        raise OwnerError(f"{dataset} {WORDS['closed']}. Nothing opens it, and nothing has to be done.")
    names = sorted(name for name in _names(db, dataset) if state(db, name) != "closed")
    return _record(db, kind, names, act, dataset)


def _record(db: sqlite3.Connection, kind: str, names: list[str], act: Act, dataset: str) -> int:
    return record(db, act.time, kind, {"dataset": dataset, "names": names, **act.to_json()})


def _names(db: sqlite3.Connection, dataset: str) -> set[str]:
    """Return all names under which any row set of a dataset is known."""
    query = (
        "SELECT DISTINCT theirs.dataset FROM marks AS mine JOIN marks AS theirs ON mine.mark = theirs.mark "
        "WHERE mine.dataset = ?"
    )
    return {dataset, *(row[0] for row in db.execute(query, (dataset,)))}


def _known(db: sqlite3.Connection, dataset: str) -> str:
    """Return a dataset's pool."""
    terms = pins.pinned(db, dataset)
    if terms is None:
        known = [row[0] for row in db.execute("SELECT DISTINCT dataset FROM attachments ORDER BY dataset")]
        raise OwnerError(
            f"The ledger knows no dataset {dataset!r}. "
            + (f"It knows {', '.join(known)}." if known else "Begin with dpnb admin add people.dpnb.toml.")
        )
    return terms.pool


def learn(db: sqlite3.Connection, others: Iterable[Mapping[str, str]], act: Act) -> None:
    """Hold whatever another copy of this ledger holds more strictly: a restore opens nothing that was frozen or closed."""
    wanted: dict[str, str] = {}
    for other in others:
        for dataset, found in other.items():
            wanted[dataset] = max(found, wanted.get(dataset, "open"), key=_RANK.__getitem__)
    for kind, made in STATES.items():
        names = sorted(
            name for name, found in wanted.items() if found == made and _RANK[found] > _RANK[state(db, name)]
        )
        if names:
            _record(db, kind, names, act, names[0])


def grant(db: sqlite3.Connection, dataset: str, principal: str, cap: PrivacyLoss | None, act: Act) -> int:
    """Record what a principal (or, where that is empty, everybody together) may spend of a pool; None lifts it.

    Raises
    ------
    OwnerError, LossError
        For a dataset that the ledger does not know; for a cap in another measure than the budget's.
    """
    pool = _known(db, dataset)
    if cap is not None and totals.measure_of(db, pool) is not cap.measure:
        raise LossError(
            f"This budget is kept in {totals.measure_of(db, pool).symbol}, so its caps must be too."
        )
    amount = None if cap is None else cap.to_json()
    body = {"dataset": dataset, "pool": pool, "principal": principal, "cap": amount, **act.to_json()}
    return record(db, act.time, "grant", body)


# ---------------------------------------------------------------------- what was published


def publish(db: sqlite3.Connection, dataset: str, digest: str, draws: Collection[str], act: Act) -> int:
    """Record that a file of released answers was published, by its digest: from now on they are everybody's. Return the entry.

    Parameters
    ----------
    db : sqlite3.Connection
    dataset, digest : str
    draws : collection of str
        The draws of the answers. Those of another dataset are left out.
    act : Act
    """
    _known(db, dataset)
    wanted = set(draws)
    query = (
        "SELECT charge, place, draws FROM answers JOIN stored USING (entry, charge) JOIN charges ON charges.entry = charge "
        "WHERE dataset = ? ORDER BY charge, place"
    )
    places = [
        (charge, place)
        for charge, place, listed in db.execute(query, (dataset,))
        if not wanted.isdisjoint(json.loads(listed))
    ]
    body = {"dataset": dataset, "sha256": digest, "answers": places, **act.to_json()}
    entry = append(db, act.time, "publish", body)
    rows = answer_store.published_rows(db, entry, places)
    db.executemany("INSERT INTO stored VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    return entry
