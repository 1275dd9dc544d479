"""The whole table, publication by publication."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tests.replication import beliefs, bootstrap, primer, social
from tests.replication.row import Row

_SECTIONS: tuple[Callable[..., list[Row]], ...] = (bootstrap.rows, primer.rows, beliefs.rows, social.rows)


def replicate(*, quick: bool = False, seed: int = 2018) -> Iterator[Row]:
    """Yield every row, each computed now.

    Parameters
    ----------
    quick : bool
        Fewer repetitions and sizes, for a look in seconds; standard errors grow accordingly.
    seed : int
        Each publication starts from it, so that one can be repeated alone.
    """
    for section in _SECTIONS:
        yield from section(np.random.default_rng(seed), quick=quick)
