"""Adoption: which charge without an answer a new request may complete, when kernel and curator died together after it.

The charge is on disk and nobody can ask for it under its own request id any more. A new request may be bound to it instead
of being charged again, if all of this holds:

- the charge has no answer, and an *earlier* life of the curator made it: nobody works on it any more;
- principal, dataset, pool, budget period, the versions of data, schema and mechanisms, and what is measured ``again`` are equal:
  so not after a reset, not when the file has changed, and not for a question that is measured in another way;
- no restoring of the ledger lies between: an older copy cannot know which of its charges were answered since;
- every question of the charge is asked, as it was charged then, and what else is asked is stored or public.

The charge is completed by its own record, never by a new plan. That two requests adopt one charge, or that its first worker
comes late, makes no second draw: a charge has one row of answers, and only that row is sent.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from dpnb.trusted.canonical import JsonObject, Record, canonical
from dpnb.trusted.curator import totals
from dpnb.trusted.query.price import Charge

Abandoned = dict[tuple[str, str], list[int]]
"""The charges without an answer when the ledger was opened, oldest first, by principal and pool."""


def record_of(charge: Charge) -> Record:
    """Return a charge as the ledger records it: its plan is the record from which its measurements were read."""
    return {
        "measured": charge.measured,
        "texts": list(charge.bundle.texts),
        "events": [event.to_json() for event in charge.events],
        "share": charge.bundle.share.to_json(),
        "plan": charge.bundle.plan,
    }


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose charge it is, of which state, and what is measured again: what an adopter must have in common."""

    principal: str
    pool: str
    dataset: str
    data_version: str
    schema_version: str
    mechanism_version: str
    again: tuple[str, ...] = ()

    def to_json(self) -> Record:
        """Write the scope as a charge records it."""
        return {**{name: getattr(self, name) for name in self.__slots__}, "again": list(self.again)}


def abandoned(db: sqlite3.Connection) -> Abandoned:
    """List the charges that have no answer."""
    unanswered = "NOT EXISTS (SELECT 1 FROM answers WHERE answers.charge = charges.entry)"
    query = "SELECT entry, principal, pool FROM charges JOIN entries USING (entry) WHERE kind = 'charge' AND "
    found: Abandoned = {}
    for entry, principal, pool in db.execute(f"{query} {unanswered} ORDER BY entry"):
        found.setdefault((principal, pool), []).append(entry)
    return found


def find(
    db: sqlite3.Connection,
    left: Abandoned,
    scope: Scope,
    questions: Sequence[Charge],
    others: Sequence[Charge],
) -> int | None:
    """Return the oldest charge that a request may adopt, or None.

    Parameters
    ----------
    db : sqlite3.Connection
        In the transaction that will bind the request to the charge.
    left : dict
        What :func:`abandoned` listed when the ledger was opened; what was answered since is taken out.
    scope : Scope
    questions : sequence of Charge
        Those that would be charged.
    others : sequence of Charge
        What else the batch asks, which the store answers: the charge may hold it too.
    """
    waiting = left.get((scope.principal, scope.pool), [])
    for entry in [entry for entry in waiting if totals.is_answered(db, entry)]:
        waiting.remove(entry)
    wanted = {**scope.to_json(), "period": totals.period_of(db, scope.pool)} if waiting else {}
    for entry in waiting:
        body = totals.body_of(db, entry)
        same = all(body[name] == value for name, value in wanted.items())
        if same and _covers(body["questions"], questions, others) and not totals.restored_since(db, entry):
            totals.refuse_second_draw(db, entry)
            return entry
    return None


def _covers(recorded: Sequence[JsonObject], questions: Sequence[Charge], others: Sequence[Charge]) -> bool:
    """Tell whether a charge answers all that is to be charged, and nothing that is not asked."""
    paid = {canonical(question) for question in recorded}
    needed, free = ({canonical(record_of(one)) for one in part} for part in (questions, others))
    return needed <= paid <= needed | free
