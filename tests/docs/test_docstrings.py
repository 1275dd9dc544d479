"""Every example in a docstring says what it prints: the reference shows them, and readers type them."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import dpnb

ROOT = Path(dpnb.__file__).parent
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def module_of(path: Path) -> str:
    """Return the dotted name of a file of the library."""
    parts = ("dpnb", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


WITH_EXAMPLES = sorted(module_of(path) for path in ROOT.rglob("*.py") if "    >>> " in path.read_text())


def test_most_rooms_have_examples():
    assert len(WITH_EXAMPLES) > 80
    assert len({name.split(".")[1] for name in WITH_EXAMPLES}) > 12


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_an_example_prints_what_it_says(name):
    module = importlib.import_module(name)
    examples = [test for test in doctest.DocTestFinder().find(module, name, module) if test.examples]
    assert examples
    said: list[str] = []
    for test in examples:
        doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(test, out=said.append)
    assert not said, "".join(said)
