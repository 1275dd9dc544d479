"""Bias and noise of a mean whose values are clamped, on public or simulated arrays. Twin of ``src/maths/clamp.ts``."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True)
class Errors:
    """Bias of the clamped mean, sd of its noise, and the root of the sum of their squares."""

    bias: float
    noise: float
    rmse: float


def errors(values: ArrayLike, low: float, high: float, noise: float) -> Errors:
    """Return the errors of the clamped mean; `noise` is the sd of its noise for bounds one unit apart."""
    data = np.asarray(values, dtype=float)
    bias = float(np.clip(data, low, high).mean() - data.mean())
    spread = noise * (high - low)
    return Errors(bias, spread, math.hypot(bias, spread))
