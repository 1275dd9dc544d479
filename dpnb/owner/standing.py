"""How a dataset stands in a home's ledger, as its owner asks before an act; nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpnb.trusted.curator.terms import Terms
from dpnb.trusted.owner.owner_acts import acting
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.wire.places import Home


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
