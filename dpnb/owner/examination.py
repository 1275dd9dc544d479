"""``dpnb verify``: an owner examines a home's ledger, beside a curator that runs or without one. Nothing is changed."""

from __future__ import annotations

from pathlib import Path

from dpnb.trusted.curator.audit_trail import Verification, examine
from dpnb.trusted.curator.database import aside
from dpnb.trusted.curator.guard import fault_of, journal_of, known_of, mark_at, owners_words, traces
from dpnb.trusted.curator.mark import Mark, advanced
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.wire.places import Home


def verify(home: Home) -> str:
    """Recompute everything in a home's ledger: hashes, totals, tables, indexes, and that it is not below its mark.

    Parameters
    ----------
    home : Home

    Returns
    -------
    str
        What an intact ledger holds, in words.

    Raises
    ------
    OwnerError
        With the first bad entry and what to do.
    """
    if not home.ledger.exists():
        if traces(home.ledger) or journal_of(home.ledger).exists():
            raise OwnerError(owners_words("it is missing, with entry 1 and all after it"))
        raise OwnerError(f"There is no ledger in {home.root}. Set DPNB_HOME to the home that you mean.")
    found, now = examined(home.ledger)
    if found.fault is not None:
        raise OwnerError(f"{home.ledger}\n{owners_words(found.fault)}")
    pools = [f"    {pool}: {total.spent} spent" for pool, total in sorted(now.totals.items())]
    return "\n".join([f"{home.ledger}: {found.entries} entries, intact. Head {found.head}", *pools])


def examined(ledger: Path) -> tuple[Verification, Mark]:
    """Examine a ledger whole, hold it to its mark and its notes, and return what was found with the mark that it would have."""
    mark = mark_at(ledger)
    known = [] if mark is None else known_of(ledger, mark)
    with aside(ledger) as db:
        found = examine(db)
        fault = found.fault or (
            fault_of(db, ledger, known)
            if known
            else "the mark beside it is missing or damaged, so that nothing says whether this is the newest copy"
        )
        return Verification(found.entries, found.head, fault), advanced(None, db)
