"""Rows of 000: noise that is nearly normal, splitting a budget, and intervals from noised resamples."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import OwnerError
from dpnb.exhibits.composing import exact_share, gaussian_threshold
from dpnb.exhibits.laws import composed_mixture_epsilon
from dpnb.inference.bootstrap import Bootstrap, Kind
from dpnb.inference.resampling import noise_variance, noised_resamples
from dpnb.inference.spread import normal_quantile
from dpnb.risk.bootstrap import inflation_for, multiplicities, resampling_epsilon
from dpnb.risk.composition import advanced
from dpnb.trusted.privacy.loss import rational
from tests.replication.row import Quoted, Row, percent_error, sd_error

Floats = NDArray[np.float64]
KINDS: tuple[Kind, ...] = ("unbiased", "conservative", "most conservative")
PEOPLE, _RHO = 500, 0.5
AVERAGED = (1, 2, 3, 5, 7, 10, 15, 20)
"""Numbers of Laplaces averaged in Fig 3: eight, as in print, whose own are not at hand."""
STEP, _REACH = 0.02, 3.0
Studies = tuple[NDArray[np.int64], float, float]
"""Codes of the people of each study; the population's mean and the span of the bounds, in codes."""


# ---------------------------------------------------------------- is it normal?


def anderson_darling(samples: Floats) -> Floats:
    """Return A² against a normal law with estimated mean and variance, for each row."""
    from scipy.special import log_ndtr

    ordered = np.sort(samples, axis=-1)
    z = (ordered - ordered.mean(axis=-1, keepdims=True)) / ordered.std(axis=-1, ddof=1, keepdims=True)
    n = z.shape[-1]
    weight = 2 * np.arange(1, n + 1) - 1
    return np.asarray(-n - (weight * (log_ndtr(z) + log_ndtr(-z[..., ::-1]))).mean(axis=-1))


def shapiro_wilk(samples: Floats) -> Floats:
    """Return 1 - W for each row, with Royston's (1992) coefficients."""
    from scipy.special import ndtri

    ordered = np.sort(samples, axis=-1)
    n = ordered.shape[-1]
    m = ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    u, total = 1 / math.sqrt(n), float(m @ m)
    last = float(
        np.polyval([-2.706056, 4.434685, -2.07119, -0.147981, 0.221157, m[-1] / math.sqrt(total)], u)
    )
    second = float(
        np.polyval([-3.582633, 5.682633, -1.752461, -0.293762, 0.042981, m[-2] / math.sqrt(total)], u)
    )
    phi = (total - 2 * m[-1] ** 2 - 2 * m[-2] ** 2) / (1 - 2 * last**2 - 2 * second**2)
    a = m / math.sqrt(phi)
    a[[0, 1, -2, -1]] = [-last, -second, second, last]
    centred = ordered - ordered.mean(axis=-1, keepdims=True)
    return np.asarray(1 - (ordered @ a) ** 2 / (centred**2).sum(axis=-1))


TESTS: tuple[Callable[[Floats], Floats], ...] = (anderson_darling, shapiro_wilk)


def averaged(k: int, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Draw averages of k Laplace variables."""
    total = np.zeros(shape)
    for _ in range(k):
        total += rng.laplace(size=shape)
    return total / k


def normality(k: int, reps: int, rng: np.random.Generator, draws: int = 100) -> tuple[Floats, Floats]:
    """Return how often both tests keep normality of an average of k Laplaces at 5 %, and how often they pick the true normal.

    Critical values are simulated, so that neither test has an advantage from its table.
    """
    normal = rng.standard_normal((reps, draws))
    noise = averaged(k, (reps, draws), rng)
    kept, picked = [], []
    for test in TESTS:
        critical = np.quantile(test(rng.standard_normal((2 * reps, draws))), 0.95)
        found = test(noise)
        kept.append((found <= critical).mean())
        picked.append((test(normal) < found).mean())
    return np.array(kept), np.array(picked)


def _normality_rows(reps: int, rng: np.random.Generator) -> list[Row]:
    kept, picked = normality(10, reps, rng)
    return [
        Row(
            "000 Fig 3 top",
            "k = 10: % not rejected as normal, Anderson-Darling, Shapiro-Wilk (100 draws)",
            "90.8 92.7",
            [Quoted.near(90.8, 0.5), Quoted.near(92.7, 0.5)],
            (100 * kept).tolist(),
            [1.4 * percent_error(p, reps) for p in kept],  # the critical value is simulated too
            "the two printed labels are swapped: Anderson-Darling keeps more than Shapiro-Wilk",
            ".1f",
        ),
        Row(
            "000 Fig 3 bottom",
            "k = 10: % in which the test picks the true normal of two, both tests",
            "below 55",
            [Quoted(50, 55), Quoted(50, 55)],
            (100 * picked).tolist(),
            [percent_error(0.5, reps)] * 2,
            form=".1f",
        ),
    ]


def _eight_rows(reps: int, rng: np.random.Generator) -> list[Row]:
    found = [normality(k, reps, rng) for k in AVERAGED]
    made = []
    for place, words in enumerate(("% not rejected as normal", "% in which the test picks the true normal")):
        for test, name in enumerate(("Anderson-Darling", "Shapiro-Wilk")):
            shares = [100 * float(one[place][test]) for one in found]
            errors = [14 * math.sqrt(max(p * (100 - p), 1) / 100 / reps) for p in shares]
            ks = " ".join(map(str, AVERAGED))
            made.append(
                Row(
                    f"000 Fig 3 {('top', 'bottom')[place]}",
                    f"{words}, {name}, k = {ks}",
                    "plot",
                    [],
                    shares,
                    errors,
                    "eight k as in print; which eight is assumed",
                    ".1f",
                )
            )
    return made


# ---------------------------------------------------------------- noise that is nearly normal, and its price


def classic_threshold(exponent: float) -> float:
    """Return ln(1.25/δ) for δ of ten to an exponent: how many averaged Laplaces are less noisy than the classic Gaussian."""
    return math.log(1.25) - exponent * math.log(10)


def _averaging_rows() -> list[Row]:
    """Up to which k the average of k Laplaces is less noisy than Gaussian noise: variance 2k/ε² beside σ²."""
    classic = classic_threshold(-6)
    exact = [gaussian_threshold(f"{e}", "1e-6") for e in (0.1, 0.5, 1.0)]
    return [
        Row(
            "000 Remark 2",
            "k up to which the average beats Gaussian noise, δ = 1e-6: classic; exact at ε = .1 .5 1",
            f"ln(1.25/δ) = {classic:.1f}",
            [Quoted.near(classic, 0.05)] * 4,
            [classic, *exact],
            note="true of the classic calibration alone: Gaussian noise calibrated exactly (Balle and Wang 2018) wins from k = 7 to 9 on",
            form=".1f",
        ),
        Row(
            "000 Remark 2",
            "variance of the average of 10 over that of exact Gaussian noise, ε = .1 .5 1",
            "below 1",
            [Quoted(0, 1)] * 3,
            [10 / k for k in exact],
            note="the average is pure ε, and that is what it costs",
            form=".2f",
        ),
    ]


# ---------------------------------------------------------------- splitting a budget


def split_variance(epsilon: float, k: int, share: float) -> float:
    """Return the variance of each of k answers at an ε of their own, over that of k answers which split ε at no cost."""
    return epsilon**2 / (share**2 * k)


def _splitting_rows() -> list[Row]:
    k, epsilon, delta = 100, 0.5, 1e-6
    share = exact_share(epsilon, k, delta)
    low, high = epsilon / k, epsilon
    for _ in range(50):
        middle = (low + high) / 2
        fits = float(advanced(rational(f"{middle:.12f}"), k, "1e-6")) <= epsilon
        low, high = (middle, high) if fits else (low, middle)
    inflation = [k, split_variance(epsilon, k, share), split_variance(epsilon, k, low), 1.0]
    return [
        Row(
            "000 Fig 2",
            "ln(1.25/δ), δ = 1e-2, 1e-4, … 1e-10",
            "10 to 20 (δ 1e-4 to 1e-8)",
            [Quoted(0, 10), Quoted(9, 10), Quoted(10, 20), Quoted(10, 20), Quoted(20, 25)],
            [classic_threshold(-d) for d in (2, 4, 6, 8, 10)],
            form=".2f",
        ),
        Row(
            "000 Remark 1",
            "variance × one answer's, k = 100: pure, exact composition, theorem, zCDP",
            "k 13.8 (derived) – 1",
            [Quoted(k, k), Quoted.near(13.8, 0.1), Quoted(0, math.inf), Quoted(1, 1)],
            inflation,
            note="the √2 of the theorem is missing in print: 13.8 is its ln(1/δ) at δ = 1e-6, and spends more than is claimed (exhibit advanced-constant)",
            form=".1f",
        ),
        Row(
            "000 eq 29-30",
            "noise D²k/2ρ for ages (R = 100, N = 500, k = 50, ρ = .5); Σ i p_i",
            "2 1",
            [Quoted(2, 2), Quoted.near(1, 1e-9)],
            [
                noise_variance(100 / PEOPLE, _RHO, 50),
                sum(i * p for i, p in enumerate(multiplicities(PEOPLE))),
            ],
            note="in print N stands for k in (28), and Dk/2ρ for D²k/2ρ",
        ),
    ]


# ---------------------------------------------------------------- coverage


def normal_studies(reps: int, rng: np.random.Generator) -> Studies:
    """Draw studies of 500 standard normal values within ± 3."""
    values = np.clip(rng.standard_normal((reps, PEOPLE)), -_REACH, _REACH)
    return np.rint((values + _REACH) / STEP).astype(np.int64), _REACH / STEP, 2 * _REACH / STEP


def age_studies(ages: NDArray[np.int64], reps: int, rng: np.random.Generator) -> Studies:
    """Draw studies of 500 people from a population of ages; the bounds are 0 to 100."""
    return rng.choice(ages, (reps, PEOPLE)), float(ages.mean()), 100.0


def age_population(name: str) -> NDArray[np.int64] | None:
    """Return the ages of a built-in study or of California's adults, or None where a package is not installed."""
    from dpnb.datasets import adult_ages, find

    if name == "california":
        return np.asarray(adult_ages(), dtype=np.int64)
    try:
        ages = find(name).load()["age"]
    except OwnerError:
        return None
    return np.asarray(ages[np.isfinite(ages)], dtype=np.int64)


def coverages(studies: Studies, k: int, rng: np.random.Generator) -> tuple[Floats, Floats, Bootstrap]:
    """Return coverage and mean standard error of the three published intervals from k resamples, in the unit of the codes."""
    values, truth, span = studies
    variance = noise_variance(span / PEOPLE, _RHO, k)
    made = Bootstrap(noised_resamples(values, k, variance, rng), variance)
    errors = np.array([made.published_standard_error(kind) for kind in KINDS])
    reach = normal_quantile(0.975) * errors
    return (np.abs(made.estimate - truth) <= reach).mean(axis=1), errors.mean(axis=1), made


def relative_errors(reps: int, k: int, rng: np.random.Generator) -> dict[Kind, Floats]:
    """Return standard errors over the true one, for each published reading, of studies of standard normal values within ± 3."""
    *_, made = coverages(normal_studies(reps, rng), k, rng)
    truth = float(normal_studies(2_000, np.random.default_rng(0))[0].std()) * STEP / math.sqrt(PEOPLE)
    return {kind: made.published_standard_error(kind) * STEP / truth for kind in KINDS}


def one_shot(ages: NDArray[np.int64], reps: int, k: int, rng: np.random.Generator) -> dict[str, Floats]:
    """Return errors of one noised mean and of the average of k noised resamples, and the average's z-scores.

    A z-score is over the conservative standard error, where that is not zero.
    """
    studies = values, truth, span = age_studies(ages, reps, rng)
    sd = math.sqrt(noise_variance(span / PEOPLE, _RHO, 1))
    alone = values.mean(axis=1) - truth + sd * rng.standard_normal(reps)
    *_, made = coverages(studies, k, rng)
    average, error = made.estimate - truth, made.published_standard_error("conservative")
    return {"one answer": alone, "average": average, "z": average[error > 0] / error[error > 0]}


def _spread_rows(reps: int, rng: np.random.Generator) -> list[Row]:
    """Where conservative standard errors lie, and how far one answer lies from the truth."""
    below = 100 * float((relative_errors(reps, 50, rng)["conservative"] < 1).mean())
    made = [
        Row(
            "000 Fig 7a",
            "% of conservative standard errors below the truth, k = 50",
            "never",
            [Quoted(0, 0.5)],
            [below],
            [100 * math.sqrt(max(below * (100 - below), 100.0) / 1e4 / reps)],
            "the spread of fifty noised values is itself uncertain, also downwards",
            ".1f",
        )
    ]
    ages = age_population("california")
    if ages is not None:
        found = one_shot(ages, reps, 50, rng)
        exact = math.sqrt(float(ages.var()) / PEOPLE + noise_variance(100 / PEOPLE, _RHO, 1))
        sds = [float(found[name].std(ddof=1)) for name in ("average", "z")]
        made.append(
            Row(
                "000 Fig 8",
                "mean age: sd of one noised answer; of the average of 50 resamples; of its z-scores",
                ".814 (derived) – –",
                [Quoted.near(0.814, 0.02), Quoted(0, 1), Quoted(0, 1)],
                [exact, *sds],
                [0.0, *(sd_error(sd, reps) for sd in sds)],
                "adults of California by the census's age groups; .814 is derived from the printed design, ± .02; the z-scores are too narrow",
                ".3f",
            )
        )
    return made


def _figure_rows(reps: int, rng: np.random.Generator) -> list[Row]:
    found: list[Row] = []
    ratios, ks = [], (10, 50, 100, 200)
    for k in ks:
        covered, errors, _ = coverages(normal_studies(reps, rng), k, rng)
        ratios.append(float(errors[1] / errors[0]))
        wide = Quoted(95, 100) if k > 10 else Quoted(0, 100)
        found.append(
            Row(
                "000 Fig 7b",
                f"coverage %, n = 500, ρ = .5, k = {k}: unbiased, conservative, most conservative",
                "below 95, above 95, –",
                [Quoted(0, 95), wide, Quoted(95, 100)],
                (100 * covered).tolist(),
                [percent_error(p, reps) for p in covered],
                "the range is not printed; R = 6 assumed"
                + ("" if k > 10 else "; conservative is below 95 up to k = 10"),
                ".1f",
            )
        )
    found.append(
        Row(
            "000 Fig 7",
            "conservative over unbiased interval, k = 50, 100, 200",
            "about 1.5",
            [Quoted(1.4, 2.0)] * 3,
            ratios[1:],
            [0.7 * r / math.sqrt(reps) for r in ratios[1:]],
            "grows with k",
            ".2f",
        )
    )
    return found


def _age_rows(reps: int, rng: np.random.Generator) -> list[Row]:
    printed = [Quoted.near(80.1, 2.0), Quoted.near(97.1, 1.5), Quoted.near(100.0, 1.0)]
    found = []
    for name, quoted in (("california", printed), ("anes96", ()), ("nhefs", ())):
        ages = age_population(name)
        if ages is None:
            continue
        covered, *_ = coverages(age_studies(ages, reps, rng), 50, rng)
        found.append(
            Row(
                "000 section 8",
                f"coverage %, age, k = 50, ρ = .5, population {name} (sd {ages.std():.1f})",
                "80.1 97.1 100" if quoted else "–",
                quoted,
                (100 * covered).tolist(),
                [max(percent_error(p, reps), 100 / reps) for p in covered],
                "adults of California in 2000, here by the census's age groups; 1,000 or so repetitions in print: ± 1.3 by itself"
                if quoted
                else "a narrower population: the same procedure covers less",
                ".1f",
            )
        )
    return found


def _privacy_rows(*, quick: bool) -> list[Row]:
    """What the bootstrap really costs, by number of resamples: below the worst pair known, above the proven bound."""
    odds = np.array(multiplicities(PEOPLE))
    found = []
    for k in (1, 50) if quick else (1, 10, 50, 200):
        lower = composed_mixture_epsilon(odds, np.arange(odds.size) / math.sqrt(k), k, 1e-6)
        found.append(
            Row(
                "000 Result 1",
                f"ε at δ = 1e-6 of k = {k} resamples (claimed 4.887): attained, proven; noise × that keeps 4.887",
                "4.887 4.887 1 (derived)",
                [Quoted.near(4.887, 0.001), Quoted.near(4.887, 0.001), Quoted(1, 1)],
                [
                    lower,
                    resampling_epsilon(1e-6, _RHO, k, PEOPLE),
                    inflation_for(4.8872, 1e-6, _RHO, k, PEOPLE),
                ],
                note="not free: a resample holds a row more than once; 4.887 is derived from the printed ρ at δ = 1e-6",
            )
        )
    return found


def rows(rng: np.random.Generator, *, quick: bool) -> list[Row]:
    """Return the rows of 000."""
    small, large = (200, 800) if quick else (3_000, 20_000)
    return [
        *_splitting_rows(),
        *_averaging_rows(),
        *_normality_rows(large, rng),
        *_eight_rows(large // 4, rng),
        *_figure_rows(small, rng),
        *_spread_rows(small, rng),
        *_age_rows(small, rng),
        *_privacy_rows(quick=quick),
    ]
