"""The figures of the publications, redrawn from fresh simulations; each with a caption and a text that says what it shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.exhibits.composing import exact_share
from dpnb.exhibits.replicate import bootstrap, primer, social
from dpnb.inference.standard_error import noisy_interval

Floats = NDArray[np.float64]
_ACCENT, _INK, _SOFT, _WARN, _HAIR = "#0a6480", "#1c1d21", "#7b7e86", "#b05a00", "#dcdde2"
_COLOURS = (_ACCENT, _INK, _WARN, _SOFT)
_STYLES = ("-", "--", "-.", ":")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure, what it is of, its caption, and its text alternative."""

    source: str
    caption: str
    alternative: str
    figure: Any


def _canvas(panels: int = 1, height: float = 3.1) -> tuple[Any, list[Any]]:
    from matplotlib.figure import Figure

    lines, across = divmod(panels + 1, 2) if panels > 2 else (1, panels)
    across = 2 if lines > 1 else across
    figure = Figure(figsize=(4.2 * across if across > 1 else 5.6, height * lines), layout="constrained")
    axes = [figure.add_subplot(lines, across, i + 1) for i in range(panels)]
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.spines[["left", "bottom"]].set_color(_SOFT)
        one.tick_params(colors=_INK, labelsize=8.5)
        one.grid(axis="y", color=_HAIR, linewidth=0.7)
        one.set_axisbelow(True)
    return figure, axes


def _plain(axis: Any, ticks: Any) -> None:
    """Write a logarithmic axis with ordinary numbers."""
    axis.set_ticks(list(ticks), [f"{tick:,g}" for tick in ticks])
    axis.set_minor_locator(_no_ticks())


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()


def _named(axes: Any, x: str, y: str, title: str = "", *, legend: str | None = "best") -> None:
    axes.set_xlabel(x, fontsize=9, color=_INK)
    axes.set_ylabel(y, fontsize=9, color=_INK)
    if title:
        axes.set_title(title, fontsize=9.5, loc="left", color=_INK)
    if legend:
        axes.legend(frameon=False, fontsize=8, loc=legend)


def _lines(axes: Any, x: Any, series: Mapping[str, Any], marker: str = "o") -> None:
    for i, (name, y) in enumerate(series.items()):
        axes.plot(
            x,
            y,
            _STYLES[i % 4],
            color=_COLOURS[i % 4],
            marker=marker,
            markersize=3.5,
            linewidth=1.5,
            label=name,
        )


def _densities(axes: Any, samples: Mapping[Any, Floats], low: float, high: float) -> None:
    for i, (name, values) in enumerate(samples.items()):
        heights, edges = np.histogram(values, 48, (low, high))
        density = heights / max(values.size, 1) / (edges[1] - edges[0])
        axes.stairs(
            density, edges, color=_COLOURS[i % 4], linestyle=_STYLES[i % 4], linewidth=1.4, label=name
        )
    axes.set_xlim(low, high)
    axes.set_ylim(bottom=0)


def _cdfs(axes: Any, samples: Mapping[Any, Floats], low: float, high: float) -> None:
    for i, (name, values) in enumerate(samples.items()):
        ordered = np.sort(values)
        share = np.arange(1, ordered.size + 1) / ordered.size
        axes.plot(ordered, share, _STYLES[i % 4], color=_COLOURS[i % 4], linewidth=1.5, label=name)
    axes.set_xlim(low, high)
    axes.set_ylim(0, 1)


# ---------------------------------------------------------------- 000


def _logarithm(_: np.random.Generator, reps: int) -> Drawn:  # noqa: ARG001 - nothing is simulated
    figure, (axes,) = _canvas()
    exponents = np.linspace(2, 10, 81)
    axes.plot(exponents, np.log(1.25) + exponents * math.log(10), color=_ACCENT, linewidth=1.8)
    axes.set_xticks([2, 4, 6, 8, 10], ["$10^{-2}$", "$10^{-4}$", "$10^{-6}$", "$10^{-8}$", "$10^{-10}$"])
    _named(axes, "δ", "ln(1.25/δ)", legend=None)
    return Drawn(
        "000 Fig 2",
        "The number of Laplace answers whose average was said to beat Gaussian noise.",
        f"A straight line from {math.log(125):.1f} at δ 0.01 to {math.log(1.25e10):.1f} at δ 1e-10.",
        figure,
    )


def _normal_tests(rng: np.random.Generator, reps: int) -> Drawn:
    figure, axes = _canvas(2)
    ks = (1, 2, 3, 5, 7, 10, 15, 20)
    found = [bootstrap.normality(k, max(reps // 2, 200), rng) for k in ks]
    for place, (title, y) in enumerate(
        (("kept as normal at 5 %", "%"), ("picks the true normal of two", "%"))
    ):
        pairs = np.array([pair[place] for pair in found]) * 100
        _lines(axes[place], ks, {"Anderson-Darling": pairs[:, 0], "Shapiro-Wilk": pairs[:, 1]})
        _named(axes[place], "k, Laplaces averaged", y, title)
    axes[0].axhline(95, color=_SOFT, linewidth=0.8)
    axes[1].axhline(50, color=_SOFT, linewidth=0.8)
    kept = 100 * found[5][0]
    return Drawn(
        "000 Fig 3",
        "Is the average of k Laplaces normal? 100 draws, critical values simulated. In print the two labels are swapped.",
        f"Two rising curves of tests that keep normality: at k = 10 Anderson-Darling keeps {kept[0]:.0f} %, Shapiro-Wilk "
        f"{kept[1]:.0f} %; and two falling curves of picking the true normal, near one half from k = 10.",
        figure,
    )


def _splitting(_: np.random.Generator, reps: int) -> Drawn:  # noqa: ARG001 - nothing is simulated
    figure, (axes,) = _canvas()
    ks = (1, 2, 5, 10, 20, 50, 100)
    exact = [min(k, 0.25 / (exact_share(0.5, k, 1e-6) ** 2 * k)) for k in ks]
    _lines(
        axes,
        ks,
        {
            "pure ε": ks,
            "exact composition": exact,
            "as printed": [math.log(1e6)] * len(ks),
            "zCDP": [1.0] * len(ks),
        },
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    _plain(axes.xaxis, ks)
    _plain(axes.yaxis, (1, 2, 5, 10, 20, 50, 100))
    _named(axes, "k, equal shares", "variance × one answer's")
    return Drawn(
        "000 Figs 4-5",
        "What splitting ε = 0.5 (δ = 1e-6) into k equal shares costs in variance, relative to the same number of free answers.",
        f"The pure cost rises with k to 100; the exact (ε, δ) cost rises with it and levels off at {exact[-1]:.1f}, above the "
        "printed 13.8; concentrated privacy stays at 1.",
        figure,
    )


def _error_spread(rng: np.random.Generator, reps: int) -> Drawn:
    figure, axes = _canvas(2)
    for axis, k in zip(axes, (10, 50), strict=True):
        studies, low, step = bootstrap.truncated_normal(reps, rng)
        _, _, made = bootstrap.coverages(studies, -low / step, 6 / step, k, rng)
        errors = {kind: step * made.published_standard_error(kind) for kind in bootstrap.KINDS}
        _densities(axis, errors, 0, 0.13)
        axis.axvline(1 / math.sqrt(500), color=_SOFT, linewidth=1)
        _named(axis, "standard error", "density", f"k = {k}", legend="upper right" if k == 10 else None)
    return Drawn(
        "000 Fig 6",
        "Standard errors from k noised resamples, n = 500, ρ = .5; the line is the truth, .0447.",
        "Histograms of three readings of the standard error. The unbiased one has a peak at zero and spreads around the truth; "
        "the conservative ones lie to the right of it.",
        figure,
    )


def _coverage_by_k(
    source: str,
    studies: Callable[[], tuple[NDArray[np.int64], float, float]],
    words: str,
    rng: np.random.Generator,
) -> Drawn:
    figure, axes = _canvas(2)
    ks = (5, 10, 25, 50, 100, 200)
    shares: dict[str, list[float]] = {kind: [] for kind in bootstrap.KINDS}
    widths: dict[str, list[float]] = {kind: [] for kind in bootstrap.KINDS}
    for k in ks:
        values, truth, span = studies()
        covered, errors, _ = bootstrap.coverages(values, truth, span, k, rng)
        for kind, share, error in zip(bootstrap.KINDS, covered, errors, strict=True):
            shares[kind].append(100 * float(share))
            widths[kind].append(float(error / errors[0]))
    _lines(axes[0], ks, widths)
    _lines(axes[1], ks, shares)
    axes[1].axhline(95, color=_SOFT, linewidth=0.9)
    for one in axes:
        one.set_xscale("log")
        _plain(one.xaxis, ks)
    _named(axes[0], "k, resamples", "width × unbiased", "(a) width", legend="upper left")
    _named(axes[1], "k, resamples", "coverage, %", "(b) coverage, 95 % nominal", legend=None)
    at = ks.index(50)
    said = ", ".join(f"{kind} {shares[kind][at]:.1f} %" for kind in bootstrap.KINDS)
    return Drawn(
        source,
        f"Published intervals from k noised resamples, n = 500, ρ = .5; {words}.",
        f"Coverage at k = 50: {said}. The unbiased reading falls below 95 % and stays there; the others rise above it with k.",
        figure,
    )


def _fig7(rng: np.random.Generator, reps: int) -> Drawn:
    def studies() -> tuple[NDArray[np.int64], float, float]:
        values, low, step = bootstrap.truncated_normal(max(reps // 2, 100), rng)
        return values, -low / step, 6 / step

    return _coverage_by_k("000 Fig 7", studies, "standard normal data within ± 3 (assumed)", rng)


def _fig8(rng: np.random.Generator, reps: int) -> Drawn | None:
    ages = bootstrap.age_population("california")
    if ages is None:
        return None

    def studies() -> tuple[NDArray[np.int64], float, float]:
        return rng.choice(ages, (max(reps // 2, 100), 500)), float(ages.mean()), 100.0

    return _coverage_by_k("000 Figs 8-9", studies, "adults of California by the census's age groups", rng)


# ---------------------------------------------------------------- 003


def _primer_cdfs(rng: np.random.Generator, reps: int) -> Drawn:
    figure, axes = _canvas(4, 2.7)
    draws = max(reps, 500)
    count: dict[str, Any] = {
        "sampling": rng.binomial(1000, 0.4, draws) - 400.0,
        "noise": rng.laplace(0, 10, draws),
    }
    _cdfs(axes[0], count, -60, 60)
    _named(axes[0], "error of a count", "share below", "count", legend="upper left")
    exact, noisy, _ = primer.deviations(min(draws, 2_000), rng)
    spread: dict[str, Any] = {
        "sampling": np.asarray(exact - exact.mean()),
        "noise": np.asarray(noisy - exact),
    }
    _cdfs(axes[1], spread, -0.15, 0.15)
    _named(axes[1], "error of a standard deviation", "", "standard deviation", legend=None)
    sizes = {
        f"n = {n:,}": primer.correlations(n, min(draws, 800), rng, opposite=False) for n in (1_000, 10_000)
    }
    _cdfs(axes[2], sizes, -0.6, 0.6)
    _named(axes[2], "correlation of independent columns", "", "correlation", legend="upper left")
    private, sampling = primer.median_errors(-1, 1, min(draws, 1_000), rng)
    _cdfs(axes[3], {"sampling": sampling, "noise": private}, -0.12, 0.12)
    _named(axes[3], "error of a median", "", "median", legend=None)
    return Drawn(
        "003",
        "Distribution functions of what sampling and what privacy do, n = 1,000 unless said, ε = 0.1.",
        "Four panels. Count and median: the two curves nearly coincide. Standard deviation: noise is about five times as wide. "
        "Correlation: useless at a thousand rows, narrow at ten thousand.",
        figure,
    )


def _rates(rng: np.random.Generator, reps: int) -> Drawn:
    figure, (axes,) = _canvas()
    sizes = (100, 300, 1_000, 3_000, 10_000) if reps > 1_000 else (100, 300, 1_000)
    found = primer.rates(sizes, 8, rng)
    series = {
        name: found[:, i, 0]
        for i, name in enumerate(("release to truth", "release to data", "data to truth"))
    }
    _lines(axes, sizes, {**series, "$n^{-1/3}$": [n ** (-1 / 3) for n in sizes]})
    axes.set_xscale("log")
    axes.set_yscale("log")
    _plain(axes.xaxis, sizes)
    _plain(axes.yaxis, (0.01, 0.02, 0.05, 0.1, 0.2))
    _named(axes, "n", "Kolmogorov-Smirnov distance")
    return Drawn(
        "002",
        "The exponential mechanism with the Kolmogorov-Smirnov score, drawn exactly, ε = 1.",
        "Three falling lines on logarithmic axes, all steeper than the published bound n to the minus one third.",
        figure,
    )


# ---------------------------------------------------------------- 004


def _difference_figure(rng: np.random.Generator, reps: int) -> Drawn:
    figure, (axes,) = _canvas()
    found = social.differences(social.Study(min(reps, 4_000), rng), rng)
    names = {"sampling": "no privacy", "published": "published, ε = .5", "corrected": "corrected, ε = .5"}
    _densities(axes, {names[key]: values for key, values in found.items()}, -0.03, 0.03)
    _named(axes, "difference of means (truth 0)", "density")
    sds = ", ".join(f"{names[key]} {values.std():.4f}" for key, values in found.items())
    return Drawn(
        "004 Fig 4",
        "A difference of means, n = 2,000. The corrected release is private and no wider.",
        f"Three bell curves around zero with standard deviations: {sds}.",
        figure,
    )


def _error_figure(rng: np.random.Generator, reps: int) -> Drawn:
    figure, axes = _canvas(2)
    study = social.Study(min(reps, 3_000), rng)
    first = {
        "no privacy": study.error,
        "Laplace": social.laplace_error(study, rng),
        "as typeset": social.standard_errors(study, 100, "as typeset (no ε)", rng),
    }
    _densities(axes[0], first, -0.002, 0.014)
    _named(axes[0], "standard error", "density", "published", legend="upper left")
    axes[0].set_yscale("symlog", linthresh=30)
    second = (
        {"no privacy": study.error}
        | {f"dyadic, M = {m}": social.standard_errors(study, m, "dyadic bins", rng) for m in (100, 250)}
        | {"right constants, M = 250": social.standard_errors(study, 250, "right constants", rng)}
    )
    _densities(axes[1], second, -0.002, 0.014)
    axes[1].set_yscale("symlog", linthresh=30)
    for one in axes:
        one.set_xticks([0, 0.004, 0.008, 0.012])
        one.set_ylim(0, 1e5)
        _plain(one.yaxis, (0, 30, 100, 1_000, 10_000))
    _named(axes[1], "standard error", "", "corrected", legend="upper left")
    negative = 100 * float((first["Laplace"] < 0).mean())
    return Drawn(
        "004 Fig 5",
        "Standard errors of the difference, ε = .5. The published subsample-and-aggregate keeps its accuracy only without ε in "
        "its exponent. Vertical axes are logarithmic above 30.",
        f"Left: the exact standard error is a spike at .0044; Laplace noise spreads it, {negative:.0f} % below zero; the typeset "
        "version is nearly as narrow as the exact one. Right: dyadic bins are narrow, more so with more subsets; the Winsorized mean "
        "with right constants is wide.",
        figure,
    )


def _interval_figure(rng: np.random.Generator, reps: int) -> Drawn:
    figure, axes = _canvas(2)
    epsilons = np.geomspace(0.05, 5, 40)
    for i, n in enumerate((500, 2_000, 8_000)):
        share = (0.04 / n) / (0.04 / n + 32 / (n * epsilons) ** 2)
        axes[0].plot(epsilons, 100 * share, _STYLES[i], color=_COLOURS[i], linewidth=1.5, label=f"n = {n:,}")
    axes[0].set_xscale("log")
    _plain(axes[0].xaxis, (0.05, 0.1, 0.2, 0.5, 1, 2, 5))
    _named(axes[0], "ε", "effective size, % of n", "effective sample size")
    study = social.Study(min(reps, 2_000), rng)
    levels = np.linspace(0.5, 0.99, 25)
    estimate = study.difference + rng.laplace(0, social.SCALE, study.difference.size)
    error = social.standard_errors(study, 200, "dyadic bins", rng)
    exact, rule = [], []
    sigma = np.sqrt(np.maximum(error, 0) ** 2 + 2 * social.SCALE**2)
    for level in levels.tolist():
        low, high = noisy_interval(estimate, error, social.SCALE, level)
        exact.append(100 * float(((low <= 0) & (high >= 0)).mean()))
        rule.append(100 * float((np.abs(estimate) <= -math.log(1 - level) * sigma).mean()))
    _lines(axes[1], 100 * levels, {"exact quantile": exact, "−ln(1 − level) σ": rule}, marker="")
    axes[1].plot([50, 99], [50, 99], color=_SOFT, linewidth=0.9)
    _named(axes[1], "nominal, %", "covered, %", "intervals of a difference")
    return Drawn(
        "004 Figs 6 and 8",
        "Effective sample size of a difference of means (outcome sd .1), and how often its intervals cover, ε = .5 + .5.",
        "Left: rising curves, 38 % of 2,000 people at ε 0.5. Right: the exact quantile follows the diagonal; the published rule for the "
        "scale lies above it.",
        figure,
    )


def _regression_figure(rng: np.random.Generator, reps: int) -> Drawn:
    figure, (axes,) = _canvas()
    epsilons = (0.1, 0.2, 0.5, 1.0, 2.0)
    sets = 8 if reps > 1_000 else 2
    rows = 50_000 if reps > 1_000 else 10_000
    gains = [social.regression_gain(epsilon, sets, rng, rows) for epsilon in epsilons]
    for epsilon, gain in zip(epsilons, gains, strict=True):
        axes.plot([epsilon] * gain.size, gain, "o", color=_ACCENT, markersize=3.5, alpha=0.5)
    axes.plot(
        epsilons, [float(np.median(gain)) for gain in gains], "-", color=_INK, linewidth=1.4, label="median"
    )
    axes.axhspan(50, 70, color=_HAIR, alpha=0.6, label="printed: 50 to 70, settings unknown")
    axes.set_xscale("log")
    axes.set_yscale("log")
    _plain(axes.xaxis, epsilons)
    _plain(axes.yaxis, (5, 10, 20, 50, 100, 200))
    _named(axes, "ε", "MSE, box over clipped ball")
    return Drawn(
        "004 Figs 11-13",
        f"What a clipped row saves in the mean squared error of slopes: ten columns, n = {rows:,}, δ = 1e-6. No row is dropped.",
        "Points for several data sets at five ε; the median falls from about "
        f"{np.median(gains[0]):.0f} at ε 0.1 to {np.median(gains[-1]):.0f} at ε 2.",
        figure,
    )


_DRAW: tuple[Callable[[np.random.Generator, int], Drawn | None], ...] = (
    _logarithm,
    _normal_tests,
    _splitting,
    _error_spread,
    _fig7,
    _fig8,
    _rates,
    _primer_cdfs,
    _difference_figure,
    _error_figure,
    _interval_figure,
    _regression_figure,
)


def figures(*, quick: bool = False, seed: int = 2018) -> Iterator[Drawn]:
    """Yield the figures; one that needs a study whose package is missing is left out.

    Parameters
    ----------
    quick : bool
        Fewer repetitions.
    seed : int
    """
    for draw in _DRAW:
        made = draw(np.random.default_rng(seed), 300 if quick else 4_000)
        if made is not None:
            yield made
