"""Error propagation for derived values, in coefficients that do not depend on the split.

The front end computes the same while a divider is dragged (``labextension/src/maths/forecast.ts``). The law of a sum of
noises is that of :class:`~dpnb.inference.NoiseSum`, which intervals are computed with; nothing here knows an answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpnb.inference import NoiseSum

LEVEL = 0.05
#: A half-width of zero, where a logarithm is taken of it.
TINY = 1e-300

Term = tuple[int, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Law:
    """The shape of an answer's noise, its 95 % radius being 1: a normal part and Laplace parts.

    Parameters
    ----------
    normal : float
        Standard deviation.
    laplace : tuple of float
        Scales.
    """

    normal: float = 0.0
    laplace: tuple[float, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the law as the browser takes it."""
        return {"normal": self.normal, "laplace": list(self.laplace)}


NORMAL = Law(1 / 1.959963984540054)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What can be said of the ± of a derived value before anything is spent.

    Parameters
    ----------
    kind : str
        ``"sum"``, ``"one"``, ``"many"`` or ``"none"``.
    points : tuple of tuple of (int, tuple of float)
        For each point of a grid, the coefficients of each question's entries. One point where the coefficients are constants.
    middle : tuple of (int, tuple of float)
        The coefficients in the middle of the ranges.
    of : int
        The question of which it is a function.
    reach : tuple of (float, float, float)
        Radius of that question; half-width of the image around the middle; the largest half-width over the range.
    centre : float
        That middle.
    why : str
        Why there is no bound, or no ± at all.
    each : bool
        Whether it is several values, and what is said holds for each.
    given : str
        What it takes for granted, in words.
    """

    kind: str
    points: tuple[tuple[Term, ...], ...] = ()
    middle: tuple[Term, ...] = ()
    of: int = -1
    reach: tuple[tuple[float, float, float], ...] = ()
    centre: float = 0.0
    why: str = ""
    each: bool = False
    given: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the forecast as the browser takes it."""
        radii, middle, worst = ([max(row[i], TINY) for row in self.reach] for i in range(3))
        return {
            "kind": self.kind,
            "points": [[[q, list(c)] for q, c in point] for point in self.points],
            "middle": [[q, list(c)] for q, c in self.middle],
            "of": self.of,
            "reach": {"loss": radii, "middle": middle, "worst": worst},
            "centre": self.centre,
            "why": self.why,
            "each": self.each,
            "given": self.given,
        }


def radius(terms: Sequence[Term], laws: Sequence[Law | None], widths: Sequence[float | None]) -> float:
    """Return the 95 % radius of a sum of independent noises.

    Parameters
    ----------
    terms : sequence of (int, tuple of float)
        The coefficients of each question's entries.
    laws, widths : sequences
        The law of each question's noise, and its 95 % radius.
    """
    variance, scales = 0.0, []
    for place, coefficients in terms:
        law, width = laws[place], widths[place]
        assert law is not None
        assert width is not None
        for coefficient in coefficients:
            size = abs(coefficient) * width
            variance += (size * law.normal) ** 2
            scales += [size * b for b in law.laplace]
    return float(NoiseSum(variance, tuple(scales)).radius(LEVEL))


def half_widths(
    told: Forecast, laws: Sequence[Law | None], widths: Sequence[float | None]
) -> tuple[float | None, float | None]:
    """Return the half-width in the middle of the ranges and the largest, where there are such.

    Parameters
    ----------
    told : Forecast
    laws, widths : sequences
        Of each question: the law of its noise and its 95 % radius.
    """
    if told.kind == "one":
        width = widths[told.of]
        assert width is not None
        return _between(told.reach, 1, width), _between(told.reach, 2, width)
    worst = max((radius(point, laws, widths) for point in told.points), default=None)
    return (radius(told.middle, laws, widths) if told.kind == "many" else None), worst


def _between(rows: Sequence[tuple[float, float, float]], column: int, width: float) -> float:
    """Read a half-width between two radii: a power law, beyond the ends the end."""
    radii = [row[0] for row in rows]
    values = [max(row[column], TINY) for row in rows]
    if width <= radii[0] or width >= radii[-1]:
        return values[0] if width <= radii[0] else values[-1]
    i = next(i for i, x in enumerate(radii) if x > width)
    share = math.log(width / radii[i - 1]) / math.log(radii[i] / radii[i - 1])
    return math.exp(math.log(values[i - 1]) + share * math.log(values[i] / values[i - 1]))
