"""Rows of 000: noise that is nearly normal, splitting a budget, and intervals from noised resamples."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import OwnerError
from dpnb.exhibits.composing import exact_share
from dpnb.exhibits.laws import composed_mixture_epsilon
from dpnb.inference.bootstrap import Bootstrap, Kind
from dpnb.inference.resampling import noise_variance, resample_means
from dpnb.risk.bootstrap import inflation_for, multiplicities, resampling_epsilon
from dpnb.risk.composition import advanced
from dpnb.risk.curves import analytic_gaussian_sigma
from dpnb.trusted.privacy.loss import rational
from tests.replication.row import Quoted, Row

Floats = NDArray[np.float64]
KINDS: tuple[Kind, ...] = ("unbiased", "conservative", "most conservative")
_Z = 1.959963984540054
PEOPLE, _RHO = 500, 0.5
AVERAGED = (1, 2, 3, 5, 7, 10, 15, 20)
"""Numbers of Laplaces averaged in Fig 3: eight, as in print, whose own are not at hand."""
_STEP, _REACH = 0.02, 3.0


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
    error = [1.4 * math.sqrt(p * (1 - p) / reps) for p in kept]  # the critical value is simulated too
    return [
        Row(
            "000 Fig 3 top",
            "k = 10: % not rejected as normal, Anderson-Darling, Shapiro-Wilk (100 draws)",
            "90.8 92.7",
            [Quoted.near(90.8, 0.5), Quoted.near(92.7, 0.5)],
            (100 * kept).tolist(),
            [100 * e for e in error],
            "the two printed labels are swapped: Anderson-Darling keeps more than Shapiro-Wilk",
            ".1f",
        ),
        Row(
            "000 Fig 3 bottom",
            "k = 10: % in which the test picks the true normal of two, both tests",
            "below 55",
            [Quoted(50, 55), Quoted(50, 55)],
            (100 * picked).tolist(),
            [100 * math.sqrt(0.25 / reps)] * 2,
            "",
            ".1f",
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


def _averaging_rows() -> list[Row]:
    """Up to which k the average of k Laplaces is less noisy than Gaussian noise: variance 2k/ε² beside σ²."""
    epsilons, delta = (0.1, 0.5, 1.0), 1e-6
    classic = math.log(1.25 / delta)
    exact = [float(analytic_gaussian_sigma(1, f"{e}", "1e-6")) ** 2 * e**2 / 2 for e in epsilons]
    return [
        Row(
            "000 Remark 2",
            "k up to which the average beats Gaussian noise, δ = 1e-6: classic; exact at ε = .1 .5 1",
            f"ln(1.25/δ) = {classic:.1f}",
            [Quoted.near(classic, 0.05)] * 4,
            [classic, *exact],
            [0.0] * 4,
            "true of the classic calibration alone: Gaussian noise calibrated exactly (Balle and Wang 2018) wins from k = 7 to 9 on",
            ".1f",
        ),
        Row(
            "000 Remark 2",
            "variance of the average of 10 over that of exact Gaussian noise, ε = .1 .5 1",
            "below 1",
            [Quoted(0, 1)] * 3,
            [10 / k for k in exact],
            [0.0] * 3,
            "the average is pure ε, and that is what it costs",
            ".2f",
        ),
    ]


# ---------------------------------------------------------------- splitting a budget


def _splitting_rows() -> list[Row]:
    k, epsilon, delta = 100, 0.5, 1e-6
    share = exact_share(epsilon, k, delta)
    low, high = epsilon / k, epsilon
    for _ in range(50):
        middle = (low + high) / 2
        fits = float(advanced(rational(f"{middle:.12f}"), k, "1e-6")) <= epsilon
        low, high = (middle, high) if fits else (low, middle)
    inflation = [k, epsilon**2 / (share**2 * k), epsilon**2 / (low**2 * k), 1.0]
    logs = [math.log(1.25 / 10.0**-d) for d in (2, 4, 6, 8, 10)]
    return [
        Row(
            "000 Fig 2",
            "ln(1.25/δ), δ = 1e-2, 1e-4, … 1e-10",
            "10 to 20 (δ 1e-4 to 1e-8)",
            [Quoted(0, 10), Quoted(9, 10), Quoted(10, 20), Quoted(10, 20), Quoted(20, 25)],
            logs,
            [0.0] * 5,
            "",
            ".2f",
        ),
        Row(
            "000 Remark 1",
            "variance × one answer's, k = 100: pure, exact composition, theorem, zCDP",
            "k 13.8 – 1",
            [Quoted(k, k), Quoted.near(13.8, 0.1), Quoted(0, math.inf), Quoted(1, 1)],
            inflation,
            [0.0] * 4,
            "the √2 of the theorem is missing in print: its 13.8 spends more than is claimed (exhibit advanced-constant)",
            ".1f",
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
            [0.0, 0.0],
            "in print N stands for k in (28), and Dk/2ρ for D²k/2ρ",
        ),
    ]


# ---------------------------------------------------------------- coverage


def truncated_normal(studies: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], float, float]:
    """Return studies of 500 standard normal values within ± 3 as codes, the lower bound and the step."""
    values = np.clip(rng.standard_normal((studies, PEOPLE)), -_REACH, _REACH)
    return np.rint((values + _REACH) / _STEP).astype(np.int64), -_REACH, _STEP


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


def coverages(
    studies: NDArray[np.int64], truth: float, span: float, k: int, rng: np.random.Generator
) -> tuple[Floats, Floats, Bootstrap]:
    """Return coverage and mean standard error of the three published intervals, in the unit of the codes.

    Parameters
    ----------
    studies : ndarray of int, shape (studies, people)
    truth : float
        The population's mean code.
    span : float
        Upper minus lower bound, in codes.
    k : int
        Resamples.
    """
    variance = noise_variance(span / studies.shape[1], _RHO, k)
    means = resample_means(studies, k, rng)
    made = Bootstrap(means + math.sqrt(variance) * rng.standard_normal(means.shape), variance)
    errors = np.array([made.published_standard_error(kind) for kind in KINDS])
    return (np.abs(made.estimate - truth) <= _Z * errors).mean(axis=1), errors.mean(axis=1), made


def relative_errors(reps: int, k: int, rng: np.random.Generator) -> dict[Kind, Floats]:
    """Return standard errors over the true one, for each published reading, of studies of standard normal values within ± 3."""
    studies, low, step = truncated_normal(reps, rng)
    _, _, made = coverages(studies, -low / step, 2 * _REACH / step, k, rng)
    truth = float(truncated_normal(2_000, np.random.default_rng(0))[0].std()) * step / math.sqrt(PEOPLE)
    return {kind: made.published_standard_error(kind) * step / truth for kind in KINDS}


def one_shot(ages: NDArray[np.int64], reps: int, k: int, rng: np.random.Generator) -> dict[str, Floats]:
    """Return errors of one noised mean and of the average of k noised resamples, and the average's z-scores.

    A z-score is over the conservative standard error, where that is not zero.

    Parameters
    ----------
    ages : ndarray of int
        The population; bounds are 0 to 100.
    reps : int
        Studies of 500 people.
    k : int
    rng : numpy.random.Generator
    """
    truth = float(ages.mean())
    studies = rng.choice(ages, (reps, PEOPLE))
    sd = math.sqrt(noise_variance(100 / PEOPLE, _RHO, 1))
    alone = studies.mean(axis=1) - truth + sd * rng.standard_normal(reps)
    _, _, made = coverages(studies, truth, 100.0, k, rng)
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
                ".814 – –",
                [Quoted.near(0.814, 0.02), Quoted(0, 1), Quoted(0, 1)],
                [exact, *sds],
                [0.0, *(sd / math.sqrt(2 * reps) for sd in sds)],
                "adults of California by the census's age groups; print's is of a simulation, ± .02; the z-scores are too narrow",
                ".3f",
            )
        )
    return made


def _figure_rows(reps: int, rng: np.random.Generator) -> list[Row]:
    found: list[Row] = []
    ratios, ks = [], (10, 50, 100, 200)
    for k in ks:
        studies, low, step = truncated_normal(reps, rng)
        covered, errors, _ = coverages(studies, -low / step, 2 * _REACH / step, k, rng)
        ratios.append(float(errors[1] / errors[0]))
        wide = Quoted(95, 100) if k > 10 else Quoted(0, 100)
        found.append(
            Row(
                "000 Fig 7b",
                f"coverage %, n = 500, ρ = .5, k = {k}: unbiased, conservative, most conservative",
                "below 95, above 95, –",
                [Quoted(0, 95), wide, Quoted(95, 100)],
                (100 * covered).tolist(),
                [100 * math.sqrt(p * (1 - p) / reps) for p in covered],
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
        studies = rng.choice(ages, (reps, PEOPLE))
        covered, _, _ = coverages(studies, float(ages.mean()), 100.0, 50, rng)
        found.append(
            Row(
                "000 section 8",
                f"coverage %, age, k = 50, ρ = .5, population {name} (sd {ages.std():.1f})",
                "80.1 97.1 100" if quoted else "–",
                quoted,
                (100 * covered).tolist(),
                [max(100 * math.sqrt(p * (1 - p) / reps), 100 / reps) for p in covered],
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
                "4.887 4.887 1",
                [Quoted.near(4.887, 0.001), Quoted.near(4.887, 0.001), Quoted(1, 1)],
                [
                    lower,
                    resampling_epsilon(1e-6, _RHO, k, PEOPLE),
                    inflation_for(4.8872, 1e-6, _RHO, k, PEOPLE),
                ],
                [0.0] * 3,
                "not free: a resample holds a row more than once",
                ".4g",
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
