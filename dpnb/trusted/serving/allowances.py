"""What an analyst may make others pay: work, numbers that are stored for good, and the disk on which they are stored.

All of it is decided before a charge. Work and numbers are counted from what is public: the plan, the schema and the declared size. How
long anything takes depends on the data, and enters nowhere; how full a disk is depends on the prepared copies too
(``docs/explanation/limits.md``).

Work is counted in units of :mod:`dpnb.trusted.query.limits`, and each principal has a bucket of them that fills again. The estimate is above
what batches of every statistic took near the limit (``tests/curator/largest.py``).
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from dpnb.trusted.aggregate import algebra
from dpnb.trusted.aggregate.algebra import Request
from dpnb.trusted.canonical import JsonObject, Record, canonical
from dpnb.trusted.errors import PlanError
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import PermuteAndFlip, Thresholding
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.query.limits import limited
from dpnb.trusted.query.plan_record import read_parts
from dpnb.trusted.query.price import Charge

SECOND = 100_000
"""Units that take at most a second of one processor here."""
_REQUESTS, _FILLS = 5, 100.0
"""How many of the largest requests a full bucket is, and seconds in which an empty one is full: a tenth of a processor where one is 2 seconds."""
REQUEST, STATEMENT = 100, 3_000
"""Units of any message, and of a page of a statement."""
LONG, WAITERS = 10_000, 16
"""Units of a request that is answered only while no other one as long is, and how many wait for that: half of the threads that release."""
_MANY = "Many long requests wait. Run it again in a moment: it is charged once at most."
LETTERS, BYTES, NUMBERS, _STEPS = 10, 3, 16, 5_000
"""Letters of a plan that is read and priced, bytes of stored answers that are signed, numbers that are sent, and steps of all rows: so many
are a unit."""
_SUM, _PRODUCT = 10, 20
"""Steps of a row into a sum, and of one product or limit of a matrix, beside the nodes of their expressions."""
_CANDIDATES = 4
"""Candidates of a pick that are a unit."""
_ROWS = 100_000
"""Rows that a dataset is taken to have whose size is private."""
VECTOR = 100
"""How many numbers a vector counts as beside its own, for what is written of it; more, where more is written."""
_BYTES_EACH, _COPIES, _DRAW = 5, 3, 7
"""Bytes of what is written that count as a number, as many as one of eight digits takes; how often the words of a question are stored, and numbers for each draw that a plan leaves out."""
TIMES = 200
"""How often one thing is measured for a principal: what is stored of it is looked through whenever it is asked, under the ledger's lock."""


def work_of(questions: Iterable[Charge], unit: PrivacyUnit) -> int:
    """Return the units of measuring, by the declared size; a private size counts as any other."""
    parts = [part for one in questions for part in one.bundle.parts]
    asked = {id(part.request): part.request for part in parts}.values()
    rows = unit.rows or (unit.units or 0) * unit.max_rows or _ROWS
    picks = sum(
        part.cells * part.mechanism.size for part in parts if isinstance(part.mechanism, PermuteAndFlip)
    )
    return limited(parts) + picks // _CANDIDATES + rows * sum(map(_steps, asked)) // _STEPS


def _steps(request: Request) -> int:
    """Return the steps of one row."""
    nodes = sum(algebra.length(root)[0] for root in algebra.roots(request))
    if not isinstance(request, algebra.CrossMoments):
        return nodes + _SUM
    limits = () if request.shrink is None else request.shrink.limits
    return nodes + _PRODUCT * (len(request.pairs) + len(limits))


def numbers_of(questions: Iterable[Charge], again: Sequence[str] = ()) -> int:
    """Return how many numbers are stored of some questions, at most, with what is left out of the answers that they may have."""
    listed = ((one.bundle.parts, one.bundle.texts, one.bundle.plan) for one in questions)
    return _DRAW * len(again) + sum(numbers_in(*one) for one in listed)


def numbers_in(parts: Sequence[Measurement], texts: Sequence[str], plan: Record) -> int:
    """Return how many numbers are stored of a question, at most: those that are measured, and what is written of it."""
    written = len(canonical([list(texts) * _COPIES, plan]).encode()) // _BYTES_EACH
    return max(VECTOR * len(parts), written) + sum(
        part.mechanism.work(1) if isinstance(part.mechanism, Thresholding) else part.cells for part in parts
    )


class Stored:
    """What is stored for a principal of a pool: how many numbers, and how often each thing was measured."""

    def __init__(self, charges: Iterable[JsonObject] = ()) -> None:
        self.numbers, self.times = 0, Counter[str]()
        for one in charges:
            said = [(read_parts(part["plan"]), part["texts"], part["plan"]) for part in one["questions"]]
            self.add(_DRAW * len(one["again"]) + sum(numbers_in(*part) for part in said), one["questions"])

    def add(self, numbers: int, questions: Iterable[JsonObject]) -> None:
        """Count what a charge stores."""
        self.numbers += numbers
        self.times.update(one["measured"] for one in questions)


class WorkBuckets:
    """A bucket of work for each principal.

    Parameters
    ----------
    seconds : float
        The most that one request may be; a full one holds several.
    clock : callable
        Returns seconds.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._full, self._clock = seconds * SECOND, _REQUESTS * seconds * SECOND, clock
        self._left: dict[str, tuple[float, float]] = {}
        self._taking = threading.Lock()

    def take(self, principal: str, units: float, *, whole: bool = False) -> None:
        """Take work from a principal's bucket; of the `whole` of a request, more than a full one is refused.

        Raises
        ------
        PlanError
            With what is left and when there is enough, which may be after the charge of this request: then it says `later`.
        """
        if whole and units > self._most:
            raise PlanError(
                f"This cell is about {units / SECOND:.2g} seconds of work, and one may be {self._most / SECOND:g}: ask fewer questions, groups "
                "or levels in one cell. The owner of the service can raise work = in its file. Nothing was spent."
            )
        with self._taking:
            now = self._clock()
            left, since = self._left.get(principal, (self._full, now))
            left = min(self._full, left + (now - since) / _FILLS * self._full)
            missing = min(units, self._full) - left
            self._left[principal] = left - (units if missing <= 0 else 0), now
        if missing > 0:
            raise PlanError(
                f"You asked for much work lately: of {self._full / SECOND:g} seconds {max(left, 0) / SECOND:.2f} are left. Run it again in "
                f"{math.ceil(missing / self._full * _FILLS)} s: it is charged once at most.",
                later=True,
            )


class LongLane:
    """Held by the one thread that answers a long request; few wait for it, so that threads are left for short ones."""

    def __init__(self) -> None:
        self._lock, self._places = threading.RLock(), threading.Semaphore(WAITERS)

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            if not self._places.acquire(blocking=False):
                raise PlanError(_MANY, later=True)
            self._lock.acquire()
            self._places.release()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
