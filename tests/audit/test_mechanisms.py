"""Every mechanism of the closed tuple passes an audit of its own claim, exactly and by running its exact sampler."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpnb.audit import audit
from dpnb.trusted.mechanisms import (
    MECHANISMS,
    DiscreteGaussian,
    DiscreteLaplace,
    KSExponential,
    LocatedSums,
    PermuteAndFlip,
    QuantileSelection,
    ThresholdedSums,
    Thresholding,
)
from dpnb.trusted.mechanisms.located_sums import radii
from dpnb.trusted.privacy.loss import PrivacyLoss


def counted(rows):
    """A multiset as a selection takes it."""
    values, counts = np.unique(rows, return_counts=True)
    return values, counts


HALF = Fraction(1, 2)
PURE = PrivacyLoss.pure(HALF)
MEDIAN = (counted([0, 1, 1, 4]), counted([1, 1, 4, 4]))

#: for each mechanism: an instance, neighbours and the claim; and the same instance with a loss that is 10 % larger
CASES = {
    DiscreteLaplace: (
        (DiscreteLaplace.calibrate(3, HALF), ([5, 0], [7, 1]), PURE),
        DiscreteLaplace.calibrate(3, HALF * Fraction(11, 10)),
    ),
    DiscreteGaussian: (
        (DiscreteGaussian.calibrate(5, HALF), ([5, 0], [7, 1]), PrivacyLoss.zcdp(HALF)),
        DiscreteGaussian.calibrate(5, HALF * Fraction(11, 10)),
    ),
    QuantileSelection: (
        (QuantileSelection(Fraction(4), HALF, 0, 4), MEDIAN, PrivacyLoss.pure(4)),
        None,
    ),
    PermuteAndFlip: (
        (PermuteAndFlip(HALF, 2), ([3, 0], [3, 1]), PURE),
        PermuteAndFlip(HALF * Fraction(11, 10), 2),
    ),
    Thresholding: (
        (Thresholding(Fraction(2), 6), ([9, 6], [8, 6]), PURE),
        Thresholding(Fraction(20, 11), 6),
    ),
    ThresholdedSums: (
        (ThresholdedSums(Fraction(4), 6, 1, (Fraction(4),)), ([(6, 3)], [(5, 2)]), PURE),
        ThresholdedSums(Fraction(40, 11), 6, 1, (Fraction(40, 11),)),
    ),
    KSExponential: ((KSExponential(HALF, 1, (1, 1)), ([3, 0], [2, 1]), PURE), None),
    LocatedSums: (
        (
            LocatedSums(
                QuantileSelection(Fraction(4), HALF, 0, 4),
                QuantileSelection(Fraction(1), Fraction(1), 0, len(radii(4)) - 1),
                1,
                *[Fraction(10**6)] * 3,
            ),
            MEDIAN,
            PrivacyLoss.pure(5),
        ),
        None,
    ),
}

#: exact selections are drawn one at a time
RUNS = {QuantileSelection: 3_000, KSExponential: 3_000, LocatedSums: 1_000}


def test_no_mechanism_escapes_its_audit():
    """A mechanism that joins the tuple must join this table."""
    assert set(MECHANISMS) == set(CASES)


@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.__name__)
def test_the_enumerated_loss_is_at_most_the_claim(kind):
    """The whole output law on two neighbours, and half the claim at least: the pair is not an easy one."""
    (mechanism, neighbours, claim), _ = CASES[kind]
    verdict = audit(mechanism, neighbours, claim)
    assert verdict.exact
    assert not verdict.breaks, verdict.text
    assert verdict.loss > 0.3 * verdict.claim


@pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.soak)])
@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.__name__)
def test_no_run_of_the_exact_sampler_speaks_against_the_claim(kind, times):
    """The exact sampler, run and not read: the bound at α = 10⁻⁶ is at most the claim."""
    (mechanism, neighbours, claim), _ = CASES[kind]
    verdict = audit(mechanism, neighbours, claim, method="sample", trials=times * RUNS.get(kind, 10_000))
    assert not verdict.breaks, verdict.text
    assert verdict.loss > 0.05


@pytest.mark.parametrize(
    "kind", [k for k, (_, wrong) in CASES.items() if wrong], ids=lambda kind: kind.__name__
)
def test_a_loss_ten_per_cent_over_the_claim_is_caught(kind):
    """The audit has teeth: on a tight pair a tenth too much is seen."""
    (_, neighbours, claim), wrong = CASES[kind]
    assert audit(wrong, neighbours, claim).breaks


def test_what_one_person_alone_holds_shows_with_delta_and_no_more():
    """Beside the δ of a threshold nothing speaks against ε; beside nine tenths of it, the shown value does."""
    mechanism = Thresholding(Fraction(2), 6)
    delta = float(mechanism.delta)
    neighbours = ([9, 1], [9, 0])
    assert not audit(mechanism, neighbours, 0.5, delta=delta * (1 + 1e-9)).breaks
    assert audit(mechanism, neighbours, 0.5, delta=0.9 * delta).breaks
    assert audit(mechanism, neighbours, 0.5).loss == float("inf")


def test_several_picks_are_run_and_not_read_off_the_first():
    """A second pick spends a second ε: the law of the first alone is not taken for the whole."""
    verdict = audit(PermuteAndFlip(HALF, 3, picks=2), ([3, 0, 0], [3, 0, 1]), 1, trials=2_000)
    assert not verdict.exact
    assert not verdict.breaks
    assert not audit(PermuteAndFlip(HALF, 2), ([3, 0, 3, 0], [3, 0, 3, 1]), HALF, trials=2_000).exact
