"""What a front end shows of a session: datasets with schema, budget and ledger, as strict JSON.

One function of the session, so that the panel in the notebook, the panel beside it and the gauge in the status bar cannot
differ. It reads the ledger; it never charges it. Text is other people's: it is cleaned here and never markup.
"""

from __future__ import annotations

import itertools
from typing import Any

from dpnb import __version__
from dpnb.cards import budget as budgets
from dpnb.cards.attach import missing_rule
from dpnb.cards.markup import clean
from dpnb.errors import DpnbError

__all__ = ["PROTOCOL", "dataset_record", "snapshot"]

PROTOCOL = 1
_ROWS = 200
_COLUMNS = 200
_count = itertools.count(1)


def snapshot(session: Any) -> dict[str, Any]:
    """Return what is open, what it may be asked, and what was spent.

    Parameters
    ----------
    session : Session
        Of this kernel. It starts no curator of its own here: without an open dataset nothing is asked of one.
    """
    datasets, problem = [], ""
    for dataset in list(session.datasets.values()):
        try:
            datasets.append(dataset_record(dataset))
        except DpnbError as error:
            problem = clean(error).splitlines()[0]
    return {
        "protocol": PROTOCOL,
        "version": __version__,
        "seq": next(_count),
        "datasets": datasets,
        "problem": problem,
    }


def dataset_record(dataset: Any) -> dict[str, Any]:
    """Return one dataset: its schema, and its budget and ledger as they stand."""
    schema, now = dataset.schema, dataset.budget.state()
    return {
        "name": schema.name,
        "title": clean(schema.title or schema.name),
        "badge": schema.mode.badge,
        "sentence": schema.mode.sentence,
        "unit": schema.unit.sentence(),
        "symbol": now.cap.measure.symbol,
        "cap": float(now.cap.amount),
        "spent": float(now.spent.amount),
        "left": float(now.left.amount),
        "used": budgets.used_share(now.cap - now.left, now.cap),
        "words": f"spent {now.spent} · {budgets.words(now.left, now.cap)}",
        "own": "" if now.personal is None else f"your own cap: {now.mine} of {now.personal} spent",
        "columns": [_column(column) for column in schema.columns[:_COLUMNS]],
        "ledger": [_row(row) for row in dataset.session.ledger(dataset)[-_ROWS:]],
    }


def _column(column: Any) -> dict[str, Any]:
    words = column.describe()
    return {
        "name": column.name,
        "label": clean(column.label),
        "kind": words if column.type != "category" else f"category {words}",
        "missing": missing_rule(column),
        "numeric": bool(column.numeric),
    }


def _row(row: dict[str, Any]) -> dict[str, Any]:
    loss = row["loss"]
    return {
        "entry": row["entry"],
        "time": row["time"],
        "kind": row["kind"],
        "loss": None if loss is None else float(loss.amount),
        "paid": "" if loss is None else str(loss),
        "questions": [clean(text) for text in row["texts"]],
        "mine": row["principal"] is not None,
        "note": clean(row["note"]),
    }
