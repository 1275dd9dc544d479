r"""Differentially private gradient descent for linear and logistic regression: clip every row, add noise, count the ρ.

Step t moves the coefficients against :math:`\frac1n(\sum_i \mathrm{clip}(g_i) + N(0, σ^2 I))`, where clip shortens a row's gradient
to length C at most.

*Proof.* A person who changes a row moves the sum by at most 2C (n is public), so one step with noise of standard deviation σ
satisfies ρ/T = (2C)²/(2σ²) zCDP, whatever the coefficients so far are; T steps compose to ρ. Hence :math:`σ = 2C\sqrt{T/(2ρ)}`. ε
at δ is the least that ρ implies. ∎ Every step may be shown; only its sum with noise is used.

References
----------
.. [1] Bassily, Smith and Thakurta (2014), "Private Empirical Risk Minimization".
.. [2] Abadi and others (2016), "Deep Learning with Differential Privacy"; here all rows are used in each step.
.. [3] Bun and Steinke (2016), "Concentrated Differential Privacy".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dpnb.errors import OptionError
from dpnb.lessons.arguments import Floats, amount_of, delta_of, generator, loss_of, numbers, whole
from dpnb.trusted.privacy.accountant import epsilon_of

Model = Literal["linear", "logistic"]


@dataclass(frozen=True, slots=True)
class Descent:
    """The result of a descent, and what it cost.

    Parameters
    ----------
    coefficients : ndarray, shape (d,), or (size, d)
    rho : float
        The zCDP loss when one person changes a row.
    epsilon, delta : float
        The ε that ρ implies at this δ.
    noise : float
        Standard deviation of the noise on each coordinate of a sum of gradients.
    """

    coefficients: Floats
    rho: float
    epsilon: float
    delta: float
    noise: float


def noise_scale(rho: float, steps: int, clip: float) -> float:
    """Return σ, the standard deviation on each coordinate of a sum of clipped gradients.

    Examples
    --------
    >>> noise_scale(rho=0.5, steps=4, clip=1)
    4.0
    """
    return 2 * amount_of(clip, "clip") * math.sqrt(whole(steps, "steps") / (2 * loss_of(rho, "rho")))


def gradient_descent(  # noqa: PLR0913 - a regression, a loss, and how to descend
    x: ArrayLike,
    y: ArrayLike,
    rho: float,
    rng: int | np.random.Generator,
    *,
    model: Model = "linear",
    steps: int = 50,
    clip: float = 1.0,
    rate: float = 0.5,
    delta: float = 1e-6,
    size: int | None = None,
) -> Descent:
    """Fit a regression from zero by noisy gradient descent. ρ-zCDP when one person changes a row.

    Parameters
    ----------
    x : array, shape (n, d)
        Scale columns to about 1 by public bounds, and add a column of ones for an intercept.
    y : array, shape (n,)
        Numbers; 0 and 1 for a logistic regression.
    rho : float
        The loss of all steps together.
    rng : int or numpy Generator
    model : {"linear", "logistic"}
    steps : int
    clip : float
        Longest gradient of one row, in units of y times x.
    rate : float
        Step length.
    delta : float
        Where the ε of the result is stated.
    size : int, optional
        Runs, for audits.

    Returns
    -------
    Descent

    Raises
    ------
    LossError, OptionError
        When a loss is not above 0, or shapes do not agree.

    Examples
    --------
    >>> x = np.c_[np.ones(2000), np.linspace(-1, 1, 2000)]
    >>> fit = gradient_descent(x, x @ [0.2, 0.5], rho=0.5, rng=1, steps=40)
    >>> np.abs(fit.coefficients - [0.2, 0.5]).max() < 0.1, round(fit.epsilon, 2)
    (np.True_, 5.22)
    """
    rows, target = _regression(x, y, model)
    sigma, step = noise_scale(rho, steps, clip), amount_of(rate, "rate") / len(rows)
    chance, runs = generator(rng), 1 if size is None else whole(size, "size")
    found = np.zeros((runs, rows.shape[1]))
    for _ in range(steps):
        noise = chance.normal(0, sigma, found.shape)
        found = found - step * (_clipped_sum(rows, target, found, model, clip) + noise)
    epsilon = float(epsilon_of(loss_of(rho, "rho"), delta_of(delta)))
    return Descent(found if size is not None else found[0], float(rho), epsilon, float(delta), sigma)


def _regression(x: ArrayLike, y: ArrayLike, model: str) -> tuple[Floats, Floats]:
    rows, target = numbers(x, "x", 2), numbers(y, "y")
    if len(rows) != len(target):
        raise OptionError("x and y have one row for each person: equal lengths.")
    if model not in {"linear", "logistic"}:
        raise OptionError('model is "linear" or "logistic".')
    if model == "logistic" and not np.isin(target, (0, 1)).all():
        raise OptionError("y is 0 or 1 in a logistic regression.")
    return rows, target


def _clipped_sum(rows: Floats, target: Floats, found: Floats, model: Model, clip: float) -> Floats:
    """The sum of the rows' gradients, each shortened to `clip`: shape (runs, d). A row's gradient is its residual times x."""
    fitted = found @ rows.T
    residual = (1 / (1 + np.exp(-np.clip(fitted, -500, 500))) if model == "logistic" else fitted) - target
    length = np.abs(residual) * np.linalg.norm(rows, axis=1)
    with np.errstate(invalid="ignore"):
        weight = residual * np.minimum(1, clip / np.maximum(length, clip))
    return np.asarray(np.nan_to_num(weight) @ rows)  # a gradient too long for a float counts as 0
