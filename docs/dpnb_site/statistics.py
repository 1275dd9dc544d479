"""The page of the statistics: what each releases, found by asking it, beside how often its intervals hold and how long it takes, as measured."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from dpnb.cards.catalogue import Entry, catalogue
from dpnb_site.links import ROOT

MEASURED = ROOT / "docs" / "benchmarks"
_STUDIED = {
    "count": "count of a rare group",
    "sum": "sum",
    "mean": "mean",
    "variance": "variance",
    "std": "standard deviation",
    "quantile": "median, ci=True",
    "histogram": "histogram",
    "difference": "difference",
    "covariance": "covariance",
    "correlation": "correlation",
    "robust_mean": "robust mean",
    "value_counts": "counts of regions",
    "weighted_mean": "weighted mean",
    "weighted_sum": "weighted sum",
    "moments": "slope of y on x",
}
"""Statistics, and what stands for each in the study of coverage."""


def page() -> str:
    """Return an overview, then a section for each statistic."""
    seconds, held = _seconds(), _coverage()
    lines = ["| statistic | intervals | contain the truth | one answer |", "|---|---|---|--:|"]
    lines += [
        f"| [{_title(one)}](#{_anchor(one)}) `{one.example}` | {_intervals(one)} | {_held(one, held)} | {seconds.get(one.name, '–')} |"
        for one in catalogue()
    ]
    return "\n".join([*lines, "", "\n\n".join(_section(one) for one in catalogue())])


def _section(one: Entry) -> str:
    facts = {
        "Releases": "; ".join(one.released),
        "Read from it, free": ", ".join(f"`{reading}`" for reading in one.readings),
        "Asked under": f"{', '.join(one.adjacencies)}; in {', '.join(one.losses)}",
        "Status": f"{one.status}: {one.reference}",
    }
    rows = [f"- **{name}:** {words}" for name, words in facts.items() if words]
    return "\n".join([f"## {_title(one)}", "", *rows])


def _intervals(one: Entry) -> str:
    asked = "with `ci=True`: privacy, confidence" if _STUDIED.get(one.name, "").endswith("ci=True") else ""
    return ", ".join(one.intervals) or asked or "none (the error explains why)"


def _held(one: Entry, held: dict[str, str]) -> str:
    if one.name not in held:
        return "–"
    studied = _STUDIED[one.name]
    return held[one.name] + (f" ({studied})" if studied != one.title else "")


def _title(one: Entry) -> str:
    return one.title[0].upper() + one.title[1:]


def _anchor(one: Entry) -> str:
    return one.title.lower().replace(" ", "-")


def _seconds() -> dict[str, str]:
    """How long one answer takes, by ``python -m tests.statistics.seconds``."""
    return {line["statistic"]: f"{line['milliseconds']} ms" for line in _lines("seconds.csv")}


def _coverage() -> dict[str, str]:
    """How often the intervals of skewed studies contain the truth at ε 1, by ``python -m tests.statistics.coverage_table``."""
    found = {
        (line["statistic"], line["interval"]): float(line["coverage"])
        for line in _lines("coverage.csv")
        if (line["population"], line["adjacency"], line["kind"], line["loss"])
        == ("skewed", "change-one", "epsilon", "1")
    }
    written = {}
    for name, studied in _STUDIED.items():
        both = [found.get((studied, kind)) for kind in ("privacy", "confidence")]
        written[name] = " / ".join(f"{100 * share:.1f} %" for share in both if share is not None)
    return written


def _lines(name: str) -> Iterator[dict[str, str]]:
    with (MEASURED / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
