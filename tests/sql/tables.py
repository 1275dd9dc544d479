"""Tables that the queries read: made-up people, order lines of customers, and patients with visits; as frames and as declared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dpnb.client.handles import Dataset, Opened
from dpnb.datasets import load
from dpnb.trusted.schema import Schema

ROWS = 2_000
PARAMETERS = {"low": 40, "which": "black"}
_NUMBER = {"people": "row", "lineitem": "custkey", "hospital": "person"}
_BRANDS = ["Brand#12", "Brand#23", "Brand#34", "PROMO A", "PROMO B"]
_MODES = ["AIR", "MAIL", "RAIL", "REG AIR", "SHIP"]


def _whole(low: int, high: int) -> dict[str, Any]:
    return {"type": "integer", "lower": low, "upper": high}


def _values(*values: Any) -> dict[str, Any]:
    return {"type": "category", "values": list(values)}


def _dates(low: str, high: str) -> dict[str, Any]:
    return {"type": "date", "bounds": [low, high]}


_CENTS = {"type": "number", "lower": 0, "step": "0.01"}
DECLARED: dict[str, dict[str, Any]] = {
    "people": {
        "dataset": {"name": "people", "adjacency": "add-remove"},
        "columns": {
            "age": _whole(0, 100),
            "educ": _whole(1, 17),
            "income": _whole(0, 200_000),
            "change": _whole(-20, 20),
            "race": _values("asian", "black", "latino", "white"),
            "region": _values("east", "north", "south", "west"),
            "puma": _values(1101, 1102, 1104),
            **dict.fromkeys(("sex", "married", "employed", "children", "divorced", "black"), _values(0, 1)),
        },
    },
    "lineitem": {
        "dataset": {"name": "lineitem", "adjacency": "add-remove", "unit": "custkey", "max_rows_per_unit": 7},
        "columns": {
            "quantity": _whole(1, 51),
            "extendedprice": _CENTS | {"upper": 1000},
            "discount": _CENTS | {"upper": "0.1"},
            "tax": _CENTS | {"upper": "0.08"},
            "returnflag": _values("A", "N", "R"),
            "linestatus": _values("F", "O"),
            "shipmode": _values(*_MODES),
            "brand": _values(*_BRANDS),
            "shipdate": _dates("1992-01-01", "1998-12-30"),
            "receiptdate": _dates("1992-01-01", "1999-02-01"),
        },
    },
    "hospital": {
        "dataset": {"name": "hospital", "adjacency": "add-remove", "unit": "person", "max_rows_per_unit": 1},
        "columns": {"age": _whole(0, 100), "sex": _values("f", "m")},
        "source": {
            "visits": {
                "on": "person",
                "columns": {"minutes": _whole(0, 240), "ward": _values("medicine", "surgery")},
            }
        },
        "prepare": {
            "visits": {"count": "visits", "upper": 20},
            "total": {"sum": "visits.minutes", "upper": 5000, "missing": 0},
        },
    },
}


def frames(seed: int = 5) -> dict[str, pd.DataFrame]:
    """Return the rows of each table; incomes and some races are missing."""
    rng = np.random.default_rng(seed)

    def pick(values: Any, n: int = ROWS) -> Any:
        return np.array(values)[rng.integers(0, len(values), n)]

    flags = {
        name: rng.integers(0, 2, ROWS)
        for name in ("sex", "married", "employed", "children", "divorced", "black")
    }
    income = pd.array(rng.integers(0, 200, ROWS) * 1000, dtype="Int64")
    income[rng.random(ROWS) < 0.1] = pd.NA
    race = pick(DECLARED["people"]["columns"]["race"]["values"]).astype(object)
    race[rng.random(ROWS) < 0.05] = None
    people = pd.DataFrame(
        {
            "age": rng.integers(0, 100, ROWS),
            "educ": rng.integers(1, 18, ROWS),
            "income": income,
            "change": rng.integers(-20, 21, ROWS),
            "race": race,
            "region": pick(["east", "north", "south", "west"]),
            "puma": pick([1101, 1102, 1104]),
            **flags,
        }
    )
    shipped = np.datetime64("1992-01-01") + rng.integers(0, 2540, ROWS)
    lines = pd.DataFrame(
        {
            "custkey": [f"c{number % (ROWS // 3)}" for number in range(ROWS)],
            "quantity": rng.integers(1, 51, ROWS),
            "extendedprice": rng.integers(0, 100_001, ROWS) / 100,
            "discount": rng.integers(0, 11, ROWS) / 100,
            "tax": rng.integers(0, 9, ROWS) / 100,
            "returnflag": pick(["A", "N", "R"]),
            "linestatus": pick(["F", "O"]),
            "shipmode": pick(_MODES),
            "brand": pick(_BRANDS),
            "shipdate": pd.to_datetime(shipped),
            "receiptdate": pd.to_datetime(shipped + rng.integers(1, 31, ROWS)),
        }
    )
    patients, visits = 400, 1_200
    hospital = pd.DataFrame(
        {
            "person": [f"p{number}" for number in range(patients)],
            "age": rng.integers(0, 100, patients),
            "sex": pick(["f", "m"], patients),
        }
    )
    stays = pd.DataFrame(
        {
            "person": [f"p{number}" for number in rng.integers(0, patients, visits)],
            "minutes": rng.integers(0, 240, visits),
            "ward": pick(["medicine", "surgery"], visits),
        }
    )
    return {"people": people, "lineitem": lines, "hospital": hospital, "visits": stays}


def schema(name: str) -> Schema:
    """Return the public schema of a dataset."""
    return load({**DECLARED[name], "budget": {"epsilon": 10**9}}).schema


def handles() -> dict[str, Dataset]:
    """Return handles with which questions can be written, and none be answered: no curator is started."""
    found = {}
    for name in DECLARED:
        declared = schema(name)
        found[name] = Dataset(None, Opened(name, declared, "version", declared.mode, ()))  # type: ignore[arg-type]
    return found
