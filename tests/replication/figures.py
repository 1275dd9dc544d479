"""The figures of the publications, redrawn from fresh simulations; each with a caption and a text that says what it shows.

A figure carries the number of the published one only where it is known to repeat it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpnb.simulate import density_rates
from tests.replication import bootstrap_figures, primer, social
from tests.replication.canvas import (
    ACCENT,
    HAIR,
    INK,
    SOFT,
    Drawn,
    canvas,
    cdfs,
    densities,
    lines,
    logarithmic,
    named,
    plain,
)

# ---------------------------------------------------------------- 003


def _primer_cdfs(rng: np.random.Generator, reps: int) -> Drawn:
    figure, axes = canvas(4, 2.7)
    draws = max(reps, 500)
    count: dict[str, Any] = {
        "sampling": rng.binomial(1000, 0.4, draws) - 400.0,
        "noise": rng.laplace(0, 10, draws),
    }
    cdfs(axes[0], count, -60, 60)
    named(axes[0], "error of a count", "share below", "count", legend="upper left")
    exact, noisy, _ = primer.deviations(min(draws, 2_000), rng)
    spread: dict[str, Any] = {
        "sampling": np.asarray(exact - exact.mean()),
        "noise": np.asarray(noisy - exact),
    }
    cdfs(axes[1], spread, -0.15, 0.15)
    named(axes[1], "error of a standard deviation", "", "standard deviation", legend=None)
    sizes = {
        f"n = {n:,}": primer.correlations(n, min(draws, 800), rng, opposite=False) for n in (1_000, 10_000)
    }
    cdfs(axes[2], sizes, -0.6, 0.6)
    named(axes[2], "correlation of independent columns", "", "correlation", legend="upper left")
    private, sampling = primer.median_errors(-1, 1, min(draws, 1_000), rng)
    cdfs(axes[3], {"sampling": sampling, "noise": private}, -0.12, 0.12)
    named(axes[3], "error of a median", "", "median", legend=None)
    return Drawn(
        "003",
        "Distribution functions of what sampling and what privacy do, n = 1,000 unless said, ε = 0.1.",
        "Four panels. Count and median: the two curves nearly coincide. Standard deviation: noise is about five times as wide. "
        "Correlation: useless at a thousand rows, narrow at ten thousand.",
        figure,
    )


def _rates(rng: np.random.Generator, reps: int) -> Drawn:
    figure, (axes,) = canvas()
    sizes = (100, 300, 1_000, 3_000, 10_000) if reps > 1_000 else (100, 300, 1_000)
    found = density_rates(sizes, draws=8, rng=rng)
    series = {
        name: found.mean[:, primer.KS, i]
        for i, name in enumerate(("release to truth", "release to data", "data to truth"))
    }
    lines(axes, sizes, {**series, "$n^{-1/3}$": [n ** (-1 / 3) for n in sizes]})
    logarithmic(axes, sizes, (0.01, 0.02, 0.05, 0.1, 0.2))
    named(axes, "n", "Kolmogorov-Smirnov distance")
    return Drawn(
        "002",
        "The exponential mechanism with the Kolmogorov-Smirnov score, drawn exactly, ε = 1.",
        "Three falling lines on logarithmic axes, all steeper than the published bound n to the minus one third.",
        figure,
    )


# ---------------------------------------------------------------- 004


def _difference_figure(rng: np.random.Generator, reps: int) -> Drawn:
    figure, (axes,) = canvas()
    found = social.differences(social.Study(min(reps, 4_000), rng), rng)
    names = {"sampling": "no privacy", "published": "published, ε = .5", "corrected": "corrected, ε = .5"}
    densities(axes, {names[key]: values for key, values in found.items()}, 0.57, 0.63)
    named(axes, "difference of means (truth .5983)", "density")
    sds = ", ".join(f"{names[key]} {values.std():.4f}" for key, values in found.items())
    return Drawn(
        "004 Fig 4",
        "A difference of means, n = 2,000. The corrected release is private and no wider.",
        f"Three bell curves around .598 with standard deviations: {sds}.",
        figure,
    )


def _error_figure(rng: np.random.Generator, reps: int) -> Drawn:
    figure, axes = canvas(2)
    study = social.Study(min(reps, 3_000), rng)
    first = {
        "no privacy": study.error,
        "Laplace": social.laplace_error(study, rng),
        "published, M = 200": social.standard_errors(study, 200, "published, exponent ε", rng),
    }
    densities(axes[0], first, -0.002, 0.014)
    named(axes[0], "standard error", "density", "published", legend="upper left")
    axes[0].set_yscale("symlog", linthresh=30)
    second = (
        {"no privacy": study.error}
        | {f"dyadic, M = {m}": social.standard_errors(study, m, "dyadic bins", rng) for m in (100, 250)}
        | {"right constants, M = 250": social.standard_errors(study, 250, "right constants", rng)}
    )
    densities(axes[1], second, -0.002, 0.014)
    axes[1].set_yscale("symlog", linthresh=30)
    for one in axes:
        one.set_xticks([0, 0.004, 0.008, 0.012])
        one.set_ylim(0, 1e5)
        plain(one.yaxis, (0, 30, 100, 1_000, 10_000))
    named(axes[1], "standard error", "", "corrected", legend="upper left")
    negative = 100 * float((first["Laplace"] < 0).mean())
    return Drawn(
        "004 Fig 5",
        "Standard errors of the difference, ε = .5: the published subsample-and-aggregate, which spends more than it says, and "
        "two that spend what they say. Vertical axes are logarithmic above 30.",
        f"Left: the exact standard error is a spike at .0044; Laplace noise spreads it, {negative:.0f} % below zero; the published "
        "version is nearly as narrow as the exact one. Right: dyadic bins are narrow, more so with more subsets; the Winsorized mean "
        "with right constants is wide.",
        figure,
    )


def _interval_figure(rng: np.random.Generator, reps: int) -> Drawn:
    figure, axes = canvas(2)
    epsilons = np.linspace(0.005, 2, 200)
    axes[0].plot(
        epsilons, 2_000 * social.effective_share(epsilons), color=ACCENT, linewidth=1.6, label="n_eff"
    )
    axes[0].plot([0, 1], [0, 1_500], "--", color=SOFT, linewidth=1, label="¾ ε n, as print has it below 1")
    axes[0].set_xlim(2, 0)
    axes[0].set_ylim(0, 2_000)
    named(axes[0], "ε", "people", "effective sample size of 2,000")
    study = social.Study(min(reps, 2_000), rng)
    levels = np.linspace(0.5, 0.99, 25)
    estimate = study.difference + rng.laplace(0, social.SCALE, study.difference.size)
    error = social.standard_errors(study, 200, "dyadic bins", rng)
    ways = {"exact quantile": social.exact_coverage, "−ln(1 − level) σ": social.rule_coverage}
    covered = {
        name: [100 * way(estimate, error, level) for level in levels.tolist()] for name, way in ways.items()
    }
    lines(axes[1], 100 * levels, covered, marker="")
    axes[1].plot([50, 99], [50, 99], color=SOFT, linewidth=0.9)
    named(axes[1], "nominal, %", "covered, %", "intervals of a difference")
    return Drawn(
        "004 Fig 6 and Alg 2",
        "Effective sample size of a difference of means (outcome sd .1), and how often its intervals cover, ε = .5 + .5.",
        "Left: a curve that falls with ε, from 1,818 people at 2 to 769 at .5 and 49 at .1, where the straight line of print has 150. Right: the exact quantile follows the diagonal; the published rule for the "
        "scale lies above it.",
        figure,
    )


def _regression_figure(rng: np.random.Generator, reps: int) -> Drawn:
    figure, (axes,) = canvas()
    epsilons = (0.1, 0.2, 0.5, 1.0, 2.0)
    sets = 8 if reps > 1_000 else 2
    rows = 50_000 if reps > 1_000 else 10_000
    gains = [social.regression_gain(epsilon, sets, rng, rows) for epsilon in epsilons]
    for epsilon, gain in zip(epsilons, gains, strict=True):
        axes.plot([epsilon] * gain.size, gain, "o", color=ACCENT, markersize=3.5, alpha=0.5)
    axes.plot(
        epsilons, [float(np.median(gain)) for gain in gains], "-", color=INK, linewidth=1.4, label="median"
    )
    axes.axhspan(50, 70, color=HAIR, alpha=0.6, label="printed: 50 to 70, settings unknown")
    logarithmic(axes, epsilons, (5, 10, 20, 50, 100, 200))
    named(axes, "ε", "MSE, box over clipped ball")
    return Drawn(
        "004, clipping in the place of trimming",
        f"What a clipped row saves in the mean squared error of slopes: ten columns, n = {rows:,}, δ = 1e-6. No row is dropped.",
        "Points for several data sets at five ε; the median falls from about "
        f"{np.median(gains[0]):.0f} at ε 0.1 to {np.median(gains[-1]):.0f} at ε 2.",
        figure,
    )


_DRAW: tuple[Callable[[np.random.Generator, int], Drawn | None], ...] = (
    *bootstrap_figures.DRAW,
    _rates,
    _primer_cdfs,
    _difference_figure,
    _error_figure,
    _interval_figure,
    _regression_figure,
)


def figures(*, quick: bool = False, seed: int = 2018) -> Iterator[Drawn]:
    """Yield the figures; one that needs a study whose package is missing is left out."""
    for draw in _DRAW:
        made = draw(np.random.default_rng(seed), 300 if quick else 4_000)
        if made is not None:
            yield made
