"""dpnb: all pairs of the columns, twenty tables, intervals combined; a real release through the curator and its ledger."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np

import dpnb
from dpnb.errors import PlanError
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema

from .synthetic_study import LEVELS, NAMES, RHO, Synthetic, estimates


def made(data: np.ndarray) -> Iterator[Synthetic]:
    """Rows of one release."""
    columns = [
        Column.category(name, list(range(k)), missing=0) for name, k in zip(NAMES, LEVELS, strict=True)
    ]
    schema = Schema("people", "People", columns, PrivacyUnit("add-remove"), Budget.from_toml({"rho": 10**6}))
    people = dpnb.open(dict(zip(NAMES, data.T, strict=True)), schema=schema, quiet=True)
    began = time.perf_counter()
    rows = people.synthetic(*NAMES)
    try:
        dpnb.release({"rows": rows}, rho=f"{RHO:.10f}", assume_n=len(data), fresh=True)
    except PlanError as refusal:  # too few people for this many tables: it says so before anything is spent
        print(refusal, file=sys.stderr)
        return
    tables = [np.column_stack([rows.rows(m)[name] for name in NAMES]) for m in range(rows.count)]
    seconds = time.perf_counter() - began
    found = rows.combine(lambda frame: estimates(frame[list(NAMES)].to_numpy()))
    low, high = found.interval(0.95)
    yield Synthetic("one table", seconds, tables[0][: len(data)], np.asarray(low), np.asarray(high))
    yield Synthetic("all twenty tables", seconds, np.vstack(tables), np.asarray(low), np.asarray(high))
