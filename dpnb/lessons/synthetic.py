r"""Synthetic rows: noisy marginals of a public tree of columns, then rows drawn from the noisy marginals alone.

The tree names a parent for every column but the roots. Measured are one table of counts for a root and one two-way table for
every (parent, child). A row is drawn from its root on; given its parent, a child is drawn from the two-way table.

*Proof.* Of k columns, k tables are measured. A person who comes or goes changes one cell of each by 1. With discrete Laplace
noise of scale k/ε, :math:`P(x) \propto e^{-ε|x|/k}`, each table is ε/k-private and all of them ε. What is drawn from them is
post-processing. ∎ A row that changes costs twice as much. What the tree leaves out (a dependence between siblings given their
parent, any three-way table) the synthetic rows do not have: they are a model, and nobody's rows.

References
----------
.. [1] Zhang, Cormode, Procopiuc, Srivastava and Xiao (2017), "PrivBayes"; here the tree is given, not learnt.
.. [2] McKenna, Miklau and Sheldon (2021), "Winning the NIST Contest".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpnb.errors import OptionError
from dpnb.lessons.arguments import Floats, Integers, codes, generator, loss_of, whole

Tables = dict[str, Integers]


@dataclass(frozen=True, slots=True)
class Synthetic:
    """Synthetic rows, and the noisy tables that they were drawn from.

    Parameters
    ----------
    columns : mapping of str to ndarray, shape (n,)
        Codes; the same names as the data.
    marginals : mapping of str to ndarray
        For a root, its noisy counts; for a child, noisy counts of shape (parent's categories, own categories).
    epsilon : float
        The loss of a person who comes or goes, for all tables together.
    """

    columns: Mapping[str, Integers]
    marginals: Mapping[str, Integers]
    epsilon: float


def discrete_laplace(scale: float, size: tuple[int, ...], rng: np.random.Generator) -> Integers:
    """Draw integers with P(x) ∝ exp(-|x|/scale), as the difference of two geometric numbers."""
    stop = -np.expm1(-1 / scale)
    return np.asarray(rng.geometric(stop, size) - rng.geometric(stop, size), dtype=np.int64)


def noisy_marginals(
    data: Mapping[str, ArrayLike],
    categories: Mapping[str, int],
    parents: Mapping[str, str],
    epsilon: float,
    rng: int | np.random.Generator,
) -> Tables:
    """Measure the tables of a public tree with noise, ε-private when a person comes or goes.

    Parameters
    ----------
    data : mapping of str to array of int, shape (n,)
        Columns of codes from 0.
    categories : mapping of str to int
        How many codes each column may have, public; its order is the order of drawing, parents first.
    parents : mapping of str to str
        The parent of each column that has one, public.
    epsilon : float
        Of all tables together.
    rng : int or numpy Generator

    Returns
    -------
    dict of str to ndarray of int
        Noisy counts, which may be negative.

    Raises
    ------
    LossError, OptionError
        When ε is not above 0, a code is out of range, or a parent does not come before its child.
    """
    _tree(categories, parents)
    held = _coded(data, categories)
    scale, chance = len(categories) / loss_of(epsilon), generator(rng)
    exact = {name: _table(held, categories, name, parents.get(name)) for name in categories}
    return {name: table + discrete_laplace(scale, table.shape, chance) for name, table in exact.items()}


def _tree(categories: Mapping[str, int], parents: Mapping[str, str]) -> None:
    order = list(categories)
    late = [c for c, p in parents.items() if c not in order or p not in order[: order.index(c)]]
    if not order or late:
        raise OptionError(
            "parents names columns of categories, each parent before its child: reorder categories."
        )


def _coded(data: Mapping[str, ArrayLike], categories: Mapping[str, int]) -> Tables:
    if set(data) != set(categories):
        raise OptionError("categories says for every column of data how many codes it has.")
    held = {name: codes(data[name], whole(k, "categories"), name) for name, k in categories.items()}
    if len({len(column) for column in held.values()}) > 1:
        raise OptionError("data holds columns of one length: one code for every row.")
    return held


def _table(held: Tables, categories: Mapping[str, int], name: str, parent: str | None) -> Integers:
    own = categories[name]
    if parent is None:
        return np.bincount(held[name], minlength=own)
    both = held[parent] * own + held[name]
    return np.bincount(both, minlength=categories[parent] * own).reshape(categories[parent], own)


def draw_rows(
    marginals: Mapping[str, ArrayLike], parents: Mapping[str, str], n: int, rng: int | np.random.Generator
) -> Tables:
    """Draw synthetic rows from noisy tables, at no further loss.

    Negative counts become 0; where a row of a table has nothing left, every code is equally likely.
    """
    chance, rows = generator(rng), whole(n, "n")
    drawn: Tables = {}
    for name, table in marginals.items():
        parent = parents.get(name)
        given = drawn[parent] if parent is not None else np.zeros(rows, dtype=np.int64)
        drawn[name] = _draw(_shares(np.atleast_2d(np.asarray(table, dtype=np.float64)))[given], chance)
    return drawn


def _shares(table: Floats) -> Floats:
    kept = np.maximum(table, 0)
    totals = kept.sum(axis=1, keepdims=True)
    return np.where(totals > 0, kept / np.where(totals > 0, totals, 1), 1 / table.shape[1])


def _draw(shares: Floats, chance: np.random.Generator) -> Integers:
    """One code for every row of probabilities."""
    cut = np.cumsum(shares, axis=1)
    return np.asarray((chance.random((len(shares), 1)) * cut[:, -1:] >= cut).sum(axis=1))


def synthetic_rows(
    data: Mapping[str, ArrayLike],
    categories: Mapping[str, int],
    parents: Mapping[str, str],
    epsilon: float,
    rng: int | np.random.Generator,
    n: int | None = None,
) -> Synthetic:
    """Measure, then draw. Without `n` there are as many rows as the first noisy table counts, at least 1.

    Arguments, errors and guarantee as in :func:`noisy_marginals`.

    Examples
    --------
    >>> data = {"smokes": [0, 0, 1, 1] * 500, "coughs": [0, 0, 1, 0] * 500}
    >>> made = synthetic_rows(data, {"smokes": 2, "coughs": 2}, {"coughs": "smokes"}, epsilon=1, rng=5)
    >>> bool((made.columns["coughs"][made.columns["smokes"] == 0] == 0).mean() > 0.95)
    True
    """
    chance = generator(rng)
    marginals = noisy_marginals(data, categories, parents, epsilon, chance)
    rows = n if n is not None else max(1, int(next(iter(marginals.values())).sum()))
    return Synthetic(draw_rows(marginals, parents, rows, chance), marginals, float(epsilon))
