"""What the attach card draws: public facts of a dataset, its budget as it stands, and questions to take.

For the widget and for the card that grows it in place. From the public schema and the ledger alone: no row, no count, no value
that was observed.
"""

from __future__ import annotations

from typing import Any

from dpnb.cards.attach import dummy_table, missing_rule, sources
from dpnb.cards.markup import clean
from dpnb.client.handles import Dataset
from dpnb.widgets.host_questions import handle_of
from dpnb.widgets.questions import ready
from dpnb.widgets.snapshot import dataset_record

_MOST = 1000


def attach_facts(dataset: Dataset, name: str | None = None) -> dict[str, Any]:
    """Return what the attach card draws, as strict JSON.

    Parameters
    ----------
    dataset : Dataset
    name : str, optional
        What the notebook calls it.
    """
    schema, handle = dataset.schema, name or handle_of(dataset)
    return {
        "handle": handle,
        "dataset": {**dataset_record(dataset), "columns": []},
        "description": clean(schema.description),
        "notes": [clean(note) for note in dataset.notes],
        "columns": [
            {
                "name": column.name,
                "label": clean(column.label) if column.label != column.name else "",
                "kind": column.describe() if column.type != "category" else f"category {column.describe()}",
                "missing": missing_rule(column),
                "questions": ready(schema, column, handle),
            }
            for column in schema.columns[:_MOST]
        ],
        "more": max(len(schema.columns) - _MOST, 0),
        "rows": dummy_table(schema),
        "sources": [[what, clean(text)] for what, text in sources(schema)],
        "problem": "",
    }
