"""Discrete Laplace and discrete Gaussian keep the additive contract; their whole laws keep the claimed loss."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpnb.inference.law import law_of
from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpnb.trusted.privacy.loss import PrivacyLoss
from tests.contracts.mechanism import AdditiveContract, Audited, Drawn

HALF = Fraction(1, 2)
NEIGHBOURS = ([5, 0], [7, 1])
"""Apart by 3 in L1, and by 5 in the square of L2."""


class TestDiscreteLaplace(AdditiveContract):
    def mechanism(self):
        return DiscreteLaplace(Fraction(23, 3))

    def audited(self):
        return Audited(DiscreteLaplace.calibrate(3, HALF), NEIGHBOURS, PrivacyLoss.pure(HALF))

    def dearer(self):
        return DiscreteLaplace.calibrate(3, HALF * Fraction(11, 10))

    def drawn(self):
        return {
            "laplace": Drawn(DiscreteLaplace(Fraction(7, 3)), [0] * 3000),
            "laplace, wide": Drawn(DiscreteLaplace(Fraction(2**40)), [0] * 300),
        }

    def calibrated(self, sensitivity, amount):
        return DiscreteLaplace.calibrate(sensitivity, amount)

    def lost(self, mechanism, sensitivity):
        return sensitivity / mechanism.scale

    def stretched(self, factor):
        return DiscreteLaplace(Fraction(23, 3) * factor)


class TestDiscreteGaussian(AdditiveContract):
    def mechanism(self):
        return DiscreteGaussian(Fraction(61, 2))

    def audited(self):
        return Audited(DiscreteGaussian.calibrate(5, HALF), NEIGHBOURS, PrivacyLoss.zcdp(HALF))

    def dearer(self):
        return DiscreteGaussian.calibrate(5, HALF * Fraction(11, 10))

    def drawn(self):
        return {
            "gaussian": Drawn(DiscreteGaussian(Fraction(7, 3)), [0] * 3000),
            "gaussian, wide": Drawn(DiscreteGaussian(Fraction(2**60)), [0] * 300),
        }

    def calibrated(self, sensitivity, amount):
        return DiscreteGaussian.calibrate(sensitivity, amount)

    def lost(self, mechanism, sensitivity):
        return sensitivity / (2 * mechanism.variance)

    def stretched(self, factor):
        return DiscreteGaussian(Fraction(61, 2) * factor**2)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)], ids=str)
@pytest.mark.parametrize("shift", [1, 3])
def test_no_output_of_discrete_laplace_exceeds_the_claimed_epsilon(epsilon, shift):
    """Over all outputs within forty scales the log-ratio of neighbours is at most ε, and ε is attained."""
    law = law_of(DiscreteLaplace.calibrate(shift, epsilon))
    outputs = np.arange(-math.ceil(40 * law.scale), math.ceil(40 * law.scale))
    worst = np.max(np.abs(np.log(law.pmf(outputs)) - np.log(law.pmf(outputs - shift))))
    assert worst == pytest.approx(float(epsilon), rel=1e-9)


def renyi(law, shift: int, alpha: float) -> float:
    """Rényi divergence of order alpha between the law and its shift, from the definition."""
    reach = math.ceil(60 * math.sqrt(float(law.variance)) * alpha) + 60
    k = np.arange(-reach, reach + 1).astype(float)
    variance = float(law.variance)
    logs = -alpha * k**2 / (2 * variance) - (1 - alpha) * (k - shift) ** 2 / (2 * variance)
    total = np.log(np.sum(np.exp(-(k**2) / (2 * variance))))
    top = logs.max()
    return float((top + np.log(np.sum(np.exp(logs - top))) - total) / (alpha - 1))


@pytest.mark.parametrize("rho", [Fraction(1, 100), Fraction(1, 2), Fraction(4)], ids=str)
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_discrete_gaussian_keeps_rho_at_every_order(rho, shift):
    """The Rényi divergence of neighbours, summed from the definition, is at most αρ."""
    law = law_of(DiscreteGaussian.calibrate(shift**2, rho))
    for alpha in (1.01, 1.5, 2.0, 3.7, 10.0, 40.0):
        assert renyi(law, shift, alpha) <= alpha * float(rho) * (1 + 1e-9)
    assert renyi(law, shift, 2.0) > 0.5 * float(rho)
