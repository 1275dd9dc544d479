"""What the operator of a service is told: one word at ``/health``, and figures in OpenMetrics at ``/metrics``.

A word says nothing of data or of analysts, so that anybody may hear it. Figures are for the operator, who sees how much is asked and spent:
requests are told in tens, losses in hundredths of the budget, and the ledger's file, which grows by what was asked and answered, in MiB.
Memory and free disk are not told: what a scan and a prepared copy take depends on the data, and no step hides it from somebody who moves
the rest. An analyst adds some kilobytes to the ledger with each question, so where free disk crosses a step says how large the copies
are. The machine's own tools show both to whoever runs it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from dpnb.trusted import system

STEP = 10
"""Counts are told as a whole multiple of it."""
LEAST_FREE = 32 * 2**20
"""Bytes of disk below which a service says that its disk is full, and charges nothing."""
_HUNDREDTH, _MEBIBYTE = Fraction(1, 100), 2**20
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


def disk_fault(home: Path, least: float = LEAST_FREE) -> str | None:
    """Return the word for a disk on which nothing can be stored, or with less than so many free bytes; or None."""
    try:
        free = system.free_bytes(home)
    except OSError:
        return "unreadable"
    if free is None:
        return "read-only"
    return "full" if free < least else None


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


def sizes(ledger: Path) -> Iterator[Figure]:
    """Yield the size of the ledger's file, in MiB rounded down; nothing where it cannot be read."""
    with contextlib.suppress(OSError):
        told = ledger.stat().st_size // _MEBIBYTE * _MEBIBYTE
        yield Figure("dpnb_ledger_bytes", "gauge", "Size of the ledger's file.", {"": told})


def openmetrics(figures: list[Figure]) -> bytes:
    """Write figures as OpenMetrics text."""
    return "\n".join([*(line for figure in figures for line in figure.lines()), "# EOF", ""]).encode()
