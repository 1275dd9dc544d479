"""A small protected dataset and a curator for it, in this process: real service, real ledger, numpy in place of DuckDB."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dpnb.client.handles import Dataset
from dpnb.client.session import Session
from dpnb.client.transport import InMemory
from dpnb.client.upload import hand_over
from dpnb.datasets import load
from dpnb.datasets.exact_answers import answer
from dpnb.datasets.preparation import prepare
from dpnb.teach.curator import SeededRandomness
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.open_dataset import PreparedCopies
from dpnb.trusted.curator.release import Randomness
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.schema import Schema
from dpnb.trusted.wire.filelock import FileLock
from dpnb.trusted.wire.places import Home
from tests.forked_curators import seed_of_a_start

ROWS = 40
DECLARED = {
    "dataset": {"name": "small", "adjacency": "change-one", "rows": ROWS, "mode": "guard-rail"},
    "budget": {"epsilon": 10},
    "columns": {
        "x": {"type": "integer", "lower": 0, "upper": 10},
        "g": {"type": "category", "values": [0, 1]},
        "y": {"type": "category", "values": [0, 1]},
    },
}


def declared(**dataset: Any) -> dict[str, Any]:
    """The declaration with other facts under [dataset]; ``epsilon`` and ``rho`` replace the budget."""
    budget = {name: dataset.pop(name) for name in ("epsilon", "rho", "delta") if name in dataset}
    return {**DECLARED, "dataset": {**DECLARED["dataset"], **dataset}, "budget": budget or DECLARED["budget"]}


def schema(**dataset: Any) -> Schema:
    """The public schema."""
    return load(declared(**dataset)).schema


def rows(seed: int = 1) -> dict[str, np.ndarray]:
    """Forty rows; some lack a y."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, ROWS).astype(float)
    y[:7] = np.nan
    return {"x": rng.integers(0, 11, ROWS).astype(float), "g": rng.integers(0, 2, ROWS).astype(float), "y": y}


class NumpyEngine:
    """The reference evaluator as an engine, and a count of its calls."""

    def __init__(self, path: Path) -> None:
        self.table = pickle.loads(path.read_bytes())
        self.calls = 0

    def answer(self, requests: Any) -> list[Any]:
        """Answer by the reference."""
        self.calls += 1
        return list(answer(self.table, requests))

    def close(self) -> None:
        """Nothing to close."""


def prepare_numpy(raw: Mapping[str, Any], of: Schema, into: Path, table: str | None, key: bytes) -> None:
    """Write a prepared copy for :class:`NumpyEngine`."""
    into.write_bytes(pickle.dumps(prepare(raw, of, key=key)))


def curator(home: Path | str, randomness: Randomness | None = None) -> Curator:
    """A curator of a home, in this process; a seed decides its noise, another one for each curator of a home."""
    place = Home(Path(home)).make()
    shelf = PreparedCopies(place, prepare_numpy, NumpyEngine)
    made = randomness or SeededRandomness(seed=seed_of_a_start(place.root))
    return Curator(place, Ledger(place.ledger), shelf, made, "dpnb.datasets")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a home's lock, as a running curator does."""
    lock = FileLock(path)
    assert lock.acquire(60)
    try:
        yield
    finally:
        lock.free()


def session(service: Curator, principal: str = "ann") -> Session:
    """A session with it."""
    return Session(lambda: InMemory(lambda body: service.answer(body, principal)))


def opened(here: Session, home: Path | str, raw: Mapping[str, Any] | None = None, **dataset: Any) -> Dataset:
    """The small dataset, handed over and opened."""
    return here.attach(hand_over(rows() if raw is None else raw, schema(**dataset), Home(Path(home))))
