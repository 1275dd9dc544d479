"""The share of rows at or beyond each bound, alone or beside a mean: it is found, its intervals cover, the loss is that of what one person moves."""

from __future__ import annotations

import numpy as np
import pytest

from dpnb.errors import OptionError, PlanError, Unavailable
from dpnb.inference.seeded_bits import SeededBits
from dpnb.planner import Question
from dpnb.planner.check import check
from dpnb.planner.expression import Compare, Const, Ref
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.questions import X, asked, released, schema
from tests.statistics.test_coverage import enough

UNITS = {
    "change-one": lambda n: PrivacyUnit("change-one", rows=n),
    "add-remove": lambda n: PrivacyUnit("add-remove"),
}
SHARES = np.array([0.08, 0.85, 0.07])


def table(places, rng):
    """Rows at or below 0, between, and at or above 100: half of those at a bound lie beyond it."""
    n = len(places)
    inside = rng.integers(1, 100, n)
    x = np.where(
        places == 0,
        -50.0 * rng.integers(0, 2, n),
        np.where(places == 2, 100 + 1e6 * rng.integers(0, 2, n), inside),
    )
    return {"x": x.tolist(), "y": [0.0] * n, "b": [0] * n, "g": ["u"] * n}


@pytest.mark.parametrize("loss", [("epsilon", "0.5"), ("rho", "0.1")])
@pytest.mark.parametrize("adjacency", sorted(UNITS))
def test_shares_at_or_beyond_bounds_are_covered(adjacency, loss):
    """Both 95 % intervals of all three shares, of 300 rows with values far beyond the bounds."""
    n, reps, rng = 300, 120, np.random.default_rng(8)
    where = schema(UNITS[adjacency](n), loss[0])
    item = asked({"target": X}, "held_share", where, *loss)
    held = np.zeros((2, 3), dtype=int)
    for seed in range(reps):
        places = rng.choice(3, n, p=SHARES)
        found = released(item, table(places, rng), where, SeededBits(seed))
        exact = np.bincount(places, minlength=3) / n
        for row, (kind, truth) in enumerate((("privacy", exact), ("confidence", SHARES))):
            low, high = found.interval(0.95, kind)
            held[row] += (low - 1e-9 <= truth) & (truth <= high + 1e-9)
    assert all(enough(int(k), reps) for k in held.ravel()), held


def test_almost_without_noise_the_shares_are_those_of_the_rows():
    """Values beyond a bound are counted at it; groups have their own."""
    n = 300
    where = schema(PrivacyUnit("change-one", rows=n))
    places = np.repeat([0, 1, 2], [30, 240, 30])
    item = asked({"target": X}, "held_share", where, "epsilon", 900)
    found = released(item, table(places, np.random.default_rng(1)), where, SeededBits(1))
    assert found.value == pytest.approx([0.1, 0.8, 0.1], abs=0.005)
    assert found.axes[0].keys == ("at 0 or below", "between", "at 100 or above")
    by = asked({"target": X, "by": (Ref("g"),)}, "held_share", where, "epsilon", 900)
    grouped = released(by, table(places, np.random.default_rng(1)), where, SeededBits(1))
    assert grouped.shape == (3, 3)
    assert grouped.value[0] == pytest.approx([0.1, 0.8, 0.1], abs=0.005)


@pytest.mark.parametrize(("adjacency", "touched"), [("change-one", 2), ("add-remove", 1)])
def test_one_person_moves_what_a_histogram_moves(adjacency, touched):
    """The scale at ε 1 is the number of cells that one person touches."""
    item = asked({"target": X}, "held_share", schema(UNITS[adjacency](300)), "epsilon", 1)
    (part,) = item.parts
    assert part.mechanism.scale == touched
    assert float(item.loss.amount) == 1


def test_two_values_have_nothing_between():
    """A condition is refused with what to ask instead."""
    where = schema(PrivacyUnit("change-one", rows=300))
    with pytest.raises(PlanError, match=r"Ask \.mean\(\)"):
        check(Question("small", "held_share", target=Compare(">", X, Const(3))), where)


# ---------------------------------------------------------------- beside a mean

CLAMPED = {"target": X, "options": (("clamped", True),)}


@pytest.mark.parametrize("loss", [("epsilon", "0.5"), ("rho", "0.1")])
@pytest.mark.parametrize("adjacency", sorted(UNITS))
def test_a_clamped_mean_covers_and_so_do_its_shares(adjacency, loss):
    """Both 95 % intervals of the mean of the held values, and of the three shares, from one release."""
    n, reps, rng = 300, 60, np.random.default_rng(9)
    where = schema(UNITS[adjacency](n), loss[0])
    item = asked(CLAMPED, "mean", where, *loss)
    population = SHARES @ [0, 50, 100]
    held = np.zeros((2, 4), dtype=int)
    for seed in range(reps):
        places = rng.choice(3, n, p=SHARES)
        rows = table(places, rng)
        found = released(item, rows, where, SeededBits(seed))
        shares = found.held_share()
        exact = [np.clip(rows["x"], 0, 100).mean(), *np.bincount(places, minlength=3) / n]
        for row, (kind, truth) in enumerate((("privacy", exact), ("confidence", [population, *SHARES]))):
            (a, b), (low, high) = found.interval(0.95, kind), shares.interval(0.95, kind)
            held[row] += np.array([a, *low]) - 1e-9 <= truth
            held[row] -= np.array([b, *high]) + 1e-9 < truth
    assert all(enough(int(k), reps) for k in held.ravel()), held


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("adjacency", sorted(UNITS))
def test_the_shares_beside_a_mean_add_what_two_counts_cost(adjacency, kind):
    """The derived price is the mean's at nine tenths and a histogram's at one tenth: one person can move both at once."""
    where = schema(UNITS[adjacency](300), kind)
    item, plain = asked(CLAMPED, "mean", where, kind, 1), asked({"target": X}, "mean", where, kind, "0.9")
    alone = asked({"target": X}, "held_share", where, kind, "0.1")
    assert [part.request for part in item.parts] == [part.request for part in (*plain.parts, *alone.parts)]
    assert [part.mechanism for part in item.parts] == [
        part.mechanism for part in (*plain.parts, *alone.parts)
    ]
    assert float(item.loss.amount) == pytest.approx(1, rel=1e-4)
    assert item.loss.amount <= 1


def test_an_interval_without_bounds_is_not_available_and_says_why():
    """What is known of the bounds is named; who did not ask cannot read it, and a condition has no bounds."""
    n = 300
    where = schema(PrivacyUnit("change-one", rows=n))
    rows = table(np.repeat([0, 1, 2], [30, 240, 30]), np.random.default_rng(1))
    found = released(asked(CLAMPED, "mean", where, "epsilon", 900), rows, where, SeededBits(1))
    known = "About 10.0 % of rows lie at or below the lower bound, 10.0 % at or above the upper one"
    with pytest.raises(
        Unavailable, match=f"mean of x clamped to 0–100. {known}.*one value could be anywhere"
    ):
        found.interval(kind="unclamped")
    plain = released(asked({"target": X}, "mean", where, "epsilon", 900), rows, where, SeededBits(1))
    assert not hasattr(plain, "held_share")
    with pytest.raises(Unavailable, match=r"clamped to 0–100\. No release shows"):
        plain.interval(kind="unclamped")
    small = released(asked({"target": Ref("b")}, "mean", where, "epsilon", 1), rows, where, SeededBits(1))
    with pytest.raises(OptionError, match="No values are clamped here"):
        small.interval(kind="unclamped")


def test_a_clamped_mean_of_two_values_is_refused():
    """As its shares are."""
    where = schema(PrivacyUnit("change-one", rows=300))
    with pytest.raises(PlanError, match=r"Ask \.mean\(\)"):
        check(Question("small", "mean", target=Ref("b"), options=(("clamped", True),)), where)
    with pytest.raises(OptionError, match="clamped= is True or False"):
        check(Question("small", "mean", target=X, options=(("clamped", 1),)), where)
