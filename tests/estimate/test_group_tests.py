"""Tests of several groups at once: analysis of variance and one distribution, at their level at every size and loss, with power."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpnb.errors import PlanError
from dpnb.estimate import Estimate
from dpnb.inference.seeded_bits import SeededBits
from tests.contracts.questions import TABLES, UNITS, B, G, X, asked, released, schema
from tests.examples import mostly_long

GROUPS = ("u", "v", "w")
GRID = [(n, epsilon) for n in (200, 2_000, 20_000) for epsilon in ("0.1", 1, 5)]
ASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "anova": ("mean", {"target": X, "by": (G,)}),
    "homogeneity": ("histogram", {"target": X, "by": (G,), "options": (("bins", 4),)}),
    "values": ("value_counts", {"target": B, "by": (G,)}),
}


def rows(n: int, rng: np.random.Generator, shift: float = 0.0) -> dict[str, list[Any]]:
    """One skewed distribution in three groups of unequal size; that of the last may be shifted."""
    places = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    x = np.clip(np.rint(100 * rng.beta(2, 5, n) + shift * (places == 2)), 0, 100)
    b = (rng.random(n) < 0.3).astype(int)
    return {"x": x.tolist(), "y": [1.0] * n, "b": b.tolist(), "g": [GROUPS[place] for place in places]}


def answer(
    name: str, table: dict[str, list[Any]], epsilon: Any, seed: int = 1, unit: str = "add-remove"
) -> Estimate:
    """A released answer by group."""
    statistic, sample = ASKS[name]
    where = schema(UNITS[unit])
    return released(asked(sample, statistic, where, "epsilon", epsilon), table, where, SeededBits(seed))


def check(name: str, found: Estimate) -> Any:
    """The test of an answer."""
    return found.anova() if name == "anova" else found.homogeneity_test()  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["anova", "homogeneity"])
@pytest.mark.parametrize(("n", "epsilon"), mostly_long(GRID, (200, 1)))
def test_a_true_null_is_rejected_as_seldom_as_stated(name: str, n: int, epsilon: Any) -> None:
    """At 5 % at most the level and two standard errors."""
    reps = (
        30 if name == "homogeneity" else 100 if (n, epsilon) == GRID[1] else 1000
    )  # a table simulates 9,999
    p = [
        check(name, answer(name, rows(n, np.random.default_rng(seed)), epsilon, seed)).p_value
        for seed in range(reps)
    ]
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / reps)


@pytest.mark.parametrize("name", ["anova", "homogeneity"])
def test_a_shift_of_half_a_deviation_is_found(name: str) -> None:
    """In 2,000 people at ε 2, always."""
    p = [
        check(name, answer(name, rows(2_000, np.random.default_rng(seed), 8), 2, seed)).p_value
        for seed in range(4)
    ]
    assert max(p) <= 0.05


def test_without_noise_it_is_welchs_analysis_of_variance() -> None:
    """With next to no noise p is that of Welch's test on the same rows, and of the chi-square test of homogeneity."""
    from statsmodels.stats.oneway import anova_oneway

    for seed, shift in ((1, 0.0), (2, 1.5), (3, 2.5)):
        table = rows(900, np.random.default_rng(seed), shift)
        x, g = np.array(table["x"]), np.array(table["g"])
        known = anova_oneway(x, g, use_var="unequal").pvalue
        assert answer("anova", table, 800).anova().p_value == pytest.approx(known, abs=0.03)
        bins = np.minimum(x // 25, 3)
        counts = [[int(((g == one) & (bins == bin_)).sum()) for bin_ in range(4)] for one in GROUPS]
        kept = np.array(counts)[:, np.array(counts).sum(axis=0) > 0]
        wanted = stats.chi2_contingency(kept, correction=False).pvalue
        found = answer("homogeneity", table, 800).homogeneity_test()  # type: ignore[attr-defined]
        assert found.p_value == pytest.approx(wanted, abs=0.05)


@pytest.mark.parametrize("name", ASKS)
@pytest.mark.parametrize("table", [name for name in TABLES if name != "two rows"])
def test_data_at_their_edges_reject_nothing(name: str, table: str) -> None:
    """No rows, one row, a constant, all missing: a p-value above .05, never an error."""
    found = check(name, answer(name, TABLES[table], 1))
    assert 0.05 < found.p_value <= 1
    assert "ot rejected" in repr(found)


def test_what_has_no_groups_says_so() -> None:
    """A single number has none, and so has a histogram of everybody."""
    means = answer("anova", rows(200, np.random.default_rng(1)), 1)
    with pytest.raises(PlanError, match="two groups or more"):
        means["u"].anova()
    where = schema(UNITS["add-remove"])
    item = asked({"target": X, "options": (("bins", 4),)}, "histogram", where, "epsilon", 1)
    whole = released(item, rows(200, np.random.default_rng(1)), where, SeededBits(1))
    with pytest.raises(PlanError, match="two groups or more"):
        whole.homogeneity_test()  # type: ignore[attr-defined]
