"""Studies that share their random numbers: each loss has its own law to the letter, and more loss never means more noise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpnb import simulate
from dpnb.errors import OptionError
from dpnb.inference.law import law_of
from dpnb.simulate.coverage import Run, designed, draw_studies
from dpnb.simulate.studies import inverted

LOSSES = {"epsilon": [0.02, 0.3, 5.0], "rho": [0.0005, 0.05, 3.0]}


def mechanisms(kind):
    """Return the mechanism of a sum at each loss."""
    design = designed("sum", simulate.beta(2, 5), 200, {kind: LOSSES[kind]}, "privacy", 10, 1, common=True)
    return [item.parts[0].mechanism for item in Run(design, 200).items]


def misfit(noise, law):
    """Return the chi-square p value of noise in twenty bins of about equal probability, and the law's exact pmf."""
    edges = np.unique(law.quantile(np.linspace(0.05, 0.95, 19)))
    counts = np.bincount(np.searchsorted(edges, noise), minlength=edges.size + 1)
    shares = np.diff([0.0, *law.cdf(edges), 1.0])
    there = shares > 1e-6
    return stats.chisquare(counts[there], shares[there] / shares[there].sum() * counts[there].sum()).pvalue


@pytest.mark.parametrize("kind", LOSSES)
def test_inverted_noise_has_the_law_of_the_mechanism(kind):
    """At every loss the noise fits the law of its mechanism, and not one that is a tenth wider."""
    for place, mechanism in enumerate(mechanisms(kind)):
        noise = inverted(mechanism, np.zeros(40_000), np.random.default_rng(5))
        assert misfit(noise, law_of(mechanism)) > 1e-4
        if place == 0:  # wide noise, where a tenth is seen
            assert misfit(np.round(noise * 1.1), law_of(mechanism)) < 1e-6


@pytest.mark.parametrize("kind", LOSSES)
def test_more_loss_never_means_more_noise(kind):
    """Every study's noise keeps its sign and shrinks with the loss: the quantile of one uniform."""
    noise = np.stack([inverted(one, np.zeros(5_000), np.random.default_rng(3)) for one in mechanisms(kind)])
    assert np.all(np.diff(np.abs(noise), axis=0) <= 0)
    assert np.all(noise[0] * noise[2] >= 0)
    assert np.abs(noise[0]).mean() > 5 * np.abs(noise[2]).mean()


def test_a_study_is_the_same_beside_other_losses():
    """With common noise a study at one loss is that study, whatever other losses stand beside it; its rows are those of old."""
    source = simulate.beta(2, 5)
    several, truths = draw_studies("mean", source, 200, [0.1, 1, 5], 50, 4, common=True)
    alone, same = draw_studies("mean", source, 200, [1], 50, 4, common=True)
    _, old = draw_studies("mean", source, 200, [1], 50, 4)
    assert np.array_equal(several.value[1], alone.value[0])
    assert np.array_equal(truths, same)
    assert np.array_equal(truths, old)


def test_the_noise_of_a_selected_grid_point_is_shared():
    """A median's noise is shared too: towards a large loss every study ends at its own median."""
    found, truths = draw_studies(
        "quantile", simulate.beta(2, 5), 300, [0.3, 1, 80], 100, 4, common=True, q=0.5
    )
    error = np.abs(found.value[:, :, 0] - truths[:, 0])
    assert np.all(np.diff(error.mean(axis=1)) < 0)
    assert np.corrcoef(found.value[0, :, 0], found.value[1, :, 0])[0, 1] > 0.5


def test_seeded_results_of_old_stay():
    """Without the option every loss keeps a seed of its own, as it always had: these numbers were found before there was one."""
    found = simulate.coverage("mean", simulate.beta(2, 5), n=200, losses=[0.5, 2], reps=200, rng=7)
    assert found.table()["coverage"] == (0.975, 0.95, 0.98, 0.94)
    assert "common" not in found.code()


def test_the_code_of_common_noise_reproduces_it():
    """The option is in the code; anything but True or False is refused."""
    found = simulate.coverage("mean", simulate.beta(2, 5), n=200, losses=[0.5, 2], reps=50, common=True)
    again = eval(found.code(), {"simulate": simulate})  # noqa: S307 - it is our own text
    for column in ("epsilon", "coverage", "width"):
        assert again.table()[column] == found.table()[column]
    with pytest.raises(OptionError, match="common= is True or False"):
        simulate.coverage("mean", simulate.beta(2, 5), n=200, common=1)
