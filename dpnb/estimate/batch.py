"""What a cell built and still holds when it ends: the questions of one measurement event.

While a batch is open, every estimate leaves a weak reference in it. When it closes, the pending questions under the
estimates that are still alive are the batch; what was overwritten, deleted or never kept is gone and free. It refuses
to be opened inside another, because an inner charge would survive an outer failure. It never looks at names.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Hashable
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Self

from dpnb.estimate.evaluate import Expression, leaves
from dpnb.estimate.pending_question import PendingQuestion
from dpnb.estimate.refusals import nested

OPEN_BATCH: ContextVar[Batch | None] = ContextVar("dpnb_open_batch", default=None)


def open_batch() -> Batch | None:
    """The batch that is open here, if one is: a closed batch counts as none."""
    batch = OPEN_BATCH.get()
    return batch if batch is not None and batch.is_open else None


class Batch:
    """Collects what is built while it is open. Use as a context manager, or ``open()`` and ``close()``.

    Parameters
    ----------
    label : str, optional
        How to name the cell, for example ``"In[5]"``.
    nests : bool
        True for a batch that lets another open inside it (the batch of an intercepted ordinary cell).
    epsilon : float, optional
        What its questions may cost together, where that is known: models choose their bins by it.

    Attributes
    ----------
    built : int
        Base questions built inside.
    """

    def __init__(
        self, label: str | None = None, *, nests: bool = False, epsilon: float | None = None
    ) -> None:
        self.label = label
        self.epsilon = epsilon
        self.nests = nests
        self.is_open = False
        self.built = 0
        self._created: list[weakref.ref[Expression]] = []
        self._asked: dict[Hashable, weakref.ref[PendingQuestion]] = {}
        self._own: list[weakref.ref[PendingQuestion]] = []
        self._added: list[Expression] = []
        self._token: Token[Batch | None] | None = None

    def open(self) -> Self:
        """Start collecting; refused inside another batch."""
        outer = open_batch()
        if outer is not None and not outer.nests:
            raise nested()
        self._token = OPEN_BATCH.set(self)
        self.is_open = True
        return self

    def close(self) -> None:
        """Stop collecting. In another Context than the one in which it was opened, it only counts as closed."""
        self.is_open = False
        token, self._token = self._token, None
        if token is not None:
            try:
                OPEN_BATCH.reset(token)
            except ValueError:
                return

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.stop()
        self.close()

    def stop(self) -> None:
        """Note that the cell failed: its questions stay pending, and say so."""
        for reference in self._own:
            measurement = reference()
            if measurement is not None:
                measurement.stopped = True

    def register(self, estimate: Expression) -> None:
        """Keep a weak reference to an estimate."""
        self._created.append(weakref.ref(estimate))

    def ask(self, key: Hashable, make: Callable[[], PendingQuestion]) -> PendingQuestion:
        """The measurement of a question: the one that is alive already, or a new one."""
        reference = self._asked.get(key)
        measurement = reference() if reference is not None else None
        if measurement is None:
            measurement = make()
            measurement.batch = self
            self.built += 1
            self._asked[key] = weakref.ref(measurement)
            self._own.append(weakref.ref(measurement))
        return measurement

    def add(self, *estimates: Expression) -> None:
        """Take in estimates that were built earlier, or in another thread."""
        self._added.extend(estimates)

    def alive(self) -> list[Expression]:
        """The estimates that are still held, in the order in which they were built; added ones last."""
        gc.collect(1)
        found = [reference() for reference in self._created]
        kept = [estimate for estimate in found if estimate is not None]
        return kept + self._added

    def pending_leaves(self, *, own: bool = False) -> list[PendingQuestion]:
        """The distinct pending measurements under what is still held, and those of this batch that borrow an answer.

        Parameters
        ----------
        own : bool
            Only those that this batch created.
        """
        mine = {id(reference()) for reference in self._own}
        found = [m for m in leaves(self.alive(), lambda node: node.resolved) if not m.answered]
        return [m for m in found if id(m) in mine or not (own or m.released)]

    @property
    def dropped(self) -> int:
        """Base questions that were built and not kept: free."""
        return sum(reference() is None for reference in self._own)


class Rehearsal(Batch):
    """A batch that is built to know its price and never released: a running cell must not find its questions."""
