"""Where higher rooms plug themselves in: empty until ``client`` and ``notebook`` are imported.

``release`` may not import those rooms, so they leave a function here instead. Nothing in this module decides
anything about privacy. What may never change: an empty hook is a clear error or a plain default, never a crash.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

#: Set by ``client``: ``REMEASURE(estimate, **ask) -> Estimate`` pays more and combines with what is there.
REMEASURE: Callable[..., Any] | None = None

#: Filled by ``notebook``: the compiled file name of a cell -> the label that a person knows, ``"In[5]"``.
CELL_LABELS: MutableMapping[str, str] = {}

#: Set by ``notebook``: draws a pending estimate and updates the drawing on release (IPython's display protocol).
SHOW_PENDING: Callable[[Any], None] | None = None

#: Set by ``notebook`` or ``cards``: the MIME bundle of a released estimate.
BUNDLE: Callable[[Any], dict[str, Any]] | None = None

#: Set by ``client``: ``CONCLUDE(checked, releases) -> Outcome``, a module-level function. A released estimate is pickled
#: as its record, and this function makes the outcome again when it is read back.
CONCLUDE: Callable[..., Any] | None = None
