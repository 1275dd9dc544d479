"""Exhibits about what goes in and what comes out: a NaN, the wrong neighbours, the low-order bits, and a score in place of noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpnb.exhibits.exhibit import Exhibit, Finding, Floats, Lever, Lines, Numbers, evenly
from dpnb.exhibits.laws import laplace_loss, noised
from dpnb.inference import fast_noise
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.risk.float_laplace import FINEST_UNIFORM, Sampler, float_laplace, possible
from dpnb.trusted.privacy.loss import rational

Data = Sequence[float]
PRIMER = "“Differential privacy: an illustrated primer”"
_EPSILON = 0.5
_STEPS = 1_000


def clamped_with_ifs(x: float) -> float:
    """Clamp to [-1, 1] by two comparisons, as published; a NaN fails both and passes."""
    if x < -1:
        return -1.0
    if x > 1:
        return 1.0
    return x


def _noisy_sum(data: Data, size: int, rng: np.random.Generator) -> Floats:
    return np.asarray(sum(clamped_with_ifs(x) for x in data) + rng.laplace(0, 1 / _EPSILON, size))


def _on_grid(data: Data) -> list[int]:
    """The sum in thousandths, missing values as 0."""
    return [sum(round(_STEPS * clamped_with_ifs(0.0 if math.isnan(x) else x)) for x in data)]


_WITH_NAN = ([0.2, -0.3], [0.2, -0.3, math.nan])
_FINE_SCALE = [_STEPS / _EPSILON]


def _measure_nan() -> Numbers:
    sums = [sum(clamped_with_ifs(x) for x in data) for data in _WITH_NAN]
    apart = math.isnan(sums[0]) != math.isnan(sums[1])
    worst = laplace_loss(_on_grid, _FINE_SCALE, _WITH_NAN[0], [*_WITH_NAN[0], 1.0])
    return Numbers(
        Finding(_EPSILON, math.inf if apart else laplace_loss(lambda d: [sum(d)], [2], *_WITH_NAN), "ε"),
        Finding(_EPSILON, max(laplace_loss(_on_grid, _FINE_SCALE, *_WITH_NAN), worst), "ε"),
        exact=True,
        how="the output is NaN: never under A, always under B",
        more=(("δ", "1: the two datasets are told apart with certainty"),),
    )


NAN_CLAMP = Exhibit(
    "nan-through-the-clamp",
    "A NaN passes through the clamp",
    PRIMER,
    "with `if x < -1` and `if x > 1` before the sum, every term is within [-1, 1]",
    "NaN is neither below -1 nor above 1. One such row turns the sum, and the answer, into NaN.",
    "Missing is decided first, by a public rule, and infinities clamp to a bound: dpnb's columns are integers or missing.",
    "Nothing.",
    _WITH_NAN,
    ("0.2 and -0.3", "the same and a NaN"),
    _measure_nan,
    _noisy_sum,
    noised(_on_grid, _FINE_SCALE),
    claimed=_EPSILON,
    kept=_EPSILON,
    theme="floating point",
    cell="%%dp epsilon=0.1\n# missing in many rows: dropped, by the schema\ncollected = hiv.got.sum()",
    event=("the answer is NaN", np.isnan),
)


def _whole_sum(data: Data) -> list[int]:
    return [int(sum(data))]


_MOVED = ([0, 1, -1], [0, 1, 1])


def _measure_change_one() -> Numbers:
    return Numbers(
        Finding(_EPSILON, laplace_loss(_whole_sum, [1 / _EPSILON], *_MOVED), "ε"),
        Finding(_EPSILON, laplace_loss(_whole_sum, [2 / _EPSILON], *_MOVED), "ε"),
        exact=True,
        how="any output in the tail: the sum moves by 2, the noise was scaled for 1",
    )


def _moved_to(value: float) -> Lines:
    """The person of −1 moves to a value: the sum moves by the difference."""
    first, second, promise = [0.0, 1.0, -1.0], [0.0, 1.0, value], _EPSILON
    published, right = (
        laplace_loss(lambda data: [sum(data)], [scale / promise], first, second) for scale in (1, 2)
    )
    return promise, published, right


CHANGE_ONE = Exhibit(
    "change-one-noise",
    "Add-remove noise for people who change",
    f"{PRIMER}, noisy sum, read under change-one",
    "terms in [-1, 1] and Laplace noise of scale 1/ε make a sum ε-private",
    "True when a person is added or removed. When a person's value changes from -1 to 1 the sum moves by 2 and the loss is 2ε.",
    "State the neighbours: dpnb takes them from the schema, and prices a change as R, an arrival as the larger bound.",
    "Twice the noise, or a centred sum: c·n is public when n is.",
    _MOVED,
    ("one of three people has -1", "the same person has 1"),
    _measure_change_one,
    noised(_whole_sum, [1 / _EPSILON]),
    noised(_whole_sum, [2 / _EPSILON]),
    claimed=_EPSILON,
    kept=_EPSILON,
    theme="sensitivity",
    cell='# priced for a change from 0 to 100\ndpnb.plan({"years": hiv.age.sum()}, epsilon=0.5)',
    lever=Lever(
        "the person's new value",
        "ε",
        evenly(-1, 1, 0.1),
        1,
        "Up to 0 the noise is enough; beyond, one person moves the sum by more than it was scaled for.",
        _moved_to,
    ),
)


def _float_answer(data: Data, size: int, rng: np.random.Generator) -> Floats:
    return rng.laplace(float(data[0]), 1.0, size)


def _whole_answer(data: Data, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return np.asarray(data[0] + fast_noise.discrete_laplace(1.0, size, rng))


def impossible_share(sampler: Sampler, draws: int = 20_000, seed: int = 15, scale: float = 1.0) -> float:
    """Return the share of float Laplace answers of a scale, for a count of 0 or 1, that the other count cannot give."""
    rng = np.random.default_rng(seed)
    shares = []
    for count in (0.0, 1.0):
        uniform = np.maximum(rng.random(draws), FINEST_UNIFORM)
        answers = float_laplace(uniform, count, scale, sampler, above=rng.random(draws) < 0.5)
        shares.append(1 - possible(answers, 1 - count, scale, sampler).mean())
    return float(np.mean(shares))


def _measure_float() -> Numbers:
    law = DiscreteLaplaceLaw(1)  # type: ignore[arg-type]
    rng = np.random.default_rng(15)
    whole = fast_noise.discrete_laplace(1.0, 20_000, rng)
    empty = float(np.mean((law.pmf(whole) > 0) & ~(law.pmf(whole - 1) > 0)))
    return Numbers(
        Finding(0.0, impossible_share("numpy"), "share of answers that rule out the neighbour"),
        Finding(0.0, empty, "share of answers that rule out the neighbour"),
        exact=False,
        how="no uniform number on the generator's grid gives this answer for the other count; 40,000 draws",
        more=(
            (
                "the primer's noise",
                f"± b·ln u rules out the neighbour in {100 * impossible_share('exponential'):.0f} % of answers",
            ),
        ),
    )


def _ruled_out(scale: float) -> Lines:
    """Share of float Laplace answers of a scale that rule out the neighbour."""
    return 0.0, impossible_share("numpy", scale=scale), 0.0


_IMPOSSIBLE = ("no draw gives this answer for a count of 0", lambda answers: ~possible(answers, 0.0))

FLOAT_LAPLACE = Exhibit(
    "float-laplace",
    "Laplace noise in floating point",
    f"{PRIMER}, which says so itself; Mironov 2012",
    "a count plus float Laplace noise of scale 1/ε is ε-private",
    "The logarithm of a uniform float hits few of the floats near it, and which ones depends on what is added. "
    "Most answers are possible for one count and impossible for its neighbour.",
    "Integers on a public grid with exact discrete noise: every dpnb mechanism.",
    "Nothing: discrete noise has the same variance.",
    ([0], [1]),
    ("a count of 0", "a count of 1"),
    _measure_float,
    _float_answer,
    _whole_answer,
    claimed=1.0,
    kept=1.0,
    events=dict([_IMPOSSIBLE]),
    theme="floating point",
    cell="import numpy as np\nfrom dpnb.inference.simulated_release import add_noise\nfrom dpnb.trusted.mechanisms import DiscreteLaplace\n\n"
    "noise = DiscreteLaplace.calibrate(1, 1)\nadd_noise(noise, np.zeros(10, dtype=int), np.random.default_rng(1))",
    event=_IMPOSSIBLE,
    lever=Lever(
        "scale of the noise, 1/ε",
        "share ruled out",
        tuple(2.0**power for power in range(-2, 4)),
        1,
        "No amount of noise closes the holes between floats.",
        _ruled_out,
    ),
)


_THOUSAND, _TENTH, _AT = 1000, 0.1, -0.99
_FINE_STEPS = 100_000


def records_to_change_rms(at: float, rows: int, epsilon: float) -> tuple[float, float]:
    """Return the exact root mean squared error of the score for data that all equal `at` in [-1, 1], and P(error < 0).

    The j-th interval on either side of the mean holds the means that j changed records reach, and has weight
    width · e^(-ε(j-1)/2).
    """
    weights, squares, below = 0.0, 0.0, 0.0
    j = np.arange(1, rows + 1)
    falling = np.exp(-epsilon * (j - 1) / 2)
    for reach, sign in ((1 - at, 1), (at + 1, -1)):
        ends = reach * np.arange(rows + 1) / rows
        weights += float((np.diff(ends) * falling).sum())
        squares += float((np.diff(ends**3) / 3 * falling).sum())
        if sign < 0:
            below = float((np.diff(ends) * falling).sum())
    return math.sqrt(squares / weights), below / weights


def _measure_score() -> Numbers:
    found, below = records_to_change_rms(_AT, _THOUSAND, _TENTH)
    # a mean on a grid of 10⁵ steps, change-one: sensitivity R/n
    law = DiscreteLaplaceLaw(_FINE_STEPS / rational(str(_TENTH)))
    laplace = math.sqrt(law.variance_float) * 2 / _FINE_STEPS / _THOUSAND
    theory = math.sqrt(2) * 2 / (_THOUSAND * _TENTH)
    return Numbers(
        Finding(laplace, found, "rms error"),
        Finding(theory, laplace, "rms error", tolerance=1e-6),
        exact=True,
        how="a thousand values of -0.99 in [-1, 1], ε 0.1: the score's whole law, against Laplace noise on the same mean",
        more=(("the tight side", f"the error is downwards with probability {below:.3f} only"),),
    )


def _lying_at(at: float) -> Lines:
    """Errors of the score and of noise, for data that all lie at one place."""
    found, _ = records_to_change_rms(at, _THOUSAND, _TENTH)
    noise = math.sqrt(DiscreteLaplaceLaw(_FINE_STEPS / rational(str(_TENTH))).variance_float)
    laplace = noise * 2 / _FINE_STEPS / _THOUSAND
    return laplace, found, laplace


RECORDS_TO_CHANGE = Exhibit(
    "records-to-change",
    "The number of records to change as a score for the mean",
    f"{PRIMER}, end",
    "scoring a mean by how many records must change to reach it concentrates more than noise does when data lie near a bound",
    "Downwards that is true: there is little room. Upwards one record moves the mean by nearly all of the range, "
    "and the exponential mechanism pays a factor of two for not knowing the normaliser.",
    "Laplace or Gaussian noise on the sum for means; scores for medians and quantiles: dpnb's mean() and quantile().",
    "None: noise is never worse here, and half as wide for these data.",
    ([_AT] * 3, [_AT] * 2 + [1.0]),
    (
        "values that all lie near the lower bound",
        "one of them moved to the upper bound: this claim is about accuracy",
    ),
    _measure_score,
    sampled=False,
    theme="accuracy",
    cell="%%dp epsilon=0.1\ndistance = hiv.distvct.mean()\nmiddle = hiv.distvct.median()",
    lever=Lever(
        "where all values lie",
        "rms error",
        (-0.999, -0.99, -0.95, -0.9, -0.8, -0.7, -0.6, -0.5, -0.4, -0.3, -0.2, -0.1, 0),
        -0.99,
        "Near a bound or in the middle, the noise errs half as much.",
        _lying_at,
    ),
)
