"""Exact samplers: integer noise with rational parameters, from random words, without one floating-point decision.

Every draw is exactly in law, given independent uniform words. Two routes lead to the same law and are tested against it and
against each other. *Few draws*: the rejection samplers of Canonne, Kamath and Steinke (2020) in Python integers.
*Many draws*: vectorised numpy on words. A geometric variable is written in base 256, where its digits are independent; each
digit inverts a table of its distribution function. A discrete Gaussian is a discrete Laplace candidate, accepted with
probability e^-γ.

Both rest on one idea. A uniform real U is known by its leading bits only. It is compared with a threshold that is known only
to lie between two integers. Where the known bits decide, they decide rightly; where they do not, that one draw reads further
bits and narrows the threshold until they do. The thresholds are irrational (e to a non-zero rational), so this ends with
probability one, and no rounding ever enters the law.

Refuses floats. Timing is *not* constant: how long a draw takes depends on the noise drawn (a known limit).

References
----------
Canonne, Kamath, Steinke (2020). The discrete Gaussian for differential privacy. NeurIPS.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.trusted.errors import PlanError
from dpnb.trusted.noise.bits import BitSource, Words

Integers = NDArray[Any]
"""int64, or Python integers (dtype object) where 63 bits might not be enough."""

WIDE_SCALE = 2**48
"""Above this scale the samplers return Python integers."""

_FEW = 96
_CHUNK = 1 << 16
_BASE = 256
_OPEN = 0xFFFF
_HALF = 1 << 16


# --- thresholds ------------------------------------------------------------------------------------------------------


def exp_bounds(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Enclose e^-exponent between two integers.

    Parameters
    ----------
    exponent : Fraction
        Not negative.
    bits : int
        Binary digits after the point.

    Returns
    -------
    (low, high) : tuple of int
        ``low <= 2**bits * e**-exponent <= high``, at most two apart.

    Notes
    -----
    The exponent is halved until it is below 2⁻⁸, the Taylor series is summed in fixed point, and the result squared back.
    Each term is cut by less than two units, each squaring doubles the error and adds at most two; the guard bits hold all.
    """
    top, bottom = exponent.numerator, exponent.denominator
    if top == 0:
        return 1 << bits, 1 << bits
    if top > bits * bottom:
        return 0, 1
    halvings = max(0, top.bit_length() - bottom.bit_length() + 9)
    work = bits + halvings + 24 + bits.bit_length()
    step = (top << work) // (bottom << halvings)
    total, term, count = 0, 1 << work, 0
    while term:
        total += -term if count & 1 else term
        count += 1
        term = (term * step >> work) // count
    for _ in range(halvings):
        total = total * total >> work
    error = (2 * count + 8) << halvings
    drop = work - bits
    return max(0, (total - error) >> drop), ((total + error) >> drop) + 1


_E_BITS = 31
_GAMMA_BITS = 56
_SLACK = (1 << 11) + 8


@cache
def _exp_lists() -> tuple[list[int], list[int]]:
    """floor(2³¹·e^(-i/32)) for i < 4096 and floor(2³¹·e^(-j/2¹⁶)) for j < 2048."""
    return _powers(Fraction(1, 32), 4096), _powers(Fraction(1, 2**16), 2048)


def _powers(exponent: Fraction, count: int) -> list[int]:
    """floor(2³¹·e^(-exponent·i)) for i < count, certified."""
    low, high = exp_bounds(exponent, 128)
    lows, highs = [1 << 128], [1 << 128]
    for _ in range(count - 1):
        lows.append(lows[-1] * low >> 128)
        highs.append((highs[-1] * high >> 128) + 1)
    floors = [value >> (128 - _E_BITS) for value in lows]
    if any(
        at != value >> (128 - _E_BITS) for at, value in zip(floors, highs, strict=True)
    ):  # pragma: no cover
        raise ArithmeticError("a table entry is not certain")
    return floors


@cache
def _exp_arrays() -> tuple[Words, Words]:
    coarse, middle = _exp_lists()
    return np.array(coarse, dtype=np.uint64), np.array(middle, dtype=np.uint64)


def _exp_product(gamma: Any, coarse: Any, middle: Any) -> Any:
    """About 2³¹·e^-γ for γ given in 2⁻⁵⁶, γ < 128; on Python integers or arrays of words.

    γ = i/32 + j/2¹⁶ + r with r < 2⁻¹⁶ and 1 - r <= e^-r <= 1 - r + 2⁻³³. With the two floored factors and the two shifts the
    true value lies within [result - 2, result + 6].
    """
    head = coarse[gamma >> 51] * middle[(gamma >> 40) & 2047] >> _E_BITS
    return head * ((1 << _E_BITS) - ((gamma & ((1 << 40) - 1)) >> 25)) >> _E_BITS


def below_exp(word: int, exponent: Fraction, source: Iterator[int]) -> bool:
    """Whether U < e^-exponent, U uniform with leading 64 bits `word`; reads further bits only where these do not decide."""
    known = 64
    while True:
        low, high = exp_bounds(exponent, known + 8)
        if (word + 1) << 8 <= low:
            return True
        if word << 8 >= high:
            return False
        word, known = (word << 64) | next(source), known + 64


def _bernoulli_exp(top: int, bottom: int, source: Iterator[int]) -> bool:
    """True with probability exactly e^-(top/bottom)."""
    word, gamma = next(source), (top << _GAMMA_BITS) // bottom
    if gamma >> _GAMMA_BITS < 128:
        near = _exp_product(gamma, *_exp_lists())
        if word < (near - 2) << 33:
            return True
        if word >= (near + 6) << 33:
            return False
    return below_exp(word, Fraction(top, bottom), source)


# --- geometric digits ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Digits:
    """The law P(j) ∝ e^(-exponent·j) on 0..255, or with ``endless`` on 0, 1, 2, … with 255 standing for "255 or more".

    ``edges`` holds floor(2⁶⁴·P(digit < j)) for j = 1..255. ``coarse`` maps 16 leading bits to the digit where they decide it.
    """

    exponent: Fraction
    endless: bool
    edges: Words
    coarse: NDArray[np.uint16]

    @classmethod
    def build(cls, exponent: Fraction, *, endless: bool) -> _Digits:
        edges = np.array(_edges(exponent, endless=endless), dtype=np.uint64)
        crowd = np.bincount((edges >> np.uint64(48)).astype(np.int64), minlength=_HALF)
        coarse = np.where(crowd > 0, _OPEN, np.cumsum(crowd)).astype(np.uint16)
        return cls(exponent, endless, edges, coarse)

    def draw(self, size: int, bits: BitSource) -> NDArray[np.uint16]:
        lead = bits.words((size + 3) // 4).view(np.uint16)[:size]
        digit = self.coarse[lead]
        undecided = np.flatnonzero(digit == _OPEN)
        if undecided.size:
            digit[undecided] = self._finer(lead[undecided], bits)
        return digit

    def _finer(self, lead: NDArray[np.uint16], bits: BitSource) -> NDArray[np.uint16]:
        """Settle draws of which 16 bits are known with 48 more, and ties with as many as it takes."""
        word = (lead.astype(np.uint64) << np.uint64(48)) | (bits.words(lead.size) >> np.uint64(16))
        digit = np.searchsorted(self.edges, word, side="left")
        tied = np.flatnonzero(self.edges[np.minimum(digit, _BASE - 2)] == word)
        for at in tied.tolist():
            digit[at] = self.settle(int(digit[at]), int(word[at]), stream(bits))
        return digit.astype(np.uint16)

    def settle(self, digit: int, word: int, source: Iterator[int]) -> int:
        """Count the edges below U; `digit` edges are, and the leading 64 bits `word` equal those of the next."""
        known = 64
        while digit < _BASE - 1:
            edge = _edge(self.exponent, digit + 1, known, endless=self.endless)
            if word < edge:
                break
            if word > edge:
                digit += 1
                continue
            word, known = (word << 64) | next(source), known + 64
        return digit


def _edge(exponent: Fraction, index: int, bits: int, *, endless: bool) -> int:
    """floor(2^bits·P(digit < index)), certified: the precision rises until both ends of the enclosure agree."""
    work = bits + 64 + exponent.denominator.bit_length()
    while True:
        one = 1 << work
        low, high = exp_bounds(exponent * index, work)
        all_low, all_high = (0, 0) if endless else exp_bounds(exponent * _BASE, work)
        least = ((one - high) << bits) // (one - all_low)
        most = min(((one - low) << bits) // (one - all_high), (1 << bits) - 1)
        if least == most:
            return least
        work *= 2


def _edges(exponent: Fraction, *, endless: bool) -> list[int]:
    """All 255 edges at 64 bits: powers of one enclosure, each settled alone where the enclosure is too wide."""
    work = 224 + max(0, exponent.denominator.bit_length() - exponent.numerator.bit_length())
    one, edges = 1 << work, []
    low, high = exp_bounds(exponent, work)
    all_low, all_high = (0, 0) if endless else exp_bounds(exponent * _BASE, work)
    power_low = power_high = one
    for index in range(1, _BASE):
        power_low = power_low * low >> work
        power_high = (power_high * high >> work) + 1
        least = ((one - power_high) << 64) // (one - all_low)
        most = ((one - power_low) << 64) // (one - all_high)
        edges.append(least if least == most else _edge(exponent, index, 64, endless=endless))
    return edges


@lru_cache(maxsize=64)
def _geometric_tables(scale: Fraction) -> tuple[_Digits, ...]:
    """Base-256 digits of a geometric variable, lowest first; the last one is endless and rarely above 255."""
    low = 0
    while 8 * _BASE**low < scale:
        low += 1
    return (
        *(_Digits.build(_BASE**place / scale, endless=False) for place in range(low)),
        _Digits.build(_BASE**low / scale, endless=True),
    )


def _endless(table: _Digits, size: int, bits: BitSource) -> NDArray[np.int64]:
    """The unbounded digit. Geometric laws have no memory: after "255 or more", add 255 and draw again."""
    total = table.draw(size, bits).astype(np.int64)
    more = np.flatnonzero(total == _BASE - 1)
    while more.size:
        digit = table.draw(more.size, bits)
        total[more] += digit
        more = more[digit == _BASE - 1]
    return total


def _geometric(scale: Fraction, size: int, bits: BitSource) -> Integers:
    """P(g) ∝ e^(-g/scale) on 0, 1, 2, …, vectorised."""
    tables = _geometric_tables(scale)
    total: Integers = _endless(tables[-1], size, bits)
    if scale > WIDE_SCALE or int(total.max()) * _BASE ** (len(tables) - 1) >= 2**62:
        total = total.astype(object)
    for table in reversed(tables[:-1]):
        total = total * _BASE + table.draw(size, bits)
    return total


# --- the two laws ----------------------------------------------------------------------------------------------------


def stream(bits: BitSource, together: int = 16) -> Iterator[int]:
    """Give random words one by one. They are fetched `together` at a time; those that are left over are thrown away."""
    while True:
        yield from bits.words(together).tolist()


def _uniform_below(n: int, source: Iterator[int]) -> int:
    width = (n - 1).bit_length()
    if width <= 64:
        while True:
            value = next(source) >> (64 - width)
            if value < n:
                return value
    words = -(-width // 64)
    while True:
        value = 0
        for _ in range(words):
            value = (value << 64) | next(source)
        value >>= 64 * words - width
        if value < n:
            return value


def uniform_below(n: int, bits: BitSource) -> int:
    """Draw one integer uniformly from 0..n-1, exactly, for any positive n.

    Parameters
    ----------
    n : int
        Number of outcomes.
    bits : BitSource
        Source of random words.

    Returns
    -------
    int
    """
    if n <= 0:
        raise PlanError("A uniform draw needs at least one outcome.")
    return _uniform_below(n, stream(bits))


def bernoulli_exp(exponent: Fraction, bits: BitSource) -> bool:
    """Flip a coin that shows heads with probability exactly e^-exponent.

    Parameters
    ----------
    exponent : Fraction
        At least 0; at 0 the coin always shows heads.
    bits : BitSource
        Source of random words.

    Returns
    -------
    bool
    """
    if exponent < 0:
        raise PlanError("A coin that shows heads with probability e^-x needs x of at least 0.")
    return exponent == 0 or _bernoulli_exp(exponent.numerator, exponent.denominator, stream(bits))


@cache
def _unit_edges() -> list[int]:
    return _edges(Fraction(1), endless=True)


def _unit_geometric(source: Iterator[int]) -> int:
    """P(v) ∝ e^-v by inversion of one word; a tie, or 255 and more, goes on with further words."""
    edges, total = _unit_edges(), 0
    while True:
        word = next(source)
        digit = bisect_right(edges, word)
        if digit and edges[digit - 1] == word:
            table = _Digits(Fraction(1), True, np.empty(0, np.uint64), np.empty(0, np.uint16))
            digit = table.settle(edges.index(word), word, source)
        total += digit
        if digit < _BASE - 1:
            return total


def _one_laplace(top: int, bottom: int, source: Iterator[int]) -> int:
    """One draw of scale top/bottom (Canonne, Kamath and Steinke 2020, algorithm 2)."""
    while True:
        part = _uniform_below(top, source)
        if not _bernoulli_exp(part, top, source):
            continue
        size = (part + top * _unit_geometric(source)) // bottom
        if next(source) & 1 == 0:
            return size
        if size:
            return -size


def _many_laplace(scale: Fraction, size: int, bits: BitSource) -> Integers:
    value = _geometric(scale, size, bits)
    again = _negate(value, bits)
    while again.size:
        fresh = _geometric(scale, again.size, bits)
        left = _negate(fresh, bits)
        value = value.astype(np.result_type(value, fresh), copy=False)
        value[again] = fresh
        again = again[left]
    return value


def _negate(value: Integers, bits: BitSource) -> NDArray[np.int64]:
    """Give each magnitude a fair sign in place; return where that made a "minus zero", which must be drawn again."""
    coins = np.unpackbits(bits.words((value.size + 63) // 64).view(np.uint8))[: value.size]
    void = np.flatnonzero((value == 0) & (coins == 1))
    value *= 1 - 2 * coins.astype(np.int8)
    return void


def discrete_laplace(scale: Fraction, size: int, bits: BitSource) -> Integers:
    """Draw from P(k) ∝ e^(-|k|/scale), exactly.

    Parameters
    ----------
    scale : Fraction
        Any positive rational, in grid steps.
    size : int
        Number of draws.
    bits : BitSource
        Source of random words.

    Returns
    -------
    ndarray, shape (size,)
        int64; Python integers (dtype object) for a scale above 2⁴⁸, and in the event that a draw does not fit.

    Examples
    --------
    >>> from dpnb.inference.seeded_bits import SeededBits
    >>> discrete_laplace(Fraction(5, 2), 4, SeededBits(1)).shape
    (4,)
    """
    exact = _rational(scale, "scale")
    if size <= _FEW:
        source = stream(bits)
        return _packed([_one_laplace(exact.numerator, exact.denominator, source) for _ in range(size)], exact)
    return _in_chunks(lambda count: _many_laplace(exact, count, bits), size)


@dataclass(frozen=True, slots=True)
class _Acceptance:
    """e^-γ with γ = (|y| - σ²/t)²/(2σ²): the probability to keep a discrete Laplace candidate y of scale t = ⌊σ⌋ + 1.

    For arrays, y is put in units in which σ lies in (0.7·2²⁹, 2³⁰). Distances are then wrong by less than one unit, the 30-bit
    factor by less than one, so that z = √γ in 2⁻²⁸ is wrong by less than 8, γ = z² by less than 2³⁶ of 2⁻⁵⁶, and e^-γ by less
    than 2¹¹ + 6 of 2⁻³¹. Beyond |y| = 12σ, γ exceeds 60 and e^-γ is below one unit of 2⁻³¹; up to there all products stay
    below 2⁶³. (Below σ = 1/12 every candidate but zero is beyond, so the shift of a larger unit never meets a larger y.)
    """

    variance: Fraction
    scale: int
    far: int
    shift: int
    centre: int
    factor: int

    @classmethod
    def of(cls, variance: Fraction) -> _Acceptance:
        top, bottom = variance.numerator, variance.denominator
        scale = math.isqrt(top // bottom) + 1
        shift = 29 - (top.bit_length() - bottom.bit_length()) // 2
        unit = Fraction(2) ** shift
        return cls(
            variance,
            scale,
            math.isqrt(144 * top // bottom),
            shift,
            math.floor(variance * unit / scale),
            math.isqrt(math.floor(2**117 / (variance * unit**2))),
        )

    def exponent(self, candidate: int) -> tuple[int, int]:
        """γ of one candidate as numerator and denominator."""
        top, bottom = self.variance.numerator, self.variance.denominator
        gap = abs(candidate) * bottom * self.scale - top
        return gap * gap, 2 * top * bottom * self.scale * self.scale

    def bounds(self, candidates: Integers) -> tuple[Words, Words]:
        """Enclose 2³¹·e^-γ for each candidate between two integers."""
        size = np.abs(candidates)
        far = np.asarray(size > self.far, dtype=np.bool_)
        near = np.minimum(size, self.far)
        units = (near << min(self.shift, 62) if self.shift >= 0 else near >> -self.shift).astype(np.int64)
        z = np.abs(units - self.centre).astype(np.uint64) * np.uint64(self.factor) >> np.uint64(31)
        about = _exp_product(z * z, *_exp_arrays()).astype(np.int64)
        low = np.where(far, 0, np.maximum(about - _SLACK, 0))
        return low.astype(np.uint64), np.where(far, 1, about + _SLACK).astype(np.uint64)

    def keep(self, candidates: Integers, bits: BitSource) -> NDArray[np.bool_]:
        """Decide for each candidate, exactly: by 31 bits where they suffice, alone where they do not."""
        low, high = self.bounds(candidates)
        words = bits.words(candidates.size)
        lead = words >> np.uint64(33)
        kept = lead < low
        for at in np.flatnonzero((lead < high) & ~kept).tolist():
            gamma = Fraction(*self.exponent(int(candidates[at])))
            kept[at] = below_exp(int(words[at]), gamma, stream(bits))
        return kept


_acceptance = lru_cache(maxsize=64)(_Acceptance.of)


def _one_gaussian(law: _Acceptance, source: Iterator[int]) -> int:
    """One draw (Canonne, Kamath and Steinke 2020, algorithm 3)."""
    while True:
        candidate = _one_laplace(law.scale, 1, source)
        if _bernoulli_exp(*law.exponent(candidate), source):
            return candidate


def _many_gaussian(law: _Acceptance, size: int, bits: BitSource) -> Integers:
    parts: list[Integers] = []
    missing = size
    while missing:
        candidates = _many_laplace(Fraction(law.scale), missing + missing // 3 + 8, bits)
        parts.append(candidates[law.keep(candidates, bits)][:missing])
        missing -= parts[-1].size
    return np.concatenate(parts)


def discrete_gaussian(variance: Fraction, size: int, bits: BitSource) -> Integers:
    """Draw from P(k) ∝ e^(-k²/(2·variance)), exactly.

    Parameters
    ----------
    variance : Fraction
        Any positive rational: the parameter σ², in squared grid steps.
    size : int
        Number of draws.
    bits : BitSource
        Source of random words.

    Returns
    -------
    ndarray, shape (size,)
        int64; Python integers (dtype object) for σ above 2⁴⁸, and in the event that a draw does not fit.

    Examples
    --------
    >>> from dpnb.inference.seeded_bits import SeededBits
    >>> discrete_gaussian(Fraction(10), 4, SeededBits(1)).shape
    (4,)
    """
    law = _acceptance(_rational(variance, "variance"))
    if size <= _FEW:
        source = stream(bits)
        return _packed([_one_gaussian(law, source) for _ in range(size)], Fraction(law.scale))
    return _in_chunks(lambda count: _many_gaussian(law, count, bits), size)


def _rational(value: object, name: str) -> Fraction:
    if not isinstance(value, Rational):
        raise PlanError(f"The noise {name} must be an exact fraction, not a float.")
    exact = value if type(value) is Fraction else Fraction(value)
    if exact.numerator <= 0:
        raise PlanError(f"The noise {name} must be positive.")
    return exact


def _packed(draws: Sequence[int], scale: Fraction) -> Integers:
    wide = scale > WIDE_SCALE or any(abs(draw) >= 2**62 for draw in draws)
    return np.array(draws, dtype=object if wide else np.int64)


def _in_chunks(draw: Callable[[int], Integers], size: int) -> Integers:
    """Join draws of at most 2¹⁶, so that tables and temporaries stay in the cache."""
    return np.concatenate([draw(min(_CHUNK, size - start)) for start in range(0, size, _CHUNK)])
