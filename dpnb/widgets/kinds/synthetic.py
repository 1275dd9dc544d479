"""Which relations synthetic rows can keep: columns and two-way tables to choose, a loss to drag, and the strength of the signal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, ClassVar

from dpnb.cards.card import Card
from dpnb.errors import PlanError
from dpnb.inference.digits import number
from dpnb.inference.law import law_of
from dpnb.synthetic.design import FAIR, GOOD, MOST_COLUMNS, MOST_PURE
from dpnb.synthetic.tables import PairTables
from dpnb.trusted.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpnb.trusted.privacy.measure import Measure
from dpnb.widgets._base import Interaction
from dpnb.widgets.kinds.odds import scaled_law
from dpnb.widgets.registry import Facts, a_loss, a_whole
from dpnb.widgets.still_picture import bars, still

_EXAMPLE = {"age": 6, "educ": 5, "income": 6, "married": 2, "works": 2}
_LOSSES = {"epsilon": (0.1, 0.3, 1, 3, 10), "rho": (0.001, 0.01, 0.1, 0.5)}


class Synthetic(Interaction):
    """The two-way tables that a loss can measure well enough to draw synthetic rows from.

    Parameters
    ----------
    columns : mapping of str to int or pending synthetic rows, optional
        How many values each column has, 2 to 20 columns; or ``people.synthetic("age", "married")``. By default five of a survey.
    n : int, optional
        The number of people; by default the public one, else 10,000.
    relations : "all" or sequence of (str, str)
        The tables that are asked at first.
    epsilon, rho : number, optional
        The initial loss: a pure ε, or a ρ as (ε, δ) budgets count it; by default ε 1 or ρ 0.0244, which is ε 1 at δ = 10⁻⁶.
    adjacency : "change-one" or "add-remove"
        Which neighbours are protected.
    """

    module: ClassVar[str] = "synthetic"
    example: ClassVar[str] = 'people.synthetic("age", "educ", "married")'
    otherwise: ClassVar[object] = None

    def __init__(
        self,
        columns: Mapping[str, int] | PairTables | None = None,
        *,
        n: int | None = None,
        relations: str | Iterable[tuple[str, str]] = "all",
        epsilon: float | None = None,
        rho: float | None = None,
        adjacency: str = "change-one",
    ) -> None:
        if epsilon is not None and rho is not None:
            raise PlanError("Give epsilon= or rho=, not both.")
        pure, self._name, size = epsilon is not None, "", n
        if isinstance(columns, PairTables):
            schema, self._name = columns.questions()[0].dataset.schema, f"{columns.dataset}, "
            size, relations, adjacency = n or schema.unit.rows, columns.pairs, schema.unit.adjacency
            pure = pure or (rho is None and schema.budget.measure is Measure.PURE)
            columns = dict(zip(columns.design.names, columns.design.sizes, strict=True))
        self._levels = _levels(_EXAMPLE if columns is None else columns)
        self._pairs = _asked(tuple(self._levels), relations)
        self._n = a_whole("n", 10_000 if size is None else size, 10, 10**9)
        self._kind = "epsilon" if pure else "rho"
        self._loss = a_loss(epsilon or rho or (1 if pure else 0.0244))
        self._most = MOST_PURE if pure else math.comb(MOST_COLUMNS, 2)
        self._moves = 2 if adjacency == "change-one" else 1
        super().__init__()

    def describe(self) -> Facts:
        """State the tables and the noise of one alone at a loss of 1; see :class:`Interaction`."""
        one = DiscreteGaussian if self._kind == "rho" else DiscreteLaplace
        return {
            "dataset": f"{self._name}{self._n:,} people",
            "columns": [{"name": name, "levels": levels} for name, levels in self._levels.items()],
            "asked": [pair in self._pairs for pair in _pairs(tuple(self._levels))],
            "n": self._n,
            "kind": self._kind,
            "loss": self._loss,
            "law": scaled_law(one.calibrate(self._moves, Fraction(1))),
            "gates": {"full": GOOD, "least": FAIR, "tables": self._most},
            "problem": "",
        }

    def card(self) -> Card:
        """Draw the table of what each loss keeps; see :class:`Interaction`."""
        symbol = "ρ" if self._kind == "rho" else "ε"
        low, high = _LOSSES[self._kind][0] / 10, 10.0
        losses = sorted({*_LOSSES[self._kind], self.held("loss", self._loss, low, high)})
        asked = self._chosen()
        kept = [self._kept(asked, loss) for loss in losses]
        rows = [
            (f"{symbol} {loss:g}", f"{tables}", f"{sigma:.3g}", number(float(f"{g:.2g}")), _level(g))
            for loss, (tables, sigma, g) in zip(losses, kept, strict=True)
        ]
        drawn = [
            (f"{symbol} {loss:g}", one[0] / max(len(asked), 1), f"{one[0]} of {len(asked)}")
            for loss, one in zip(losses, kept, strict=True)
        ]
        names = ", ".join(f"{name} ({levels})" for name, levels in self._levels.items())
        head = ("loss", "tables kept", "σ of a cell", "g", "intervals")
        title, about = "Which relations the rows can keep", f"{names}; {self._n:,} people"
        note = "g = people / (cells of the largest table × σ). The largest tables go first until g is at least 1.5."
        picture = bars("tables that are strong enough", drawn)
        return still("synthetic", title, about, head, rows, self.facts, notes=[note], picture=picture)

    def _chosen(self) -> list[tuple[str, str]]:
        """Return the tables that are asked, as a hand left them."""
        names, pairs = tuple(self._levels), _pairs(tuple(self._levels))
        columns = _flags(self.chosen.get("columns"), [True] * len(names))
        asked = _flags(self.chosen.get("pairs"), [pair in self._pairs for pair in pairs])
        kept = {name for name, on in zip(names, columns, strict=True) if on}
        return [pair for pair, on in zip(pairs, asked, strict=True) if on and kept.issuperset(pair)]

    def _kept(self, asked: list[tuple[str, str]], loss: float) -> tuple[int, float, float]:
        """Return how many tables a loss keeps, their σ and their g; the largest go first."""
        cells = sorted(self._levels[one] * self._levels[other] for one, other in asked)
        while cells:
            sigma = _sigma(self._kind, self._moves, len(cells), loss)
            if (g := self._n / (cells[-1] * sigma)) >= FAIR and len(cells) <= self._most:
                return len(cells), sigma, g
            cells.pop()
        return 0, 0.0, 0.0


def _sigma(kind: str, moves: int, tables: int, loss: float) -> float:
    """Return the standard deviation of a cell's noise where so many tables share a loss equally."""
    share = Fraction(loss).limit_denominator(10**6) / tables
    law = law_of((DiscreteGaussian if kind == "rho" else DiscreteLaplace).calibrate(moves, share))
    return math.sqrt(law.variance_float)


def _flags(chosen: Any, first: list[bool]) -> list[bool]:
    """Return what was chosen, 1 or 0 for each; what is none of that leaves what stood there."""
    good = isinstance(chosen, list) and len(chosen) == len(first)
    return [one == 1 for one in chosen] if good else first


def _level(g: float) -> str:
    return "95 %" if g >= GOOD else "about 90 %" if g >= FAIR else "none"


def _pairs(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return every pair, in the order of the rows of a matrix: each name with all before it."""
    return [(first, name) for place, name in enumerate(names) for first in names[:place]]


def _levels(columns: Any) -> dict[str, int]:
    """Return how many values each column has.

    Raises
    ------
    PlanError
        If that is none of 2 to 20 columns with 2 to 1,000 values each.
    """
    if not isinstance(columns, Mapping) or not 2 <= len(columns) <= MOST_COLUMNS:
        raise PlanError('Name 2 to 20 columns with their numbers of values: {"age": 6, "married": 2}.')
    return {
        str(name): a_whole(f"The number of values of {name}", levels, 2, 1_000)
        for name, levels in columns.items()
    }


def _asked(names: tuple[str, ...], relations: Any) -> list[tuple[str, str]]:
    """Return the pairs whose tables are asked, in the order of the names."""
    if relations == "all":
        return _pairs(names)
    try:
        found = {frozenset(pair) for pair in relations}
    except TypeError:
        found = {frozenset(())}
    if not all(len(pair) == 2 and pair <= set(names) for pair in found):
        raise PlanError(
            f'relations is "all", or pairs of {", ".join(names)}: [("{names[0]}", "{names[1]}")].'
        )
    return [pair for pair in _pairs(names) if frozenset(pair) in found]
