"""What is public, room by room: what a person may type, and what stays when everything else is rebuilt."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Room:
    """A module of public names.

    Parameters
    ----------
    page : str
        Of the reference.
    module : str
        Where the names are.
    title, words : str
        Of the page.
    names : tuple of str
        Which of them; all that the module lists where none are named.
    methods : bool
        Whether its classes are shown with their methods.
    """

    page: str
    module: str
    title: str
    words: str
    names: tuple[str, ...] = ()
    methods: bool = False

    def members(self) -> Iterator[tuple[str, object]]:
        """Yield each public name and what it is."""
        module = importlib.import_module(self.module)
        for name in self.names or module.__all__:
            if name.startswith("_") or name == "load_ipython_extension":
                continue
            yield name, getattr(module, name)


ROOMS = (
    Room("dpnb", "dpnb", "dpnb", "What ``import dpnb`` gives: open, ask, plan, release, report."),
    Room(
        "dataset",
        "dpnb.client.handles",
        "A dataset",
        "What ``dpnb.open`` returns. It holds no data: its methods return pending estimates.",
        ("Dataset",),
        methods=True,
    ),
    Room(
        "column",
        "dpnb.client.columns",
        "A column",
        "What ``ds.age`` is. Each statistic of one column is a method.",
        ("ColumnHandle",),
        methods=True,
    ),
    Room(
        "estimate",
        "dpnb.estimate",
        "An estimate",
        "What every question returns, before and after its release.",
        ("Estimate", "Table"),
        methods=True,
    ),
    Room(
        "session",
        "dpnb.client.session",
        "A session",
        "What ``dpnb.session()`` returns: budgets, the ledger, a cap of your own.",
        ("Session",),
        methods=True,
    ),
    Room("widgets", "dpnb.widgets", "dpnb.widgets", "Interactions. Moving a control spends nothing."),
    Room(
        "simulate",
        "dpnb.simulate",
        "dpnb.simulate",
        "Thousands of studies on arrays. Never a protected dataset.",
    ),
    Room("audit", "dpnb.audit", "dpnb.audit", "Whether a mechanism keeps its claim. It takes arrays."),
    Room(
        "attacks",
        "dpnb.audit.attacks",
        "dpnb.audit.attacks",
        "Ways to learn what was never shown, on made-up people.",
    ),
    Room(
        "exhibits", "dpnb.exhibits", "dpnb.exhibits", "Published procedures that do not keep their promise."
    ),
    Room("lessons", "dpnb.lessons", "dpnb.lessons", "What a course has its students write, on plain arrays."),
    Room(
        "datasets",
        "dpnb.datasets",
        "dpnb.datasets",
        "The built-in studies, and what is read from an owner's file.",
    ),
    Room(
        "errors",
        "dpnb.errors",
        "dpnb.errors",
        "What can go wrong. A message never contains data.",
        methods=False,
    ),
)
