"""The three-way comparison of rates reproduces the published table, and says which way is nearer."""

from __future__ import annotations

import numpy as np
import pytest

from dpnb.errors import LossError, OptionError
from dpnb.simulate.rates import METHODS, PARTS, RateResult, density_rates

# n: distance of a ks release to the population, to the data, of the data to the population
PUBLISHED = {
    100: (0.168, 0.156, 0.077),
    300: (0.091, 0.079, 0.044),
    1000: (0.046, 0.039, 0.023),
    3000: (0.025, 0.019, 0.017),
    10000: (0.016, 0.0090, 0.0099),
    30000: (0.0074, 0.0047, 0.0046),
}


def agrees(found: RateResult, within: float) -> None:
    """Means lie within some standard errors of the published ones, which are themselves means of 20 or 8 draws."""
    for place, n in enumerate(found.sizes.tolist()):
        here, error = (
            found.mean[place, METHODS.index("ks")],
            found.errors[place, METHODS.index("ks")].std(axis=-1),
        )
        draws = found.errors.shape[-1]
        spread = error * np.sqrt(1 / draws + 1 / (20 if n <= 1000 else 8))
        assert np.all(np.abs(here - PUBLISHED[n]) < within * spread + 0.0005), n


@pytest.fixture(scope="module")
def small() -> RateResult:
    return density_rates([100, 300, 1000], draws=12, rng=5)


def test_small_sizes_have_the_published_errors(small):
    """At n = 100, 300 and 1,000, all three parts of the error of the KS mechanism."""
    agrees(small, 4)


def test_the_parts_obey_the_triangle_inequality(small):
    """The distance to the population is at most privacy's part plus sampling's; sampling's is the same for all methods."""
    population, data, sampling = (small.errors[:, :, PARTS.index(part)] for part in PARTS)
    assert np.all(population <= data + sampling + 1e-12)
    assert np.all(sampling == sampling[:, :1])


def test_all_methods_are_below_the_upper_bound(small):
    """Every mean error is below n^(-1/3), and every fitted exponent is steeper."""
    assert np.all(small.mean[:, :, 0] < small.sizes[:, None] ** (-1 / 3))
    for method in METHODS:
        slope, error = small.exponent(method)
        assert slope + 2 * error < -1 / 3


def test_an_exponent_is_a_least_squares_slope():
    """Errors that follow n^-0.6 exactly have the exponent -0.6, with no simulation error."""
    sizes = np.array([10, 100, 1000])
    errors = np.broadcast_to((sizes**-0.6)[:, None, None, None], (3, 3, 3, 2)).copy()
    slope, error = RateResult(1.0, sizes, sizes, errors).exponent("laplace", "data")
    assert slope == pytest.approx(-0.6)
    assert error == pytest.approx(0, abs=1e-12)


def test_tables_and_figure_show_every_method(small):
    """Nine rows of three sizes, nine exponents, two panels with three curves and the bound."""
    assert len(small.table()) == 9
    assert len(small.exponents()) == 9
    figure = small.plot()
    assert [len(axes.get_legend().get_texts()) for axes in figure.axes] == [4, 4]


def test_bad_arguments_are_refused():
    """One size, one draw, no loss and an unknown method."""
    for bad in ({"sizes": [100]}, {"sizes": [1, 100]}, {"draws": 1}):
        with pytest.raises(OptionError, match="two"):
            density_rates(**{"sizes": [20, 30]} | bad)
    with pytest.raises(LossError):
        density_rates([20, 30], 0, draws=2)
    found = density_rates([20, 30], draws=2)
    with pytest.raises(OptionError, match="laplace"):
        found.exponent("kernel")


@pytest.mark.soak
def test_the_whole_table_and_its_exponents():
    """Six sizes: errors as published, and exponents -0.54, -0.62, -0.47 within three standard errors and 0.03."""
    found = density_rates(draws=8, rng=1)
    agrees(found, 4)
    for part, published in zip(PARTS, (-0.54, -0.62, -0.47), strict=True):
        slope, error = found.exponent("ks", part)
        assert abs(slope - published) < 3 * error + 0.03
