"""What TEACHING data allow and no other data: the truth, free draws of the same noise, laws of outcomes, and seeds.

Truth is computed in the kernel from the public source, by the reference evaluator; no curator is asked for it, and no message
exists in which it could be. Seeds belong to a curator of their own (:mod:`dpnb.teach.curator`), which opens nothing else.

``from dpnb.teach import check`` gives the checks of the course. They stand in a room above this one (:mod:`dpnb.course`), since they
audit and draw; the name is looked up when it is asked for, as the package's own names are.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dpnb.teach.prediction import predict, reveal

if TYPE_CHECKING:
    from dpnb.course import check

__all__ = ["check", "predict", "reveal"]


def __getattr__(name: str) -> Any:
    if name == "check":
        return importlib.import_module("dpnb.course.check")
    raise AttributeError(f"module 'dpnb.teach' has no attribute {name!r}")
