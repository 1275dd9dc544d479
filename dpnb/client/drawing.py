"""Drawing what the client returns: a card where cards can be drawn, else its text. A failing card never hides a result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpnb.estimate.table import Tabular
from dpnb.trusted.canonical import Record

if TYPE_CHECKING:
    from dpnb.estimate import Table


def bundle(card: str, value: object, text: str) -> Record:
    """Return the MIME bundle of a card, or the text alone.

    Parameters
    ----------
    card : str
        The card's function in :mod:`dpnb.cards`.
    value : object
        What it draws.
    text : str
        What to show where nothing is drawn.
    """
    from dpnb import cards

    draw = getattr(cards, card, None)
    if draw is None:
        return {"text/plain": text}
    drawn: Record = draw(value).bundle()
    return drawn


@dataclass(frozen=True, slots=True)
class Statement(Tabular):
    """Ledger rows, oldest first; a table in a notebook, text elsewhere.

    Parameters
    ----------
    rows : tuple of dict
        ``entry, time, kind, dataset, principal, loss, spent_after, texts, answered, note``.
    """

    rows: tuple[Record, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.rows)

    def __getitem__(self, place: Any) -> Any:
        return self.rows[place]

    def table(self, level: float = 0.95) -> Table:  # noqa: ARG002 -- a ledger has no intervals
        """Return what was asked and what it cost, a row for each entry."""
        from dpnb.cards.ledger import table_of

        return table_of(self.rows)

    def _plain(self, level: float) -> list[Record]:  # noqa: ARG002
        from dpnb.cards.ledger import plain_row

        return [plain_row(row) for row in self.rows]

    def __str__(self) -> str:
        return "\n".join(_line(row) for row in self.rows) or "The ledger has no entry for you yet."

    __repr__ = __str__

    def _repr_mimebundle_(self, **_: object) -> Record:
        return bundle("ledger_card", self.rows, str(self))


def _line(row: Record) -> str:
    what = "; ".join(row["texts"]) or row["note"]
    paid = "" if row["loss"] is None else f"{row['loss']} "
    told = "".join(f"\n      measured: {text}" for text in row.get("measured", ()))
    line = f"{row['entry']:>4}  {row['time']}  {row['dataset'] or ''}  {row['kind']}  {paid}{what}".rstrip()
    return f"{line} (in the asker's words){told}" if told else line
