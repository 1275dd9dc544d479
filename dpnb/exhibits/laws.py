r"""Exact losses that exhibits share: integer vectors with discrete Laplace noise, mixtures of Gaussians, compositions.

Displays: no ledger uses them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.exhibits.exhibit import Floats, Mechanism
from dpnb.inference import fast_noise
from dpnb.risk.loss_distribution import LossDistribution

Answer = Callable[[Any], Sequence[float]]
"""A vector of whole numbers, from a dataset."""


def noised(answer: Answer, scales: Sequence[float]) -> Mechanism:
    """Return a mechanism: an integer vector with discrete Laplace noise of a scale for each entry."""

    def mechanism(data: object, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        exact = [int(entry) for entry in answer(data)]
        columns = [
            entry + fast_noise.discrete_laplace(scale, size, rng)
            for entry, scale in zip(exact, scales, strict=True)
        ]
        return np.stack(columns, axis=1)

    return mechanism


def laplace_loss(answer: Answer, scales: Sequence[float], first: object, second: object) -> float:
    """Return the exact loss of :func:`noised` between two datasets: the sum of moves over scales, attained in a tail."""
    pairs = zip(answer(first), answer(second), scales, strict=True)
    return float(sum(abs(one - two) / scale for one, two, scale in pairs))


def two_scale_delta(narrow: float, wide: float, epsilon: float) -> float:
    """Return δ at ε between centred Laplace laws of two scales: wide tails against narrow ones."""
    if not narrow < wide:
        return 0.0
    cut = max((epsilon - math.log(narrow / wide)) / (1 / narrow - 1 / wide), 0.0)
    return max(math.exp(-cut / wide) - math.exp(epsilon - cut / narrow), 0.0)


def _mixture_ratio(weights: Floats, shifts: Floats, at: Floats) -> Floats:
    """Log density ratio at points of Σ w N(s, 1) against N(0, 1)."""
    from scipy.special import logsumexp

    return np.asarray(logsumexp(np.log(weights) + np.outer(at, shifts) - shifts**2 / 2, axis=1))


def _mixture_logs(weights: Floats, shifts: Floats, at: Floats) -> tuple[Floats, Floats, Floats]:
    """The same, and log tail masses above the points."""
    from scipy.special import log_ndtr, logsumexp

    above = logsumexp(np.log(weights) + log_ndtr(shifts[None, :] - at[:, None]), axis=1)
    return _mixture_ratio(weights, shifts, at), above, log_ndtr(-at)


def gaussian_mixture_epsilon(weights: Floats, shifts: Floats, delta: float) -> float:
    """Return the ε at δ between Σ w_r N(s_r, 1), s_r ≥ 0, and N(0, 1): the larger of both directions.

    The density ratio rises with the output, so the worst events are half lines.
    """
    low, high = -60.0, 60.0 + float(shifts.max())
    for _ in range(200):
        middle = (low + high) / 2
        ratio, above, plain = (float(v[0]) for v in _mixture_logs(weights, shifts, np.array([middle])))
        low, high = (middle, high) if _excess(above, ratio + plain) > delta else (low, middle)
    upper = float(_mixture_ratio(weights, shifts, np.array([high]))[0])
    return max(upper, _lower_epsilon(weights, shifts, delta), 0.0)


def _excess(more: float, less: float) -> float:
    return math.exp(more) - math.exp(min(less, 0.0)) if more > less else 0.0


def _lower_epsilon(weights: Floats, shifts: Floats, delta: float) -> float:
    """The other direction: low outputs, which are likelier under N(0, 1)."""
    from scipy.special import log_ndtr

    at = np.linspace(-40.0, float(shifts.max()), 40_001)
    ratio = _mixture_ratio(weights, shifts, at)
    below = np.exp(log_ndtr(at)), np.exp(log_ndtr(at[:, None] - shifts)) @ weights
    excess = below[0] - np.exp(-ratio) * below[1]
    enough = excess > delta
    return float(np.max(-ratio[enough], initial=0.0))


def gaussian_mixture_delta(weights: Floats, shifts: Floats, epsilon: float) -> float:
    """Return δ at ε of Σ w_r N(s_r, 1) against N(0, 1), in that direction."""
    low, high = -60.0, 60.0 + float(shifts.max())
    for _ in range(200):
        middle = (low + high) / 2
        ratio = float(_mixture_ratio(weights, shifts, np.array([middle]))[0])
        low, high = (middle, high) if ratio < epsilon else (low, middle)
    _, above, plain = (float(v[0]) for v in _mixture_logs(weights, shifts, np.array([high])))
    return max(math.exp(above) - math.exp(epsilon + plain), 0.0)


def composed_laplace_epsilon(
    each: float, times: int, delta: float, *, upwards: bool, cells: int = 4_000
) -> float:
    r"""Return the ε at δ of `times` Laplace answers of `each`: a bound from below, or from above (`upwards`).

    The loss of one answer is ε with probability ½, -ε with :math:`e^{-ε}/2`, and between them has density
    :math:`\frac14 e^{-(ε-l)/2}`; it is rounded to a grid of 2ε/cells, down or up, and composed by Fourier transforms.
    """
    step = 2 * each / cells
    edges = np.linspace(-each, each, cells + 1)
    below = 0.5 * np.exp(-(each - edges) / 2)  # P(loss ≤ edge), the atom at the top aside
    masses = np.zeros(cells + 1)
    masses[0] = below[0]
    inner = np.diff(below)
    masses[1:] += inner * upwards
    masses[:-1] += inner * (not upwards)
    masses[-1] += 0.5
    return _composed(masses, step, -cells // 2, times).epsilon(delta)


def _composed(masses: Floats, step: float, first: int, times: int) -> LossDistribution:
    """The loss of `times` independent draws, by one Fourier transform."""
    length = (masses.size - 1) * times + 1
    size = 1 << length.bit_length()
    total = np.fft.irfft(np.fft.rfft(masses, size) ** times, size)[:length].clip(0.0)
    return LossDistribution(step, first * times, np.asarray(total), 0.0)


def composed_mixture_epsilon(
    weights: Floats, shifts: Floats, times: int, delta: float, cells: int = 40_000
) -> float:
    """Return the ε at δ of `times` draws of Σ w_r N(s_r, 1) against N(0, 1): a bound from below.

    Losses are rounded down to a grid and, above the largest that matters, cut; so the true ε is not less.
    """
    from scipy.special import ndtr

    if times == 1:
        return gaussian_mixture_epsilon(weights, shifts, delta)
    edges = np.linspace(-9.0, 9.0 + min(float(shifts.max()), 30.0), cells + 1)
    masses = np.diff(ndtr(edges[:, None] - shifts) @ weights)
    ratio = _mixture_ratio(weights, shifts, edges[:-1])
    step = 1e-3 / math.sqrt(times)
    place = np.floor(np.minimum(ratio, 60.0 / math.sqrt(times)) / step).astype(np.int64)
    first = int(place.min())
    counted = np.asarray(np.bincount(place - first, weights=masses), dtype=np.float64)
    return _composed(counted, step, first, times).epsilon(delta)
