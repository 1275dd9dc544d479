"""Estimates are found inside ordinary Python objects: breadth first, bounded, without running any code of theirs."""

from __future__ import annotations

import functools
import gc
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd

from dpnb.notebook.find_estimates import estimates_in
from tests.estimate.fakes import pending


def texts(*values, **options):
    return [estimate.text for estimate in estimates_in(values, **options)]


def test_attributes_containers_frames_and_closures_are_looked_into():
    array = np.empty(1, dtype=object)
    array[0] = pending("array")
    inside = pending("closure")
    values = [
        SimpleNamespace(q=pending("attribute")),
        {"k": pending("dict"), "n": [[pending("list")]]},
        pd.DataFrame({"a": [pending("frame"), 1]}),
        array,
        lambda: inside,
        functools.partial(print, pending("partial")),
    ]
    assert sorted(texts(*values)) == ["array", "attribute", "closure", "dict", "frame", "list", "partial"]


def test_the_search_for_held_estimates_is_bounded_and_runs_no_code():
    class Trap:
        @property
        def q(self):
            raise AssertionError("a property was run")

    deep = pending("deep")
    for _ in range(10):
        deep = [deep]
    assert texts(Trap(), deep, sys, gc, 3, "text", None, int) == []
    many = [object() for _ in range(100)] + [pending("beyond the limit")]
    assert texts(many, most=50) == []
    assert texts(many) == ["beyond the limit"]

    def unfilled():
        return later

    assert texts(unfilled) == []
    later = 1
    first, second = pending("default"), pending("keyword")
    default = (lambda q=first: q, lambda *, q=second: q)
    assert texts(*default) == ["default", "keyword"]
