r"""A decision tree and a small forest, grown on the cells of one table.

A split is taken where it tells classes apart more than noise and chance do. Between sides with :math:`n_L` and :math:`n_R` rows of class shares
:math:`p_L, p_R` the gain is :math:`G = \frac{n_L n_R}{n} |p_L - p_R|^2`; noise of variance :math:`v` on each of :math:`m_L` and :math:`m_R` cells adds
:math:`\frac{n_L n_R}{n} K v (m_L/n_L^2 + m_R/n_R^2)` to it on average, chance :math:`\sum_k p_k (1 - p_k)`. The split with the largest G less the noise's part
is taken, if G is six times both together. A leaf's shares are drawn towards its parent's by as much as they are noisy.

References
----------
Breiman, Friedman, Olshen & Stone, *Classification and regression trees* (1984).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dpnb.client.columns import ColumnHandle, column_of
from dpnb.client.handles import Dataset
from dpnb.errors import OptionError
from dpnb.estimate import Estimate
from dpnb.inference.elementwise import Floats
from dpnb.models.cells import Cells, Side, cells_of, cells_of_rows, read_formula
from dpnb.models.classifier import Classifier
from dpnb.models.expressions import inside, rounded
from dpnb.models.model import Means, response_of

_CLEAR, _REACH, _PRIOR = 6.0, 0.01, 10.0


@dataclass
class Node:
    """A part of the table: which cells are in it, and how it is split."""

    members: np.ndarray
    chances: Floats
    allowed: tuple[tuple[int, ...], ...]
    depth: int = 0
    size: float = 0.0
    noise: float = 0.0
    side: int = -1
    left: Node | None = None
    right: Node | None = None
    goes: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    parent: Node | None = None

    def leaves(self) -> list[Node]:
        """The nodes that are not split, from left to right."""
        if self.left is None or self.right is None:
            return [self]
        return self.left.leaves() + self.right.leaves()


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree on cells.

    Parameters
    ----------
    cells : Cells
    max_depth : int
    least : float
        The least number of rows in a leaf.
    pick : Generator, optional
        Of a forest: looks at some columns only in every node.
    """

    cells: Cells
    max_depth: int
    least: float
    pick: np.random.Generator | None = None

    def grow(self) -> Node:
        """Return the root."""
        root = self._node(
            np.arange(len(self.cells.codes)), None, tuple(tuple(range(len(s.keys))) for s in self.cells.sides)
        )
        queue = [root]
        while queue:
            node = queue.pop()
            if node.depth < self.max_depth:
                self._split(node)
                queue += [one for one in (node.left, node.right) if one is not None]
        return root

    def _node(self, members: np.ndarray, parent: Node | None, allowed: tuple[tuple[int, ...], ...]) -> Node:
        counts = self.cells.counts[members].sum(axis=0)
        chances = self.shares(counts, len(members), None if parent is None else parent.chances)
        noise = math.sqrt(self.cells.variance * len(members) * len(counts))
        return Node(
            members,
            chances,
            allowed,
            0 if parent is None else parent.depth + 1,
            float(counts.sum()),
            noise,
            parent=parent,
        )

    def shares(self, counts: Floats, cells: int, before: Floats | None) -> Floats:
        """Return the shares of classes among noised counts, drawn towards those of the parent; leading axes stay."""
        n = np.maximum(counts.sum(axis=-1, keepdims=True), 1.0)
        if before is None:
            before = np.full(counts.shape[-1], 1 / counts.shape[-1])
        weight = _PRIOR + self.cells.variance * cells / (_REACH * n)
        found = np.maximum((counts + weight * before) / (n + weight), 1e-6)
        return np.asarray(found / found.sum(axis=-1, keepdims=True))

    def _split(self, node: Node) -> None:
        places = np.arange(len(self.cells.sides))
        if self.pick is not None:
            places = self.pick.permutation(places)[: max(math.ceil(math.sqrt(len(places))), 2)]
        best = max(
            filter(None, (self._best(node, int(place)) for place in places)),
            default=None,
            key=lambda one: one[0],
        )
        if best is None:
            return
        _, node.side, node.goes = best
        left = node.goes[self.cells.codes[node.members, node.side]]
        for name, kept, wanted in (("left", left, True), ("right", ~left, False)):
            own = tuple(code for code in node.allowed[node.side] if node.goes[code] == wanted)
            allowed = (*node.allowed[: node.side], own, *node.allowed[node.side + 1 :])
            setattr(node, name, self._node(node.members[kept], node, allowed))

    def _best(self, node: Node, place: int) -> tuple[float, int, np.ndarray] | None:
        """Return the best clear split of a node by one column: its gain, the column, and which of its cells go left."""
        codes, side = self.cells.codes[node.members, place], self.cells.sides[place]
        size = len(side.keys)
        counts = np.stack(
            [np.bincount(codes, one, size) for one in self.cells.counts[node.members].T], axis=1
        )
        cells = np.bincount(codes, minlength=size).astype(float)
        seen = np.flatnonzero(cells)
        if len(seen) < 2:
            return None
        if not side.ordered:
            shares = counts[seen, -1] / np.maximum(
                counts[seen].sum(axis=1), 1 + math.sqrt(self.cells.variance) * np.sqrt(cells[seen])
            )
            seen = seen[np.argsort(shares, kind="stable")]
        left, below = counts[seen].cumsum(axis=0)[:-1], cells[seen].cumsum()[:-1]
        right, above = counts.sum(axis=0) - left, cells.sum() - below
        n_left, n_right, classes, noise = (
            left.sum(axis=1),
            right.sum(axis=1),
            counts.shape[1],
            self.cells.variance,
        )
        fewest = np.maximum(self.least, 3 * np.sqrt(noise * classes * np.maximum(below, above)))
        good = (n_left > fewest) & (n_right > fewest)
        if not good.any():
            return None
        with np.errstate(all="ignore"):
            scale = n_left * n_right / (n_left + n_right)
            gap = left / n_left[:, None] - right / n_right[:, None]
            gain = scale * (gap**2).sum(axis=1)
            hidden = scale * classes * noise * (below / n_left**2 + above / n_right**2)
        chance = float((node.chances * (1 - node.chances)).sum())
        value = np.where(good & (gain > _CLEAR * (hidden + chance)), gain - hidden, -np.inf)
        at = int(value.argmax())
        if not np.isfinite(value[at]):
            return None
        goes = np.zeros(size, dtype=bool)
        goes[seen[: at + 1]] = True
        if side.ordered:
            goes[: seen[at] + 1] = True
        return float(value[at]), place, goes


class DecisionTree(Classifier):
    """A decision tree from one table of binned columns by class.

    Parameters
    ----------
    bins : int or mapping, optional
        How many equal bins of its public range a number gets, or for each name a number or edges. By default as many as a table
        of at most n ε²/8 cells has room for.
    max_depth : int
    min_rows : float
        The least number of rows in a leaf, as released.
    """

    title: ClassVar[str] = "decision tree"
    count: ClassVar[int] = 1

    def __init__(self, bins: Any = None, max_depth: int = 8, min_rows: float = 20) -> None:
        self.bins = bins
        self.max_depth = max_depth
        self.min_rows = min_rows

    def _ask(self, means: Means, formula: str) -> Iterable[Estimate]:
        response, terms = read_formula(formula)
        target, classes = response_of(means.people, response)
        yield means.people.crosstab(*means.keys(terms, self.bins, classes), target)

    def _read(self, answers: tuple[Estimate, ...], formula: str | None) -> dict[str, Any]:
        if len(answers) != 1:
            raise OptionError("A tree is read from one table of all its columns by the response.")
        cells = cells_of(answers[0], formula)
        cells.check()
        return self._learned(cells)

    def _of_rows(self, x: Sequence[np.ndarray], names: Sequence[str], y: Any) -> dict[str, Any]:
        return self._learned(cells_of_rows(x, names, y, self.bins))

    def _trees(self, cells: Cells) -> list[Grown]:
        return [Grown(cells, self.max_depth, self.min_rows)]

    def _learned(self, cells: Cells) -> dict[str, Any]:
        grown = self._trees(cells)
        return {
            "terms_": tuple(side.name for side in cells.sides),
            "classes_": np.array(cells.classes),
            "tree_": [one.grow() for one in grown],
            "grown": grown,
            "cells": cells,
        }

    def _chances(self, columns: Sequence[np.ndarray]) -> Floats:
        found = self._resolved()
        codes = [side.codes(one) for side, one in zip(found["cells"].sides, columns, strict=True)]
        each = [
            np.stack([leaf.chances for leaf in root.leaves()])[_leaf_of(root, codes)]
            for root in found["tree_"]
        ]
        return np.asarray(np.mean(each, axis=0))

    def _drawn(self, columns: Sequence[np.ndarray], count: int) -> Floats | None:
        found = self._resolved()
        cells: Cells = found["cells"]
        if cells.redraw is None:
            return None
        codes = [side.codes(one) for side, one in zip(cells.sides, columns, strict=True)]
        counts = cells.redraw(count)
        each = [
            _redrawn(grown, root, counts)[:, _leaf_of(root, codes)]
            for grown, root in zip(found["grown"], found["tree_"], strict=True)
        ]
        return np.asarray(np.mean(each, axis=0))

    def _score_column(self, people: Dataset) -> tuple[ColumnHandle, bool]:
        found = self._resolved()
        columns = [column_of(people, term) for term in found["terms_"]]
        root = found["tree_"][0]
        if root.left is None:
            raise OptionError(
                "This tree has one leaf: it says the same of every row, so there is nothing to score."
            )
        return _expression(root, columns, found["cells"].sides), False


class Forest(DecisionTree):
    """Trees on random columns of one table, averaged: no more is released than for one tree.

    Parameters
    ----------
    trees : int
    bins, max_depth, min_rows
        As of :class:`DecisionTree`.
    random_state : int
        Seeds the choice of columns; the data play no part in it.
    """

    title: ClassVar[str] = "forest"

    def __init__(
        self,
        trees: int = 20,
        bins: Any = None,
        max_depth: int = 8,
        min_rows: float = 20,
        random_state: int = 0,
    ) -> None:
        super().__init__(bins, max_depth, min_rows)
        self.trees = trees
        self.random_state = random_state

    def _score_column(self, people: Dataset) -> tuple[ColumnHandle, bool]:
        raise OptionError(
            f"{self.trees} trees are too long an expression to ask of {people.name}. Score a DecisionTree from the same table, or "
            "rows of your own."
        )

    def _trees(self, cells: Cells) -> list[Grown]:
        streams = np.random.default_rng(self.random_state).spawn(self.trees)
        return [Grown(cells, self.max_depth, self.min_rows, stream) for stream in streams]


def _leaf_of(root: Node, codes: Sequence[np.ndarray]) -> np.ndarray:
    """Return the place of each row's leaf among the leaves."""
    found = np.zeros(len(codes[0]), dtype=int)
    places = {id(leaf): at for at, leaf in enumerate(root.leaves())}
    stack = [(root, np.arange(len(found)))]
    while stack:
        node, rows = stack.pop()
        if node.left is None or node.right is None:
            found[rows] = places[id(node)]
            continue
        left = node.goes[codes[node.side][rows]]
        stack += [(node.left, rows[left]), (node.right, rows[~left])]
    return found


def _redrawn(grown: Grown, root: Node, counts: Floats) -> Floats:
    """Return the shares in all leaves of other tables, shape ``(tables, leaves, classes)``: the splits are kept."""
    leaves = root.leaves()
    member = np.zeros((len(leaves), counts.shape[1]))
    for place, leaf in enumerate(leaves):
        member[place, leaf.members] = 1.0
    own = np.matmul(member, counts)

    def shares(node: Node, first: int, before: Floats | None) -> list[Floats]:
        size = len(node.leaves())
        here = grown.shares(own[:, first : first + size].sum(axis=1), len(node.members), before)
        if node.left is None or node.right is None:
            return [here]
        return shares(node.left, first, here) + shares(node.right, first + len(node.left.leaves()), here)

    return np.stack(shares(root, 0, None), axis=1)


def _expression(node: Node, columns: Sequence[ColumnHandle], sides: Sequence[Side]) -> ColumnHandle:
    """Return the probability of the second class as an expression of columns: a case for each split."""
    assert node.left is not None
    assert node.right is not None
    side = sides[node.side]
    went = inside(columns[node.side], side, _widened(side, node.left.allowed[node.side]))
    assert went is not None
    low, high = (
        None if one.left is None else _expression(one, columns, sides) for one in (node.left, node.right)
    )
    ends = [rounded(float(one.chances[1])) for one in (node.left, node.right)]
    if low is None and high is None:
        return went * rounded(ends[0] - ends[1]) + ends[1]
    first = went * 0 + ends[0] if low is None else low
    return first.where(went, went * 0 + ends[1] if high is None else high)


def _widened(side: Side, allowed: tuple[int, ...]) -> tuple[int, ...]:
    """Of a left side of ordered cells only the upper end counts: what lies lower went elsewhere before."""
    return tuple(range(max(allowed) + 1)) if side.edges is not None else allowed
