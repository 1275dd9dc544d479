"""Limits and many quantiles are read off a tree where that is forecast to be narrower; they cover, and are narrower."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from dpnb import simulate
from dpnb.errors import PlanError, Unavailable
from dpnb.inference.seeded_bits import SeededBits
from dpnb.planner import Question
from dpnb.planner.expression import BinOp, Const, Ref
from dpnb.planner.sharing import pieces
from dpnb.planner.stored_share import held_share
from dpnb.statistics import conclude
from dpnb.statistics.quantile import (
    _ranks_of_selections,
    _typical_error,
    for_points,
    portion_for_points,
)
from dpnb.statistics.quantile_tree import PublicFacts, expected_rows, forecast, is_tree
from dpnb.trusted.measurements import Facts, events
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.query.plan_record import measured
from dpnb.trusted.schema import Column, Schema
from tests.contracts.questions import G, X, asked, released
from tests.contracts.questions import schema as tiny
from tests.contracts.statistic import priced
from tests.statistics.coverage import release, wider
from tests.statistics.test_coverage import enough

QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
DECILES = tuple(Fraction(i, 10) for i in range(1, 10))
PEOPLE = PrivacyUnit("change-one", rows=1000)
HIDDEN = PrivacyUnit("add-remove")
LOSSES = [{"epsilon": "0.1"}, {"epsilon": 1}, {"rho": "0.005"}, {"rho": "0.5"}]


def people(unit: PrivacyUnit, steps: int = 100, kind: str = "epsilon") -> Schema:
    """One column of whole numbers."""
    missing: Any = 0 if unit.adjacency == "change-one" else "drop"
    return Schema(
        "p", "P", (Column.integer("x", 0, steps, missing=missing),), unit, Budget.from_toml({kind: 10**6})
    )


def quantile(where: Schema, q: Any, *, ci: bool, kind: str = "epsilon", amount: Any = 1) -> Any:
    """A priced quantile."""
    return priced(
        Question("p", "quantile", Ref("x"), options=(("q", q), ("ci", ci))), where, kind=kind, amount=amount
    )


def treed(item: Any) -> bool:
    """Whether a tree is bought."""
    return is_tree(part.name for part in item.parts)


def ages(rng: np.random.Generator, shape: Any) -> dict[str, np.ndarray]:
    """Median 29, skewed."""
    return {"x": np.clip(np.round(rng.gamma(4, 8, shape)), 0, 100)}


def heaped(rng: np.random.Generator, shape: Any) -> dict[str, np.ndarray]:
    """Half of all values at tens."""
    x = np.clip(np.round(rng.gamma(4, 8, shape)), 0, 100)
    return {"x": np.where(rng.random(shape) < 0.5, 10 * np.round(x / 10), x)}


MANY = 100_000


def grouped_medians(groups: int, steps: int, **more: Any) -> tuple[Any, Any, np.ndarray]:
    """Medians with limits of many groups of 100,000 uniform numbers: the priced question, what was found, and the data's medians."""
    rng = np.random.default_rng(5)
    x, g = rng.integers(0, steps + 1, MANY), rng.integers(0, groups, MANY)
    columns = (Column.integer("x", 0, steps, missing=0), Column.category("g", list(range(groups))))
    unit = PrivacyUnit("change-one", rows=MANY)
    where = Schema("p", "P", columns, unit, Budget.from_toml({"epsilon": 10**6}))
    options = (("q", Fraction(1, 2)), ("ci", True), *more.items())
    item = priced(Question("p", "quantile", Ref("x"), by=(Ref("g"),), options=options), where)
    found = conclude(item.checked, [release(item, {"x": x.astype(float), "g": g}, rng)])
    truths = [np.quantile(x[g == one], 0.5, method="inverted_cdf") for one in range(groups)]
    return item, found, np.array(truths)


@pytest.mark.parametrize(("groups", "width"), [(30, 7), (100, 27)])
def test_limits_of_many_groups_are_read_off_trees(groups, width):
    """They were 24.7 and 81.7 wide, of 0 to 100: selected, with the sampling error of all rows for that of a group."""
    item, found, truths = grouped_medians(groups, 100)
    assert treed(item)
    low, high = found.interval(0.95, "privacy")
    assert np.mean(high - low) < width
    assert enough(int(((low <= truths) & (truths <= high)).sum()), groups)


def test_selected_limits_of_groups_allow_for_no_sampling_but_of_rows_that_were_named():
    """On a grid too fine for trees: 5,350 wide for any group, of 0 to 20,000; how many rows a group has is nobody's to know."""
    item, found, truths = grouped_medians(30, 20_000)
    assert not treed(item)
    low, high = found.interval(0.95, "privacy")
    assert np.mean(high - low) < 2000
    assert ((low <= truths) & (truths <= high)).all()
    with pytest.raises(Unavailable, match="about="):
        found.interval(0.95, "confidence")
    assert "of at most" not in found.notes["confidence"]
    named, wider_found, _ = grouped_medians(30, 20_000, about=2**17)
    ends = wider_found.interval(0.95, "confidence")
    assert np.mean(ends.high - ends.low) > np.mean(high - low)
    assert ((ends.low <= 10_000) & (ends.high >= 10_000)).all()
    assert wider_found.notes["confidence"].endswith(f"of at most {2**17 // 30:,} people")
    offsets = [[part.mechanism.offset for part in one.parts] for one in (item, named)]
    sampling = 2.06 * np.sqrt(2**17 // 30) / 2
    assert offsets[1][2] - offsets[0][2] == pytest.approx(sampling, abs=2)


def simulated(population: Any, q: Any, loss: Any, adjacency: str, reps: int = 500, n: int = 1000) -> Any:
    """Studies of 1,000 people."""
    large = population(np.random.default_rng(5), (1_000_000,))["x"]
    parameter = np.quantile(large, [float(one) for one in np.ravel(q)], method="inverted_cdf")
    column = Column.integer("x", 0, 100, missing=0 if adjacency == "change-one" else "drop")
    return simulate.coverage(
        "quantile",
        population,
        n,
        loss,
        reps=reps,
        rng=3,
        parameter=parameter,
        columns=[column],
        adjacency=adjacency,
        q=q,
        ci=True,
    )


@pytest.mark.parametrize(("adjacency", "most"), [("change-one", 3.2), ("add-remove", 2.5)])
def test_limits_of_quartiles_are_as_narrow_as_a_tree_makes_them(adjacency, most):
    """At n 1,000 and ε 1: half-widths of 11.6 to 28.6 by selections before, at most 3.2 off a tree; both kinds cover."""
    found = simulated(ages, QUARTILES, {"epsilon": 1}, adjacency)
    for kind in ("privacy", "confidence"):
        one = found.held(kind)
        assert (one.width / one.studies / 2 < most).all()
        assert all(enough(int(held), 500) for held in one.held.ravel())


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("population", [ages, heaped])
def test_limits_cover(population, loss, adjacency):
    """Of a median and a ninth decile, smooth and heaped, of the dataset and of the population."""
    found = simulated(population, (Fraction(1, 2), Fraction(9, 10)), loss, adjacency)
    for kind in ("privacy", "confidence"):
        assert all(enough(int(held), 500) for held in found.held(kind).held.ravel())


@pytest.mark.parametrize(("stretch", "holds"), [(1.0, True), (2.0, False)])
@pytest.mark.parametrize("loss", [{"epsilon": "0.1"}, {"rho": "0.001"}])
def test_limits_rest_on_the_noise_that_is_declared(loss, stretch, holds):
    """Where just half of the rows lie at the lowest value the median is as easily missed as can be: 95 to 99 %; wider noise is noticed."""
    with wider(stretch):
        found = simulate.coverage(
            "quantile",
            lambda rng, shape: {"x": np.broadcast_to(np.repeat([0.0, 1.0, 3.0], [500, 400, 100]), shape)},
            1000,
            loss,
            reps=1000,
            rng=3,
            columns=[Column.integer("x", 0, 4, missing=0)],
            adjacency="change-one",
            q=Fraction(1, 2),
            ci=True,
            intervals="privacy",
        )
    held = int(found.held("privacy").held.sum())
    assert enough(held, 1000) is holds
    assert held < 995


@pytest.mark.parametrize("amount", ["0.01", "0.3", 1, 10])
@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("unit", [PEOPLE, HIDDEN])
def test_the_choice_is_the_same_at_every_loss(unit, kind, amount):
    """So that an answer serves whoever asks less later; and it is the one whose forecast leaves fewer ranks open."""
    for steps, (levels, ci) in product(
        (10, 100, 1000), ((QUARTILES, True), (QUARTILES, False), (DECILES, False))
    ):
        facts = PublicFacts(unit, unit.adjacency == "add-remove", (), steps, kind, levels, ci)
        assert treed(
            quantile(people(unit, steps, kind), levels, ci=ci, kind=kind, amount=Fraction(str(amount)))
        ) == (forecast(facts) < _ranks_of_selections(facts))


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("unit", [PEOPLE, HIDDEN])
@pytest.mark.parametrize("steps", [10, 100, 300, 1000, 3000])
def test_a_point_beside_a_tree_is_forecast_to_beat_both(unit, kind, steps):
    """Points at least twice as near as a tree of the whole loss, limits of the rest no wider than selections; never more than half."""
    for levels in ((Fraction(1, 2),), (Fraction(9, 10),), QUARTILES):
        facts = PublicFacts(unit, unit.adjacency == "add-remove", (), steps, kind, levels, limits=True)
        item = quantile(people(unit, steps, kind), levels, ci=True, kind=kind, amount=10)
        part = for_points(facts)
        assert part == portion_for_points(facts, item.share, 1000)
        assert 0 <= part <= Fraction(1, 2)
        points = [one.mechanism for one in item.parts if one.name.endswith(":point")]
        assert (len(points) == len(levels)) == (part > 0 or not treed(item))
        if part and treed(item):
            far = forecast(PublicFacts(unit, facts.private, (), steps, kind, levels, limits=False))
            assert _typical_error(facts, part) <= far / 2
            assert forecast(facts) <= _ranks_of_selections(facts)
            spent = sum(one.epsilon for one in points)
            assert kind == "rho" or spent == 10 * part


def medians(epsilon: Any, reps: int, adjacency: str = "change-one", **more: Any) -> tuple[float, float, bool]:
    """Root mean square error of medians of the same 1,000 people, half the width of their limits, and whether all of these hold."""
    table = np.sort(ages(np.random.default_rng(8), 1000)["x"])
    studies, _ = simulate.draw_studies(
        "quantile",
        lambda _, shape: {"x": np.broadcast_to(table, shape)},
        1000,
        {"epsilon": epsilon},
        reps=reps,
        rng=3,
        columns=[Column.integer("x", 0, 100, missing=0 if adjacency == "change-one" else "drop")],
        adjacency=adjacency,
        q=Fraction(1, 2),
        ci=True,
        **more,
    )
    low, high = studies.interval(0.95, "privacy")
    error = float(np.sqrt(np.mean((studies.value - table[499]) ** 2)))
    return error, float(np.mean(high - low) / 2), bool(((low <= table[499]) & (table[499] <= high)).all())


def test_a_point_with_its_limits_is_nearer_than_off_a_tree(monkeypatch):
    """A median at n 1,000 and ε 1 under change-one: .58 beside .81 off a tree, and limits narrower than of selections."""

    def patched(name: str, value: Any) -> tuple[float, float, bool]:
        with monkeypatch.context() as patch:
            patch.setattr(f"dpnb.statistics.quantile.{name}", lambda _: value)
            return medians(1, 400)

    ours, off_tree, selected = medians(1, 400), patched("for_points", Fraction(0)), patched("by_tree", False)
    assert ours[0] < 0.8 * off_tree[0]
    assert ours[1] < 0.8 * selected[1]


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("ci", [True, False])
@pytest.mark.parametrize("q", [Fraction(1, 2), QUARTILES])
def test_quantiles_of_a_single_possible_value_are_refused(q, ci, kind):
    """They are known before anything is asked, of whatever is selected or read off a tree."""
    constant = Question("p", "quantile", BinOp("*", Ref("x"), Const(0)), options=(("q", q), ("ci", ci)))
    with pytest.raises(PlanError, match="single possible value is that value"):
        priced(constant, people(PEOPLE, kind=kind), kind=kind)


def selects(item: Any) -> bool:
    """Whether a point is selected."""
    return any(part.name.endswith(":point") for part in item.parts)


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("unit", [PEOPLE, HIDDEN])
def test_of_few_rows_at_a_small_loss_the_tree_has_all_of_it(unit, kind):
    """Where limits of a part of the loss would leave more than a tenth of the rows open; not where those of all of it leave two fifths."""
    amounts = {"epsilon": ("0.02", "0.15", 3), "rho": ("0.00005", "0.002", "0.5")}[kind]
    hardly, few, many = (
        quantile(people(unit, 100, kind), Fraction(1, 2), ci=True, kind=kind, amount=Fraction(one))
        for one in amounts
    )
    assert all(map(treed, (hardly, few, many)))
    assert [selects(one) for one in (hardly, few, many)] == [True, False, True]


def test_where_limits_are_useless_anyway_the_point_is_three_times_as_near():
    """A median of 1,000 at ε 0.1, change-one: the tree of all of it leaves ± 42 of 0 to 100, with half of it ± 49, and a point off by a third."""
    error, _, held = medians("0.1", 200)
    assert held
    assert error < 3.5


def test_at_a_small_loss_limits_are_half_as_wide_as_beside_a_selection():
    """A median of 1,000 at ε 0.1, add-remove: ± 18 where a point beside it left ± 37; of ten times as many named the point is selected."""
    assert medians("0.1", 100, "add-remove")[1] < 22
    assert medians("0.1", 100, "add-remove", about=2**13)[1] > 30


def test_rows_are_public_or_named_or_a_thousand():
    """A price may know no private number; groups have their part of what is named."""
    for unit, about, by, rows in (
        (PEOPLE, None, (), 1000),
        (PEOPLE, 64, (), 1000),
        (HIDDEN, None, (), 1000),
        (HIDDEN, 4096, (), 4096),
        (HIDDEN, 4096, (BinOp("//", Ref("x"), Const(26)),), 1024),
    ):
        options = (("ci", True), *((("about", about),) if about else ()))
        asked = Question("p", "quantile", Ref("x"), by=by, options=options)
        assert expected_rows(priced(asked, people(unit)).checked.setting) == rows


def test_what_serves_whoever_asks_less_later():
    """A tree beside a point serves a question of the tree alone for what it cost, and not for what the point cost too."""
    where = people(PEOPLE)
    facts = Facts.of(where)
    bought = quantile(where, Fraction(1, 2), ci=True, amount=Fraction("0.9"))
    trees = [part for part in bought.parts if not part.name.endswith(":point")]
    assert len(trees) < len(bought.parts)
    paid = [
        {"events": [event.to_json() for event in events((part,), facts)], "share": bought.share.to_json()}
        for part in trees
    ]
    for amount, serves in (("0.12", True), ("0.57", True), ("0.58", False), ("0.6", False)):
        less = quantile(where, Fraction(1, 2), ci=True, amount=Fraction(amount))
        assert [part.request for part in less.parts] == [part.request for part in trees]
        assert [measured(piece) for piece in pieces(less.parts, facts)] == [
            measured(piece) for piece in pieces(bought.parts, facts)[: len(trees)]
        ]
        covered = held_share(less, paid, facts)
        assert (covered.amount >= less.share.amount) is serves


def test_a_release_with_points_is_concluded_as_many_studies_are():
    """One release and arrays of studies have the same values, limits and flags; remeasured, the tree is combined and the best point stays."""
    studies, _ = simulate.draw_studies(
        "quantile", ages, 400, {"epsilon": ["0.2", 2]}, reps=3, rng=3,
        columns=[Column.integer("x", 0, 100, missing=0)], adjacency="change-one", q=Fraction(1, 2), ci=True,
    )  # fmt: skip
    for loss, study in product(range(2), range(3)):
        one = conclude(studies.checked, [studies.release(loss, study)])
        assert one.value == studies.value[loss, study, 0]
        for kind in ("privacy", "confidence"):
            ends = one.interval(0.95, kind)
            assert [ends.low, ends.high] == [end[loss, study, 0] for end in studies.interval(0.95, kind)]
        assert set(one.flags) == {name for name, up in studies.flags.items() if up[loss, study, 0]}
    lesser, greater = studies.release(0, 0), studies.release(1, 0)
    both = conclude(studies.checked, [_redrawn(lesser), greater])
    alone = conclude(studies.checked, [greater])
    assert both.value == alone.value
    widths = [end.high - end.low for end in (r.interval(0.95, "privacy") for r in (both, alone))]
    assert widths[0] <= widths[1]


def _redrawn(release: Any) -> Any:
    """The same release as a draw of its own."""
    return replace(
        release, id="other", parts=tuple(replace(p, draw=f"other {p.name}") for p in release.parts)
    )


def test_what_is_chosen():
    """Limits by a tree, three points by selections, nine by a tree on a coarse grid; one point and fine grids by selections."""
    assert treed(quantile(people(PEOPLE), Fraction(1, 2), ci=True))
    assert treed(quantile(people(PEOPLE), QUARTILES, ci=True))
    assert not treed(quantile(people(PEOPLE), QUARTILES, ci=False))
    assert treed(quantile(people(PEOPLE), DECILES, ci=False))
    assert not treed(quantile(people(PEOPLE, 1000), DECILES, ci=False))
    assert not treed(quantile(people(PEOPLE), Fraction(1, 2), ci=False))
    assert treed(quantile(people(PEOPLE, 20_000), QUARTILES, ci=True))
    assert not treed(quantile(people(PEOPLE, 20_000), Fraction(1, 2), ci=True))
    assert not treed(quantile(people(PEOPLE, 50_000), QUARTILES, ci=True))


def test_points_without_limits_are_nearer_by_selections():
    """Quartiles off a tree, as they are with limits, miss their ranks by more, as the typical errors say."""
    rng, levels = np.random.default_rng(4), QUARTILES
    x = rng.integers(0, 101, 2000)
    where = people(PrivacyUnit("change-one", rows=2000))
    order = np.sort(x)

    def miss(ci: bool) -> float:
        item = quantile(where, levels, ci=ci)
        total = 0.0
        for _ in range(40):
            values = np.ravel(conclude(item.checked, [release(item, {"x": x.astype(float)}, rng)]).value)
            for q, value in zip(levels, values, strict=True):
                low, high = np.searchsorted(order, value, "left"), np.searchsorted(order, value, "right")
                total += max(low - float(q) * 2000, float(q) * 2000 - high, 0.0) ** 2
        return total

    assert miss(ci=False) < miss(ci=True)


def test_the_plan_says_which_it_is():
    """In the words of its accuracy, and in its price list."""
    item = quantile(people(PEOPLE), QUARTILES, ci=True)
    assert item.preview.words.startswith("right to ± 4.6 % of people, read off a tree of counts")
    assert [row.name for row in item.rows] == ["counts of x on 7 levels"]
    one = quantile(people(PEOPLE), Fraction(1, 2), ci=True)
    assert one.preview.words.startswith("right to ± 3.8 % of people, limits read off a tree of counts")
    assert [row.name for row in one.rows] == ["0.5 quantile of x", "counts of x on 7 levels"]
    assert "tree" not in quantile(people(PEOPLE), QUARTILES, ci=False).preview.words


def test_quantiles_by_group_are_read_off_trees():
    """Groups first, levels last; ordered, inside the bounds, flagged where the noise moves ranks by more than a group has."""
    where = tiny(PrivacyUnit("change-one", rows=300))
    rng = np.random.default_rng(3)
    rows = {
        "x": rng.integers(0, 101, 300).tolist(),
        "y": [0.0] * 300,
        "b": [1] * 300,
        "g": [["u", "v", "w"][i % 3] for i in range(300)],
    }
    for epsilon, flagged in ((20, False), ("0.1", True)):
        question = {"target": X, "by": (G,), "options": (("q", QUARTILES), ("ci", True))}
        item = asked(question, "quantile", where, "epsilon", epsilon)
        assert treed(item)
        found = released(item, rows, where, SeededBits(1))
        assert np.shape(found.value) == (3, 3)
        assert ("rank unclear" in found.flags) is flagged
        low, high = found.interval(kind="confidence")
        assert (low <= found.value).all()
        assert (found.value <= high).all()
