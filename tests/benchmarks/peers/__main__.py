"""``make bench``: every library in its own environment, errors and times side by side; writes the CSV files, the pictures and the page.

``python -m peers accuracy``, ``timing``, ``synthetic`` and ``page`` run one part alone, from tests/benchmarks. What is measured is written line by line;
``--resume`` goes on with a run that was broken off.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from .library import FLOORS, FOLDER, LIBRARIES, ROOT, SYNTHESIZERS, TIMED_REGIONS, Library
from .page import read
from .timing import VISIT
from .visits import GRACE, busy, made, run, visits


def accuracy(asked: argparse.Namespace) -> None:
    """Measure errors and intervals, and write them; what a run that is resumed has measured whole is not measured again."""
    path = asked.folder / "accuracy.jsonl"
    done = {_case(line) for line in read(path) if line["statistic"].startswith("together: ")}
    some = ("--statistics", *asked.statistics) if asked.statistics else ()
    for rows, epsilon in product(asked.rows, asked.epsilon):
        for library in chosen(LIBRARIES, asked.only):
            for adjacency in library.adjacencies:
                if asked.resume and (library.name, adjacency, rows, epsilon) in done:
                    continue
                arguments = (adjacency, rows, "--epsilon", epsilon, "--releases", asked.releases, *some)
                keep(path, ({**line, "date": today()} for line in run(library, "worker", arguments)))


def _case(line: dict[str, Any]) -> tuple[Any, ...]:
    return line["library"], line["adjacency"], line["rows"], line["epsilon"]


def timing(asked: argparse.Namespace) -> None:
    """Measure times, in rounds and within the minutes given; and what is installed."""
    folders = [library for library in LIBRARIES if library.folder.exists()]
    keep(
        asked.folder / "sizes.jsonl", [{"library": one.name, "mib": installed(one.folder)} for one in folders]
    )
    path = asked.folder / "timing.jsonl"
    if not asked.resume and path.exists():
        path.replace(
            path.with_suffix(".before.jsonl")
        )  # times of two runs are not of one machine in one state
    spent, libraries = made(read(path)), chosen((*FLOORS, *LIBRARIES), asked.only)
    for library, rows, number in visits(libraries, asked.timed, asked.rounds, asked.minutes, spent):
        others, began = busy(), time.monotonic()
        about = {"round": number, "busy": others, "date": today()}
        found = run(
            library, "timing", (rows, "--visit", VISIT), VISIT + GRACE, DPNB_BENCH_REGIONS=str(TIMED_REGIONS)
        )
        keep(path, ({**line, **about} for line in found))
        took = time.monotonic() - began
        end = {"library": library.name, "rows": rows, "statistic": "visit", "warm": [took], **about}
        keep(path, [end])
        spent[library.name, rows].append(took)
        print(f"{library.name}, n {rows:,}, round {number}: {took:.0f} s", file=sys.stderr, flush=True)


def synthetic(asked: argparse.Namespace) -> None:
    """Measure synthetic rows: errors, coverage and times of so many releases each."""
    for library, rows in product(chosen(SYNTHESIZERS, asked.only), asked.rows):
        found = run(library, "synthetic_worker", (rows, asked.runs))
        keep(asked.folder / "synthetic.jsonl", ({**line, "date": today()} for line in found))


def today() -> str:
    """The day of a measurement."""
    return time.strftime("%Y-%m-%d")


def installed(folder: Path) -> float:
    """MiB of an environment's packages, those that made it left out."""
    makers = {"pip", "setuptools", "wheel"}
    files = (
        path for path in folder.glob("**/site-packages/**/*") if path.is_file() and not path.is_symlink()
    )
    kept = (path for path in files if path.relative_to(folder).parts[3].split("-")[0] not in makers)
    return sum(path.stat().st_size for path in kept) / 2**20


def chosen(libraries: Sequence[Library], names: Sequence[str]) -> list[Library]:
    """The libraries of these names, or all."""
    return [library for library in libraries if not names or library.name in names]


def keep(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Add lines to a file, each as it comes, so that a run that is broken off loses none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            file.flush()


def main() -> int:
    """Run what is asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["accuracy", "timing", "page"])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--releases", type=int, default=400)
    parser.add_argument("--runs", type=int, default=3, help="releases of synthetic rows")
    parser.add_argument(
        "--statistics",
        nargs="+",
        default=[],
        help="measure the errors of these alone; together for the seven",
    )
    parser.add_argument("--timed", type=int, nargs="+", default=[10_000, 1_000_000, 10_000_000])
    parser.add_argument("--rounds", type=int, default=5, help="at most; what is slow is visited less often")
    parser.add_argument(
        "--minutes", type=float, default=44.0, help="no visit of the times begins after these"
    )
    parser.add_argument("--resume", action="store_true", help="go on with a run that was broken off")
    parser.add_argument("--only", nargs="+", default=[], metavar="LIBRARY")
    parser.add_argument("--folder", type=Path, default=ROOT / "build-bench")
    asked = parser.parse_args()
    for part in asked.parts:
        if part == "page":
            from .page import write

            write(asked.folder, FOLDER)
        else:
            {"accuracy": accuracy, "timing": timing, "synthetic": synthetic}[part](asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
