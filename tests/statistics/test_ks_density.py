"""The density by a synthetic sample: exact loss over neighbouring tables, what is read from a placement, and its band."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpnb.errors import OptionError, PlanError, Unavailable
from dpnb.inference.seeded_bits import SeededBits
from dpnb.inference.selection_law import placements, probabilities
from dpnb.planner.expression import ClipTo, Compare, Const, Ref
from dpnb.planner.question import Question
from dpnb.trusted.mechanisms import KSExponential
from dpnb.trusted.mechanisms.ks_exponential import distance
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.conversion import laplace_rho
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from tests.contracts.questions import released
from tests.contracts.statistic import priced, rows_of, schema, totals, units_of
from tests.examples import mostly_long
from tests.statistics.test_sensitivity import UNITS

X, B, G = Ref("x"), Ref("b"), Ref("g")
OPTIONS = (("cells", 3), ("points", 3))
ASKED: dict[str, dict[str, Any]] = {
    "plain": {"target": X, "options": OPTIONS},
    "filtered": {"target": X, "where": Compare("==", B, Const(1)), "options": OPTIONS},
    "by group": {"target": X, "by": (B,), "options": OPTIONS},
}


def asked(name: str) -> Question:
    return Question("tiny", "ks_density", **ASKED[name])


@cache
def logs(mechanism: KSExponential, counts: tuple[int, ...]) -> list[np.ndarray]:
    """The log-law of every group."""
    size = len(mechanism.places)
    return [
        np.log(probabilities(mechanism, counts[start : start + size]))
        for start in range(0, len(counts), size)
    ]


def loss_between(mechanism: KSExponential, one: tuple[int, ...], two: tuple[int, ...]) -> float:
    """The exact log-ratio between two tables of counts: groups add."""
    pairs = zip(logs(mechanism, one), logs(mechanism, two), strict=True)
    return sum(float(np.max(np.abs(a - b))) for a, b in pairs)


@cache
def check_loss(mechanism: KSExponential, one: tuple[int, ...], two: tuple[int, ...]) -> float:
    """What the check can cost at most over all placements: the largest change of D over the scale; groups add."""
    size, total = len(mechanism.places), 0
    for start in range(0, len(one), size):
        first, second = (list(itertools.accumulate(each[start : start + size])) for each in (one, two))
        ways = placements(mechanism.points, size)
        total += max(abs(distance(first, steps) - distance(second, steps)) for steps in ways)
    return total / float(mechanism.check_scale)


def loss_of(item: Any, one: list[tuple[int, ...]], two: list[tuple[int, ...]]) -> float:
    """An upper bound of the log-ratio of a whole release: the placement, the worst check, and the noise on the number of rows."""
    mechanism = item.parts[0].mechanism
    total = loss_between(mechanism, one[0], two[0]) + check_loss(mechanism, one[0], two[0])
    for part, a, b in zip(item.parts[1:], one[1:], two[1:], strict=True):
        total += float(sum(abs(x - y) for x, y in zip(a, b, strict=True)) / part.mechanism.scale)
    return total


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", ASKED)
def test_no_neighbour_costs_more_than_the_claim(name: str, unit: str) -> None:
    """Over neighbours of several tables the log-ratio of the whole law is at most the recorded loss, and not far from it."""
    who, found = UNITS[unit], []
    item = priced(asked(name), schema(who, steps=2), amount=4)
    held = list(units_of([*rows_of(2, missing=False, groups=False)[::2], (None, 1, 0)], who.max_rows))
    held += list(units_of(rows_of(2, missing=False, groups=False)[1::2], who.max_rows))
    if who.adjacency == "add-remove":
        pairs = [((), one) for one in held]
    else:
        kept = [one for one in held if who.unit != "row" or len(one) == 1]
        pairs = list(itertools.combinations(kept, 2))
    for base in ((), ((0, 1, 0),) * 4, ((0, 1, 0), (2, 1, 0), (2, 0, 0), (1, 1, 0), (0, 0, 0))):
        counts = {one: tuple(totals(item, base + one)) for one in {(), *held}}
        seen = {(counts[one], counts[two]) for one, two in pairs}
        found += [loss_of(item, *both) for both in seen]
    assert item.loss.amount == 4
    assert 0.3 * 4 < max(found) <= 4 + 1e-9


def test_a_rho_ledger_is_charged_an_eighth_of_the_square() -> None:
    """An exponential mechanism has bounded range: ε²/8; check and count beside it are charged what their laws cost."""
    where = schema(PrivacyUnit("add-remove"), measure="rho")
    assert priced(asked("plain"), where, amount=2).loss.amount == Fraction(152, 100) ** 2 / 8 + laplace_rho(
        Fraction(3), 3 / Fraction(38, 100)
    ) + laplace_rho(Fraction(1), Fraction(10))


SCHEMA = Schema(
    "people",
    "People",
    (Column.integer("age", 0, 99, missing=0), Column.number("x", 0, 1)),
    PrivacyUnit("change-one", rows=500),
    Budget.from_toml({"epsilon": 1000}),
)
AGE = Ref("age")


def answered(question: Question, values: dict[str, Any], amount: Any = 1, seed: int = 1) -> Any:
    """A question priced and released on arrays."""
    item = priced(question, SCHEMA, amount=amount)
    table = {"age": [50.0] * 500, "x": [0.5] * 500} | values
    return released(item, table, SCHEMA, SeededBits(seed))


AGES = np.round(np.random.default_rng(4).beta(2, 4, 500) * 99)


def test_a_density_has_area_one_and_is_near_the_data() -> None:
    """Cells times widths sum to one; k and m are n^(2/3); the distribution function is near."""
    found = answered(Question("people", "ks_density", AGE), {"age": AGES}, amount=20)
    assert found.shape == (63,)
    widths = np.diff([-(-100 * place // 63) for place in range(64)])
    assert np.sum(found.value * widths) == pytest.approx(1)
    shares = found.cdf().value
    exact = [np.mean(edge > AGES) for edge in np.cumsum(widths)]
    assert np.max(np.abs(shares - exact)) < 0.02
    assert shares[-1] == 1
    assert found.axes[0].keys[:2] == ("[0, 2)", "[2, 4)")
    assert found.axes[0].keys[-1] == "[99, 99]"


def test_readings_agree_with_each_other() -> None:
    """Median, quantiles and sample are of one placement, lie in the public range and rise."""
    found = answered(Question("people", "ks_density", AGE), {"age": AGES}, amount=20)
    sample = found.sample()
    assert sample.shape == (63,)
    assert np.all(np.diff(sample.value) >= 0)
    assert sample.value[0] >= 0
    assert sample.value[-1] <= 99
    assert found.median().value == pytest.approx(np.median(AGES), abs=3)
    assert found.quantile([0.25, 0.5]).value[1] == found.median().value
    assert (found.text, sample.text) == ("people.age.ks_density()", "people.age.ks_density().sample()")
    for bad in (1.5, [], "half"):
        with pytest.raises(PlanError, match="between 0 and 1"):
            found.quantile(bad)


def test_bands_hold_the_readings_and_grow_for_the_population() -> None:
    """A privacy interval lies inside the confidence interval; a sample's points have none and say so."""
    found = answered(Question("people", "ks_density", AGE), {"age": AGES})
    for read in (found, found.cdf(), found.median()):
        near, far = read.interval(0.95, "privacy"), read.interval(0.95, "confidence")
        assert np.all(far.low <= near.low)
        assert np.all(near.low <= read.value)
        assert np.all(read.value <= near.high)
        assert np.all(near.high <= far.high)
        assert "distance" in near.note
    with pytest.raises(Unavailable, match="cdf"):
        found.sample().interval(0.95, "privacy")
    with pytest.raises(Unavailable, match="drawn as a whole"):
        _ = (found + found.cdf()).interval(0.95, "privacy")


def test_a_private_number_of_rows_is_released_for_a_twentieth() -> None:
    """Filtered, the placement has 100 points, and the noised number of rows stands behind its band."""
    question = Question("people", "ks_density", AGE, where=Compare(">", AGE, Const(30)))
    found = answered(question, {"age": AGES}, amount=20)
    assert found.shape == (100,)
    assert sum(found.release.part("placement").values[:-1]) == 100
    assert found.n[0] == max(1, found.release.part("count").values[0])
    assert abs(found.n[0] - np.sum(AGES > 30)) < 30
    item = priced(question, SCHEMA, amount=20)
    assert [
        part.mechanism.epsilon + part.mechanism.check if p == 0 else 1 / part.mechanism.scale
        for p, part in enumerate(item.parts)
    ] == [19, 1]
    low, high = found.cdf().interval(0.95, "confidence")
    assert np.all(low <= high)


POPULATIONS = {
    "beta": lambda rng: rng.beta(2, 5, 500) * 99,
    "two ages": lambda rng: np.where(rng.random(500) < 0.3, 20.0, 80.0),
    "one age": lambda rng: np.full(500, 40.0),
    "uniform": lambda rng: rng.random(500) * 99,
}


def test_the_distribution_function_at_points_is_linear_inside_cells() -> None:
    """A number or a list; at the ends of cells it is what cdf() says there, and between them between; its band holds the data's."""
    found = answered(
        Question("people", "ks_density", AGE, options=(("cells", 10),)), {"age": AGES}, amount=20
    )
    ends, low = found.cdf(), found.cdf([9, 19, 29])
    assert found.cdf(19).value == low.value[1]
    assert found.cdf(19).shape == ()
    assert np.allclose(low.value, ends.value[:3])
    band, at_ends = low.interval(0.95, "privacy"), ends.interval(0.95, "privacy")
    assert np.allclose(band.low, at_ends.low[:3])
    assert np.allclose(band.high, at_ends.high[:3])
    inside = found.cdf(24)
    assert inside.value == pytest.approx((ends.value[1] + ends.value[2]) / 2)
    for kind in ("privacy", "confidence"):
        band = found.cdf(24).interval(0.95, kind)
        assert band.low <= np.mean(AGES <= 24) <= band.high
        assert band.low <= ends.value[1] <= ends.value[2] <= band.high
    assert found.cdf(24.9).value == inside.value
    assert found.cdf(np.float64(24)).value == found.cdf(np.array([24]))[0].value == inside.value
    assert found.cdf(24).text.endswith(".cdf(24)")
    for wrong in (99, 100, -1, "a", [], True, float("nan")):
        with pytest.raises(PlanError, match="cdf"):
            found.cdf(wrong)


def covered(name: str, reps: int, amount: str, where: Any = None, cells: int = 40) -> int:
    """In how many studies the privacy band holds the data's whole distribution function."""
    rng, kept = np.random.default_rng(8), 0
    question = Question("people", "ks_density", AGE, where, options=(("cells", cells), ("points", 40)))
    uppers = np.array([-(-100 * place // cells) for place in range(1, cells + 1)])
    for seed in range(reps):
        ages = np.round(POPULATIONS[name](rng))
        band = answered(question, {"age": ages}, amount, seed).cdf().interval(0.95, "privacy")
        exact = (ages[:, None] < uppers).mean(axis=0)
        kept += bool(np.all((band.low <= exact + 1e-12) & (exact <= band.high + 1e-12)))
    return kept


BANDS = [
    *((name, 60, "0.5", None) for name in POPULATIONS),
    *itertools.product(POPULATIONS, [400], ["0.1", "2"], [None, Compare(">=", AGE, Const(0))]),
]


@pytest.mark.parametrize(("name", "reps", "amount", "where"), mostly_long(BANDS, BANDS[1]))
def test_the_band_covers_whatever_the_data_are(name: str, reps: int, amount: str, where: Any) -> None:
    """Smooth data or atoms, a public number or a private one: of 60 at most 10 miss (P < 1e-3 at 95 %), of 400 three standard errors more."""
    assert covered(name, reps, amount, where) >= (50 if reps == 60 else 0.917 * reps)


def test_a_small_loss_places_fewer_points() -> None:
    """As many as n^(2/3), at most ε·n/64 and at least 20; more than ε·n/32 and 100 are refused, by the number to ask; with a private n 100 is the most."""
    question, grid = Question("people", "ks_density", AGE), {}
    for amount in ("0.5", "5", "100"):
        item = priced(question, SCHEMA, amount=amount)
        grid[amount] = item.parts[0].mechanism.points
        assert item.checked.shape == (63,)
    assert grid == {"0.5": 20, "5": 31, "100": 63}
    for points, where in ((101, None), (101, Compare(">", AGE, Const(3)))):
        many = Question("people", "ks_density", AGE, where, options=(("points", points),))
        with pytest.raises(PlanError, match=f"points={points - 1}"):
            priced(many, SCHEMA, amount=1)


@pytest.mark.parametrize("cells", [20, 63, 100])
@pytest.mark.parametrize("ages", [np.full(500, 40.0), np.round(AGES / 10) * 10], ids=["one age", "heaped"])
def test_an_interval_of_a_quantile_holds_the_files(ages: Any, cells: int) -> None:
    """On whole numbers, where an interval that ends inside a cell missed the file's median 30 times of 30: in 5 releases never."""
    question = Question("people", "ks_density", AGE, options=(("cells", cells),))
    levels = [0.25, 0.5, 0.9]
    lower, upper = np.quantile(ages, levels, method="lower"), np.quantile(ages, levels, method="higher")
    for seed in range(5):
        read = answered(question, {"age": ages}, 20, seed).quantile(levels)
        for kind in ("privacy", "confidence"):
            band = read.interval(0.95, kind)
            assert np.all(band.low <= lower)
            assert np.all(upper <= band.high)
        assert np.all(np.isin(read.value, np.arange(100)))


def test_a_sample_has_any_size() -> None:
    """Evenly spaced quantiles: as many as asked, the middle one the median."""
    found = answered(Question("people", "ks_density", AGE), {"age": AGES}, amount=20)
    assert found.sample(1).value == pytest.approx(found.median().value)
    assert found.sample(500).shape == (500,)
    assert found.sample(500).text == "people.age.ks_density().sample(500)"
    for size in (0, 100_001, 2.5, True):
        with pytest.raises(OptionError, match="size="):
            found.sample(size)


def test_what_cannot_be_placed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Points and cells out of range, a single value, labels and too fine a density by groups are refused before the charge."""
    for options in (
        {"points": 0},
        {"points": 1001},
        {"cells": 257},
        {"cells": True},
        {"points": 2.5},
        {"cells": "3"},
    ):
        with pytest.raises(OptionError, match="whole number"):
            priced(Question("people", "ks_density", AGE, options=tuple(options.items())), SCHEMA)
    with pytest.raises(PlanError, match="nothing to release"):
        priced(Question("people", "ks_density", ClipTo(AGE, Const(4), Const(4))), SCHEMA)
    wide = Question("people", "ks_density", Ref("x"), None, (AGE,), (("cells", 256), ("points", 100)))
    monkeypatch.setattr("dpnb.statistics.ks_density.MOST_WORK", 256 * 100)
    with pytest.raises(PlanError, match="Too many groups"):
        priced(wide, SCHEMA)
