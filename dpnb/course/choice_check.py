"""``check.selection``: a student's choice (exponential mechanism, randomised response), held to the law of its outputs.

The share of every output is tested by an exact binomial test, each at the part's level divided by the number of outputs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dpnb.course.noise_check import graded, replayed
from dpnb.course.noise_law import Floats
from dpnb.course.picture import shares
from dpnb.course.result import CheckResult, Mistake, Part
from dpnb.course.trial import LEVEL, Arguments, Function, Seed, StudentFunction, Trial
from dpnb.errors import OptionError

_PART = LEVEL / 4


def selection(  # noqa: PLR0913 - a function, a law and a loss; the rest are keywords with defaults
    function: Function,
    data: object,
    *,
    law: Mapping[float, float],
    epsilon: float,
    neighbour: object = None,
    mistakes: Mapping[str, Sequence[float]] | None = None,
    arguments: Arguments | None = None,
    rng: Seed = None,
    title: str | None = None,
) -> CheckResult:
    """Check a private choice that a student wrote.

    Parameters
    ----------
    function : callable
        ``function(data, epsilon, size=None, rng=None)``: the output, a number; with `size`, so many of them.
    data : array
        A teaching array; the first argument.
    law : mapping of number to probability
        Every output, and how likely it should be.
    epsilon : float
        What it may spend; never near 1.
    neighbour : array, optional
        Data of which one person is changed, at its worst; without it the privacy part is left to the law.
    mistakes : mapping of str to probabilities, optional
        Laws of usual mistakes, in the order of `law`, by their names. The likeliest of these and of what is usual everywhere
        (ε doubled or halved, turned round, uniform) is told.
    arguments : mapping, optional
        Further arguments of the function, by name.
    rng : int or Generator, optional
    title : str, optional

    Returns
    -------
    CheckResult

    Examples
    --------
    >>> def answer(bit, epsilon, size=None, rng=None):
    ...     return np.where(rng.random(size) < np.exp(epsilon) / (1 + np.exp(epsilon)), bit, 1 - bit)
    >>> p = np.exp(0.5) / (1 + np.exp(0.5))
    >>> selection(answer, 1, law={0: 1 - p, 1: p}, epsilon=0.5, neighbour=0, rng=1).passed
    True
    """
    outputs, wanted = np.array(list(law), dtype=float), np.array(list(law.values()), dtype=float)
    if abs(wanted.sum() - 1) > 1e-9 or wanted.min() < 0:
        raise OptionError("law gives each output its probability, and they add up to 1.")
    called = StudentFunction.of(function, graded(epsilon), arguments)
    trial = Trial.of_draws("selection", called, rng, title)

    def judge(drawn: tuple[Floats, Floats, Floats]) -> CheckResult:
        first, second, beside = (one[:, 0] for one in drawn)
        parts = _parts(first, second, None if neighbour is None else beside, outputs, wanted, epsilon)
        failed = any(not part.passed for part in parts)
        seen = list(_counts(first, outputs) / len(first))
        told = _mistake(first, second, outputs, wanted, mistakes or {}, epsilon) if failed else None
        return trial.result(parts, told, shares([f"{one:g}" for one in outputs], seen, list(wanted)))

    return trial.judged(lambda: trial.draws(data, data if neighbour is None else neighbour), judge)


def _counts(drawn: Floats, outputs: Floats) -> NDArray[np.float64]:
    return np.array([np.sum(np.isclose(drawn, one)) for one in outputs], dtype=float)


def _parts(
    first: Floats,
    second: Floats,
    beside: Floats | None,
    outputs: Floats,
    wanted: Floats,
    epsilon: float,
) -> tuple[Part, ...]:

    counts = _counts(first, outputs)
    strange = first.size - int(counts.sum())
    p_value = binomial_p_value(counts, wanted, first.size)
    equal = np.array_equal(first, second)
    found = [
        Part("outputs", strange == 0, f"{strange:,} outputs that are none of the choices"),
        Part(
            "shares",
            p_value * len(outputs) >= 2 * _PART,
            f"the share furthest from its probability has p {p_value:.2g}",
            2 * _PART,
        ),
        Part("seed", not equal, "two calls give the same outputs" if equal else "two calls differ"),
    ]
    if beside is not None:
        both = np.concatenate([first, second])
        found.append(replayed(both, beside, epsilon, "one person changed"))
    return tuple(found)


def binomial_p_value(counts: Floats, wanted: Floats, trials: int) -> float:
    """Return the smallest exact two-sided binomial p-value of some counts; each is at most 1."""
    below, above = stats.binom.cdf(counts, trials, wanted), stats.binom.sf(counts - 1, trials, wanted)
    return float(np.minimum(1, 2 * np.minimum(below, above)).min())


def usual_laws(wanted: Floats, epsilon: float) -> dict[str, Floats]:
    """Laws that usual mistakes give whatever the choice is, by their names."""
    found = {
        "uniform": np.full(len(wanted), 1 / len(wanted)),
        "ε doubled": wanted**2 / (wanted**2).sum(),
        "ε halved": np.sqrt(wanted) / np.sqrt(wanted).sum(),
    }
    if len(wanted) == 2:
        likely = int(wanted.argmax())
        coins = {
            "turned round": wanted.min(),
            "the truth, or else a fair coin": (1 + wanted.max()) / 2,
            "1 - e^-ε for e^ε/(1 + e^ε)": -math.expm1(-epsilon),
        }
        found |= {name: np.array([p, 1 - p] if likely == 0 else [1 - p, p]) for name, p in coins.items()}
    return found


def _mistake(
    first: Floats,
    second: Floats,
    outputs: Floats,
    wanted: Floats,
    mistakes: Mapping[str, Sequence[float]],
    epsilon: float,
) -> Mistake:
    counts = _counts(first, outputs)
    if counts.sum() < first.size:
        return Mistake(
            "an output that is not a choice",
            "Some outputs are none of the choices.",
            "Return one of the choices themselves, not its place and not a score.",
        )
    if np.ptp(np.concatenate([first, second])) == 0 and wanted.max() < 0.99:
        return Mistake(
            "no randomness",
            "All outputs of two calls are the same: nothing is drawn, or one draw serves all.",
            "Draw `size` times, with the probabilities; do not return the best one.",
        )
    if np.array_equal(first, second):
        return Mistake(
            "seed fixed", "Two equal calls give the same outputs.", "Draw from the rng that you are given."
        )
    if np.ptp(first) == 0 and np.ptp(second) == 0:
        return Mistake(
            "one draw for all",
            "All outputs of one call are the same.",
            "Draw `size` times: one chance for each output.",
        )
    laws = {**mistakes, **usual_laws(wanted, epsilon)}
    fits = {
        name: binomial_p_value(counts, np.asarray(law, dtype=float), first.size) for name, law in laws.items()
    }
    best = max(fits, key=lambda name: round(fits[name], 6))  # of equal ones the first: the teacher's
    if fits[best] < 1e-6:
        at = int(np.abs(counts / first.size - wanted).argmax())
        said = f"{outputs[at]:g} comes in {100 * counts[at] / first.size:.3g} % of the calls, not in {100 * wanted[at]:.3g} %."
        return Mistake("another law", said, "Write the probabilities of three outputs on paper and compare.")
    also = [name for name in fits if name != best and fits[name] >= 0.001]
    return Mistake(
        best,
        f"The outputs have the law of a usual mistake: {', or '.join([best, *also])}.",
        "Write the probabilities of the two likeliest outputs on paper: their ratio says what is spent.",
    )
