"""What the operator of a service is told: one word at ``/health``, and figures in OpenMetrics at ``/metrics``.

A word says nothing of data or of analysts, so that anybody may hear it. Figures are for the operator, who sees how much is asked and spent:
requests are told in tens, losses in hundredths of the budget. What a scan or a prepared copy takes depends on the data, so memory and disk
are told in steps that are larger than either usually is: the most memory so far in 256 MiB, free disk in GiB.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

STEP = 10
"""Counts are told as a whole multiple of it."""
LEAST_FREE = 32 * 2**20
"""Bytes of disk below which a service says that its disk is full: it stores answers of hundreds of kilobytes."""
_HUNDREDTH, _MEBIBYTE = Fraction(1, 100), 2**20
_MEMORY, _DISK = 256 * _MEBIBYTE, 1024 * _MEBIBYTE
TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"


class Figure(NamedTuple):
    """One family of metrics: its name, kind and help, and its value for each set of labels."""

    name: str
    kind: str
    told: str
    values: Mapping[str, float]

    def lines(self) -> Iterator[str]:
        """Write it as OpenMetrics does."""
        yield f"# TYPE {self.name} {self.kind}"
        yield f"# HELP {self.name} {self.told}"
        ending = "_total" if self.kind == "counter" else ""
        for labels, value in self.values.items():
            yield f"{self.name}{ending}{labels and '{' + labels + '}'} {value:.12g}"


def disk_fault(home: Path) -> str | None:
    """Return the word for a disk on which nothing can be stored, or None."""
    try:
        disk = os.statvfs(home)
    except OSError:
        return "unreadable"
    if disk.f_flag & os.ST_RDONLY:
        return "read-only"
    return "full" if disk.f_bavail * disk.f_frsize < LEAST_FREE else None


def labelled(name: str, value: str) -> str:
    """Return a label; what is inside its quotes is escaped."""
    escaped = value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'{name}="{escaped}"'


def tens(count: int) -> int:
    """Round a count down, as it is told."""
    return count - count % STEP


def share_left(spent: Fraction, budget: Fraction) -> float:
    """Return what is left of a budget as a share, in hundredths rounded down."""
    left = max(Fraction(0), 1 - spent / budget) if budget else Fraction(0)
    return float(left // _HUNDREDTH * _HUNDREDTH)


def resources(home: Path, ledger: Path) -> list[Figure]:
    """Return what the process and its disk use, in bytes, rounded down to steps."""
    found = {
        "dpnb_memory_bytes": (_memory, _MEMORY, "Most resident memory of the service so far."),
        "dpnb_ledger_bytes": (lambda: ledger.stat().st_size, _MEBIBYTE, "Size of the ledger's file."),
        "dpnb_free_disk_bytes": (lambda: _free(home), _DISK, "Free disk where the home is."),
    }
    figures = []
    for name, (measured, step, told) in found.items():
        with contextlib.suppress(OSError, ValueError, StopIteration):
            figures.append(Figure(name, "gauge", told, {"": measured() // step * step}))
    return figures


def openmetrics(figures: list[Figure]) -> bytes:
    """Write figures as OpenMetrics text."""
    return "\n".join([*(line for figure in figures for line in figure.lines()), "# EOF", ""]).encode()


def _memory() -> int:
    """Return the most resident bytes so far, where the system has a file that says so."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def _free(home: Path) -> int:
    disk = os.statvfs(home)
    return disk.f_bavail * disk.f_frsize
