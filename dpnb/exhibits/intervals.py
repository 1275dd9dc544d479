"""Exhibits about intervals: a critical value for the wrong scale, and one that is called conservative and is not."""

from __future__ import annotations

import math
from statistics import NormalDist

from dpnb.exhibits.exhibit import Exhibit, Finding, Lever, Lines, Numbers
from dpnb.inference import NoiseSum

SOCIAL = "D'Orazio, Honaker and King 2015, Differential Privacy for Social Science Inference"


def laplace_coverage(critical: float) -> float:
    """Return how often a Laplace error of standard deviation 1 lies within ± critical."""
    return 1 - math.exp(-critical * math.sqrt(2))


def normal_coverage(critical: float) -> float:
    """Return how often a normal error of standard deviation 1 lies within ± critical."""
    return 2 * NormalDist().cdf(critical) - 1


def laplace_critical(level: float) -> float:
    """Return the two-sided critical value of a Laplace error, in standard deviations."""
    return -math.log(1 - level) / math.sqrt(2)


def _exact_radius(normal_share: float, level: float) -> float:
    """The exact critical value of a mixture of normal and Laplace errors with total variance 1."""
    laplace = math.sqrt((1 - normal_share) / 2)
    return float(NoiseSum(normal_share, (laplace,) if laplace else ()).radius(1 - level))


def _measure_2996() -> Numbers:
    published, right = -math.log(0.05), _exact_radius(0.0, 0.95)
    return Numbers(
        Finding(0.95, laplace_coverage(published), "coverage", "exactly", 0.002),
        Finding(0.95, laplace_coverage(right), "coverage", "exactly", 0.002),
        exact=True,
        how=f"an error of standard deviation σ and Laplace law within ± {published:.3f} σ",
        more=(
            ("normal error", f"{100 * normal_coverage(published):.1f} %: further off"),
            (
                "critical value",
                f"{published:.3f} is for the scale b; for the standard deviation it is {right:.3f}, √2 less",
            ),
        ),
    )


def _critical(value: float) -> Lines:
    """How often a Laplace error lies within so many standard deviations."""
    return 0.95, laplace_coverage(value), None


RULE_2996 = Exhibit(
    "rule-2.996",
    "M ± 2.996 σ",
    f"{SOCIAL}, equation 18",
    "M ± 2.996 σ is a 95 % interval when the error is between normal and Laplace",
    "2.996 = -ln 0.05 counts in scales b of a Laplace law, whose standard deviation is b√2. The interval is √2 too wide.",
    "2.118 σ, or the exact Normal-Laplace quantile: dpnb.inference.NoiseSum, behind every dpnb interval.",
    "It saves: intervals are √2 narrower, half as many people are needed.",
    ([0.0], [0.0]),
    ("one estimate with Laplace noise", "the same: this claim is about coverage"),
    _measure_2996,
    sampled=False,
    theme="accuracy",
    cell="from dpnb.inference import NoiseSum\n\n"
    "# a Laplace error of standard deviation 1, at 95 %\nNoiseSum(variance=0.0, scales=(0.5**0.5,)).radius(0.05)",
    lever=Lever(
        "critical value, in standard deviations",
        "coverage",
        (1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.118, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8, 2.9, 2.996, 3.1, 3.2),
        2.996,
        "A Laplace error is covered at 95 % by 2.118 standard deviations.",
        _critical,
    ),
)


def _measure_critical() -> Numbers:
    published = laplace_critical(0.90)
    right = _exact_radius(0.999, 0.90)
    return Numbers(
        Finding(0.90, normal_coverage(published), "coverage", "at least"),
        Finding(0.90, normal_coverage(right), "coverage", "at least", 1e-6),
        exact=True,
        how=f"a normal error within ± {published:.3f} σ, the Laplace critical value at 90 %",
        more=(
            ("at 50 %", f"Laplace {laplace_critical(0.5):.3f}, normal {NormalDist().inv_cdf(0.75):.3f}"),
            (
                "at 95 %",
                f"Laplace {laplace_critical(0.95):.3f}, normal {NormalDist().inv_cdf(0.975):.3f}: true there, and above {100 * _crossing():.1f} %",
            ),
        ),
    )


def _crossing() -> float:
    """The level at which both critical values are equal."""
    low, high = 0.6, 0.99
    for _ in range(60):
        middle = (low + high) / 2
        normal = NormalDist().inv_cdf(0.5 + middle / 2)
        low, high = (middle, high) if laplace_critical(middle) < normal else (low, middle)
    return high


def _nominal(level: float) -> Lines:
    """How often a normal error lies within the Laplace critical value of this level, and within the exact one."""
    exact = _exact_radius(0.999, level)
    found = normal_coverage(laplace_critical(level))
    return level, found, normal_coverage(exact)


LAPLACE_CRITICAL = Exhibit(
    "laplace-critical-value",
    "The Laplace critical value “is guaranteed larger”",
    f"{SOCIAL}, footnote 6",
    "using the Laplace critical value for the whole error is conservative",
    "True at 95 %. Below 90.7 % the normal law has the larger critical value, and the interval covers less than it says.",
    "The exact quantile of the mixture, which dpnb computes in closed form.",
    "Nothing.",
    ([0.0], [0.0]),
    ("an estimate with mostly sampling error", "the same: this claim is about coverage"),
    _measure_critical,
    sampled=False,
    theme="accuracy",
    cell="from dpnb.inference import NoiseSum\n\n"
    "# mostly sampling error, at 90 %\nNoiseSum(variance=0.9, scales=(0.05**0.5,)).radius(0.10)",
    lever=Lever(
        "nominal level",
        "coverage",
        (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.907, 0.92, 0.95, 0.97, 0.99),
        0.9,
        "Below 90.7 % the interval covers less than it says.",
        _nominal,
    ),
)
