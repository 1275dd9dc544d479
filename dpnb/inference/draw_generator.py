"""Random numbers that belong to draws: the same ids give the same noise, wherever an answer is used."""

from __future__ import annotations

import hashlib

import numpy as np


class DrawGenerator(np.random.Generator):
    """A generator seeded from the ids of draws: the same ids give the same noise, always.

    Parameters
    ----------
    ids : tuple of str
        Ids of the draws.
    chunk : int
        Which chunk of draws.
    """

    def __init__(self, ids: tuple[str, ...], chunk: int = 0) -> None:
        digest = hashlib.sha256(f"{chunk}|{'|'.join(ids)}".encode()).digest()
        super().__init__(np.random.PCG64(int.from_bytes(digest[:16], "big")))
        self.ids = ids
        self.chunk = chunk

    def of(self, name: str) -> DrawGenerator:
        """A stream of its own: ``of("id")`` or ``of("id:place")`` of a draw is the same wherever it is used.

        Any other name is a side stream of these draws together, for example ``of("sampling")``.
        """
        known = name.partition(":")[0] in self.ids
        return DrawGenerator((name,) if known else (*self.ids, f"/{name}"), self.chunk)
