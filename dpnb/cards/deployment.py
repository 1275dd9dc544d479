"""An entry for the public registry of deployments: what dpnb knows of a dataset's releases, and what its curator must add.

The registry has three tiers of transparency: *1* who publishes what for which use, *2* the flavour of differential privacy, its unit, loss
and deployment model, *3* the data's domain, what is not protected, accounting, implementation and reasons. Tiers 2 and 3 follow from
the schema and the releases; names, uses and reasons are people's and are left empty, by name.

References
----------
.. [1] Nanayakkara, Ghazi and Vadhan (2025), "Practitioners' Perspectives on a Differential Privacy Deployment Registry".
.. [2] Differential Privacy Deployments Registry, "Transparency tiers", https://registry.opendp.org/transparency-tiers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dpnb.cards.card import Record
from dpnb.cards.markup import clean
from dpnb.cards.methods import FLAVOURS, NEIGHBOURS, asked_of, mechanisms_of, total_of
from dpnb.errors import OptionError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.estimate.table import json_text
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.schema import Column, Mode, Schema
from dpnb.version import __version__

REGISTRY = "https://registry.opendp.org"

_NOT_PROTECTED = {
    Mode.TEACHING: "the data are public and the curator gives out exact answers: nothing is protected",
    Mode.GUARD_RAIL: "the curator is a child process of the analyst's own: it protects against mistakes, not against its owner",
    Mode.ENFORCED: "the curator runs as another user's process; the analyst cannot read the data",
}


def deployments(estimates: Sequence[Estimate], schemas: Sequence[Schema]) -> Record:
    """Return one entry for each dataset, in JSON's own types.

    Parameters
    ----------
    estimates : sequence of Estimate
        Released.
    schemas : sequence of Schema
        The datasets that they are about.
    """
    entries = [_entry(schema, asked_of(estimates, schema, schemas)) for schema in schemas]
    return {"format": 1, "registry": REGISTRY, "deployments": entries}


def registry_file(path: str | Path) -> Path:
    """Return the path of a registry's file.

    Raises
    ------
    OptionError
        Another ending than .json.
    """
    if Path(path).suffix.lower() != ".json":
        raise OptionError('An entry for the registry is JSON: registry="deployment.json".')
    return Path(path)


def write_deployments(path: Path, estimates: Sequence[Estimate], schemas: Sequence[Schema]) -> None:
    """Write the entries into a JSON file."""
    path.write_text(json_text(deployments(estimates, schemas)), encoding="utf-8")


def _entry(schema: Schema, asked: Sequence[PendingQuestion]) -> Record:
    entry: Record = {
        "tier_1": _product(schema, asked),
        "tier_2": _guarantee(schema, asked),
        "tier_3": {
            "data_domain": {clean(column.name): _domain(column) for column in schema.columns},
            "unprotected_quantities": _unprotected(schema),
            "privacy_unit_in_detail": NEIGHBOURS[schema.unit.adjacency],
            "accounting": _accounting(asked),
            "implementation": _implementation(schema),
        },
    }
    return {**entry, "left_to_fill": list(_empty(entry))}


def _product(schema: Schema, asked: Sequence[PendingQuestion]) -> Record:
    return {
        "name": clean(schema.title or schema.name),
        "data_curator": None,
        "intended_use": None,
        "description_of_the_data": clean(schema.description) or None,
        "data_product": [clean(one.text) for one in asked],
        "publication_date": None,
        "source": clean(schema.source_note) or None,
        "citation": clean(schema.citation) or None,
    }


def _guarantee(schema: Schema, asked: Sequence[PendingQuestion]) -> Record:
    loss = total_of(asked)
    return {
        "dp_flavour": FLAVOURS[schema.budget.measure],
        "privacy_unit": "one row" if schema.unit.by_row else f"all rows of one {clean(schema.unit.unit)}",
        "rows_of_a_unit_at_most": schema.unit.max_rows,
        "adjacency": schema.unit.adjacency,
        "privacy_loss_of_these_releases": None if loss is None else _loss(loss),
        "privacy_loss_promised": schema.budget.label,
        "deployment_model": "central: a trusted curator holds the data",
        "release_type": "interactive: questions are chosen adaptively within the promised loss",
    }


def _loss(loss: PrivacyLoss) -> dict[str, str]:
    found = {loss.measure.symbol: str(loss.amount)}
    return found | ({"δ": str(loss.delta)} if loss.delta else {})


def _domain(column: Column) -> str:
    return clean(column.describe())


def _unprotected(schema: Schema) -> list[str]:
    """What the promise says nothing about, because it is public."""
    size = schema.unit.rows if schema.unit.rows is not None else schema.unit.units
    sizes = [] if size is None else [f"the number of {'rows' if schema.unit.by_row else 'units'}: {size:,}"]
    return [*sizes, "the schema: columns, bounds, steps, declared values", "the questions that were asked"]


def _accounting(asked: Sequence[PendingQuestion]) -> Record:
    return {
        "mechanisms": mechanisms_of(asked),
        "composition": "losses of releases add, which is valid for questions chosen adaptively; a ledger refuses what exceeds the promise",
        "post_processing": "intervals, tests and tables are computed from released numbers and public constants alone",
        "loss_by_question": {
            clean(one.text): _loss(loss) for one in asked if (loss := total_of([one])) is not None
        },
    }


def _implementation(schema: Schema) -> Record:
    return {
        "software": f"dpnb {__version__}",
        "arithmetic": "integers on declared grids, exact integer samplers, randomness of the operating system",
        "mode": str(schema.mode),
        "security": _NOT_PROTECTED[schema.mode],
        "origin_of_the_bounds": schema.bounds,
        "rationale": None,
    }


def _empty(entry: Mapping[str, object], above: str = "") -> Iterator[str]:
    """Yield the dotted names of what is empty."""
    for name, value in entry.items():
        if isinstance(value, Mapping):
            yield from _empty(value, f"{above}{name}.")
        elif value is None and name != "rows_of_a_unit_at_most":
            yield f"{above}{name}"
