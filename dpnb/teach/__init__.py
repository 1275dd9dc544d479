"""What only TEACHING data allow: the truth, free draws of the same noise, laws of outcomes, and seeds.

The truth is computed in the kernel from the public source, by the reference evaluator. No curator is asked for it, and no message
can contain it. Seeds belong to a separate curator (:mod:`dpnb.teach.curator`), which opens nothing else.

``from dpnb.teach import check, predict, reveal`` gives what the lessons ask students. They are in a higher package
(:mod:`dpnb.course`) and are imported when they are first used, like the public names of dpnb.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpnb.course import check
    from dpnb.course.prediction import predict, reveal

__all__ = ["check", "predict", "reveal"]


def __getattr__(name: str) -> object:
    if name == "check":
        return importlib.import_module("dpnb.course.check")
    if name in {"predict", "reveal"}:
        return getattr(importlib.import_module("dpnb.course.prediction"), name)
    raise AttributeError(f"module 'dpnb.teach' has no attribute {name!r}")
