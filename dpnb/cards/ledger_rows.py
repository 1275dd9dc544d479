"""Rows of the ledger: inside with exact losses, outside as plain JSON values and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dpnb.estimate import Table
from dpnb.estimate.table_formats import Tabular
from dpnb.trusted.privacy.loss import PrivacyLoss

Row = Mapping[str, Any]


def plain_row(row: Row) -> dict[str, Any]:
    """Return a row as plain JSON values; losses exactly, as texts."""
    return {name: item.to_json() if isinstance(item, PrivacyLoss) else item for name, item in row.items()}


class LedgerRows(list[dict[str, Any]], Tabular):
    """Rows as plain JSON values, oldest first: a list that can also be written as a table."""

    def table(self, level: float = 0.95) -> Table:  # noqa: ARG002 -- a ledger has no intervals
        """Return what was asked and what it cost, a row for each entry."""
        return table_of(map(_exact_row, self))

    def _plain(self, level: float) -> list[dict[str, Any]]:  # noqa: ARG002
        return list(self)


def _exact_row(row: Row) -> Row:
    losses = {name: row[name] for name in ("loss", "spent_after") if row[name] is not None}
    return {**row, **{name: PrivacyLoss.from_json(loss) for name, loss in losses.items()}}


def table_of(rows: Iterable[Row]) -> Table:
    """Return rows as a table of texts: what was asked, and what it cost."""
    listed = [_texts(row) for row in rows]
    return Table(
        {
            name: [row[name] for row in listed]
            for name in ("entry", "time", "dataset", "for", "charged", "spent since")
        }
    )


def _texts(row: Row) -> dict[str, Any]:
    return {
        "entry": row["entry"],
        "time": str(row["time"]),
        "dataset": row["dataset"] or "",
        "for": "; ".join(row["texts"]) or row["note"] or row["kind"],
        "charged": "" if row["loss"] is None else str(row["loss"]),
        "spent since": "" if row["spent_after"] is None else str(row["spent_after"]),
    }
