"""Rows of 001, 002 and 003: the resized bootstrap, power and rates, and the primer's counts, moments and medians."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpnb.exhibits.inputs import impossible_share
from dpnb.exhibits.resampling import resized_bootstrap
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.inference.simulated_release import choose
from dpnb.risk.odds import laplace_tradeoff
from dpnb.simulate.rates import METHODS, PARTS, density_rates
from dpnb.trusted.mechanisms import QuantileSelection
from tests.replication.row import Quoted, Row, percent_error, sd_error

Floats = NDArray[np.float64]
_EPSILON, _ROWS = 0.1, 1000
KS = METHODS.index("ks")


# ---------------------------------------------------------------- 001 and 002


def _resized_rows(reps: int, rng: np.random.Generator) -> list[Row]:
    one = np.append(np.zeros(999, dtype=int), 1)
    half = np.append(np.zeros(500, dtype=int), np.ones(500, dtype=int))

    def variance(data: NDArray[np.int64]) -> float:
        law = resized_bootstrap(data)
        at, odds = (np.array(list(side), dtype=float) for side in (law.keys(), law.values()))
        return float(odds @ at**2 - (odds @ at) ** 2)

    drawn = rng.binomial(100, 0.001, reps) / 100
    return [
        Row(
            "001",
            "variance at p = 1/n (n = 1000, Z = 10), exact and simulated; at p = ½",
            "1e-5 1e-5 –",
            [Quoted.near(1e-5, 5e-7), Quoted.near(1e-5, 5e-7), Quoted(0, 1)],
            [variance(one), float(drawn.var()), variance(half)],
            [0.0, float(drawn.var() * math.sqrt(30 / reps)), 0.0],
            "Z/n² holds only at p = 1/n: it is p(1 - p)Z/n",
            ".3g",
        ),
        Row(
            "001",
            "total variation between n zeros and a one among them",
            "at most 0.1",
            [Quoted(0, 0.1)],
            [1 - resized_bootstrap(one)[0.0]],
            note=f"with n = 11 the ceiling breaks it: {1 - resized_bootstrap(np.append(np.zeros(10, dtype=int), 1))[0.0]:.4f}",
            form=".4f",
        ),
    ]


def _power_row(reps: int, rng: np.random.Generator) -> Row:
    epsilons = (0.1, 0.5, 1.0, 2.0)
    drawn = rng.laplace(size=(2, reps))
    power = [float((drawn[1] / e + 1 > np.quantile(drawn[0] / e, 0.95)).mean()) for e in epsilons]
    return Row(
        "002",
        "power of the best test at α = .05 against Laplace noise, ε = .1 .5 1 2",
        "at most α e^ε",
        [Quoted.near(1 - laplace_tradeoff("0.05", e), 0.0) for e in epsilons],
        power,
        [
            math.hypot(percent_error(p, reps), math.exp(e) * percent_error(0.05, reps)) / 100
            for p, e in zip(power, epsilons, strict=True)
        ],
        "the bound α e^ε is " + " ".join(f"{0.05 * math.exp(e):.4f}" for e in epsilons) + ", attained",
        ".4f",
    )


def _rate_rows(rng: np.random.Generator, *, quick: bool) -> list[Row]:
    sizes = (100, 300) if quick else (100, 300, 1_000, 3_000, 10_000, 30_000)
    found = density_rates(sizes, draws=6 if quick else 16, rng=rng)
    slopes, errors = zip(*(found.exponent("ks", part) for part in PARTS), strict=True)
    bound = [Quoted(-math.inf, -1 / 3)] * 2 + [Quoted.near(-0.5, 0.06)]
    return [
        Row(
            "002",
            "exponent in n of KS(F, Z), KS(Fx, Z), KS(F, Fx), exact sampler, ε = 1",
            "at most -1/3",
            bound,
            slopes,
            errors,
            "n^(-1/3) is an upper bound: in one dimension the release nears the sampling rate",
            ".2f",
        ),
        Row(
            "002",
            f"KS(F, Z) at n = {', '.join(map(str, sizes))}",
            "– (bound n^(-1/3))",
            [Quoted(0, n ** (-1 / 3)) for n in sizes],
            found.mean[:, KS, 0].tolist(),
            found.standard_error[:, KS, 0].tolist(),
            form=".3f",
        ),
    ]


# ---------------------------------------------------------------- 003


def _binomial_quantiles(levels: Floats) -> Floats:
    from scipy.special import bdtr

    at = np.arange(_ROWS + 1)
    return np.asarray(np.searchsorted(bdtr(at, _ROWS, 0.4), levels) - 0.4 * _ROWS, dtype=np.float64)


def _count_rows() -> list[Row]:
    law = DiscreteLaplaceLaw(Fraction(10))
    levels = np.array([0.75, 0.995])
    binomial, noise = _binomial_quantiles(levels).tolist(), law.quantile(levels).tolist()
    sd = math.sqrt(_ROWS * 0.24)
    return [
        Row(
            "003 count",
            "noise at ε = .1 beside a binomial (1000, .4): sd, upper quartile",
            f"“not worse” (binomial {sd:.1f}, {binomial[0]:.0f})",
            [Quoted(0, sd), Quoted(0, binomial[0])],
            [math.sqrt(law.variance_float), noise[0]],
            form=".3g",
        ),
        Row(
            "003 count",
            "99.5 % points: binomial, noise",
            "–",
            [],
            [binomial[1], noise[1]],
            note="narrower in the middle, longer in the tail",
            form=".3g",
        ),
    ]


def chocolate(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Draw the primer's variable: two thirds of the values uniform on [0, 1], one third on [-1, 0]."""
    return np.asarray(rng.random(shape) - (rng.random(shape) < 1 / 3))


def deviations(reps: int, rng: np.random.Generator) -> tuple[Floats, Floats, float]:
    """Return standard deviations of 1,000 values, the same from three noisy sums at ε/3 each, and how often none exists."""
    x = chocolate((reps, _ROWS), rng)
    noise = rng.laplace(0, 3 / _EPSILON, (3, reps))
    n, s, q = _ROWS + noise[0], x.sum(axis=1) + noise[1], (x**2).sum(axis=1) + noise[2]
    variance = q / n - (s / n) ** 2
    noisy = np.asarray(np.sqrt(np.maximum(variance, 0)))
    return np.asarray(x.std(axis=1)), noisy, float((variance <= 0).mean())


def _deviation_row(reps: int, rng: np.random.Generator) -> Row:
    exact, noisy, none = deviations(reps, rng)
    sampling, privacy = float(exact.std()), float((noisy - exact).std())
    return Row(
        "003 std",
        "n = 1000, ε = .1: sampling sd, sd of the privacy error, their ratio, % without a variance",
        "“absolutely worse”",
        [Quoted(0, 1), Quoted(0, 1), Quoted(1, math.inf), Quoted(0, 100)],
        [sampling, privacy, privacy / sampling, 100 * none],
        [
            sd_error(sampling, reps),
            1.6 * sd_error(privacy, reps),
            0.05,
            100 * math.sqrt(max(none, 1 / reps) / reps),
        ],
        "two thirds of the values are uniform on [0, 1], one third on [-1, 0]",
        ".2g",
    )


def correlations(
    rows: int, reps: int, rng: np.random.Generator, *, opposite: bool, joint: bool = False
) -> Floats:
    """Return correlations from six noisy sums at ε/6 = 1/60 each, or from one vector with Gaussian noise at ρ = ε²/2.

    40 % of the rows have x = -1, the others x = 1. y is the primer's taste for chocolate, independent of x, or -x. The vector is (1, x, y, x² - ½, y² - ½, xy), whose squared L2 sensitivity under add-remove is 4.5.
    """
    found = []
    for _ in range(reps):
        x = np.where(np.arange(rows) < 0.4 * rows, -1.0, 1.0)
        y = -x if opposite else chocolate((rows,), rng)
        sums = np.array([rows, x.sum(), y.sum(), (x * x).sum(), (y * y).sum(), x @ y])
        if joint:
            sums = sums + math.sqrt(4.5) / _EPSILON * rng.standard_normal(6)
            sums[3:5] += (sums[0] - rows) / 2  # the squares were released about the middle
        else:
            sums = sums + rng.laplace(0, 6 / _EPSILON, 6)
        n, s, t, ss, tt, st = sums
        spread = (n * ss - s * s) * (n * tt - t * t)
        found.append((n * st - s * t) / math.sqrt(spread) if spread > 0 else math.nan)
    return np.array(found)


def _band(values: Floats) -> tuple[list[float], list[float]]:
    """5 and 95 % points with bootstrap errors."""
    good = values[np.isfinite(values)]
    band = np.quantile(good, [0.05, 0.95])
    blocks = np.array([np.quantile(part, [0.05, 0.95]) for part in np.array_split(good, 10)])
    return band.tolist(), (blocks.std(axis=0, ddof=1) / math.sqrt(10)).tolist()


def _correlation_rows(reps: int, rng: np.random.Generator) -> list[Row]:
    made = []
    cases = (
        ("six sums, independent", _ROWS, False, False, "weak", (Quoted(-1, -0.1), Quoted(0.1, 1))),
        ("six sums, y = -x", _ROWS, True, False, "weak", (Quoted(-2, -1.1), Quoted(-0.9, 0))),
        ("six sums, independent", 10_000, False, False, "improves", (Quoted(-0.1, 0), Quoted(0, 0.1))),
        ("six sums, y = -x", 10_000, True, False, "improves", (Quoted(-1.1, -1), Quoted(-1, -0.9))),
        ("one vector (zCDP), independent", 10_000, False, True, "–", ()),
        ("one vector (zCDP), y = -x", 10_000, True, True, "–", ()),
    )
    for words, size, opposite, joint, printed, quoted in cases:
        values = correlations(size, reps, rng, opposite=opposite, joint=joint)
        band, errors = _band(values)
        note = "x = -1 in 40 % of the rows, else 1; " + (
            "y = -x" if opposite else "y as in the standard deviation"
        )
        if opposite and size == _ROWS:
            note = f"outside [-1, 1] in {100 * np.mean(np.abs(values) > 1):.0f} % of releases; " + note
        quantity = f"{words}, n = {size}, ε = .1: 5 and 95 % points"
        made.append(Row("003 correlation", quantity, printed, quoted, band, errors, note, ".3f"))
    return made


def median_errors(low: float, high: float, reps: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return errors of the private median of 1,000 uniform values in [low, high], and of the sample median, at ε = .1.

    The published score, #above - #below, counts each rank twice and has sensitivity 1 under add-remove: its law at ε is that
    of the rank score at 2ε. The grid is [-1, 1] in 2³⁰ steps.
    """
    steps = 2**30
    mechanism = QuantileSelection(2 * Fraction(_EPSILON).limit_denominator(100), Fraction(1, 2), 0, steps)
    private, sampling = [], []
    for _ in range(reps):
        x = rng.uniform(low, high, _ROWS)
        codes, counts = np.unique(np.rint((x + 1) / 2 * steps).astype(np.int64), return_counts=True)
        drawn = 2 * choose(mechanism, (codes, counts), rng, 1)[0] / steps - 1
        private.append(drawn - np.median(x))
        sampling.append(np.median(x) - (low + high) / 2)
    return np.array(private), np.array(sampling)


def _median_rows(reps: int, rng: np.random.Generator) -> list[Row]:
    private, sampling = median_errors(-1, 1, reps, rng)
    sds = [float(private.std()), float(sampling.std())]
    narrow, _ = median_errors(0.123, 0.124, reps, rng)
    width = 2 * float(np.quantile(np.abs(narrow), 0.95))
    blocks = [2 * float(np.quantile(np.abs(part), 0.95)) for part in np.array_split(narrow, 8)]
    return [
        Row(
            "003 median",
            "n = 1000, U[-1, 1], ε = .1: sd of the mechanism, of sampling",
            "about equal",
            [Quoted.near(0.0316, 0.004), Quoted.near(0.0316, 0.002)],
            sds,
            [1.5 * sd_error(sd, reps) for sd in sds],
            form=".4f",
        ),
        Row(
            "003 median",
            "values in [.123, .124]: width of the middle 95 % of errors; 2e-5 ln 20 in theory",
            "6e-5",
            [Quoted.near(6e-5, 5e-6), Quoted.near(6e-5, 5e-6)],
            [width, 2e-5 * math.log(20)],
            [float(np.std(blocks, ddof=1) / math.sqrt(8)), 0.0],
            form=".2g",
        ),
        Row(
            "003 median",
            "all values .4, grid 2³²: ln P(not .4)",
            "-27.82",
            [Quoted.near(-27.82, 0.005)],
            [math.log(2**32 - 1) - _EPSILON * _ROWS / 2],
            note="dpnb's integer weights have a floor, so that no point is impossible",
            form=".4f",
        ),
    ]


def records_to_reach(start: float, aim: float, rows_: int = _ROWS) -> int:
    """Return how many of so many equal values must change, to a bound of [-1, 1], for their mean to reach the aim."""
    bound = 1.0 if aim > start else -1.0
    here, there = Fraction(str(start)), Fraction(str(aim))
    return math.ceil((there - here) / (Fraction(bound) - here) * rows_)


def _records_row() -> Row:
    at, aim = -0.99, -0.999
    return Row(
        "003 records to change",
        "a mean of a thousand values of -.99 in [-1, 1]: % of records to change for it to become -.999",
        "10",
        [Quoted.near(10, 0.5)],
        [100 * records_to_reach(at, aim) / _ROWS],
        note="a record can fall by .01 only, so 900 of them must; the data are chosen here",
        form=".0f",
    )


def _float_row(reps: int) -> Row:
    ours = [100 * impossible_share("exponential", reps), 100 * impossible_share("numpy", reps)]
    return Row(
        "003 laplace",
        "% of float answers that rule out the neighbouring count (0 or 1, ε = 1): ± b ln u; numpy",
        "“has holes”",
        [Quoted(1, 100)] * 2,
        ours,
        [percent_error(0.5, 2 * reps)] * 2,
        "a logarithm and a sign of its own, as in the primer; numpy's own noise tells more",
        ".0f",
    )


def rows(rng: np.random.Generator, *, quick: bool) -> list[Row]:
    """Return the rows of 001, 002 and 003."""
    small, large = (200, 20_000) if quick else (4_000, 400_000)
    return [
        *_resized_rows(large, rng),
        _power_row(large, rng),
        *_rate_rows(rng, quick=quick),
        *_count_rows(),
        _deviation_row(small, rng),
        *_correlation_rows(small, rng),
        *_median_rows(small, rng),
        _records_row(),
        _float_row(small),
    ]
