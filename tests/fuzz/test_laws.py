"""The laws with which pairs are judged are those that the mechanisms declare; divergences are those of their definitions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpnb.inference.law import DiscreteGaussianLaw, DiscreteLaplaceLaw
from dpnb.inference.selection_law import probabilities
from dpnb.trusted.mechanisms import (
    KSExponential,
    LocatedSums,
    PermuteAndFlip,
    QuantileFlip,
    QuantileSelection,
    Thresholding,
)
from dpnb.trusted.mechanisms.located_sums import radii
from tests.fuzz import laws

RNG = np.random.default_rng(5)


def by_definition(one, two, alpha):
    """D_α of two lists of probabilities."""
    if alpha == 1:
        return float(np.sum(one * np.log(one / two)))
    logs = alpha * np.log(one) + (1 - alpha) * np.log(two)
    return float(np.log(np.sum(np.exp(logs))) / (alpha - 1))


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(40)])
@pytest.mark.parametrize("shift", [1, 2, 7])
def test_discrete_laplace_divergences_are_sums_over_all_integers(scale, shift):
    """The closed form equals the sum, order by order."""
    law, reach = DiscreteLaplaceLaw(scale), int(45 * scale) + 10
    at = np.arange(-reach, reach + shift + 1)
    one, two = law.pmf(at), law.pmf(at - shift)
    found = laws.laplace_divergences(np.array([shift, 0]), float(scale))
    for order, alpha in enumerate(laws.ORDERS):
        if alpha <= 2:
            assert found[order, 0] == pytest.approx(by_definition(one, two, alpha), rel=1e-6)
    assert found[-1, 0] <= shift / scale
    assert not found[:, 1].any()


def test_discrete_gaussian_divergences_are_those_of_the_continuous_one():
    """At whole orders and at Kullback-Leibler, a whole shift costs α·s²/2σ² exactly."""
    law, at = DiscreteGaussianLaw(Fraction(9)), np.arange(-90, 91)
    one, two = law.pmf(at), law.pmf(at - 2)
    found = laws.gaussian(np.array([[2]]), Fraction(9))
    for alpha in (1.0, 2.0, 4.0):
        order = laws.ORDERS.tolist().index(alpha)
        assert found.renyi[0, order, 0] == pytest.approx(by_definition(one, two, alpha), rel=1e-6)


@pytest.mark.parametrize("q", [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize("offset", [-3, 0, 5])
@pytest.mark.parametrize("kind", [QuantileSelection, QuantileFlip])
def test_a_quantile_law_is_the_mechanisms_own(kind, q, offset):
    """Log-probabilities from tallies equal the exact ones."""
    mechanism = kind(Fraction(3), q, offset, 6, 2)
    tallies = RNG.integers(0, 5, (20, 7))
    found = np.exp(laws.quantile_law(mechanism, tallies))
    for row, tally in zip(found, tallies, strict=True):
        values = np.flatnonzero(tally)
        np.testing.assert_allclose(row, [float(p) for p in probabilities(mechanism, (values, tally[values]))])


@pytest.mark.parametrize("picks", [1, 2])
def test_a_law_of_picks_is_the_mechanisms_own(picks):
    """Ordered picks have the product of the laws of each among those that are left."""
    mechanism, scores = PermuteAndFlip(Fraction(2), 4, picks, 2), RNG.integers(0, 6, (20, 4))
    found = np.exp(laws.pick_law(mechanism, scores))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    for row, counts in zip(found, scores, strict=True):
        first = probabilities(mechanism, counts)
        if picks == 1:
            np.testing.assert_allclose(row, first)
            np.testing.assert_allclose(np.exp(laws.declared_law(mechanism, counts[None, None]))[0, 0], first)
            continue
        left = [[second for second in range(4) if second != one] for one in range(4)]
        pairs = [
            first[one] * probabilities(mechanism, counts, left[one])[two]
            for one in range(4)
            for two in left[one]
        ]
        np.testing.assert_allclose(row, pairs)


def test_the_cost_of_a_placement_is_that_of_its_law():
    """Without a check it is the largest log-ratio of the mechanism's own probabilities; a check adds to it."""
    one, two = RNG.integers(0, 5, (2, 20, 1, 3))
    mechanism = KSExponential(Fraction(2), 3, (1, 2, 1))
    found = laws.placed(mechanism, one, two).pure[0]
    checked = laws.placed(KSExponential(Fraction(2), 3, (1, 2, 1), 1, Fraction(1, 2)), one, two).pure[0]
    for pair in range(20):
        laws_of = [probabilities(mechanism, counts[pair, 0]) for counts in (one, two)]
        assert found[pair] == pytest.approx(np.max(np.log(laws_of[0] / laws_of[1])))
    assert (checked >= found).all()


def test_the_law_of_a_private_range_is_the_mechanisms_own():
    """Middle and radius have the mechanism's probabilities, and the sums are those that it adds noise to."""
    steps = 4
    middle = QuantileSelection(Fraction(1), Fraction(1, 2), 0, steps)
    radius = QuantileSelection(Fraction(1), Fraction(1), -2, len(radii(steps)) - 1)
    mechanism = LocatedSums(middle, radius, 1, Fraction(2), Fraction(3), Fraction(4), Fraction(5))
    tallies = RNG.integers(0, 4, (10, steps + 1))
    found = np.exp(laws._range_law(mechanism, tallies))
    sums, scales = laws._sums_of(mechanism)
    added = (tallies @ sums).reshape(10, len(scales), 4)
    for row, mine, tally in zip(found, added, tallies, strict=True):
        values = np.flatnonzero(tally)
        counts = (values, tally[values])
        np.testing.assert_allclose(row, [float(p) for p in probabilities(mechanism, counts)])
        ranges = [
            mechanism.range_of(m, place) for m in range(steps + 1) for place in range(len(radii(steps)))
        ]
        assert mine.tolist() == [list(mechanism.sums(counts, chosen)) for chosen in ranges]
        assert scales.tolist() == [[float(scale) for scale in mechanism.scales(chosen)] for chosen in ranges]


@pytest.mark.parametrize("moved", [((0, 1),), ((4, 5),), ((2, 1), (0, 1)), ((30, 29), (1, 2))])
def test_the_delta_of_a_threshold_is_that_of_its_whole_law(moved):
    """By atoms of equal ratio as by every noised count."""
    mechanism, epsilon = Thresholding(Fraction(2), 9), Fraction(len(moved), 2)
    one, two = (probabilities(mechanism, [pair[side] for pair in moved]) for side in (0, 1))
    whole = np.maximum(one - math.exp(float(epsilon)) * two, 0).sum()
    assert laws._hockey_stick(mechanism, epsilon, moved) == pytest.approx(float(whole), rel=1e-6, abs=1e-11)


def test_finite_laws_cost_what_their_definition_says():
    """Log-ratio and divergences, both ways, groups adding."""
    one, two = RNG.dirichlet(np.ones(5), (2, 3, 2))
    found = laws.outcomes(np.log(one), np.log(two))
    for pair in range(3):
        groups = [(one[pair, group], two[pair, group]) for group in range(2)]
        for way in (0, 1):
            turned = [(a, b) if way == 0 else (b, a) for a, b in groups]
            assert found.pure[way, pair] == pytest.approx(sum(np.log(a / b).max() for a, b in turned))
            for order, alpha in enumerate(laws.ORDERS):
                assert found.renyi[way, order, pair] == pytest.approx(
                    sum(by_definition(a, b, alpha) for a, b in turned)
                )
