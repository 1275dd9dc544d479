"""Every module can be imported on its own, under every Python."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import dpnb

MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(dpnb.__path__, "dpnb.")
    if not found.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_imported(name):
    assert importlib.import_module(name).__doc__
