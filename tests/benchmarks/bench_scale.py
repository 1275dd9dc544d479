"""What a hundred million rows take, and how costs grow: ``python -m tests.benchmarks.bench_scale``.

``rows`` writes a Parquet file in chunks, opens it through a curator's process, asks it, and asks exact DuckDB the same of the raw
floats; ``curves`` measures how a batch, a charge and a service grow in one thing at a time. Each adds its lines to
``build-bench/scale.jsonl``; ``page`` writes docs/benchmarks/scale.csv, the picture, and the tables of docs/explanation/scale.md.
``all`` forgets those lines and does everything: ten and a hundred million rows, all curves, the page. ``--folder`` keeps the files, of
1 GB in all, for another run.
Processor time is of the process that works, as the system counts it, so that a busy machine changes it little.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import dpnb
from dpnb.trusted.aggregate.algebra import Col, CrossMoments, Key, Lit, Mul, Sub, Total, ValueCounts
from dpnb.trusted.curator.engines import DuckDBEngine
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.schema.owner import load
from tests.benchmarks.measuring import processor, seconds
from tests.contracts.charges import charge_of
from tests.contracts.handed import prepare

ROOT = Path(__file__).resolve().parents[2]
LINES = ROOT / "build-bench" / "scale.jsonl"
PAGE = ROOT / "docs" / "explanation" / "scale.md"
FOLDER = ROOT / "docs" / "benchmarks"
CHUNK = 4_000_000
GROUPS = 50
SECONDS = 8.0
"""For which analysts ask."""

TERMS = """[dataset]
name = "people"
adjacency = "add-remove"
source = "people.parquet"

[budget]
epsilon = 1000000

[columns]
age = { type = "integer", lower = 0, upper = 100 }
income = { type = "number", lower = 0, upper = 200000, step = 1 }
county = { type = "category", values = [VALUES] }
arm = { type = "category", values = [0, 1] }
""".replace("VALUES", ", ".join(map(str, range(GROUPS))))

INCOME = "least(greatest(income, 0), 200000)"
AGE = "least(greatest(age, 0), 100)"
ASKED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "count": (lambda d: d.count(), "SELECT count(*) FROM people"),
    "count of a group": (lambda d: d[d.arm == 1].count(), "SELECT count(*) FROM people WHERE arm = 1"),
    "mean age": (lambda d: d.age.mean(), f"SELECT avg({AGE}) FROM people"),
    "mean income": (lambda d: d.income.mean(), f"SELECT avg({INCOME}) FROM people"),
    "variance": (lambda d: d.age.variance(), f"SELECT var_samp({AGE}) FROM people"),
    "median": (lambda d: d.age.median(), f"SELECT quantile_disc({AGE}, 0.5) FROM people"),
    "histogram": (lambda d: d.county.histogram(), "SELECT county, count(*) FROM people GROUP BY county"),
    "group means": (
        lambda d: d.groupby("county").age.mean(),
        f"SELECT county, avg({AGE}) FROM people GROUP BY county",
    ),
    "incomes by group": (
        lambda d: d.groupby("county").income.mean(),
        f"SELECT county, avg({INCOME}) FROM people GROUP BY county",
    ),
}
TOGETHER = ("count", "mean age", "variance", "median", "histogram", "group means", "incomes by group")


def keep(**facts: Any) -> None:
    """Add a line, and show it."""
    line = {"load": round(os.getloadavg()[0], 1), **facts}
    LINES.parent.mkdir(exist_ok=True)
    with LINES.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    print(json.dumps(line), flush=True)


# ------------------------------------------------------------------- rows


def write_people(path: Path, rows: int) -> None:
    """A Parquet file of so many people, made by row groups: floats as most files have them, codes as small integers."""
    with duckdb.connect() as connection:
        connection.execute("SET memory_limit = '1GB'")
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(
            "COPY (SELECT CAST(hash(i) % 101 AS DOUBLE) AS age, "
            "exp(9.2 + (hash(i, 1) % 1000000 + hash(i, 2) % 1000000 + hash(i, 3) % 1000000) / 1e6) AS income, "
            f"CAST(hash(i, 4) % {GROUPS} AS SMALLINT) AS county, CAST(hash(i, 5) % 2 AS TINYINT) AS arm "
            f"FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE {min(CHUNK, 1_000_000)})"
        )


def status(pid: int, name: str) -> float:
    """A line of a process's status, in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    return math.nan


def curator_of(home: str) -> int:
    """The process that holds a home: that of an earlier one may be there still."""
    return int(json.loads(next(Path(home).glob("*.json")).read_text())["pid"])


def written_people(rows: int, folder: Path) -> Path:
    """The file of so many people, written where it is not there yet."""
    path = folder / f"people-{rows}.parquet"
    if not path.exists():
        keep(what="write", rows=rows, seconds=seconds(lambda: write_people(path, rows)))
    return path


def rows_of(rows: int, folder: Path, repeats: int) -> None:
    """Write, read by hand, open, ask."""
    path = written_people(rows, folder)
    (folder / "people.dpnb.toml").write_text(TERMS.replace("people.parquet", path.name))
    with tempfile.TemporaryDirectory(dir=folder) as home:
        os.environ["DPNB_HOME"] = home
        with duckdb.connect(str(folder / "raw.duckdb")) as raw:
            raw.execute("SET memory_limit = '4GB'")
            before = time.process_time()
            read = seconds(lambda: raw.execute(f"CREATE OR REPLACE TABLE people AS FROM '{path}'"))
            keep(
                what="read by hand",
                rows=rows,
                seconds=read,
                processor=time.process_time() - before,
                mib=path.stat().st_size / 2**20,
            )
        dpnb.open("incentive33", quiet=True)  # the curator is there
        curator = curator_of(home)
        before, start = processor(curator), time.perf_counter()
        data = dpnb.open(str(folder / "people.dpnb.toml"), quiet=True)
        keep(
            what="open",
            rows=rows,
            seconds=time.perf_counter() - start,
            processor=processor(curator) - before,
            peak=status(curator, "VmHWM"),
            copy=sum(one.stat().st_size for one in Path(home).rglob("*.duckdb")) / 2**20,
        )
        with duckdb.connect(str(folder / "raw.duckdb"), read_only=True) as raw:
            raw.execute("SET memory_limit = '6GB'")
            compare(rows, data, raw, repeats)
        keep(what="asked", rows=rows, peak=status(curator, "VmHWM"))
    (folder / "raw.duckdb").unlink()


def compare(rows: int, data: Any, raw: Any, repeats: int) -> None:
    """Each question and the seven together, in turn with exact DuckDB; the first turn is cold."""

    def released(names: Sequence[str]) -> float:
        return seconds(
            lambda: dpnb.release(
                {name.replace(" ", "_"): ASKED[name][0](data) for name in names}, epsilon="1", fresh=True
            )
        )

    def exact(names: Sequence[str]) -> float:
        return seconds(lambda: [raw.execute(ASKED[name][1]).fetchall() for name in names])

    batches = {name: (name,) for name in ASKED} | {"the seven": TOGETHER}
    cold: dict[str, tuple[float, float]] = {}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in batches}
    order = ["the seven", *ASKED]
    for turn in range(repeats + 1):
        for name in order:
            pair = released(batches[name]), exact(batches[name])
            if turn:
                found[name].append(pair)
            else:
                cold[name] = pair
    for name, pairs in found.items():
        ours, theirs = (min(column) for column in zip(*pairs, strict=True))
        keep(
            what="ask",
            rows=rows,
            question=name,
            ours=ours,
            exact=theirs,
            ratio=ours / theirs,
            cold=cold[name][0],
            cold_exact=cold[name][1],
        )


# ----------------------------------------------------------------- curves


def people(folder: Path, rows: int, aside: Path) -> tuple[DuckDBEngine, float]:
    """An engine over a file of people, and the processor seconds that preparing it took."""
    path, declared = written_people(rows, folder), aside / "people.dpnb.toml"
    declared.write_text(TERMS)
    people, before = load(declared, source=path).schema, time.process_time()
    copy = prepare(path, people, aside / "copy.duckdb", key=b"k" * 32)
    return DuckDBEngine(copy), time.process_time() - before


def table(rows: int, columns: int = 3, groups: int = GROUPS) -> dict[str, np.ndarray]:
    """Codes of so many columns, and a group."""
    draw = np.random.default_rng(3)
    found = {f"v{place}": draw.integers(0, 101, rows).astype(float) for place in range(columns)}
    return found | {
        "wide": draw.integers(0, 200_001, rows).astype(float),
        "group": draw.integers(0, groups, rows),
    }


def schema(rows: int, columns: int = 3, groups: int = GROUPS) -> Schema:
    """The declaration of such a table."""
    listed = [Column.integer(f"v{place}", 0, 100, missing=0) for place in range(columns)]
    listed += [
        Column.integer("wide", 0, 200_000, missing=0),
        Column.category("group", list(range(groups)), missing=0),
    ]
    unit = PrivacyUnit("change-one", rows=rows)
    return Schema("curve", "curve", tuple(listed), unit, Budget.from_toml({"epsilon": 1}))


def engine(folder: Path, rows: int, columns: int = 3, groups: int = GROUPS) -> tuple[DuckDBEngine, float]:
    """An engine over such a table, and the processor seconds that preparing it took."""
    data, before = table(rows, columns, groups), time.process_time()
    copy = prepare(data, schema(rows, columns, groups), folder / "copy.duckdb", key=b"k" * 32)
    return DuckDBEngine(copy), time.process_time() - before


WIDE = Sub(Col("wide"), Lit(100_000))
INCOMES = Sub(Col("income"), Lit(100_000))
SCANNED = [Total(INCOMES), Total(INCOMES, None, (Key(Col("county"), GROUPS),))]
"""Of people, a sum that has to be scanned for each time, and one by group."""


def answering(made: DuckDBEngine, batch: Sequence[Any], repeats: int = 5) -> float:
    """Least seconds of processor time that a batch takes, warm."""
    made.answer(batch)
    return min(seconds(lambda: made.answer(batch), time.process_time) for _ in range(repeats))


def grow_rows(folder: Path) -> Iterator[tuple[float, dict[str, float]]]:
    """A scan, a counted answer and preparing a file, in rows."""
    for rows in (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000):
        with tempfile.TemporaryDirectory(dir=folder) as aside:
            made, prepared = people(folder, rows, Path(aside))
            with made:
                counted = [Total(Col("age")), ValueCounts(Col("county"))]
                answering(made, counted, 1)
                yield (
                    rows,
                    {
                        "a scan": answering(made, SCANNED),
                        "counted before": answering(made, counted),
                        "preparing": prepared,
                    },
                )


def grow_groups(_: Path) -> Iterator[tuple[float, dict[str, float]]]:
    """A sum by so many groups, of a million rows."""
    for groups in (10, 100, 1_000, 10_000, 100_000):
        with tempfile.TemporaryDirectory() as folder:
            made, _ = engine(Path(folder), 1_000_000, groups=groups)
            with made:
                yield (
                    groups,
                    {"a sum by group": answering(made, [Total(WIDE, None, (Key(Col("group"), groups),))])},
                )


def grow_columns(_: Path) -> Iterator[tuple[float, dict[str, float]]]:
    """Preparing so many columns of ten thousand rows, and a matrix of moments of so many."""
    for columns in (5, 10, 20, 40, 80, 160, 320):
        with tempfile.TemporaryDirectory() as folder:
            made, prepared = engine(Path(folder), 10_000, columns)
            with made:
                found = {"preparing": prepared}
                if columns <= 40:
                    values = (Lit(1), *(Sub(Col(f"v{place}"), Lit(50)) for place in range(columns)))
                    pairs = tuple((i, j) for i in range(columns + 1) for j in range(i, columns + 1))
                    found["moments of all"] = answering(made, [CrossMoments(values, pairs)], 10)
                yield columns, found


def grow_questions(_: Path) -> Iterator[tuple[float, dict[str, float]]]:
    """So many different filtered sums in one batch over a hundred thousand rows."""
    with tempfile.TemporaryDirectory() as folder:
        made, _ = engine(Path(folder), 100_000)
        with made:
            for questions in (1, 3, 10, 30, 100, 300):
                batch = [Total(Mul(Lit(place + 1), WIDE)) for place in range(questions)]
                yield questions, {"sums in a batch": answering(made, batch, 3)}


def grow_entries(_: Path) -> Iterator[tuple[float, dict[str, float]]]:
    """A charge and its answer after so many of them; opening such a ledger; its bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite3"
        made = 0
        for entries in (100, 1_000, 10_000):
            with Ledger(path) as ledger:
                while made < entries:
                    charge(ledger, made)
                    made += 1
                times = [
                    seconds(lambda made=made: charge(ledger, made)) for made in range(entries, entries + 20)
                ]
                made = entries + 20
            before = time.process_time()
            with Ledger(path):
                opening = time.process_time() - before
            yield (
                entries,
                {
                    "a charge and its answer": statistics.median(times),
                    "opening the ledger": opening,
                    "bytes": path.stat().st_size,
                },
            )


def charge(ledger: Ledger, name: int) -> None:
    """One charge with its answer, synced twice."""
    ledger.charge(
        request_id=f"r{name}",
        principal="ann",
        digest="d",
        pool="dataset:people",
        dataset="people",
        data_version="v",
        cap=PrivacyLoss.pure(10**9),
        questions=[charge_of(f"k{name}", ["people.count()"], [PrivacyEvent("pure", Fraction(1, 10))])],
    )
    ledger.store(f"r{name}", "ann", [{"value": 1}])


def grow_analysts(_: Path) -> Iterator[tuple[float, dict[str, float]]]:
    """A service's processor time for a release, and how long an analyst waits, with so many of them at once."""
    from tests.benchmarks.bench_service import measured

    for analysts in (1, 4, 16, 64):
        options = argparse.Namespace(analysts=analysts, seconds=SECONDS, rows=100_000, processes=1)
        rate = measured(options)
        yield (
            analysts,
            {
                "processor for a release": rate.processor / len(rate.waits),
                "wait": statistics.median(rate.waits),
                "releases a second": rate.rate,
            },
        )


CURVES: dict[str, Callable[[Path], Iterator[tuple[float, dict[str, float]]]]] = {
    "rows": grow_rows,
    "groups": grow_groups,
    "columns": grow_columns,
    "questions": grow_questions,
    "entries": grow_entries,
    "analysts": grow_analysts,
}


def curves(names: Sequence[str], folder: Path) -> None:
    """Measure how costs grow."""
    for name in names or CURVES:
        for size, costs in CURVES[name](folder):
            for cost, value in costs.items():
                keep(what="curve", grows=name, size=size, cost=cost, value=value)


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """The exponent of a power law through the upper half of the points (at least two), by least squares of logarithms."""
    upper = sorted(points)[-max(2, (len(points) + 1) // 2) :]
    x, y = (np.log(np.maximum(column, 1e-9)) for column in zip(*upper, strict=True))
    return float(np.polyfit(x, y, 1)[0])


# ------------------------------------------------------------------- page


def latest() -> list[dict[str, Any]]:
    """The last line of each thing measured."""
    lines = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    keys = ("what", "rows", "question", "grows", "size", "cost")
    return list({tuple(line.get(key) for key in keys): line for line in lines}.values())


def written(value: float) -> str:
    """Seconds in ordinary numbers."""
    return f"{1e3 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def page() -> None:
    """Write the tables between the marks of the page, the CSV file and the picture."""
    lines = latest()
    with (FOLDER / "scale.csv").open("w", encoding="utf-8", newline="") as file:
        names = list(dict.fromkeys(name for line in lines for name in line))
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in line.items()} for line in lines
        )
    text = PAGE.read_text(encoding="utf-8")
    for mark, made in (
        ("rows", table_of_rows(lines)),
        ("questions", table_of_questions(lines)),
        ("curves", table_of_curves(lines)),
        ("arithmetic", table_of_arithmetic(lines)),
    ):
        head, _, rest = text.partition(f"<!-- {mark} -->\n")
        _, _, tail = rest.partition(f"<!-- end of {mark} -->")
        text = f"{head}<!-- {mark} -->\n\n" + "\n".join(made) + f"\n\n<!-- end of {mark} -->{tail}"
    PAGE.write_text(text, encoding="utf-8")
    picture(lines)


def table_of_rows(lines: Sequence[dict[str, Any]]) -> list[str]:
    """Opening, by rows."""
    by = {
        (line["what"], line.get("rows")): line
        for line in lines
        if line["what"] in {"read by hand", "open", "asked"}
    }
    sizes = sorted({rows for what, rows in by if what == "open"})
    found = [
        "| rows | file | read into DuckDB by hand | first opening | of processor | copy | the curator's peak memory |",
        "|---|---|---|---|---|---|---|",
    ]
    for rows in sizes:
        hand, opened = by["read by hand", rows], by["open", rows]
        asked = by.get(("asked", rows), opened)
        found.append(
            f"| {rows:,} | {hand['mib']:,.0f} MiB | {hand['seconds']:.3g} s | {opened['seconds']:.3g} s | {opened['processor']:.3g} s "
            f"(by hand {hand['processor']:.3g} s) | {opened['copy']:,.0f} MiB | {max(opened['peak'], asked['peak']) / 1024:.2g} GiB |"
        )
    return found


def table_of_questions(lines: Sequence[dict[str, Any]]) -> list[str]:
    """Each question at each size: least of both, their ratio, and the first time."""
    asked = [line for line in lines if line["what"] == "ask"]
    sizes = sorted({line["rows"] for line in asked})
    by = {(line["question"], line["rows"]): line for line in asked}
    found = [
        "| | " + " | ".join(f"{rows:,} rows: dpnb · exact · ratio · first time" for rows in sizes) + " |",
        "|---" * (len(sizes) + 1) + "|",
    ]
    for name in (*ASKED, "the seven"):
        cells = [
            f"{written(one['ours'])} · {written(one['exact'])} · {one['ratio']:.2g} · {written(one['cold'])} beside {written(one['cold_exact'])}"
            for rows in sizes
            if (one := by.get((name, rows)))
        ]
        found.append(f"| {name} | " + " | ".join(cells) + " |")
    return found


def table_of_curves(lines: Sequence[dict[str, Any]]) -> list[str]:
    """Each cost, its values and its exponent."""
    grouped: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for line in lines:
        if line["what"] == "curve":
            grouped.setdefault((line["grows"], line["cost"]), []).append((line["size"], line["value"]))
    found = ["| grows | cost | measured | exponent |", "|---|---|---|---|"]
    for (grows, cost), points in grouped.items():
        plain = cost in {"bytes", "releases a second"}
        shown = ", ".join(
            f"{size:,.0f}: {f'{value:,.3g}' if plain else written(value)}" for size, value in sorted(points)
        )
        found.append(f"| {grows} | {cost} | {shown} | {exponent(points):.2f} |")
    return found


def table_of_arithmetic(lines: Sequence[dict[str, Any]]) -> list[str]:
    """What follows from the largest of what was measured, for ten billion rows and for a thousand analysts."""

    def largest(cost: str, grows: str) -> tuple[float, float]:
        return max(
            (line["size"], line["value"])
            for line in lines
            if line["what"] == "curve" and (line["cost"], line["grows"]) == (cost, grows)
        )

    opened = max((line for line in lines if line["what"] == "open"), key=lambda line: line["rows"])
    preparing, copy = opened["processor"] / opened["rows"], opened["copy"] * 2**20 / opened["rows"]
    rows, scan = largest("a scan", "rows")
    entries, size = largest("bytes", "entries")
    analysts, each = largest("processor for a release", "analysts")
    _, rate = largest("releases a second", "analysts")
    return [
        "| what | measured | makes |",
        "|---|---|---|",
        (
            f"| opening | {1e6 * preparing:.2f} µs of processor a row, of {opened['rows']:,} | 10¹⁰ rows: {1e10 * preparing:,.0f} s of processor, "
            f"{1e10 * preparing / 120:.0f} minutes on two cores, {1e10 * preparing / 64:.0f} s on 64 |"
        ),
        f"| the copy | {copy:.1f} bytes a row | 10¹⁰ rows: {10 * copy:.0f} GB |",
        (
            f"| two sums, one by fifty groups | {1e9 * scan / rows:.1f} ns a row, of {rows:,} | 10¹⁰ rows: {1e10 * scan / rows:.0f} s of processor, "
            f"{1e10 * scan / rows / 64:.1f} s on 64 cores |"
        ),
        (
            f"| a charge with its answer | {size / entries:,.0f} bytes, of {entries:,} | twenty a day for a thousand people, on 250 days: "
            f"{5e6 * size / entries / 1e9:.1f} GB |"
        ),
        (
            f"| a release of a service | {1e3 * each:.1f} ms of processor and {rate:.0f} a second, of {analysts} analysts | a thousand who ask once a "
            f"minute: {1000 / 60 * each:.0%} of a core; a thousand in the same second wait up to {1000 / rate:.0f} s |"
        ),
    ]


def picture(lines: Sequence[dict[str, Any]]) -> None:
    """Costs against sizes on logarithmic axes, a panel for each thing that grows."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    grouped: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for line in lines:
        if line["what"] == "curve" and line["cost"] not in {"bytes", "releases a second"}:
            grouped.setdefault(line["grows"], {}).setdefault(line["cost"], []).append(
                (line["size"], line["value"])
            )
    across = 3
    figure = Figure(figsize=(10.8, 3.0 * math.ceil(len(grouped) / across)), layout="constrained")
    for place, (grows, costs) in enumerate(grouped.items()):
        axes = figure.add_subplot(math.ceil(len(grouped) / across), across, place + 1)
        for colour, mark, (cost, points) in zip(
            ("#0a6480", "#b05a00", "#5b3f8c"), "osD", costs.items(), strict=False
        ):
            x, y = zip(*sorted(points), strict=True)
            axes.plot(
                x, [1e3 * one for one in y], f"-{mark}", color=colour, markersize=4, linewidth=1, label=cost
            )
        axes.set(xscale="log", yscale="log")
        axes.set_title(grows, fontsize=9, loc="left")
        axes.set_ylabel("ms", fontsize=8)
        axes.tick_params(labelsize=7.5)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=7)
    with mpl.rc_context({"svg.hashsalt": "dpnb"}):
        figure.savefig(FOLDER / "scale.svg", format="svg", metadata={"Date": None})


def main() -> None:
    """Run what is asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["rows", "curves", "page", "all"])
    parser.add_argument("names", nargs="*", help="curves to measure: all by default")
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=100_000_000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as aside:
        folder = given.folder or Path(aside)
        folder.mkdir(exist_ok=True)
        if given.part == "all":
            LINES.unlink(missing_ok=True)
        if given.part in {"rows", "all"}:
            for rows in {"rows": [given.rows], "all": [10_000_000, 100_000_000]}[given.part]:
                rows_of(rows, folder, given.repeats)
        if given.part in {"curves", "all"}:
            curves(given.names, folder)
        if given.part in {"page", "all"}:
            page()


if __name__ == "__main__":
    main()
