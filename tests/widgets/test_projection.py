"""What a deposit's screen projects before anything is paid for is what is then released: twenty statistics, their errors held against the ±."""

from __future__ import annotations

import numpy as np
import pytest

import dpnb
from dpnb.client import api
from dpnb.trusted.schema.owner import load
from dpnb.widgets.projection import widths

ROWS, SHARE = 2000, 0.1
SCHEMA = """
[dataset]
name = "town"
source = "town.csv"
adjacency = "add-remove"
unit = "row"
[budget]
epsilon = 100000
[columns.age]
type = "integer"
lower = 0
upper = 100
[columns.income]
type = "number"
lower = 0
upper = 200000
[columns.got]
type = "category"
values = [0, 1]
[columns.sex]
type = "category"
values = ["f", "m"]
[columns.region]
type = "category"
values = ["n", "e", "s", "w"]
"""
GROUPS = ("n", "e", "s", "w")


def by(rows, key, levels, of):
    """One number for each level."""
    return np.array([of(rows[rows[key] == level]) for level in levels])


def arms(rows, name):
    """The difference between the second declared value and the first."""
    return rows[name][rows["sex"] == "m"].mean() - rows[name][rows["sex"] == "f"].mean()


STATISTICS = {
    "town.count()": len,
    "town[town.sex == 'm'].count()": lambda r: (r["sex"] == "m").sum(),
    "town.age.mean()": lambda r: r["age"].mean(),
    "town.income.mean()": lambda r: r["income"].mean(),
    "town.got.mean()": lambda r: r["got"].mean(),
    "town.age.sum()": lambda r: r["age"].sum(),
    "town.age.median()": ("age", 0.5),
    "town.income.median()": ("income", 0.5),
    "town.age.quantile(0.25)": ("age", 0.25),
    "town.income.quantile(0.9)": ("income", 0.9),
    "town.age.histogram(bins=20)": lambda r: np.histogram(r["age"], 20, (0, 100))[0],
    "town.income.histogram(bins=20)": lambda r: np.histogram(r["income"], 20, (0, 200_000))[0],
    "town.sex.value_counts()": lambda r: by(r, "sex", "fm", len),
    "town.region.value_counts()": lambda r: by(r, "region", GROUPS, len),
    "town.age.difference(by='sex')": lambda r: arms(r, "age"),
    "town.income.difference(by='sex')": lambda r: arms(r, "income"),
    "town.got.difference(by='sex')": lambda r: arms(r, "got"),
    "town.groupby('region').age.mean()": lambda r: by(r, "region", GROUPS, lambda part: part["age"].mean()),
    "town.groupby('sex').income.mean()": lambda r: by(r, "sex", "fm", lambda part: part["income"].mean()),
    "town[town.sex == 'f'].age.mean()": lambda r: r["age"][r["sex"] == "f"].mean(),
    "town[(town.age >= 54) & (town.sex == 'm')].income.mean()": lambda r: r["income"][
        (r["age"] >= 54) & (r["sex"] == "m")
    ].mean(),
    "town.groupby('region', 'sex').count()": lambda r: np.array(
        [
            [len(part[part["sex"] == sex]) for sex in "fm"]
            for part in (r[r["region"] == one] for one in GROUPS)
        ]
    ),
}


def rows_of_a_town():
    """People whose means are in the middle half of what is declared, in groups that are about equal."""
    rng = np.random.default_rng(20)
    found = np.zeros(
        ROWS, dtype=[("age", int), ("income", int), ("got", int), ("sex", "U1"), ("region", "U1")]
    )
    found["age"] = rng.integers(18, 90, ROWS)
    found["income"] = np.minimum(rng.gamma(4, 20_000, ROWS), 200_000)
    found["got"] = rng.random(ROWS) < 0.6
    found["sex"], found["region"] = rng.choice(list("fm"), ROWS), rng.choice(GROUPS, ROWS)
    return found


def errors(answer, truth, rows):
    """How far an answer is from the truth, in the unit of its ±: a number's own, or rows of rank."""
    if callable(truth):
        return np.abs(np.asarray(answer, dtype=float) - truth(rows))
    name, q = truth
    below, upto = (rows[name] < answer).sum(), (rows[name] <= answer).sum()
    return np.abs(np.clip(q * len(rows), below, upto) - q * len(rows))


def released(folder, repetitions):
    """Yield, for each statistic, its projected ± and its errors over independent releases."""
    rows = rows_of_a_town()
    lines = [",".join(rows.dtype.names), *(",".join(map(str, row)) for row in rows.tolist())]
    (folder / "town.csv").write_text("\n".join(lines) + "\n")
    (folder / "town.dpnb.toml").write_text(SCHEMA)
    schema = load(folder / "town.dpnb.toml").schema
    told = dict(widths(schema, {one: one for one in STATISTICS}, dict.fromkeys(STATISTICS, SHARE), ROWS))
    town = dpnb.open(folder / "town.csv", quiet=True)
    found = {text: [] for text in STATISTICS}
    try:
        for _ in range(repetitions):
            asked = {text: eval(text, {"town": town}).spend(epsilon=str(SHARE)) for text in STATISTICS}  # noqa: S307 - the texts above
            dpnb.release(asked, fresh=True)
            for text, one in asked.items():
                found[text].append(errors(one.value, STATISTICS[text], rows))
    finally:
        api.close()
    return [(text, told[text], np.array(found[text])) for text in STATISTICS]


def test_what_was_projected_is_what_is_released_at_all(tmp_path, dpnb_home):
    """A few releases a day, all statistics together: 95 of 100 answers lie within the ± that was drawn."""
    within = [(found <= width).mean() for _, width, found in released(tmp_path, 3)]
    assert np.mean(within) > 0.9


@pytest.mark.soak
def test_what_was_projected_is_what_is_released(tmp_path, dpnb_home):
    """Two hundred releases, statistic by statistic: within 4 standard errors of 95 %, or more; and the ± is not simply wide.

    Half of it holds fewer: 78 % of Laplace noise, 95 % of noise that is drawn too wide. The ± of a rank is a bound, and wider.
    """
    least = 0.95 - 4 * np.sqrt(0.95 * 0.05 / 200)
    for text, width, found in released(tmp_path, 200):
        assert (found <= width).mean() >= least, text
        assert callable(STATISTICS[text]) == ((found <= width / 2).mean() < 0.95), text
