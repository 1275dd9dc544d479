"""``census``: people who do not exist, as many as are wanted, with the columns of a census.

Simulated, seeded, vectorised: ten million rows take seconds. A seed exists here because nobody is described.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from dpnb.datasets.study import Columns, Study, flag, public_study
from dpnb.trusted.aggregate.arrays import Cells
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema

_STATES = (
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH "
    "OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY"
)
STATES = tuple(_STATES.split())
_LARGE = {"CA": 12, "TX": 9, "FL": 7, "NY": 6, "PA": 4, "IL": 4, "OH": 4, "GA": 3, "NC": 3, "MI": 3}
_ROWS = 10_000

_SCHEMA = public_study(
    "census",
    "A census of people who do not exist",
    _ROWS,
    (
        Column.integer("age", 0, 100, label="age in years"),
        flag("sex", "sex (0 = male, 1 = female)"),
        Column.category("state", STATES, label="state"),
        Column.category(
            "education", [1, 2, 3, 4, 5], label="education (1 = no degree … 5 = advanced degree)"
        ),
        flag("married", "married (1 = yes)"),
        Column.integer("hours", 0, 80, label="hours of paid work a week"),
        Column.number("income", 0, 200_000, step=1, label="yearly income in dollars"),
    ),
    description="Simulated. Income is not stated by three people in a hundred; it grows with age, school and hours.",
    source_note="Simulated by dpnb.datasets.census",
    licence="CC0",
    citation="Simulated data: dpnb, dpnb.datasets.census.",
)


def census_schema(rows: int = _ROWS) -> Schema:
    """Return the schema of a census with this number of people."""
    return replace(_SCHEMA, unit=PrivacyUnit("change-one", rows=rows))


def census(rows: int = _ROWS, seed: int = 0) -> Columns:
    """Simulate a census.

    Parameters
    ----------
    rows : int
        How many people.
    seed : int
        The same seed gives the same people.

    Returns
    -------
    dict of str to ndarray, each of shape (rows,)
        ``age``, ``sex``, ``education``, ``married``, ``hours`` as int8 or int16, ``state`` as text,
        ``income`` as float64 with NaN where not stated.

    Examples
    --------
    >>> people = census(1000, seed=1)
    >>> sorted(people), len(people["age"])
    (['age', 'education', 'hours', 'income', 'married', 'sex', 'state'], 1000)
    """
    rng = np.random.default_rng(seed)
    age = np.minimum(100 * rng.beta(1.5, 2.2, rows), 99).astype(np.int8)
    adult = age >= 18
    sex = rng.integers(0, 2, rows, dtype=np.int8)
    education = np.where(adult, rng.choice(5, rows, p=[0.1, 0.35, 0.25, 0.2, 0.1]) + 1, 1).astype(np.int8)
    married = (adult & (rng.random(rows, dtype=np.float32) < 0.55)).astype(np.int8)
    hours = _hours(rng, age)
    return {
        "age": age,
        "sex": sex,
        "state": _states(rng, rows),
        "education": education,
        "married": married,
        "hours": hours,
        "income": _income(rng, age, education, hours),
    }


def _hours(rng: np.random.Generator, age: Cells) -> Cells:
    works = (age >= 16) & (age < 68) & (rng.random(len(age), dtype=np.float32) < 0.75)
    usual = 38 + 9 * rng.standard_normal(len(age), dtype=np.float32)
    return np.where(works, np.clip(usual, 4, 80), 0).astype(np.int8)


def _states(rng: np.random.Generator, rows: int) -> Cells:
    weights = np.array([_LARGE.get(state, 1) for state in STATES], dtype=float)
    codes = np.searchsorted(np.cumsum(weights / weights.sum())[:-1], rng.random(rows), side="right")
    named: Cells = np.array(STATES, dtype=object)[codes]
    return named


def _income(rng: np.random.Generator, age: Cells, education: Cells, hours: Cells) -> Cells:
    rows = len(age)
    level = 9.4 + 0.22 * education + 0.008 * np.minimum(age, 55) + 0.02 * hours
    income = np.exp(level + 0.5 * rng.standard_normal(rows, dtype=np.float32)).astype(np.float64)
    income[age < 16] = 0
    income[rng.random(rows, dtype=np.float32) < 0.03] = np.nan
    rounded: Cells = np.round(income)
    return rounded


CENSUS = Study(census_schema(), partial(census, _ROWS, 0), simulated=True)
