"""Differential privacy in the notebook: ask, see the price, release, and know how certain an answer is.

There are few public names, and each is imported when it is first used: ``import dpnb`` costs little more than numpy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpnb.client.api import plan, release, report, session, spend, studies
    from dpnb.client.archive import archive
    from dpnb.client.combining import combine
    from dpnb.client.opening import open  # noqa: A004 - the public name
    from dpnb.client.power import power
    from dpnb.client.sql import sql
    from dpnb.estimate import to_json
    from dpnb.estimate.together import together
    from dpnb.synthetic.files import open_synthetic
    from dpnb.version import __version__
    from dpnb.widgets.kinds.panel import panel

__all__ = [
    "__version__",
    "archive",
    "combine",
    "load_ipython_extension",
    "open",
    "open_synthetic",
    "panel",
    "plan",
    "power",
    "receipt",
    "release",
    "report",
    "session",
    "spend",
    "sql",
    "studies",
    "to_json",
    "together",
]

_NAMES = {
    **dict.fromkeys(("plan", "release", "report", "session", "spend", "studies"), "dpnb.client.api"),
    "archive": "dpnb.client.archive",
    "combine": "dpnb.client.combining",
    "open": "dpnb.client.opening",
    "open_synthetic": "dpnb.synthetic.files",
    "power": "dpnb.client.power",
    "sql": "dpnb.client.sql",
    "receipt": "dpnb.client.receipt",
    "panel": "dpnb.widgets.kinds.panel",
    "to_json": "dpnb.estimate",
    "together": "dpnb.estimate.together",
    "__version__": "dpnb.version",
}
_OUTSIDE = (
    "audit",
    "cards",
    "client",
    "datasets",
    "errors",
    "exhibits",
    "inference",
    "lessons",
    "models",
    "risk",
    "simulate",
    "statistics",
    "widgets",
)
_TRUSTED = ("aggregate", "mechanisms", "privacy", "schema")
_ROOMS = {name: f"dpnb.{name}" for name in _OUTSIDE} | {name: f"dpnb.trusted.{name}" for name in _TRUSTED}


def load_ipython_extension(shell: Any) -> None:
    """Make ``%load_ext dpnb`` register the magics."""
    from dpnb import notebook

    notebook.load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Make ``%unload_ext dpnb`` remove them."""
    from dpnb import notebook

    notebook.unload(shell)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    if name in _ROOMS:
        return importlib.import_module(_ROOMS[name])
    raise AttributeError(f"module 'dpnb' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS})
