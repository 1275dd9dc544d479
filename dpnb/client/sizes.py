"""How many rows stand behind a question, as far as released answers tell: what plans and forecasts assume of a private size.

Free, since it reads noised numbers that are released already, and no more than an assumption: no price, noise or charge depends on it. A
size is known where the very rows were counted; of rows that satisfy more conditions than some that were counted it is known
that they are no more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from dpnb.estimate import PendingQuestion
from dpnb.planner.check import CheckedQuestion
from dpnb.planner.price import PricedBatch, PricedQuestion
from dpnb.statistics._base import Setting
from dpnb.trusted.aggregate.algebra import And, Key, Pred

_Rows = tuple[frozenset[Pred], tuple[Key, ...]]
_DIGITS = 3


class ReleasedSizes:
    """The sizes that the answers of one dataset tell."""

    def __init__(self) -> None:
        self._known: dict[_Rows, tuple[float, ...]] = {}

    def learn(self, questions: Iterable[PendingQuestion]) -> None:
        """Remember how many rows released answers speak of, no more than are public; the latest answer about the same rows stays."""
        for one in questions:
            setting = one.checked.setting
            if setting.private or setting.keys:
                cells = _cells(one, setting)
                if cells is not None:
                    most = setting.unit.rows or math.inf
                    self._known[_rows(setting)] = tuple(min(cell, most) for cell in cells)

    def of(self, setting: Setting) -> int | None:
        """Return the number of rows in each cell, of unequal ones the smallest; of two arms that of two equal ones as good."""
        cells = self._known.get(_rows(setting))
        return None if cells is None else _whole(min(cells))

    def arms(self, setting: Setting) -> int | None:
        """Return the number of rows of two equal arms whose difference is as accurate as that of the arms that are known."""
        cells = self._known.get(_rows(setting))
        if cells is None or len(cells) != 2:
            return None
        return _whole(math.sqrt(8 / sum(1 / cell**2 for cell in cells)))

    def most(self, setting: Setting) -> int | None:
        """Return a number of rows that there are no more than: of the narrowest conditions that are counted among a question's."""
        conditions, _ = _rows(setting)
        found = [cells[0] for (known, keys), cells in self._known.items() if not keys and known <= conditions]
        return _whole(min(found)) if found else None

    def planned(self, checked: CheckedQuestion) -> int | None:
        """Return the number of rows to plan a question with."""
        return self.arms(checked.setting) if checked.kind.arms else self.of(checked.setting)

    def rows_of(self, checked: CheckedQuestion) -> int | None:
        """Return the number of rows to plan a question with: as released, as public, else as many as can count."""
        setting = checked.setting
        return self.planned(checked) or setting.public_n or self.known(setting).at_most or setting.unit.rows

    def known(self, setting: Setting) -> Setting:
        """Return a setting that knows how many rows can count at most."""
        most = self.most(setting)
        return setting if most is None else replace(setting, most=most)


def sized(priced: PricedBatch, sizes: ReleasedSizes) -> PricedBatch:
    """Return a priced batch whose questions are planned with released sizes; what is asked and paid stays as it is."""
    return replace(priced, items=tuple(_sized(item, sizes) for item in priced.items))


def _sized(item: PricedQuestion, sizes: ReleasedSizes) -> PricedQuestion:
    setting = item.checked.setting
    if item.public or setting.public_n is not None or item.size is not None:
        return item
    size = sizes.planned(item.checked)
    if size is not None:
        return replace(item, size=float(size))
    return replace(item, checked=replace(item.checked, setting=sizes.known(setting)))


def _rows(setting: Setting) -> _Rows:
    return frozenset(_conditions(setting.where)), setting.keys


def _conditions(where: Pred | None) -> Iterable[Pred]:
    if isinstance(where, And):
        yield from _conditions(where.a)
        yield from _conditions(where.b)
    elif where is not None:
        yield where


def _cells(question: PendingQuestion, setting: Setting) -> tuple[float, ...] | None:
    """The sizes of the cells that an answer tells, where it tells one for each."""
    outcome: Any = question.outcome
    counted = question.checked.kind.counts and question.shape == setting.shape
    told = outcome.value if counted else getattr(outcome, "n", None)
    if isinstance(told, float) and setting.cells == 1:
        return (told,) if 1 <= told < math.inf else None
    found = np.ravel(np.asarray(np.nan if told is None else told, dtype=np.float64))
    if setting.cells == 1 and len(found) > 1 and (found == found[0]).all():
        found = found[:1]
    good = len(found) == setting.cells and bool((np.isfinite(found) & (found >= 1)).all())
    return tuple(map(float, found)) if good else None


def _whole(rows: float) -> int:
    """A noised number of rows in three digits: more would say more than is known."""
    return max(1, int(round(rows, _DIGITS - len(str(int(rows))))))
