"""One row of the replication: what was printed, what comes out here, how sure that is, and whether they agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_SURE = 3.0
_FINE = 0.05
UNTOLD = "not enough simulations to tell"


@dataclass(frozen=True, slots=True)
class Quoted:
    """A printed number as the range that its rounding, or its wording, leaves."""

    low: float
    high: float

    @classmethod
    def near(cls, value: float, half: float) -> Quoted:
        """Return a number with the half width of its rounding."""
        return cls(value - half, value + half)

    def holds(self, ours: float, error: float = 0.0) -> bool:
        """Whether our number lies in the range, three of its standard errors allowed."""
        slack = _SURE * error + 1e-12 * max(abs(self.low), abs(self.high), 1.0)
        return self.low - slack <= ours <= self.high + slack

    def told(self, ours: float, error: float) -> bool:
        """Whether so many simulations can tell: their band lies in the range, or is no wider than it or than 5 % of our number."""
        band = _SURE * error
        inside = self.low <= ours - band and ours + band <= self.high
        return inside or band <= max((self.high - self.low) / 2, _FINE * abs(ours))


@dataclass(frozen=True, slots=True)
class Row:
    """What was printed (as ranges, one for each of ours), what comes out, its standard errors (none for what is exact), and a note."""

    source: str
    quantity: str
    published: str
    quoted: Sequence[Quoted]
    ours: Sequence[float]
    errors: Sequence[float] = ()
    note: str = ""
    form: str = ".4g"

    def __post_init__(self) -> None:
        object.__setattr__(self, "errors", self.errors or [0.0] * len(self.ours))

    @property
    def verdict(self) -> str:
        """``agrees``, ``differs``, ``not enough simulations to tell`` or, where nothing was printed, ``ours alone``."""
        if not self.quoted:
            return "ours alone"
        each = list(zip(self.quoted, self.ours, self.errors, strict=True))
        if not all(quoted.holds(ours, error) for quoted, ours, error in each):
            return "differs"
        return "agrees" if all(quoted.told(ours, error) for quoted, ours, error in each) else UNTOLD

    @property
    def ours_text(self) -> str:
        """Our numbers."""
        return " · ".join(format(value, self.form) for value in self.ours)

    @property
    def errors_text(self) -> str:
        """Their standard errors; a dash for what is exact."""
        if all(error == 0 for error in self.errors):
            return "exact"
        return " · ".join("exact" if e == 0 else _brief(e) for e in self.errors)


def percent_error(share: float, reps: int) -> float:
    """Return the standard error, in per cent, of a share of so many simulations."""
    return 100 * math.sqrt(share * (1 - share) / reps)


def sd_error(sd: float, reps: int) -> float:
    """Return the standard error of the standard deviation of so many normal values."""
    return sd / math.sqrt(2 * reps)


COLUMNS = ("source", "quantity", "published", "ours", "se of ours", "verdict")


def cells(row: Row) -> tuple[str, ...]:
    """Return a row as text, a cell for each of the columns."""
    return row.source, row.quantity, row.published, row.ours_text, row.errors_text, row.verdict


def _brief(error: float) -> str:
    """One digit, or two where that avoids an exponent."""
    if not math.isfinite(error):
        return "?"
    return f"{error:.0f}" if error >= 9.5 else f"{error:.1g}"


def table_text(rows: Sequence[Row]) -> str:
    """Return the table for a terminal."""
    lines = [COLUMNS, *map(cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    out = []
    for line, row in zip(lines, (None, *rows), strict=True):
        out.append("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
        if row is not None and row.note:
            out.append(" " * (widths[0] + 2) + f"({row.note})")
    return "\n".join(out)
