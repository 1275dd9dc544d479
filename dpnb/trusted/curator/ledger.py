"""The ledger: what was promised about each dataset, what was spent, and what was answered. It forgets nothing.

It is append-only and hash-chained, and nothing in it is ever refunded: a budget shrinks with each charge, and a reset
(TEACHING only) is one more entry. A charge reads its running totals from the last charge of its pool, so its time does
not depend on the ledger's length. A charge records its resolved plan. No answer is stored without a charge; a charge is
answered once, the first writer wins, and every request that is bound to the charge reads what that one wrote. Content
hashes never leave: the world sees random version ids.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from dpnb.trusted.canonical import JsonObject, Record
from dpnb.trusted.curator import (
    admission,
    adoption,
    answer_store,
    holds,
    known_content,
    pins,
    statement,
    totals,
)
from dpnb.trusted.curator.admission import LAST_ACT, MINE, POOL, Limit, Standing
from dpnb.trusted.curator.adoption import Scope
from dpnb.trusted.curator.answer_store import Answer, StoredAnswer
from dpnb.trusted.curator.audit_trail import Verification, examine
from dpnb.trusted.curator.chain import GENESIS, Chain, head, record, timestamp
from dpnb.trusted.curator.database import Database, aside
from dpnb.trusted.curator.file_faults import after_the_charge
from dpnb.trusted.curator.guard import mark_at
from dpnb.trusted.curator.known_content import Tagged
from dpnb.trusted.curator.mark import Total
from dpnb.trusted.curator.pins import Attachment
from dpnb.trusted.curator.statement import StatementRow
from dpnb.trusted.curator.terms import Terms
from dpnb.trusted.curator.totals import ChargeRow, Room
from dpnb.trusted.errors import CuratorError, LossError, OwnerError
from dpnb.trusted.privacy.accountant import compose, spent_after
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.query.price import Charge

_PAGE = 500
"""Entries of a statement that are read at once."""
_MOST_STANDINGS = 4096
"""Principals and datasets of which what acts say is remembered; beyond that all is read again."""
_MOST_CHARGES = 256
"""Charges whose facts and questions are remembered, by their entries' hashes, for their answers."""


def _refuse_unsayable(db: sqlite3.Connection, terms: Terms) -> None:
    """Refuse a new meter whose first total is no loss: a doubled δ of 1 or more promises nothing, and cannot be read."""
    try:
        totals.totals(db, terms.pool, "", totals.period_of(db, terms.pool), totals.measure_of(db, terms.pool))
    except LossError:
        raise OwnerError(
            f"{terms.dataset}: under change-one, the losses already spent would promise nothing (their δ would be 1 or more). "
            'Keep adjacency = "add-remove".'
        ) from None


class Ledger(Database):
    """An open ledger.

    Parameters
    ----------
    path : str or Path
        The file; made (mode 0600) when it does not exist.
    wait : float
        Seconds to wait for another writer.
    life : str, optional
        The id of this life of the curator, which its charges carry; a random one by default.

    Raises
    ------
    OwnerError
        When the file is locked, read-only, truncated, damaged or from a newer dpnb. Where it is not the one that answers
        were given from, it opens frozen instead: see :attr:`frozen`.

    Examples
    --------
    >>> import tempfile
    >>> from fractions import Fraction
    >>> from dpnb.trusted.privacy.event import PrivacyEvent
    >>> from dpnb.trusted.query.plan import Bundle, Share
    >>> from dpnb.trusted.query.price import Charge
    >>> bundle = Bundle(("people.count()",), Share("epsilon", Fraction(1, 10)), 0, ())
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
    ...         questions=[Charge(bundle, "key", (PrivacyEvent("pure", Fraction(1, 10)),))],
    ...     )
    ...     str(row.spent_after), ledger.verify().intact
    ('ε 0.1', True)
    """

    def __init__(self, path: str | Path, *, wait: float = 10.0, life: str | None = None) -> None:
        super().__init__(Path(path), timestamp, wait)
        self._life = life or secrets.token_hex(8)
        self._abandoned: adoption.Abandoned = {}
        self._acts: tuple[Any, dict[Any, Standing]] = (None, {})
        self._charges: dict[str, Record] = {}
        if self.frozen is None:
            try:
                with self.reading() as db:
                    self._abandoned = adoption.abandoned(db)
            except BaseException:
                self.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------ pins

    def attach(
        self,
        terms: Terms,
        content: str,
        marks: Sequence[str] | None = None,
        places: Sequence[str] = (),
        *,
        by: str = "owner",
        time: str | None = None,
        reason: str | None = None,
    ) -> Attachment:
        """Attach a dataset: pin its terms the first time, compare with the pins ever after.

        Parameters
        ----------
        terms : Terms
        content : str
            A fingerprint of exactly this content. It is mapped under the ledger's own key and never stored.
        marks : sequence of str, optional
            Fingerprints by which these rows are recognised under another name; by default `content`.
        places : sequence of str
            What the paths of their files are known by.
        by, time : str
            Who attaches, and when.
        reason : str, optional
            The owner's act: looser terms are pinned, and recorded with both values, this reason and who did it. It also is the
            owner's word that known rows may have a budget under this name, and it ends a freezing.

        Raises
        ------
        OwnerError
            When protected rows would open as TEACHING, or anything under their name or at their path. When a budget with
            charges would change its measure or unit, or a public size would become private. Without a reason also when the
            terms are looser than the pinned ones, when protected rows would get a second budget, or when the dataset is frozen.
            What is said of content is recorded; nothing else is changed.
        """
        if reason is not None and not reason.strip():
            raise OwnerError("Loosening a promise needs a reason: it is recorded with both values.")
        now = time or timestamp()
        with self.telling() as db:
            given = known_content.tagged(db, content, marks, places)
            refusal = known_content.refusal(db, terms, given, reason, by)
            if refusal is None:
                return self._pin(db, terms, given, by, now, reason)
            known_content.note(db, now, refusal.what, terms.dataset, given.marks, by, given.content)
        raise OwnerError(refusal.text)

    @staticmethod
    def _pin(
        db: sqlite3.Connection, terms: Terms, given: Tagged, by: str, time: str, reason: str | None
    ) -> Attachment:
        pinned = pins.pinned(db, terms.dataset)
        changes = pins.changes_of(db, pinned, terms)
        meter = pins.refuse_unit(db, terms, pinned)  # what no act allows is said first
        if any(change.term == "budget" for change in changes):
            pins.refuse_measure(db, terms)
        pins.refuse_looser(db, terms, changes, reason)
        first = pinned is None
        entry = pins.pin(db, terms, changes, by=by, time=time, reason=reason, first=first, meter=meter)
        if meter:
            _refuse_unsayable(db, terms)
        version = known_content.version_of(db, terms, given, time)
        return Attachment(terms.dataset, terms.pool, version, terms.budget, entry, first)

    def count_wrong_size(
        self, dataset: str, marks: Sequence[str], *, by: str, time: str | None = None
    ) -> str | None:
        """Record that a declared size was not the data's; return the refusal of a frozen dataset, once it is one."""
        with self.telling() as db:
            known = known_content.tags(db, marks)
            return known_content.count_wrong_size(db, time or timestamp(), dataset, known, by)

    def pins(self, dataset: str) -> Terms | None:
        """Return the terms pinned for a dataset, or None before its first attach."""
        with self.reading() as db:
            return pins.pinned(db, dataset)

    # ------------------------------------------------------------- owner's acts

    def act(self, made: Callable[[sqlite3.Connection], int]) -> int:
        """Carry out an owner's act (:mod:`dpnb.trusted.owner.act_entries`) in one transaction; when this returns, the mark knows it.

        Returns
        -------
        int
            Its entry.
        """
        with self.telling() as db:
            entry = made(db)
        self.cover(entry)
        return entry

    def state(self, dataset: str) -> str:
        """Return whether a dataset is ``"open"``, ``"frozen"`` or ``"closed"``."""
        with self.reading() as db:
            return holds.state(db, dataset)

    def held(self, dataset: str) -> str | None:
        """Say what is held of a dataset, in words, or return None where nothing is."""
        with self.reading() as db:
            return holds.words(db, dataset)

    def refuse_held(self, dataset: str) -> None:
        """Refuse what a held dataset would be charged for.

        Raises
        ------
        OwnerError
            When it is frozen or closed.
        """
        with self.reading() as db:
            holds.refuse(db, dataset)

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
        questions: Sequence[Charge],
        events: Sequence[PrivacyEvent] | None = None,
        others: Sequence[Charge] = (),
        again: Sequence[str] = (),
        terms: Terms | None = None,
        caps: Sequence[Limit] = (),
        store: str | None = None,
        schema_version: str = "",
        mechanism_version: str = "",
        time: str | None = None,
    ) -> ChargeRow:
        """Charge a batch, once and for good, or refuse it and change nothing.

        A charge that an earlier life of the curator left without an answer is adopted instead, where it is the same
        (:mod:`dpnb.trusted.curator.adoption`): this request is bound to it, and nothing is charged.

        Parameters
        ----------
        request_id, principal, digest : str
            The request, who asks, and the digest of the plan: the id is bound to the other two.
        pool, dataset, data_version, schema_version, mechanism_version : str
            What is asked, of which state; the last three and the question are the key of the store.
        cap : PrivacyLoss
            The pool's budget. The budget pinned at attach holds as well.
        questions, others : sequence of Charge
            What is charged; and what else the batch asks, which the store answers.
        events : sequence of PrivacyEvent, optional
            What the charged questions cost together; without it, all that each costs alone.
        again : sequence of str
            What is measured again: draws that do not count as stored, or everything.
        terms : Terms, optional
            The terms that the price was made for; what is charged anew is refused when they are not the pinned ones.
        caps : sequence of Limit
            Caps on this principal's own total, or on those of shares of the pool to which this charge counts. The recorded
            cap holds as well.
        store : str, optional
            By whom the answers may be read: those who share this store; by default the principal alone.
        time : str
            When, in ISO 8601.

        Returns
        -------
        ChargeRow
            With ``new=False`` when this request was charged before, or another one whose charge it adopts.

        Raises
        ------
        BudgetError
            When a budget or cap would be exceeded. Nothing was spent.
        OwnerError
            When the owner froze or closed the dataset. Nothing was spent.
        CuratorGone
            When the owner changed the terms meanwhile. Nothing was spent.
        RequestReused
            When the id was used by another principal, for another plan, or of another state: a retry completes the
            charge that was made, with the data and the mechanisms that it was made for.
        """
        scope = Scope(principal, pool, dataset, data_version, schema_version, mechanism_version, tuple(again))
        bound = {**scope.to_json(), "digest": digest}
        facts = {**bound, "request": request_id, "life": self._life}
        facts |= {} if store is None else {"store": store}
        now = time or timestamp()

        def act(db: Chain) -> ChargeRow:
            found = totals.charged(db, request_id, bound)
            if found is not None:
                return found
            period, recorded, alone, _ = self._standing(db, dataset, pool, principal, terms)
            spent = _spent(db, pool, principal, period, cap, caps)
            self.refuse_below(pool, Total(period, spent[POOL]))
            before = adoption.find(db, self._abandoned, scope, questions, others)
            if before is not None:
                return _adopted(db, now, before, facts)
            if not alone:
                pins.refuse_mixed(db, dataset)
            costs = [event for one in questions for event in one.events] if events is None else events
            budget = Limit("", cap, POOL)
            limits = [*([] if budget in recorded else [budget]), *recorded, *caps]
            row = _charged(db, now, {**facts, "period": period}, questions, costs, limits, spent)
            if len(self._charges) >= _MOST_CHARGES:
                self._charges.clear()
            self._charges[head(db)[1]] = {**facts, "questions": row.questions}
            return row

        row: ChargeRow = self.together(act)
        self.tell()
        return row

    def _standing(self, db: Chain, *scope: Any) -> Standing:
        """Return what owners' acts say of a charge: what they said before, where there was no act since."""
        act = db.act = db.act or db.execute(LAST_ACT).fetchone()  # none shares a transaction with charges
        key = (*scope[:-1], id(scope[-1]))
        if act != self._acts[0] or len(self._acts[1]) > _MOST_STANDINGS:
            self._acts = act, {}
        if key not in self._acts[1]:
            self._acts[1][key] = admission.standing(db, *scope)
        return self._acts[1][key]

    def has_abandoned(self, principal: str, pool: str) -> bool:
        """Tell whether an earlier life of the curator left this principal a charge of a pool without an answer."""
        return bool(self._abandoned.get((principal, pool)))

    def adoptable(
        self, scope: Scope, questions: Sequence[Charge], others: Sequence[Charge] = ()
    ) -> int | None:
        """Return the entry of the charge that such a request would adopt now, or None."""
        with self.reading() as db:
            return adoption.find(db, self._abandoned, scope, questions, others)

    def charged(self, request_id: str, principal: str) -> tuple[str, ...] | None:
        """Return the names of what a request was charged for, in order, or None before its charge."""
        with self.reading() as db:
            found = answer_store.charge_of(db, request_id, principal, self._charges)
            return None if found is None else tuple(one["measured"] for one in found[1]["questions"])

    def spent(self, pool: str, principal: str | None = None) -> PrivacyLoss:
        """Return what a pool, or one principal of it, has spent in the current period."""
        with self.reading() as db:
            measure = totals.measure_of(db, pool)
            whole, mine = totals.totals(db, pool, principal or "", totals.period_of(db, pool), measure)
            return whole if principal is None else mine

    # ----------------------------------------------------------------- store

    def store(
        self, request_id: str, principal: str, answers: Sequence[Answer], *, time: str | None = None
    ) -> list[Answer]:
        """Store the answers of a charged request's charge, and return the answers that *are* stored: the first writer's.

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
        now, packed = time or timestamp(), list(map(answer_store.packed, answers))

        def act(db: Chain) -> bool:
            charge = answer_store.charge_of(db, request_id, principal, self._charges)
            if charge is None:
                raise CuratorError("No answer is stored without a charge.")
            return answer_store.insert(db, now, *charge, packed)

        with after_the_charge():
            won = self.together(act, leaves=True)
        return list(answers) if won else self.answers(request_id, principal) or []

    def answers(self, request_id: str, principal: str) -> list[Answer] | None:
        """Return the stored answers of the charge that a request is bound to; None when there are none for this principal."""
        with after_the_charge(), self._named():
            with self.showing() as db:
                charge = answer_store.charge_of(db, request_id, principal, self._charges)
                found = None if charge is None else answer_store.found(db, charge[0])
            return None if found is None else answer_store.read(found)

    def is_answered(self, request_id: str, principal: str) -> bool:
        """Tell whether the charge that a request is bound to has its answers."""
        with self.reading() as db:
            charge = answer_store.charge_of(db, request_id, principal, self._charges)
            return charge is not None and totals.is_answered(db, charge[0])

    def best_stored(
        self,
        principal: str,
        data_version: str,
        schema_version: str,
        mechanism_version: str,
        wanted: Iterable[tuple[str, PrivacyLoss]],
        again: Collection[str] = (),
        store: str | None = None,
    ) -> list[StoredAnswer | None]:
        """Return for what is measured, and the loss that is asked for it, the stored answer that serves, or the one that comes nearest.

        That is the oldest of those that cost at least what is asked, one's own (or those of the store that is shared) before
        published ones; where none did, the dearest. Draws in `again` are left out.
        """
        scope = {
            "principal": principal,
            "data_version": data_version,
            "schema_version": schema_version,
            "mechanism_version": mechanism_version,
            **({} if store is None else {"store": store}),
        }
        with self.showing() as db:
            held = frozenset(again)
            return [answer_store.serving(db, scope, measured, asked, held) for measured, asked in wanted]

    def stored(self, wanted: Sequence[StoredAnswer]) -> list[Answer]:
        """Return stored answers that :meth:`best_stored` found, for which the mark was raised then."""
        with self._named():
            with self.reading() as db:
                found = [answer_store.found(db, one.entry, one.row) for one in wanted]
            rows = [one for one in found if one is not None and len(one[1]) == 1]
            if len(rows) < len(wanted):
                raise ValueError("A row of the store is missing.")
            return [answer for one in rows for answer in answer_store.read(one, whole=False)]

    def room(self, pool: str, principal: str, cap: PrivacyLoss, caps: Sequence[Limit] = ()) -> Room:
        """Return what every cap that holds leaves now, and which of them leaves the least."""
        with self.reading() as db:
            spent = _spent(db, pool, principal, totals.period_of(db, pool), cap, caps)
            limits = [Limit("", cap, POOL), *admission.recorded(db, pool, principal), *caps]
            return admission.room(limits, spent)

    # ------------------------------------------------------- caps and resets

    def set_cap(self, principal: str, pool: str, cap: PrivacyLoss | None, *, time: str | None = None) -> int:
        """Record a principal's own cap on what it may spend of a pool (None lifts it); return the entry.

        Raises
        ------
        LossError
            When the cap's measure is not the pool's.
        """
        amount = None if cap is None else cap.to_json()
        with self.telling() as db:
            if cap is None or totals.known_measure(db, pool) in {None, cap.measure}:
                return record(
                    db, time or timestamp(), "cap", {"principal": principal, "pool": pool, "cap": amount}
                )
        raise LossError(
            f"This budget is kept in another measure: a cap in {cap.measure.symbol} cannot limit it."
        )

    def cap(self, principal: str, pool: str) -> PrivacyLoss | None:
        """Return a principal's own recorded cap."""
        with self.reading() as db:
            return totals.own_cap(db, principal, pool)

    def reset(self, pool: str, *, by: str = "owner", time: str | None = None) -> int:
        """Open a new budget period of a pool of TEACHING datasets; what was spent stays on record.

        Raises
        ------
        OwnerError
            When any dataset of the pool is not TEACHING.
        """
        with self.telling() as db:
            modes = pins.modes(db, pool)
            if not modes or modes != {"teaching"}:
                raise OwnerError(
                    "Only a TEACHING dataset's budget can be reset. Protected data have one budget, for good."
                )
            return record(db, time or timestamp(), "reset", {"pool": pool, "by": by})

    # ------------------------------------------------------------- statement

    def statement(
        self,
        dataset: str | None = None,
        principal: str | None = None,
        after: int = 0,
        *,
        entries: Collection[int] = (),
        shares: Collection[str] = (),
        most: int | None = None,
    ) -> list[StatementRow]:
        """List the ledger's acts after an entry, oldest first, for a dataset and a principal where these are given.

        What was charged to one of some shares of the pool belongs to the principal too. Acts on a dataset's pool (its caps and resets)
        belong to it; acts without a principal belong to all. With `entries` these alone are listed, and their charges say in words
        what was measured. With `most` the list ends once it has so many: ask again after its last entry.

        It reads on a connection of its own, and of other principals' charges nothing: no charge waits for it.
        """
        with self.beside() as db:
            terms = None if dataset is None else pins.pinned(db, dataset)
            pool = None if terms is None else terms.pool
            numbers = sorted(set(entries)) or statement.entries_of(db, after, dataset, principal, shares)
            rows: list[StatementRow] = []
            for start in range(0, len(numbers), _PAGE):
                page = [one for one in numbers[start : start + _PAGE] if one > after]
                found = statement.rows_of(db, page, worded=bool(entries))
                rows += [row for row in found if statement.concerns(row, dataset, pool, principal, shares)]
                if most is not None and len(rows) >= most:
                    break
            return rows

    def verify(self, known: str | None = None, ended: Callable[[], bool] = bool) -> Verification:
        """Recompute the hash chain, the running totals and the tables beside it.

        Parameters
        ----------
        known : str, optional
            A hash seen earlier; the ledger must still contain it. Without one, the mark tells that an end was cut off.
        ended : callable
            Asked every few entries whether nobody waits for the outcome any more; a ``CancelledError`` follows.

        It reads on a connection of its own: nobody waits for it, and a frozen ledger can be examined.
        """
        ledger = self.path
        if not ledger.exists():
            return Verification(0, GENESIS, self.frozen or f"{ledger.name} is missing")
        mark = mark_at(ledger)  # before the ledger is read: what is raised meanwhile is not held against it
        with aside(ledger) as db:
            found = examine(db, known, mark, ended)
        return found if found.fault else replace(found, fault=self.frozen)


def _spent(
    db: sqlite3.Connection, pool: str, principal: str, period: int, cap: PrivacyLoss, caps: Sequence[Limit]
) -> dict[str, PrivacyLoss]:
    """Return every running total to which a charge of this principal counts."""
    spent, mine = totals.totals(db, pool, principal, period, cap.measure)
    shares = totals.shares(db, pool, admission.shares_of(caps), period, cap.measure)
    return {POOL: spent, MINE: mine, **shares}


def _adopted(db: sqlite3.Connection, time: str, charge: int, facts: JsonObject) -> ChargeRow:
    """Bind a request to a charge that an earlier life of the curator left without an answer."""
    names = ("request", "principal", "digest", "life", "dataset", "pool")
    record(db, time, "adopt", {**{name: facts[name] for name in names}, "charge": charge})
    return totals.row_of(charge, totals.body_of(db, charge), adopted=True)


def _charged(
    db: sqlite3.Connection,
    time: str,
    facts: Record,
    questions: Sequence[Charge],
    events: Sequence[PrivacyEvent],
    limits: Sequence[Limit],
    spent: Mapping[str, PrivacyLoss],
) -> ChargeRow:
    """Append a charge, if every cap admits it."""
    asked = compose(events, limits[0].cap.measure)
    admission.admit(asked, limits, spent)
    after = {name: spent_after(before, asked) for name, before in spent.items()}
    sums = {name: total.to_json() for name, total in after.items()}
    losses = {"loss": asked.to_json(), "spent": sums.pop(POOL), "mine": sums.pop(MINE)}
    asked_for = [adoption.record_of(question) for question in questions]
    costs = [event.to_json() for event in events]
    body = {**facts, **losses, "questions": asked_for, "events": costs}
    entry = record(db, time, "charge", {**body, "shares": sums} if sums else body)
    room = admission.room(limits, after)
    return ChargeRow(entry, asked, after[POOL], new=True, questions=tuple(asked_for), room=room)
