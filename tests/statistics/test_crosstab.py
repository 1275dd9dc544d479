"""Contingency tables and shares of several categories: prices, intervals that cover, dependence, refusals and edges."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from dpnb.errors import OptionError, PlanError
from dpnb.inference.digits import rounded
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.planner.expression import Compare, Const, Ref
from dpnb.planner.question import Question
from dpnb.statistics import conclude
from tests.examples import mostly_long
from tests.statistics.tables import asked, reading, released, studies
from tests.statistics.test_coverage import enough

LOSSES = [("epsilon", "0.3"), ("rho", "0.05")]
P3 = np.array([0.6, 0.3, 0.1])
P23 = np.outer([0.3, 0.7], P3) + np.array([[0.05, -0.05, 0], [-0.05, 0.05, 0]])


def hits(
    item: Any, shares: np.ndarray, n: int, reps: int, truths: Any, *, seed: int = 3, **options: Any
) -> Any:
    """How often each entry's intervals held the share of the dataset and of the population, shape (2, cells)."""
    read = reading(item, "proportions", **options)
    held = np.zeros((2, shares.size), dtype=int)
    for counts, release in studies(item, shares, n, reps, seed=seed):
        found = read.conclude([release])
        for row, (kind, table) in enumerate(
            (("privacy", counts.reshape(shares.shape) / n), ("confidence", shares))
        ):
            truth = truths(table)
            low, high = found.interval(0.95, kind)
            held[row] += ((low - 1e-9 <= truth) & (truth <= high + 1e-9)).ravel()
    return held


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [20, 300])
def test_shares_of_several_values_cover(n: int, loss: tuple[str, Any], adjacency: str) -> None:
    """Each share's 95 % intervals hold the dataset's share and the population's, with public and with private totals."""
    item = asked((3,), n, loss, adjacency, statistic="value_counts")
    held = hits(item, P3, n, 120, lambda table: table)
    assert all(enough(int(k), 120) for k in held.ravel()), held


SHORT = [(within, 300, ("epsilon", "0.5"), 80) for within in ("rows", "columns", "c1")]
LONG = itertools.product(
    [None, "columns"],
    [10, 50, 500, 3000],
    [("epsilon", "0.1"), ("epsilon", 1), ("epsilon", 10), ("rho", "0.005"), ("rho", "0.5")],
    [600],
)


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
@pytest.mark.parametrize(("within", "n", "loss", "reps"), mostly_long([*SHORT, *LONG], *SHORT))
def test_shares_within_rows_and_columns_cover(
    within: str | None, n: int, loss: tuple[str, Any], reps: int, adjacency: str
) -> None:
    """Shares of a row or of a column, whose totals are always private, cover too; in many studies less one point (discreteness)."""
    item = asked((2, 3), n, loss, adjacency)

    def shares(table: np.ndarray) -> np.ndarray:
        totals = table.sum(axis=1 if within == "rows" else 0, keepdims=True)
        return table if within is None else np.where(totals > 0, table / np.where(totals > 0, totals, 1), 0.5)

    held = hits(item, P23, n, reps, shares, within=within)
    assert all(enough(int(k), reps, 0.94 if reps > 80 else 0.95) for k in held.ravel()), held


def test_wider_noise_than_declared_is_noticed() -> None:
    """With noise 1.5 times as wide as declared, shares' privacy intervals miss too often: the check has power."""
    item = asked((3,), 300, ("epsilon", "0.3"), statistic="value_counts")
    read, held = reading(item, "proportions"), 0
    for counts, release in studies(item, P3, 300, 400, stretch=1.5):
        low, high = read.conclude([release]).interval(0.95, "privacy")
        held += int(low[0] <= counts[0] / 300 <= high[0])
    assert not enough(held, 400)


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
def test_simultaneous_intervals_hold_all_shares_at_once(adjacency: str) -> None:
    """At 95 % all shares together are inside; the intervals for each alone miss one of several more often than that."""
    shares = np.full(8, 1 / 8)
    item = asked((8,), 400, ("epsilon", "0.5"), adjacency, statistic="value_counts")
    together, alone = 0, 0
    for _, release in studies(item, shares, 400, 150):
        for simultaneous in (True, False):
            found = reading(item, "proportions", simultaneous=simultaneous).conclude([release])
            low, high = found.interval(0.95, "confidence")
            inside = bool(((low <= shares) & (shares <= high)).all())
            together += inside * simultaneous
            alone += inside * (not simultaneous)
    assert enough(together, 150)
    assert not enough(alone, 150)


def test_draws_of_shares_are_dependent_as_a_sample_is() -> None:
    """The spread of a difference of two shares is that of a multinomial sample, larger than of two independent shares."""
    n, p = 4000, np.array([0.5, 0.4, 0.1])
    item = asked((3,), n, ("epsilon", 50), statistic="value_counts")
    release = released(item, np.rint(n * p).astype(int), np.random.default_rng(4))
    draws = (
        reading(item, "proportions")
        .conclude([release])
        .draws(40_000, DrawGenerator((release.id,)), "confidence")
    )
    gap = draws[:, 0] - draws[:, 1]
    assert gap.var() == pytest.approx((0.9 - 0.1**2) / n, rel=0.05)
    np.testing.assert_allclose(draws.sum(axis=1), 1, atol=2e-3)


def test_noise_of_shares_is_dependent_through_their_total() -> None:
    """Privacy draws of shares within a row add up to one in every draw, whatever the noise on the row is."""
    item = asked((2, 3), 300, ("epsilon", "0.5"), "add-remove")
    release = released(item, np.rint(300 * P23).astype(int), np.random.default_rng(4))
    found = reading(item, "proportions", within="rows").conclude([release])
    draws = found.draws(500, DrawGenerator((release.id,)), "privacy")
    np.testing.assert_allclose(draws.sum(axis=2), 1, atol=0.05)


def test_a_public_total_makes_each_share_more_exact() -> None:
    """Two complementary counts moved to the public total have half the variance of one count."""
    item = asked((2,), 100, ("epsilon", 1), statistic="value_counts")
    release = released(item, np.array([40, 60]), np.random.default_rng(2))
    found = reading(item, "proportions").conclude([release])
    counts = conclude(item.checked, [release])
    assert float(found.value.sum()) == pytest.approx(1)
    assert found.noise_sd[0] == pytest.approx(counts.noise_sd[0] / 100 / np.sqrt(2))


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
def test_margins_cover_and_add_up(adjacency: str) -> None:
    """A margin is the sum of its cells, and its privacy interval holds the exact total."""
    item = asked((2, 3), 300, ("epsilon", "0.5"), adjacency)
    read, held = reading(item, "margin", "c0"), np.zeros(2, dtype=int)
    for counts, release in studies(item, P23, 300, 200):
        found = read.conclude([release])
        assert found.value.tolist() == np.reshape(release.parts[0].values, (2, 3)).sum(axis=1).tolist()
        low, high = found.interval(0.95, "privacy")
        truth = counts.reshape(2, 3).sum(axis=1)
        held += (low <= truth) & (truth <= high)
    assert all(enough(int(k), 200) for k in held), held
    assert (read.shape, [axis.name for axis in read.axes], read.text) == ((2,), ["c0"], '.margin("c0")')


def test_several_releases_of_one_table_are_combined() -> None:
    """A table that was measured again has narrower shares than either answer alone."""
    item = asked((3,), 300, ("epsilon", "0.3"), "add-remove", statistic="value_counts")
    (_, one), (_, two) = studies(item, P3, 300, 2)
    read = reading(item, "proportions")
    both = read.conclude([one, two]).noise_sd
    assert (both < read.conclude([one]).noise_sd * 0.8).all()


def test_three_keys_have_margins_and_shares_within_two() -> None:
    """A table of three keys keeps any of them, and adds up to one inside the values of any two."""
    item = asked((2, 3, 2), 1000, ("epsilon", 5), "add-remove")
    release = released(item, np.arange(10, 22), np.random.default_rng(1))
    shares = reading(item, "proportions", within=["c0", "c2"])
    np.testing.assert_allclose(shares.conclude([release]).value.sum(axis=1), 1, atol=1e-9)
    assert shares.text == '.proportions(within=["c0", "c2"])'
    kept = reading(item, "margin", "c2", "c0")
    assert kept.conclude([release]).value.shape == (2, 2)
    assert item.checked.text == 'd.crosstab("c0", "c1", "c2")'


def test_what_a_table_cannot_say_is_refused_by_name() -> None:
    """Unknown keys, all or no keys of a margin, shares of single cells and a table of one key are told before any charge."""
    item = asked((2, 3), 300, ("epsilon", 1))
    for names, words in ((("age",), "no key 'age'"), ((), "not all and not none"), (("c0", "c1"), "not all")):
        with pytest.raises(OptionError, match=words):
            reading(item, "margin", *names)
    with pytest.raises(OptionError, match="leave at least one key out"):
        reading(item, "proportions", within=["c0", "c1"])
    with pytest.raises(OptionError, match="True or False"):
        reading(item, "proportions", simultaneous=1)
    with pytest.raises(PlanError, match="two keys"):
        asked((2,), 300, ("epsilon", 1))


def test_the_plan_says_the_noise_of_each_cell() -> None:
    """The accuracy shown before anything is spent is the noise radius of a cell."""
    item = asked((2, 3), 300, ("epsilon", 1))
    assert item.preview.words == f"± {rounded(item.preview.half_width)} rows in each of 6 cells"


def test_a_filtered_table_is_written_as_typed() -> None:
    """The text of a table with a filter names the rows and all keys."""
    where = Compare(">", Ref("age"), Const(30))
    text = Question("hiv", "crosstab", Ref("any"), where, (Ref("got"),)).text
    assert text == 'hiv[hiv.age > 30].crosstab("got", "any")'
