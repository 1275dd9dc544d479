r"""Impact (effect) codes: a category as one number, read from a released group mean, so free.

A code is how far the group's mean lies from the grand mean, shrunk by how little is known of it,

.. math:: c_g = B_g (m_g - \bar m), \qquad B_g = τ^2 / (τ^2 + v_g),

with :math:`v_g` the group's released variance (sampling *and* noise) and :math:`τ^2` the spread between groups, estimated by moments
[1]_. Codes computed from the rows that are then modelled overfit: a category of one row codes that row's outcome [2]_. Codes of a
released mean are a function of noised numbers alone; whatever is fitted to them owes nothing more to privacy, and the noise and the
shrinkage are what keeps a useless category from looking useful.

References
----------
.. [1] Paule and Mandel (1982), "Consensus Values and Weighting Factors"; DerSimonian and Laird (1986), "Meta-analysis in clinical trials".
.. [2] Zumel and Mount (2016), "vtreat: a data.frame Processor for Predictive Modeling".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.errors import OptionError, Unavailable
from dpnb.estimate import Estimate

Floats = NDArray[np.float64]
_ROUNDS = 60


@dataclass(frozen=True, slots=True)
class ImpactCodes:
    """The codes of all declared groups.

    Parameters
    ----------
    keys : tuple
        The declared values, in order.
    codes : ndarray
        One code for each.
    grand : float
        The grand mean: the code's origin, and what an unknown category is taken for.
    between : float
        The estimated variance between groups; 0 where the noise explains all differences.
    shrinkage : ndarray
        How much of each group's deviation was kept.
    """

    keys: tuple[object, ...]
    codes: Floats
    grand: float
    between: float
    shrinkage: Floats

    def __getitem__(self, key: object) -> float:
        """Return the code of a declared value."""
        try:
            return float(self.codes[self.keys.index(key)])
        except ValueError:
            raise OptionError(
                f"{key!r} is not a declared value; .encode() gives such values the code 0."
            ) from None

    def encode(self, values: Sequence[object] | NDArray[np.generic]) -> Floats:
        """Return the code of every value; 0 for values that are not declared."""
        table = dict(zip(self.keys, self.codes.tolist(), strict=True))
        return np.array(
            [table.get(value, 0.0) for value in np.asarray(values, dtype=object).ravel().tolist()]
        )


def impact_codes(
    means: Estimate | ArrayLike, variances: ArrayLike | None = None, keys: Sequence[object] | None = None
) -> ImpactCodes:
    """Return shrunken codes of groups.

    Parameters
    ----------
    means : Estimate or array_like
        A released mean by one declared key, for example ``ds.groupby("site").got.mean()``; or group means as numbers.
    variances : array_like, optional
        Their variances, noise included; an estimate brings its own.
    keys : sequence, optional
        The groups' names; an estimate brings its own.

    Raises
    ------
    OptionError, Unavailable, PendingError
        For fewer than two groups, variances that are not above 0, or an answer without standard errors.

    Examples
    --------
    >>> found = impact_codes([0.2, 0.4, 0.9], [0.01, 0.01, 0.3], keys=["a", "b", "c"])
    >>> [round(found[key], 2) for key in "abc"]
    [-0.07, 0.04, 0.02]
    """
    values, spread, names = _read(means, variances, keys)
    weights = 1 / spread
    between = _between(values, spread)
    combined = 1 / (spread + between)
    grand = float(combined @ values / combined.sum()) if between else float(weights @ values / weights.sum())
    kept = between / (between + spread)
    return ImpactCodes(names, kept * (values - grand), grand, between, kept)


def _read(
    means: Estimate | ArrayLike, variances: ArrayLike | None, keys: Sequence[object] | None
) -> tuple[Floats, Floats, tuple[object, ...]]:
    if isinstance(means, Estimate):
        if len(means.shape) != 1:
            raise OptionError('Impact codes need a mean by one key: ds.groupby("site").y.mean().')
        found, error = np.asarray(means.value, dtype=float), means.standard_error
        if error is None:
            raise Unavailable("This answer has no standard error, so its groups cannot be weighed.")
        names = means.axes[0].keys if means.axes else tuple(range(found.size))
        return _checked(found, np.asarray(error, dtype=float) ** 2, names if keys is None else tuple(keys))
    if variances is None:
        raise OptionError("Give the variances of the means, sampling and noise together.")
    found = np.atleast_1d(np.asarray(means, dtype=float))
    spread = np.broadcast_to(np.asarray(variances, dtype=float), found.shape)
    return _checked(found, spread, tuple(range(found.size)) if keys is None else tuple(keys))


def _checked(
    values: Floats, spread: Floats, keys: tuple[object, ...]
) -> tuple[Floats, Floats, tuple[object, ...]]:
    if values.ndim != 1 or values.size < 2 or len(keys) != values.size or not np.isfinite(values).all():
        raise OptionError("Impact codes need at least two groups, each with a mean and a name.")
    if not (spread > 0).all():
        raise OptionError("Every variance must be above 0: even a large group has sampling error.")
    return values, spread, keys


def _between(values: Floats, spread: Floats) -> float:
    """Solve ``Σ (m_g - m̄)² / (v_g + τ²) = G - 1`` for τ², or return 0: the moment equation, iterated (Paule and Mandel)."""

    def excess(between: float) -> float:
        weights = 1 / (spread + between)
        grand = weights @ values / weights.sum()
        return float(weights @ (values - grand) ** 2) - (values.size - 1)

    if excess(0.0) <= 0:
        return 0.0
    low, high = 0.0, max(float(np.var(values)), 1e-12)
    while excess(high) > 0:
        low, high = high, 2 * high
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high
