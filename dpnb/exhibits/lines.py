"""What a lever shows: claimed, actual and corrected at a setting, by the exhibit's own functions and constants.

Each function takes the number under the hand and leaves everything else of its exhibit as it is.
"""

from __future__ import annotations

import math

import numpy as np

from dpnb.exhibits import arms, composing, defects, inputs, intervals, regression, resampling, scores
from dpnb.exhibits.laws import composed_laplace_epsilon, gaussian_mixture_delta, laplace_loss
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.risk.bootstrap import multiplicities
from dpnb.risk.curves import gaussian_epsilon
from dpnb.risk.divergence import Pair
from dpnb.trusted.privacy.loss import rational

Lines = tuple[float, float, float | None]
"""Claimed, actual, and corrected where the correction has a number there; what is actual may be infinite."""

NEW_VALUE: int = defects._HASHED[1][-1]
"""What the last person of the content-hash exhibit turns into."""


def uses(times: float) -> Lines:
    """The chance that at least one of several uses proves that somebody answered 1."""
    nobody = resampling.resized_bootstrap(resampling._PEOPLE[1])[0.0]
    return 0.0, 1 - nobody**times, 0.0


def inflated(factor: float) -> Lines:
    """δ at the claimed ε when the noise is larger by a factor."""
    odds = np.array(multiplicities(resampling._N))
    promise = float(gaussian_epsilon(1, str(resampling._DELTA)))
    found = gaussian_mixture_delta(odds, np.arange(odds.size) / factor, promise)
    return resampling._DELTA, found, None


def sampled(share: float) -> Lines:
    """ρ of a sample of this share, for a mechanism that pays ρ/p² on it."""
    claimed = resampling._CLAIMED_RHO
    found = resampling.sampled_rho(resampling._HONEST / share, share, 1000)
    return claimed, found, None


def resamples(k: float) -> Lines:
    """Variance of the average of k resamples over that of the statistic: the rule, and the truth."""
    return 1.0, 1 + 1 / k, None


def answers(k: float) -> Lines:
    """ε of k answers at the published share, by exact composition."""
    promise, delta = composing._EPSILON, composing._DELTA
    each = promise / math.sqrt(k * math.log(1 / delta))
    fine = 4_000 if k == composing._K else 500  # bounds from below, finest where the exhibit stands
    found = composed_laplace_epsilon(each, int(k), delta, upwards=False, cells=fine)
    return promise, found, None


def averaged(k: float) -> Lines:
    """Variance of the average of k Laplaces over that of Gaussian noise."""
    return 1.0, composing.variance_ratio("0.5", int(k)), None


def chained(second: float) -> Lines:
    """The loss of the chain's end, as its second step has another ε."""
    first = composing._FIRST
    return first * second, chain_loss(second), first


def chain_loss(second: float) -> float:
    """Return the exact loss of the end of the chain when its second step has this ε."""
    law = DiscreteLaplaceLaw(rational(str(1 / second)))
    reach = math.ceil(40 / second)
    at = np.concatenate(
        [np.arange(-reach, reach + 1), np.arange(composing._ROWS - reach, composing._ROWS + reach + 1)]
    )
    odds = np.log(np.array([1 / (1 + math.exp(composing._FIRST)), 1 / (1 + math.exp(-composing._FIRST))]))
    with np.errstate(divide="ignore"):
        zero, one = np.log(law.pmf(at)), np.log(law.pmf(at - composing._ROWS))
    logs = [np.logaddexp(odds[1] + zero, odds[0] + one), np.logaddexp(odds[0] + zero, odds[1] + one)]
    return float(Pair([str(x) for x in at.tolist()], *logs).pure().loss)


def moved_to(value: float) -> Lines:
    """The person of −1 moves to a value: the sum moves by the difference."""
    first, second, promise = [0.0, 1.0, -1.0], [0.0, 1.0, value], inputs._EPSILON
    published, right = (
        laplace_loss(lambda data: [sum(data)], [scale / promise], first, second) for scale in (1, 2)
    )
    return promise, published, right


def ruled_out(scale: float) -> Lines:
    """Share of float Laplace answers of a scale that rule out the neighbour."""
    return 0.0, inputs.impossible_share("numpy", scale=scale), 0.0


def lying_at(at: float) -> Lines:
    """Errors of the score and of noise, for data that all lie at one place."""
    found, _ = scores.records_to_change_rms(at, scores._ROWS, scores._EPSILON)
    noise = math.sqrt(DiscreteLaplaceLaw(scores._STEPS / rational(str(scores._EPSILON))).variance_float)
    laplace = noise * 2 / scores._STEPS / scores._ROWS
    return laplace, found, laplace


def treated(people: float) -> Lines:
    """One of the treated has another outcome; the arms stay, so that both noises have one scale."""
    n, scale = int(people), arms._published_sensitivity(people, 1000 - people)
    first, other, leaves = arms._study(n, 0.0), arms._study(n, 1.0), arms._study(n + 1, 0.0)
    corrected = max(
        laplace_loss(arms._arm_sums, arms._ARM_SCALES, first, second) for second in (other, leaves)
    )
    return arms._EPSILON, arms._EPSILON / people / scale, corrected


def small_arm(people: float) -> Lines:
    """Another one is treated, with outcome 1: what the formula allows the standard error to move, and how far it does."""
    n, rows = int(people), 40
    before = (np.append(np.ones(n), np.zeros(rows - n)), np.zeros(rows))
    after = (np.append(np.ones(n + 1), np.zeros(rows - n - 1)), np.eye(1, rows, n)[0])
    moved = abs(arms._plain_standard_error(after) - arms._plain_standard_error(before))
    return arms.published_error_sensitivity(n), moved, None


def crossed(share: float) -> Lines:
    """One estimate moves by a share of the range of limits; the quantiles are left out of both."""
    epsilon = arms._EPSILON
    return epsilon, 2 * epsilon * share, epsilon * share / 2


def asked(epsilon: float) -> Lines:
    """A quarter of this ε is asked of the quantile; the published exponent does not know it."""
    each = epsilon / 4
    published = arms._quantile_loss(arms._TYPESET, *arms._CROSSING)
    return each, published, arms._quantile_loss(each, *arms._CROSSING)


def critical(value: float) -> Lines:
    """How often a Laplace error lies within so many standard deviations."""
    return 0.95, intervals.laplace_coverage(value), None


def nominal(level: float) -> Lines:
    """How often a normal error lies within the Laplace critical value of this level, and within the exact one."""
    exact = intervals._exact_radius(0.999, level)
    found = intervals.normal_coverage(intervals.laplace_critical(level))
    return level, found, intervals.normal_coverage(exact)


def corners(k: float) -> Lines:
    """How far the sums of one row move between corners of a box in k columns: the formula, and the furthest."""
    count = int(k)
    worst = max(regression._flipped(flips, count) for flips in range(count + 1))
    return 32 * math.sqrt(count), worst, regression.box_bound(count)


def upper(bound: float) -> Lines:
    """A debt of 5 arrives; the noise was scaled by the upper bound alone."""
    promise, debt = defects._EPSILON, abs(defects._LOWER)
    return promise, debt * promise / bound if bound else math.inf, debt * promise / max(debt, bound)


def tiny(rows: float) -> Lines:
    """How far a float sum moves as one value moves by 1, with so many tiny rows behind it."""
    first, second = (data[: defects._MANY + int(rows)] for data in defects._FLOATS)
    promise = defects._EPSILON
    move = abs(defects.running_sum(second) - defects.running_sum(first))
    return promise, move * promise, promise


def hashed(value: float) -> Lines:
    """The last value becomes another one: whose subset's answers move."""
    rows = defects._HASHED[0]
    other = [*rows[:-1], int(value)]
    found, corrected = (
        laplace_loss(answer, defects._SCALES, rows, other)
        for answer in (defects._by_content, defects._by_place)
    )
    return defects._EPSILON, found, corrected
