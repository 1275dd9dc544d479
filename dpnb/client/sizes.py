"""What released answers tell of the rows behind a question: how many there are, and where their mean lies. Plans and forecasts go by it.

Free, since it reads noised numbers that are released already, and no more than an assumption: no price, noise or charge of ``epsilon=``
depends on it. A size is known where the very rows were counted, in whatever answer. Of other rows it is known that they are no more
than those of any of their conditions, and, where all conditions were counted and the number of all rows is public, no fewer than these leave.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dpnb.inference.law import law_from_json
from dpnb.planner.check import CheckedQuestion
from dpnb.planner.price import PricedBatch, PricedQuestion
from dpnb.planner.sharing import additive
from dpnb.statistics._base import ONE, Setting
from dpnb.statistics.ratio import centred_totals
from dpnb.trusted.aggregate.algebra import And, Cmp, Col, IntExpr, Key, Known, Lit, Pred, Total
from dpnb.trusted.releases import Release, ReleasedPart

Floats = npt.NDArray[np.float64]
_Conditions = frozenset[Pred]
_Rows = tuple[_Conditions, tuple[Key, ...]]
_DIGITS = 3
_MOST_CELLS = 64
"""Cells of an answer that are remembered one by one, as rows of a filter."""
_LEAST_PART = 10
"""Of rows that nothing tells a least number of, a plan says what a tenth would give."""


@dataclass(frozen=True, slots=True)
class _Counted:
    """Noised numbers of rows, and the variance of their noise."""

    sizes: Floats
    variance: float


class ReleasedSizes:
    """What the answers of one dataset tell of its rows."""

    def __init__(self) -> None:
        self._counted: dict[_Rows, _Counted] = {}
        self._means: dict[tuple[_Conditions, IntExpr], float] = {}

    def learn(self, items: Sequence[PricedQuestion], releases: Sequence[Release | None]) -> None:
        """Remember what some answers tell; of several counts of the same rows that with the least noise."""
        for item, release in zip(items, releases, strict=True):
            if release is not None:
                told = {part.name: part for part in release.parts}
                for part in item.parts:
                    request = part.request
                    if isinstance(request, Total) and request.value == ONE and additive(part):
                        self._count(request, told[part.name])
                self._locate(item.checked.setting, told)

    def _count(self, request: Total, told: ReleasedPart) -> None:
        """Remember the cells of a count, their sums along each key, and each cell as rows of a filter."""
        where, keys = frozenset(_conditions(request.where)), request.keys
        shape = tuple(key.size for key in keys)
        sizes = np.asarray(list(map(float, told.values))).reshape(shape)
        noise = law_from_json(told.law).variance_float
        for kept in {keys, *((key,) for key in keys), ()}:
            others = tuple(axis for axis, key in enumerate(keys) if key not in kept)
            left = np.ravel(sizes.sum(axis=others))
            known = {Known(keys[axis].code) for axis in others if isinstance(keys[axis].code, Col)}
            self._keep((where | known, kept), _Counted(left, noise * sizes.size / left.size))
        if sizes.size <= _MOST_CELLS:
            for conditions, size in zip(_cells(where, keys), np.ravel(sizes), strict=True):
                self._keep((conditions, ()), _Counted(np.array([size]), noise))

    def _keep(self, rows: _Rows, counted: _Counted) -> None:
        known = self._counted.get(rows)
        if known is None or counted.variance < known.variance:
            self._counted[rows] = counted

    def _locate(self, setting: Setting, told: dict[str, ReleasedPart]) -> None:
        """Remember where the means of an answer of sums lie, each as far out as it is."""
        wanted = (
            ("tally",) if "tally" in told else ("sum",) if setting.public_n is not None else ("sum", "count")
        )
        if setting.target is None or not told.keys() >= set(wanted):
            return
        code, half = setting.number().centred().code, setting.number().centred().half
        values = {name: np.asarray(list(map(float, told[name].values))) for name in wanted}
        totals, sizes = centred_totals(setting, values)
        where = frozenset(_conditions(setting.where))
        if totals.size != setting.cells or totals.size > _MOST_CELLS:
            return
        for conditions, total, size in zip(
            (*_cells(where, setting.keys), where), (*totals, totals.sum()), (*sizes, sizes.sum()), strict=True
        ):
            if size >= 1:
                self._means[conditions, code] = float(min(half, abs(total) / size))

    # what is known of a question -------------------------------------------------------------------------------

    def planned(self, checked: CheckedQuestion) -> int | None:
        """Return the number of rows to plan a question with where they were counted: see :func:`equivalent`."""
        found = self._bounds(checked)
        return found[1] if found is not None and found[0] == found[1] else None

    def rows_of(self, checked: CheckedQuestion) -> int | None:
        """Return the number of rows to plan a question with: as released, as public, else as many as can count."""
        setting = checked.setting
        return (
            self.planned(checked)
            or setting.public_n
            or self.known(checked).setting.at_most
            or setting.unit.rows
        )

    def known(self, checked: CheckedQuestion) -> CheckedQuestion:
        """Return a question whose setting knows how many rows can count, and where their mean lies, as far as answers tell."""
        setting, bounds = checked.setting, self._bounds(checked)
        least, most = (None, setting.most) if bounds is None else bounds
        return replace(checked, setting=replace(setting, least=least, most=most, place=self._place(setting)))

    def _place(self, setting: Setting) -> float | None:
        if setting.target is None or not self._means:
            return None
        code, where = setting.number().centred().code, frozenset(_conditions(setting.where))
        rows = [*_cells(where, setting.keys), where] if setting.cells <= _MOST_CELLS else [where]
        found = [self._means[one, code] for one in rows if (one, code) in self._means]
        return None if not found else found[0] if len(found) == 1 else max(found[:-1])

    def _bounds(self, checked: CheckedQuestion) -> tuple[int, int] | None:
        """Return the least and the largest number of rows to plan a question with; nothing where nothing bounds them."""
        setting = checked.setting
        where = frozenset(_conditions(setting.where))
        exact = self._counted.get((where, setting.keys))
        if exact is not None:
            found = equivalent(checked, self._possible(exact.sizes, setting))
            return found, found
        least, most = self._range(where, setting)
        if most is None:
            return None
        if setting.keys and setting.cells <= _MOST_CELLS:
            pairs = [self._range(one, setting) for one in _cells(where, setting.keys)]
            low, high = (
                equivalent(checked, np.array(side, dtype=float)) for side in zip(*pairs, strict=True)
            )
            equal = equivalent(checked, np.full(setting.cells, most / setting.cells))
            return min(low, high, equal), min(high, equal)
        return (
            (least, most)
            if not setting.keys
            else (max(most // setting.cells // _LEAST_PART, 1), max(most // setting.cells, 1))
        )

    def _range(self, conditions: _Conditions, setting: Setting) -> tuple[int, int | None]:
        exact = self._counted.get((conditions, ()))
        if exact is not None:
            (size,) = self._possible(exact.sizes, setting)
            return _whole(size), _whole(size)
        rows = setting.unit.rows
        parts = self._parts(conditions, rows)
        most = min((size for _, size in parts), default=math.inf if rows is None else float(rows))
        if not math.isfinite(most):
            return 1, None
        least = most / _LEAST_PART
        if rows is not None and parts and frozenset().union(*(known for known, _ in parts)) == conditions:
            least = max(least, _left(parts, rows))
        return _whole(least), _whole(most)

    def _parts(self, conditions: _Conditions, rows: int | None) -> list[tuple[_Conditions, float]]:
        """Return the counted rows that satisfy some of a question's conditions, or none where ``rows``, their number, is private: fewest first."""
        found = [
            (known, max(float(counted.sizes[0]), 1.0))
            for (known, keys), counted in self._counted.items()
            if not keys and known <= conditions and (known or rows is None)
        ]
        return sorted(found, key=lambda one: one[1])

    @staticmethod
    def _possible(sizes: Floats, setting: Setting) -> Floats:
        most = math.inf if setting.unit.rows is None else setting.unit.rows
        return np.clip(sizes, 1.0, most)


def equivalent(checked: CheckedQuestion, sizes: Floats) -> int:
    """Return the number of rows that a question with cells of some sizes is planned with, to three digits.

    That of the smallest cell; of two arms, that of both together if they were equal and their difference as accurate.
    """
    if checked.kind.arms and len(sizes) > 1:
        arms = sizes.reshape(-1, 2)
        return _whole(float(np.sqrt(8 / (1 / arms**2).sum(axis=1)).min()))
    return _whole(float(sizes.min()))


def sized(priced: PricedBatch, sizes: ReleasedSizes) -> PricedBatch:
    """Return a priced batch whose questions are planned with what answers tell; what is asked and paid stays as it is."""
    return replace(priced, items=tuple(_sized(item, sizes) for item in priced.items))


def _sized(item: PricedQuestion, sizes: ReleasedSizes) -> PricedQuestion:
    if item.public:
        return item
    known = sizes.known(item.checked)
    if item.checked.setting.public_n is not None or item.size is not None:
        return replace(item, checked=known)
    size = sizes.planned(item.checked)
    return replace(item, checked=known, size=None if size is None else float(size))


def _left(parts: Sequence[tuple[_Conditions, float]], rows: int) -> float:
    """Return the fewest rows that satisfy all conditions of some counts, of so many rows: each leaves out no more than it does."""
    covered, least = frozenset[Pred](), float(rows)
    for known, size in parts:
        if not known <= covered:
            covered, least = covered | known, least - (rows - size)
    return least


def _cells(where: _Conditions, keys: tuple[Key, ...]) -> list[_Conditions]:
    """Return the conditions of each cell of some keys, row-major."""
    places = itertools.product(*(range(key.size) for key in keys))
    return [
        where | {Cmp("==", key.code, Lit(place)) for key, place in zip(keys, cell, strict=True)}
        for cell in places
    ]


def _conditions(where: Pred | None) -> Iterable[Pred]:
    if isinstance(where, And):
        yield from _conditions(where.a)
        yield from _conditions(where.b)
    elif where is not None:
        yield where


def _whole(rows: float) -> int:
    """A noised number of rows in three digits: more would say more than is known."""
    return max(1, int(round(rows, _DIGITS - len(str(int(rows))))))
