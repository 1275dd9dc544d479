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
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpnb.trusted.aggregate.algebra import SIZE_BITS, CrossMoments, bounds
from dpnb.trusted.measurements.facts import Facts, refuse
from dpnb.trusted.measurements.sums import ENTER, WITHIN

_ROOT_BITS = 20


def halves(request: CrossMoments, facts: Facts) -> tuple[int, ...]:
    """Return the half range of each value: by interval arithmetic, or of the shrink where rows are moved."""
    found = [max(map(abs, bounds(value, facts.ranges))) for value in request.values]
    if request.shrink is None:
        return tuple(found)
    first, *others = request.shrink.halves
    if first != 0 or any(size > half for size, half in zip(found[1:], others, strict=True)):
        raise refuse("a value leaves the half range by which its row is measured")
    return (1, *others)


def radius_squared(request: CrossMoments) -> Fraction | None:
    """Return the squared radius of the ball that moved rows lie in; nothing where none is moved."""
    shrink = request.shrink
    if shrink is None:
        return None
    whole = sum(half > 0 for half in shrink.halves) * 2**SIZE_BITS
    sizes = (*(min(limit, whole) for limit in shrink.limits), whole)
    most: int = max(size * (shrink.steps - below) ** 2 for below, size in enumerate(sizes))
    return Fraction(most, shrink.steps**2 * 2**SIZE_BITS)


def l2_squared(columns: int, square: Fraction | None, kind: str) -> Fraction:
    """Return how far one row can move the matrix, in squared Frobenius norm.

    Parameters
    ----------
    columns : int
        Number of columns beside the constant.
    square : Fraction or None
        Squared radius of the ball; nothing for the box.
    kind : {"enter", "within"}
        The row comes or goes, or changes.
    """
    whole = Fraction(1 + columns) ** 2
    box = whole if kind == ENTER else 2 * whole - (2 if columns % 2 == 0 else 0)
    if square is None:
        return box
    ball = (1 + square) ** 2
    if kind == WITHIN:
        ball = 8 * square if square < 1 else 2 * ball
    return min(box, ball)


def l1(columns: int, square: Fraction | None, kind: str) -> Fraction:
    """Return how far one row can move the upper triangle of the matrix, in L1; see :func:`l2_squared`."""
    p = columns
    box = Fraction((p + 1) * (p + 2), 2) if kind == ENTER else Fraction(p * (p + 2) ** 2, 2 * (p + 1))
    if square is None:
        return box
    reach = min(Fraction(p), _root_above(p * square))
    ball = ((1 + reach) ** 2 + 1 + square) / 2
    return min(box, ball if kind == ENTER else 2 * (ball - 1))


def _root_above(value: Fraction) -> Fraction:
    """Return a rational that is at least the square root."""
    scale = 4**_ROOT_BITS
    whole = -(-value.numerator * scale // value.denominator)
    return Fraction(math.isqrt(whole) + 1, 2**_ROOT_BITS)
