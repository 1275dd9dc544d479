"""An interval of one kind at one level, for every entry of an answer; the two kinds are never confused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from dpnb.inference.digits import dated
from dpnb.inference.elementwise import Number

Kind = Literal["privacy", "confidence"]
KINDS: tuple[Kind, ...] = ("privacy", "confidence")


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """An interval with its level and kind. Unpacks as ``low, high``.

    Parameters
    ----------
    low, high : float or ndarray
        The ends; arrays of the estimate's shape for a vector. Infinite where the data cannot bound the value.
    level : float
        Stated coverage, for each component alone.
    kind : {"privacy", "confidence"}
        *privacy*: what the noise hides about this dataset. *confidence*: what sampling and noise hide about the
        population.
    note : str
        How it was made, and what a reader must know of it.
    calendar : str, optional
        Of dates the step that the ends count (days from 1970-01-01, …); they are then shown as dates.
    """

    low: Number
    high: Number
    level: float
    kind: Kind
    note: str = ""
    calendar: str | None = None

    def __iter__(self) -> Iterator[Number]:
        return iter((self.low, self.high))

    def __getitem__(self, place: int) -> Number:
        return (self.low, self.high)[place]

    def __len__(self) -> int:
        return 2

    def __contains__(self, value: object) -> bool:
        """Whether every component of `value` lies inside."""
        return bool(np.all((np.asarray(self.low) <= value) & (np.asarray(value) <= self.high)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Interval):
            return NotImplemented
        same = (self.level, self.kind, self.note) == (other.level, other.kind, other.note)
        ends = ((self.low, other.low), (self.high, other.high))
        return same and all(np.array_equal(mine, theirs, equal_nan=True) for mine, theirs in ends)

    def __hash__(self) -> int:
        return hash((self.level, self.kind, self.note))

    def __str__(self) -> str:
        low, high = np.asarray(self.low), np.asarray(self.high)
        number = partial(dated, calendar=self.calendar)
        if low.ndim:
            return (
                "["
                + ", ".join(f"{number(a)}..{number(b)}" for a, b in zip(low.flat, high.flat, strict=True))
                + "]"
            )
        return f"[{number(float(low))}, {number(float(high))}]"

    @property
    def width(self) -> Number:
        """High minus low."""
        return self.high - self.low

    @property
    def half_width(self) -> Number:
        """Half of the width: the ± of a symmetric interval."""
        return (self.high - self.low) / 2

    def to_json(self) -> dict[str, Any]:
        """The interval as plain JSON; infinite ends are ``null``."""
        return {
            "low": plain_number(self.low),
            "high": plain_number(self.high),
            "level": self.level,
            "kind": self.kind,
            "note": self.note,
        }


def plain_number(value: object) -> Any:
    """A number or nested lists of numbers, with ``None`` where JSON has no number (infinite, undefined)."""
    array = np.asarray(value)
    if array.ndim == 0:
        return array.item() if np.isfinite(array) else None
    return [plain_number(item) for item in array]
