"""A release in the embedded mode beside an earlier commit of dpnb, in turn: ``python -m tests.benchmarks.bench_before a643c936``.

That commit is the last one without a service: what the service needs must not make a notebook's own curator slower. Fresh means of
10,000 rows through the curator's process and its synced ledger; the processor time of kernel and curator together, as the system
counts it for each thread, and the median wait. Both run the same lines; each imports its own dpnb.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def worker(releases: int) -> None:
    """Open a table, and release whenever a line comes; say what each release took, in milliseconds."""
    sys.path.insert(0, str(Path.cwd()))
    import dpnb
    from dpnb.datasets import census, census_schema
    from dpnb.estimate import PendingQuestion
    from dpnb.planner.request import Ask

    assert Path(dpnb.__file__).is_relative_to(str(Path.cwd()))
    data = dpnb.open(census(10_000, 1), schema=census_schema(10_000), quiet=True)
    question = data[next(column.name for column in data.schema.columns if column.numeric)].mean().measurement
    ask = Ask.make(epsilon="0.0001", fresh=True)

    def release() -> float:
        start = time.perf_counter()
        data.session.release([PendingQuestion(question.question, question.checked, dataset=data)], ask)
        return time.perf_counter() - start

    curator = json.loads(next(Path(os.environ["DPNB_HOME"]).glob("*.json")).read_text())["pid"]
    for _ in range(50):
        release()
    print("ready", flush=True)
    for _ in sys.stdin:
        before = time.process_time() + processor(curator)
        waits = [release() for _ in range(releases)]
        used = time.process_time() + processor(curator) - before
        print(1e3 * used / releases, 1e3 * statistics.median(waits), flush=True)


def processor(pid: int) -> float:
    """Seconds of processor of a process, to the nanosecond."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def started(folder: Path, home: Path, releases: int) -> subprocess.Popen[str]:
    """Start a worker that imports the dpnb of a folder."""
    return subprocess.Popen(
        [sys.executable, __file__, "--worker", "--releases", str(releases)],
        cwd=folder,
        env={**os.environ, "DPNB_HOME": str(home), "PYTHONPATH": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def beside(folder: Path, rounds: int, releases: int) -> dict[str, list[tuple[float, float]]]:
    """Milliseconds of processor and of the clock, of each round of both."""
    with tempfile.TemporaryDirectory() as homes:
        both = {"before": folder, "now": ROOT}
        workers = {name: started(place, Path(homes) / name, releases) for name, place in both.items()}
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in both}
        for one in workers.values():
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n"
        for turn in range(rounds):
            for name in list(both)[:: 1 if turn % 2 else -1]:
                one = workers[name]
                assert one.stdin is not None
                assert one.stdout is not None
                one.stdin.write("\n")
                one.stdin.flush()
                used, wait = map(float, one.stdout.readline().split())
                found[name].append((used, wait))
        for one in workers.values():
            one.communicate()
        return found


def main() -> None:
    """Print the medians and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", nargs="?", help="a commit, or a folder that holds its files")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--releases", type=int, default=25, help="in each round")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.releases)
        return
    with tempfile.TemporaryDirectory() as made:
        folder = Path(options.commit)
        if not folder.is_dir():
            folder = Path(made)
            files = subprocess.run(
                ["git", "archive", options.commit, "dpnb"], cwd=ROOT, check=True, capture_output=True
            )
            subprocess.run(["tar", "-x", "-C", made], input=files.stdout, check=True)
        found = beside(folder, options.rounds, options.releases)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; medians of {options.rounds} rounds, ms")
    for place, what in enumerate(("processor, kernel and curator", "wait")):
        before, now = (statistics.median(one[place] for one in rounds) for rounds in found.values())
        print(f"{what}: before {before:.2f}, now {now:.2f}, ratio {now / before:.2f}")


if __name__ == "__main__":
    main()
