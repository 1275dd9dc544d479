r"""Wald's test of several linear hypotheses, with the law of the errors given as draws.

With gaps :math:`g = R\hat β - r` and draws :math:`e_i` of their errors, :math:`W = g'V^{-1}g` is compared with :math:`W_i = e_i'V^{-1}e_i`;
V is the covariance of the draws, each held to four of its own spreads, so that rare far draws do not decide it. The p-value
:math:`(1 + \#\{W_i ≥ W\})/(1 + B)` needs no normal law: noise counts as it is. Of one hypothesis it is the p-value of its symmetric interval.

References
----------
Wald, *Tests of statistical hypotheses concerning several parameters* (1943); Davison & Hinkley, *Bootstrap methods* (1997), §4.4.
"""

from __future__ import annotations

import numpy as np

from dpnb.inference.elementwise import Floats

_FAR, _MIDDLE = 4.0, 0.6826894921370859


def wald(gaps: Floats, errors: Floats) -> tuple[float, float]:
    """Return Wald's statistic and its p-value.

    Parameters
    ----------
    gaps : ndarray, shape (hypotheses,)
        How far the estimates are from the hypotheses.
    errors : ndarray, shape (draws, hypotheses)
        Draws of the errors of the gaps, about zero.
    """
    spread = np.quantile(np.abs(errors), _MIDDLE, axis=0)
    spread = np.where(spread > 0, spread, 1e-300)
    scaled, own = errors / spread, gaps / spread
    held = np.clip(scaled, -_FAR, _FAR)
    covariance = held.T @ held / len(held)
    inverse = np.linalg.pinv(covariance, rcond=1e-10, hermitian=True)
    drawn = np.einsum("ij,jk,ik->i", scaled, inverse, scaled)
    statistic = float(own @ inverse @ own)
    beyond = int((drawn >= statistic * (1 - 1e-12)).sum())
    return statistic, (1 + beyond) / (1 + len(errors))
