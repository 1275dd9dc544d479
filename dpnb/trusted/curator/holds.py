"""What an owner holds back of a dataset: frozen until they say otherwise, or closed for ever.

A hold stops new charges and the adoption of old ones, in the transaction that would make them; what was charged before is still
answered (it is paid), and what is stored stays free. It holds every name under which the same rows are known, so that a second name
is no way round; closed rows get no further name, whatever an owner records. Nothing here ever opens what was closed.
The acts themselves are an owner's (:mod:`dpnb.trusted.owner.act_entries`). Every function works inside its caller's transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Final

from dpnb.trusted.errors import OwnerError

STATES: Final[Mapping[str, str]] = {"unfreeze": "open", "freeze": "frozen", "close": "closed"}
"""What each act makes of a dataset, the strictest last."""

_LISTED: Final = 12
WORDS: Final = {
    "frozen": "is frozen by its owner until they open it again",
    "closed": "was closed by its owner for ever",
}
"""How a dataset that is held is spoken of."""


def state(db: sqlite3.Connection, dataset: str) -> str:
    """Return ``"open"``, ``"frozen"`` or ``"closed"``."""
    query = "SELECT state FROM holds WHERE dataset = ? ORDER BY entry DESC LIMIT 1"
    row = db.execute(query, (dataset,)).fetchone()
    return "open" if row is None else str(row[0])


def words(db: sqlite3.Connection, dataset: str) -> str | None:
    """Say what is held of a dataset, or return None where nothing is."""
    now = state(db, dataset)
    return None if now == "open" else f"{dataset} {WORDS[now]}: stored and published answers stay, free."


class HeldError(OwnerError):
    """A dataset is held: whoever may ask it may know that. Its name in the ledger is told, and no reason and no path."""


def refuse(db: sqlite3.Connection, dataset: str) -> None:
    """Refuse a new charge of a dataset that is held."""
    held = words(db, dataset)
    if held is not None:
        raise HeldError(f"{held} Nothing new is released, and nothing was spent. {_published(db, dataset)}")


def _published(db: sqlite3.Connection, dataset: str) -> str:
    """Say what was published of a dataset, by the words of whoever asked it."""
    query = (
        "SELECT question FROM entries JOIN stored USING (entry) WHERE kind = 'publish' AND "
        "json_extract(body, '$.dataset') = ? ORDER BY entry, place"
    )
    asked = (json.loads(row[0])["texts"][0] for row in db.execute(query, (dataset,)))
    texts = list(dict.fromkeys(asked))
    more = f" and {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
    return (
        f"Published were: {', '.join(texts[:_LISTED])}{more}."
        if texts
        else "Nothing of it was published yet."
    )


def refuse_closed_rows(db: sqlite3.Connection, dataset: str, others: Iterable[str]) -> str | None:
    """Say why rows that are known under other names get no further one, or return None: they were closed."""
    if any(state(db, other) == "closed" for other in others if other != dataset):
        return f"{dataset}: these rows were closed by their owner for ever. They cannot be opened under another name."
    return None


def held_since(db: sqlite3.Connection, entry: int) -> dict[str, str]:
    """Return the state of every dataset that was held or opened after an entry."""
    rows = db.execute("SELECT dataset, state FROM holds WHERE entry > ? ORDER BY entry", (entry,))
    return dict(rows.fetchall())
