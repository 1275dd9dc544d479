"""Combined intervals hold about the population."""

import numpy as np
import pytest

from dpnb.synthetic import rows
from dpnb.synthetic.combine import Combined
from tests.synthetic.populations import coverage, population, skewed, surveyed


def upper(share, count, z=3.29):
    """The upper end of the 99.9 % Wilson interval."""
    return (share + z**2 / 2 / count + z * np.sqrt(share * (1 - share) / count + z**2 / 4 / count**2)) / (
        1 + z**2 / count
    )


class Naive(Combined):
    """What an interval of one table, or of all as if their rows were people, says."""

    @property
    def _total(self):
        return self.within, np.full(len(self.within), 1e6)


def test_intervals_of_a_few_repetitions_hold_and_those_of_rows_as_people_do_not():
    p = population(5, 0.09)
    (held, naive), g = coverage(p, 5000, 0.0244, 5, kinds=(Combined, Naive))
    assert g > 5
    assert held.mean() > 0.85
    assert naive.mean() < 0.8


@pytest.mark.soak
@pytest.mark.parametrize(
    ("seed", "strength", "size", "rho", "adjacency"),
    [(5, 0.09, 5000, 0.0244, "change-one"), (11, 0.16, 8000, 0.0244, "add-remove")],
)
def test_two_thousand_repetitions_hold_as_promised_from_g_of_5_on(seed, strength, size, rho, adjacency):
    (held,), g = coverage(population(seed, strength), size, rho, 2000, adjacency=adjacency)
    assert g >= 5
    assert 0.94 <= held.mean() <= 0.98
    assert (upper(held, 2000) >= 0.92).all()


@pytest.mark.soak
def test_tables_under_pure_epsilon_hold_as_promised():
    """Their noise is Laplace, and the model takes it as normal."""
    (held,), g = coverage(population(5, 0.09), 5000, 0.0244, 300, pure=True)
    assert g >= 5
    assert 0.93 <= held.mean() <= 0.98
    assert (upper(held, 300) >= 0.92).all()


@pytest.mark.soak
def test_a_model_on_a_pool_of_rows_holds_as_promised(monkeypatch):
    monkeypatch.setattr("dpnb.synthetic.posterior.MOST_PRODUCTS", 0)
    (held,), g = coverage(population(5, 0.09), 5000, 0.0244, 60)
    assert g >= 5
    assert 0.92 <= held.mean() <= 0.98
    assert (upper(held, 60) >= 0.92).all()


@pytest.mark.soak
@pytest.mark.parametrize(("rho", "weak"), [(0.0244, False), (0.0075, True)])
@pytest.mark.parametrize("made", [skewed, surveyed])
def test_populations_that_no_model_of_pairs_describes_hold_as_promised(made, rho, weak):
    """The last estimand, a three-way cell, is modelled and not measured: nothing is promised of it."""
    (held,), g = coverage(made(), 5000, rho, 300, seed=77)
    assert weak == (g < 5)
    assert held[:-1].mean() >= (0.88 if weak else 0.94)
    assert held[:-1].mean() <= 0.98
    assert weak or (upper(held[:-1], 300) >= 0.92).all()


@pytest.mark.soak
def test_weak_tables_hold_nine_in_ten():
    (held,), g = coverage(population(5, 0.09), 5000, 0.0075, 300)
    assert 1.5 <= g < 5
    assert held.mean() >= 0.88


@pytest.mark.soak
def test_a_model_that_forgets_the_noise_loses_coverage(monkeypatch):
    model_of = rows.model_of

    def forgetful(design, counts, variances, *rest):
        return model_of(design, counts, dict.fromkeys(variances, 0.1), *rest)

    monkeypatch.setattr("tests.synthetic.populations.model_of", forgetful)
    (held,), _ = coverage(population(5, 0.09), 5000, 0.0244, 60)
    assert held.mean() < 0.88
