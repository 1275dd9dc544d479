"""Exhibits about composing: a constant that is missing, noise compared with the wrong rival, and a product of two epsilons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpnb.exhibits.exhibit import Exhibit, Finding, Lever, Lines, Numbers
from dpnb.exhibits.laws import composed_laplace_epsilon
from dpnb.exhibits.resampling import BRAWNER_HONAKER
from dpnb.inference import fast_noise
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.risk.composition import advanced
from dpnb.risk.curves import analytic_gaussian_sigma
from dpnb.risk.divergence import Pair
from dpnb.trusted.privacy.loss import positive, rational

_K, _EPSILON, _DELTA = 100, 0.5, 1e-6


def exact_share(epsilon: float, times: int, delta: float) -> float:
    """Return the largest ε of each of `times` Laplace answers that keeps (epsilon, delta) by exact composition."""
    low, high = epsilon / times, 4 * epsilon / math.sqrt(times)
    for _ in range(16):
        middle = (low + high) / 2
        kept = composed_laplace_epsilon(middle, times, delta, upwards=True, cells=500) <= epsilon
        low, high = (middle, high) if kept else (low, middle)
    return low


def _measure_advanced() -> Numbers:
    each = _EPSILON / math.sqrt(_K * math.log(1 / _DELTA))
    right = exact_share(_EPSILON, _K, _DELTA)
    proven = float(advanced(rational(f"{each:.9f}"), _K, "1e-6"))
    inflation = [_EPSILON**2 / (share**2 * _K) for share in (each, right)]
    return Numbers(
        Finding(_EPSILON, composed_laplace_epsilon(each, _K, _DELTA, upwards=False), "ε at δ = 1e-6"),
        Finding(_EPSILON, composed_laplace_epsilon(right, _K, _DELTA, upwards=True), "ε at δ = 1e-6"),
        exact=True,
        how="exact composition of 100 Laplace answers, each rounding down: a bound from below",
        more=(
            ("theorem", f"Dwork, Rothblum and Vadhan's bound for the same split is {proven:.3f}"),
            ("noise", f"variance × {inflation[1]:.1f} of one answer's, not {inflation[0]:.1f}"),
        ),
    )


def _answers(k: float) -> Lines:
    """ε of k answers at the published share, by exact composition."""
    promise, delta = _EPSILON, _DELTA
    each = promise / math.sqrt(k * math.log(1 / delta))
    fine = 4_000 if k == _K else 500  # bounds from below, finest where the exhibit stands
    found = composed_laplace_epsilon(each, int(k), delta, upwards=False, cells=fine)
    return promise, found, None


ADVANCED = Exhibit(
    "advanced-constant",
    "Advanced composition without its constant",
    f"{BRAWNER_HONAKER}, equation 12",
    "k answers at ε_i = ε/√(k ln(1/δ)) are together (ε, δ)-private",
    "The theorem has √(2k ln(1/δ)). Without the 2 the sum is too large even by exact composition, from k of about a hundred on.",
    "Calibrate by the privacy loss distribution, or charge ρ, whose sums need no theorem: dpnb.risk.exact, and every ρ budget.",
    "An eighth more variance by exact composition; twice as much with the theorem's own constant.",
    ([0] * _K, [1] * _K),
    ("a person who adds 0 to each of 100 counts", "a person who adds 1 to each"),
    _measure_advanced,
    claimed=_EPSILON,
    kept=_EPSILON,
    delta=_DELTA,
    sampled=False,
    theme="composition",
    cell="from dpnb.risk.exact import Step, exact_epsilon\n\n"
    'exact_epsilon([Step("laplace", "0.0126", times=100)], "1e-6")',
    lever=Lever(
        "answers, k",
        "ε at δ = 1e-6",
        (1, 2, 5, 10, 20, 50, 100, 200, 300, 500),
        100,
        "For few answers the rule is generous; from about a hundred on it is broken.",
        _answers,
    ),
)


def variance_ratio(epsilon: str, count: int) -> float:
    """Return the variance of the average of `count` fine-grained Laplaces over that of the analytic Gaussian at δ = 1e-6."""
    steps = 1_000
    average = averaged_variance(steps, epsilon, count) / steps**2
    return average / float(analytic_gaussian_sigma(1, epsilon, "1e-6")) ** 2


def _measure_averaged() -> Numbers:
    threshold = {epsilon: gaussian_threshold(epsilon, "1e-6") for epsilon in ("0.1", "0.5", "1")}
    return Numbers(
        Finding(1.0, variance_ratio("0.5", 10), "variance ratio"),
        Finding(1.0, variance_ratio("0.5", math.floor(threshold["0.5"])), "variance ratio"),
        exact=True,
        how="variance of the average of 10 Laplaces over that of Gaussian noise, both for ε 0.5 and δ 1e-6",
        more=(
            ("published k", f"below ln(1.25/δ) = {math.log(1.25e6):.1f}"),
            ("right k", ", ".join(f"below {k:.1f} at ε {e}" for e, k in threshold.items())),
            ("at k = 10", ", ".join(f"{variance_ratio(e, 10):.2f} at ε {e}" for e in threshold)),
        ),
    )


def _averaged(k: float) -> Lines:
    """Variance of the average of k Laplaces over that of Gaussian noise."""
    return 1.0, variance_ratio("0.5", int(k)), None


AVERAGED = Exhibit(
    "averaged-laplace",
    "The average of k Laplaces against the Gaussian",
    f"{BRAWNER_HONAKER}, Remark 2",
    "averaging k Laplace answers is pure ε, nearly normal, and less noisy than Gaussian noise for k < ln(1.25/δ)",
    "It is private. The comparison is with the classic Gaussian mechanism; the analytic one (Balle and Wang 2018) needs far "
    "less noise, and at k = 10, where the average is nearly normal, it already wins.",
    "Compare with the analytic Gaussian: dpnb.exhibits.composing.gaussian_threshold.",
    "Nothing: at k = 10 the Gaussian mechanism is the better choice wherever a δ is allowed.",
    ([0], [1]),
    ("one count", "the same count, one higher: this claim is about accuracy"),
    _measure_averaged,
    sampled=False,
    theme="accuracy",
    cell="from dpnb.exhibits.composing import gaussian_threshold\n\n"
    '# below so many the average wins\ngaussian_threshold("0.5", "1e-6")',
    lever=Lever(
        "answers averaged, k",
        "variance ratio",
        tuple(map(float, range(1, 15))),
        10,
        "The average wins below eight answers, where it is not yet normal.",
        _averaged,
    ),
)


_ROWS, _FIRST, _SECOND = 10_000, 1.0, 0.1


def _chain(data: Sequence[int], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Randomise one bit at ε 1, copy it to all rows, count them, add Laplace noise at ε 0.1; show the end alone."""
    truth = rng.random(size) < 1 / (1 + math.exp(-_FIRST))
    bit = np.where(truth, data[0], 1 - data[0])
    return np.asarray(_ROWS * bit + fast_noise.discrete_laplace(1 / _SECOND, size, rng))


def chain_laws(second: float = _SECOND, at: NDArray[np.int64] | None = None) -> Pair:
    """Return the laws of the chain's output for a bit of 0 and of 1, at all outputs that matter or at some."""
    law = DiscreteLaplaceLaw(rational(str(1 / second)))
    if at is None:
        at = np.arange(-400, _ROWS + 401)
    logs = np.log(np.array([1 / (1 + math.exp(_FIRST)), 1 / (1 + math.exp(-_FIRST))]))
    with np.errstate(divide="ignore"):
        zero, one = np.log(law.pmf(at)), np.log(law.pmf(at - _ROWS))
    first = np.logaddexp(logs[1] + zero, logs[0] + one)
    return Pair([str(x) for x in at.tolist()], first, np.logaddexp(logs[0] + zero, logs[1] + one))


def _measure_product() -> Numbers:
    found = chain_laws().pure()
    local = 2 * math.atanh(math.tanh(_FIRST / 2) * math.tanh(_SECOND / 2))
    return Numbers(
        Finding(_FIRST * _SECOND, found.loss, "ε"),
        Finding(_FIRST, found.loss, "ε"),
        exact=True,
        how=f"{found.event}: the second step cannot hide what the first one copied everywhere",
        more=(
            (
                "grain of truth",
                f"if the second step hides every pair of its inputs, ε is {local:.4f}, at most ε₁ε₂/2",
            ),
        ),
    )


def _chained(second: float) -> Lines:
    """The loss of the chain's end, as its second step has another ε: by the outputs near both ends alone."""
    around = np.arange(-(reach := math.ceil(40 / second)), reach + 1)
    found = chain_laws(second, np.concatenate([around, _ROWS + around])).pure()
    return _FIRST * second, found.loss, _FIRST


PRODUCT = Exhibit(
    "product-of-epsilons",
    "ε₁ times ε₂",
    "course notes on Wasserman and Zhou's statistical framework",
    "releasing only M2(M1(x)) is ε₁ε₂-private",
    "M2 promises to hide one row of its input; M1 may have written one person into every row.",
    "Only the end is released: ε₁, by post-processing. Both are released: ε₁ + ε₂. That is what dpnb charges.",
    "The budget lasts a tenth as long as the product rule promises.",
    ([0], [1]),
    ("the person's bit is 0", "it is 1"),
    _measure_product,
    _chain,
    _chain,
    claimed=_FIRST * _SECOND,
    kept=_FIRST,
    theme="composition",
    cell="%%dp epsilon=0.1\nfirst = hiv[hiv.got == 1].count()\nlater = first * 2  # free",
    lever=Lever(
        "ε₂, of the second step",
        "ε",
        (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 3),
        0.1,
        "However small ε₂ is, what the first step wrote into every row comes through.",
        _chained,
    ),
)


def averaged_variance(sensitivity: int, epsilon: Fraction | str | float, count: int) -> float:
    """Return the variance of the average of `count` discrete Laplace draws that together spend `epsilon`, near 2kΔ²/ε².

    Exactly: release :math:`kx + L_1 + … + L_k` with draws of scale kΔ/ε, and divide by k. Each of the k answers is ε/k-DP, so that
    all together are ε-DP, and the average is a function of them. It is nearly normal, and k times as noisy as one answer.
    """
    return DiscreteLaplaceLaw(count * sensitivity / positive(epsilon)).variance_float / count


def gaussian_threshold(epsilon: Fraction | str | float, delta: Fraction | str | float) -> float:
    """Return the k below which the average of k Laplaces has less variance than the analytic Gaussian at (ε, δ).

    Against the classic calibration it is ln(1.25/δ), as Brawner and Honaker say; against that of Balle and Wang (2018) far lower.

    Examples
    --------
    >>> [round(gaussian_threshold(e, "1e-6"), 1) for e in ("0.1", "0.5", "1")]
    [6.6, 8.1, 8.9]
    """
    sigma = float(analytic_gaussian_sigma(1, epsilon, delta))
    return (sigma * float(positive(epsilon))) ** 2 / 2.0
