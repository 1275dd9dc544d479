"""``check.mechanism``: a student's noisy answer, held to its law from both sides at exact levels.

Four parts share the level 10⁻⁴ (Bonferroni): *scale* by exact gamma tests of all noise and of each cell's, *shape* by
Kolmogorov-Smirnov, *own* by exact tests of correlation between cells and between draws, *privacy* by a lower bound on ε between two
neighbouring arrays. *Seed* compares two equal calls, in two processes. Too much noise fails like too little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpnb.audit import audit
from dpnb.audit.experiment import Promise
from dpnb.audit.noise_fit import scale_p_value, shape_p_value
from dpnb.course.noise_law import Floats, LawName, NoiseLaw, independence_p_value
from dpnb.course.noise_mistake import NoiseSample, mistake_of
from dpnb.course.picture import histogram
from dpnb.course.result import CheckResult, Part
from dpnb.course.trial import LEVEL, Arguments, Function, Seed, StudentFunction, Trial, Trouble
from dpnb.errors import LossError, OptionError
from dpnb.trusted.privacy.loss import PrivacyLoss

_PART = LEVEL / 4
_NEAR = 0.2
"""The distance from 1, in logarithms, within which a number and its inverse are not told apart."""


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
    mistakes: Mapping[str, float] | None = None,
    answers: Mapping[str, ArrayLike] | None = None,
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
    mistakes : mapping of str to number, optional
        Scales of the noise that usual mistakes give, by their names: ``{"U for U - L": 12 / epsilon}``; the likeliest is told.
    answers : mapping of str to number or array, optional
        Wrong answers that usual mistakes give before the noise, by their names.
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
        seen = NoiseSample(
            first, second, answer, target, epsilon, sensitivity, failed, mistakes or {}, answers or {}
        )
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
        if abs(math.log(2 * rho)) < _NEAR:
            raise LossError(
                f"Do not grade at ρ = {rho:g}: near 0.5, √(2ρ) and 1/√(2ρ) are the same. Use rho=0.1."
            )
        return sensitivity / math.sqrt(2 * rho)
    return sensitivity / graded(epsilon)


def graded(epsilon: float | None) -> float:
    """Return an ε at which answers can be graded, otherwise LossError: near 1, ε and 1/ε are the same noise."""
    if epsilon is None or not 0 < epsilon < math.inf:
        raise LossError("epsilon is a number above 0: epsilon=0.5.")
    if abs(math.log(epsilon)) < _NEAR:
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
    scale, shape = cells_p_value(law.exponentials(noise, uniforms)), shape_p_value(uniforms)
    own = independence_p_value(uniforms)
    equal = np.array_equal(first, second)
    return (
        Part("scale", scale >= _PART, f"{law.ratio(noise):.3g} times {law.words} (p {_p(scale)})", _PART),
        Part("shape", shape >= _PART, f"distance from the law has p {_p(shape)}", _PART),
        Part("seed", not equal, "two calls give the same noise" if equal else "two calls differ"),
        Part(
            "own",
            own >= _PART,
            f"each {'cell' if answer.size > 1 else 'draw'} has noise of its own: p {_p(own)}",
            _PART,
        ),
        _privacy(np.concatenate([first, second]), beside, claim),
    )


def cells_p_value(exponentials: Floats) -> float:
    """Return a p-value of the scale of all noise together, and of each cell's: each half takes half of the level."""
    whole = float(scale_p_value(exponentials))
    each = [float(scale_p_value(cell)) for cell in exponentials.T]
    return whole if len(each) < 2 else min(1.0, 2 * min(whole, len(each) * min(each)))


def _privacy(outputs: Floats, beside: Floats, claim: Promise) -> Part:
    """A lower bound on ε from the draws on both neighbours: chosen on one half, tested on the other."""
    return replayed(outputs, beside, claim, "one person less")


def replayed(outputs: Floats, beside: Floats, claim: Promise, other: str) -> Part:
    """Audit draws that are already made; that they come again in the same order is no finding."""
    with np.errstate(divide="ignore", invalid="ignore"):  # numbers without noise have no spread
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
