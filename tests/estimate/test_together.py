"""Several answers at once: all intervals hold as often as stated, and adjusted p-values are those of the textbook."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpnb
from dpnb.errors import OptionError, PendingError, PlanError, Unavailable
from dpnb.estimate import Estimate
from dpnb.estimate.together import MOST
from dpnb.inference.seeded_bits import SeededBits
from tests.contracts.questions import UNITS, B, G, X, asked, released, schema
from tests.estimate.fakes import pending

MEANS: tuple[str, dict[str, Any]] = ("mean", {"target": X, "by": (G,)})
GROUPS = ("u", "v", "w")


def study(
    seed: int, n: int = 240, epsilon: Any = 2, asks: tuple[str, dict[str, Any]] = MEANS, shift: float = 0.0
) -> Estimate:
    """Group means of 240 people in three groups with one mean, 45; the last may be shifted."""
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 3, n)
    x = np.clip(np.rint(rng.normal(45, 15, n) + shift * (places == 2)), 0, 100)
    table: dict[str, list[Any]] = {"x": x.tolist(), "y": [1.0] * n, "b": rng.integers(0, 2, n).tolist()}
    table["g"] = [GROUPS[place] for place in places]
    where = schema(UNITS["add-remove"])
    return released(asked(asks[1], asks[0], where, "epsilon", epsilon), table, where, SeededBits(seed))


def holds(intervals: Any, truth: float) -> np.ndarray:
    """Whether each interval of a table holds a number."""
    return (np.array(intervals["low"]) <= truth) & (truth <= np.array(intervals["high"]))


@pytest.mark.parametrize("epsilon", ["0.3", 5])
def test_simultaneous_intervals_hold_all_at_once(epsilon: Any) -> None:
    """Of 200 studies at most as many as stated miss one difference or more; plain intervals miss one far more often."""
    found = [study(seed, epsilon=epsilon).compare_groups() for seed in range(200)]
    missed = sum(not holds(one.intervals(0.9), 0).all() for one in found)
    assert missed <= 20 + 2 * np.sqrt(200 * 0.1 * 0.9)
    if epsilon == 5:
        plain = [next(iter(one.estimates.values())).interval(0.9) for one in found]
        alone = sum(((np.asarray(one.low) > 0) | (np.asarray(one.high) < 0)).any() for one in plain)
        assert alone > 20 + 3 * np.sqrt(200 * 0.1 * 0.9)


def test_with_little_noise_pairs_are_tukeys() -> None:
    """At ε 500 the differences of groups have the intervals and p-values of statsmodels' Tukey test on the same rows."""
    from statsmodels.stats.multicomp import pairwise_tukeyhsd

    rng = np.random.default_rng(3)
    n = 3_000
    places = np.arange(n) % 3
    x = np.clip(np.rint(rng.normal(45, 15, n) + 1.2 * (places == 2)), 0, 100)
    table: dict[str, list[Any]] = {"x": x.tolist(), "y": [1.0] * n, "b": [0] * n}
    table["g"] = [GROUPS[place] for place in places]
    where = schema(UNITS["add-remove"])
    made = released(
        asked(MEANS[1], "mean", where, "epsilon", 500), table, where, SeededBits(1)
    ).compare_groups()
    known = pairwise_tukeyhsd(x, places)
    intervals = made.intervals(0.95)
    width = np.array(intervals["high"]) - np.array(intervals["low"])
    np.testing.assert_allclose(width, np.ptp(known.confint, axis=1), rtol=0.06)
    np.testing.assert_allclose(made.tests()["adjusted"], known.pvalues, atol=0.03)
    assert intervals["answer"] == ("v − u", "w − u", "w − v")


def test_one_group_against_the_others_is_narrower() -> None:
    """Two differences from one group need less than all three."""
    means = study(1)
    few, all_of_them = means.compare_groups(to="u"), means.compare_groups()
    assert few.names == ("v − u", "w − u")
    assert few.alpha(0.95) > all_of_them.alpha(0.95)


def test_bonferroni_is_each_interval_at_a_higher_level() -> None:
    """Three entries at 94 % together are three at 98 %."""
    means = study(2)
    found = dpnb.together([means]).intervals(0.94, kind="confidence", method="bonferroni")
    low, high = means.interval(0.98, "confidence")
    np.testing.assert_allclose(found["low"], low)
    np.testing.assert_allclose(found["high"], high)


@pytest.mark.parametrize("method", ["holm", "bonferroni"])
def test_adjusted_p_values_are_those_of_statsmodels(method: Any) -> None:
    """Holm and Bonferroni of the same p-values."""
    from statsmodels.stats.multitest import multipletests

    found = dpnb.together([study(3)]).tests(46, kind="confidence", method=method)
    known = multipletests(found["p"], method=method)[1]
    np.testing.assert_allclose(found["adjusted"], known)


def test_joint_verdicts_are_those_of_joint_intervals() -> None:
    """An adjusted p-value is below .05 where the simultaneous interval leaves the null out, but for the last digit of the draws."""
    for seed in range(12):
        found = study(seed, shift=3 * (seed % 4)).compare_groups()
        adjusted = np.array(found.tests()["adjusted"])
        clear = np.abs(adjusted - 0.05) > 0.006
        assert np.array_equal((adjusted <= 0.05)[clear], ~holds(found.intervals(0.95), 0)[clear])


def test_noise_that_is_shared_counts_once() -> None:
    """An answer beside twice itself needs no more than alone; beside another answer it does, and never more than Bonferroni."""
    means = study(4)
    same = dpnb.together([means["u"], 2 * means["u"]])
    assert same.alpha(0.95, kind="privacy") == pytest.approx(0.05, abs=0.004)
    other = dpnb.together([means["u"], study(5)["u"]])
    assert 0.025 <= other.alpha(0.95, kind="privacy") < 0.03
    assert other.alpha(0.95, kind="privacy", method="bonferroni") == pytest.approx(0.025)


def test_p_values_of_derived_answers_agree_with_their_intervals() -> None:
    """The p-value of a difference is the largest level at which its interval, of draws, leaves the null out."""
    found = study(6)["u"] - study(7)["v"]
    for null in np.linspace(-6, 6, 7):
        p = found.test(null).p_value
        for alpha in (0.5, 0.2, 0.1, 0.05, 0.01, 0.001):
            if abs(p - alpha) > 1e-3 * alpha:
                assert (p <= alpha) == (null not in found.interval(1 - alpha)), (null, alpha)


def test_what_nothing_is_known_of_stays_unbounded() -> None:
    """Groups of nobody, or of one person, have differences over the whole range, never a narrow interval."""
    for rows in (0, 1):
        where = schema(UNITS["add-remove"])
        table = {"x": [31.0] * rows, "y": [2.0] * rows, "b": [1] * rows, "g": ["u"] * rows}
        made = released(asked(MEANS[1], "mean", where, "epsilon", 1), table, where, SeededBits(3))
        found = made.compare_groups().intervals(0.95)
        assert (np.array(found["high"]) - np.array(found["low"]) >= 100).all()


def test_what_cannot_be_taken_together_says_why() -> None:
    """Nothing, no answer, Holm's intervals, a level of 2, a group that is none, and more than draws resolve."""
    means = study(8)
    for wrong in ([], [3], "mean"):
        with pytest.raises(OptionError, match="takes answers"):
            dpnb.together(wrong)
    with pytest.raises(OptionError, match="adjusts p-values"):
        dpnb.together([means]).intervals(method="holm")
    with pytest.raises(OptionError, match="between 0 and 1"):
        dpnb.together([means]).intervals(95)
    with pytest.raises(OptionError, match="one of the groups: u, v, w"):
        means.compare_groups(to="x")
    with pytest.raises(PlanError, match="two groups or more"):
        means["u"].compare_groups()
    with pytest.raises(Unavailable, match="Take fewer answers together, or a lower level"):
        means.compare_groups().intervals(0.9999)
    with pytest.raises(OptionError, match=f"at most {MOST:,}"):
        dpnb.together([means] * 700)


def test_written_before_the_release_it_has_its_intervals_after() -> None:
    """Pending, it says so."""
    found = dpnb.together({"one": pending("a"), "other": pending("b")})
    assert "pending: 2 answers together" in repr(found)
    with pytest.raises(PendingError):
        found.intervals()


def test_names_and_files_are_those_of_the_answers() -> None:
    """A dict names its answers, keys follow, and the table can be written."""
    means = study(9)
    found = dpnb.together({"mean": means, "coin": study(9, asks=("mean", {"target": B}))})
    assert found.names == ("mean[u]", "mean[v]", "mean[w]", "coin")
    assert found.to_csv().startswith("answer,value,low,high\nmean[u],")
    assert "hold all 4 at once at 95 %" in repr(found)
