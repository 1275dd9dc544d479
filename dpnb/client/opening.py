"""``dpnb.open``: the first thing that is asked of a kernel, and so the one that loads the client.

A curator takes about as long to start as the client takes to load. What is opened by a plain name needs the curator of this home:
it is started first, and both are ready at about the same time.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from dpnb.client import launch
from dpnb.client.arguments import checked_call
from dpnb.errors import DpnbError
from dpnb.trusted.wire.places import Home

if TYPE_CHECKING:
    from dpnb.client.handles import Dataset


@contextlib.contextmanager
def ahead(what: object, seed: object) -> Iterator[None]:
    """Start this home's curator while what follows is loaded, if it is going to be asked and may not run yet."""
    loaded = "dpnb.client.session" in sys.modules
    study = isinstance(what, str) and what.isidentifier() and not os.environ.get("DPNB_SERVICE")
    if loaded or not study or seed is not None:
        yield
        return
    with contextlib.suppress(DpnbError, OSError):  # said when the curator is asked
        launch.ahead(Home.current())
    try:
        yield
    finally:
        launch.leave_ahead()


@checked_call("dpnb.open")
def open(  # noqa: A001 - the name that a person expects
    what: object = None,
    schema: object = None,
    mode: str | None = None,
    *,
    adjacency: str | None = None,
    tables: Mapping[str, object] | None = None,
    seed: int | str | None = None,
    truth: bool | None = None,
    quiet: bool = False,
) -> Dataset:
    """Open a protected dataset.

    Parameters
    ----------
    what : str, Path or frame
        A built-in study's name, a CSV, Parquet or DuckDB file, a schema file, or a pandas, polars or Arrow frame; or a
        dataset of a service, by its address (``"https://host/dpnb/incomes"``); or a published file (``"people.releases.json"``, or a
        list of several such files of one dataset), whose answers need no curator.
    schema : path, mapping or Schema, optional
        The owner's declaration; by default ``people.dpnb.toml`` beside ``people.csv``. A frame needs one.
    mode : {"teaching", "guard-rail"}, optional
        Built-in studies are public, so they open as TEACHING; with ``"guard-rail"`` they behave like protected data.
    adjacency : {"change-one", "add-remove"}, optional
        TEACHING data only: open them with another neighbouring relation than declared. Each has a budget of its own.
    tables : mapping of str to frame, optional
        With a frame: the other tables that its declaration names, such as ``tables={"visits": visits}`` for ``[source.visits]``.
    seed : int or str, optional
        TEACHING data only: a number or name that determines the noise, the same on every machine and in any order of cells.
        ``"per-student"`` uses the name of the user who runs the kernel.
    truth : bool, optional
        TEACHING data only: whether cards and plots show what each answer would be without noise.
    quiet : bool
        Do not show the dataset's card.

    Returns
    -------
    Dataset
        A handle that contains no data.

    Raises
    ------
    SchemaError, OwnerError
        If there is no such dataset, or its schema, file or pinned terms do not allow it.
    """
    with ahead(what, seed):
        from dpnb.client import api

        given = api.Given(schema, mode, adjacency, tables, seed, truth)
        return api.opened(what, given, quiet=quiet)
