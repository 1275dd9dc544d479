"""What only TEACHING data allow: the truth, free draws of the same noise, laws of outcomes, and seeds.

The truth is computed in the kernel from the public source, by the reference evaluator. No curator is asked for it, and no message
can contain it. Seeds belong to a separate curator (:mod:`dpnb.teach.curator`), which opens nothing else.

``from dpnb.teach import check`` gives the checks of the course. They are in a higher package (:mod:`dpnb.course`), because they
audit and draw; the name is imported when it is first used, like the public names of dpnb.
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
