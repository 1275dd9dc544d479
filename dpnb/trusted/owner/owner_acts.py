"""What an owner does at a terminal to a home's ledger: every act is an entry with who, when and why.

Beside a curator that runs, the ledger's own transaction orders an act against its charges. An act needs the home's files, which
only their user can write: no message on the wire carries one. A home that is not there, or whose ledger is not the one that answers
were given from, is refused and left as it is.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from dpnb.trusted import system
from dpnb.trusted.curator.chain import timestamp
from dpnb.trusted.curator.guard import owners_words
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.errors import FrozenError, OwnerError
from dpnb.trusted.owner import act_entries
from dpnb.trusted.owner.act_entries import Act
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.wire.places import Home


@contextmanager
def acting(home: Home) -> Iterator[Ledger]:
    """Open a home's ledger for an owner's act.

    Raises
    ------
    OwnerError, FrozenError
        Where there is none, and where it is not the one that answers were given from.
    """
    expect_ledger(home)
    with Ledger(home.ledger) as ledger:
        if ledger.frozen is not None:
            raise FrozenError(owners_words(ledger.frozen))
        yield ledger


def expect_ledger(home: Home) -> None:
    """Refuse a home without a ledger that whoever asks may write, and leave it as it is."""
    home.check()
    if not os.access(home.root, os.W_OK | os.X_OK) or not home.ledger.exists():
        raise OwnerError(
            f"There is no ledger in {home.root} that you may write. Set DPNB_HOME or --config to the home that you mean, or begin "
            "with dpnb admin add people.dpnb.toml."
        )


def act_for(reason: str) -> Act:
    """Return who acts, why, and when.

    Raises
    ------
    OwnerError
        Without a reason.
    """
    if not reason.strip():
        raise OwnerError('An act of the owner needs a reason, which stays in the ledger: --reason "…".')
    return Act(system.user_name(), reason.strip(), timestamp())


def hold(home: Home, kind: str, dataset: str, reason: str) -> int:
    """Freeze, unfreeze or close a dataset; return the entry."""
    act = act_for(reason)
    with acting(home) as ledger:
        return ledger.act(lambda db: act_entries.hold(db, kind, dataset, act))


def grant(home: Home, dataset: str, principal: str, facts: Mapping[str, Any] | None, reason: str) -> int:
    """Cap what a principal (everybody together, where that is empty) may spend; None lifts it. Return the entry."""
    act = act_for(reason)
    cap = None if facts is None else Budget.from_toml(dict(facts)).cap
    with acting(home) as ledger:
        return ledger.act(lambda db: act_entries.grant(db, dataset, principal, cap, act))


def publish(home: Home, dataset: str, digest: str, draws: Collection[str], reason: str) -> int:
    """Record that a file with these draws was published, by its digest; return the entry."""
    act = act_for(reason)
    with acting(home) as ledger:
        return ledger.act(lambda db: act_entries.publish(db, dataset, digest, draws, act))
