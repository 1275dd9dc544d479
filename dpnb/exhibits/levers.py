"""Levers: one number of an exhibit that a hand may move, and what is claimed, actual and corrected at each of its settings.

Where an exhibit stands on its lever, the lines are its numbers; a test compares. A hand stops at these settings alone, so
that every number that is read was computed; a line between two of them only leads the eye.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from dpnb.exhibits import lines
from dpnb.exhibits.lines import Lines


@dataclass(frozen=True, slots=True)
class Lever:
    """One number of an exhibit under the hand.

    Parameters
    ----------
    label : str
        What is moved.
    unit : str
        What the lines are measured in.
    values : tuple of float
        The settings, rising.
    at : float
        Where the exhibit itself stands.
    says : str
        What moving it teaches, in a sentence.
    lines : callable
        Claimed, actual and corrected at a setting.
    """

    label: str
    unit: str
    values: tuple[float, ...]
    at: float
    says: str
    lines: Callable[[float], Lines]

    def drawn(self) -> tuple[Lines, ...]:
        """Compute the lines at every setting, once in a session."""
        return _drawn(self.lines, self.values)


@lru_cache(maxsize=64)
def _drawn(lines: Callable[[float], Lines], values: tuple[float, ...]) -> tuple[Lines, ...]:
    return tuple(lines(value) for value in values)


def _line(low: float, high: float, step: float) -> tuple[float, ...]:
    return tuple(round(low + i * step, 6) for i in range(round((high - low) / step) + 1))


_LOSSES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0)
_PEOPLE = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200, 500)
_HALF = 0.5


LEVERS: Mapping[str, Lever] = MappingProxyType(
    {
        "resized-bootstrap": Lever(
            "uses of the procedure",
            "chance of proof",
            tuple(map(float, range(1, 41))),
            1,
            "Every use gives the one person away with the same chance, and the chances add up.",
            lines.uses,
        ),
        "free-bootstrap": Lever(
            "noise, times the published",
            "δ at the claimed ε",
            _line(1, 6, 0.5),
            1,
            "For these two datasets three times the noise is enough; for every statistic it takes four.",
            lines.inflated,
        ),
        "amplification": Lever(
            "share of people in the sample, p",
            "ρ",
            (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
            0.1,
            "The smaller the sample, the more the rule allows, and the more it breaks.",
            lines.sampled,
        ),
        "advanced-constant": Lever(
            "answers, k",
            "ε at δ = 1e-6",
            (1, 2, 5, 10, 20, 50, 100, 200, 300, 500),
            100,
            "For few answers the rule is generous; from about a hundred on it is broken.",
            lines.answers,
        ),
        "product-of-epsilons": Lever(
            "ε₂, of the second step",
            "ε",
            (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 3),
            0.1,
            "However small ε₂ is, what the first step wrote into every row comes through.",
            lines.chained,
        ),
        "change-one-noise": Lever(
            "the person's new value",
            "ε",
            _line(-1, 1, 0.1),
            1,
            "Up to 0 the noise is enough; beyond, one person moves the sum by more than it was scaled for.",
            lines.moved_to,
        ),
        "winsorized-noise": Lever(
            "one estimate's move, share of the range",
            "ε of the noise",
            _line(0, 1, 0.05),
            1,
            "From half of the range on, the noise no longer covers the move.",
            lines.crossed,
        ),
        "quantile-without-epsilon": Lever(
            "ε asked, of which a quarter is the quantile's",
            "ε",
            _LOSSES,
            _HALF,
            "The published loss is the same whatever is asked.",
            lines.asked,
        ),
        "box-sensitivity": Lever(
            "columns, k",
            "L2 distance",
            tuple(map(float, range(1, 31))),
            10,
            "The formula grows like √k, the truth like k.",
            lines.corners,
        ),
        "zero-sensitivity": Lever(
            "upper bound",
            "ε",
            _line(0, 8, 0.5),
            0,
            "The noise follows the wrong bound: at 0 there is none, and only from 5 on is it enough.",
            lines.upper,
        ),
        "content-hash-partition": Lever(
            "the last person's new value",
            "ε",
            tuple(range(lines.NEW_VALUE - 12, lines.NEW_VALUE + 13)),
            lines.NEW_VALUE,
            "The new value decides the subset: by content up to two answers move, by place never more than one.",
            lines.hashed,
        ),
        "difference-of-means": Lever(
            "people treated, of 1,000",
            "ε",
            _PEOPLE,
            1,
            "The more are treated, the smaller the break: the theorem counts a person whom the data do not.",
            lines.treated,
        ),
        "zero-noise-error": Lever(
            "people in the smaller arm, N*",
            "sensitivity",
            tuple(map(float, range(1, 16))),
            1,
            "At N* = 1 the formula says 0, and so much noise is added: none.",
            lines.small_arm,
        ),
        "float-laplace": Lever(
            "scale of the noise, 1/ε",
            "share ruled out",
            tuple(2.0**power for power in range(-2, 4)),
            1,
            "No amount of noise closes the holes between floats.",
            lines.ruled_out,
        ),
        "float-sum": Lever(
            "tiny rows behind the others",
            "ε",
            tuple(512.0 * i for i in range(9)),
            4096,
            "Each rounds up once the sum is past a power of two, and a move of 1 becomes a move of 2.",
            lines.tiny,
        ),
        "same-utility": Lever(
            "resamples, k",
            "variance ratio",
            (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100),
            1,
            "The part that the formula leaves out falls as 1/k.",
            lines.resamples,
        ),
        "averaged-laplace": Lever(
            "answers averaged, k",
            "variance ratio",
            tuple(map(float, range(1, 15))),
            10,
            "The average wins below eight answers, where it is not yet normal.",
            lines.averaged,
        ),
        "records-to-change": Lever(
            "where all values lie",
            "rms error",
            (-0.999, -0.99, -0.95, -0.9, -0.8, -0.7, -0.6, -0.5, -0.4, -0.3, -0.2, -0.1, 0),
            -0.99,
            "Near a bound or in the middle, the noise errs half as much.",
            lines.lying_at,
        ),
        "rule-2.996": Lever(
            "critical value, in standard deviations",
            "coverage",
            (1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.118, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8, 2.9, 2.996, 3.1, 3.2),
            2.996,
            "A Laplace error is covered at 95 % by 2.118 standard deviations.",
            lines.critical,
        ),
        "laplace-critical-value": Lever(
            "nominal level",
            "coverage",
            (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.907, 0.92, 0.95, 0.97, 0.99),
            0.9,
            "Below 90.7 % the interval covers less than it says.",
            lines.nominal,
        ),
    }
)
"""The exhibits that have a number to move. A NaN, a matched pair and a tie have none: their answers are drawn instead."""


def lever_of(name: str) -> Lever | None:
    """Return the lever of an exhibit, where one teaches."""
    return LEVERS.get(name)
