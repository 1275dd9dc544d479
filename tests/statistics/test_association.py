"""Spearman's correlation and Cramér's V of a table: scipy's on exact counts, intervals that hold, and everything where nothing is known."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import spearmanr
from scipy.stats.contingency import association

from dpnb.errors import Unavailable
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.planner import Question
from dpnb.planner.check import check
from dpnb.planner.expression import Ref
from dpnb.statistics.association import CramersV, RankCorrelation, ranked, squared_v
from dpnb.statistics.released import Part, Source, fast_draws
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema

COLUMNS = (
    Column.integer("a", 0, 5),
    Column.integer("b", 0, 3),
    Column.category("g", ["x", "y"]),
)
ROWS = PrivacyUnit("add-remove")


def table(*keys, unit=ROWS):
    """The setting of a contingency table."""
    where = Schema("people", "People", COLUMNS, unit, Budget(PrivacyLoss.pure(9), "epsilon 9"))
    *more, last = map(Ref, keys)
    return check(Question("people", "crosstab", last, by=tuple(more)), where).setting


def people(rng, n, rho=0.6):
    """Ranks that belong together, one column skewed."""
    one, other = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], n).T
    a, b = np.floor(1.5 * one + 3), np.floor(0.8 * np.exp(other))
    return np.clip(a, 0, 5).astype(int), np.clip(b, 0, 3).astype(int)


def v(table):
    """Cramér's V of exact counts."""
    return float(np.sqrt(squared_v(table)))


def read(counts, epsilon, draw="d", setting=None, kind=RankCorrelation):
    """The answer of noised counts."""
    setting = table("a", "b") if setting is None else setting
    part = Part("count", counts, (Source(draw, 1.0, DiscreteLaplaceLaw(1 / Fraction(epsilon))),))
    return kind(setting, part, DrawGenerator((draw,))).result(setting.shape[:-2])


def counted(*columns, setting):
    found = np.zeros(setting.shape)
    np.add.at(found, columns, 1)
    return found.ravel()


def test_exact_counts_give_the_correlation_of_the_ranks():
    """Against scipy on the rows, ties in their middle; of each group where a key stands before."""
    rng = np.random.default_rng(1)
    (a, b), g = people(rng, 500), rng.integers(0, 2, 500)
    setting = table("g", "a", "b")
    found = read(counted(g, a, b, setting=setting), "1000", setting=setting)
    assert found.shape == (2,)
    wanted = [spearmanr(a[g == k], b[g == k]).statistic for k in (0, 1)]
    assert found.values == pytest.approx(wanted, abs=1e-12)
    tables = counted(g, a, b, setting=setting).reshape(2, 6, 4)
    found = read(tables.ravel(), "1000", setting=setting, kind=CramersV)
    wanted = [association(one.astype(int), method="cramer") for one in tables]
    assert found.values == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "exactly", "n", "least"),
    [(RankCorrelation, lambda table: float(ranked(table)[0]), 200, 3), (CramersV, v, 2_000, 8)],
)
def test_intervals_hold_this_table_and_the_population(kind, exactly, n, least):
    """95 % of 120 releases: noise and sampling weigh about the same here; without the noise the second would not hold.

    Cramér's V of the table as it was drawn would lie far above the population's, too.
    """
    rng = np.random.default_rng(2)
    setting, law, runs = table("a", "b"), DiscreteLaplaceLaw(Fraction(least)), 120
    share = counted(*people(rng, 400_000), setting=setting) / 400_000
    share = np.maximum(share, 0.01) / np.maximum(share, 0.01).sum()
    truth = exactly(share.reshape(6, 4) * 1e6)
    held = np.zeros(3)
    for run in range(runs):
        exact = rng.multinomial(n, share).astype(float)
        found = read(exact + fast_draws(law, exact.shape, rng), Fraction(1, least), f"d{run}", kind=kind)
        mine = exactly(exact.reshape(6, 4))
        low, high = found.both(0.95, "privacy")
        assert low[0] <= found.values[0] <= high[0]
        wide = found.both(0.95, "confidence")
        bare = read(exact, "1000", f"d{run}", kind=kind).both(0.95, "confidence")
        moved = found.values[0] - mine
        held += [
            low[0] <= mine <= high[0],
            wide[0][0] <= truth <= wide[1][0],
            bare[0][0] + moved <= truth <= bare[1][0] + moved,
        ]
    assert (held[:2] / runs >= 0.9).all()
    assert (held[:2] / runs < 1).all()
    assert held[2] / runs < 0.88


def test_where_noise_could_have_made_the_ranks_anything_is_possible():
    """Twenty people at ε 0.05: the whole range, and a word."""
    rng = np.random.default_rng(3)
    exact = counted(*people(rng, 20), setting=table("a", "b"))
    noised = exact + fast_draws(DiscreteLaplaceLaw(Fraction(20)), exact.shape, rng)
    for measure, whole in ((RankCorrelation, [-1, 1]), (CramersV, [0, 1])):
        found = read(noised, "0.05", kind=measure)
        for kind in ("privacy", "confidence"):
            assert [float(end[0]) for end in found.both(0.95, kind)] == whole
        assert found.cell_flags == (("undefined",),)


def test_of_people_with_several_rows_nothing_is_said_about_others():
    """Rows of one person are alike: no confidence interval."""
    several = table("a", "b", unit=PrivacyUnit("add-remove", unit="person", max_rows=3))
    with pytest.raises(Unavailable, match="no confidence interval"):
        read(counted(*people(np.random.default_rng(4), 500), setting=several), "1", setting=several).both(
            0.95, "confidence"
        )
