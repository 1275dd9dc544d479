"""Exhibits about resampling: three that take the randomness of a sample for privacy, and one that forgets its error."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpnb.exhibits.exhibit import Exhibit, Finding, Floats, Lever, Lines, Mechanism, Numbers, evenly
from dpnb.exhibits.laws import gaussian_mixture_delta, gaussian_mixture_epsilon, laplace_loss, noised
from dpnb.inference.resampling import noise_variance, resample_means
from dpnb.risk.bootstrap import inflation_for, multiplicities
from dpnb.risk.curves import gaussian_epsilon
from dpnb.risk.divergence import pair_of_laws

BRAWNER_HONAKER = (
    "Brawner and Honaker 2018, Bootstrap Inference and Differential Privacy: Standard Errors for Free"
)

_Z = 10
_PEOPLE = (np.zeros(1000, dtype=int), np.append(np.zeros(999, dtype=int), 1))


def resized_bootstrap(data: NDArray[np.int64]) -> dict[Hashable, float]:
    """Return the law of the mean of ⌈n/Z⌉ rows drawn with replacement, for 0/1 data and Z = 10."""
    from scipy.special import gammaln

    rows, draws = len(data), math.ceil(len(data) / _Z)
    share = float(np.mean(data))
    hits = np.arange(draws + 1)
    if share in {0.0, 1.0}:
        return {share: 1.0}
    logs = gammaln(draws + 1) - gammaln(hits + 1) - gammaln(draws - hits + 1)
    law = np.exp(logs + hits * math.log(share) + (draws - hits) * math.log1p(-share))
    assert rows > 0
    return dict(zip((hits / draws).tolist(), (law / law.sum()).tolist(), strict=True))


def overfit(rng: np.random.Generator, rows: int = 2_000, levels: int = 400, scale: float = 2.0) -> Floats:
    """Return the correlation of a chance category's code with the outcome, a coin, on the rows that train a model; the right one is 0.

    Five values, for codes (mean outcomes of the levels) that were fitted on these rows; on a resized bootstrap of them, as the post advises;
    on their counts with Laplace noise of this scale; on the same, shrunk by how uncertain each is; and on fresh rows.
    """
    from dpnb.estimate.impact import impact_codes

    group, fresh = rng.integers(0, levels, (2, rows))
    outcome, other = rng.integers(0, 2, (2, rows))
    drawn = rng.integers(0, rows, math.ceil(rows / _Z))
    exact = _counts(group, outcome, levels)
    noised = exact + rng.laplace(0, scale, exact.shape)
    size = np.maximum(noised.sum(axis=0), 1)
    share = np.clip(noised[1] / size, 0, 1)
    codes = (
        _codes(exact),
        _codes(_counts(group[drawn], outcome[drawn], levels)),
        _codes(noised),
        impact_codes(share, 0.25 / size + 4 * scale**2 / size**2).codes,
        _codes(_counts(fresh, other, levels)),
    )
    return np.array([np.corrcoef(code[group], outcome)[0, 1] if np.ptp(code) else 0.0 for code in codes])


def _counts(group: NDArray[np.int64], outcome: NDArray[np.int64], levels: int) -> Floats:
    """How many rows of each level have outcome 0, and 1."""
    return np.array([np.bincount(group[outcome == one], minlength=levels) for one in (0, 1)], dtype=float)


def _codes(counts: Floats) -> Floats:
    """The mean outcome of each level, pulled to one half if a level is rare."""
    return np.asarray(np.clip((counts[1] + 0.5) / (np.maximum(counts.sum(axis=0), 0) + 1), 0, 1))


def _as_codes() -> str:
    rng = np.random.default_rng(2018)
    plain, resized, noised, shrunk, fresh = np.mean([overfit(rng) for _ in range(100)], axis=0)
    return (
        f"effect codes of 400 chance levels on 2,000 rows, correlation with a coin: {resized:.2f} from the resized bootstrap, {plain:.2f} "
        f"from plain reuse, {noised:.2f} with Laplace counts at ε 1, {abs(shrunk):.2f} with the same shrunk, {abs(fresh):.2f} from fresh rows"
    )


def _resized_scale() -> float:
    """Laplace noise on the sum with the same total variation: ε = -2 ln(1 - 1/Z), read down to four digits."""
    return 1 / (math.floor(-2 * math.log(1 - 1 / _Z) * 1e4) / 1e4)


def _measure_resized() -> Numbers:
    nobody, one = (resized_bootstrap(data) for data in _PEOPLE)
    laws, scale = pair_of_laws(nobody, one), _resized_scale()
    draws = math.ceil(1000 / _Z)
    total = 1 - one[0.0]
    seven = next(k for k in range(1, 100) if 1 - (1 - total) ** k >= 0.5)
    small = resized_bootstrap(np.append(np.zeros(10, dtype=int), 1))
    return Numbers(
        Finding(1 / _Z, laws.pure().loss, "ε"),
        Finding(1 / scale, laplace_loss(_total, [scale], *_PEOPLE), "ε"),
        exact=True,
        how=f"the output is above 0: impossible under A, probability {total:.4f} under B",
        more=(
            (
                "δ of one use",
                f"{total:.4f} = 1 - (1 - 1/n)^{draws}; with 11 rows {1 - small[0.0]:.4f}, above 1/Z",
            ),
            (
                "corrected",
                f"variance {2 * scale**2 / 1000**2:.1e}, the bootstrap's p(1 - p)/100: less once p(1 - p) exceeds {200 * scale**2 / 1000**2:.4f}",
            ),
            ("uses", f"{seven} uses tell the two apart with probability one half"),
            ("data reuse", _as_codes()),
        ),
    )


def _total(data: NDArray[np.int64]) -> list[int]:
    return [int(np.sum(data))]


def _uses(times: float) -> Lines:
    """The chance that at least one of several uses proves that somebody answered 1."""
    nobody = resized_bootstrap(_PEOPLE[1])[0.0]
    return 0.0, 1 - nobody**times, 0.0


RESIZED_BOOTSTRAP = Exhibit(
    "resized-bootstrap",
    "The resized bootstrap",
    "Mount and Zumel, “A simple differentially private-ish procedure”",
    "publishing the mean of n/Z rows drawn with replacement is 1/Z-indistinguishable",
    "A value that nobody has can never be drawn, a value that one person has is drawn sometimes: their ratio is infinite. "
    "The procedure is (0, δ)-private with δ about 1/Z, and δ adds up with every use.",
    "Laplace noise of scale -1/(2n ln(1 - 1/Z)) has the same total variation and a finite ε: DiscreteLaplace on the sum.",
    "A pure ε instead of none, and less variance than the bootstrap unless nearly everyone answers alike.",
    _PEOPLE,
    ("1,000 zeros", "999 zeros and a one"),
    _measure_resized,
    resized_bootstrap,
    noised(_total, [_resized_scale()]),
    claimed=1 / _Z,
    kept=1 / _resized_scale(),
    theme="resampling",
    cell="%%dp epsilon=0.1\nshare = hiv.got.mean()",
    event=("the answer is above 0", lambda answers: np.asarray(answers) > 0),
    lever=Lever(
        "number of uses",
        "chance of proof",
        tuple(map(float, range(1, 41))),
        1,
        "Every use gives the one person away with the same chance, and the chances add up.",
        _uses,
    ),
)


_N, _RHO, _DELTA = 500, 0.5, 1e-6
_HALF_THOUSAND = (np.zeros(_N, dtype=int), np.append(np.zeros(_N - 1, dtype=int), 1))


def _bootstrap(inflation: float) -> Mechanism:
    """One noised resample of 0/1 data: its mean, with the noise of a Gaussian mechanism at ρ times a factor."""

    def mechanism(data: NDArray[np.int64], size: int, rng: np.random.Generator) -> Floats:
        rows = len(data)
        noise = math.sqrt(noise_variance(1 / rows, _RHO, 1, inflation))
        return np.asarray(rng.binomial(rows, np.mean(data), size) / rows + rng.normal(0, noise, size))

    return mechanism


def _one_resample(inflation: float) -> float:
    """The ε at δ of one resample when all other rows are at the bound: r copies shift the noise by r."""
    odds = np.array(multiplicities(_N))
    return gaussian_mixture_epsilon(odds, np.arange(odds.size) / inflation, _DELTA)


def _inflation() -> float:
    promise = float(gaussian_epsilon(1, str(_DELTA)))
    return inflation_for(promise, _DELTA, _RHO, 1, _N)


def _measure_bootstrap() -> Numbers:
    promise, factor = float(gaussian_epsilon(1, str(_DELTA))), _inflation()
    odds = np.array(multiplicities(_N))
    delta = gaussian_mixture_delta(odds, np.arange(odds.size, dtype=float), promise)
    order = 200.0
    logs = np.log(odds) + order * (order - 1) * np.arange(odds.size) ** 2 / 2
    rho = float((np.logaddexp.reduce(logs)) / (order - 1) / order)
    return Numbers(
        Finding(promise, _one_resample(1.0), "ε at δ = 1e-6"),
        Finding(promise, _one_resample(factor), "ε at δ = 1e-6"),
        exact=True,
        how="the output lies far above what the noise explains: the row was drawn r times, r binomial (n, 1/n)",
        more=(
            ("δ at that ε", f"{delta:.2g} where 1e-6 is claimed"),
            (
                "ρ",
                f"at least {rho:.0f} at Rényi order {order:g} where 0.5 is claimed; n² times the claim in the limit",
            ),
            ("noise", f"{factor:.2f} times as much keeps the promise, proven for every statistic"),
        ),
    )


def _inflated(factor: float) -> Lines:
    """δ at the claimed ε when the noise is larger by a factor."""
    odds = np.array(multiplicities(_N))
    promise = float(gaussian_epsilon(1, str(_DELTA)))
    found = gaussian_mixture_delta(odds, np.arange(odds.size) / factor, promise)
    return _DELTA, found, None


FREE_BOOTSTRAP = Exhibit(
    "free-bootstrap",
    "The bootstrap “for free”",
    f"{BRAWNER_HONAKER}, Remark 3 and Result 1",
    "a noised resample costs ρ like the noised statistic itself, so that standard errors come for free",
    "A resample contains a row r times, and then the row moves the answer r times as far. The average of r is one; its tail is not.",
    "Noise larger by c(k), which falls towards 1.12 as k grows: dpnb.risk.bootstrap.inflation_for; "
    "for a mean, dpnb's mean() with its second moment.",
    "Four times the noise at k = 1, a third more at k = 50. mean() at the same ρ is tighter than either.",
    _HALF_THOUSAND,
    ("500 people, all at the lower bound 0", "the same, one of them at the upper bound 1"),
    _measure_bootstrap,
    _bootstrap(1.0),
    _bootstrap(4.05),
    claimed=float(gaussian_epsilon(1, "0.001")),
    kept=float(gaussian_epsilon(1, "0.001")),
    delta=1e-3,
    theme="resampling",
    cell="%%dp epsilon=0.2\n# pays for its spread: the interval is honest\nage = hiv.age.mean()",
    lever=Lever(
        "noise, times the published",
        "δ at the claimed ε",
        evenly(1, 6, 0.5),
        1,
        "For these two datasets three times the noise is enough; for every statistic it takes four.",
        _inflated,
    ),
)


_SHARE, _CLAIMED_RHO = 0.1, 0.05
_HONEST = math.sqrt(2 * _CLAIMED_RHO)
"""How far a person may move the answer, in standard deviations of the noise, at the claimed ρ."""


def _sampled(shift: float) -> Mechanism:
    """Release one person's number, times `shift`, with unit noise if a coin of probability p picks them; else noise."""

    def mechanism(data: Sequence[int], size: int, rng: np.random.Generator) -> Floats:
        return np.asarray(data[0] * shift * (rng.random(size) < _SHARE) + rng.normal(0, 1, size))

    return mechanism


def sampled_rho(shift: float, share: float, order: int) -> float:
    """Return D_α/α of (1-p)N(0,1) + pN(shift,1) against N(0,1), for a whole α."""
    from scipy.special import gammaln

    copies = np.arange(order + 1)
    binomial = gammaln(order + 1) - gammaln(copies + 1) - gammaln(order - copies + 1)
    logs = binomial + copies * math.log(share) + (order - copies) * math.log1p(-share)
    return float(np.logaddexp.reduce(logs + copies * (copies - 1) * shift**2 / 2)) / (order - 1) / order


def _gaussian_epsilon(shift: float, delta: str) -> float:
    return float(gaussian_epsilon(Fraction(shift).limit_denominator(10**6), delta))


def _measure_amplification() -> Numbers:
    shift, order = _HONEST / _SHARE, 1000
    odds, shifts = np.array([1 - _SHARE, _SHARE]), np.array([0.0, shift])
    amplified = math.log1p(_SHARE * math.expm1(_gaussian_epsilon(shift, "1e-6")))
    wanted = _gaussian_epsilon(_HONEST, "1e-6")
    found = gaussian_mixture_epsilon(odds, shifts, 1e-6)
    return Numbers(
        Finding(_CLAIMED_RHO, sampled_rho(shift, _SHARE, order), "ρ"),
        Finding(amplified, gaussian_mixture_epsilon(odds, shifts, _SHARE * 1e-6), "ε at δ = 1e-7"),
        exact=True,
        how=f"Rényi divergence of order {order} between noise and noise that includes the person one time in ten",
        more=(
            ("as an ε", f"{found:.3g} at δ = 1e-6, where {wanted:.3g} follows from ρ = 0.05"),
            ("δ at that ε", f"{gaussian_mixture_delta(odds, shifts, wanted):.2g}"),
            ("(ε, δ)", f"ε 1 becomes {math.log1p(_SHARE * math.expm1(1)):.2f}, beside a tenth of δ"),
        ),
    )


def _at_share(share: float) -> Lines:
    """ρ of a sample of this share, for a mechanism that pays ρ/p² on it."""
    claimed = _CLAIMED_RHO
    found = sampled_rho(_HONEST / share, share, 1000)
    return claimed, found, None


AMPLIFICATION = Exhibit(
    "amplification",
    "ρ over p squared",
    f"{BRAWNER_HONAKER}, equations 16, 18 and 22",
    "a mechanism that costs ρ/p² on a sample of probability p costs ρ on the population",
    "Concentrated privacy looks at the worst outputs, and there the person was in the sample: no sampling makes ρ smaller.",
    "Amplify (ε, δ) instead: ε' = ln(1 + p(e^ε - 1)), δ' = pδ (Balle, Barthe and Gaboardi 2018).",
    "Small ε are amplified nearly by p; large ones by no more than ln(1/p).",
    ([0], [1]),
    ("the person's value is 0", "it is 1"),
    _measure_amplification,
    _sampled(_HONEST / _SHARE),
    _sampled(_HONEST),
    claimed=_gaussian_epsilon(_HONEST, "0.001"),
    kept=_gaussian_epsilon(_HONEST, "0.001"),
    delta=1e-3,
    theme="resampling",
    cell="import math\n\n# ε 1 on a tenth of the people, beside a tenth of δ\nmath.log1p(0.1 * math.expm1(1))",
    lever=Lever(
        "share of people in the sample, p",
        "ρ",
        (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
        0.1,
        "The smaller the sample, the more the rule allows, and the more it breaks.",
        _at_share,
    ),
)


def _measure_utility(studies: int = 20_000) -> Numbers:
    rng = np.random.default_rng(8)
    means = resample_means((rng.random((studies, 50)) < 0.3).astype(int), 1, rng)[:, 0]
    ratio = means.var(ddof=1) / (0.3 * 0.7 / 50)
    error = ratio * math.sqrt(2 / studies)
    return Numbers(
        Finding(1.0, ratio, "variance ratio", tolerance=4 * error),
        Finding(2.0, ratio, "variance ratio", tolerance=4 * error),
        exact=False,
        how=f"the variance of one resample's mean over that of the mean itself, {studies:,} studies, ± {error:.3f}",
        more=(("formula", "sampling variance times (1 + 1/k), plus the noise"),),
    )


def _resamples(k: float) -> Lines:
    """Variance of the average of k resamples over that of the statistic: the rule, and the truth."""
    return 1.0, 1 + 1 / k, None


SAME_UTILITY = Exhibit(
    "same-utility",
    "“The average of k bootstraps has the same utility”",
    f"{BRAWNER_HONAKER}, Result 1 and equation 35",
    "the average of k noised resamples varies as the noised statistic: sampling variance plus noise",
    "k resamples of one study differ from it by a k-th of the sampling variance, which the formula leaves out.",
    "Sampling variance times (1 + 1/k) plus noise: dpnb.inference.bootstrap.Bootstrap.standard_error.",
    "Nothing in privacy: intervals become honest. At k = 1 they are wider by a factor √2.",
    ([0.3], [0.3]),
    ("studies of 50 people, 30 in 100 of whom say yes", "the same: this claim is about accuracy"),
    _measure_utility,
    sampled=False,
    theme="accuracy",
    cell="import numpy as np\nfrom dpnb.inference.bootstrap import Bootstrap\n\n"
    "Bootstrap(np.array([4.0, 5.0, 6.0, 5.0]), noise_variance=0.25).standard_error()",
    lever=Lever(
        "resamples, k",
        "variance ratio",
        (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100),
        1,
        "The part that the formula leaves out falls as 1/k.",
        _resamples,
    ),
)
