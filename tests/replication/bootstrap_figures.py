"""The figures of 000, redrawn from fresh simulations."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from dpnb.exhibits.composing import exact_share
from dpnb.risk.bootstrap import multiplicities
from tests.replication import bootstrap
from tests.replication.canvas import (
    ACCENT,
    COLOURS,
    INK,
    SOFT,
    STYLES,
    WARN,
    Drawn,
    canvas,
    densities,
    lines,
    logarithmic,
    named,
)

# ---------------------------------------------------------------- 000


def _logarithm(_: np.random.Generator, reps: int) -> Drawn:
    figure, (axes,) = canvas()
    exponents = np.linspace(2, 10, 81)
    axes.plot(exponents, [bootstrap.classic_threshold(-x) for x in exponents], color=ACCENT, linewidth=1.8)
    axes.set_xticks([2, 4, 6, 8, 10], ["$10^{-2}$", "$10^{-4}$", "$10^{-6}$", "$10^{-8}$", "$10^{-10}$"])
    named(axes, "δ", "ln(1.25/δ)", legend=None)
    return Drawn(
        "000 Fig 2",
        "The number of Laplace answers whose average was said to beat Gaussian noise.",
        f"A straight line from {math.log(125):.1f} at δ 0.01 to {math.log(1.25e10):.1f} at δ 1e-10.",
        figure,
    )


def _normal_tests(rng: np.random.Generator, reps: int) -> Drawn:
    figure, axes = canvas(2)
    ks = range(1, 21) if reps > 1_000 else bootstrap.AVERAGED
    found = [bootstrap.normality(k, max(reps // 2, 200), rng) for k in ks]
    for place, (title, y) in enumerate(
        (("kept as normal at 5 %", "%"), ("picks the true normal of two", "%"))
    ):
        pairs = np.array([pair[place] for pair in found]) * 100
        lines(axes[place], ks, {"Anderson-Darling": pairs[:, 0], "Shapiro-Wilk": pairs[:, 1]})
        named(axes[place], "k, Laplaces averaged", y, title)
    axes[0].axhline(95, color=SOFT, linewidth=0.8)
    axes[1].axhline(50, color=SOFT, linewidth=0.8)
    kept = 100 * found[list(ks).index(10)][0]
    return Drawn(
        "000 Fig 3",
        "Is the average of k Laplaces normal? 100 draws, critical values simulated. In print the two labels are swapped.",
        f"Two rising curves of tests that keep normality: at k = 10 Anderson-Darling keeps {kept[0]:.0f} %, Shapiro-Wilk "
        f"{kept[1]:.0f} %; and two falling curves of picking the true normal, near one half from k = 10.",
        figure,
    )


def _multiplicities_figure(_: np.random.Generator, reps: int) -> Drawn:
    figure, axes = canvas(2)
    odds = np.array(multiplicities(1_000))[:8]
    times = np.arange(odds.size)
    for axis, heights, y, title in (
        (axes[0], odds, "share of rows", "how often a row is drawn"),
        (axes[1], times * odds, "share of the noise", "what its part is noised by, i p"),
    ):
        axis.bar(times, heights, color=ACCENT, width=0.6)
        named(axis, "i, times in one resample", y, title, legend=None)
    return Drawn(
        "000 Fig 4",
        "A resample of 1,000 rows holds a row i times with probability p; the parts' noise adds up to that of one answer.",
        f"Bars: {100 * odds[0]:.1f} % of rows are left out, {100 * odds[1]:.1f} % come once, {100 * odds[2]:.1f} % twice, and few more "
        "often; weighted by i the shares sum to one.",
        figure,
    )


def _schematic(rng: np.random.Generator, reps: int) -> Drawn:
    figure, (axes,) = canvas()
    rows = 12
    times = np.bincount(rng.integers(0, rows, rows), minlength=rows)
    for i in range(int(times.max()) + 1):
        held = np.flatnonzero(times == i)
        axes.plot(held, [i] * held.size, "s", color=COLOURS[i % 4], markersize=11)
        for row in held:
            axes.text(row, i, str(row + 1), ha="center", va="center", fontsize=6.5, color="white")
        said = "left out" if i == 0 else f"its sum × {i}, noise {i}·p·D²k/2ρ"
        axes.text(rows, i, said, va="center", fontsize=8, color=INK)
    axes.set_xlim(-0.7, rows + 5)
    axes.set_ylim(-0.6, times.max() + 0.6)
    axes.set_xticks([])
    axes.set_yticks(range(int(times.max()) + 1))
    axes.grid(visible=False)
    named(axes, "the rows of the data", "times drawn", legend=None)
    return Drawn(
        "000, the partition of one resample",
        "The rows are cut into parts by how often this resample holds them; each part is asked once, with noise in proportion.",
        f"Twelve numbered rows on {times.max() + 1} lines: {int((times == 0).sum())} left out, {int((times == 1).sum())} drawn once, "
        f"{int((times > 1).sum())} more often. Beside each line the noise of its part.",
        figure,
    )


def _one_example(rng: np.random.Generator, reps: int) -> Drawn:
    figure, (axes,) = canvas()
    studies = bootstrap.normal_studies(1, rng)
    *_, made = bootstrap.coverages(studies, 50, rng)
    values = bootstrap.STEP * (made.values[0] - studies[1])
    spread = float(bootstrap.STEP * math.sqrt(made.noise_variance))
    at = np.linspace(-0.35, 0.35, 200)
    truth = np.exp(-0.5 * 500 * at**2) * math.sqrt(500 / (2 * math.pi))
    densities(axes, {"50 noised resamples of one study": values}, -0.35, 0.35)
    axes.plot(at, truth, STYLES[1], color=WARN, linewidth=1.4, label="sampling distribution of the mean")
    axes.axvline(float(values.mean()), color=SOFT, linewidth=1)
    axes.set_ylim(0, 13)
    named(axes, "mean", "density")
    return Drawn(
        "000 Fig 6",
        "One study: fifty resamples, each with its noise; n = 500, ρ = .5, data within ± 3 (the range is assumed). The line is their average.",
        f"A broad histogram of fifty values, noise sd {spread:.3f}, around {values.mean():.3f}; the sampling distribution of the mean, sd "
        ".045, is far narrower.",
        figure,
    )


def _one_shot_figure(rng: np.random.Generator, reps: int) -> Drawn | None:
    ages = bootstrap.age_population("california")
    if ages is None:
        return None
    figure, axes = canvas(2)
    found = bootstrap.one_shot(ages, max(reps, 400), 50, rng)
    means = {"one answer": found["one answer"], "average of 50 resamples": found["average"]}
    densities(axes[0], means, -3, 3)
    named(axes[0], "error of the mean age", "density", "released", legend="upper left")
    densities(axes[1], {"average ÷ its standard error": found["z"]}, -4, 4)
    at = np.linspace(-4, 4, 200)
    axes[1].plot(
        at,
        np.exp(-0.5 * at**2) / math.sqrt(2 * math.pi),
        STYLES[1],
        color=WARN,
        linewidth=1.4,
        label="normal",
    )
    named(axes[1], "z", "", "z-scores", legend="upper left")
    sds = ", ".join(f"{name} {values.std(ddof=1):.3f}" for name, values in means.items())
    return Drawn(
        "000 Fig 8",
        "The mean age of 500 adults of California at ρ = .5: one noised answer, and the average of fifty noised resamples with its z-scores "
        "(conservative).",
        f"Two bell curves that nearly coincide, standard deviations: {sds}. The z-scores have standard deviation "
        f"{found['z'].std(ddof=1):.2f}, narrower than the normal curve.",
        figure,
    )


def _splitting(_: np.random.Generator, reps: int) -> Drawn:
    figure, (axes,) = canvas()
    ks = (1, 2, 5, 10, 20, 50, 100)
    exact = [min(k, bootstrap.split_variance(0.5, k, exact_share(0.5, k, 1e-6))) for k in ks]
    lines(
        axes,
        ks,
        {
            "pure ε": ks,
            "exact composition": exact,
            "as printed": [math.log(1e6)] * len(ks),
            "zCDP": [1.0] * len(ks),
        },
    )
    logarithmic(axes, ks, (1, 2, 5, 10, 20, 50, 100))
    named(axes, "k, equal shares", "variance × one answer's")
    return Drawn(
        "000 Remark 1",
        "What splitting ε = 0.5 (δ = 1e-6) into k equal shares costs in variance, relative to the same number of free answers.",
        f"The pure cost rises with k to 100; the exact (ε, δ) cost rises with it and levels off at {exact[-1]:.1f}, above the "
        "printed 13.8; concentrated privacy stays at 1.",
        figure,
    )


def _error_spread(rng: np.random.Generator, reps: int) -> Drawn:
    figure, axes = canvas(2)
    for axis, k in zip(axes, (10, 50), strict=True):
        *_, made = bootstrap.coverages(bootstrap.normal_studies(reps, rng), k, rng)
        errors = {kind: bootstrap.STEP * made.published_standard_error(kind) for kind in bootstrap.KINDS}
        densities(axis, errors, 0, 0.13)
        axis.axvline(1 / math.sqrt(500), color=SOFT, linewidth=1)
        named(axis, "standard error", "density", f"k = {k}", legend="upper right" if k == 10 else None)
    return Drawn(
        "000, standard errors",
        "Standard errors from k noised resamples, n = 500, ρ = .5; the line is the truth, .0447.",
        "Histograms of three readings of the standard error. The unbiased one has a peak at zero and spreads around the truth; "
        "the conservative ones lie to the right of it.",
        figure,
    )


def _coverage_by_k(
    source: str, studies: Callable[[], bootstrap.Studies], words: str, rng: np.random.Generator
) -> Drawn:
    figure, axes = canvas(2)
    ks = (5, 10, 25, 50, 100, 200)
    shares: dict[str, list[float]] = {kind: [] for kind in bootstrap.KINDS}
    widths: dict[str, list[float]] = {kind: [] for kind in bootstrap.KINDS}
    for k in ks:
        covered, errors, _ = bootstrap.coverages(studies(), k, rng)
        for kind, share, error in zip(bootstrap.KINDS, covered, errors, strict=True):
            shares[kind].append(100 * float(share))
            widths[kind].append(float(error / errors[0]))
    lines(axes[0], ks, widths)
    lines(axes[1], ks, shares)
    axes[1].axhline(95, color=SOFT, linewidth=0.9)
    for one in axes:
        logarithmic(one, ks)
    named(axes[0], "k, resamples", "width × unbiased", "width", legend="upper left")
    named(axes[1], "k, resamples", "coverage, %", "coverage, 95 % nominal", legend=None)
    at = ks.index(50)
    said = ", ".join(f"{kind} {shares[kind][at]:.1f} %" for kind in bootstrap.KINDS)
    return Drawn(
        source,
        f"Published intervals from k noised resamples, n = 500, ρ = .5; {words}.",
        f"Coverage at k = 50: {said}. The unbiased reading falls below 95 % and stays there; the others rise above it with k.",
        figure,
    )


def _fig7a(rng: np.random.Generator, reps: int) -> Drawn:
    figure, (axes,) = canvas()
    ks = (5, 10, 25, 50, 100, 200)
    found = [bootstrap.relative_errors(max(reps // 2, 200), k, rng) for k in ks]
    for kind, colour, style in zip(bootstrap.KINDS, COLOURS, STYLES, strict=False):
        bands = np.array([np.quantile(one[kind], [0.05, 0.5, 0.95]) for one in found])
        axes.fill_between(ks, bands[:, 0], bands[:, 2], color=colour, alpha=0.15, linewidth=0)
        axes.plot(ks, bands[:, 1], style, color=colour, marker="o", markersize=3.5, linewidth=1.5, label=kind)
    axes.axhline(1, color=SOFT, linewidth=0.9)
    logarithmic(axes, ks)
    named(axes, "k, resamples", "standard error ÷ truth")
    below = 100 * float((found[ks.index(50)]["conservative"] < 1).mean())
    return Drawn(
        "000 Fig 7a",
        "Standard errors from k noised resamples over the truth: medians, and where 90 % lie. n = 500, ρ = .5, data within ± 3 (assumed).",
        f"Three bands over k. The conservative one is above the truth in most studies, and below it in {below:.1f} % at k = 50, where print "
        "says never.",
        figure,
    )


def _fig7(rng: np.random.Generator, reps: int) -> Drawn:
    studies = partial(bootstrap.normal_studies, max(reps // 2, 100), rng)
    return _coverage_by_k("000 Fig 7b", studies, "standard normal data within ± 3 (assumed)", rng)


def _fig8(rng: np.random.Generator, reps: int) -> Drawn | None:
    ages = bootstrap.age_population("california")
    if ages is None:
        return None
    studies = partial(bootstrap.age_studies, ages, max(reps // 2, 100), rng)
    return _coverage_by_k("000 section 8", studies, "adults of California by the census's age groups", rng)


DRAW: tuple[Callable[[np.random.Generator, int], Drawn | None], ...] = (
    _logarithm,
    _normal_tests,
    _splitting,
    _multiplicities_figure,
    _schematic,
    _one_example,
    _error_spread,
    _fig7a,
    _fig7,
    _one_shot_figure,
    _fig8,
)
"""Those of 000, in the order of print where that is known."""
