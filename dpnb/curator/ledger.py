"""The ledger: what was promised about each dataset, what was spent, and what was answered. It forgets nothing.

It is append-only and hash-chained, and nothing in it is ever refunded: a budget shrinks with each charge, and a reset
(TEACHING only) is one more entry. A charge reads its running totals from the last charge of its pool, so its time does
not depend on the ledger's length. No answer is stored without a charge; the first writer of an answer wins, and every
retry reads what that one wrote. Content hashes never leave: the world sees random version ids.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from dpnb.curator import admission, pins, statement, stored, totals
from dpnb.curator.audit_trail import Verification, address, examine
from dpnb.curator.chain import append, canonical
from dpnb.curator.database import Database
from dpnb.curator.pins import Attachment
from dpnb.curator.statement import StatementRow
from dpnb.curator.stored import Answer, StoredAnswer
from dpnb.curator.terms import Terms
from dpnb.curator.totals import ChargeRow
from dpnb.errors import CuratorError, LossError, OwnerError
from dpnb.privacy import Measure, Odometer, PrivacyEvent, PrivacyLoss, compose

__all__ = ["Attachment", "ChargeRow", "Ledger", "Question", "StatementRow", "StoredAnswer"]

Question = tuple[str, str, Sequence[PrivacyEvent]]
"""A charged question: its canonical key, its text for people, its privacy events."""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Ledger:
    """An open ledger.

    Parameters
    ----------
    path : str or Path
        The file; made (mode 0600) when it does not exist.
    wait : float
        Seconds to wait for another writer.

    Raises
    ------
    OwnerError
        When the file is locked, read-only, truncated, damaged or from a newer dpnb.

    Examples
    --------
    >>> import tempfile
    >>> from fractions import Fraction
    >>> with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "ledger.sqlite3") as ledger:
    ...     row = ledger.charge(
    ...         request_id="r1",
    ...         principal="ann",
    ...         digest="d",
    ...         pool="dataset:people",
    ...         dataset="people",
    ...         data_version="v",
    ...         cap=PrivacyLoss.pure(1),
    ...         time="2026-01-01T00:00:00+00:00",
    ...         events_by_question=[("key", "people.count()", [PrivacyEvent("pure", Fraction(1, 10))])],
    ...     )
    ...     str(row.spent_after), ledger.verify().intact
    ('ε 0.1', True)
    """

    def __init__(self, path: str | Path, *, wait: float = 10.0) -> None:
        self._database = Database(Path(path), _now, wait)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the ledger."""
        self._database.close()

    def listen(self, told: Callable[[], None]) -> None:
        """Call somebody after every charge, reset, cap and change of terms, when it is on disk.

        Storing an answer tells nobody: the time between a charge and its answer is a scan's, and nobody else's business.
        """
        self._database.told = told

    # ------------------------------------------------------------------ pins

    def attach(
        self, terms: Terms, fingerprint: str, *, by: str = "owner", time: str | None = None
    ) -> Attachment:
        """Attach a dataset: pin its terms the first time, compare with the pins ever after.

        Parameters
        ----------
        terms : Terms
        fingerprint : str
            A hash of the content. It is mapped under the ledger's own key and never stored.
        by, time : str
            Who attaches, and when.

        Raises
        ------
        OwnerError
            When the terms are looser than the pinned ones, or protected content is opened as TEACHING.
        """
        return self._attach(terms, fingerprint, by, time or _now(), reason=None)

    def loosen(
        self, terms: Terms, fingerprint: str, *, by: str, reason: str, time: str | None = None
    ) -> Attachment:
        """Attach with looser terms: the owner's act, recorded with both values and the reason.

        Raises
        ------
        OwnerError
            When protected content would open as TEACHING, or a budget with charges would change its measure.
        """
        if not reason.strip():
            raise OwnerError("Loosening a promise needs a reason: it is recorded with both values.")
        return self._attach(terms, fingerprint, by, time or _now(), reason=reason)

    def _attach(self, terms: Terms, fingerprint: str, by: str, time: str, reason: str | None) -> Attachment:
        with self._database.telling() as db:
            tag = pins.tag(db, fingerprint)
            pins.refuse_teaching(db, terms, tag)
            pinned = pins.pinned(db, terms.dataset)
            changes = pins.changes_of(db, pinned, terms)
            pins.refuse_looser(terms, changes, reason)
            if any(change.term == "budget" for change in changes):
                pins.refuse_measure(db, terms)
            entry = pins.pin(db, terms, changes, by, time, reason, first=pinned is None)
            version = pins.version_of(db, terms, tag, time)
            return Attachment(terms.dataset, terms.pool, version, terms.budget, entry, pinned is None)

    def pins(self, dataset: str) -> Terms | None:
        """Return the terms pinned for a dataset, or None before its first attach."""
        with self._database.reading() as db:
            return pins.pinned(db, dataset)

    # --------------------------------------------------------------- charges

    def charge(  # noqa: PLR0913 - a charge has this many facts, each given by name
        self,
        *,
        request_id: str,
        principal: str,
        digest: str,
        pool: str,
        dataset: str,
        data_version: str,
        cap: PrivacyLoss,
        events_by_question: Sequence[Question],
        caps: Mapping[str, PrivacyLoss] | None = None,
        schema_version: str = "",
        mechanism_version: str = "",
        time: str | None = None,
    ) -> ChargeRow:
        """Charge a batch, once and for good, or refuse it and change nothing.

        Parameters
        ----------
        request_id, principal, digest : str
            The request, who asks, and the digest of the plan: the id is bound to the other two.
        pool, dataset, data_version, schema_version, mechanism_version : str
            What is asked, of which state; the last three and the question are the key of the store.
        cap : PrivacyLoss
            The pool's budget. The budget pinned at attach holds as well.
        events_by_question : sequence of (key, text, events)
        caps : mapping of str to PrivacyLoss
            Caps on this principal's own total, each with the words to call it by. The recorded cap holds as well.
        time : str
            When, in ISO 8601.

        Returns
        -------
        ChargeRow
            With ``new=False`` when this request was charged before.

        Raises
        ------
        BudgetError
            When a budget or cap would be exceeded. Nothing was spent.
        RequestReused
            When the id was used by another principal, for another plan, or of another state: a retry completes the
            charge that was made, with the data and the mechanisms that it was made for.
        """
        bound = {
            "principal": principal,
            "digest": digest,
            "pool": pool,
            "dataset": dataset,
            "data_version": data_version,
            "schema_version": schema_version,
            "mechanism_version": mechanism_version,
        }
        events = [event for _, _, part in events_by_question for event in part]
        asked = compose(events, cap.measure)
        with self._database.telling() as db:
            found = totals.charged(db, request_id, bound)
            if found is not None:
                return found
            period = totals.period_of(db, pool)
            spent, mine = totals.totals(db, pool, principal, period, cap.measure)
            limits = admission.limits(db, pool, principal, cap, caps or {})
            admission.admit(asked, events, len(events_by_question), admission.filters(limits, spent, mine))
            row = ChargeRow(
                0, asked, Odometer(spent).after(asked).spent, Odometer(mine).after(asked).spent, new=True
            )
            body = {
                **bound,
                "request": request_id,
                "period": period,
                "loss": asked.to_json(),
                "spent": row.spent_after.to_json(),
                "mine": row.principal_after.to_json(),
                "questions": [
                    {"key": key, "text": text, "events": [event.to_json() for event in part]}
                    for key, text, part in events_by_question
                ],
            }
            entry = append(db, time or _now(), "charge", body)
            values = (entry, request_id, principal, digest, pool, dataset, period)
            sums = (canonical(body["spent"]), canonical(body["mine"]))
            db.execute("INSERT INTO charges VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*values, *sums))
            return ChargeRow(entry, asked, row.spent_after, row.principal_after, new=True)

    def charged(self, request_id: str, principal: str) -> tuple[str, ...] | None:
        """Return the keys of the questions that a request was charged for, in order, or None before its charge."""
        query = "SELECT body FROM charges JOIN entries USING (entry) WHERE request = ? AND principal = ?"
        with self._database.reading() as db:
            row = db.execute(query, (request_id, principal)).fetchone()
        return None if row is None else tuple(question["key"] for question in json.loads(row[0])["questions"])

    def spent(self, pool: str, principal: str | None = None) -> PrivacyLoss:
        """Return what a pool, or one principal of it, has spent in the current period."""
        with self._database.reading() as db:
            measure = totals.measure_of(db, pool)
            whole, mine = totals.totals(db, pool, principal or "", totals.period_of(db, pool), measure)
            return whole if principal is None else mine

    # ----------------------------------------------------------------- store

    def store(
        self, request_id: str, principal: str, answers: Sequence[Answer], *, time: str | None = None
    ) -> list[Answer]:
        """Store the answers of a charged request, and return the answers that *are* stored: the first writer's.

        Parameters
        ----------
        request_id, principal : str
        answers : sequence of dict
            One JSON object for each charged question, in the charge's order.

        Raises
        ------
        CuratorError
            When the request was never charged to this principal, or the number of answers is another.
        ChargedError
            When the file cannot be written now: the charge stands, and the next attempt completes it.
        """
        texts = [canonical(answer) for answer in answers]
        with stored.after_the_charge(), self._database.writing() as db:
            charge, body = stored.charge_body(db, request_id, principal)
            if len(body["questions"]) != len(texts):
                raise CuratorError("A charge of other questions: the answers do not match.")
            entry = stored.next_entry(db)
            won = db.execute(
                "INSERT INTO answers VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (request_id, principal, entry)
            ).rowcount
            if won == 1:
                hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
                append(
                    db, time or _now(), "store", {"request": request_id, "charge": charge, "answers": hashes}
                )
                rows = [
                    (entry, place, address(body, question["key"]), charge, canonical(question), text)
                    for place, (question, text) in enumerate(zip(body["questions"], texts, strict=True))
                ]
                db.executemany("INSERT INTO stored VALUES (?, ?, ?, ?, ?, ?)", rows)
            return stored.answers_of(db, request_id, principal) or []

    def answers(self, request_id: str, principal: str) -> list[Answer] | None:
        """Return the stored answers of a request, or None when there are none for this principal."""
        with self._database.reading() as db:
            return stored.answers_of(db, request_id, principal)

    def best_stored(
        self,
        principal: str,
        data_version: str,
        schema_version: str,
        mechanism_version: str,
        key: str,
        measure: Measure,
    ) -> list[StoredAnswer]:
        """Return every stored answer to one canonical question, the one that cost most first."""
        scope = {
            "principal": principal,
            "data_version": data_version,
            "schema_version": schema_version,
            "mechanism_version": mechanism_version,
        }
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT question, answer, charge, time FROM stored JOIN entries ON entries.entry = stored.charge "
                "WHERE address = ?",
                (address(scope, key),),
            ).fetchall()
        found = [stored.stored_answer(row, measure) for row in rows]
        return sorted(found, key=lambda stored: (-stored.loss.amount, -stored.loss.delta, stored.entry))

    # ------------------------------------------------------- caps and resets

    def set_cap(self, principal: str, pool: str, cap: PrivacyLoss | None, *, time: str | None = None) -> int:
        """Record a principal's own cap on what it may spend of a pool (None lifts it); return the entry.

        Raises
        ------
        LossError
            When the cap's measure is not the pool's.
        """
        with self._database.telling() as db:
            if cap is not None and totals.known_measure(db, pool) not in {None, cap.measure}:
                raise LossError(
                    f"This budget is kept in another measure: a cap in {cap.measure.symbol} cannot hold it."
                )
            record = None if cap is None else cap.to_json()
            entry = append(db, time or _now(), "cap", {"principal": principal, "pool": pool, "cap": record})
            text = None if record is None else canonical(record)
            db.execute("INSERT INTO caps VALUES (?, ?, ?, ?)", (entry, principal, pool, text))
            return entry

    def cap(self, principal: str, pool: str) -> PrivacyLoss | None:
        """Return a principal's own recorded cap."""
        with self._database.reading() as db:
            return totals.own_cap(db, principal, pool)

    def reset(self, pool: str, *, by: str = "owner", time: str | None = None) -> int:
        """Open a new budget period of a pool of TEACHING datasets; what was spent stays on record.

        Raises
        ------
        OwnerError
            When any dataset of the pool is not TEACHING.
        """
        with self._database.telling() as db:
            modes = pins.modes(db, pool)
            if not modes or modes != {"teaching"}:
                raise OwnerError(
                    "Only a TEACHING dataset's budget can be reset. Protected data have one budget, for good."
                )
            entry = append(db, time or _now(), "reset", {"pool": pool, "by": by})
            db.execute("INSERT INTO resets VALUES (?, ?)", (entry, pool))
            return entry

    # ------------------------------------------------------------- statement

    def statement(
        self, dataset: str | None = None, principal: str | None = None, after: int = 0
    ) -> list[StatementRow]:
        """List the ledger's acts after an entry, oldest first, for a dataset and a principal where these are given.

        Acts on a dataset's pool (its caps and resets) belong to it; acts without a principal belong to all.
        """
        with self._database.reading() as db:
            terms = None if dataset is None else pins.pinned(db, dataset)
            query = "SELECT DISTINCT charge FROM stored WHERE charge > ?"
            answered = {row[0] for row in db.execute(query, (after,))}
            query = "SELECT entry, time, kind, hash, body FROM entries WHERE entry > ? ORDER BY entry"
            acts = db.execute(query, (after,)).fetchall()
        rows = (
            statement.row_of(act, answered) for act in acts if act[2] not in {"store", "migration", "version"}
        )
        pool = None if terms is None else terms.pool
        return [row for row in rows if statement.concerns(row, dataset, pool, principal)]

    def verify(self, known: str | None = None) -> Verification:
        """Recompute the hash chain, the running totals and the tables beside it.

        Parameters
        ----------
        known : str, optional
            A hash seen earlier; the ledger must still contain it. (A chain cannot tell that its end was cut off.)
        """
        with self._database.reading() as db:
            return examine(db, known)
