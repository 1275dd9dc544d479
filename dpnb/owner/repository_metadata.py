"""Published statistics as metadata for data repositories: a schema.org ``Dataset``, and a codebook in DDI's element names.

Only released numbers, with their intervals and loss, and the public declaration enter. Nothing is read, asked or spent.

References
----------
.. [1] Schema.org, types ``Dataset`` and ``PropertyValue``: https://schema.org/Dataset
.. [2] DDI Alliance, DDI Codebook 2.5, elements ``stdyDscr``, ``dataDscr``, ``var``, ``sumStat``. As JSON: an attribute has ``@`` before its
   name, and the text of an element that has attributes is ``#text``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import Any, NamedTuple

from dpnb.cards.methods import mechanisms_of, methods
from dpnb.estimate import Estimate
from dpnb.estimate.table import rows
from dpnb.planner.expression import Invert, IsMissing, Ref
from dpnb.statistics._base import who
from dpnb.trusted.canonical import Record
from dpnb.trusted.schema import Column, Schema

ENDS = ("value", "privacy_low", "privacy_high", "confidence_low", "confidence_high")
MOST_CELLS = 100
"""A statistic of more cells, such as a tree of counts, is named here once; its cells are in the table."""


class Cell(NamedTuple):
    """A number of a published statistic: where it stands, and itself with both intervals; an end that is not available is None."""

    where: str
    numbers: Record


def cells(estimate: Estimate) -> Iterator[Cell]:
    """Return every number of a released estimate with its 95 % intervals."""
    for row in rows(estimate.table()):
        where = "; ".join(f"{key}={value}" for key, value in row.items() if key not in ENDS)
        yield Cell(where, {end: row.get(end) for end in ENDS})


def _few(estimate: Estimate) -> list[Cell]:
    found = list(cells(estimate))
    return found if len(found) <= MOST_CELLS else []


def _technique(estimate: Estimate) -> str:
    asked = [leaf for leaf in estimate.leaves() if leaf.releases]
    return f"differentially private: {'; '.join(mechanisms_of(asked))}; privacy loss {estimate.loss}"


def _intervals(numbers: Mapping[str, Any]) -> Iterator[tuple[str, float, float]]:
    for kind in ("confidence", "privacy"):
        low, high = numbers[f"{kind}_low"], numbers[f"{kind}_high"]
        if low is not None and high is not None:
            yield f"{kind} interval (95 %)", low, high


# ---------------------------------------------------------------------- schema.org


def schema_org(signed: Record, named: Mapping[str, Estimate], schema: Schema, cited: str) -> Record:
    """Return a publication as a ``Dataset`` of schema.org, in JSON-LD.

    Each released number is a ``PropertyValue`` of ``variableMeasured``. ``minValue`` and ``maxValue`` are the ends of its confidence interval,
    or of the privacy interval where there is no other; ``valueReference`` has both, and the loss. A count is in rows, or in people where each
    has one row.

    Parameters
    ----------
    signed : dict
        The signed publication.
    named : dict of str to Estimate
        Its statistics, released.
    schema : Schema
        The declaration.
    cited : str
        How the publication is cited.
    """
    files = {".releases.json": "application/json", ".csv": "text/csv", ".dictionary.csv": "text/csv"}
    facts = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": f"{schema.title or schema.name}: differentially private statistics",
        "description": schema.description or cited,
        "identifier": f"{signed['ledger']}/{schema.name}",
        "datePublished": signed["published"][:10],
        "license": schema.licence,
        "citation": schema.citation,
        "creditText": cited,
        "isAccessibleForFree": True,
        "measurementTechnique": methods(list(named.values()), [schema]),
        "variableMeasured": [one for name, estimate in named.items() for one in _measured(name, estimate)],
        "distribution": [
            {"@type": "DataDownload", "name": f"{schema.name}{ending}", "encodingFormat": kind}
            for ending, kind in files.items()
        ],
    }
    return {name: value for name, value in facts.items() if value != ""}


def _property(name: str, **facts: Any) -> Record:
    said = {key: value for key, value in facts.items() if value is not None}
    return {"@type": "PropertyValue", "name": name, **said}


def _measured(name: str, estimate: Estimate) -> Iterator[Record]:
    about = {"description": estimate.estimand or estimate.text, "measurementTechnique": _technique(estimate)}
    loss = _property("privacy loss", value=str(estimate.loss))
    asked = estimate.measurement
    counted = who(asked.checked.setting.unit) if asked and asked.checked.kind.counts else None
    few = _few(estimate)
    if not few:
        yield _property(name, **about, valueReference=[loss])
    for where, numbers in few:
        ends = list(_intervals(numbers))
        told = [_property(kind, minValue=low, maxValue=high) for kind, low, high in ends]
        low, high = ends[0][1:] if ends else (None, None)
        yield _property(
            f"{name}: {where}" if where else name,
            **about,
            value=numbers["value"],
            unitText=counted,
            minValue=low,
            maxValue=high,
            valueReference=[*told, loss],
        )


# ---------------------------------------------------------------------- DDI


def ddi(signed: Record, named: Mapping[str, Estimate], schema: Schema, cited: str) -> Record:
    """Return a publication as a codebook with DDI's element names.

    A statistic of one column, of all rows and without groups, is a ``sumStat`` of its variable, for each number one. Every other one, of a
    filter, of groups or of several columns, is a note of ``dataDscr``, so that nobody takes it for the summary of a column. The count of the
    rows in which a column is not missing is one of that column.

    Parameters
    ----------
    signed, named, schema, cited
        As for :func:`schema_org`.
    """
    title = {
        "titl": f"{schema.title or schema.name}: differentially private statistics",
        "IDNo": signed["ledger"],
    }
    citation: Record = {
        "titlStmt": title,
        "distStmt": {"distDate": {"@date": signed["published"][:10]}},
        "biblCit": cited,
    }
    study: Record = {
        "citation": citation,
        "stdyInfo": {
            "abstract": schema.description or cited,
            "sumDscr": {"anlyUnit": "row" if schema.unit.by_row else schema.unit.unit},
        },
        "method": {"dataColl": {"collMode": methods(list(named.values()), [schema])}},
        "dataAccs": {"useStmt": {"conditions": schema.licence, "citReq": schema.citation}},
    }
    alone = {name: column for name, one in named.items() if _few(one) and (column := _column_of(one, schema))}
    variables = [_variable(column, named, alone) for column in schema.columns]
    notes = [
        {
            "@type": "released statistic",
            "@subject": name,
            "#text": estimate.estimand or estimate.text,
            "sumStat": _summaries(estimate, name),
        }
        for name, estimate in named.items()
        if name not in alone
    ]
    return {
        "codeBook": {"@version": "2.5", "stdyDscr": study, "dataDscr": {"var": variables, "notes": notes}}
    }


def _column_of(estimate: Estimate, schema: Schema) -> str | None:
    """Return the column that a statistic summarises whole, if it is such a one."""
    asked = estimate.measurement
    if asked is None:
        return None
    question = asked.question
    if question.other is not None or question.by or question.others:
        return None
    match question.target, question.where:
        case (Ref(column), None) | (None, Invert(IsMissing(Ref(column)))) if column in schema.names:
            return str(column)
    return None


def _variable(column: Column, named: Mapping[str, Estimate], alone: Mapping[str, str]) -> Record:
    about: Record = {"@name": column.name, "@intrvl": "discrete" if column.values else "contin"}
    about["labl"] = column.label or column.name
    if column.values:
        about["catgry"] = [{"catValu": str(value)} for value in column.values]
    elif column.numeric:
        low, high = column.bounds
        about["valrng"] = {"range": {"@min": float(low), "@max": float(high)}}
    about["sumStat"] = [
        one for name, of in alone.items() if of == column.name for one in _summaries(named[name], name)
    ]
    return about


def _summaries(estimate: Estimate, name: str) -> list[Record]:
    """Return each number as a ``sumStat``: its type, value, name, intervals and loss."""
    asked, found = estimate.measurement, []
    types = asked.checked.kind.summaries(asked.checked.setting.options) if asked else ("other",)
    for (where, numbers), type_ in zip(_few(estimate), cycle(types), strict=False):
        called = " ".join(filter(None, (name, where)))
        said: Record = {"@type": type_, "#text": numbers["value"], "statistic": called}
        said |= {"@otherType": called} if type_ == "other" else {}
        said |= {kind: [low, high] for kind, low, high in _intervals(numbers)}
        found.append({**said, "privacy loss": str(estimate.loss)})
    return found
