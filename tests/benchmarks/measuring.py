"""What the benchmarks measure with: clocks, processor time as the system counts it, and ways that are timed in turn."""

from __future__ import annotations

import os
import resource
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

Act = Callable[[], object]


def load() -> str:
    """How busy the machine is, in words."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def seconds(act: Act, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of one call, by a clock."""
    start = clock()
    act()
    return clock() - start


def milliseconds(act: Act) -> float:
    """Milliseconds of one call, of the clock."""
    return 1e3 * seconds(act)


def used(act: Act) -> np.ndarray:
    """Seconds of one call: of the clock, and of the processor in all threads."""
    start = _now()
    act()
    return _now() - start


def _now() -> np.ndarray:
    ours = resource.getrusage(resource.RUSAGE_SELF)
    return np.array([time.perf_counter(), ours.ru_utime + ours.ru_stime])


def medians(ways: Mapping[str, Act], repeats: int) -> dict[str, float]:
    """Median milliseconds of some ways, timed in turn: a busy machine is busy for all. The first turn does not count."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats + 1):
        for name, way in ways.items():
            times[name].append(milliseconds(way))
    return {name: statistics.median(found[1:]) for name, found in times.items()}


def processor(pid: int) -> float:
    """Seconds of processor time of a process, those of threads that have ended among them; to a hundredth of a second."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def processor_of_threads(pid: int) -> float:
    """Seconds of processor time of the threads that a process has now, to the nanosecond."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9
