"""The interactions: every ε can be dragged, and everything that depends on it follows at once.

Each interaction has one Python module (:mod:`dpnb.widgets.kinds`) and one front-end module, listed in one table
(:mod:`dpnb.widgets.registry`); ``labextension/src/maths`` computes in the browser what the functions named beside it compute
here. :func:`built` says whether this installation includes the front end. Closed forms are computed during a drag; the
kernel is called when the drag ends. Moving a control never spends, and for protected data only public metadata and past
releases are drawn.
"""

from __future__ import annotations

import importlib
from typing import Any

from dpnb.widgets.registry import INTERACTIONS

_ELSEWHERE = {"built": "dpnb.widgets._base", "page": "dpnb.widgets.pages"}
_CALLED = {entry.public: entry for entry in INTERACTIONS}
__all__ = sorted([*_CALLED, *_ELSEWHERE])  # noqa: PLE0605 - from the one table


def __getattr__(name: str) -> Any:
    if name in _CALLED:
        return _CALLED[name].load()
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(_ELSEWHERE[name]), name)
    raise AttributeError(f"module 'dpnb.widgets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
