"""OpenDP: MST with rows as shipped and by ``method="sample"``, and AIM of two columns at most; its own check takes ρ of powers of 2 alone."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import numpy as np
import opendp.prelude as dp
import polars as pl

from .synthetic_study import LEVELS, NAMES, RHO, Synthetic

dp.enable_features("contrib", "honest-but-curious")
ALGORITHMS = {"MST": dp.mbi.MST, "AIM": lambda: dp.mbi.AIM(queries=2)}
ASKED = os.environ.get("DPNB_BENCH_SYNTHETIC", "MST AIM").split()


def made(data: np.ndarray) -> Iterator[Synthetic]:
    """Rows of one release of each algorithm, drawn in both ways."""
    frame = pl.DataFrame({name: data[:, place] for place, name in enumerate(NAMES)})
    keys = {name: list(range(k)) for name, k in zip(NAMES, LEVELS, strict=True)}
    for name in ASKED:
        began = time.perf_counter()
        context = dp.Context.compositor(
            data=frame.lazy(), privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(rho=RHO)
        )
        query = context.query(rho=RHO).select(*NAMES)
        table = query.contingency_table(keys=keys, algorithm=ALGORITHMS[name]()).release()
        fitted = time.perf_counter() - began
        for method in ("round", "sample"):
            began = time.perf_counter()
            drawn = (
                table.synthesize(rows=len(data), method=method)
                .select(pl.col(*NAMES).cast(pl.Int64))
                .drop_nulls()
            )
            yield Synthetic(f'{name}, "{method}"', fitted + time.perf_counter() - began, drawn.to_numpy())
