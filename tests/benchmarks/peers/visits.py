"""In what order libraries are visited, how often, and how long: so that a run ends in time, and what is left of it is even.

Round by round, each library at each size, so that none has the quiet minutes to itself: first all of them once, then again what is fast. A
library whose visit takes more than half a minute is visited twice, one of more than three minutes once. A visit that would not end in time is
not begun. Each line is written as it comes: a run that is broken off and begun again with ``--resume`` repeats none of its visits.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .library import HERE, Library, surroundings

Line = dict[str, Any]
AGAIN = ((30.0, 5), (180.0, 2))
"""A visit of up to so many seconds is made so often; a longer one once."""
GRACE = 60.0
"""Seconds that a worker has beyond its visit's, for what it is at."""


def wanted(spent: Sequence[float], rounds: int, left: float) -> bool:
    """Whether a library is visited once more, after visits of so many seconds, where so many are left of the run."""
    if not spent:
        return left > 0
    longest = max(spent)
    often = next((most for seconds, most in AGAIN if longest <= seconds), 1)
    return len(spent) < min(often, rounds) and longest <= left


def visits(
    libraries: Sequence[Library],
    sizes: Sequence[int],
    rounds: int,
    minutes: float,
    spent: dict[tuple[str, int], list[float]],
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[tuple[Library, int, int]]:
    """Yield library, rows and round, one after another; the caller adds to ``spent`` what a visit took."""
    end = clock() + 60 * minutes
    for number in range(1, rounds + 1):
        for rows in sizes:
            for library in libraries:
                before = spent.setdefault((library.name, rows), [])
                if len(before) < number and wanted(before, rounds, end - clock()):
                    yield library, rows, number


def made(lines: Sequence[Line]) -> dict[tuple[str, int], list[float]]:
    """What the visits on file took, by library and rows."""
    found: dict[tuple[str, int], list[float]] = {}
    for line in lines:
        if line["statistic"] == "visit":
            found.setdefault((line["library"], line["rows"]), []).append(line["warm"][0])
    return found


def run(
    library: Library, module: str, arguments: Sequence[Any], most: float | None = None, **more: str
) -> Iterator[Line]:
    """Run a worker in the library's environment and yield its lines as they come; what is not installed, and what ends badly, is said.

    A worker that takes longer than ``most`` seconds is ended, with all that it started.
    """
    if library.python is None:
        print(f"-- {library.name} is not installed: make bench installs it, or says why not", flush=True)
        return
    command = [library.python, "-m", f"peers.{module}", library.module, *map(str, arguments)]
    with (
        surroundings(**more) as variables,
        subprocess.Popen(
            command,
            cwd=HERE.parent,
            env=variables,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as worker,
    ):
        try:
            yield from ({"library": library.name, **json.loads(text)} for text in _until(worker, most))
            if worker.wait():
                print(f"-- {library.name}: the worker ended with {worker.returncode}; see above", flush=True)
        finally:
            _end(worker)


def _until(worker: subprocess.Popen[str], most: float | None) -> Iterator[str]:
    """The lines of a worker, which is ended where its seconds are over."""
    watch = threading.Timer(most, _end, [worker]) if most else None
    if watch:
        watch.start()
    try:
        assert worker.stdout is not None
        yield from (line for line in worker.stdout if line.startswith("{"))
    finally:
        if watch:
            watch.cancel()


def _end(worker: subprocess.Popen[str]) -> None:
    """End a worker and what it started: a Spark, a curator."""
    try:
        os.killpg(worker.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def busy(seconds: float = 0.2) -> float | None:
    """What part of the machine's processors is at work for others, while nothing of ours is; without /proc it is not known."""
    try:
        first = _ticks()
        time.sleep(seconds)
        idle, whole = (after - before for before, after in zip(first, _ticks(), strict=True))
    except OSError:
        return None
    return 1 - idle / whole if whole else 0.0


def _ticks() -> tuple[int, int]:
    """Ticks at rest, and all, of all processors."""
    told = list(map(int, Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0].split()[1:9]))
    return told[3] + told[4], sum(told)
