"""One library, one size: what importing, opening and asking take, cold and warm, and how much memory at most.

Runs in the library's own environment: ``python -m peers.timing opendp 10000``. A question's first answer is the cold one; then it is asked
again, until a third of a second or fifteen answers are over. A first answer of more than five seconds is the only one, but for the first
question's, which warms the library up, and the seven's. When the visit's seconds are over, the questions left are left out, and said. Where
the seven are asked one after another and took half a minute alone, the seven are those times added up. Memory is of the process that asks,
and of its children: dpnb's curator is one.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .study import STATISTICS, TOGETHER, study
from .worker import joined

PATIENCE, MOST = 0.3, 15
ONCE, ADDED, VISIT = 5.0, 30.0, 240.0
"""Seconds: of a first answer that is the only one; of seven questions that are added up; of a visit."""
TIMED = tuple(name for name in STATISTICS if name != "skewed mean")
"""A skewed mean takes what a mean takes."""
SEVEN = "the seven"


def seconds(ask: Callable[[], Any]) -> float:
    """How long one call takes."""
    started = time.perf_counter()
    ask()
    return time.perf_counter() - started


def repeated(ask: Callable[[], Any], *, once: float) -> tuple[float, list[float]]:
    """The first call, and those after it; none where the first took longer than ``once``."""
    cold = seconds(ask)
    warm: list[float] = []
    while cold <= once and (not warm or (sum(warm) < PATIENCE and len(warm) < MOST)):
        warm.append(seconds(ask))
    return cold, warm


def lines(name: str, rows: int, visit: float = VISIT) -> Iterator[dict[str, Any]]:
    """Times of one library; a question that fails or is left out says so."""
    begun, table, before = time.perf_counter(), study(rows), memory()
    imported = seconds(lambda: importlib.import_module(f".{name}", __package__))
    module = importlib.import_module(f".{name}", __package__)
    if rows > getattr(module, "MOST_ROWS", rows):
        yield {"statistic": "open", "fails": "left out, as each question would take minutes"}
        return
    started = time.perf_counter()
    peer = module.Peer(table, getattr(module, "ADJACENCIES", ("change-one",))[0])
    yield {"statistic": "import", "warm": [imported]}
    yield {"statistic": "open", "warm": [time.perf_counter() - started]}
    alone: dict[str, float] = {}
    for statistic in TIMED:
        if statistic in peer.supports:
            if time.perf_counter() - begun > visit:
                yield {"statistic": statistic, "fails": f"left out, as {visit:.0f} s were over"}
                continue
            found = asked(lambda one=statistic: peer.ask(one, 1.0), once=ONCE if alone else math.inf)
            alone[statistic] = min(found.get("warm") or [found.get("cold", 0.0)])
            yield {"statistic": statistic, **found}
    parts = {one: alone.get(one, 0.0) for one in TOGETHER if one in peer.supports}
    if lacking := [one for one, took in parts.items() if not took]:
        yield {"statistic": SEVEN, "fails": f"left out: it has no {' or '.join(lacking)}"}
    elif hasattr(peer, "together") or sum(parts.values()) <= ADDED:
        yield {"statistic": SEVEN, **asked(lambda: joined(peer, 1.0), once=math.inf)}
    else:
        yield {"statistic": SEVEN, "warm": [sum(parts.values())], "added": True}
    yield {"statistic": "memory", "warm": [memory() - before], "whole": memory()}


def asked(ask: Callable[[], Any], *, once: float) -> dict[str, Any]:
    """The times of a question, or why it has none."""
    try:
        cold, warm = repeated(ask, once=once)
    except Exception as failure:  # noqa: BLE001 - a benchmark tells of it and goes on
        return {"fails": f"{type(failure).__name__}: {failure}"[:200]}
    return {"cold": cold, "warm": warm}


def memory() -> float:
    """The most memory so far, in MiB: of this process and of the processes that it started; without /proc, of this one alone."""
    try:
        return sum(peak for peak in map(_peak, family(os.getpid())) if peak)
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def family(first: int) -> set[int]:
    """A process and all below it."""
    names = (entry.name for entry in Path("/proc").iterdir())
    parents = {int(name): _status(int(name)).get("PPid") for name in names if name.isdigit()}
    found, wave = {first}, {first}
    while wave := {pid for pid, parent in parents.items() if parent and int(parent) in wave} - found:
        found |= wave
    return found


def _status(pid: int) -> dict[str, str]:
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):  # it has ended
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in text.splitlines())}


def _peak(pid: int) -> float:
    return int(_status(pid).get("VmHWM", "0 kB").split()[0]) / 1024


def main() -> None:
    """Run one library."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer")
    parser.add_argument("rows", type=int)
    parser.add_argument("--visit", type=float, default=VISIT)
    given = parser.parse_args()
    for line in lines(given.peer, given.rows, given.visit):
        print(json.dumps({"rows": given.rows, "load": os.getloadavg()[0], **line}), flush=True)


if __name__ == "__main__":
    main()
