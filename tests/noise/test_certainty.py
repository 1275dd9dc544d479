"""Nothing is decided by rounding: every threshold is enclosed, every tie is settled by further bits."""

from __future__ import annotations

import random
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpnb.errors import PlanError
from dpnb.inference.seeded_bits import SeededBits
from dpnb.trusted.noise import exact
from dpnb.trusted.noise.exact import (
    _BASE,
    _OPEN,
    _acceptance,
    _Digits,
    _edge,
    _exp_arrays,
    _exp_lists,
    _exp_product,
    _geometric_tables,
    below_exp,
    exp_bounds,
)

WIDE = Context(prec=120, Emin=-(10**9), Emax=10**9)


def e_to_minus(exponent: Fraction, bits: int) -> Decimal:
    """2^bits·e^-exponent by another implementation (decimal rounds correctly), to 120 digits."""
    power = WIDE.exp(WIDE.divide(Decimal(-exponent.numerator), Decimal(exponent.denominator)))
    return WIDE.multiply(power, Decimal(2**bits))


class Script:
    """A source that gives the words it was told, then zeros."""

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, count: int) -> np.ndarray:
        given = [self.left.pop(0) if self.left else 0 for _ in range(count)]
        return np.array(given, dtype=np.uint64)


EXPONENTS = [
    Fraction(1, 10**18),
    Fraction(1, 3),
    Fraction(1),
    Fraction(2**70 + 1, 2**68),
    Fraction(44),
    Fraction(90),
    Fraction(10**6),
]


@pytest.mark.parametrize("bits", [8, 64, 200, 300])
@pytest.mark.parametrize("exponent", EXPONENTS, ids=str)
def test_enclosures_of_e_hold_and_are_tight(exponent, bits):
    """exp_bounds encloses e^-x for tiny, ordinary and huge x, at most two units wide."""
    low, high = exp_bounds(exponent, bits)
    assert low <= e_to_minus(exponent, bits) <= high
    assert high - low <= 2


def test_enclosures_of_e_hold_at_random():
    """A thousand random rationals: the enclosure holds."""
    rng = random.Random(3)
    for _ in range(1000):
        exponent = Fraction(
            rng.randrange(1, 2 ** rng.randrange(1, 90)), rng.randrange(1, 2 ** rng.randrange(1, 90))
        )
        low, high = exp_bounds(exponent, 150)
        assert low <= e_to_minus(exponent, 150) <= high
        assert high - low <= 2


def test_the_short_product_is_within_its_stated_error():
    """The 31-bit product lies within -2 and +6 units of e^-γ, alike for Python integers and words."""
    rng = random.Random(4)
    gammas = [rng.randrange(2 ** rng.randrange(30, 63)) for _ in range(3000)]
    gammas += [0, 1, (1 << 40) - 1, (1 << 51) - 1, (1 << 51), (127 << 56) + (1 << 56) - 1]
    arrays = _exp_product(np.array(gammas, dtype=np.uint64), *_exp_arrays())
    for gamma, array in zip(gammas, arrays.tolist(), strict=True):
        near = _exp_product(gamma, *_exp_lists())
        assert near == array
        assert near - 2 <= e_to_minus(Fraction(gamma, 2**56), 31) <= near + 6


VARIANCES = [
    Fraction(1, 2**300),
    Fraction(1, 2**61),
    Fraction(1, 400),
    Fraction(1, 143),
    Fraction(1, 145),
    Fraction(1, 30),
    Fraction(1, 10**9),
    Fraction(1, 2),
    Fraction(1),
    Fraction(9),
    Fraction(10**6 + 1, 7),
    Fraction(2**96),
    Fraction(2**150 + 1, 3),
]


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_acceptance_bounds_hold_for_every_candidate(variance):
    """The vectorised enclosure of the Gaussian acceptance probability holds, from the centre to beyond the far mark."""
    law = _acceptance(variance)
    rng = random.Random(5)
    reach = 14 * law.scale
    candidates = [*range(16), abs(law.far - 1), law.far, law.far + 1] + [
        rng.randrange(reach + 1) for _ in range(300)
    ]
    candidates = [sign * candidate for candidate in candidates for sign in (1, -1)]
    wide = max(candidates) >= 2**62
    lows, highs = law.bounds(np.array(candidates, dtype=object if wide else np.int64))
    for candidate, low, high in zip(candidates, lows.tolist(), highs.tolist(), strict=True):
        gamma = (abs(candidate) - variance / law.scale) ** 2 / (2 * variance)
        assert Fraction(*law.exponent(candidate)) == gamma
        assert low <= e_to_minus(gamma, 31) <= high
        assert high - low <= 2**12 + 20


@pytest.mark.parametrize(
    "scale", [Fraction(1, 3), Fraction(5, 2), Fraction(2**47), Fraction(10**15, 7)], ids=str
)
def test_digit_tables_are_the_law_to_the_last_bit(scale):
    """Each table entry is the 64-bit floor of the exact distribution function, and 16 bits decide only what they can."""
    for place, table in enumerate(_geometric_tables(scale)):
        rate = _BASE**place / scale
        all_mass = Decimal(1) if table.endless else WIDE.subtract(Decimal(1), e_to_minus(rate * _BASE, 0))
        for index, edge in enumerate(table.edges.tolist(), 1):
            below = WIDE.divide(WIDE.subtract(Decimal(1), e_to_minus(rate * index, 0)), all_mass)
            scaled = WIDE.multiply(below, Decimal(2**64))
            assert edge <= scaled <= edge + 1 or (edge == 2**64 - 1 and scaled > edge)
        least = np.searchsorted(table.edges, np.arange(2**16, dtype=np.uint64) << np.uint64(48), side="left")
        most = np.searchsorted(
            table.edges,
            (np.arange(2**16, dtype=np.uint64) << np.uint64(48)) | np.uint64(2**48 - 1),
            side="right",
        )
        decided = table.coarse != _OPEN
        assert (table.coarse[decided] == least[decided]).all()
        assert (least[decided] == most[decided]).all()
        assert (least[~decided] < most[~decided]).all()


@pytest.mark.parametrize("endless", [False, True])
def test_ties_are_settled_by_further_bits(endless):
    """A word equal to an edge goes below or above it as the next word says, in the vectorised route and in the scalar one."""
    table = _Digits.build(Fraction(1, 40), endless=endless)
    for index in (1, 7, 100, 255):
        fine = _edge(table.exponent, index, 128, endless=endless)
        word, rest = divmod(fine, 2**64)
        for further, digit in ((rest - 1, index - 1), (rest + 1, index)):
            lead, tail = word >> 48, (word << 16) & (2**64 - 1)
            bits = Script(*[lead | (lead << 16) | (lead << 32) | (lead << 48)], *[tail], further)
            assert table.draw(1, bits).tolist() == [digit]


def test_a_tie_of_two_words_reads_a_third():
    """Bits are read until they decide, however long that takes."""
    table = _Digits.build(Fraction(1, 40), endless=True)
    fine = _edge(table.exponent, 3, 192, endless=True)
    first, second, third = fine >> 128, (fine >> 64) & (2**64 - 1), fine & (2**64 - 1)
    assert table.settle(2, first, iter([second, third - 1])) == 2
    assert table.settle(2, first, iter([second, third + 1])) == 3


def test_acceptance_ties_are_settled_by_further_bits():
    """U < e^-γ is decided rightly for words just below and just above the threshold, at one, two and three words."""
    gamma = Fraction(22, 7)
    for words in (1, 2, 3):
        threshold = int(e_to_minus(gamma, 64 * words))
        for offset, answer in ((-1, True), (1, False)):
            value = threshold + offset
            parts = [(value >> (64 * (words - 1 - place))) & (2**64 - 1) for place in range(words)]
            assert below_exp(parts[0], gamma, iter(parts[1:])) is answer


def test_the_vectorised_acceptance_settles_what_31_bits_leave_open():
    """A candidate whose word falls inside its enclosure is decided by the exact threshold."""
    law = _acceptance(Fraction(1000))
    gamma = Fraction(*law.exponent(20))
    threshold = int(e_to_minus(gamma, 64))
    candidates = np.array([20, 20], dtype=np.int64)
    assert law.keep(candidates, Script(threshold - 1, threshold + 1)).tolist() == [True, False]


def test_floats_and_empty_scales_are_refused():
    """A float scale, zero and a negative scale are refused: an approximate law is never drawn."""
    for sampler in (exact.discrete_laplace, exact.discrete_gaussian):
        for bad in (0.5, 0, Fraction(-1)):
            with pytest.raises(PlanError):
                sampler(bad, 1, SeededBits(1))
    with pytest.raises(PlanError):
        exact.uniform_below(0, SeededBits(1))
