r"""A matrix of cross moments of rows that are moved into a ball: a smaller norm than that of the box.

``Shrink`` measures a row in half ranges by :math:`s = \sum_j ⌈2^{20}u_j^2/h_j^2⌉ ≥ 2^{20}\|x\|^2` and, with k of its limits below s, makes each
value :math:`u_j(m-k)/m` of m steps, toward zero. With k limits below, s is at most limit number k+1, or for the last k at most
:math:`p\,2^{20}`; so the moved row lies in the ball of :math:`r^2 = \max_k s_k((m-k)/m)^2/2^{20}`, which is computed here from the limits themselves.
The half ranges are those of the shrink, which the values are checked not to leave.

=======  ======================================  ==================================================
move     squared Frobenius                       L1 of the triangle, :math:`c = \min(p, \sqrt p\,r)`
=======  ======================================  ==================================================
enter    :math:`(1+r^2)^2`                       :math:`((1+c)^2 + 1 + r^2)/2`
within   :math:`2(1+r^2)^2`; 8r² if r < 1        :math:`2c + c^2 + r^2`
=======  ======================================  ==================================================

*Proof.* :math:`\|zz'\|_F = \|z\|^2 ≤ 1+r^2`. Within, with norms s, t of both x, :math:`f ≤ (1+s^2)^2 + (1+t^2)^2 ≤ 2(1+r^2)^2`; and where
:math:`st ≤ 1`, :math:`(z'w)^2 ≥ (1-st)^2` gives :math:`f ≤ 2(s+t)^2 + (s^2-t^2)^2`, which grows in s and in t while t ≤ 1, to :math:`8r^2`.
L1, enter: the triangle is half of :math:`\|z\|_1^2 + \|z\|_2^2`, with :math:`\|x\|_1 ≤ c`; within: twice that, the count apart. A moved row still
lies in the box (:mod:`dpnb.trusted.measurements.box`, where noise is met), so that the lesser of both bounds holds.

*Products of four.* A value may also be the product of two moved values. Entries are then monomials of z of degree four, the constant filling up:
:math:`z_az_bz_cz_d` stands :math:`m = 4!/∏k_j!` times in the tensor :math:`z^{⊗4}`, and each is released once. A moved row is a row of integers
over the half ranges, its products are exact, and nothing is rounded after the ball. With :math:`p_1 = 1+c, p_2 = 1+\min(p, r^2)`:

=======  ======================================  ====================================================================
move     squared norm of the tensor              L1 of the distinct entries
=======  ======================================  ====================================================================
enter    :math:`p_2^4`                           :math:`H = (p_1^4 + 6p_1^2p_2 + 3p_2^2 + 8p_1p_2 + 6p_2)/24`
within   :math:`2p_2^4`                          :math:`2(H - 1)`
=======  ======================================  ====================================================================

*Proof.* :math:`\|z^{⊗4} - w^{⊗4}\|^2 = \|z\|^8 + \|w\|^8 - 2(z'w)^4 ≤ 2p_2^4`; it is the sum of :math:`m(z^m - w^m)^2` over the entries. L1: the
distinct entries of :math:`|z|` sum to the complete homogeneous polynomial of degree four, which Newton's identities write in power sums; the third
and fourth are at most :math:`p_2`, since :math:`|x_j| ≤ 1`. Numbers are rounded up to multiples of 2⁻¹², so that amounts of noise stay short.

*Enumerated* over grids of rows: ``test_no_row_moves_the_matrix_farther_than_its_bound``,
``test_no_row_moves_products_of_four_farther_than_their_bound``; over tiny neighbouring tables:
``test_no_neighbours_move_products_of_four_farther_than_derived``.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

from dpnb.trusted.aggregate.algebra import SIZE_BITS, CrossMoments
from dpnb.trusted.measurements.facts import Facts, refuse
from dpnb.trusted.measurements.sums import ENTER, WITHIN

_ROOT_BITS = 20
_COARSE_BITS = 12


def halves(request: CrossMoments, facts: Facts) -> tuple[int, ...]:
    """Return the half range of each value: by interval arithmetic, or of the shrink where rows are moved."""
    found = [max(map(abs, facts.ends(value))) for value in request.values]
    if request.shrink is None:
        return tuple(found)
    half, products = request.shrink.halves, [request.factors(place) for place in range(len(found))]
    if half[0] != 0 or any(
        len(products[place]) == 1 and found[place] > half[place] for place in range(1, len(found))
    ):
        raise refuse("a value leaves the half range by which its row is measured")
    return (1, *(math.prod(half[one] for one in of) for of in products[1:]))


def monomial(request: CrossMoments, pair: tuple[int, int]) -> tuple[int, ...]:
    """Return the places of the values whose product an entry sums, in order, without the constant."""
    return tuple(sorted(one for place in pair for one in request.factors(place) if one))


def degree(request: CrossMoments) -> int:
    """Return of how many values the largest entries are products: four where a value is a product of moved ones, else two."""
    return 4 if any(len(request.factors(place)) > 1 for place in range(len(request.values))) else 2


def multiplicity(entry: tuple[int, ...], order: int) -> int:
    """Return how often an entry stands in the tensor of an order, the constant filling it up."""
    found = math.factorial(order) // math.factorial(order - len(entry))
    return found // math.prod(map(math.factorial, Counter(entry).values()))


def radius_squared(request: CrossMoments) -> Fraction | None:
    """Return the squared radius of the ball that moved rows lie in; nothing where none is moved."""
    shrink = request.shrink
    if shrink is None:
        return None
    whole = sum(half > 0 for half in shrink.halves) * 2**SIZE_BITS
    sizes = (*(min(limit, whole) for limit in shrink.limits), whole)
    most: int = max(size * (shrink.steps - below) ** 2 for below, size in enumerate(sizes))
    return Fraction(most, shrink.steps**2 * 2**SIZE_BITS)


def l2_squared(columns: int, square: Fraction | None, kind: str, order: int = 2) -> Fraction:
    """Return how far one row can move the matrix, in squared Frobenius norm; of order four, the tensor.

    Parameters
    ----------
    columns : int
        Number of columns beside the constant.
    square : Fraction or None
        Squared radius of the ball; nothing for the box.
    kind : {"enter", "within"}
        The row comes or goes, or changes.
    order : {2, 4}
        Of how many values the entries are products.
    """
    if order == 4:
        return (1 if kind == ENTER else 2) * _norm(columns, square) ** 4
    whole = Fraction(1 + columns) ** 2
    box = whole if kind == ENTER else 2 * whole - (2 if columns % 2 == 0 else 0)
    if square is None:
        return box
    ball = (1 + square) ** 2
    if kind == WITHIN:
        ball = 8 * square if square < 1 else 2 * ball
    return min(box, ball)


def l1(columns: int, square: Fraction | None, kind: str, order: int = 2) -> Fraction:
    """Return how far one row can move the upper triangle of the matrix, or the entries of the tensor, in L1; see :func:`l2_squared`."""
    p = columns
    if order == 4:
        two = _norm(p, square)
        one = _coarse(1 + min(Fraction(p), _root_above(p * (two - 1))))
        whole = (one**4 + 6 * one**2 * two + 3 * two**2 + 8 * one * two + 6 * two) / 24
        return whole if kind == ENTER else 2 * (whole - 1)
    box = Fraction((p + 1) * (p + 2), 2) if kind == ENTER else Fraction(p * (p + 2) ** 2, 2 * (p + 1))
    if square is None:
        return box
    reach = min(Fraction(p), _root_above(p * square))
    ball = ((1 + reach) ** 2 + 1 + square) / 2
    return min(box, ball if kind == ENTER else 2 * (ball - 1))


def _norm(columns: int, square: Fraction | None) -> Fraction:
    """Return what the squared norm of (1, x) is at most."""
    return _coarse(1 + min(Fraction(columns), Fraction(columns) if square is None else square))


def _coarse(value: Fraction) -> Fraction:
    return Fraction(math.ceil(value * 2**_COARSE_BITS), 2**_COARSE_BITS)


def _root_above(value: Fraction) -> Fraction:
    """Return a rational that is at least the square root."""
    scale = 4**_ROOT_BITS
    whole = -(-value.numerator * scale // value.denominator)
    return Fraction(math.isqrt(whole) + 1, 2**_ROOT_BITS)
