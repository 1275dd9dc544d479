"""A notebook as interactions see it: names, and answers to what is asked."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dpnb.estimate import Host, provide


class Notebook(Host):
    """Names, and a function that answers."""

    def __init__(self, names: Mapping[str, Any], answer: Callable[[Any], dict[str, Any]] = dict) -> None:
        super().__init__()
        self._names, self._answer = names, answer

    def names(self) -> Mapping[str, Any]:
        """Return the names."""
        return self._names

    def ask(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Answer."""
        return self._answer(asked)


@contextlib.contextmanager
def notebook(names: Mapping[str, Any], answer: Callable[[Any], dict[str, Any]] = dict) -> Iterator[None]:
    """Surround what runs inside with a notebook of these names."""
    provide(Notebook(names, answer))
    try:
        yield
    finally:
        provide(None)
