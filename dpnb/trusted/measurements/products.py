r"""Two numbers together: a sharper bound for the sums of x, y, their squares and their product, and a count and others beside them.

With :math:`p = u/a` and :math:`q = w/b`, where :math:`|u| ≤ a, |w| ≤ b` by interval arithmetic, a row adds the integers
:math:`u, w, 2u^2-a^2, 2w^2-b^2, uw` and 1: in units of :math:`a, b, 2a^2, 2b^2, ab` the point
:math:`(p, q, p^2-½, q^2-½, pq)` of the box :math:`|p|, |q| ≤ 1`.

=======  ==============================  =================================  ===================================
move     when                            L1                                 squared L2
=======  ==============================  =================================  ===================================
enter    a row comes or goes             4                                  7/2
within   a row changes in its cell       16/3                               8
switch   a row changes cell              8                                  7
=======  ==============================  =================================  ===================================

*Proof.* Enter: L1 at most 1+1+½+½+1; with :math:`A = p^2, B = q^2` the squared L2 is
:math:`A+B+(A-½)^2+(B-½)^2+AB = ½+A^2+B^2+AB ≤ 7/2`. Switch: two cells, one enter in each. Within, from :math:`(s-d, t-e)` to
:math:`(s+d, t+e)`: signs may be dropped, since :math:`|se+td| ≤ |s||e|+|t||d|`, and :math:`s ≤ 1-d, t ≤ 1-e`. Then

.. math:: L1 = 2d+2e+4sd+4te+2(se+td) ≤ 8d+8e-4d^2-4e^2-4de ≤ 16/3,

a concave function whose maximum is at :math:`d = e = 2/3`; and with :math:`4d(1-d) ≤ 1` and :math:`x = d+e-2de ∈ [0, 1]`

.. math:: L2^2 = 4d^2+4e^2+16s^2d^2+16t^2e^2+4(se+td)^2 ≤ 4d + 4e + 4x^2 ≤ 8(d+e-de) ≤ 8.

*Noise of any scales.* With β the smallest scale in its unit, :math:`\sum_i s_i/b_i ≤ L1/β`; with σ² the smallest variance in its squared
unit, :math:`\sum_i s_i^2/2v_i ≤ L2^2/2σ^2`. In ρ, K(s, b) is convex in s, zero at 0, and falls with b at equal s/b: of all ways to share an
L1 the worst gives all of it to one entry of the smallest scale. The count moves by itself, and so does each other part of the frame, as
:mod:`~dpnb.trusted.measurements.sums` says: costs add over parts. A switch does an enter in each of two cells.
A part that is left out only lowers the sum. Which of this bound and the plain one is lower is a matter of the scales; both hold.

*Enumerated* over tiny neighbouring tables: ``test_no_neighbours_move_sums_farther_than_derived`` (*two numbers …*), and what is beside them
``test_sums_beside_two_numbers_do_not_undo_their_joint_bound``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from dpnb.trusted.aggregate.algebra import IntExpr, Lit, Mul, Sub, cells_of
from dpnb.trusted.measurements.facts import Facts
from dpnb.trusted.measurements.sums import ENTER, SWITCH, WITHIN, Frame, Part
from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import quotients

L1 = {WITHIN: Fraction(16, 3), ENTER: Fraction(4), SWITCH: Fraction(8)}
L2 = {WITHIN: Fraction(8), ENTER: Fraction(7, 2), SWITCH: Fraction(7)}
COUNTED = {WITHIN: 0, ENTER: 1, SWITCH: 2}


@dataclass(frozen=True, slots=True)
class Joint:
    """The parts of a frame as moments of two numbers: each with the unit in which the box has side two; the count, and other parts."""

    moments: tuple[tuple[Part, int], ...]
    count: Part | None
    others: tuple[Part, ...]

    def event(self, kinds: tuple[str, ...], facts: Facts) -> PrivacyEvent:
        """Return the event of the worst of some moves."""
        if isinstance(self.moments[0][0].noise, DiscreteLaplace):
            return PrivacyEvent.laplace(self._move(kind, facts.rows) for kind in kinds)
        return PrivacyEvent("gaussian", facts.rows**2 * max(self._rho(kind) for kind in kinds))

    def _move(self, kind: str, rows: int) -> list[tuple[Fraction, Fraction]]:
        scales = [(part.noise.scale, unit) for part, unit in self.moments]  # type: ignore[union-attr]
        smallest, least = min(scale for scale, _ in scales), min(scale / unit for scale, unit in scales)
        cells = 2 if kind == SWITCH else 1
        shifts = [(rows * L1[kind] / least * smallest / cells, smallest)]
        if self.count is not None and COUNTED[kind]:
            assert isinstance(self.count.noise, DiscreteLaplace)
            shifts.append((Fraction(rows), self.count.noise.scale))
        shifts += [(Fraction(rows * part.shifts(kind)[0]), part.noise.scale) for part in self.others]  # type: ignore[union-attr]
        return shifts * cells

    def _rho(self, kind: str) -> Fraction:
        least = min(part.noise.variance / unit**2 for part, unit in self.moments)  # type: ignore[union-attr]
        squares = [(L2[kind], least)]
        if self.count is not None:
            assert isinstance(self.count.noise, DiscreteGaussian)
            squares.append((Fraction(COUNTED[kind]), self.count.noise.variance))
        beside = ((part.noise.variance, part.shifts(kind)) for part in self.others)  # type: ignore[union-attr]
        squares += [(Fraction(shift**2), variance) for variance, shifts in beside for shift in shifts]
        return quotients(squares) / 2


def joint_event(frame: Frame, facts: Facts) -> PrivacyEvent | None:
    """Return the event of a frame with moments of two numbers, of the pair for which it is least; nothing for any other frame."""
    keys, facts = frame.several, facts.capped(frame.kept.where)
    if len(keys) > 1:
        return None
    private = (ENTER,) if frame.kept.private or not facts.changed else ()
    several = (SWITCH,) if cells_of(keys[0]) > 1 else ()
    kinds = (WITHIN, *private, *several) if facts.changed else (ENTER,)
    found = [one.event(kinds, facts) for one in _joints(frame, facts)]
    return min(found, key=lambda event: event.amount, default=None)


def _joints(frame: Frame, facts: Facts) -> Iterator[Joint]:
    """Give the frame as moments of the two factors of each product in it, and what is beside them."""
    for part in frame.parts:
        value = part.request.value
        if isinstance(value, Mul) and not isinstance(value.a, Lit) and not isinstance(value.b, Lit):
            if value.a == value.b and not any(_squares(other, value.a) for other in frame.parts):
                continue  # x and its square: plain bounds of 3, 2 and 4 in L1, and 5, 2 and 4 in L2, are below these
            if not any(facts.missing(factor, part.request.where) for factor in (value.a, value.b)):
                yield _joint(frame, value.a, value.b, facts)


def _joint(frame: Frame, x: IntExpr, y: IntExpr, facts: Facts) -> Joint:
    """Return the parts as moments of two numbers, each moment once, and the others."""
    a, b = (_half(frame, value, facts) for value in (x, y))
    slots: list[tuple[IntExpr, int]] = [
        (x, a),
        (y, b),
        (_square(x, a), 2 * a**2),
        (_square(y, b), 2 * b**2),
        (Mul(x, y), a * b),
    ]
    moments: list[tuple[Part, int]] = []
    others: list[Part] = []
    count: Part | None = None
    for part in frame.parts:
        value = part.request.value
        if value == Lit(1) and count is None:
            count = part
            continue
        place = next((at for at, (expr, unit) in enumerate(slots) if unit and expr == value), None)
        if place is None:
            others.append(part)
        else:
            moments.append((part, slots.pop(place)[1]))
    return Joint(tuple(moments), count, tuple(others))


def _half(frame: Frame, value: IntExpr, facts: Facts) -> int:
    """Return the half range of a number: that of a square in the frame, or its largest absolute value where that is more."""
    least = max(map(abs, facts.ends(value)))
    halves = (math.isqrt(part.request.value.b.value) for part in frame.parts if _squares(part, value))  # type: ignore[union-attr]
    return max(least, next(halves, 0))


def _squares(part: Part, value: IntExpr) -> bool:
    """Tell whether a part is 2 value² - h² for some h."""
    found = part.request.value
    if not isinstance(found, Sub) or not isinstance(found.b, Lit) or found.b.value < 0:
        return False
    return found == _square(value, math.isqrt(found.b.value))


def _square(value: IntExpr, half: int) -> IntExpr:
    return Sub(Mul(Lit(2), Mul(value, value)), Lit(half**2))
