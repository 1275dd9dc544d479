"""Permute-and-flip releases exactly the law it declares, keeps its claim on all tiny neighbours, and its mutants do not."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpnb.audit import audit
from dpnb.errors import LossError, PlanError
from dpnb.inference.seeded_bits import SeededBits
from dpnb.inference.selection_law import count_radius, probabilities
from dpnb.inference.simulated_release import choose
from dpnb.trusted.mechanisms import PermuteAndFlip
from dpnb.trusted.noise.exact import bernoulli_exp
from dpnb.trusted.privacy.loss import PrivacyLoss
from tests.contracts.law import FITS
from tests.contracts.mechanism import Audited, Drawn, TightContract

Counts = tuple[int, ...]
HALF = Fraction(1, 2)
EPSILONS = (Fraction(1, 20), Fraction(1), Fraction(6))


class TestPermuteAndFlip(TightContract):
    def mechanism(self):
        return PermuteAndFlip(Fraction(1), 4, 2, 2)

    def audited(self):
        return Audited(PermuteAndFlip(HALF, 2), ([3, 0], [3, 1]), PrivacyLoss.pure(HALF))

    def dearer(self):
        return PermuteAndFlip(HALF * Fraction(11, 10), 2)

    def drawn(self):
        return {"permute and flip": Drawn(PermuteAndFlip(Fraction(1), 3, 2), [5, 4, 2] * 2000)}

    def test_several_picks_are_run_and_not_read_off_the_first(self):
        """A second pick spends a second ε: the law of the first alone is not taken for the whole."""
        verdict = audit(PermuteAndFlip(HALF, 3, picks=2), ([3, 0, 0], [3, 0, 1]), 1, trials=2_000)
        assert not verdict.exact
        assert not verdict.breaks
        assert not audit(PermuteAndFlip(HALF, 2), ([3, 0, 3, 0], [3, 0, 3, 1]), HALF, trials=2_000).exact


def log_law(mechanism, counts: Counts) -> dict[tuple[int, ...], float]:
    """Log-probability of every ordered choice: the law of one pick, then of the next among what is left."""
    found = {}
    law = functools.cache(functools.partial(probabilities, mechanism, counts))
    for order in itertools.permutations(range(mechanism.size), mechanism.picks):
        total, left = 0.0, tuple(range(mechanism.size))
        for index in order:
            total += math.log(law(left)[index])
            left = tuple(other for other in left if other != index)
        found[order] = total
    return found


def vectors(size: int, most: int) -> Iterator[Counts]:
    return itertools.product(range(most + 1), repeat=size)


def near(counts: Counts, adjacency: str) -> Iterator[Counts]:
    """Neighbours: one row fewer, or one row moved."""
    for at in range(len(counts)):
        if counts[at]:
            fewer = (*counts[:at], counts[at] - 1, *counts[at + 1 :])
            if adjacency == "add-remove":
                yield fewer
            else:
                for to in range(len(counts)):
                    yield (*fewer[:to], fewer[to] + 1, *fewer[to + 1 :])


def worst(mechanism, most: int, adjacency: str) -> float:
    """The largest log-ratio over all neighbouring vectors of up to `most` rows a count."""
    laws = {counts: log_law(mechanism, counts) for counts in vectors(mechanism.size, most + 1)}
    return max(
        abs(laws[one][order] - laws[two][order])
        for one in vectors(mechanism.size, most)
        for two in near(one, adjacency)
        for order in laws[one]
    )


@pytest.mark.parametrize("picks", [1, 2])
@pytest.mark.parametrize(("adjacency", "factor"), [("add-remove", 1), ("change-one", 2)])
def test_no_tiny_neighbours_lose_more_than_the_claim(adjacency, factor, picks, capsys):
    """Every vector of three counts up to four: the log-ratio of the whole law is at most ε a pick, and one pick nearly reaches it."""
    found = {}
    for epsilon in EPSILONS:
        mechanism = PermuteAndFlip(epsilon, 3, picks, factor)
        found[str(epsilon)] = worst(mechanism, 4, adjacency) / float(mechanism.epsilon * mechanism.picks)
    with capsys.disabled():
        print(f"\n  {adjacency}, {picks} picks: worst log-ratio / claim {found}")
    assert max(found.values()) <= 1 + 1e-12
    assert found["6"] > (0.9 if picks == 1 else 0.7)


def test_add_remove_calibration_under_change_one_is_caught():
    """The mutant that forgets that a moved row changes two counts loses more than it claims."""
    assert worst(PermuteAndFlip(Fraction(6), 3, 1, 1), 4, "change-one") > 6 * 1.5


def test_a_rate_a_tenth_too_large_is_caught():
    """The mutant that spends 1.1 ε a pick is beyond the claim on tiny neighbours."""
    assert worst(PermuteAndFlip(Fraction(11, 2), 3), 4, "add-remove") > 5


def renyi(mechanism, one: Counts, two: Counts, order: float) -> float:
    """Rényi divergence of the first pick."""
    p, q = probabilities(mechanism, one), probabilities(mechanism, two)
    return math.log(float(np.sum(p**order * q ** (1 - order)))) / (order - 1)


def test_the_charge_of_the_exponential_mechanism_would_be_too_small():
    """A neighbour exceeds α ε²/8 (bounded range does not hold), and none found exceeds α ε·tanh(ε/2), which is charged."""
    epsilon, pairs = (
        1.0,
        [((gap, 0), (gap, 1)) for gap in range(12)]
        + [((gap,) * 1 + (0,) * 3, (gap + 1, 0, 0, 0)) for gap in range(12)],
    )
    ratios = []
    for one, two in pairs:
        mechanism = PermuteAndFlip(Fraction(1), len(one))
        for order in (1.01, 2.0, 4.0, 16.0):
            ratios += [
                renyi(mechanism, a, b, order) / order / epsilon**2 for a, b in ((one, two), (two, one))
            ]
    assert max(ratios) > 1 / 8
    assert max(ratios) <= math.tanh(0.5)


def chi_square(picks: np.ndarray, law: np.ndarray) -> float:
    seen, expected = np.bincount(picks, minlength=law.size), law * picks.size
    kept = expected >= 5
    if kept.sum() < 2:
        return 1.0
    return float(stats.chisquare(seen[kept], expected[kept] * seen[kept].sum() / expected[kept].sum()).pvalue)


CASES = [
    ((3, 5, 4, 0), Fraction(2)),
    ((0, 0, 0), Fraction(1)),
    ((7, 1), Fraction(1, 3)),
    ((2, 2, 1, 1, 0), Fraction(5)),
]


@pytest.mark.parametrize(("counts", "epsilon"), CASES, ids=str)
def test_exact_and_simulated_picks_have_the_declared_law(counts, epsilon):
    """The exact sampler and the simulator (a noisy maximum) draw the law that quadrature gives; 0.7 ε does not fit."""
    mechanism = PermuteAndFlip(epsilon, len(counts), 1, 2)
    law, bits = probabilities(mechanism, counts), SeededBits(71)
    assert math.isclose(law.sum(), 1, rel_tol=1e-12)
    exact = np.array([mechanism.release(counts, bits)[0] for _ in range(10_000)])
    fast = choose(mechanism, np.array(counts), np.random.default_rng(72), 40_000)[:, 0]
    assert chi_square(exact, law) > FITS
    assert chi_square(fast, law) > FITS
    if max(counts) > min(counts):
        wrong = probabilities(PermuteAndFlip(epsilon * Fraction(7, 10), len(counts), 1, 2), counts)
        assert chi_square(fast, wrong) < FITS


def test_a_fixed_order_is_caught(monkeypatch):
    """The mutant that visits values in the declared order does not have the law."""
    mechanism, counts = PermuteAndFlip(Fraction(1), 3), (2, 2, 2)
    monkeypatch.setattr("dpnb.trusted.mechanisms.permute_and_flip.uniform_below", lambda n, bits: 0)
    bits = SeededBits(73)
    assert (
        chi_square(
            np.array([mechanism.release(counts, bits)[0] for _ in range(300)]),
            probabilities(mechanism, counts),
        )
        < FITS
    )


def test_later_picks_are_among_what_is_left():
    """Picks of one cell differ, cells are apart, and all values are picked where all are asked; second picks fit their law."""
    mechanism, bits = PermuteAndFlip(Fraction(1), 3, 2), SeededBits(74)
    second = {0: [], 1: [], 2: []}
    for _ in range(6000):
        picked = mechanism.release([4, 3, 1, 0, 0, 9], bits)
        assert len(picked) == 4
        assert picked[0] != picked[1]
        second[picked[0]].append(picked[1])
    law = probabilities(mechanism, (4, 3, 1), [1, 2])
    assert chi_square(np.array(second[0]), law) > FITS
    assert sorted(PermuteAndFlip(Fraction(1), 5, 5).release([0] * 5, bits)) == [0, 1, 2, 3, 4]


def test_no_counts_make_a_choice_fail():
    """Empty, equal, huge and many counts give declared indices like any others."""
    bits = SeededBits(75)
    for counts in ([0], [0, 0], [2**62, 0], [2**70, 2**70 - 1], list(range(500))):
        for epsilon in (Fraction(1, 10**6), Fraction(10**6)):
            (picked,) = PermuteAndFlip(epsilon, len(counts)).release(counts, bits)
            assert 0 <= picked < len(counts)


def test_the_count_radius_holds_its_promise():
    """By its law, a pick is r rows below the largest with probability at most β."""
    counts = tuple(range(0, 120, 3))
    mechanism = PermuteAndFlip(Fraction(1, 2), len(counts))
    law = probabilities(mechanism, counts)
    for beta in (0.5, 0.05, 1e-4):
        radius = count_radius(mechanism, beta)
        assert sum(p for p, count in zip(law, counts, strict=True) if max(counts) - count > radius) <= beta


def test_a_coin_is_exact():
    """Heads come as often as e^-x says; at x = 0 always; below 0 is refused."""
    bits = SeededBits(76)
    for exponent in (Fraction(1, 7), Fraction(2)):
        heads = sum(bernoulli_exp(exponent, bits) for _ in range(20_000))
        assert stats.binomtest(heads, 20_000, math.exp(-exponent)).pvalue > FITS
    assert all(bernoulli_exp(Fraction(0), bits) for _ in range(100))
    with pytest.raises(PlanError):
        bernoulli_exp(Fraction(-1), bits)


def test_what_cannot_be_picked_is_refused():
    """No pick, more picks than values, a factor of zero, no loss and a float are refused."""
    for bad in ({"picks": 0}, {"picks": 5}, {"factor": 0}):
        with pytest.raises(PlanError):
            PermuteAndFlip(**{"epsilon": Fraction(1), "size": 4} | bad)
    for epsilon in (Fraction(0), 0.5):
        with pytest.raises(LossError):
            PermuteAndFlip(epsilon, 4)
