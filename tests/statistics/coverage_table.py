"""The table of coverage in the docs: how often the intervals of every statistic contain what they should.

``python -m tests.statistics.coverage_table`` writes docs/coverage.md and docs/benchmarks/coverage.csv; `make soak` runs it with 10,000 releases.
``--only "sum" "median, ci=True"`` measures some rows anew, with ``--reps`` releases or as many as the file has, and keeps the others; each row says how
many stand behind it.
"""

from __future__ import annotations

import argparse
import csv
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpnb import simulate
from dpnb.datasets.preparation import prepare
from dpnb.errors import Unavailable
from dpnb.planner import Ask, Item, PricedQuestion, Question, price
from dpnb.planner.expression import BinOp, Compare, Const, Expr, Ref
from dpnb.simulate.coverage import Run, designed
from dpnb.simulate.exact import rows_of
from dpnb.statistics.regression_readings import coefficients
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from tests.statistics import slopes
from tests.statistics.coverage import release

DOCS = Path(__file__).resolve().parents[2] / "docs"
PEOPLE, ROWS, ROUND = 20_000, 1_000, 200
"""Of a population; of a study; releases of a fit that are simulated at once."""
RELEASES, SOME, FEWER = 10_000, 4_000, 2_000
"""Of what is concluded one by one there are fewer."""
LOSSES = {"epsilon": (0.1, 1), "rho": (0.005, 0.5)}
NAMES = {"epsilon": "ε", "rho": "ρ"}
ADJACENCIES = ("change-one", "add-remove")
COLUMNS = [
    Column.integer("x", 0, 100),
    Column.integer("y", 0, 100),
    Column.category("arm", [0, 1]),
    Column.category("rare", [0, 1]),
    Column.category("region", [0, 1, 2, 3, 4]),
    Column.integer("w", 1, 4).weighing(True),
]
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "count of a rare group": ("count", {"where": Compare("==", Ref("rare"), Const(1))}),
    "sum": ("sum", {}),
    "mean": ("mean", {}),
    "mean of a rare 0/1": ("mean", {"column": "rare"}),
    "robust mean, by the plain mean": ("robust_mean", {}),
    "variance": ("variance", {}),
    "standard deviation": ("std", {}),
    "median, ci=True": ("quantile", {"ci": True}),
    "ninth decile, ci=True": ("quantile", {"ci": True, "q": 0.9}),
    "quarters, ci=True": ("quantile", {"ci": True, "q": (0.25, 0.5, 0.75)}),
    "difference": ("difference", {"by": ["arm"]}),
    "difference of a rare 0/1": ("difference", {"by": ["arm"], "column": "rare"}),
    "covariance": ("covariance", {"other": "y"}),
    "correlation": ("correlation", {"other": "y"}),
    "histogram": ("histogram", {"column": "region"}),
    "mean by region": ("mean", {"by": ["region"]}),
    "mean, clamped=True": ("mean", {"clamped": True}),
    "weighted mean": ("weighted_mean", {"other": "w"}),
    "weighted sum": ("weighted_sum", {"other": "w"}),
    "counts of regions": ("value_counts", {"column": "region"}),
}
MOVED, SLOPE, HC1 = "robust mean", "slope of y on x", 'slope, cov_type="HC1"'
X, Y = Ref("x"), Ref("y")
PRODUCTS = (Y, BinOp("*", X, X), BinOp("*", X, Y), BinOp("*", Y, Y))


def population(name: str) -> dict[str, np.ndarray]:
    """Twenty thousand people: x skewed, or heaped at tens and fives as ages are told; y with unequal variances; a rare event."""
    rng = np.random.default_rng(2026)
    if name == "skewed":
        x = np.round(np.exp(rng.normal(2.9, 0.7, PEOPLE)))
    else:
        age = rng.normal(44, 16, PEOPLE)
        told = rng.random(PEOPLE)
        x = np.where(
            told < 0.35, 10 * np.round(age / 10), np.where(told < 0.6, 5 * np.round(age / 5), np.round(age))
        )
    x = np.clip(x, 0, 100)
    y = np.clip(np.round(15 + 0.6 * x + rng.normal(0, 8 + 0.15 * x, PEOPLE)), 0, 100)
    shares = (0.4, 0.25, 0.15, 0.12, 0.08)
    return {
        "x": x,
        "y": y,
        "arm": (rng.random(PEOPLE) < 0.4).astype(float),
        "rare": (rng.random(PEOPLE) < 0.05).astype(float),
        "region": rng.choice(5, PEOPLE, p=shares).astype(float),
        "w": rng.choice([1.0, 2.0, 4.0], PEOPLE, p=(0.5, 0.3, 0.2)),
    }


def measured(
    name: str, people: dict[str, np.ndarray], adjacency: str, kind: str, reps: int
) -> Iterator[dict[str, Any]]:
    """Lines of one statistic: a loss and an interval each; the worst entry of an answer with several."""
    statistic, options = ASKED[name]
    found = simulate.coverage(
        statistic,
        people,
        ROWS,
        {kind: list(LOSSES[kind])},
        reps=reps,
        columns=COLUMNS,
        adjacency=adjacency,
        **options,
    ).table()
    lines: dict[tuple[float, str], dict[str, Any]] = {}
    for at in range(len(found["interval"])):
        studies, key = found["studies"][at], (found[kind][at], found["interval"][at])
        line = {
            "releases": reps,
            "judged": studies,
            "coverage": found["coverage"][at],
            "width": found["width"][at],
        }
        if studies and (key not in lines or line["coverage"] < lines[key]["coverage"]):
            lines[key] = line
    for (amount, interval), line in lines.items():
        yield {"loss": amount, "interval": interval, **line}


def moved_means(
    people: dict[str, np.ndarray], adjacency: str, kind: str, reps: int
) -> Iterator[dict[str, Any]]:
    """Lines of a robust mean judged by what it says it estimates: the mean of the values moved into the range that its release chose."""
    losses = {kind: list(LOSSES[kind])}
    design = designed(
        "robust_mean", people, ROWS, losses, ("privacy",), reps, 1, columns=COLUMNS, adjacency=adjacency
    )
    run, found, done = Run(design, ROWS), dict[tuple[float, str], list[tuple[bool, float]]](), 0
    while done < reps:
        studies, block = run.draw(done, min(run.size, reps - done))
        rows = rows_of(block, studies.checked).x
        assert rows is not None
        values, done = rows.reshape(block.studies, ROWS), done + block.studies
        for place, amount in enumerate(LOSSES[kind]):
            ranges = [studies.release(place, at).part("located").values[:2] for at in range(block.studies)]
            for name, whole in (("privacy", values), ("confidence", [people["x"]] * block.studies)):
                ends = _ends(studies, place, name)
                true = [np.clip(one, *ends).mean() for one, ends in zip(whole, ranges, strict=True)]
                listed = found.setdefault((amount, name), [])
                listed += [(a <= t <= b, b - a) for a, b, t in zip(*ends, true, strict=True) if a <= b]
    for (amount, name), judged in found.items():
        if judged:
            held, width = np.mean(judged, axis=0)
            yield {
                "loss": amount,
                "interval": name,
                "releases": reps,
                "judged": len(judged),
                "coverage": held,
                "width": width,
            }


def _ends(studies: Any, place: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The intervals at one loss; not a number where there is none."""
    try:
        low, high = studies.interval(0.95, name)
    except Unavailable:
        return (np.full(studies.shape[1], np.nan),) * 2
    return low[place, :, 0], high[place, :, 0]


def robust_fits(
    people: dict[str, np.ndarray], adjacency: str, kind: str, reps: int
) -> Iterator[dict[str, Any]]:
    """Lines of the slope with errors that may have unequal variances, for which all products of its columns are bought."""
    true = slopes.solved(slopes.exact(people["y"][None], people["x"][None], 0, 100))[1][0]
    for place, amount in enumerate(LOSSES[kind]):
        rng = np.random.default_rng([8, ADJACENCIES.index(adjacency), place])
        item = priced_moments(adjacency, kind, amount, X, *PRODUCTS)
        where, read = schema(adjacency, kind), coefficients(item.checked.setting, "y ~ x", cov_type="HC1")
        held, halves = np.zeros(2), []
        for _ in range(reps):
            rows = rng.integers(0, PEOPLE, ROWS)
            study = {name: values[rows] for name, values in people.items()}
            found = read.conclude([release(item, prepare(study, where), rng)])
            own = slopes.solved(slopes.exact(study["y"][None], study["x"][None], 0, 100))[1][0]
            ends = [found.interval(0.95, name) for name in ("privacy", "confidence")]
            held += [one.low[1] <= t <= one.high[1] for one, t in zip(ends, (own, true), strict=True)]
            halves.append([one.high[1] - one.low[1] for one in ends])
        for at, name in enumerate(("privacy", "confidence")):
            widths = np.array(halves)[:, at]
            yield {
                "loss": amount,
                "interval": name,
                "releases": reps,
                "judged": reps,
                "coverage": held[at] / reps,
                "width": float(np.median(widths)),
                "unbounded": float(np.isinf(widths).mean()),
            }


def fitted(people: dict[str, np.ndarray], adjacency: str, kind: str, reps: int) -> Iterator[dict[str, Any]]:
    """Lines of a least-squares slope; an unbounded interval holds, and is counted beside."""
    true = slopes.solved(slopes.exact(people["y"][None], people["x"][None], 0, 100))[1][0]
    for place, amount in enumerate(LOSSES[kind]):
        rng = np.random.default_rng([7, ADJACENCIES.index(adjacency), place])
        laws = slopes.laws_of(priced_moments(adjacency, kind, amount))
        left = [min(ROUND, reps - start) for start in range(0, reps, ROUND)]
        rounds = [fit_round(people, laws, true, one, rng) for one in left]
        held, halves = (np.concatenate(found, axis=1) for found in zip(*rounds, strict=True))
        for name, hits, half in zip(("privacy", "confidence"), held, halves, strict=True):
            yield {
                "loss": amount,
                "interval": name,
                "releases": reps,
                "judged": reps,
                "coverage": float(hits.mean()),
                "width": 2 * float(np.sort(half)[reps // 2]),
                "unbounded": float(np.isinf(half).mean()),
            }


def schema(adjacency: str, kind: str, rows: int = ROWS) -> Schema:
    """The public facts of a study."""
    unit = PrivacyUnit(adjacency, rows=rows if adjacency == "change-one" else None)  # type: ignore[arg-type]
    return Schema("simulated", "Simulated", tuple(COLUMNS), unit, Budget.from_toml({kind: 10**6}))


def priced_moments(
    adjacency: str, kind: str, amount: Any, first: Expr = Y, *others: Expr, rows: int = ROWS
) -> PricedQuestion:
    """The moments of y and x of a study, or of other columns, at a loss."""
    where = schema(adjacency, kind, rows)
    asked = Question("simulated", "moments", first, others=others or (X,))
    ask = Ask.make(**{kind: str(amount)})
    return price((Item(asked),), ask, where).items[0]


def fit_round(
    people: dict[str, np.ndarray], laws: slopes.Laws, true: float, reps: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Whether both intervals of so many releases hold, and their half-widths."""
    places = rng.integers(0, PEOPLE, (reps, ROWS))
    studies = slopes.exact(people["y"][places], people["x"][places], 0, 100)
    released = slopes.Slopes(studies + slopes.noise_of(laws, (reps,), rng), laws)
    halves = np.full((2, reps), np.inf)
    kept = ~released.lost
    if kept.any():
        bounded = slopes.Slopes(released.matrices[kept], laws)
        noise = slopes.noise_of(laws, (int(kept.sum()), slopes.DRAWS), rng)
        halves[:, kept] = bounded.radii(noise, rng.standard_normal((*noise.shape[:2], 2)))
    off = released.coefficients[:, 1] - np.stack([slopes.solved(studies)[1], np.full(reps, true)])
    return np.isinf(halves) | (np.abs(off) <= halves + 1e-9), halves


MADE = {MOVED: (moved_means, SOME), SLOPE: (fitted, RELEASES), HC1: (robust_fits, FEWER)}
"""Rows that are simulated here, and of how many releases at most."""


def every(reps: int, only: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """All lines, or those of some rows."""
    for place in ("skewed", "heaped"):
        people = population(place)
        for adjacency in ADJACENCIES:
            for kind in LOSSES:
                told = {"population": place, "adjacency": adjacency, "kind": kind}
                for name in (one for one in ASKED if not only or one in only):
                    for line in measured(name, people, adjacency, kind, reps):
                        yield {**told, "statistic": name, **line}
                for name, (made, most) in MADE.items():
                    for line in (
                        () if only and name not in only else made(people, adjacency, kind, min(reps, most))
                    ):
                        yield {**told, "statistic": name, **line}
                print(f"{place} {adjacency} {kind} {time.strftime('%H:%M:%S')}", flush=True)


def cell(line: dict[str, Any] | None) -> str:
    """Coverage in per cent; marked where it lies below 95 % by more than three standard errors."""
    if line is None:
        return "–"
    share = line["coverage"]
    short = share + 3 * math.sqrt(0.95 * 0.05 / line["judged"]) < 0.95
    lost = 100 * line.get("unbounded", 0.0)
    wide = f" ({lost:.0f} % unbounded)" if lost >= 0.5 else ""
    return f"{'**' if short else ''}{100 * share:.1f}{'**' if short else ''}{wide}"


def page(lines: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The page."""
    releases: dict[str, int] = {}
    for line in lines:
        count = int(line["releases"])
        releases[line["statistic"]] = min(count, releases.get(line["statistic"], count))
    least, most = min(releases.values()), max(releases.values())
    error = 100 * math.sqrt(0.95 * 0.05 / most)
    behind = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    yield from (
        "# Coverage: how often intervals contain the truth",
        "",
        f"We simulated studies of {ROWS:,} rows, drawn from two populations of {PEOPLE:,} people each, and released them with noise from the",
        f"mechanisms' own laws. Each figure is from **{behind} releases**; the table gives the least number for each row. (With {most:,} releases, the standard error of 95 % is {error:.2f}.)",
        "Intervals have the level 95 %. A *privacy* interval is right if it contains the study's own number, a *confidence* interval if it contains the",
        "population's. x is from 0 to 100: *skewed* (median 18), or *heaped* at tens and fives, as when people round their age. The variance of y depends on x.",
        "The rare event has probability 5 %; weights are 1, 2 and 4. For an answer with several entries the table shows the worst. Figures more than three",
        "standard errors below 95 are **bold**. [coverage.csv](benchmarks/coverage.csv) has the figures with their widths.",
        "",
        f"Measured on {time.strftime('%Y-%m-%d')}; `make soak` measures it again, with {RELEASES:,} releases.",
        "",
    )
    for place in ("skewed", "heaped"):
        yield f"## {place}"
        yield ""
        yield "Each cell: privacy / confidence, in per cent."
        yield ""
        losses = [(kind, amount) for kind, amounts in LOSSES.items() for amount in amounts]
        heads = " | ".join(f"{NAMES[kind]} {amount:g}" for kind, amount in losses)
        yield f"| | neighbours | releases | {heads} |"
        yield "|" + "---|" * (3 + len(losses))
        by = {
            (line["statistic"], line["adjacency"], line["kind"], float(line["loss"]), line["interval"]): line
            for line in lines
            if line["population"] == place
        }
        for name in (*ASKED, *MADE):
            for adjacency in ADJACENCIES:
                cells = [
                    " / ".join(
                        cell(by.get((name, adjacency, kind, float(amount), one)))
                        for one in ("privacy", "confidence")
                    )
                    for kind, amount in losses
                ]
                yield f"| {name} | {adjacency} | {releases.get(name, 0):,} | " + " | ".join(cells) + " |"
        yield ""
    yield from (
        "Counts and sums describe the file and have no confidence interval. Selected limits of a quantile have none if n is private.",
        "",
        "A *robust mean* is the mean of the values moved into a range that is chosen for it, and is judged by that mean. It estimates the plain mean only if the range",
        "contains everybody. At ρ 0.005 most ranges end at 66 to 83, 3 % of the skewed people lie beyond 66, and the mean of the moved values is 0.4 too small, beside a standard error of 1.2. A range that",
        "may lie far from the data is flagged: the answer then has no confidence interval, and its privacy interval covers all of the bounds. Another flag is set if the noise could hide that more than a twentieth of the rows",
        "lie outside the range (here at every loss but ρ 0.5): then the interval is not for the plain mean.",
        "**For incomes the interval seldom contains the plain mean, mostly without a flag.** Of 10,000 Pareto incomes (index 1.6, from 20,000 on, bounds 0 to 5,000,000) few lie beyond the range, but those lie far beyond it. In 500 releases,",
        "1 % of the privacy intervals contain the plain mean at ε 0.5 and 14 % at ε 1; of the confidence intervals 3 % and 67 %. So declare bounds for incomes and ask for their mean, or ask for a median.",
        "",
        'Confidence intervals of the *slope* assume equal variances, which y does not have here. With `cov_type="HC1"` they do not. That needs the moments of x, y and all their products:',
        "20 sums instead of 5, with twice the noise in ρ and four times in ε. So with 1,000 rows these intervals are wider, and more often unbounded. An unbounded interval counts as containing the truth.",
        "Confidence intervals of a *covariance* and a *correlation* assume products at most 1.5 times as variable as those of normal columns (`tails=`); the skewed population has 2.6 and 1.9 times. For a covariance they allow for more where a",
        "column lies near a bound (as much as for gamma columns), and from n ε = 5,000 on the answer measures this variability and pays for it.",
        "",
        "Not in the table: answers read from `tree`, `ks_density` and `moments`, shares of a `crosstab`, `held_share` and `frequent_values`, which have tests of their own",
        "in `tests/statistics`; and `mode`, `top_k` and `choose`, which select a value and have no interval.",
    )


def read(file: Path) -> list[dict[str, Any]]:
    """Lines that were measured before."""
    with file.open(encoding="utf-8", newline="") as open_file:
        return [
            {name: value if name in _TEXTS else float(value) for name, value in line.items() if value != ""}
            for line in csv.DictReader(open_file)
        ]


_TEXTS = {"population", "adjacency", "kind", "statistic", "interval"}


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int)
    parser.add_argument("--docs", type=Path, default=DOCS)
    parser.add_argument("--only", nargs="+", choices=(*ASKED, *MADE), default=())
    asked = parser.parse_args()
    kept: list[dict[str, Any]] = []
    if asked.only:
        kept = [
            one
            for one in read(asked.docs / "benchmarks" / "coverage.csv")
            if one["statistic"] not in asked.only
        ]
        asked.reps = asked.reps or round(max(one["releases"] for one in kept))
    lines = kept + list(every(asked.reps or RELEASES, asked.only))
    (asked.docs / "benchmarks").mkdir(parents=True, exist_ok=True)
    with (asked.docs / "benchmarks" / "coverage.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(
            file, list(dict.fromkeys(name for line in lines for name in line)), lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows(
            {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in line.items()}
            for line in lines
        )
    (asked.docs / "coverage.md").write_text("\n".join(page(lines)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
