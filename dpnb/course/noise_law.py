r"""The laws that a student's noise is held to: each turns noise into uniform and exponential numbers, exactly.

Under the law, :math:`u = F(x)` is uniform and :math:`e = -\ln(2\min(u, 1-u))` is exponential with mean 1; for a law on whole
numbers u is drawn uniformly between :math:`F(x-1)` and :math:`F(x)`. So one Kolmogorov-Smirnov test of u (shape) and one gamma
test of the sum of e (scale) serve every law, at exact levels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from dpnb.errors import OptionError

Floats = NDArray[np.float64]
LawName = Literal["laplace", "gaussian", "geometric"]
LAWS: tuple[LawName, ...] = ("laplace", "gaussian", "geometric")


@dataclass(frozen=True, slots=True)
class NoiseLaw:
    """One law of noise around 0.

    Parameters
    ----------
    name : {"laplace", "gaussian", "geometric"}
        *geometric* is Laplace on whole numbers: :math:`P(k) ∝ e^{-|k|/b}`.
    scale : float
        b of Laplace and geometric noise, σ of Gaussian noise; in units of the answer.
    """

    name: LawName
    scale: float

    def __post_init__(self) -> None:
        if self.name not in LAWS:
            raise OptionError(f"law is one of {', '.join(LAWS)}, not {self.name!r}.")
        if not 0 < self.scale < math.inf:
            raise OptionError(f"The scale of the noise is above 0, not {self.scale:g}.")

    @property
    def words(self) -> str:
        """The law in words: *Laplace noise of scale 2*."""
        if self.name == "gaussian":
            return f"Gaussian noise of standard deviation {self.scale:.4g}"
        kind = "Laplace" if self.name == "laplace" else "whole-number Laplace"
        return f"{kind} noise of scale {self.scale:.4g}"

    def cdf(self, x: Floats) -> Floats:
        """Return F(x)."""
        if self.name == "gaussian":
            return np.asarray(special.ndtr(x / self.scale))
        if self.name == "laplace":
            z = np.abs(x) / self.scale
            return np.asarray(np.where(x < 0, 0.5 * np.exp(-z), 1 - 0.5 * np.exp(-z)))
        q, k = math.exp(-1 / self.scale), np.floor(x)
        below, above = q ** np.maximum(-k, 0) / (1 + q), 1 - q ** (np.maximum(k, 0) + 1) / (1 + q)
        return np.asarray(np.where(k < 0, below, above))

    def uniforms(self, noise: Floats, rng: np.random.Generator) -> Floats:
        """Return what is uniform if the noise follows the law."""
        if self.name != "geometric":
            return self.cdf(noise)
        low, high = self.cdf(noise - 1), self.cdf(noise)
        return np.asarray(low + rng.random(noise.shape) * (high - low))

    def exponentials(self, noise: Floats, uniforms: Floats) -> Floats:
        """Return what is exponential with mean 1 if the noise follows the law; tails without rounding."""
        if self.name == "laplace":
            return np.abs(noise) / self.scale
        if self.name == "gaussian":
            return np.asarray(-math.log(2) - special.log_ndtr(-np.abs(noise) / self.scale))
        tail = np.minimum(uniforms, 1 - uniforms)
        return np.asarray(-np.log(2 * np.clip(tail, 1e-300, 0.5)))

    def ratio(self, noise: Floats) -> float:
        """Return how many times as large as the law says the noise is."""
        if self.name == "gaussian":
            return float(np.sqrt(np.mean(noise**2)) / self.scale)
        return float(np.mean(np.abs(noise)) / self.mean_size)

    @property
    def mean_size(self) -> float:
        """The mean of |noise|."""
        if self.name == "gaussian":
            return self.scale * math.sqrt(2 / math.pi)
        if self.name == "laplace":
            return self.scale
        q = math.exp(-1 / self.scale)
        return 2 * q / (1 - q**2)


def independence_p_value(uniforms: Floats) -> float:
    """Return a p-value of cells and draws that have noise of their own, from uniform numbers of shape ``(draws, cells)``.

    Normal scores of independent uniform numbers u, and of ``|2u - 1|``, have correlations whose t statistic is exactly Student's
    (Fisher, 1915). All pairs of cells are tested, and of each cell a draw with the next one and with the one half the draws later;
    the smallest p-value is multiplied by their number.
    """
    half, cells = len(uniforms) // 2, np.triu_indices(uniforms.shape[1], 1)
    p_values = []
    for part in (uniforms, np.abs(2 * uniforms - 1)):
        scores = special.ndtri(np.clip(part, 1e-15, 1 - 1e-15))
        unit = _standardised(scores)
        p_values.append(_of_correlation((unit.T @ unit)[cells], len(scores)))
        for one, other in (
            (scores[: 2 * half : 2], scores[1 : 2 * half : 2]),
            (scores[:half], scores[half:]),
        ):
            r = (_standardised(one) * _standardised(other[:half])).sum(axis=0)
            p_values.append(_of_correlation(r, half))
    every = np.concatenate(p_values)
    return min(1.0, float(np.nanmin(every, initial=1.0)) * every.size)


def _standardised(scores: Floats) -> Floats:
    """Each column less its mean, with sum of squares 1; NaN where it is constant."""
    centred = scores - scores.mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(centred / np.sqrt((centred**2).sum(axis=0)))


def _of_correlation(r: Floats, n: int) -> Floats:
    """The two-sided p-value of each of some correlations of n pairs of independent normal numbers."""
    t = np.abs(r) * np.sqrt((n - 2) / np.maximum(1 - r**2, 1e-300))
    return np.asarray(2 * stats.t.sf(t, n - 2))


def best_family(noise: Floats) -> str:
    """Return which of Laplace, Gaussian, uniform and twice averaged Laplace noise, each at its own scale, is likeliest."""
    size = np.abs(noise)
    each = size.mean() / 0.75  # E|mean of two Laplace draws of scale s| = 3s/4
    likelihood = {
        "averaged": -math.log(2 * each) + float(np.mean(np.log1p(2 * size / each) - 2 * size / each)),
        "Laplace": -math.log(2 * size.mean()) - 1,
        "Gaussian": -0.5 * math.log(2 * math.pi * math.e * np.mean(noise**2)),
        "uniform": -math.log(2 * size.max()),
    }
    return max(likelihood, key=lambda name: likelihood[name])
