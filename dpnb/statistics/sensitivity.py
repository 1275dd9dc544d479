r"""Sensitivity from the integer map: how far one privacy unit can move the parts of a release, and what that costs.

Every part is a vector over disjoint cells; a row adds an integer to the entry of the one cell it falls in. For one changed
row a part knows two public numbers: ``enter``, the largest :math:`|w|` a row can add, and ``within``, the largest
:math:`|w-w'|` when a row changes its values but stays in its cell. Three moves are then possible:

=========  ==========================================  =====================  ===========================
move       when                                        L1 of a part           squared L2 of a part
=========  ==========================================  =====================  ===========================
within     change-one                                  ``within``             ``within²``
enter      add-remove; change-one, private membership  ``enter``              ``enter²``
switch     change-one, several cells                   ``2 enter``            ``2 enter²``
=========  ==========================================  =====================  ===========================

Products of a factor, beside the sum of that factor, have a fourth, ``shared``: the factor moves, and the products with it by less than
they can alone (:mod:`dpnb.trusted.measurements.factors`); under ``within`` the factor is then still.

A part with one entry only (``alone``: the root of a tree) has no switch: there the row stays within.

Discrete Laplace noise of scale :math:`b_j` on part j costs :math:`ε = k\max_{moves}\sum_j L1_j/b_j`; discrete Gaussian noise
of variance :math:`v_j` costs :math:`ρ = k^2\max_{moves}\sum_j L2_j^2/2v_j`, where a unit holds at most k rows.

*Proof.* For k = 1 the log-ratio of a product of (discrete) Laplace laws is at most :math:`\sum_j |Δ_j|_1/b_j`, and the Rényi
divergence of order α of a product of discrete Gaussians is at most :math:`α\sum_j |Δ_j|_2^2/2v_j`. A unit of k rows changes by
at most k such row moves (rows are paired; an unpaired row enters or leaves). Scaled L1 norms add, and scaled L2 norms add by
the triangle inequality, so the losses grow by k and k². In ρ, Laplace noise costs :math:`\max_{moves}\sum_i K(k\,s_i, b_i)` over the
entries that a move shifts by :math:`s_i` (a switch shifts two by ``enter`` each), K being that of :mod:`dpnb.trusted.privacy.conversion`: the sum is
convex in the vector of shifts, which is the mean of k times the move of each row, so that k times one move is the worst. Brute force over tiny neighbouring tables confirms each bound.

References
----------
Bun & Steinke, *Concentrated differential privacy* (2016); Canonne, Kamath & Steinke, *The discrete Gaussian* (2020).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpnb.errors import PlanError
from dpnb.trusted.aggregate.algebra import IntExpr
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.unit import PrivacyUnit

WITHIN, ENTER, SWITCH, SHARED = "within", "enter", "switch", "shared"


@dataclass(frozen=True, slots=True)
class Component:
    """One released vector: what a row adds to its cell, and the two bounds on it.

    Parameters
    ----------
    name : str
        Name of the part, for example ``"sum"``.
    value : IntExpr
        The integer a row adds.
    enter, within : int
        Largest absolute contribution, and largest change of it inside a cell.
    words : str
        What it is, for the price list.
    alone : bool
        Whether the part has one entry that every row falls in: what is a switch for other parts is then a change within.
    shared : int, optional
        Largest change inside a cell while the factor moves that this part shares with others, or is; as ``within`` for all other parts.
    """

    name: str
    value: IntExpr
    enter: int
    within: int
    words: str
    alone: bool = False
    shared: int | None = None

    def __post_init__(self) -> None:
        if self.enter <= 0:
            raise PlanError(f"The {self.words} can only be zero: a public constant needs no release.")


@dataclass(frozen=True, slots=True)
class Moves:
    """The moves of one privacy unit that neighbouring tables allow.

    Parameters
    ----------
    kinds : tuple of str
        Some of ``"within"``, ``"enter"``, ``"switch"``, ``"shared"``.
    rows : int
        Most rows of one unit.
    """

    kinds: tuple[str, ...]
    rows: int

    @classmethod
    def of(cls, unit: PrivacyUnit, *, private: bool, cells: int) -> Moves:
        """Return the moves for an adjacency, private or public membership, and a number of cells."""
        if unit.adjacency == "add-remove":
            return cls((ENTER,), unit.max_rows)
        private = private or unit.unit != "row"
        kinds = (WITHIN, *((ENTER,) if private else ()), *((SWITCH,) if cells > 1 else ()))
        return cls(kinds, unit.max_rows)

    def with_factor(self) -> Moves:
        """Return the moves of parts some of which share a factor."""
        return replace(self, kinds=(*self.kinds, SHARED)) if WITHIN in self.kinds else self

    def l1(self, part: Component) -> dict[str, int]:
        """Return the L1 change of a part under each move of one row."""
        switch = part.within if part.alone else 2 * part.enter
        sizes = {WITHIN: part.within, ENTER: part.enter, SWITCH: switch, SHARED: _with_factor(part)}
        return {kind: sizes[kind] for kind in self.kinds}

    def l2_squared(self, part: Component) -> dict[str, int]:
        """Return the squared L2 change of a part under each move of one row."""
        switch = part.within**2 if part.alone else 2 * part.enter**2
        sizes = {
            WITHIN: part.within**2,
            ENTER: part.enter**2,
            SWITCH: switch,
            SHARED: _with_factor(part) ** 2,
        }
        return {kind: sizes[kind] for kind in self.kinds}

    def epsilon(self, parts: Sequence[tuple[Component, Fraction]]) -> Fraction:
        """Return ε for parts with discrete Laplace noise of the given scales."""
        costs = [sum((Fraction(self.l1(p)[kind]) / b for p, b in parts), Fraction(0)) for kind in self.kinds]
        return self.rows * max(costs)

    def event(self, parts: Sequence[tuple[Component, Fraction]]) -> PrivacyEvent:
        """Return the event of discrete Laplace noise of the given scales: its ε is :meth:`epsilon`."""
        return PrivacyEvent.laplace(
            [(self.rows * shift, b) for p, b in parts for shift in self.shifts(p, kind)]
            for kind in self.kinds
        )

    def shifts(self, part: Component, kind: str) -> tuple[Fraction, ...]:
        """Return how far each entry of a part moves under a move of one row: a switch leaves one entry and enters another."""
        if kind == SWITCH and not part.alone:
            return Fraction(part.enter), Fraction(part.enter)
        return (Fraction(self.l1(part)[kind]),)

    def rho(self, parts: Sequence[tuple[Component, Fraction]]) -> Fraction:
        """Return ρ for parts with discrete Gaussian noise of the given variances."""
        costs = [
            sum((Fraction(self.l2_squared(p)[kind]) / (2 * v) for p, v in parts), Fraction(0))
            for kind in self.kinds
        ]
        return self.rows**2 * max(costs)

    def split_epsilon(
        self,
        epsilon: Fraction,
        parts: Sequence[Component],
        shares: Mapping[str, Fraction],
        count: Component | None,
    ) -> dict[str, Fraction]:
        """Return Laplace scales that cost exactly ``epsilon`` or less, the count taking what the moves leave free.

        Parameters
        ----------
        epsilon : Fraction
            The loss to spend.
        parts : sequence of Component
            Parts other than the row count.
        shares : mapping
            Share of the loss for each of them; they may sum to less than one.
        count : Component, optional
            A row count; it takes all that is left under every move it takes part in.
        """
        self._refuse_constants(parts)
        per_row = epsilon / self.rows
        scales = {p.name: max(self.l1(p).values()) / (shares[p.name] * per_row) for p in parts}
        if count is not None:
            room = min(
                (per_row - sum((self.l1(p)[kind] / scales[p.name] for p in parts), Fraction(0))) / size
                for kind, size in self.l1(count).items()
                if size
            )
            scales[count.name] = 1 / room
        return scales

    def split_rho(
        self,
        rho: Fraction,
        parts: Sequence[Component],
        shares: Mapping[str, Fraction],
        count: Component | None,
    ) -> dict[str, Fraction]:
        """Return Gaussian variances that cost exactly ``rho`` or less; see :meth:`split_epsilon`."""
        self._refuse_constants(parts)
        per_row = rho / self.rows**2
        sizes = {p.name: max(self.l2_squared(p).values()) for p in parts}
        variances = {p.name: Fraction(sizes[p.name]) / (2 * shares[p.name] * per_row) for p in parts}
        if count is not None:
            room = min(
                (
                    per_row
                    - sum((self.l2_squared(p)[kind] / (2 * variances[p.name]) for p in parts), Fraction(0))
                )
                / size
                for kind, size in self.l2_squared(count).items()
                if size
            )
            variances[count.name] = 1 / (2 * room)
        return variances

    def _refuse_constants(self, parts: Sequence[Component]) -> None:
        """Refuse a part that no move changes: it is the same number on every neighbouring table."""
        for part in parts:
            if not any(self.l1(part).values()):
                raise PlanError(
                    f"The {part.words} is the same whatever the data are: a public constant needs no release."
                )

    def free_count(self, kind: str) -> bool:
        """Tell whether a count beside a centred sum costs nothing extra.

        Under change-one with one private cell, a row that enters or leaves moves a centred sum by half its range only, so
        the count fits in the other half. With several cells this holds for Gaussian noise alone.
        """
        if ENTER not in self.kinds and SWITCH not in self.kinds:
            return True
        return WITHIN in self.kinds and (SWITCH not in self.kinds or kind == "rho")


def _with_factor(part: Component) -> int:
    return part.within if part.shared is None else part.shared
