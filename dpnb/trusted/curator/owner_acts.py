"""What an owner does at a terminal to a home's ledger: every act is an entry with who, when and why.

Beside a curator that runs, the ledger's own transaction orders an act against its charges. An act needs the home's files, which
only their user can write: no message on the wire carries one. A home that is not there, or whose ledger is not the one that answers
were given from, is refused and left as it is.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dpnb.trusted.curator import holds
from dpnb.trusted.curator.guard import owners_words
from dpnb.trusted.curator.holds import Act
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.receipts import receipt_of, signed_receipt, signing_key
from dpnb.trusted.curator.server import principal_of
from dpnb.trusted.curator.terms import Terms
from dpnb.trusted.errors import FrozenError, OwnerError
from dpnb.trusted.privacy import Budget, PrivacyLoss
from dpnb.trusted.releases.signature import public_key, sign
from dpnb.trusted.wire.places import Home


@contextmanager
def acting(home: Home) -> Iterator[Ledger]:
    """Open a home's ledger for an owner's act.

    Raises
    ------
    OwnerError, FrozenError
        Where there is none, and where it is not the one that answers were given from.
    """
    home.check()
    if not os.access(home.root, os.W_OK | os.X_OK) or not home.ledger.exists():
        raise OwnerError(
            f"There is no ledger in {home.root} that you may write. Set DPNB_HOME to the home that you mean, or begin with "
            "dpnb admin add people.dpnb.toml."
        )
    with Ledger(home.ledger) as ledger:
        if ledger.frozen is not None:
            raise FrozenError(owners_words(ledger.frozen))
        yield ledger


def act_for(reason: str) -> Act:
    """Return who acts, why, and when.

    Raises
    ------
    OwnerError
        Without a reason.
    """
    if not reason.strip():
        raise OwnerError('An act of the owner needs a reason, which stays in the ledger: --reason "…".')
    return Act(principal_of(os.getuid()), reason.strip(), datetime.now(UTC).isoformat(timespec="seconds"))


def hold(home: Home, kind: str, dataset: str, reason: str) -> int:
    """Freeze, unfreeze or close a dataset; return the entry."""
    act = act_for(reason)
    with acting(home) as ledger:
        return ledger.act(lambda db: holds.hold(db, kind, dataset, act))


def grant(home: Home, dataset: str, principal: str, facts: Mapping[str, Any] | None, reason: str) -> int:
    """Cap what a principal (everybody together, where that is empty) may spend; None lifts it. Return the entry."""
    act = act_for(reason)
    cap = None if facts is None else Budget.from_toml(dict(facts)).cap
    with acting(home) as ledger:
        return ledger.act(lambda db: holds.grant(db, dataset, principal, cap, act))


def publish(home: Home, dataset: str, digest: str, draws: Collection[str], reason: str) -> int:
    """Record that a file with these draws was published, by its digest; return the entry."""
    act = act_for(reason)
    with acting(home) as ledger:
        return ledger.act(lambda db: holds.publish(db, dataset, digest, draws, act))


def receipts(home: Home, dataset: str, draws: Collection[str]) -> list[dict[str, Any]]:
    """Return the signed receipts of the charges of a dataset under which any of these draws was released, oldest first."""
    private, wanted = signing_key(home), set(draws)
    with acting(home) as ledger, ledger.read() as db:
        query = "SELECT entry FROM charges WHERE dataset = ? AND principal <> '' ORDER BY entry"
        found = [receipt_of(db, entry) for (entry,) in db.execute(query, (dataset,)).fetchall()]
    return [
        {"receipt": one, "signature": sign("receipt", one, private)}
        for one in found
        if one is not None and not wanted.isdisjoint(part["draw"] for part in one["released"])
    ]


def receipt_file(home: Home, charge: int) -> dict[str, Any]:
    """Return the signed receipt of a charge with the answers that were stored under it.

    Raises
    ------
    OwnerError
        When the entry is no charge, or has no answer yet.
    """
    private = signing_key(home)
    with acting(home) as ledger, ledger.read() as db:
        found = signed_receipt(db, charge, private, lambda _: True)
    if found is None:
        raise OwnerError(
            f"Entry {charge} is not a charge that was answered. The ledger's card and dpnb verify list those that were."
        )
    return found


def signed_publication(home: Home, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a publication with the home's public key and signature."""
    private = signing_key(home)
    whole = {**record, "key": public_key(private)}
    return {**whole, "signature": sign("publication", whole, private)}


@dataclass(frozen=True, slots=True)
class Standing:
    """How a dataset stands in the ledger.

    Parameters
    ----------
    terms : Terms
        As they are pinned.
    state : str
        ``"open"``, ``"frozen"`` or ``"closed"``.
    spent : PrivacyLoss
        What its pool has spent.
    promised : mapping of str to PrivacyLoss
        What each principal was charged: to whom answers left under these terms.
    """

    terms: Terms
    state: str
    spent: PrivacyLoss
    promised: Mapping[str, PrivacyLoss]


def standing(home: Home, dataset: str) -> Standing | None:
    """Tell how a dataset stands, or None where the ledger does not know it yet."""
    if not home.ledger.exists():
        return None
    with acting(home) as ledger:
        terms = ledger.pins(dataset)
        if terms is None:
            return None
        names = sorted({row.principal for row in ledger.statement(dataset) if row.loss and row.principal})
        promised = {name: ledger.spent(terms.pool, name) for name in names}
        return Standing(terms, ledger.state(dataset), ledger.spent(terms.pool), promised)
