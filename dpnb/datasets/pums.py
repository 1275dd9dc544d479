"""``pums``: an extract of a census as courses use it, of people who do not exist.

Courses on differential privacy work with a public-use extract of one county: age, sex, years of schooling, race, income and marital
status. No package carries its rows, so these are simulated, with the columns and codes of that extract; nothing computed here is a
fact about the county.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpnb.datasets.study import Columns, Study, flag, public_study
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema

_ROWS = 25_766
"""As many as the extract of Fulton county has."""

_EDUCATION = (1, 1, 1, 1, 2, 3, 4, 6, 20, 8, 12, 6, 24, 8, 2, 1)
_RACE = (52, 40, 4, 1, 2, 1)

_SCHEMA = public_study(
    "pums",
    "An extract of a census for courses, of people who do not exist",
    _ROWS,
    (
        Column.integer("age", 18, 95, label="age in years, of adults"),
        flag("sex", "sex (0 = male, 1 = female)"),
        Column.integer(
            "educ", 1, 16, label="schooling (1 = none … 9 = high school … 13 = bachelor … 16 = doctorate)"
        ),
        Column.category("race", [1, 2, 3, 4, 5, 6], label="race, in six codes"),
        Column.number("income", 0, 200_000, step=100, label="yearly income in dollars"),
        flag("married", "married (1 = yes)"),
    ),
    description="Simulated, with the columns and codes of the public-use extract that courses use; a fifth has no income.",
    source_note="Simulated by dpnb.datasets.pums",
    licence="CC0",
    citation="Simulated data: dpnb, dpnb.datasets.pums.",
)


def pums_schema(rows: int = _ROWS) -> Schema:
    """Describe an extract of so many people."""
    return replace(_SCHEMA, unit=PrivacyUnit("change-one", rows=rows))


def pums(rows: int = _ROWS, seed: int = 0) -> Columns:
    """Simulate an extract of a census.

    Parameters
    ----------
    rows : int
        How many people.
    seed : int
        The same seed gives the same people.

    Returns
    -------
    dict of str to ndarray, each of shape (rows,)
        ``age``, ``sex``, ``educ``, ``race``, ``married`` as int8, ``income`` as float64, in dollars; some lie beyond the declared bounds.

    Examples
    --------
    >>> people = pums(1000, seed=1)
    >>> sorted(people), int(people["educ"].max()) <= 16
    (['age', 'educ', 'income', 'married', 'race', 'sex'], True)
    """
    rng = np.random.default_rng(seed)
    age = np.minimum(18 + 77 * rng.beta(1.3, 2.2, rows), 95).astype(np.int8)
    sex = rng.integers(0, 2, rows, dtype=np.int8)
    educ = (rng.choice(16, rows, p=np.array(_EDUCATION) / sum(_EDUCATION)) + 1).astype(np.int8)
    race = (rng.choice(6, rows, p=np.array(_RACE) / sum(_RACE)) + 1).astype(np.int8)
    married = (rng.random(rows) < 0.15 + 0.4 * (age > 27)).astype(np.int8)
    return {
        "age": age,
        "sex": sex,
        "educ": educ,
        "race": race,
        "income": _income(rng, age, sex, educ),
        "married": married,
    }


def _income(
    rng: np.random.Generator, age: NDArray[np.int8], sex: NDArray[np.int8], educ: NDArray[np.int8]
) -> NDArray[np.float64]:
    """Log-normal about schooling and age, with a share that earns nothing."""
    years = age.astype(float)
    level = 8.2 + 0.14 * educ + 0.06 * (years - 18) - 0.0006 * (years - 18) ** 2 - 0.25 * sex
    income = np.exp(level + 0.6 * rng.standard_normal(len(age)))
    return np.asarray(np.where(rng.random(len(age)) < 0.2, 0.0, np.round(income, -2)))


PUMS = Study(pums_schema(), partial(pums, _ROWS, 0), simulated=True)
