"""What a question returns: estimates that are pending and then released, and arithmetic on them.

* :class:`Estimate` is what every question returns, before *and* after the release: an immutable expression.
* :class:`PendingQuestion` is the one mutable thing, a write-once cell that estimates look into.
* :class:`Batch` is what a cell built and still holds when it ends; a :class:`Rehearsal` is never released.
* :class:`Host` is what surrounds the session: a plain script, or a notebook.

This package refuses to show a value before its release, a vector as one number, and numpy functions that would drop the
uncertainty silently. It lies above the statistics, and the curator cannot import it. It draws nothing: ``Estimate.plot`` and
``.explain`` call what the cards provide (:func:`provide_views`). What may never change: objects resolve in place, and identity and hash stay
what they were.
"""

from dpnb.estimate.arithmetic import CARRIED
from dpnb.estimate.batch import OPEN_BATCH, Batch, Rehearsal, open_batch
from dpnb.estimate.estimate import Estimate, ask, to_json
from dpnb.estimate.host import Host, current_host, provide, provide_views
from dpnb.estimate.pending_question import Origin, PendingQuestion
from dpnb.estimate.table import Table

__all__ = [
    "CARRIED",
    "OPEN_BATCH",
    "Batch",
    "Estimate",
    "Host",
    "Origin",
    "PendingQuestion",
    "Rehearsal",
    "Table",
    "ask",
    "current_host",
    "open_batch",
    "provide",
    "provide_views",
    "to_json",
]
