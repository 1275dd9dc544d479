"""``make bench``: every library in its own environment, errors and times side by side; writes the CSV files, the pictures and the page.

``python -m peers accuracy``, ``timing`` and ``page`` run one part alone, from tests/benchmarks.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from .library import FLOORS, HERE, LIBRARIES, ROOT, TIMED_REGIONS, Library, surroundings

FOLDER = ROOT / "docs" / "benchmarks"


def run(library: Library, module: str, arguments: Sequence[Any], **variables_of: str) -> list[dict[str, Any]]:
    """Run a worker in the library's environment and read its lines; a library that is not installed is said and left out."""
    if library.python is None:
        print(f"-- {library.name} is not installed: make bench installs it, or says why not", flush=True)
        return []
    with surroundings(**variables_of) as variables:
        done = subprocess.run(
            [library.python, "-m", f"peers.{module}", library.module, *map(str, arguments)],
            cwd=HERE.parent,
            env=variables,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    if done.returncode:
        print(f"-- {library.name}: the worker ended with {done.returncode}; see above", flush=True)
    return [{"library": library.name, **json.loads(line)} for line in done.stdout.splitlines() if line]


def accuracy(asked: argparse.Namespace) -> None:
    """Measure errors and intervals, and write them."""
    some = ("--statistics", *asked.statistics) if asked.statistics else ()
    for rows, epsilon in product(asked.rows, asked.epsilon):
        for library in chosen(LIBRARIES, asked.only):
            for adjacency in library.adjacencies:
                arguments = (adjacency, rows, "--epsilon", epsilon, "--releases", asked.releases, *some)
                keep(asked.folder / "accuracy.jsonl", run(library, "worker", arguments))


def timing(asked: argparse.Namespace) -> None:
    """Measure times, in rounds, so that no library has the quiet minutes to itself; and what is installed."""
    folders = [library for library in LIBRARIES if library.folder.exists()]
    keep(
        asked.folder / "sizes.jsonl", [{"library": one.name, "mib": installed(one.folder)} for one in folders]
    )
    for rows in asked.timed:
        for _ in range(asked.rounds):
            for library in chosen((*FLOORS, *LIBRARIES), asked.only):
                found = run(library, "timing", (rows,), DPNB_BENCH_REGIONS=str(TIMED_REGIONS))
                keep(asked.folder / "timing.jsonl", found)


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


def keep(path: Path, lines: list[dict[str, Any]]) -> None:
    """Add lines to a file, so that an interrupted run loses one worker's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def main() -> int:
    """Run what is asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["accuracy", "timing", "page"])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--releases", type=int, default=400)
    parser.add_argument(
        "--statistics",
        nargs="+",
        default=[],
        help="measure the errors of these alone; together for the seven",
    )
    parser.add_argument("--timed", type=int, nargs="+", default=[10_000, 1_000_000, 10_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[], metavar="LIBRARY")
    parser.add_argument("--folder", type=Path, default=ROOT / "build-bench")
    asked = parser.parse_args()
    for part in asked.parts:
        if part == "page":
            from .page import write

            write(asked.folder, FOLDER)
        else:
            {"accuracy": accuracy, "timing": timing}[part](asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
