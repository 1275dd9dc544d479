"""Chi-square tests of noised tables: levels at most nominal, power, agreement with the textbook where the noise is small."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpnb.inference.chi_square import goodness_of_fit, independence
from dpnb.inference.fast_noise import discrete_gaussian, discrete_laplace
from tests.examples import mostly_long

EVEN, SKEWED, RARE = ([0.5, 0.5], [0.5, 0.5]), ([0.9, 0.1], [0.7, 0.2, 0.1]), ([0.97, 0.03], [0.95, 0.05])
MARGINS = {"even": EVEN, "skewed": SKEWED, "rare": RARE}


def seldom(count: int, reps: int, alpha: float) -> bool:
    """Whether so many rejections are likely at the level: not above the 1 - 1e-4 quantile of the binomial law."""
    return count <= stats.binom.isf(1e-4, reps, alpha)


def noise_of(
    kind: str, amount: float, cells: int, *, public: bool
) -> tuple[float, Callable[..., np.ndarray]]:
    """The noise of a table of counts, as it is priced: two cells move under change-one, one under add-remove."""
    moves = 2 if public else 1
    if kind == "epsilon":
        scale = moves / amount
        return 2 * scale**2, lambda count, rng: discrete_laplace(scale, (count, cells), rng)
    variance = moves / (2 * amount)
    return variance, lambda count, rng: discrete_gaussian(variance, (count, cells), rng)


def p_values(
    shares: np.ndarray,
    n: int,
    loss: tuple[str, float],
    *,
    public: bool,
    reps: int,
    draws: int = 199,
    seed: int = 1,
) -> np.ndarray:
    """p-values of the test of independence in simulated studies."""
    rng = np.random.default_rng(seed)
    variance, noise = noise_of(*loss, shares.size, public=public)
    found = []
    for _ in range(reps):
        table = rng.multinomial(n, shares.ravel()) + noise(1, rng)[0]
        total = float(n) if public else None
        counts = table.reshape(shares.shape).astype(float)
        found.append(independence(counts, variance, noise, rng, total=total, draws=draws).p_value)
    return np.array(found)


SHORT = [
    (30, ("epsilon", 0.3), 200),
    (30, ("epsilon", 5.0), 200),
    (200, ("epsilon", 0.05), 200),
    (1000, ("rho", 0.01), 200),
    (50, ("rho", 1.0), 200),
]
LONG = itertools.product(
    [15, 30, 200, 2000],
    [("epsilon", 0.05), ("epsilon", 0.3), ("epsilon", 5.0), ("rho", 0.01), ("rho", 1.0)],
    [3000],
)


@pytest.mark.parametrize("public", [True, False], ids=["public size", "private size"])
@pytest.mark.parametrize(("n", "loss", "reps"), mostly_long([*SHORT, *LONG], *SHORT))
@pytest.mark.parametrize("margins", MARGINS)
def test_independence_keeps_its_level(
    margins: str, n: int, loss: tuple[str, float], reps: int, public: bool
) -> None:
    """Under independence at most 5 % are rejected at 5 %, and 1 % at 1 %, also where the noise hides the margins; of 3,000, 6.5 % would be noticed."""
    draws, levels = (199, (0.05, 0.01)) if reps == 200 else (399, (0.1, 0.05, 0.01))
    found = p_values(np.outer(*MARGINS[margins]), n, loss, public=public, reps=reps, draws=draws)
    for alpha in levels:
        assert seldom(int((found <= alpha).sum()), reps, alpha), (alpha, (found <= alpha).mean())


def test_the_textbook_test_rejects_too_often_here() -> None:
    """A table with this noise, read as if it had none, is called dependent several times as often as stated."""
    rng = np.random.default_rng(1)
    _, noise = noise_of("epsilon", 0.3, 4, public=True)
    shares = np.outer(*EVEN).ravel()
    tables = np.maximum(rng.multinomial(200, shares, 200) + noise(200, rng), 1.0).reshape(-1, 2, 2)
    found = np.array([stats.chi2_contingency(table, correction=False).pvalue for table in tables])
    assert (found <= 0.05).mean() > 0.12


def test_dependence_is_found() -> None:
    """A dependence of the built-in trial's size is found with near certainty at ε = 0.5, and seldom at ε = 0.005."""
    shares = np.array([[0.14, 0.17], [0.08, 0.61]])
    strong = p_values(shares, 2800, ("epsilon", 0.5), public=True, reps=40)
    weak = p_values(shares, 2800, ("epsilon", 0.005), public=True, reps=40)
    assert (strong <= 0.05).mean() > 0.95
    assert (weak <= 0.05).mean() < 0.5


def test_without_noise_it_is_the_textbook_test() -> None:
    """With next to no noise the statistic is Pearson's, and the p-value is scipy's to Monte Carlo error."""
    table = np.array([[40.0, 55.0, 21.0], [60.0, 45.0, 29.0]])
    noise = lambda count, rng: np.zeros((count, 6))
    found = independence(table, 1e-9, noise, np.random.default_rng(1))
    known = stats.chi2_contingency(table, correction=False)
    assert found.statistic == pytest.approx(known.statistic, rel=1e-6)
    assert found.p_value == pytest.approx(known.pvalue, abs=0.015)
    assert found.df == known.dof
    shares = np.array([0.2, 0.3, 0.5])
    fit = goodness_of_fit(
        table[0], shares, 1e-9, lambda count, rng: np.zeros((count, 3)), np.random.default_rng(1)
    )
    textbook = stats.chisquare(table[0], shares * table[0].sum())
    assert fit.statistic == pytest.approx(textbook.statistic, rel=1e-6)
    assert fit.p_value == pytest.approx(textbook.pvalue, abs=0.015)


@pytest.mark.parametrize("public", [True, False], ids=["public size", "private size"])
@pytest.mark.parametrize(
    ("n", "loss"), [(20, ("epsilon", 0.2)), (20, ("epsilon", 5.0)), (500, ("rho", 0.02))]
)
def test_goodness_of_fit_keeps_its_level(n: int, loss: tuple[str, float], public: bool) -> None:
    """Counts from the given shares are rejected as seldom as stated, with a public and with a noised total."""
    rng, shares, reps = np.random.default_rng(2), np.array([0.6, 0.25, 0.1, 0.05]), 400
    variance, noise = noise_of(*loss, 4, public=public)
    found = []
    for _ in range(reps):
        table = rng.multinomial(n, shares) + noise(1, rng)[0]
        total = float(n) if public else None
        found.append(goodness_of_fit(table, shares, variance, noise, rng, total=total, draws=199).p_value)
    for alpha in (0.05, 0.01):
        assert seldom(int((np.array(found) <= alpha).sum()), reps, alpha)
    if public:
        assert stats.kstest(found, "uniform").pvalue > 1e-4


def test_wrong_shares_are_found() -> None:
    """Counts from other shares are rejected."""
    rng = np.random.default_rng(3)
    variance, noise = noise_of("epsilon", 0.5, 4, public=True)
    table = rng.multinomial(1000, [0.5, 0.3, 0.1, 0.1]) + noise(1, rng)[0]
    found = goodness_of_fit(table, np.full(4, 0.25), variance, noise, rng, total=1000.0)
    assert found.p_value == 1 / 10_000


@pytest.mark.parametrize(
    "table", [np.zeros((2, 3)), -5.0 * np.ones((2, 3)), np.eye(3) * 1e6, np.array([[-9.0, 4], [7, -8]])]
)
@pytest.mark.parametrize("total", [None, 5.0])
def test_tables_that_noise_made_impossible_are_tested(table: np.ndarray, total: float | None) -> None:
    """Empty, negative and extreme tables have a p-value between 0 and 1, without a warning."""
    _, noise = noise_of("epsilon", 0.3, table.size, public=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = independence(table, 22.0, noise, np.random.default_rng(1), total=total, draws=199)
    assert 0 < found.p_value <= 1
    assert np.isfinite(found.statistic)


def test_the_same_generator_gives_the_same_p_value() -> None:
    """A test is a function of counts, laws and the generator."""
    table: Any = np.array([[40.0, 55.0], [60.0, 45.0]])
    variance, noise = noise_of("rho", 0.01, 4, public=False)
    one, two = (independence(table, variance, noise, np.random.default_rng(5)) for _ in range(2))
    assert one == two
