"""How fast a covariance matrix and the regressions on it are: beside DuckDB's exact covariance, ratios within one run.

Run it with ``python tests/benchmarks/bench_moments.py [rows] [columns]``. Interleaved:

engine     one request for all cross moments, from the prepared copy, missing rows dropped
ball       the same, rows moved into a ball first
float      DuckDB, exact sums of products of the raw floats where all are known, in one statement
covar_pop  DuckDB's own covar_pop for every pair, from the raw floats

and, on one released matrix, 400 draws of the parametric bootstrap of a regression on ten columns.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np

from dpnb.datasets.preparation import prepare as reference
from dpnb.inference.simulated_release import released_parts
from dpnb.planner import Ask, BatchPlan, Item, QueryPlan, price
from dpnb.planner.expression import Ref
from dpnb.statistics import regression
from dpnb.statistics.formula import parse
from dpnb.statistics.moment_matrix import Crossed
from dpnb.statistics.regression_readings import coefficients
from dpnb.trusted.curator.engines import DuckDBEngine
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.releases import Release
from dpnb.trusted.schema import Column, Schema
from tests.contracts.handed import prepare

REPEATS = 7
BOOTSTRAP = 400


def schema(columns):
    """A schema of this many numbers between -1 and 1, each of which may be missing."""
    listed = tuple(Column.number(f"c{i}", -1, 1) for i in range(columns))
    return Schema("wide", "wide", listed, PrivacyUnit("add-remove"), Budget.from_toml({"rho": 1}))


def question(where, radius=None):
    """The moments of all columns, priced."""
    first, *others = (Ref(column.name) for column in where.columns)
    options = () if radius is None else (("radius", radius),)
    asked = QueryPlan("wide", "moments", first, options=options, others=tuple(others))
    batch = BatchPlan("wide", where.version, (Item(asked),), Ask.make(rho="0.5"))
    return price(batch, where).items[0]


def timed(work):
    """Milliseconds that some work takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3


def scans(rows, columns):
    """Median milliseconds of each way to the matrix."""
    where, rng = schema(columns), np.random.default_rng(1)
    table = {f"c{i}": rng.normal(0, 0.3, rows) for i in range(columns)}
    names = list(table)
    known = " AND ".join(f"{name} IS NOT NULL AND NOT isnan({name})" for name in names)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i:]]
    sums = ", ".join([*(f"sum({a} * {b})" for a, b in pairs), *(f"sum({a})" for a in names)])
    by_float = f"SELECT count(*), {sums} FROM wide WHERE {known}"
    own = f"SELECT {', '.join(f'covar_pop({a}, {b})' for a, b in pairs)} FROM wide"
    with tempfile.TemporaryDirectory() as folder:
        raw = duckdb.connect(str(Path(folder) / "raw.duckdb"))
        raw.register("arrays", table)
        raw.execute("CREATE TABLE wide AS SELECT * FROM arrays")
        prepare(table, where, Path(folder) / "copy.duckdb")
        with DuckDBEngine(Path(folder) / "copy.duckdb") as engine:
            box = [part.request for part in question(where).parts]
            ball = [part.request for part in question(where, radius=2).parts]
            ways = {
                "engine": lambda: engine.answer(box),
                "ball": lambda: engine.answer(ball),
                "float": lambda: raw.execute(by_float).fetchall(),
                "covar_pop": lambda: raw.execute(own).fetchall(),
            }
            times = {name: [] for name in ways}
            for _ in range(REPEATS + 1):
                for name, way in ways.items():
                    times[name].append(timed(way))
        raw.close()
    return {name: statistics.median(values[1:]) for name, values in times.items()}


def bootstrap():
    """Median milliseconds of 400 bootstrap draws of a regression on ten columns, and of everything a reader sees."""
    where, rng = schema(11), np.random.default_rng(2)
    raw = {f"c{i}": np.clip(rng.normal(0, 0.3, 20_000), -1, 1) for i in range(11)}
    item = question(where)
    from dpnb.datasets.exact_answers import answer

    exact = answer(reference(raw, where), [part.request for part in item.parts])
    released = Release("a", item.key, "wide", "v", released_parts(item.parts, exact, rng), item.loss)
    formula = parse("c0 ~ " + " + ".join(f"c{i}" for i in range(1, 11)))
    read = coefficients(item.checked.setting, formula.text)

    def draws():
        regression.Fit(Crossed.of(item.checked.setting, [released]), formula).deviations(0.95)

    def everything():
        found = read.conclude([replace(released, id=str(time.perf_counter()))])
        found.interval(0.95, "privacy")
        found.interval(0.95, "confidence")

    kept, regression.DRAWS = regression.DRAWS, BOOTSTRAP
    alone = statistics.median(timed(draws) for _ in range(REPEATS))
    regression.DRAWS = kept
    return alone, statistics.median(timed(everything) for _ in range(REPEATS))


def main():
    """Print the figures and what is promised of them."""
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    columns = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    found = scans(rows, columns)
    for name, value in found.items():
        print(f"{name:20} {value:10.1f}")
    print(f"engine / float       {found['engine'] / found['float']:10.2f}   promised: at most 2")
    print(f"ball / float         {found['ball'] / found['float']:10.2f}")
    alone, everything = bootstrap()
    print(f"400 draws, 10 columns{alone:10.1f}   promised: below 100")
    print(f"both intervals, {regression.DRAWS} draws {everything:7.1f}")


if __name__ == "__main__":
    main()
