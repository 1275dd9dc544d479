"""One library, one size: what importing, opening and asking take, warm and cold, and how much memory at most.

Runs in the library's own environment: ``python -m peers.timing opendp 10000``. The first answer after opening is the cold one. Memory is of
the process that asks, and of its children: dpnb's curator is one.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .study import STATISTICS, study
from .worker import joined

PATIENCE, MOST = 1.0, 15


def seconds(ask: Callable[[], Any]) -> float:
    """How long one call takes."""
    started = time.perf_counter()
    ask()
    return time.perf_counter() - started


def repeated(ask: Callable[[], Any]) -> tuple[float, list[float]]:
    """The first call, and those after it until a second or fifteen calls are over."""
    cold, warm = seconds(ask), [seconds(ask)]
    while sum(warm) < PATIENCE and len(warm) < MOST:
        warm.append(seconds(ask))
    return cold, warm


def lines(name: str, rows: int) -> Iterator[dict[str, Any]]:
    """Times of one library; a statistic that fails says so."""
    table = study(rows)
    begun = memory()
    imported = seconds(lambda: importlib.import_module(f".{name}", __package__))
    module = importlib.import_module(f".{name}", __package__)
    if rows > getattr(module, "MOST_ROWS", rows):
        yield {"statistic": "open", "fails": "left out, as it would take hours"}
        return
    started = time.perf_counter()
    peer = module.Peer(table, getattr(module, "ADJACENCIES", ("change-one",))[0])
    yield {"statistic": "import", "warm": [imported]}
    yield {"statistic": "open", "warm": [time.perf_counter() - started]}
    for statistic in (*STATISTICS, "the seven"):
        if statistic in peer.supports or statistic == "the seven":
            ask = (
                (lambda: joined(peer, 1.0))
                if statistic == "the seven"
                else (lambda s=statistic: peer.ask(s, 1.0))
            )
            try:
                cold, warm = repeated(ask)
            except Exception as failure:  # noqa: BLE001 - a benchmark tells of it and goes on
                yield {"statistic": statistic, "fails": f"{type(failure).__name__}: {failure}"[:200]}
            else:
                yield {"statistic": statistic, "cold": cold, "warm": warm}
    yield {"statistic": "memory", "warm": [memory() - begun], "whole": memory()}


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
    asked = parser.parse_args()
    for line in lines(asked.peer, asked.rows):
        print(json.dumps({"rows": asked.rows, "load": os.getloadavg()[0], **line}), flush=True)


if __name__ == "__main__":
    main()
