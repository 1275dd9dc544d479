"""Every module can be imported on its own, under every Python."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil

import pytest

import dpnb

MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(dpnb.__path__, "dpnb.")
    if not found.name.endswith("__main__")
)
EXTRAS = {"dpnb.widgets.portable": "anywidget"}
"""Modules that need an optional package; tests/widgets/test_hosts.py runs them with it."""


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_imported(name):
    """It has a docstring; one that needs an extra which is not here lacks that package and nothing else."""
    extra = EXTRAS.get(name)
    if extra is None or importlib.util.find_spec(extra) is not None:
        assert importlib.import_module(name).__doc__
        return
    with pytest.raises(ModuleNotFoundError) as lacking:
        importlib.import_module(name)
    assert lacking.value.name == extra
