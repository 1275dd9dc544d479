r"""The sparse vector technique: which of many questions lie above a threshold, paying for the few that do.

*Proof (above_threshold).* Give the threshold noise :math:`ρ \sim Lap(Δ/ε_1)` and each question noise
:math:`ν_i \sim Lap(2cΔ/ε_2)`, with :math:`ε_1 = ε_2 = ε/2`, and stop after c answers "above". Move from D to a neighbour and
shift ρ by Δ: its density changes by at most :math:`e^{ε_1}`. Every "below" stays at least as likely, since the threshold rose
by as much as the question could. An "above" needs ν to reach 2Δ further, which changes its probability by at most
:math:`e^{ε_2/c}`; there are at most c of them. ∎ "Below" is free, "above" is not, and without ρ neither holds.

The wrong versions were published, and are exhibits: each drops one part of this proof. :data:`WRONG_VERSIONS` holds them.

References
----------
.. [1] Lyu, Su and Li (2017), "Understanding the Sparse Vector Technique for Differential Privacy", Algorithms 1, 4, 5 and 6.
.. [2] Dwork and Roth (2014), "The Algorithmic Foundations of Differential Privacy", section 3.6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.errors import OptionError
from dpnb.lessons.arguments import Floats, Integers, amount_of, generator, loss_of, numbers, whole

NOT_ASKED = -1
"""Stands in a row of many runs for a question that came after the stop."""

_REACH, _NODES = 50.0, 24
_Outcome = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Version:
    """Scales of the threshold's and the questions' noise (0: none), and after how many hits it stops (0: never)."""

    threshold: float
    question: float
    hits: int


def above_threshold(
    answers: ArrayLike,
    threshold: float,
    epsilon: float,
    rng: int | np.random.Generator,
    *,
    hits: int = 1,
    sensitivity: float = 1.0,
    size: int | None = None,
) -> Integers:
    """Say for each answer in turn whether it is above a public threshold, and stop after a number of hits. ε-private.

    Parameters
    ----------
    answers : array of float, shape (k,)
        Exact answers in the order in which they are asked.
    threshold : float
    epsilon : float
        The loss of the whole, however many questions are asked.
    rng : int or numpy Generator
    hits : int
        Stop after this many answers "above".
    sensitivity : float
        The most by which one person moves any answer.
    size : int, optional
        Runs, for audits.

    Returns
    -------
    ndarray of int
        1 above, 0 below: shape (asked,). With `size`, shape (size, k), and -1 for questions after the stop.

    Raises
    ------
    LossError, OptionError
        When ε is not above 0, or an argument is out of range.

    Examples
    --------
    >>> above_threshold([0, 0, 1000, 0], threshold=500, epsilon=1, rng=7)
    array([0, 0, 1])
    """
    return _run(answers, threshold, _correct(epsilon, hits, sensitivity), rng, size)


def above_threshold_law(
    answers: ArrayLike, threshold: float, epsilon: float, *, hits: int = 1, sensitivity: float = 1.0
) -> dict[tuple[int, ...], float]:
    """Return the probability of every outcome of :func:`above_threshold`, by quadrature over the threshold's noise.

    At most 12 answers: there are up to 2ᵏ outcomes.
    """
    return _law(answers, threshold, _correct(epsilon, hits, sensitivity))


def _correct(epsilon: float, hits: int, sensitivity: float) -> _Version:
    half, moved = loss_of(epsilon) / 2, amount_of(sensitivity, "sensitivity")
    count = whole(hits, "hits")
    return _Version(moved / half, 2 * count * moved / half, count)


def _run(
    answers: ArrayLike, threshold: float, version: _Version, rng: int | np.random.Generator, size: int | None
) -> Integers:
    exact, level = numbers(answers, "answers"), _level(threshold)
    runs, chance = 1 if size is None else whole(size, "size"), generator(rng)
    bar = level + chance.laplace(0, version.threshold, (runs, 1))
    found = (exact + _noise(chance, version.question, (runs, exact.size)) >= bar).astype(np.int64)
    if version.hits:
        found[np.cumsum(found, axis=1) - found >= version.hits] = NOT_ASKED
    return found if size is not None else found[0][found[0] != NOT_ASKED]


def _level(threshold: float) -> float:
    return float(numbers([threshold], "threshold")[0])


def _noise(chance: np.random.Generator, scale: float, shape: tuple[int, int]) -> Floats:
    return chance.laplace(0, scale, shape) if scale else np.zeros(shape)


def _law(answers: ArrayLike, threshold: float, version: _Version) -> dict[_Outcome, float]:
    exact = numbers(answers, "answers") - _level(threshold)
    if exact.size > 12:
        raise OptionError("A law is listed for at most 12 answers: give fewer, or run it with size=.")
    bars, weights = _quadrature(exact, version)
    running: dict[_Outcome, Floats] = {(): weights}
    for answer in exact:
        running = _extended(running, _above(answer, bars, version.question), version.hits)
    return {outcome: float(mass.sum()) for outcome, mass in running.items() if mass.any()}


def _extended(running: dict[_Outcome, Floats], above: Floats, hits: int) -> dict[_Outcome, Floats]:
    """Every outcome with one more answer, or as it is where it has stopped."""
    longer: dict[_Outcome, Floats] = {}
    for outcome, mass in running.items():
        if hits and sum(outcome) >= hits:
            longer[outcome] = mass
        else:
            longer[*outcome, 1], longer[*outcome, 0] = mass * above, mass * (1 - above)
    return longer


def _above(answer: float, bars: Floats, scale: float) -> Floats:
    """The probability that an answer with its noise reaches each bar."""
    if not scale:
        return (answer >= bars).astype(np.float64)
    gap = (bars - answer) / scale
    tail = 0.5 * np.exp(-np.abs(gap))
    return np.where(gap > 0, tail, 1 - tail)


def _quadrature(exact: Floats, version: _Version) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes of the threshold's noise, on pieces that end where the integrand has a kink; weights sum to 1."""
    reach = _REACH * version.threshold
    kinks = np.unique(np.clip([-reach, 0.0, reach, *exact], -reach, reach))
    step = min(version.threshold, version.question or version.threshold)
    counts = np.ceil(np.diff(kinks) / step).astype(int)
    pieces = zip(kinks, kinks[1:], counts, strict=False)
    cuts = np.concatenate([np.linspace(a, b, n, endpoint=False) for a, b, n in pieces] + [kinks[-1:]])
    nodes, shares = np.polynomial.legendre.leggauss(_NODES)
    half = np.diff(cuts)[:, None] / 2
    bars = (cuts[:-1, None] + half + half * nodes).ravel()
    mass = (half * shares).ravel() * np.exp(-np.abs(bars) / version.threshold)
    return bars, mass / mass.sum()


@dataclass(frozen=True, slots=True)
class WrongVersion:
    """A published sparse vector that is not ε-private: an exhibit, on arrays, with two neighbours that show it.

    Parameters
    ----------
    name, source, claim, why : str
        What it is, who published it, what was promised, and which part of the proof it lacks.
    neighbours : pair of arrays
        Answers of two neighbouring datasets; one person moves each by at most 1. The threshold is 0.
    make : callable
        From ε to the version's noise.
    """

    name: str
    source: str
    claim: str
    why: str
    neighbours: tuple[tuple[float, ...], tuple[float, ...]]
    make: Callable[[float], _Version]

    @property
    def status(self) -> str:
        """``"exhibit"``: shown, but never used on protected data."""
        return "exhibit"

    def run(
        self,
        answers: ArrayLike,
        epsilon: float,
        rng: int | np.random.Generator,
        threshold: float = 0.0,
        size: int | None = None,
    ) -> NDArray[np.int64]:
        """Run it as published; outcomes as in :func:`above_threshold`."""
        return _run(answers, threshold, self.make(loss_of(epsilon)), rng, size)

    def law(self, answers: ArrayLike, epsilon: float, threshold: float = 0.0) -> dict[tuple[int, ...], float]:
        """Return the probability of every outcome."""
        return _law(answers, threshold, self.make(loss_of(epsilon)))


WRONG_VERSIONS: tuple[WrongVersion, ...] = (
    WrongVersion(
        "noise-without-c",
        "Lee and Clifton (2014); Algorithm 4 in Lyu, Su and Li",
        "ε-private for any number c of answers above",
        "The questions' noise does not grow with c, though each answer above costs: (1+6c)ε/4 is lost for general questions.",
        ((0, 0, 0, 0, 0, 0), (1, 1, 1, -1, -1, -1)),
        lambda epsilon: _Version(4 / epsilon, 4 / (3 * epsilon), 3),
    ),
    WrongVersion(
        "no-query-noise",
        "Stoddard, Chen and Machanavajjhala (2014); Algorithm 5 in Lyu, Su and Li",
        "ε-private for any number of questions",
        "The questions have no noise: their order under the neighbour makes some outcomes impossible.",
        ((0, 1), (1, 0)),
        lambda epsilon: _Version(2 / epsilon, 0, 0),
    ),
    WrongVersion(
        "no-stop",
        "Chen, Xiao, Zhang and Xu (2015); Algorithm 6 in Lyu, Su and Li",
        "ε-private for any number of questions",
        "It never stops: answers above are paid for once and given any number of times; m of each kind lose at least mε/2.",
        ((0, 0, 0, 0, 0, 0, 0, 0), (1, 1, 1, 1, -1, -1, -1, -1)),
        lambda epsilon: _Version(2 / epsilon, 2 / epsilon, 0),
    ),
)
"""Three published versions that are wrong, each with the neighbours that show it."""
