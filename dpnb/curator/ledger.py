"""The ledger: what was promised about each dataset, what was spent, and what was answered. It forgets nothing.

It is append-only and hash-chained, and nothing in it is ever refunded: a budget shrinks with each charge, and a reset
(TEACHING only) is one more entry. A charge reads its running totals from the last charge of its pool, so its time does
not depend on the ledger's length. No answer is stored without a charge; the first writer of an answer wins, and every
retry reads what that one wrote. Content hashes never leave: the world sees random version ids.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from dpnb.curator.audit_trail import Verification, address, examine
from dpnb.curator.chain import append, canonical
from dpnb.curator.database import UNSPENT, Database
from dpnb.curator.terms import Change, Terms, budget_change, compare
from dpnb.errors import BudgetError, ChargedError, CuratorError, LossError, OwnerError, RequestReused
from dpnb.privacy import (
    Budget,
    Filter,
    Measure,
    Odometer,
    PrivacyEvent,
    PrivacyLoss,
    brief,
    compose,
    exact_text,
    floored_digits,
)

__all__ = ["Attachment", "ChargeRow", "Ledger", "Question", "StatementRow", "StoredAnswer"]

Question = tuple[str, str, Sequence[PrivacyEvent]]
"""A charged question: its canonical key, its text for people, its privacy events."""

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Attachment:
    """A dataset as the ledger knows it: its pool, the version of its content, its pinned budget."""

    dataset: str
    pool: str
    version: str
    budget: Budget
    entry: int
    first: bool


@dataclass(frozen=True, slots=True)
class ChargeRow:
    """A charge: its entry, what it cost, what the pool and the principal have spent with it; `new` if made now."""

    entry: int
    loss: PrivacyLoss
    spent_after: PrivacyLoss
    principal_after: PrivacyLoss
    new: bool


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer that was paid for, with what it cost."""

    answer: Answer
    loss: PrivacyLoss
    text: str
    entry: int
    time: str


@dataclass(frozen=True, slots=True)
class StatementRow:
    """One act of the ledger as a person reads it. Fields that an act does not have are None or empty."""

    entry: int
    time: str
    kind: str
    hash: str
    dataset: str | None = None
    pool: str | None = None
    principal: str | None = None
    loss: PrivacyLoss | None = None
    spent_after: PrivacyLoss | None = None
    texts: tuple[str, ...] = ()
    answered: bool = False
    note: str = ""


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
        with self._database.writing() as db:
            tag = _tag(db, fingerprint)
            _refuse_teaching(db, terms, tag)
            pinned = _pins(db, terms.dataset)
            changes = _pin_changes(db, pinned, terms)
            _refuse_looser(terms, changes, reason)
            if any(change.term == "budget" for change in changes):
                _refuse_measure(db, terms)
            entry = _pin(db, terms, changes, by, time, reason, first=pinned is None)
            version = _version(db, terms, tag, time)
            return Attachment(terms.dataset, terms.pool, version, terms.budget, entry, pinned is None)

    def pins(self, dataset: str) -> Terms | None:
        """Return the terms pinned for a dataset, or None before its first attach."""
        with self._database.reading() as db:
            return _pins(db, dataset)

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
        with self._database.writing() as db:
            found = _charged(db, request_id, bound)
            if found is not None:
                return found
            period = _period(db, pool)
            spent, mine = _totals(db, pool, principal, period, cap.measure)
            limits = _limits(db, pool, principal, cap, caps or {})
            _admit(asked, events, len(events_by_question), _filters(limits, spent, mine))
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
            totals = (canonical(body["spent"]), canonical(body["mine"]))
            db.execute("INSERT INTO charges VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*values, *totals))
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
            measure = _measure(db, pool)
            whole, mine = _totals(db, pool, principal or "", _period(db, pool), measure)
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
        with _after_the_charge(), self._database.writing() as db:
            charge, body = _charge_body(db, request_id, principal)
            if len(body["questions"]) != len(texts):
                raise CuratorError("A charge of other questions: the answers do not match.")
            entry = _next_entry(db)
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
            return _answers(db, request_id, principal) or []

    def answers(self, request_id: str, principal: str) -> list[Answer] | None:
        """Return the stored answers of a request, or None when there are none for this principal."""
        with self._database.reading() as db:
            return _answers(db, request_id, principal)

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
        found = [_stored_answer(row, measure) for row in rows]
        return sorted(found, key=lambda stored: (-stored.loss.amount, -stored.loss.delta, stored.entry))

    # ------------------------------------------------------- caps and resets

    def set_cap(self, principal: str, pool: str, cap: PrivacyLoss | None, *, time: str | None = None) -> int:
        """Record a principal's own cap on what it may spend of a pool (None lifts it); return the entry.

        Raises
        ------
        LossError
            When the cap's measure is not the pool's.
        """
        with self._database.writing() as db:
            if cap is not None and _known_measure(db, pool) not in {None, cap.measure}:
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
            return _cap(db, principal, pool)

    def reset(self, pool: str, *, by: str = "owner", time: str | None = None) -> int:
        """Open a new budget period of a pool of TEACHING datasets; what was spent stays on record.

        Raises
        ------
        OwnerError
            When any dataset of the pool is not TEACHING.
        """
        with self._database.writing() as db:
            modes = _modes(db, pool)
            if not modes or modes != {"teaching"}:
                raise OwnerError(
                    "Only a TEACHING dataset's budget can be reset. Protected data have one budget, for good."
                )
            entry = append(db, time or _now(), "reset", {"pool": pool, "by": by})
            db.execute("INSERT INTO resets VALUES (?, ?)", (entry, pool))
            return entry

    # ------------------------------------------------------------- statement

    def statement(self, dataset: str | None = None, principal: str | None = None) -> list[StatementRow]:
        """List the ledger's acts, oldest first, for a dataset and a principal where these are given.

        Acts on a dataset's pool (its caps and resets) belong to it; acts without a principal belong to all.
        """
        with self._database.reading() as db:
            pins = None if dataset is None else _pins(db, dataset)
            answered = {row[0] for row in db.execute("SELECT DISTINCT charge FROM stored")}
            acts = db.execute("SELECT entry, time, kind, hash, body FROM entries ORDER BY entry").fetchall()
        rows = (
            _statement_row(act, answered) for act in acts if act[2] not in {"store", "migration", "version"}
        )
        pool = None if pins is None else pins.pool
        return [row for row in rows if _concerns(row, dataset, pool, principal)]

    def verify(self, known: str | None = None) -> Verification:
        """Recompute the hash chain, the running totals and the tables beside it.

        Parameters
        ----------
        known : str, optional
            A hash seen earlier; the ledger must still contain it. (A chain cannot tell that its end was cut off.)
        """
        with self._database.reading() as db:
            return examine(db, known)


# ---------------------------------------------------------------------- pins


def _tag(db: sqlite3.Connection, fingerprint: str) -> str:
    key = db.execute("SELECT value FROM secrets WHERE name = 'versions'").fetchone()[0]
    return hmac.new(key, fingerprint.encode(), hashlib.sha256).hexdigest()


def _refuse_teaching(db: sqlite3.Connection, terms: Terms, tag: str) -> None:
    found = db.execute(
        "SELECT 1 FROM versions WHERE content = ? AND protected = 1 LIMIT 1", (tag,)
    ).fetchone()
    if terms.mode == "teaching" and found:
        raise OwnerError(
            f"{terms.dataset}: this content was attached as protected data and never opens as TEACHING. "
            'Write mode = "guard-rail".'
        )


def _pins(db: sqlite3.Connection, dataset: str) -> Terms | None:
    query = "SELECT terms FROM attachments WHERE dataset = ? ORDER BY entry DESC LIMIT 1"
    row = db.execute(query, (dataset,)).fetchone()
    return None if row is None else Terms.from_json(json.loads(row[0]))


def _pool_budget(db: sqlite3.Connection, pool: str) -> Budget | None:
    query = "SELECT budget FROM attachments WHERE pool = ? ORDER BY entry DESC LIMIT 1"
    row = db.execute(query, (pool,)).fetchone()
    return None if row is None else _budget_of(row[0])


@lru_cache(maxsize=256)
def _budget_of(text: str) -> Budget:
    return Budget.from_json(json.loads(text))


def _pin_changes(db: sqlite3.Connection, pinned: Terms | None, terms: Terms) -> tuple[Change, ...]:
    changes = () if pinned is None else tuple(c for c in compare(pinned, terms) if c.term != "budget")
    budget = _pool_budget(db, terms.pool)
    if budget is None and pinned is not None:
        budget = pinned.budget
    return changes if budget is None else (*budget_change(budget, terms.budget), *changes)


def _refuse_looser(terms: Terms, changes: Iterable[Change], reason: str | None) -> None:
    looser = [str(change) for change in changes if change.looser]
    if looser and reason is None:
        raise OwnerError(
            f"{terms.dataset}: {'; '.join(looser[:3])}{'; …' if len(looser) > 3 else ''}. The first attach pinned "
            "these terms: write the pinned value again, or record the loosening as the owner: "
            f'dpnb loosen {terms.dataset}.dpnb.toml --reason "…"'
        )


def _refuse_measure(db: sqlite3.Connection, terms: Terms) -> None:
    row = db.execute("SELECT spent FROM charges WHERE pool = ? LIMIT 1", (terms.pool,)).fetchone()
    if row is not None and json.loads(row[0])["measure"] != terms.budget.measure.value:
        raise OwnerError(
            f"{terms.dataset}: a budget with charges keeps its measure. Write [budget] as it was."
        )


def _pin(
    db: sqlite3.Connection,
    terms: Terms,
    changes: tuple[Change, ...],
    by: str,
    time: str,
    reason: str | None,
    *,
    first: bool,
) -> int:
    if not first and not changes:
        query = "SELECT entry FROM attachments WHERE dataset = ? ORDER BY entry DESC LIMIT 1"
        return int(db.execute(query, (terms.dataset,)).fetchone()[0])
    looser = any(change.looser for change in changes)
    kind = "loosen" if looser else "attach" if first else "tighten"
    body = {"terms": terms.to_json(), "by": by, "changes": [change.to_json() for change in changes]}
    entry = append(db, time, kind, body if reason is None else {**body, "reason": reason})
    values = (entry, terms.dataset, terms.pool, canonical(terms.budget.to_json()), canonical(terms.to_json()))
    db.execute("INSERT INTO attachments VALUES (?, ?, ?, ?, ?)", values)
    return entry


def _version(db: sqlite3.Connection, terms: Terms, tag: str, time: str) -> str:
    query = "SELECT version, protected FROM versions WHERE content = ? AND dataset = ? ORDER BY entry DESC LIMIT 1"
    row = db.execute(query, (tag, terms.dataset)).fetchone()
    protected = int(not terms.public)
    if row is not None and row[1] >= protected:
        return str(row[0])
    version = secrets.token_hex(8) if row is None else str(row[0])
    body = {"dataset": terms.dataset, "content": tag, "version": version, "protected": protected}
    entry = append(db, time, "version", body)
    db.execute("INSERT INTO versions VALUES (?, ?, ?, ?, ?)", (entry, terms.dataset, tag, version, protected))
    return version


def _modes(db: sqlite3.Connection, pool: str) -> set[str]:
    query = "SELECT DISTINCT dataset FROM attachments WHERE pool = ?"
    pins = [_pins(db, row[0]) for row in db.execute(query, (pool,)).fetchall()]
    return {terms.mode for terms in pins if terms is not None}


# ------------------------------------------------------------------- charges


def _charged(db: sqlite3.Connection, request_id: str, bound: Mapping[str, str]) -> ChargeRow | None:
    query = "SELECT entry, spent, mine, body FROM charges JOIN entries USING (entry) WHERE request = ?"
    row = db.execute(query, (request_id,)).fetchone()
    if row is None:
        return None
    body = json.loads(row[3])
    if any(body[name] != value for name, value in bound.items()):
        raise RequestReused(
            "This request id was used for another plan. Run the cell again: it gets a new one."
        )
    return ChargeRow(row[0], _loss(body["loss"]), _loss_of(row[1]), _loss_of(row[2]), new=False)


def _period(db: sqlite3.Connection, pool: str) -> int:
    row = db.execute(
        "SELECT entry FROM resets WHERE pool = ? ORDER BY entry DESC LIMIT 1", (pool,)
    ).fetchone()
    return 0 if row is None else int(row[0])


def _totals(
    db: sqlite3.Connection, pool: str, principal: str, period: int, measure: Measure
) -> tuple[PrivacyLoss, PrivacyLoss]:
    whole = "SELECT spent, period FROM charges WHERE pool = ? ORDER BY entry DESC LIMIT 1"
    mine = "SELECT mine, period FROM charges WHERE principal = ? AND pool = ? ORDER BY entry DESC LIMIT 1"
    rows = (db.execute(whole, (pool,)).fetchone(), db.execute(mine, (principal, pool)).fetchone())
    zero = PrivacyLoss.zero(measure)
    spent, own = (_loss_of(row[0]) if row is not None and row[1] == period else zero for row in rows)
    return spent, own


def _loss(record: Mapping[str, Any]) -> PrivacyLoss:
    return PrivacyLoss.from_json(record)


@lru_cache(maxsize=1024)
def _loss_of(text: str) -> PrivacyLoss:
    return PrivacyLoss.from_json(json.loads(text))


def _known_measure(db: sqlite3.Connection, pool: str) -> Measure | None:
    budget = _pool_budget(db, pool)
    if budget is not None:
        return budget.measure
    row = db.execute(
        "SELECT spent FROM charges WHERE pool = ? ORDER BY entry DESC LIMIT 1", (pool,)
    ).fetchone()
    return None if row is None else _loss_of(row[0]).measure


def _measure(db: sqlite3.Connection, pool: str) -> Measure:
    return _known_measure(db, pool) or Measure.PURE


def _cap(db: sqlite3.Connection, principal: str, pool: str) -> PrivacyLoss | None:
    query = "SELECT cap FROM caps WHERE principal = ? AND pool = ? ORDER BY entry DESC LIMIT 1"
    row = db.execute(query, (principal, pool)).fetchone()
    return None if row is None or row[0] is None else _loss_of(row[0])


@dataclass(frozen=True, slots=True)
class _Limit:
    """A cap, the words for it, and whether it limits the principal alone or everybody."""

    words: str
    cap: PrivacyLoss
    personal: bool


def _limits(
    db: sqlite3.Connection, pool: str, principal: str, cap: PrivacyLoss, caps: Mapping[str, PrivacyLoss]
) -> list[_Limit]:
    pinned, own = _pool_budget(db, pool), _cap(db, principal, pool)
    limits = [_Limit("", cap, personal=False)]
    limits += [] if pinned is None else [_Limit("", pinned.cap, personal=False)]
    limits += [_Limit(words, limit, personal=True) for words, limit in caps.items()]
    return limits if own is None else [*limits, _Limit("your own cap of ", own, personal=True)]


def _filters(
    limits: Iterable[_Limit], spent: PrivacyLoss, mine: PrivacyLoss
) -> list[tuple[str, Filter, PrivacyLoss]]:
    return [(limit.words, Filter(limit.cap), mine if limit.personal else spent) for limit in limits]


def _admit(
    asked: PrivacyLoss,
    events: Sequence[PrivacyEvent],
    questions: int,
    filters: Iterable[tuple[str, Filter, PrivacyLoss]],
) -> None:
    refusing = [(words, limit, spent) for words, limit, spent in filters if not limit.admits(spent, asked)]
    if not refusing:
        return
    words, limit, spent = min(refusing, key=lambda refusal: refusal[1].left(refusal[2]).amount)
    left = limit.left(spent)
    ways = " · ".join(_ways_out(asked, left, events, questions))
    raise BudgetError(
        f"This cell asks for {asked.brief('up')}; {_amount(left)} is left of {words}{_amount(limit.cap)}. "
        f"Ways out: {ways}. Nothing was spent.",
        asked=exact_text(asked.amount),
        left=exact_text(left.amount),
        cap=exact_text(limit.cap.amount),
        measure=asked.measure.value,
        delta={
            "asked": exact_text(asked.delta),
            "left": exact_text(left.delta),
            "cap": exact_text(limit.cap.delta),
        },
    )


def _amount(loss: PrivacyLoss) -> str:
    return loss.brief("down").split(" ", 1)[1]


def _ways_out(
    asked: PrivacyLoss, left: PrivacyLoss, events: Sequence[PrivacyEvent], questions: int
) -> Iterable[str]:
    option = _option_that_fits(asked, left, events)
    if option is not None:
        yield f"%%dp {option}"
    yield "reuse a stored answer (%dp ledger)"
    if questions > 1:
        yield f"drop one of {questions} queries"


def _option_that_fits(asked: PrivacyLoss, left: PrivacyLoss, events: Sequence[PrivacyEvent]) -> str | None:
    """Name the same cell's option at a loss that fits: ε scales a pure loss linearly and a ρ quadratically."""
    kinds = {event.kind for event in events}
    if asked.measure is Measure.PURE:
        name, amount = "epsilon", left.amount
    elif kinds == {"gaussian"}:
        name, amount = "rho", left.amount
    elif "gaussian" not in kinds:
        shrink = Fraction(floored_digits(Fraction(float(left.amount / asked.amount) ** 0.5), 9))
        name, amount = "epsilon", sum((event.amount for event in events), Fraction(0)) * shrink
    else:
        return None
    amount = floored_digits(amount)
    return f"{name}={brief(amount, 'down')}" if amount > 0 else None


# --------------------------------------------------------------------- store


@contextlib.contextmanager
def _after_the_charge() -> Iterator[None]:
    """Say the truth about a fault of the file between charge and answer: the charge stands."""
    try:
        yield
    except OwnerError as error:
        cause = error.message.removesuffix(UNSPENT)
        raise ChargedError(
            f"{cause} The charge stands: running again is not charged twice, and gives its answer."
        ) from error


def _charge_body(db: sqlite3.Connection, request_id: str, principal: str) -> tuple[int, dict[str, Any]]:
    query = "SELECT charges.entry, body FROM charges JOIN entries USING (entry) WHERE request = ? AND principal = ?"
    row = db.execute(query, (request_id, principal)).fetchone()
    if row is None:
        raise CuratorError("No answer is stored without a charge.")
    return int(row[0]), json.loads(row[1])


def _next_entry(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT coalesce(max(entry), 0) + 1 FROM entries").fetchone()[0])


def _answers(db: sqlite3.Connection, request_id: str, principal: str) -> list[Answer] | None:
    query = "SELECT entry FROM answers WHERE request = ? AND principal = ?"
    row = db.execute(query, (request_id, principal)).fetchone()
    if row is None:
        return None
    rows = db.execute("SELECT answer FROM stored WHERE entry = ? ORDER BY place", row)
    return [json.loads(text) for (text,) in rows]


def _stored_answer(row: tuple[str, str, int, str], measure: Measure) -> StoredAnswer:
    question, answer, entry, time = row
    record = json.loads(question)
    loss = compose([PrivacyEvent.from_json(event) for event in record["events"]], measure)
    return StoredAnswer(json.loads(answer), loss, record["text"], entry, time)


# ----------------------------------------------------------------- statement


def _statement_row(act: tuple[int, str, str, str, str], answered: set[int]) -> StatementRow:
    entry, time, kind, digest, text = act
    body = json.loads(text)
    if kind == "charge":
        return StatementRow(
            entry,
            time,
            kind,
            digest,
            dataset=body["dataset"],
            pool=body["pool"],
            principal=body["principal"],
            loss=_loss(body["loss"]),
            spent_after=_loss(body["spent"]),
            texts=tuple(question["text"] for question in body["questions"]),
            answered=entry in answered,
        )
    terms = body.get("terms", {})
    return StatementRow(
        entry,
        time,
        kind,
        digest,
        dataset=terms.get("dataset"),
        pool=body.get("pool", terms.get("pool")),
        principal=body.get("principal"),
        note=_note(kind, body),
    )


def _note(kind: str, body: Mapping[str, Any]) -> str:
    if kind == "cap":
        return "cap lifted" if body["cap"] is None else f"cap {_loss(body['cap'])}"
    if kind == "reset":
        return "a new budget period"
    changes = "; ".join(f"{c['term']}: {c['pinned']} → {c['now']}" for c in body.get("changes", ()))
    reason = body.get("reason")
    return f"{changes} ({reason})" if reason else changes


def _concerns(row: StatementRow, dataset: str | None, pool: str | None, principal: str | None) -> bool:
    here = dataset is None or row.dataset == dataset or (row.dataset is None and row.pool == pool)
    return here and (principal is None or row.principal in {None, principal})
