"""Derived intervals cover what they say, at stated error rates, and agree with closed forms."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import stats

from dpnb.errors import Unavailable
from dpnb.inference.draw_generator import DrawGenerator
from tests.estimate.fakes import FakeOutcome, draw_noise, fill, make_release, pending, released
from tests.examples import mostly_long

ALPHA = 1e-6  # how often a true 95 % interval fails a test of this file
REPEATS = 400


def too_few(repeats=REPEATS, level=0.95):
    return stats.binom.ppf(ALPHA, repeats, level)


def too_many(repeats=REPEATS, level=0.95):
    return stats.binom.isf(ALPHA, repeats, level)


def coverage(make, truth, repeats=REPEATS, level=0.95, kind="privacy"):
    """How many of `repeats` simulated releases have an interval around the truth, for each component."""
    hits = np.zeros(np.shape(truth))
    for seed in range(repeats):
        interval = make(np.random.default_rng(seed), f"{seed:x}").interval(level, kind)
        hits += (np.asarray(interval.low) <= truth + 1e-12) & (truth - 1e-12 <= np.asarray(interval.high))
    return hits


def noisy(rng, seed, name, truth, sd, law="normal", **outcome):
    """One simulated release of a true value."""
    truth = np.asarray(truth, dtype=float)
    value = truth + draw_noise(law, sd, truth.shape, rng)
    return released(
        value if truth.shape else float(value), name, id=f"{name}{seed}", sd=sd, law=law, **outcome
    )


@pytest.mark.parametrize("law", ["normal", "laplace"])
def test_linear_combinations_cover_exactly_as_stated(law):
    def make(rng, seed):
        a, b = noisy(rng, seed, "a", 3.0, 1.0, law), noisy(rng, seed, "b", -2.0, 0.5, law)
        return 2 * a - 3 * b + 1

    hits = coverage(make, 13.0)
    assert too_few() <= hits <= too_many()


def test_a_linear_combination_agrees_with_the_closed_form():
    a, b = released(3.0, "a", id="a1", sd=1.0), released(-2.0, "b", id="b1", sd=0.5)
    low, high = (2 * a - 3 * b).interval(0.9, "privacy")
    half = stats.norm.ppf(0.95) * np.hypot(2.0, 1.5)
    np.testing.assert_allclose([low, high], [12 - half, 12 + half], atol=0.12)


BINS = np.array([40.0, 25.0, 20.0, 10.0, 5.0])


def ratio(size):
    """A share of so many people, whose number is hardly known where they are few."""
    return lambda at: at("s", 0.7 * size, 2.0, "laplace") / at("n", size, 2.0, "laplace")


def root(truth):
    """The standard deviation of a share, which may lie at the edge or where it is largest."""

    def make(at):
        c = at("c", truth, 0.05, domain=(0.0, 1.0))
        return (c * (1 - c)) ** 0.5

    return make


def shares(at):
    """Bins over their total."""
    h = at("h", BINS, 3.0, "laplace")
    return h / h.sum()


@pytest.mark.parametrize(
    ("make", "truth"),
    [
        pytest.param(lambda at: at("a", 3.0, 0.5) * at("b", -2.0, 0.5), -6.0, id="product"),
        *(pytest.param(ratio(size), 0.7, id=f"ratio of {size:g}") for size in (3.0, 10.0, 100.0)),
        *(
            pytest.param(root(c), (c * (1 - c)) ** 0.5, id=f"root at {c:g}")
            for c in (0.02, 0.05, 0.3, 0.5, 0.97)
        ),
        pytest.param(shares, BINS / BINS.sum(), id="bins over their total"),
    ],
)
def test_what_is_computed_of_noised_numbers_covers(make, truth):
    found = coverage(lambda rng, seed: make(partial(noisy, rng, seed)), truth)
    assert (found >= too_few()).all()


def test_a_ratio_whose_denominator_may_be_zero_is_unbounded_and_says_so():
    ratio = released(1.0, "a") / released(0.01, "b", sd=1.0)
    interval = ratio.interval(kind="privacy")
    assert tuple(interval) == (-np.inf, np.inf)
    assert "denominator" in interval.note
    assert ratio.to_dict()["intervals"]["privacy"]["low"] is None


def test_turning_points_of_vectors_are_found_too():
    q, h = released(0.503, sd=0.1), released([0.45, 0.503, 0.6], sd=0.1)
    tops = (q * (1 - q) * np.array([1.0, 2.0])).interval(kind="privacy").high
    np.testing.assert_allclose(tops, [0.25, 0.5], atol=1e-12)
    np.testing.assert_allclose((h * (1 - h)).interval(kind="privacy").high, 0.25, atol=1e-12)


def test_domains_keep_draws_defined_where_two_releases_meet():
    c = released(0.05, "c", sd=0.05, domain=(0.0, 1.0))
    d = released(0.04, "d", sd=0.05, domain=(0.0, 1.0))
    interval = (np.sqrt(c) + np.sqrt(d)).interval(kind="privacy")
    assert np.isfinite([interval.low, interval.high]).all()
    assert "undefined" not in interval.note


def test_undefined_draws_are_left_out_and_their_share_is_said():
    a, b = released(0.1, "a", sd=0.1), released(0.05, "b", sd=0.1)
    interval = np.sqrt(a - b).interval(kind="privacy")
    assert np.isfinite([interval.low, interval.high]).all()
    assert "undefined in" in interval.note


def test_the_same_release_twice_is_one_noise():
    q = released(0.7, sd=0.1)
    assert tuple((q - q).interval(kind="privacy")) == (0.0, 0.0)
    assert tuple((q / q).interval(kind="privacy")) == (1.0, 1.0)
    h = released([5.0, 3.0, 2.0], sd=1.0)
    assert tuple((h - h).interval(kind="privacy").high) == (0.0, 0.0, 0.0)
    shares = (h / h.sum()).cumsum().interval(kind="privacy")
    np.testing.assert_allclose([shares.low[-1], shares.high[-1]], 1.0, atol=1e-12)
    a = released(0.6, sd=0.1)
    assert tuple((q + a - q - a).interval(kind="privacy")) == pytest.approx((0.0, 0.0), abs=1e-12)
    twins = released(0.7, id="twin"), released(0.7, id="twin")
    assert tuple((twins[0] / twins[1]).interval(kind="privacy")) == (1.0, 1.0)


def test_a_release_used_in_two_estimates_keeps_its_correlation():
    def make(rng, seed):
        a, b = noisy(rng, seed, "a", 3.0, 1.0), noisy(rng, seed, "b", 2.0, 1.0)
        total, share = a + b, a - b
        return total + share

    hits = coverage(make, 6.0)
    assert too_few() <= hits <= too_many()


def test_functions_of_one_number_have_the_image_of_its_interval():
    q = released(0.7, sd=0.1)
    low, high = q.interval(0.9, "privacy")
    assert tuple((q**2).interval(0.9, "privacy")) == pytest.approx((low**2, high**2))
    assert tuple((1 - q).interval(0.9)) == pytest.approx((1 - q.interval(0.9).high, 1 - q.interval(0.9).low))
    bump = ((q - 0.7) ** 2).interval(0.9, "privacy")
    assert bump.low == pytest.approx(0, abs=1e-9)
    assert bump.high == pytest.approx((high - 0.7) ** 2)
    assert "image" in bump.note


def test_the_image_is_unbounded_where_a_denominator_can_be_zero():
    q = released(0.1, sd=1.0)
    for expression in (1 / q, q**-1.0, np.reciprocal(q), (q + 1) // (q * 2)):
        assert tuple(expression.interval(kind="privacy")) == (-np.inf, np.inf)
    far = released(10.0, sd=1.0)
    low, high = far.interval(kind="privacy")
    assert tuple((1 / far).interval(kind="privacy")) == pytest.approx((1 / high, 1 / low))


def test_the_image_of_an_unbounded_interval_reaches_as_far():
    class Unbounded(FakeOutcome):
        def interval(self, level, kind):
            return super().interval(level, kind).__class__(-np.inf, 3.0, level, kind)

    q = pending()
    q.measurement.fill((make_release(),), Unbounded(1.0))
    assert tuple((q * 2).interval(kind="privacy")) == (-np.inf, 6.0)
    assert tuple(np.exp(q).interval(kind="privacy")) == pytest.approx((0.0, np.exp(3.0)))


def test_places_of_a_leaf_have_the_interval_of_the_leaf():
    h = released([1.0, 2.0], sd=0.1, keys=("a", "b"))
    whole = h.interval(0.9)
    assert tuple(h["b"].interval(0.9)) == (whole.low[1], whole.high[1])
    assert h["b"].standard_error == h.standard_error[1]
    assert h["b"].n == 100
    image = (h["b"] ** 2).interval(0.9)
    assert tuple(image) == pytest.approx((whole.low[1] ** 2, whole.high[1] ** 2))
    vector = (h**2).interval(0.9)
    np.testing.assert_allclose(vector.low, whole.low**2)
    assert tuple((h / h.sum())["a"].interval(kind="privacy")) == tuple(
        float(end[0]) for end in (h / h.sum()).interval(kind="privacy")
    )


def test_confidence_covers_the_population_over_one_release():
    population, sampling = 2.0, 0.3

    def make(rng, seed):
        here = population + sampling * rng.standard_normal(2)
        h = noisy(rng, seed, "h", here, 0.2, se=sampling)
        return h[0] - h[1] + h.sum()

    hits = coverage(make, 4.0, kind="confidence")
    assert too_few() <= hits <= too_many()


def correlated(weights, correlation, make_expression, truth):
    """Coverage of a confidence interval over two answers whose sampling errors have a given correlation."""
    sampling = np.array([0.3, 0.2])

    def make(rng, seed):
        z = rng.standard_normal(2)
        z[1] = correlation * z[0] + np.sqrt(1 - correlation**2) * z[1]
        a, b = (
            noisy(rng, seed, name, centre + error, 0.1, se=se)
            for name, centre, error, se in zip("ab", weights, sampling * z, sampling, strict=True)
        )
        return make_expression(a, b)

    return coverage(make, truth, kind="confidence")


@pytest.mark.parametrize("correlation", mostly_long([-1.0, 0.0, 0.6, 1.0], -1.0, 0.6))
def test_confidence_over_two_answers_covers_whatever_the_correlation_of_their_sampling_errors(correlation):
    for truth, expression in (
        (2.0, lambda a, b: a - b),
        (6.0, lambda a, b: a + b),
        (8.0, lambda a, b: a * b),
    ):
        assert correlated((4.0, 2.0), correlation, expression, truth) >= too_few()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_confidence_over_two_answers_is_exact_where_their_sampling_errors_are_at_their_worst(sign):
    hits = correlated((4.0, 2.0), sign, lambda a, b: 2 * a + sign * b, 8.0 + sign * 2.0)
    assert too_few() <= hits <= too_many()


def test_confidence_over_two_answers_agrees_with_the_closed_form_and_says_how():
    a, b = released(3.0, "a", id="a1", sd=0.1, se=0.3), released(-2.0, "b", id="b1", sd=0.2, se=0.4)
    interval = (a - 2 * b).interval(0.9)
    half = stats.norm.ppf(0.95) * np.sqrt((0.3 + 0.8) ** 2 + 0.1**2 + 0.4**2)
    np.testing.assert_allclose(tuple(interval), [7 - half, 7 + half], atol=0.05)
    assert "at their worst" in interval.note
    assert (a - 2 * b).standard_error == pytest.approx(half / stats.norm.ppf(0.95), rel=0.05)
    assert "worst" not in (a - 2 * b).interval(kind="privacy").note


def test_confidence_over_an_answer_that_has_none_says_that_answers_reason():
    class Dataset(FakeOutcome):
        def draws(self, count, rng, kind):
            if kind == "confidence":
                raise Unavailable("no population is meant")
            return super().draws(count, rng, kind)

    count = pending("hiv.count()")
    count.measurement.fill((make_release(),), Dataset(100.0))
    with pytest.raises(Unavailable, match="no population is meant"):
        (count * released(0.5)).interval(kind="confidence")


def test_confidence_over_very_many_answers_is_refused_with_the_way_out():
    total = released(0.0, id="z")
    for place in range(200):
        total = total + released(1.0, f"q{place}", id=f"i{place}")
    with pytest.raises(Unavailable, match="Sum a vector"):
        total.interval(kind="confidence")
    assert total.interval(kind="privacy").width > 0


def test_a_public_number_does_not_count_as_a_release():
    q, n = released(0.7, sd=0.1), pending("people.count()")
    n.measurement.fill((), FakeOutcome(1000.0))
    low, high = q.interval(0.9)
    assert tuple((q * n).interval(0.9)) == pytest.approx((1000 * low, 1000 * high))
    assert tuple((n * 2).interval(0.9, "privacy")) == pytest.approx((2000.0, 2000.0))


def test_standard_errors_of_derived_estimates_follow_the_draws():
    h = released([1.0, 2.0], sd=0.1, se=0.2)
    assert (h[0] + h[1]).standard_error == pytest.approx(np.hypot(0.1, 0.2) * 2**0.5, rel=0.05)


def test_a_selection_has_images_but_no_draws():
    median = released(31.0, "age.median()", additive=False)
    low, high = median.interval(0.9, "privacy")
    assert tuple((median - 18).interval(0.9, "privacy")) == pytest.approx((low - 18, high - 18))
    with pytest.raises(Unavailable, match="selection"):
        (median - released(0.5)).interval(kind="privacy")


def test_an_answer_of_two_draws_is_rightly_correlated_with_one_of_them():
    class Average(FakeOutcome):
        def draws(self, count, rng, kind):
            noise = [rng.of(name).normal(0, 0.1, count) for name in ("a1-0", "a2-0")]
            return self.value - (noise[0] + noise[1]) / 2

    class Single(FakeOutcome):
        def draws(self, count, rng, kind):
            return self.value - rng.of("a1-0").normal(0, 0.1, count)

    q, combined = pending("q"), pending("q")
    q.measurement.fill((make_release(id="a1"),), Single(0.7))
    combined.measurement.fill((make_release(id="a1"), make_release(id="a2")), Average(0.69))
    half = (combined - q).interval(kind="privacy").half_width
    assert half == pytest.approx(1.96 * 0.1 / 2**0.5, rel=0.05)


def test_streams_of_a_release_are_the_same_wherever_they_are_used():
    alone, joint = DrawGenerator(("a",)), DrawGenerator(("a", "b"))
    assert alone.random() == DrawGenerator(("a",)).random()
    assert alone.of("a:sum").random() == joint.of("a:sum").random()
    assert alone.of("a:sum").random() != alone.of("a:count").random()
    assert alone.of("sampling").random() != joint.of("sampling").random()
    assert DrawGenerator(("a",), 1).random() != DrawGenerator(("a",), 2).random()


def test_large_vectors_are_drawn_in_pieces_and_too_large_ones_refused():
    h = released(np.ones(6_000), sd=0.1)
    interval = (h / h.sum()).interval(0.9, "privacy")
    assert interval.low.shape == (6_000,)
    big = released(np.ones(200_001), sd=0.1)
    with pytest.raises(Unavailable, match="index it first"):
        (big / big.sum()).interval(0.9, "privacy")
    assert (big * 2).interval(0.9, "privacy").low.shape == (200_001,)
    assert fill(pending()).interval(0.9).kind == "confidence"


@pytest.mark.soak
@pytest.mark.parametrize("law", ["normal", "laplace"])
def test_soak_linear_coverage_is_within_a_tight_band(law):
    repeats = 20_000

    def make(rng, seed):
        a, b = noisy(rng, seed, "a", 3.0, 1.0, law), noisy(rng, seed, "b", -2.0, 0.5, law)
        return 2 * a - 3 * b + 1

    hits = coverage(make, 13.0, repeats)
    # 10,000 draws place each end with a relative error of the tail of 2 %: half a percent of slack
    assert too_few(repeats, 0.945) <= hits <= too_many(repeats, 0.955)
