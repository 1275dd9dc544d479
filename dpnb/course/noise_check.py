"""``check.mechanism``: a student's noisy answer, held to its law from both sides at exact levels.

Four parts share the level 10⁻⁴ (Bonferroni): *scale* by an exact gamma test, *shape* by Kolmogorov-Smirnov, *seed* by two equal
calls, *privacy* by a lower bound on ε between two neighbouring arrays. Too much noise fails like too little.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpnb.audit import audit
from dpnb.audit.experiment import Promise
from dpnb.audit.noise_fit import scale_p_value, shape_p_value
from dpnb.course.noise_law import Floats, LawName, NoiseLaw
from dpnb.course.noise_mistake import NoiseSample, mistake_of
from dpnb.course.picture import histogram
from dpnb.course.result import CheckResult, Part
from dpnb.course.trial import LEVEL, Arguments, Function, Seed, StudentFunction, Trial, Trouble
from dpnb.errors import LossError, OptionError
from dpnb.trusted.privacy.loss import PrivacyLoss

_PART = LEVEL / 4


def mechanism(  # noqa: PLR0913 - a function, an answer and a loss; the rest are keywords with defaults
    function: Function,
    data: Any,
    *,
    expected: ArrayLike,
    epsilon: float | None = None,
    rho: float | None = None,
    sensitivity: float = 1.0,
    law: LawName = "laplace",
    neighbour: object = None,
    arguments: Arguments | None = None,
    rng: Seed = None,
    title: str | None = None,
) -> CheckResult:
    """Check a noisy answer that a student wrote.

    Parameters
    ----------
    function : callable
        ``function(data, epsilon, size=None, rng=None)``: the answer with noise; with `size`, so many draws of it, one a row.
        What it does not take is not given. Without ``size`` it is called in a loop, with a note.
    data : array
        A teaching array; the first argument.
    expected : number or array, shape (cells,)
        The answer without noise.
    epsilon : float
        What the function may spend; never near 1, where ε and 1/ε give the same noise.
    rho : float
        Instead of ε, for Gaussian noise: zCDP.
    sensitivity : float
        How far one person moves the answer: L1 for Laplace noise, L2 for Gaussian; in units of the answer.
    law : {"laplace", "gaussian", "geometric"}
    neighbour : array, optional
        Data with one person less or changed, at its worst; by default the data without the first row.
    arguments : mapping, optional
        Further arguments of the function, by name.
    rng : int or Generator, optional
        The check's chance; by default new each time.
    title : str, optional
        What is checked; by default the function's name.

    Returns
    -------
    CheckResult
        ``.passed``, ``.mistake``, ``.must_pass()``.

    Raises
    ------
    OptionError, LossError
        When the exercise itself is set wrongly: ε near 1, no loss, a signature that cannot be called.

    Examples
    --------
    >>> def noisy_count(rows, epsilon, size=None, rng=None):
    ...     return len(rows) + rng.laplace(0, 1 / epsilon, size)
    >>> mechanism(noisy_count, range(50), expected=50, epsilon=0.5, rng=1).passed
    True
    >>> def noisy_count(rows, epsilon, size=None, rng=None):
    ...     return len(rows) + rng.laplace(0, epsilon, size)
    >>> mechanism(noisy_count, range(50), expected=50, epsilon=0.5, rng=1).mistake.name
    'ε inverted'
    """
    answer = np.atleast_1d(np.asarray(expected, dtype=np.float64))
    target = NoiseLaw(law, _scale(epsilon, rho, sensitivity, law))
    called = StudentFunction.of(function, epsilon, arguments)
    other = data[1:] if neighbour is None else neighbour
    trial = Trial.of_draws("mechanism", called, rng, title)

    def judge(drawn: tuple[Floats, Floats, Floats]) -> CheckResult:
        first, second, beside = drawn
        parts = _parts(first, second, beside, answer, target, _claim(epsilon, rho), trial.chance)
        failed = frozenset(part.name for part in parts if not part.passed)
        seen = NoiseSample(first, second, answer, target, epsilon, sensitivity, failed)
        facts = {"draws": len(first), "ratio": round(seen.ratio, 4)}
        told = mistake_of(seen) if failed else None
        return trial.result(parts, told, histogram(seen.noise, target), facts)

    return trial.judged(lambda: _same_width(trial.draws(data, other), answer), judge)


def _scale(epsilon: float | None, rho: float | None, sensitivity: float, law: LawName) -> float:
    if not 0 < sensitivity < math.inf:
        raise OptionError(f"sensitivity is a number above 0, not {sensitivity!r}.")
    if (epsilon is None) == (rho is None) or (law == "gaussian") != (rho is not None):
        raise LossError('Give epsilon= for Laplace noise, and rho= for law="gaussian".')
    if rho is not None:
        if not 0 < rho < math.inf:
            raise LossError("rho is a number above 0: rho=0.1.")
        return sensitivity / math.sqrt(2 * rho)
    return sensitivity / graded(epsilon)


def graded(epsilon: float | None) -> float:
    """Return an ε at which answers can be graded, otherwise LossError: near 1, ε and 1/ε are the same noise."""
    if epsilon is None or not 0 < epsilon < math.inf:
        raise LossError("epsilon is a number above 0: epsilon=0.5.")
    if abs(math.log(epsilon)) < 0.2:
        raise LossError(
            f"Do not grade at ε = {epsilon:g}: near 1, a student who inverts ε gets the right noise. Use epsilon=0.5."
        )
    return float(epsilon)


def _claim(epsilon: float | None, rho: float | None) -> Promise:
    return PrivacyLoss.zcdp(rho) if rho is not None else epsilon


def _same_width(drawn: tuple[Floats, Floats, Floats], answer: Floats) -> tuple[Floats, Floats, Floats]:
    first = drawn[0]
    if first.shape[1] != answer.size:
        raise Trouble(
            "wrong shape",
            f"The function returns {first.shape[1]} numbers a draw; {answer.size} are expected.",
            "Return one noisy number for each cell, in the order of the exercise.",
        )
    return drawn


def _parts(
    first: Floats,
    second: Floats,
    beside: Floats,
    answer: Floats,
    law: NoiseLaw,
    claim: Promise,
    chance: np.random.Generator,
) -> tuple[Part, ...]:
    noise = first - answer
    uniforms = law.uniforms(noise, chance)
    scale, shape = scale_p_value(law.exponentials(noise, uniforms)), shape_p_value(uniforms)
    equal = np.array_equal(first, second)
    return (
        Part("scale", scale >= _PART, f"{law.ratio(noise):.3g} times {law.words} (p {_p(scale)})", _PART),
        Part("shape", shape >= _PART, f"distance from the law has p {_p(shape)}", _PART),
        Part("seed", not equal, "two calls give the same noise" if equal else "two calls differ", _PART),
        _privacy(np.concatenate([first, second]), beside, claim),
        *_cells(noise),
    )


def _cells(noise: Floats) -> tuple[Part, ...]:
    """Whether the cells of a draw have noise of their own."""
    if noise.shape[1] < 2:
        return ()
    shared = bool(np.ptp(noise, axis=1).max() <= 1e-9 * np.abs(noise).max())
    return (Part("cells", not shared, "one noise for all cells" if shared else "each cell has its own"),)


def _privacy(outputs: Floats, beside: Floats, claim: Promise) -> Part:
    """A lower bound on ε from the draws on both neighbours: chosen on one half, tested on the other."""
    return replayed(outputs, beside, claim, "one person less")


def replayed(outputs: Floats, beside: Floats, claim: Promise, other: str) -> Part:
    """Audit draws that are already made; that they come again in the same order is no finding."""
    verdict = audit(
        _Replay((outputs, beside)),
        (0, 1),
        claim,
        method="sample",
        trials=len(outputs) // 2,
        alpha=_PART,
        names=("your data", other),
    )
    return Part("privacy", not verdict.breaks, replace(verdict, repeats=False).headline, _PART)


class _Replay:
    """Outputs that are already drawn, as a mechanism of a dataset's place."""

    __name__ = "mechanism"

    def __init__(self, outputs: tuple[Floats, Floats]) -> None:
        self._outputs = outputs

    def __call__(self, data: int, size: int) -> Floats:
        return self._outputs[data][:size]


def _p(value: float) -> str:
    return f"{value:.2g}" if value >= 1e-4 else "below 0.0001"
