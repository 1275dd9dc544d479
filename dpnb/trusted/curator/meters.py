r"""A new meter: what was spent under one adjacency, stated under another.

An owner may change a dataset from add-remove to change-one: its size is public from then on. Changing one person's data
is removing one and adding one, two steps, so that what was spent is worth more under the new promise:

- pure: ε becomes 2 ε (the triangle inequality of log ratios);
- zCDP: ρ becomes 4 ρ (groups of two [1]_);
- (ρ, δ): every event is converted by itself, then all are added as always, which holds for adaptive questions.
  A ρᵢ without δ becomes 4 ρᵢ. An (εᵢ, δᵢ) event becomes (2 εᵢ, (1 + e^{εᵢ}) δᵢ), charged at 2 εᵢ·tanh(εᵢ) ≤
  4 εᵢ·tanh(εᵢ/2), hence at most four times its ρᵢ. Since ρ ≥ εᵢ·tanh(εᵢ/2) ≥ εᵢ - 2 εᵢ/(e^{εᵢ} + 1) > εᵢ - 0.56
  for the total ρ, every factor of a δ is at most 1 + e^{ρ + 0.56}, which is used for all of them.

The other way is never open: a size that was public stays known, and add-remove would promise that it is not.

References
----------
.. [1] Bun and Steinke (2016), "Concentrated Differential Privacy", Proposition 1.9.
"""

from __future__ import annotations

import sqlite3
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction

from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure

_SLACK = Fraction(56, 100)


def doubled(loss: PrivacyLoss) -> PrivacyLoss:
    """State a loss for two steps.

    Examples
    --------
    >>> str(doubled(PrivacyLoss.pure("0.5"))), str(doubled(PrivacyLoss.zcdp("0.5")))
    ('ε 1', 'ρ 2')
    """
    if loss.measure is Measure.PURE:
        return PrivacyLoss(loss.measure, 2 * loss.amount, loss.delta)
    delta = loss.delta * _factor(loss.amount) if loss.delta else loss.delta
    return PrivacyLoss(loss.measure, 4 * loss.amount, delta).bounded()


def _factor(rho: Fraction) -> Fraction:
    """Return 1 + exp(ρ + 0.56), rounded up."""
    with localcontext() as context:
        context.prec, context.rounding = 40, ROUND_CEILING
        exponent = rho + _SLACK
        power = (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
        return 1 + Fraction(power.next_plus())


def is_meter(db: sqlite3.Connection, entry: int) -> bool:
    """Tell whether a budget period began as a new meter: with the old total, doubled."""
    return db.execute("SELECT 1 FROM meters WHERE entry = ?", (entry,)).fetchone() is not None
