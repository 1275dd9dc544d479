"""Sample and aggregate, synthetic rows, gradient descent, Rényi curves: laws, audits below the claim, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from dpnb import lessons
from dpnb.audit import audit
from dpnb.errors import LossError, OptionError
from dpnb.risk.curves import gaussian_epsilon

GRID = [0, 1, 2, 3, 4]
VALUES = [1, 1, 2, 3, 4, 4, 4]


def test_the_private_median_follows_its_law_and_not_one_ten_percent_off():
    runs = 200_000
    seen = [np.sum(lessons.private_median(VALUES, GRID, 2, 3, size=runs) == g) for g in GRID]
    p_value = lambda loss: (
        stats.chisquare(seen, runs * np.array(list(lessons.median_law(VALUES, GRID, loss).values()))).pvalue
    )
    assert p_value(2) > 1e-4
    assert max(p_value(1.8), p_value(2.2)) < 1e-12


def test_the_private_median_has_the_weights_written_by_hand():
    """The weight of a point is exp(-ε |below - above| / 4), counted value by value."""
    found = list(lessons.median_law(VALUES, GRID, 2).values())
    by_hand = [abs(sum(v < g for v in VALUES) - sum(v > g for v in VALUES)) for g in GRID]
    weights = np.exp(-2 * np.array(by_hand) / 4)
    np.testing.assert_allclose(found, weights / weights.sum(), rtol=1e-12)


@pytest.mark.parametrize("other", [[4, 1, 2, 3, 4, 4, 4], [1, 1, 2, 3, 0, 4, 4], [1, 1, 2, 0, 4, 4, 4]])
def test_an_exact_audit_of_the_private_median_stays_below_its_claim(other):
    verdict = audit(lambda values: lessons.median_law(values, GRID, 1), (VALUES, other), 1)
    assert verdict.exact
    assert 0.1 < verdict.loss <= 1


def test_a_failing_block_gives_nothing_away():
    """A statistic that fails on every block is answered from the grid."""
    assert lessons.sample_and_aggregate([1, 2, 3], lambda rows: 1 / 0, 3, GRID, 1, 1).value in GRID


def test_the_noise_of_marginals_has_its_scale_and_not_one_ten_percent_off():
    """Chi-square of one cell's noise over many measurements: scale k/ε = 2 for two columns at ε = 1."""
    rng = np.random.default_rng(8)
    data, sizes = {"a": [0, 1], "b": [0, 0]}, {"a": 100, "b": 100}
    draws = np.concatenate(
        [lessons.noisy_marginals(data, sizes, {"b": "a"}, 1, rng)["b"].ravel()[200:] for _ in range(20)]
    )
    seen = np.bincount(np.clip(draws, -8, 8) + 8, minlength=17)

    def p_value(scale):
        k = np.arange(-400, 401)
        pmf = np.exp(-np.abs(k) / scale)
        share = np.bincount(np.clip(k, -8, 8) + 8, pmf / pmf.sum(), minlength=17)
        return stats.chisquare(seen, draws.size * share).pvalue

    assert p_value(2) > 1e-4
    assert max(p_value(1.8), p_value(2.2)) < 1e-12


def test_an_audit_of_noisy_marginals_stays_below_its_claim():
    def mechanism(rows, rng):
        data = {"a": rows, "b": rows}
        found = lessons.noisy_marginals(data, {"a": 2, "b": 2}, {"b": "a"}, 1, rng)
        return [found["a"][1], found["b"][1, 1]]

    verdict = audit(mechanism, ([0, 1], [0, 1, 1]), 1, trials=8000)
    assert not verdict.breaks
    assert verdict.loss > 0.3


def test_synthetic_rows_keep_the_two_way_tables_of_the_tree():
    rng = np.random.default_rng(2)
    a = rng.integers(0, 3, 50_000)
    b = (a + (rng.random(50_000) < 0.2)) % 3
    made = lessons.synthetic_rows({"a": a, "b": b}, {"a": 3, "b": 3}, {"b": "a"}, 1, 4)
    table = lambda x, y: np.bincount(3 * x + y, minlength=9) / len(x)
    np.testing.assert_allclose(table(made.columns["a"], made.columns["b"]), table(a, b), atol=0.01)


X, Y = np.array([[1.0, 0.5], [1.0, -0.5], [1.0, 1.0]]), np.array([0, 1, 1])


def test_one_step_of_gradient_descent_has_its_noise_and_not_one_ten_percent_off():
    """A KS test against the normal law of the first step: accepted at σ, refused 10 % off."""
    fit = lessons.gradient_descent(X, Y, 0.5, 3, steps=1, rate=3, clip=10, size=40_000)
    centre = Y @ X
    z = (fit.coefficients - centre).ravel() / fit.noise
    assert fit.noise == pytest.approx(20)
    assert stats.kstest(z, "norm").pvalue > 1e-4
    assert max(stats.kstest(z * s, "norm").pvalue for s in (0.9, 1.1)) < 1e-12


def test_an_audit_of_logistic_descent_stays_below_its_claim():
    """Linear descent is audited beside its wrong versions."""

    def mechanism(y, size, rng):
        return lessons.gradient_descent(
            X, y, 0.5, rng, model="logistic", steps=3, clip=0.5, size=size
        ).coefficients

    claim = float(gaussian_epsilon(1, 1e-3))
    verdict = audit(mechanism, (np.array([0, 1, 1]), np.array([0, 1, 0])), claim, delta=1e-3)
    assert not verdict.breaks
    assert verdict.loss > 0.2


def test_logistic_descent_finds_the_coefficients_when_its_loss_is_large():
    rng = np.random.default_rng(6)
    x = np.c_[np.ones(20_000), rng.uniform(-1, 1, 20_000)]
    y = rng.random(20_000) < 1 / (1 + np.exp(-x @ [0.3, 1.0]))
    fit = lessons.gradient_descent(x, y, 5, 1, model="logistic", steps=150, clip=2, rate=2)
    np.testing.assert_allclose(fit.coefficients, [0.3, 1.0], atol=0.1)


@pytest.mark.parametrize("order", [1.5, 2, 8])
def test_renyi_curves_agree_with_the_integral(order):
    """The divergence by quadrature with scipy's densities, for Laplace and Gaussian noise."""
    for curve, law in [
        (lessons.laplace_curve(2), stats.laplace(scale=2)),
        (lessons.gaussian_curve(2), stats.norm(scale=2)),
    ]:
        inside = lambda x, law=law: math.exp(order * law.logpdf(x - 1) + (1 - order) * law.logpdf(x))
        total = sum(integrate.quad(inside, a, b)[0] for a, b in [(-40, 0), (0, 1), (1, 20), (20, 60)])
        assert float(curve(order)[0]) == pytest.approx(math.log(total) / (order - 1), abs=1e-7)


def test_the_curve_of_randomised_response_is_its_sum_and_tends_to_epsilon():
    p = 1 / (1 + math.exp(-1))
    curve = lessons.randomised_response_curve(1)
    assert float(curve(3)[0]) == pytest.approx(math.log(p**3 / (1 - p) ** 2 + (1 - p) ** 3 / p**2) / 2)
    assert float(curve(1e6)[0]) == pytest.approx(1, abs=1e-4)


def test_a_converted_epsilon_lies_above_the_exact_one_and_near():
    """Ten Gaussians of σ = 5 are one of μ = √10/5, whose exact ε is known."""
    exact = float(gaussian_epsilon(math.sqrt(10) / 5, 1e-6))
    found = lessons.composed([lessons.gaussian_curve(5)] * 10).epsilon(1e-6)
    assert exact <= found <= 1.15 * exact
    assert (10 * lessons.gaussian_curve(5)).epsilon(1e-6) == pytest.approx(found)


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (LossError, lambda: lessons.private_median([1], GRID, 0, 1)),
        (OptionError, lambda: lessons.private_median([1], [1, 0], 1, 1)),
        (OptionError, lambda: lessons.sample_and_aggregate([1], np.mean, 2, GRID, 1, 1)),
        (OptionError, lambda: lessons.noisy_marginals({"a": [0]}, {"a": 2}, {"a": "a"}, 1, 1)),
        (OptionError, lambda: lessons.noisy_marginals({"a": [0]}, {"b": 2}, {}, 1, 1)),
        (OptionError, lambda: lessons.gradient_descent(X, [1, 2], 1, 1)),
        (LossError, lambda: lessons.gradient_descent(X, Y, 0, 1)),
        (OptionError, lambda: lessons.gradient_descent(X, 3 * Y, 1, 1, model="logistic")),
        (OptionError, lambda: lessons.gaussian_curve(1)(1)),
        (OptionError, lambda: lessons.composed([])),
        (LossError, lambda: lessons.gaussian_curve(1).epsilon(1)),
    ],
)
def test_bad_input_is_refused_with_what_to_give(error, call):
    with pytest.raises(error):
        call()
