"""Audits: exact where a law can be written down, a bound that holds elsewhere, a verdict that a person can read."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpnb.audit import audit
from dpnb.audit.auditing import described
from dpnb.audit.sampling import clopper_pearson
from dpnb.audit.verdict import verdict_card
from dpnb.errors import OptionError, PlanError
from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpnb.trusted.privacy.loss import PrivacyLoss

HALF = Fraction(1, 2)


def laplace_sum(scale):
    """A real-valued noisy sum."""

    def noisy_sum(data, size, rng):
        return sum(data) + rng.laplace(0, scale, size)

    return noisy_sum


def test_a_law_given_as_a_mapping_is_enumerated_exactly():
    """Randomised response that tells the truth three times in four loses ln 3, and no run is needed."""
    verdict = audit(
        lambda x: (
            {True: Fraction(3, 4), False: Fraction(1, 4)}
            if x
            else {True: Fraction(1, 4), False: Fraction(3, 4)}
        ),
        (1, 0),
    )
    assert verdict.exact
    assert verdict.trials == 0
    assert verdict.loss == pytest.approx(math.log(3), abs=1e-12)


def test_an_outcome_that_only_one_dataset_can_have_is_an_infinite_loss():
    """An impossible output under the neighbour breaks every pure claim; a δ at least as large mends it."""
    law = lambda x: {"a": 0.9, "b": 0.1} if x else {"a": 1.0}
    assert audit(law, (1, 0), 5).loss == math.inf
    assert audit(law, (1, 0), 5).breaks
    assert audit(law, (1, 0), 0.2, delta=0.1).loss == pytest.approx(0, abs=1e-9)
    assert not audit(law, (1, 0), 0.2, delta=0.1).breaks


def test_the_least_epsilon_beside_a_delta_is_exact():
    """Discrete Gaussian noise: the enumerated ε at δ equals the closed computation in the privacy room."""
    from dpnb.risk.curves import discrete_gaussian_epsilon

    found = audit(DiscreteGaussian(Fraction(1)), ([0], [1]), 4, delta=1e-3).loss
    assert found == pytest.approx(float(discrete_gaussian_epsilon(1, "1e-3")), abs=1e-6)


def test_a_law_that_does_not_sum_to_one_is_refused():
    with pytest.raises(PlanError, match="sum to 1"):
        audit(lambda x: {"a": 0.5}, (1, 0))


def test_the_bound_of_a_correct_laplace_sum_is_below_its_claim_and_close():
    """ε 0.5 at 200,000 runs: the bound is between 0.45 and 0.5."""
    verdict = audit(laplace_sum(2), ([1, 1, 0], [1, 1, 1]), 0.5)
    assert 0.45 < verdict.loss <= 0.5
    assert not verdict.breaks


def test_a_correct_mechanism_is_not_accused_in_forty_audits():
    """At α = 10⁻⁶ none of forty seeds breaks the claim, although each tries a hundred events."""
    losses = [audit(laplace_sum(2), ([0], [1]), 0.5, trials=20_000, rng=seed).loss for seed in range(40)]
    assert max(losses) <= 0.5


def test_a_scale_ten_per_cent_short_is_seen():
    """Noise of 0.9 times the scale loses 0.556, and the audit says more than 0.5."""
    assert audit(laplace_sum(1.8), ([0], [1]), 0.5).breaks


def test_add_remove_noise_under_change_one_is_seen():
    """A record that goes from -1 to +1 moves the sum by 2: 0.98 where 0.5 is claimed."""
    verdict = audit(laplace_sum(2), ([-1], [1]), 0.5)
    assert 0.9 < verdict.loss <= 1
    assert verdict.breaks


def test_a_nan_is_an_event():
    """A mean that turns NaN for one dataset alone gives it away."""
    verdict = audit(laplace_sum(2), ([0.0], [math.nan]), 0.5)
    assert "NaN" in verdict.event
    assert verdict.loss > 9


def test_an_error_is_an_output():
    """A mechanism that fails for one of the two datasets is caught; one that fails for both is the caller's mistake."""
    verdict = audit(lambda x: 1.0 / x, (0, 1), 1)
    assert verdict.event == "the mechanism fails"
    assert verdict.breaks
    with pytest.raises(PlanError, match="fails on both"):
        audit(lambda x: 1.0 / 0, (0, 1), 1)


def test_words_and_objects_are_compared_by_equality():
    def answer(x, rng):
        return "yes" if rng.random() < (0.75 if x else 0.25) else "no"

    verdict = audit(answer, (1, 0), 2)
    assert verdict.event in {"the output is 'yes'", "the output is 'no'"}
    assert 0.9 < verdict.loss < math.log(3)


def test_vectors_are_audited_by_a_score_of_all_entries():
    """Two entries that both move by 1 lose 1 together, which no entry shows alone."""

    def both(data, size, rng):
        return np.asarray(data) + rng.laplace(0, 2, (size, 2))

    verdict = audit(both, ([0, 0], [1, 1]), 0.5)
    assert "output[1]" in verdict.event
    assert "output[0]" in verdict.event
    assert verdict.breaks


def test_one_event_of_the_callers_own_replaces_the_rest():
    """The caller may know where to look, and then only that is tried."""
    verdict = audit(laplace_sum(2), ([0], [1]), 0.5, events={"a large output": lambda out: out > 1})
    assert verdict.event == "a large output"
    assert 0.3 < verdict.loss <= 0.5


def test_a_rho_is_compared_with_a_rho_where_the_law_is_known():
    """Discrete Gaussian at ρ = 0.5: the enumerated ρ is 0.5 and not above."""
    mechanism = DiscreteGaussian.calibrate(1, HALF)
    verdict = audit(mechanism, ([5], [6]), PrivacyLoss.zcdp(HALF))
    assert verdict.symbol == "ρ"
    assert verdict.loss == pytest.approx(0.5, abs=1e-6)
    assert not verdict.breaks
    assert audit(
        DiscreteGaussian(mechanism.variance * Fraction(81, 100)), ([5], [6]), PrivacyLoss.zcdp(HALF)
    ).breaks


def test_gaussian_noise_has_no_pure_loss():
    assert audit(DiscreteGaussian.calibrate(1, HALF), ([5], [6]), 100).loss == math.inf


def test_several_entries_lose_together():
    """Discrete Laplace on a vector: the losses of its entries add, exactly."""
    assert audit(DiscreteLaplace.calibrate(2, HALF), ([5, 0], [6, 1]), HALF).loss == pytest.approx(0.5)
    assert audit(DiscreteLaplace.calibrate(1, HALF), ([5, 0], [6, 1]), HALF).loss == pytest.approx(1)


@pytest.mark.parametrize(("hits", "trials"), [(0, 100), (1, 100), (50, 100), (99, 100), (100, 100)])
def test_clopper_pearson_is_the_textbook_interval(hits, trials):
    """Both limits equal scipy's exact binomial interval."""
    low, high = clopper_pearson(hits, trials, 0.005)
    interval = stats.binomtest(hits, trials).proportion_ci(0.99, "exact")
    assert float(low) == pytest.approx(interval.low, abs=1e-9)
    assert float(high) == pytest.approx(interval.high, abs=1e-9)


def test_a_verdict_reads_in_text_html_and_json():
    """The card names the neighbours, the event, both probabilities, the bound and the trials; JSON is strict."""
    verdict = audit(laplace_sum(2), ([-1], [1]), 0.5, trials=5_000)
    card = verdict_card(verdict)
    for form in (card.text, str(card.html)):
        for word in ("claim broken", "[-1]", "[1]", "the output", "5,000 runs", "1e-06"):
            assert word in form
    assert json.loads(json.dumps(card.json, allow_nan=False))["breaks"] is True
    assert repr(verdict) == verdict.text
    assert "<svg" in str(card.html)
    assert "text/html" in verdict._repr_mimebundle_()


def test_a_rho_verdict_shows_no_event_and_strict_json():
    verdict = audit(DiscreteGaussian.calibrate(1, HALF), ([5], [6]), PrivacyLoss.zcdp(HALF))
    assert "under A" not in verdict.text
    json.dumps(verdict_card(verdict).json, allow_nan=False)


def test_neighbours_are_named_by_the_row_in_which_they_differ():
    assert described(np.zeros(1000), np.append(np.zeros(999), 1.0))[1] == "1,000 rows; row 999 is 1.0"
    columns = [(np.zeros(1000), np.append(np.zeros(999), y)) for y in (0.0, 1.0)]
    assert described(*columns)[1] == "1,000 rows; row 999 is [0.0, 1.0]"
    assert max(map(len, described(np.zeros((2, 500)), np.ones((2, 500))))) < 80
    nan = np.append(np.zeros(999), math.nan)
    assert described(np.zeros(1000), nan)[1] == "1,000 rows; row 999 is nan"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"neighbours": [1, 2, 3]}, "pair"),
        ({"neighbours": 7}, "pair"),
        ({"alpha": 0.7}, "alpha"),
        ({"delta": 1}, "delta"),
        ({"trials": 3}, "trials"),
        ({"method": "guess"}, "method"),
        ({"method": "exact"}, "mapping"),
        ({"mechanism": 5}, "callable"),
        ({"claim": "much"}, "claim"),
    ],
)
def test_bad_input_is_named(options, words):
    """What cannot be audited is refused with what to write instead."""
    given = {"mechanism": laplace_sum(2), "neighbours": ([0], [1]), "trials": 100, **options}
    with pytest.raises((PlanError, OptionError), match=words):
        audit(given.pop("mechanism"), given.pop("neighbours"), given.pop("claim", 1), **given)


def test_a_mechanism_that_ignores_size_is_told():
    with pytest.raises(PlanError, match="one output for each run"):
        audit(lambda data, size, rng: 1.0, ([0], [1]), 1)
