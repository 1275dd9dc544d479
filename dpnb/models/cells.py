"""Counted cells: what a classifier reads of a released contingency table, or of rows of one's own.

A table has a few binned columns and a response; a cell is one combination of bins, with a count for each class. Released counts enter as
they are, below zero too. Bins of a table that is yet to be asked come from public facts alone: declared bounds, the ε and the number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpnb.errors import OptionError, Unavailable
from dpnb.estimate import Estimate
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats
from dpnb.statistics.formula_terms import bare, name_of, spelling, split, value
from dpnb.statistics.logistic import BIN
from dpnb.statistics.released import combine, draws_of

MOST_CLASSES = 20
_OWN_VALUES, _OWN_BINS, _MOST_BINS = 20, 16, 32


@dataclass(frozen=True, eq=False)
class Side:
    """One binned column: its name, its values or the labels of its bins, and the edges of bins."""

    name: str
    keys: tuple[Any, ...]
    edges: Floats | None = None

    @classmethod
    def of(cls, name: str, keys: Sequence[Any]) -> Side:
        """Read a key of a released table."""
        found = [BIN.fullmatch(str(key)) for key in keys]
        if all(found):
            ends = [(float(one[1]), float(one[2])) for one in found if one is not None]
            return cls(name, tuple(keys), np.array([*(low for low, _ in ends), ends[-1][1]]))
        return cls(name, tuple(keys))

    @property
    def ordered(self) -> bool:
        """Whether neighbouring cells are alike: bins and more than two numbers, unlike categories."""
        return self.edges is not None or all(isinstance(key, int | float | np.number) for key in self.keys)

    @property
    def middles(self) -> Floats:
        """The number that stands for each cell."""
        if self.edges is not None:
            return np.asarray((self.edges[1:] + self.edges[:-1]) / 2)
        return numbers_of(self.name, self.keys)

    def codes(self, values: object) -> np.ndarray:
        """Return which cell each value is in; beyond the outer bins it counts as in them, as the curator clamps.

        Raises
        ------
        OptionError
            For a value that a category did not have when the model was fitted.
        """
        given = np.asarray(values)
        if self.edges is not None:
            try:
                numbers = given.astype(float)
            except (TypeError, ValueError):
                raise OptionError(f"{self.name} is a number; these values are not.") from None
            return np.clip(np.searchsorted(self.edges, numbers, side="right") - 1, 0, len(self.keys) - 1)
        place = {key: at for at, key in enumerate(self.keys)}
        distinct, back = np.unique(given, return_inverse=True)
        unknown = [one for one in distinct.tolist() if one not in place]
        if unknown:
            shown = ", ".join(map(repr, self.keys[:12]))
            raise OptionError(f"{self.name} has no value {unknown[0]!r} in the fitted table. It has {shown}.")
        return np.array([place[one] for one in distinct.tolist()], dtype=int)[back.ravel()]


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts of classes in cells of columns.

    Parameters
    ----------
    sides : tuple of Side
        The columns.
    classes : tuple
        The values of the response.
    codes : ndarray of int, shape (cells, columns)
    counts : ndarray, shape (cells, classes)
    variance : float
        Of the noise on one count; 0 of rows of one's own.
    redraw : callable, optional
        ``redraw(count)`` returns plausible exact counts, shape ``(count, cells, classes)``.
    """

    sides: tuple[Side, ...]
    classes: tuple[Any, ...]
    codes: np.ndarray
    counts: Floats
    variance: float = 0.0
    redraw: Callable[[int], Floats] | None = None

    def by_column(self, place: int, counts: Floats) -> Floats:
        """Return counts of one column's cells by class; leading axes stay: ``(…, cells, classes)`` to ``(…, bins, classes)``."""
        member = np.equal.outer(np.arange(len(self.sides[place].keys)), self.codes[:, place]).astype(float)
        return np.asarray(np.matmul(member, counts))

    def check(self) -> None:
        """Refuse, from released counts, a response of which one class alone is clear of the noise.

        Raises
        ------
        Unavailable
        """
        totals = self.counts.sum(axis=0)
        clear = totals > 2 * math.sqrt(self.variance * len(self.counts))
        if clear.sum() < 2:
            unclear = [str(one) for one, seen in zip(self.classes, clear, strict=True) if not seen]
            raise Unavailable(
                f"The released counts show no rows with the response {' or '.join(unclear)} that are clear of the noise, so there is "
                "nothing to tell apart. Ask with more ε or fewer cells, or another response."
            )


def numbers_of(name: str, keys: Iterable[Any]) -> Floats:
    """Return the values of a column as numbers.

    Raises
    ------
    OptionError
        If one of them is no number.
    """
    try:
        return np.array([float(key) for key in keys])
    except (TypeError, ValueError):
        raise OptionError(f"{name} has values that are no numbers: leave it out.") from None


def read_formula(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the response and the columns of a formula for a table: ``"married ~ age + C(race)"``.

    Raises
    ------
    OptionError
    """
    sides = split(text, "~")
    if len(sides) != 2:
        raise OptionError('A formula names what is predicted and from what: "married ~ age + educ".')
    terms = [bare(term) for sign, term in split(sides[1][1], "+") if sign != "-" and term != "1"]
    terms = [bare(term[2:-1]) if term.startswith("C(") and term.endswith(")") else term for term in terms]
    if not all(terms) or any(":" in term or len(split(term, "*")) > 1 for term in terms):
        raise OptionError(f"A table of cells needs plain columns joined by +, not {sides[1][1]!r}.")
    return bare(sides[0][1]), tuple(dict.fromkeys(terms))


def is_table(estimate: Estimate) -> bool:
    """Whether an answer is a contingency table."""
    return hasattr(estimate, "log_odds")


def cells_of(table: Estimate, formula: str | None) -> Cells:
    """Read a released contingency table: the columns and response of a formula, summed over its other keys.

    Parameters
    ----------
    table : Estimate
        What ``crosstab`` released.
    formula : str, optional
        Without it the last key is the response and all others are columns.

    Raises
    ------
    OptionError
        For an answer of another kind, and for a name that the table lacks.
    """
    if not is_table(table):
        raise OptionError(f"{table.text} is no contingency table. Ask people.crosstab(…, response).")
    table.value  # noqa: B018 -- raises what a pending estimate raises
    names = {spelling(axis.name): place for place, axis in enumerate(table.axes)}
    sides = [Side.of(axis.name, axis.keys) for axis in table.axes]
    response, terms = (
        (table.axes[-1].name, tuple(a.name for a in table.axes[:-1]))
        if formula is None
        else read_formula(formula)
    )
    kept = [_place(term, names) for term in terms]
    owner, classes, group = _response(response, names, sides)
    shape = tuple(len(side.keys) for side in sides)
    part, rng = combine(table.releases)["count"], DrawGenerator(draws_of(table.releases))
    order = (*kept, owner, *(at for at in range(len(shape)) if at not in {*kept, owner}))
    lead = math.prod(shape[at] for at in kept)

    def arranged(values: Floats) -> Floats:
        before = values.shape[:-1]
        found = values.reshape(*before, *shape)
        found = np.moveaxis(found, [len(before) + at for at in order], range(len(before), found.ndim))
        found = found.reshape(*before, lead, shape[owner], -1).sum(axis=-1)
        return np.asarray(found @ np.equal.outer(group, np.arange(len(classes))).astype(float))

    codes = np.indices([shape[at] for at in kept]).reshape(len(kept), -1).T
    summed = math.prod(shape) / (lead * len(classes))
    return Cells(
        tuple(sides[at] for at in kept),
        classes,
        codes,
        arranged(part.values),
        part.noise.total_variance * summed,
        lambda count: arranged(part.values - part.noise_draws(count, rng)),
    )


def _place(term: str, names: Mapping[str, int]) -> int:
    if spelling(term) not in names:
        raise OptionError(f"This table has no key {term}. Its keys: {', '.join(names)}.")
    return names[spelling(term)]


def _response(
    response: str, names: Mapping[str, int], sides: Sequence[Side]
) -> tuple[int, tuple[Any, ...], np.ndarray]:
    """Return the key that a response is of, its classes, and the class of each value of the key."""
    if spelling(response) in names:
        at = names[spelling(response)]
        return at, sides[at].keys, np.arange(len(sides[at].keys))
    seen: list[int] = []

    def look(name: str) -> np.ndarray:
        seen.append(_place(name, names))
        return np.array(sides[seen[-1]].keys)

    labels, group = np.unique(np.asarray(value(response, look)), return_inverse=True)
    if len(set(seen)) != 1:
        raise OptionError(f"The response {response} has to be a key of the table, or a condition on one.")
    return seen[0], tuple(labels.tolist()), group


def cells_of_rows(x: Sequence[np.ndarray], names: Sequence[str], y: np.ndarray, bins: object = None) -> Cells:
    """Count rows of one's own, without noise.

    Parameters
    ----------
    x : sequence of ndarray
        The columns.
    names : sequence of str
    y : ndarray
        The response.
    bins : int or mapping, optional
        As of the estimators.
    """
    sides = tuple(_own_side(name, column, bins_of(name, bins)) for name, column in zip(names, x, strict=True))
    codes = np.stack([side.codes(column) for side, column in zip(sides, x, strict=True)], axis=1)
    classes, group = np.unique(y, return_inverse=True)
    found, back = np.unique(codes, axis=0, return_inverse=True)
    counts = np.zeros((len(found), len(classes)))
    np.add.at(counts, (back.ravel(), group.ravel()), 1.0)
    return Cells(sides, tuple(classes.tolist()), found, counts)


def _own_side(name: str, column: np.ndarray, bins: Any) -> Side:
    distinct = np.unique(column)
    few = bins is None and len(distinct) <= _OWN_VALUES
    if distinct.dtype.kind not in "iufb" or (few and distinct.dtype.kind != "f"):
        return Side(name, tuple(distinct.tolist()))
    low, high = float(distinct[0]), float(distinct[-1])
    wide = np.linspace(
        low, high if high > low else low + 1, (bins if isinstance(bins, int) else _OWN_BINS) + 1
    )
    edges = wide if bins is None or isinstance(bins, int) else np.asarray(bins, dtype=float)
    return Side(name, tuple(range(len(edges) - 1)), edges)


def bins_of(name: str, bins: object) -> Any:
    """Return what an estimator's ``bins`` says of a column: a number, edges, or nothing."""
    return bins.get(name) if isinstance(bins, Mapping) else bins


# tables that are yet to be asked ------------------------------------------------------------------------------


def limit(rows: float, epsilon: float, *, grid: bool = False) -> int:
    """Return how many cells a table may have so that its noise leaves a model worth having: n ε²/8, of a grid of k-means n ε/2."""
    return int(rows * epsilon / 2 if grid else min(rows * epsilon**2 / 8, rows * epsilon / 2))


def choose_bins(free: Mapping[str, int], taken: int, most: int) -> dict[str, int]:
    """Return how many bins each number gets: as equal as they can be, in a table of at most so many cells.

    Parameters
    ----------
    free : mapping of str to int
        Numbers without bins, and how many values each has at most.
    taken : int
        Cells of all other keys together.
    most : int
        Cells of the table.

    Examples
    --------
    >>> choose_bins({"age": 78, "educ": 16}, 2, 200)
    {'age': 10, 'educ': 10}
    """
    found = {name: min(2, values) for name, values in free.items()}
    cells = taken * math.prod(found.values())
    for _ in range(_MOST_BINS * max(len(free), 1)):
        open_ = [
            name
            for name, size in found.items()
            if size < min(free[name], _MOST_BINS) and cells // size * (size + 1) <= most
        ]
        if not open_:
            break
        name = min(open_, key=found.__getitem__)
        cells = cells // found[name] * (found[name] + 1)
        found[name] += 1
    return found


def plain_name(term: str) -> str:
    """Return a term as a column's name, without backticks."""
    return name_of(term)
