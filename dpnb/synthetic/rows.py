"""Tables of rows drawn from models, and the released tables made into them.

Each of M tables has twice as many rows as the data: then the sampling of rows adds little to what separates the tables. How many that is follows
from the public or the released number alone, also where rows with a missing cell are left out: the length of a file tells nothing more.

Rows are drawn by chance, not in proportion to the model. The combining rules take off a sampling variance that rows in proportion do not have, so that
intervals become too narrow; and one table would gain little, since its parameters are a draw themselves (eight columns, 10,000 people, ε 1: two-way
margins of one table are off by .022, in proportion by .021, of all tables together by .013).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from dpnb.inference.elementwise import Floats, Integers
from dpnb.synthetic import posterior
from dpnb.synthetic.design import Design, Pair, Variable
from dpnb.synthetic.effects import Effects, Totals
from dpnb.synthetic.posterior import Cells, Problem

Columns = dict[str, np.ndarray]
TIMES = 2
_FEW = 3.0


@dataclass(frozen=True, eq=False)
class Model:
    """What the released tables say, and tables of rows that agree with it.

    Parameters
    ----------
    design : Design
    totals : Totals
    size : float
        The number of rows, public or released.
    converged : bool
        Whether a model was found.
    cells : Cells, optional
        Combinations of levels; none where there is no model.
    chances : ndarray, shape (cells, tables)
        The models' chance of each.
    """

    design: Design
    totals: Totals
    size: float
    converged: bool
    cells: Cells | None = None
    chances: np.ndarray | None = None

    def margin(self, first: int, second: int) -> Floats:
        """Return the share of each pair of levels, the mean over the models; of levels of one column where both are one."""
        assert self.cells is not None
        assert self.chances is not None
        sizes = self.design.sizes
        at = self.cells.rows[:, first].astype(int) * sizes[second] + self.cells.rows[:, second]
        found = np.bincount(at, self.chances.mean(axis=1), sizes[first] * sizes[second])
        return np.asarray(found.reshape(sizes[first], sizes[second]))

    @property
    def rows_behind(self) -> float:
        """Of a pool, how many equal rows would be as good as its weighted ones, at least; of all cells no bound."""
        if self.cells is None or self.chances is None or not self.cells.pooled:
            return np.inf
        return float((1 / (self.chances**2).sum(axis=0)).min())


def model_of(
    design: Design,
    counts: Mapping[Pair, Floats],
    variances: Mapping[Pair, float],
    public: float | None,
    count: int,
    rng: np.random.Generator,
) -> Model:
    """Return models that agree with noised tables.

    Parameters
    ----------
    design : Design
    counts : mapping of (int, int) to ndarray
        The noised table of each measured pair.
    variances : mapping of (int, int) to float
        Variance of the noise on a cell of each.
    public : float or None
        The number of rows where it is public.
    count : int
        How many models are drawn.
    rng : numpy.random.Generator
    """
    effects = Effects(design.sizes, design.pairs)
    totals = effects.of_tables(counts, variances)
    size = totals.rows if public is None else public
    if size < max(_FEW * totals.rows_variance**0.5 * (public is None), 1):
        return Model(design, totals, max(size, 0.0), converged=False)
    shares = effects.shares(totals, size)
    cells = posterior.cells_of(effects, shares, rng)
    problem = Problem(effects, cells, totals, size, private=public is None)
    start = effects.log_shares(shares)
    try:
        at, found = posterior.mode(problem, start)
        drawn_from = posterior.draws(at, count, rng) if found else None
    except ValueError:  # a step's matrix is singular, or not finite
        drawn_from = None
    if drawn_from is None:
        return Model(design, totals, size, converged=False)
    return Model(design, totals, size, True, cells, problem.chances(drawn_from))


def drawn(model: Model, length: int, rng: np.random.Generator) -> list[Integers]:
    """Return a table of levels for each model, shape ``(length, columns)``."""
    assert model.cells is not None
    assert model.chances is not None
    found = []
    for chance in model.chances.T:
        ends = np.cumsum(chance, dtype=np.float64)
        at = np.searchsorted(ends, rng.uniform(0, ends[-1], length), side="right")
        found.append(model.cells.rows[np.minimum(at, len(ends) - 1)])
    return found


def values(variables: Iterable[Variable], levels: Integers, rng: np.random.Generator) -> Columns:
    """Return rows of levels as values: those of bins are spread evenly in them."""
    return {one.name: _values(one, levels[:, place], rng) for place, one in enumerate(variables)}


def _values(variable: Variable, levels: Integers, rng: np.random.Generator) -> np.ndarray:
    if variable.edges is None:
        return np.asarray(variable.keys, dtype=_type(variable.keys))[levels]
    edges = np.array(variable.edges)
    if not variable.whole:
        return np.asarray(edges[levels] + rng.uniform(size=len(levels)) * np.diff(edges)[levels])
    first, last = np.ceil(edges[:-1]), np.ceil(edges[1:]) - 1
    last[-1] = np.floor(edges[-1])
    return np.asarray(
        first[levels] + np.floor(rng.uniform(size=len(levels)) * (last - first + 1)[levels])
    ).astype(int)


def _type(keys: tuple[object, ...]) -> type:
    for kind in (bool, int):
        if all(type(key) is kind for key in keys):
            return kind
    return (
        float if all(isinstance(key, int | float) and not isinstance(key, bool) for key in keys) else object
    )


def generator(draws: Iterable[str]) -> np.random.Generator:
    """Return the generator of some released answers: the same answers always give the same rows."""
    digest = hashlib.sha256("|".join(sorted(draws)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))
