"""Two-sided audits, for grading: too little noise and too much, another shape, no noise, a fixed seed; with error rates that hold."""

from __future__ import annotations

import json
import time
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpnb.audit import SlowAudit, audit, fit_noise
from dpnb.audit.sampling import vectorised
from dpnb.errors import OptionError, PlanError
from dpnb.trusted.mechanisms import DiscreteGaussian

PAIR = ([1, 1, 0], [1, 1, 1])


def laplace_of(data):
    """The law that the exercise asks for: ε = 0.5."""
    return stats.laplace(sum(data), 2)


RIGHT = {
    "laplace": stats.laplace(3, 2),
    "gaussian": stats.norm(3, 2),
    "discrete laplace": stats.dlaplace(0.5, loc=3),
}


@pytest.mark.parametrize("law", RIGHT.values(), ids=RIGHT)
def test_a_right_mechanism_fails_no_oftener_than_stated(law):
    """500 right students at a level of 5 %: failures are within what chance allows at 5 %, and every test has uniform p-values."""
    rng = np.random.default_rng(1)
    draws = law.rvs((500, 150), random_state=rng)
    fits = [fit_noise(row, law, alpha=0.05, rng=rng) for row in draws]
    failed = sum(not fit.passes for fit in fits)
    assert failed <= stats.binom(500, 0.05).ppf(1 - 1e-6)
    assert failed >= stats.binom(500, 0.015).ppf(1e-6)  # a level that nobody reaches would be no test
    for name in ("scale", "shape"):
        assert stats.kstest([getattr(fit, name) for fit in fits], "uniform").pvalue > 1e-6


WRONG = {
    "half": (lambda rng, n: rng.laplace(0, 1, n), "too little noise"),
    "x 0.8": (lambda rng, n: rng.laplace(0, 1.6, n), "too little noise"),
    "x 1.25": (lambda rng, n: rng.laplace(0, 2.5, n), "too much noise"),
    "double": (lambda rng, n: rng.laplace(0, 4, n), "too much noise"),
    "gaussian of the same spread": (lambda rng, n: rng.normal(0, 2 * 2**0.5, n), "another shape"),
    "gaussian of the same scale": (lambda rng, n: rng.normal(0, 2, n), "another shape"),
    "uniform": (lambda rng, n: rng.uniform(-4, 4, n), "another shape"),
    "off centre": (lambda rng, n: 0.3 + rng.laplace(0, 2, n), "off centre"),
    "one-sided": (lambda rng, n: np.abs(rng.laplace(0, 2, n)), "off centre"),
}


@pytest.mark.parametrize(("noise", "words"), WRONG.values(), ids=WRONG)
def test_every_wrong_version_is_caught_on_4000_draws(noise, words):
    """Thirty of each at a level of 10⁻⁴: not one passes, and the mistake is named."""
    rng = np.random.default_rng(2)
    fits = [fit_noise(3 + noise(rng, 4_000), RIGHT["laplace"], alpha=1e-4) for _ in range(30)]
    assert not any(fit.passes for fit in fits)
    assert all(words in fit.words for fit in fits)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("law", [stats.laplace(3, 2), stats.norm(3, 2)], ids=["laplace", "gaussian"])
def test_a_scale_at_the_stated_resolution_is_caught(law, side):
    """At the edge at most one in a thousand is missed; half as far from 1, most are: the edge is not idle."""
    rng = np.random.default_rng(3)
    draws = law.rvs((150, 1_000), random_state=rng) - 3
    edge = fit_noise(3 + draws[0], law, alpha=1e-4).resolution[side]

    def missed(ratio):
        return sum(fit_noise(3 + ratio * row, law, alpha=1e-4).scale >= 1e-4 / 3 for row in draws)

    assert missed(edge) <= stats.binom(150, 1e-3).ppf(1 - 1e-6)
    assert missed(1 + (edge - 1) / 3) > 75


def test_whole_numbers_are_graded_by_their_own_law():
    """Rounded Laplace noise is not discrete Laplace noise of twice the scale, and a float is no whole number."""
    law = RIGHT["discrete laplace"]
    draws = law.rvs(4_000, random_state=4)
    assert fit_noise(draws, law).passes
    assert not fit_noise(3 + 2 * (draws - 3), law).passes
    assert not fit_noise(draws + 0.5, law).passes


def test_no_noise_and_answers_that_are_no_numbers_are_named():
    assert "no noise" in fit_noise(np.full(500, 3.0), RIGHT["laplace"]).words
    draws = np.append(np.random.default_rng(1).laplace(3, 2, 499), np.nan)
    assert "1 of 500 answers are not numbers" in fit_noise(draws, RIGHT["laplace"]).words


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"draws": [1.0] * 5}, PlanError, "at least 100"),
        ({"draws": np.zeros((200, 2))}, PlanError, "single numbers"),
        ({"law": 3}, PlanError, "cdf"),
        ({"alpha": 0.9}, OptionError, "alpha"),
    ],
)
def test_a_fit_of_bad_input_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        fit_noise(**{"draws": np.zeros(200), "law": RIGHT["laplace"], **given})


def right(data, rng):
    return sum(data) + rng.laplace(0, 2)


def too_private(data, rng):
    return sum(data) + rng.laplace(0, 4)


def gaussian(data, size, rng):
    return sum(data) + rng.normal(0, 4, size)


def seeded(data, size, rng):
    return sum(data) + np.random.default_rng(1).laplace(0, 2, size)


def test_an_audit_with_an_expected_law_grades_from_both_sides():
    """Too much noise breaks no claim, and is no right answer either; both stand on the card and in JSON."""
    assert audit(right, PAIR, 0.5, expected=laplace_of, trials=20_000).passes
    verdict = audit(too_private, PAIR, 0.5, expected=laplace_of, trials=20_000)
    assert not verdict.breaks
    assert not verdict.passes
    assert "too much noise: it spreads 2" in verdict.text
    assert json.loads(json.dumps(verdict.to_json(), allow_nan=False))["passes"] is False
    shape = audit(gaussian, PAIR, 0.5, expected=laplace_of, trials=20_000)
    assert "another shape" in shape.text
    assert "not the expected noise" in str(shape._repr_mimebundle_()["text/html"])


def test_forty_right_students_pass():
    verdicts = [audit(right, PAIR, 0.5, expected=laplace_of, trials=2_000, rng=seed) for seed in range(40)]
    assert all(verdict.passes for verdict in verdicts)


def test_a_fixed_seed_is_seen_in_two_equal_calls():
    verdict = audit(seeded, PAIR, 0.5, expected=laplace_of, trials=5_000)
    assert verdict.repeats
    assert not verdict.passes
    assert "seed is fixed" in verdict.headline
    assert not audit(gaussian, PAIR, trials=5_000).repeats


def test_expected_is_a_function_of_the_data():
    with pytest.raises(PlanError, match="function from the data"):
        audit(right, PAIR, 0.5, expected=stats.laplace(2, 2))
    with pytest.raises(PlanError, match="law of one number"):
        audit(lambda data, size, rng: rng.laplace(0, 1, (size, 2)), PAIR, expected=laplace_of, trials=500)


def test_a_function_of_one_draw_is_run_on_arrays():
    """Addition, clipping and tuples mean the same on arrays; conditions, own sizes and means do not, and are called once a run."""
    rng = np.random.default_rng(5)

    def pair_of_draws(data, rng):
        return sum(data) + rng.laplace(0, 2), rng.normal()

    def conditional(data, rng):
        noise = rng.laplace(0, 2)
        return sum(data) + max(0, noise)

    def sized(data, rng):
        return sum(data) + rng.laplace(0, 2, 3).mean()

    def centred(data, rng):
        noise = np.asarray(rng.laplace(0, 2))
        return sum(data) + noise - noise.mean() + 0.0

    assert vectorised(right, PAIR, rng)([1], size=7, rng=rng).shape == (7,)
    assert vectorised(pair_of_draws, PAIR, rng)([1], size=7, rng=rng).shape == (7, 2)
    assert vectorised(lambda data, rng: np.clip(right(data, rng), 0, 3), PAIR, rng) is not None
    for function in (conditional, sized, centred, lambda data, rng: float(right(data, rng))):
        assert vectorised(function, PAIR, rng) is None
    assert vectorised(lambda data: 3.0, PAIR, rng) is None
    assert "arrays of draws" in audit(right, PAIR, 0.5, trials=500).note


def test_arrays_and_single_runs_give_the_same_bound():
    """The same function, once with ``float()`` around its answer, which arrays do not survive."""
    arrays = audit(right, PAIR, 0.5, trials=20_000)
    singly = audit(lambda data, rng: float(right(data, rng)), PAIR, 0.5, trials=20_000)
    assert arrays.loss == pytest.approx(singly.loss, abs=0.06)


def test_a_slow_function_is_told_in_seconds_and_cut_to_a_time():
    """A millisecond a call: 80,000 calls are about 80 s or more, said beforehand; seconds= takes fewer runs."""

    def slow(data, rng):
        time.sleep(0.001)
        return float(right(data, rng))

    with (
        pytest.warns(SlowAudit, match=r"80,000 times, about [0-9]+ s") as seen,
        pytest.raises(KeyboardInterrupt),
    ):
        audit(_interrupted(slow), PAIR, 0.5)
    assert int(str(seen[0].message).split("about ")[1].split(" ")[0]) >= 80
    with pytest.warns(SlowAudit):
        assert audit(slow, PAIR, 0.5, seconds=0.5).trials == 1_000
    with pytest.raises(OptionError, match="seconds"):
        audit(slow, PAIR, seconds=0)


def _interrupted(function):
    """The person at the keyboard who has read the warning."""
    calls = []

    def impatient(data, rng):
        calls.append(1)
        if len(calls) > 60:
            raise KeyboardInterrupt
        return function(data, rng)

    return impatient


def test_the_least_delta_of_an_enumerated_law_is_exact():
    """Gaussian noise: the δ beside ε equals the closed computation, and the loss beside that δ is the ε again."""
    from dpnb.risk.curves import discrete_gaussian_delta

    mechanism = DiscreteGaussian(Fraction(4))
    verdict = audit(mechanism, ([0], [1]), 1)
    assert verdict.breaks
    assert verdict.least_delta == pytest.approx(float(discrete_gaussian_delta(4, 1)), rel=1e-6)
    assert audit(mechanism, ([0], [1]), 1, delta=verdict.least_delta).loss == pytest.approx(1, abs=1e-6)
    assert "would need a δ of exactly" in verdict.text


def test_the_least_delta_by_runs_is_a_close_lower_bound():
    """Uniform noise of width 10 moved by 1: no ε without δ = 0.1. A right Laplace sum needs none."""

    def uniform(data, size, rng):
        return sum(data) + rng.uniform(-5, 5, size)

    verdict = audit(uniform, ([0], [1]), 1)
    assert 0.085 < verdict.least_delta <= 0.1
    assert not audit(uniform, ([0], [1]), 1, delta=0.1).breaks
    assert audit(lambda data, rng: sum(data) + rng.laplace(0, 2), ([0], [1]), 0.5).least_delta == 0
    assert audit(uniform, ([0], [1])).least_delta is None


def test_an_impossible_output_is_called_unbounded():
    """Exactly where the law is known; by runs, as what never happened there."""
    exact = audit(lambda x: {"a": 0.9, "b": 0.1} if x else {"a": 1.0}, (1, 0), 5)
    assert exact.unbounded
    assert "ε is unbounded" in exact.headline
    assert "impossible" in exact.text
    assert exact.least_delta == pytest.approx(0.1)
    runs = audit(sum, PAIR, 5, trials=2_000)
    assert runs.unbounded
    assert "looks unbounded" in runs.headline
    assert not audit(right, PAIR, 0.5, trials=2_000).unbounded
