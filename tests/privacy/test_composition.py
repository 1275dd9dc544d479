"""Composition and conversion: closed forms, published figures, and independent implementations."""

from __future__ import annotations

import sys
from fractions import Fraction
from math import exp, log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpnb.errors import LossError
from dpnb.risk.composition import (
    advanced,
    compose_gaussian,
    equipartition,
)
from dpnb.risk.curves import (
    analytic_gaussian_sigma,
    discrete_gaussian_delta,
    discrete_gaussian_epsilon,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
)
from dpnb.risk.exact import Step, exact_epsilon
from dpnb.trusted.privacy.accountant import epsilon_of
from dpnb.trusted.privacy.loss import PrivacyLoss

positive = st.fractions("1/100", 10, max_denominator=1000)


@given(positive, st.integers(1, 60))
def test_equal_shares_never_sum_to_more_than_the_whole(amount, k):
    """Shares added up fit in what was split, and nearly fill it."""
    whole = PrivacyLoss.pure(amount)
    total = k * equipartition(whole, k).amount
    assert 0 <= whole.amount - total < Fraction(k, 10**9)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: equipartition(PrivacyLoss.pure(1), 0),
        lambda: advanced(1, 2, 0),
        lambda: gaussian_mu(1, 1),
        lambda: gaussian_epsilon(0, "1e-6"),
        lambda: discrete_gaussian_delta(10**12, 1),
        lambda: discrete_gaussian_delta(1, 1, sensitivity="0.5"),
        lambda: Step("uniform", 1),
        lambda: exact_epsilon([], "1e-6"),
    ],
)
def test_what_has_no_rule_is_refused(wrong):
    """Nothing to compose, numbers out of range."""
    with pytest.raises(LossError):
        wrong()


@given(st.floats(1e-4, 2), st.integers(1, 1000), st.floats(1e-12, 0.1))
def test_advanced_composition_is_its_formula_or_the_plain_sum_rounded_up(e, k, d):
    """Never below the closed form, never above kε."""
    found = float(advanced(e, k, d))
    formula = sqrt(2 * k * log(1 / d)) * e + k * e * (exp(e) - 1)
    assert found == pytest.approx(min(formula, k * e), rel=1e-8, abs=2e-9)
    assert advanced(e, k, d) <= k * Fraction(str(e))


@given(st.lists(st.fractions(0, 5, max_denominator=100), max_size=5))
def test_gaussian_parameters_add_as_squares_rounded_up(mus):
    """The square of the composed μ is at least the sum of squares, and no more than rounding above it."""
    total, found = sum(m * m for m in mus), compose_gaussian(mus)
    assert found * found >= total
    assert float(found) == pytest.approx(sqrt(total), abs=2e-9)


def test_the_exact_gaussian_curve_is_tighter_than_its_zcdp_conversion():
    """At ρ = .5, δ = 10⁻⁶: 4.887 exactly, 5.222 through zCDP."""
    assert float(gaussian_epsilon(1, "1e-6")) == pytest.approx(4.887, abs=5e-4)
    assert float(epsilon_of("0.5", "1e-6")) == pytest.approx(5.222, abs=5e-4)


@given(st.floats(0.01, 30), st.floats(0, 50))
def test_gaussian_delta_is_never_below_the_exact_value(mu, e):
    """Against 60-digit arithmetic, at both ends of the range."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        m, x = mpmath.mpf(mu), mpmath.mpf(e)
        exact = mpmath.ncdf(-x / m + m / 2) - mpmath.exp(x) * mpmath.ncdf(-x / m - m / 2)
        found = mpmath.mpf(gaussian_delta(Fraction(mu), Fraction(e)))
        assert found >= exact * (1 - mpmath.mpf(10) ** -15)
        assert found <= exact * (1 + mpmath.mpf(10) ** -5) + mpmath.mpf(10) ** -13


@given(st.floats(0.01, 20), st.floats(1e-12, 0.2))
def test_gaussian_conversions_are_inverse_and_safe(e, d):
    """The μ found for (ε, δ) has an ε no larger than asked, and a μ one thousandth larger does not."""
    mu = gaussian_mu(e, d)
    assert gaussian_epsilon(mu, d) <= Fraction(str(e)) + Fraction(2, 10**9)
    assert gaussian_delta(mu, e) <= d
    assert gaussian_delta(mu * Fraction(1001, 1000), e) > d


def test_the_analytic_gaussian_has_the_published_deviation_and_beats_the_classic_one():
    """Agrees with the independent implementation of dp-accounting to seven digits; rounded up."""
    common = pytest.importorskip("dp_accounting.pld.accountant").__name__
    module = sys.modules[common]
    for e, d in ((0.1, 1e-6), (1, 1e-6), (5, 1e-9)):
        theirs = module.get_smallest_gaussian_noise(
            module.common.DifferentialPrivacyParameters(e, d), num_queries=1, sensitivity=1
        )
        ours = float(analytic_gaussian_sigma(1, e, d))
        assert ours == pytest.approx(theirs, rel=1e-3)
        assert ours < sqrt(2 * log(1.25 / d)) / e


def test_the_discrete_gaussian_has_its_own_curve():
    """At σ = 1 its δ is up to 2.5 times the continuous one, and the printed ε would be too small."""
    ratios = [discrete_gaussian_delta(1, x / 20) / gaussian_delta(1, x / 20) for x in range(1, 140)]
    assert 2.4 < max(ratios) < 2.5
    assert any(
        discrete_gaussian_epsilon(1, 10**-x) > gaussian_epsilon(1, 10**-x) + Fraction(1, 50)
        for x in (3, 4, 5)
    )


@pytest.mark.parametrize(("variance", "step"), [("0.25", 1), (1, 1), (4, 3), (100, 1), (10000, 7)])
def test_the_discrete_curve_is_the_sum_over_all_integers(variance, step):
    """Brute force: Σ max(0, p(k) - e^ε p(k+Δ)); and below the zCDP conversion, which holds for discrete laws."""
    v = float(Fraction(variance))
    reach = range(-int(40 * sqrt(v)) - step, int(40 * sqrt(v)) + step + 1)
    weight = {k: exp(-k * k / (2 * v)) for k in reach}
    total = sum(weight.values())
    for e in (0.0, 0.3, 1.0, 3.0):
        brute = sum(max(0.0, w - exp(e) * weight.get(k + step, 0.0)) for k, w in weight.items()) / total
        found = discrete_gaussian_delta(variance, e, step)
        assert found == pytest.approx(brute, rel=1e-9, abs=1e-15)
    rho = Fraction(step * step) / (2 * Fraction(variance))
    assert discrete_gaussian_epsilon(variance, "1e-6", step) <= epsilon_of(rho, "1e-6")


def test_exact_composition_of_laplaces_breaks_the_published_claim():
    """100 Laplaces at 0.5/√(k ln 1/δ): true ε .536 for a claimed (0.5, 1e-6), whose true δ is 3.4e-6."""
    pytest.importorskip("dp_accounting")
    steps = [Step("laplace", 0.5 / sqrt(100 * log(1e6)), times=100)]
    assert exact_epsilon(steps, "1e-6") == pytest.approx(0.536, abs=1e-3)
    assert exact_epsilon(steps, "3.4e-6") == pytest.approx(0.5, abs=2e-3)


def test_exact_composition_agrees_with_the_closed_curves():
    """Gaussian against μ, one Laplace against 1 - e^((ε-ε₀)/2), discrete Gaussian against its own sum."""
    pytest.importorskip("dp_accounting")
    assert exact_epsilon([Step("gaussian", "0.5")], "1e-6") == pytest.approx(4.887, abs=2e-3)
    assert exact_epsilon([Step("laplace", 1)], str(1 - exp(-0.25))) == pytest.approx(0.5, abs=1e-3)
    discrete = exact_epsilon([Step("discrete-gaussian", 1)], "1e-4")
    assert discrete == pytest.approx(float(discrete_gaussian_epsilon(1, "1e-4")), abs=1e-3)
    assert exact_epsilon([Step("discrete-laplace", 2, sensitivity=2)], "1e-9") == pytest.approx(1, abs=1e-3)
    mixed = exact_epsilon([Step("pure", "0.1", times=3), Step("gaussian", "0.01")], "1e-6")
    assert mixed <= 0.3 + float(epsilon_of("0.01", "1e-6"))


def test_without_the_optional_package_the_error_names_what_to_install(monkeypatch):
    """The command to type is in the message."""
    monkeypatch.setitem(sys.modules, "dp_accounting.pld.privacy_loss_distribution", None)
    with pytest.raises(LossError, match=r'pip install "dpnb\[accounting\]"'):
        exact_epsilon([Step("laplace", 1)], "1e-6")
