"""What an analyst holds: estimates that are pending and then released, and the records behind them.

* :class:`Estimate` is what every question returns, before *and* after the release: an immutable expression.
* :class:`Measurement` is the one mutable thing, a write-once cell that estimates look into.
* :class:`Release` is the frozen record from the curator; :class:`Interval` is what the noise or sampling hides.
* :class:`Batch` is what a cell built and still holds when it ends; a :class:`Rehearsal` is never released.

The room refuses to show a value before its release, a vector as one number, and numpy functions that would drop the
uncertainty silently. It imports neither inference nor cards when it loads: ``Estimate.plot`` and ``.explain`` do so
when they are called. What may never change: objects resolve in place, and identity and hash stay what they were.
"""

from dpnb.release.arithmetic import CARRIED
from dpnb.release.batch import OPEN_BATCH, Batch, Rehearsal, open_batch
from dpnb.release.estimate import Estimate, ask
from dpnb.release.hooks import CELL_LABELS
from dpnb.release.interval import Interval, Kind, plain_number
from dpnb.release.keeping import to_json
from dpnb.release.measurement import Axis, Measurement, Origin, Outcome
from dpnb.release.pushing import DrawGenerator
from dpnb.release.record import Release, ReleasedPart
from dpnb.release.table import Table

__all__ = [
    "CARRIED",
    "CELL_LABELS",
    "OPEN_BATCH",
    "Axis",
    "Batch",
    "DrawGenerator",
    "Estimate",
    "Interval",
    "Kind",
    "Measurement",
    "Origin",
    "Outcome",
    "Rehearsal",
    "Release",
    "ReleasedPart",
    "Table",
    "ask",
    "open_batch",
    "plain_number",
    "to_json",
]
