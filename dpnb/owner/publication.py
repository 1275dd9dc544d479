"""What an owner publishes: one signed file of all answers, and beside it a page that stands alone, a table, a dictionary, a registry entry.

Two more files are metadata for data repositories (:mod:`dpnb.owner.repository_metadata`). All of it is made of released numbers and public facts. The signed file alone can be verified; the others are for people.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dpnb.cards import report
from dpnb.cards.markup import Markup, clean, el
from dpnb.cards.report import PAGE_STYLE, document
from dpnb.client.publication import ENDING, FORMAT
from dpnb.errors import OwnerError
from dpnb.estimate import Estimate
from dpnb.owner import repository_metadata
from dpnb.trusted.canonical import Record
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.schema import Column, Schema

_FLAVOUR = {
    Measure.PURE: "Pure DP",
    Measure.ZCDP: "Zero-Concentrated DP",
    Measure.APPROX_ZCDP: "Approximate DP",
}

_TABLE_STYLE = """
main>table{border-collapse:collapse;font-size:14px}
main>table th,main>table td{text-align:left;padding:.3rem 1.2rem .3rem 0;border-bottom:1px solid #8884}
main>pre{overflow-x:auto;padding:.7rem .9rem;background:#8881;border-radius:6px;font-size:13px}
"""


def record_of(named: Mapping[str, Estimate], schema: Schema, receipts: list[Record], state: str) -> Record:
    """Return what is signed: answers with their questions, the declaration, and receipts."""
    if not receipts:
        raise OwnerError("Nothing was released that could be published: dpnb admin release.")
    return {
        "format": FORMAT,
        "dataset": schema.name,
        "published": datetime.now(UTC).isoformat(timespec="seconds"),
        "state": state,
        "schema": schema.to_json(),
        "ledger": receipts[0]["receipt"]["ledger"],
        "statistics": [_statistic(name, one) for name, one in named.items()],
        "receipts": receipts,
    }


def _statistic(name: str, estimate: Estimate) -> Record:
    asked = estimate.measurement
    assert asked is not None
    releases = [{**one.to_json(), "stored": False} for one in asked.releases]
    return {
        "name": name,
        "text": asked.text,
        "question": asked.question.to_json(),
        "releases": releases,
    }


def files_of(signed: Record, named: Mapping[str, Estimate], schema: Schema) -> dict[str, str]:
    """Return all that is published, by file name; the signed file is the first."""
    name, cited = schema.name, citation(signed, schema)
    return {
        f"{name}{ENDING}": _json(signed),
        f"{name}.pub": signed["key"],
        f"{name}.html": page(signed, named, schema),
        f"{name}.csv": table(named),
        f"{name}.dictionary.csv": dictionary(schema.columns),
        f"{name}.registry.yaml": registry_entry(signed, schema),
        f"{name}.schema-org.json": _json(repository_metadata.schema_org(signed, named, schema, cited)),
        f"{name}.ddi.json": _json(repository_metadata.ddi(signed, named, schema, cited)),
    }


def _json(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def new_folder(folder: Path) -> None:
    """Make a folder for a publication.

    Raises
    ------
    OwnerError
        When it is there already, or cannot be made; nothing is overwritten.
    """
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise OwnerError(f"{folder} exists and is left as it is. Name a new folder with --to.") from None
    except OSError as fault:
        raise OwnerError(f"{folder} cannot be made: {fault.strerror}.") from None


# ---------------------------------------------------------------------- the page


def page(signed: Record, named: Mapping[str, Estimate], schema: Schema) -> str:
    """Return a page that stands alone: numbers with intervals and pictures, methods, how to cite and to verify, the dictionary."""
    body = report(named, schemas=[schema]).body
    whole = el("main", body, *_more(signed, schema))
    return document(clean(schema.title or schema.name), whole, style=PAGE_STYLE + _TABLE_STYLE)


def citation(signed: Record, schema: Schema) -> str:
    """Return how the publication is cited."""
    title, day = clean(schema.title or schema.name), signed["published"][:10]
    about = f" Data: {clean(schema.citation)}" if schema.citation else ""
    return (
        f"{title}: differentially private statistics ({schema.budget.label}, {_unit(schema)}). Published {day}, ledger "
        f"{signed['ledger'][:12]}.{about}"
    )


def _more(signed: Record, schema: Schema) -> Iterable[Markup]:
    name = clean(schema.name)
    closed = (
        "The dataset is closed: nothing else will be released."
        if signed["state"] == "closed"
        else "The dataset is not closed: what is left of its budget may still be spent."
    )
    steps = (
        f'dpnb verify {name}{ENDING} --key {name}.pub\n\nimport dpnb\n{name} = dpnb.open("{name}{ENDING}")'
    )
    rows = [[clean(one.name), *map(clean, _described(one))] for one in schema.columns]
    head = el("tr", *(el("th", word) for word in ("column", "type and values", "what it is", "missing")))
    return (
        el("h2", "How to cite"),
        el("p", citation(signed, schema)),
        el("h2", "How to verify and to compute with it"),
        el(
            "p", f"{closed} Each number is signed under the public key beside this page. No server is needed:"
        ),
        el("pre", steps),
        el("h2", "Data dictionary"),
        el("table", head, *(el("tr", *(el("td", cell) for cell in row)) for row in rows)),
    )


# ---------------------------------------------------------------------- tables


def table(named: Mapping[str, Estimate]) -> str:
    """Return every cell of every statistic as one CSV, all digits: its statistic, its cell, value and both intervals."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("statistic", "cell", *repository_metadata.ENDS))
    for name, estimate in named.items():
        for cell, numbers in repository_metadata.cells(estimate):
            writer.writerow((_plain(name), _plain(cell), *numbers.values()))
    return out.getvalue()


def _plain(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text


def dictionary(columns: Iterable[Column]) -> str:
    """Return the data dictionary as CSV: what is declared of each column, and nothing of the data."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("column", "type and values", "what it is", "missing"))
    writer.writerows([_plain(one.name), *map(_plain, _described(one))] for one in columns)
    return out.getvalue()


def _described(column: Column) -> tuple[str, str, str]:
    kind = column.describe() if column.type != "category" else f"category {column.describe()}"
    return kind, column.label or "", "left out" if column.drops else "counted as a constant"


# ---------------------------------------------------------------------- the registry of deployments


def registry_entry(signed: Record, schema: Schema) -> str:
    """Return an entry for the public registry of deployments, in its schema; what only the owner knows stands as a blank to fill.

    References
    ----------
    .. [1] The OpenDP project, Differential Privacy Deployments Registry.
    """
    product = {
        "name": schema.title or schema.name,
        "data_curators": ["…"],
        "intended_use": "…",
        "data_product_type": "Statistics",
        "data_product_region": "…",
        "description": schema.description or "…",
        "publication_date": signed["published"][:10],
    }
    unit = {
        "privacy_unit": "Individual-level" if schema.unit.by_row else f"{schema.unit.unit}-level",
        "privacy_unit_description": _unit(schema),
        "privacy_parameters": _parameters(schema.budget),
        "privacy_parameters_description": "The cap of the dataset, for everything that is ever released of it.",
    }
    closed = signed["state"] == "closed"
    model = {
        "model_name": "Central",
        "release_type": "One release" if closed else "Several releases",
        "access_type": "Non-interactive" if closed else "Interactive",
    }
    mechanisms = sorted(
        {
            part["law"].get("kind", part["law"].get("mechanism", "none"))
            for one in signed["statistics"]
            for release in one["releases"]
            for part in release["parts"]
        }
    )
    built = {"mechanisms": ", ".join(mechanisms), "justification": "…"}
    deployment = {
        "product": product,
        "dp_flavor": {"name": _FLAVOUR[schema.budget.measure]},
        "privacy_loss": unit,
        "model": model,
        "implementation": built,
    }
    return _yaml({"status": "Draft", "tier": 2, "deployment": deployment})


def _parameters(budget: Budget) -> dict[str, float]:
    cap = budget.cap
    names = {Measure.PURE: "epsilon", Measure.ZCDP: "rho", Measure.APPROX_ZCDP: "rho"}
    found = {names[budget.measure]: float(cap.amount)}
    return found | ({"delta": float(cap.delta)} if cap.delta else {})


def _unit(schema: Schema) -> str:
    unit = schema.unit
    whose = "one row" if unit.by_row else f"all rows of the same {clean(unit.unit)}, at most {unit.max_rows}"
    return f"{whose}, {unit.adjacency}"


def _yaml(value: Any, indent: int = 0) -> str:
    """Return plain data as YAML: every text in double quotes, as JSON writes it, which YAML reads."""
    lead = "  " * indent
    lines = []
    for name, one in value.items():
        if isinstance(one, Mapping):
            lines.append(f"{lead}{name}:\n{_yaml(one, indent + 1).rstrip()}")
        else:
            lines.append(f"{lead}{name}: {json.dumps(one, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"
