"""Exhibits about two arms: private sizes that set the noise, an error printed without any, constants, and matching."""

from __future__ import annotations

import math

import numpy as np

from dpnb.cards.markup import Markup
from dpnb.exhibits.exhibit import Exhibit, Finding, Floats, Lever, Lines, Mechanism, Numbers, evenly
from dpnb.exhibits.intervals import SOCIAL
from dpnb.exhibits.laws import laplace_loss, noised, two_scale_delta
from dpnb.exhibits.matching_picture import Change, matching_picture
from dpnb.inference.matching import Pairs, match
from dpnb.inference.standard_error import (
    bin_odds,
    dyadic_standard_error,
    gap_odds,
    subset_variances,
    winsorized_standard_error,
)

Arms = tuple[Floats, Floats]
"""Who is in which arm, and the outcomes; or, of a matching, scores and arms."""
_EPSILON = 0.5
_SUMS, _COUNT = 0.9 * _EPSILON, 0.1 * _EPSILON


def _study(treated: int, outcome: float, rows: int = 1000) -> tuple[Floats, Floats]:
    """Arms and outcomes: `treated` rows in the second arm, one of which has `outcome`; all others have 0."""
    arm, y = np.zeros(rows), np.zeros(rows)
    arm[:treated] = 1
    y[0] = outcome
    return arm, y


def _published_sensitivity(treated: float, control: float) -> float:
    """The formula, with the arm sizes of the data themselves put in."""
    return 1 / (treated + 1) + 1 / (control + 1)


def _difference(data: Arms) -> float:
    arm, y = data
    return float(y[arm == 1].mean() - y[arm == 0].mean())


def _published_difference(data: Arms, size: int, rng: np.random.Generator) -> Floats:
    arm, _ = data
    treated = float(arm.sum())
    scale = _published_sensitivity(treated, arm.size - treated) / _EPSILON
    return np.asarray(_difference(data) + rng.laplace(0, scale, size))


def _arm_sums(data: Arms) -> list[int]:
    """Centred sums of both arms in half units, and the size of the second."""
    arm, y = data
    centred = 2 * y - 1
    return [int(centred[arm == 1].sum()), int(centred[arm == 0].sum()), int(arm.sum())]


_ARM_SCALES = [2 / _SUMS, 2 / _SUMS, 1 / _COUNT]
_ONE_TREATED = (_study(1, 0.0), _study(1, 1.0))
_LEAVES = (_study(1, 0.0), _study(2, 0.0))


def _measure_difference() -> Numbers:
    move = abs(_difference(_ONE_TREATED[1]) - _difference(_ONE_TREATED[0]))
    published = _published_sensitivity(1, 999)
    corrected = max(laplace_loss(_arm_sums, _ARM_SCALES, *pair) for pair in (_ONE_TREATED, _LEAVES))
    scales = {n: _published_sensitivity(n, 1000 - n) / _EPSILON for n in (1, 2, 3, 10, 11)}
    return Numbers(
        Finding(_EPSILON, _EPSILON * move / published, "ε"),
        Finding(_EPSILON, corrected, "ε"),
        exact=True,
        how=f"the difference moves by {move:g}, the noise was scaled for {published:.3f}",
        more=(
            (
                "scale of the noise",
                "it is known and depends on the arms: as one person changes arm, δ at ε 0.5 is "
                + ", ".join(
                    f"{two_scale_delta(scales[a], scales[b], _EPSILON):.2g} ({a} against {b} treated)"
                    for a, b in ((2, 1), (3, 2), (11, 10))
                ),
            ),
            ("no one treated", "the difference does not exist: δ = 1"),
        ),
    )


def _treated(people: float) -> Lines:
    """One of the treated has another outcome; the arms stay, so that both noises have one scale."""
    n, scale = int(people), _published_sensitivity(people, 1000 - people)
    first, other, leaves = _study(n, 0.0), _study(n, 1.0), _study(n + 1, 0.0)
    corrected = max(laplace_loss(_arm_sums, _ARM_SCALES, first, second) for second in (other, leaves))
    return _EPSILON, _EPSILON / people / scale, corrected


DIFFERENCE = Exhibit(
    "difference-of-means",
    "A difference of means whose arm sizes are private",
    f"{SOCIAL}, Algorithm 1 and Theorem A.1",
    "the difference of two means has sensitivity R/(n₁+1) + R/(n₀+1), so Laplace noise of that scale over ε is ε-private",
    "The theorem's n₁ and n₀ leave the changed person out; the algorithm puts in sizes that count them. "
    "And the sizes are data: they set the scale of the noise, and can be zero.",
    "Release two centred sums and a count, Laplace R/ε_s on each sum and 1/ε_c on the count: hiv.got.difference(by=…).",
    "None: with arms of a thousand the corrected standard deviation is below the published one (see the replication).",
    _ONE_TREATED,
    ("1,000 people, one treated, whose outcome is 0", "the same, and the outcome is 1"),
    _measure_difference,
    _published_difference,
    noised(_arm_sums, _ARM_SCALES),
    claimed=_EPSILON,
    kept=_EPSILON,
    theme="noise set by the data",
    cell='%%dp epsilon=0.5\neffect = hiv.got.difference(by="any")',
    columns="arm · outcome",
    lever=Lever(
        "people treated, of 1,000",
        "ε",
        (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200, 500),
        1,
        "The more people are treated, the smaller the break: the theorem counts one person more than the data.",
        _treated,
    ),
)


_SUBSETS, _CEILING = 4, 1.0
_SMALL = (
    (np.append(1.0, np.zeros(39)), np.zeros(40)),
    (np.append([1.0, 1.0], np.zeros(38)), np.append([0.0, 1.0], np.zeros(38))),
)


def _plain_standard_error(data: Arms) -> float:
    arm, y = data
    parts = [y[arm == a].var() / max((arm == a).sum(), 1) for a in (0, 1)]
    return float(math.sqrt(sum(parts)))


def published_error_sensitivity(smaller: float) -> float:
    """Return the published sensitivity of the standard error by the smaller arm N*: √(N* - 1)/N* times R/√N*, which is 0 at N* = 1."""
    return float(math.sqrt(max(smaller - 1, 0.0)) / smaller**1.5)


def _published_error(data: Arms, size: int, rng: np.random.Generator) -> Floats:
    arm, _ = data
    sensitivity = published_error_sensitivity(float(min(arm.sum(), arm.size - arm.sum())))
    return np.asarray(_plain_standard_error(data) + sensitivity * rng.laplace(0, 1 / _EPSILON, size))


def _subset_values(data: Arms) -> Floats:
    arm, y = data
    return subset_variances(y, _SUBSETS, arm)


def _dyadic(data: Arms, size: int, rng: np.random.Generator) -> Floats:
    return dyadic_standard_error(
        np.broadcast_to(_subset_values(data), (size, _SUBSETS)), _CEILING, _EPSILON, rng
    )


def _dyadic_loss(first: Arms, second: Arms) -> float:
    """The exact loss of bin and noised average together, of which the standard error is a function."""
    values = [_subset_values(data) for data in (first, second)]
    odds = [bin_odds(v, _CEILING, _EPSILON / 2) for v in values]
    upper = np.exp2(odds[0][1] + 2.0)
    averages = [np.clip(v, 0.0, upper[:, None]).mean(axis=1) for v in values]
    chosen = np.abs(np.log(odds[0][0]) - np.log(odds[1][0]))
    return float(np.max(chosen + np.abs(averages[0] - averages[1]) * _SUBSETS * _EPSILON / 2 / upper))


def _measure_zero_noise() -> Numbers:
    errors = [_plain_standard_error(data) for data in _SMALL]
    smaller = min(_SMALL[0][0].sum(), 40 - _SMALL[0][0].sum())
    printed = smaller == 1 and errors[0] != errors[1]
    return Numbers(
        Finding(_EPSILON, math.inf if printed else 0.0, "ε"),
        Finding(_EPSILON, _dyadic_loss(*_SMALL), "ε"),
        exact=True,
        how=f"the output is exactly {errors[0]:g}: certain under A; under B it is {errors[1]:.3f} and noise",
        more=(
            (
                "true sensitivity",
                f"at least {abs(errors[1] - errors[0]):.3f} at N* = 1, where the formula says 0",
            ),
        ),
    )


def _small_arm(people: float) -> Lines:
    """Another one is treated, with outcome 1: what the formula allows the standard error to move, and how far it does."""
    n, rows = int(people), 40
    before = (np.append(np.ones(n), np.zeros(rows - n)), np.zeros(rows))
    after = (np.append(np.ones(n + 1), np.zeros(rows - n - 1)), np.eye(1, rows, n)[0])
    moved = abs(_plain_standard_error(after) - _plain_standard_error(before))
    return published_error_sensitivity(n), moved, None


ZERO_NOISE = Exhibit(
    "zero-noise-error",
    "A standard error without noise",
    f"{SOCIAL}, Lemma A.5",
    "the standard error of a difference of means has a sensitivity that falls with the smaller arm N*, and vanishes at N* = 1",
    "One person in an arm has no spread; a second one gives it some. And N* is private: it sets the scale of the noise.",
    "Subsample and aggregate in dyadic bins (dpnb.inference.standard_error), or buy second moments, as every dpnb mean does.",
    "Several times the sampling noise of the standard error itself; the more subsets, the less (see the replication).",
    _SMALL,
    ("40 people, one treated, all outcomes 0", "one of the others is treated, with outcome 1"),
    _measure_zero_noise,
    _published_error,
    _dyadic,
    claimed=_EPSILON,
    kept=_EPSILON,
    theme="noise set by the data",
    cell="%%dp epsilon=0.2\n# its standard error is bought with it\nmoney = hiv.tinc.mean()",
    columns="arm · outcome",
    event=("the answer is exactly 0", lambda answers: np.asarray(answers) == 0.0),
    lever=Lever(
        "people in the smaller arm, N*",
        "sensitivity",
        tuple(map(float, range(1, 16))),
        1,
        "At N* = 1 the formula says 0, so no noise is added.",
        _small_arm,
    ),
)


_M = 100
_BAND = (np.zeros(_M), np.append(np.zeros(_M - 1), 0.3))
_LIMITS = (0.0, 0.3)


def _winsorized_mean(data: Floats) -> float:
    return float(np.clip(data, *_LIMITS).mean())


def _published_mean(data: Floats, size: int, rng: np.random.Generator) -> Floats:
    """The last step alone: the mean within limits l and u, and noise of scale |u - l|/(2Mε)."""
    return np.asarray(
        _winsorized_mean(data) + rng.laplace(0, (_LIMITS[1] - _LIMITS[0]) / (2 * _M * _EPSILON), size)
    )


def _corrected_mean(data: Floats, size: int, rng: np.random.Generator) -> Floats:
    """The whole corrected algorithm."""
    return winsorized_standard_error(np.broadcast_to(np.asarray(data) ** 2, (size, _M)), 1.0, _EPSILON, rng)


def _measure_winsorized() -> Numbers:
    span = _LIMITS[1] - _LIMITS[0]
    move = abs(_winsorized_mean(_BAND[1]) - _winsorized_mean(_BAND[0]))
    alone = move / (span / (2 * _M * _EPSILON))
    corrected = move / (2 * span / (_M * _EPSILON)) + 2 * _quantile_loss(_EPSILON / 4, *_BAND)
    return Numbers(
        Finding(_EPSILON, alone, "ε"),
        Finding(_EPSILON, corrected, "ε"),
        exact=True,
        how="the mean moves by |u - l|/M; the scale of its noise is half of that over ε",
        more=(
            (
                "in all",
                f"the two quantiles cost ε/2 each besides: {alone + _EPSILON:g} for a claim of {_EPSILON:g}",
            ),
        ),
    )


def _crossed(share: float) -> Lines:
    """One estimate moves by a share of the range of limits; the quantiles are left out of both."""
    epsilon = _EPSILON
    return epsilon, 2 * epsilon * share, epsilon * share / 2


WINSORIZED = Exhibit(
    "winsorized-noise",
    "Noise for half of the range",
    f"{SOCIAL}, Algorithm 4, after Smith 2011",
    "the mean of M subset estimates within limits l and u, with Laplace noise of scale |u - l|/(2Mε), and two quantiles: ε",
    "One value may cross the whole of l to u: the noise alone costs 2ε, and the quantiles cost another ε.",
    "Quantiles with ε/4 each and noise 2|u - l|/(Mε); better, dyadic bins: dpnb.inference.standard_error.",
    "Four times the published noise; dyadic bins need a third to a fifth of that (see the replication).",
    _BAND,
    ("100 subset estimates of 0", "one of them is 0.3"),
    _measure_winsorized,
    _published_mean,
    _corrected_mean,
    claimed=_EPSILON,
    kept=_EPSILON,
    theme="sensitivity",
    cell="%%dp epsilon=0.2\nrobust = hiv.distvct.robust_mean()",
    lever=Lever(
        "one estimate's move, share of the range",
        "ε of the noise",
        evenly(0, 1, 0.05),
        1,
        "From half of the range on, the noise no longer covers the move.",
        _crossed,
    ),
)


def _ordered(values: Floats) -> Floats:
    return np.concatenate([[0.0], np.sort(np.asarray(values, dtype=float)), [1.0]])


def _quantile_loss(epsilon: float, first: Floats, second: Floats, share: float = 0.25) -> float:
    """The exact loss of a quantile drawn from gaps: the largest log-ratio of the two densities."""
    logs = []
    edges = np.unique(np.concatenate([_ordered(first), _ordered(second)]))
    middles = (edges[1:] + edges[:-1]) / 2
    for values in (first, second):
        ordered = _ordered(values)
        with np.errstate(divide="ignore", invalid="ignore"):
            density = np.log(gap_odds(ordered, share, epsilon)) - np.log(np.diff(ordered))
        logs.append(density[np.searchsorted(ordered, middles, "right") - 1])
    return float(np.max(np.abs(logs[0] - logs[1])))


_TYPESET, _EACH = 2.0, _EPSILON / 4


def _crossing(size: int) -> tuple[Floats, Floats]:
    """All values but one at a half; that one near either end."""
    cluster = np.linspace(0.5, 0.5 + 1e-9, size - 1)
    return np.append(cluster, 0.001), np.append(cluster, 0.999)


_CROSSING = _crossing(4)


def _quantile(epsilon: float) -> Mechanism:
    def mechanism(data: Floats, size: int, rng: np.random.Generator) -> Floats:
        ordered = _ordered(data)
        place = rng.choice(ordered.size - 1, size, p=gap_odds(ordered, 0.25, epsilon))
        return np.asarray(ordered[place] + np.diff(ordered)[place] * rng.random(size))

    return mechanism


def _measure_quantile() -> Numbers:
    return Numbers(
        Finding(_EACH, _quantile_loss(_TYPESET, *_CROSSING), "ε"),
        Finding(_EACH, _quantile_loss(_EACH, *_CROSSING), "ε"),
        exact=True,
        how="the largest ratio of the two densities of the drawn quantile",
        more=(
            ("40 values", f"{_quantile_loss(_TYPESET, *_crossing(40)):.3f}; never more than 2"),
            ("at any ε", "ε is not in the exponent: the loss is the same whatever ε is asked"),
        ),
    )


def _asked(epsilon: float) -> Lines:
    """A quarter of this ε is asked of the quantile; the exponent does not know it."""
    each = epsilon / 4
    published = _quantile_loss(_TYPESET, *_CROSSING)
    return each, published, _quantile_loss(each, *_CROSSING)


QUANTILE = Exhibit(
    "quantile-without-epsilon",
    "A private quantile whose exponent has no ε",
    "Smith 2011, Algorithm 2, typed in without its ε",
    "a gap is drawn with weight (Z_{i+1} - Z_i) exp(-|i - ak|): a quarter of ε",
    "Without ε in the exponent every quantile costs up to 2, whatever ε is asked.",
    "exp(-(ε/8)|i - ak|) for a quarter of ε, and a uniform draw inside the gap: dpnb's quantile, in exact integers.",
    "Accuracy that was never paid for: the right constant is noisier where values are few.",
    _CROSSING,
    ("three values of a half and one near 0", "the same, that one near 1"),
    _measure_quantile,
    _quantile(_TYPESET),
    _quantile(_EACH),
    claimed=_EACH,
    kept=_EACH,
    theme="sensitivity",
    cell="%%dp epsilon=0.2\nquarter = hiv.age.quantile(0.25)",
    lever=Lever(
        "ε asked, of which a quarter is the quantile's",
        "ε",
        (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0),
        0.5,
        "The loss is the same whatever is asked.",
        _asked,
    ),
)


_PAIRED = (
    (np.array([0.1, 0.4, 0.9, 0.12]), np.array([0, 0, 0, 1])),
    (np.array([0.6, 0.4, 0.9, 0.12]), np.array([0, 0, 0, 1])),
)


_CALIPER = 0.05


def _matched(data: Arms) -> Pairs:
    score, arm = data
    return match(score, arm, caliper=_CALIPER)


def _changes() -> Markup:
    """The neighbours, and two changes of a row that goes to the other arm: by four rows, net 0 and net −2."""
    before, after = (tuple(zip(score.tolist(), arm.tolist(), strict=True)) for score, arm in _PAIRED)
    others = ((0.1, 0), (0.35, 0), (0.6, 1))
    return matching_picture(
        (
            Change(before, after[0], _CALIPER),
            Change(((0.14, 1), *others), (0.64, 0), _CALIPER),
            Change(((0.14, 1), *others, (0.68, 0)), (0.56, 0), 0.1),
        )
    )


def _matched_rows(data: Arms) -> list[int]:
    return [2 * len(_matched(data))]


def _pairs(data: Arms) -> list[int]:
    return [len(_matched(data))]


def _published_matching(data: Arms) -> dict[str, float]:
    """The number of rows has sensitivity 0 between tables of one size, three times which is no noise."""
    return {str(_matched_rows(data)[0]): 1.0}


def _measure_matching() -> Numbers:
    rows = [_matched_rows(data)[0] for data in _PAIRED]
    kept = [_matched(data).rows for data in _PAIRED]
    return Numbers(
        Finding(_EPSILON, math.inf if rows[0] != rows[1] else 0.0, "ε"),
        Finding(_EPSILON, laplace_loss(_pairs, [1 / _EPSILON], *_PAIRED), "ε"),
        exact=True,
        how=f"the output is {rows[0]}: certain under A; under B it is {rows[1]}",
        more=(("matched set", f"{len(kept[0] ^ kept[1])} rows differ here; never more than 4, by proof"),),
    )


MATCHING = Exhibit(
    "matching",
    "Matching costs “three times” the sensitivity",
    f"{SOCIAL}, Theorem A.6 (the text says twice)",
    "after matching, a statistic has three times the sensitivity that it has on a table of fixed size",
    "Matching changes the size of the table. The number of rows has sensitivity 0 at a fixed size and moves by 2 after matching.",
    "The matched set moves by at most four rows, so four times the add-remove sensitivity; pairs by one: "
    "dpnb.inference.matching.",
    "Twice the range for the sum of signed outcomes, a count at sensitivity 1 for the pairs.",
    _PAIRED,
    ("one treated row, and a control within the caliper", "that control's score is now out of reach"),
    _measure_matching,
    _published_matching,
    noised(_pairs, [1 / _EPSILON]),
    claimed=_EPSILON,
    kept=_EPSILON,
    theme="sensitivity",
    cell="import numpy as np\nfrom dpnb.inference.matching import match\n\n"
    "pairs = match(np.array([0.1, 0.4, 0.9, 0.12]), np.array([0, 0, 0, 1]), caliper=0.05)\n"
    "len(pairs)  # one row moves it by one",
    columns="score · arm",
    event=("the answer is 2", lambda answers: np.asarray(answers, dtype=float) == 2),
    picture=_changes,
)
