"""Coverage simulations: the same to the bit for a seed however they are cut, honest counts, and errors that name the fix."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpnb import simulate
from dpnb.errors import DpnbError, LossError, OptionError, PlanError, SchemaError
from dpnb.planner.expression import Compare, Const, Ref
from dpnb.simulate.design import losses_of
from dpnb.simulate.exact import Block
from dpnb.simulate.studies import draw
from dpnb.simulate.tally import KEPT
from dpnb.statistics import BY_NAME, conclude
from dpnb.trusted.aggregate.reference import Ints, Table
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column
from tests.contracts.questions import SAMPLES, asked, schema
from tests.statistics.coverage import wider
from tests.statistics.test_coverage import enough

BETA = simulate.beta(2, 5)


def same(one, other):
    """Whether two results hold the same numbers to the bit."""
    left, right = ([row.tolist() for row in map(np.asarray, numbers(found))] for found in (one, other))
    return repr(left) == repr(right)


def numbers(found):
    """All that was counted, summed and kept."""
    for tally in found.tallies:
        for held in tally.held.values():
            yield from (held.studies, held.held, held.width)
        for part in (tally.sums, tally.flags, tally.kept):
            yield from (part[key] for key in sorted(part))


def test_a_seed_gives_the_same_result_to_the_bit():
    """Two runs agree in every number; another seed gives other numbers."""
    first, again, other = (simulate.coverage("mean", BETA, 60, [0.5, 2], reps=300, rng=s) for s in (1, 1, 2))
    assert same(first, again)
    assert not same(first, other)


def test_a_run_may_be_stopped_and_taken_up_again():
    """Partial results paint, the generator can be closed, and what follows ends at the uninterrupted result to the bit."""
    asked = (
        "difference",
        simulate.resampled({"x": np.arange(200.0), "a": np.arange(200) % 2}, two_columns()),
    )
    whole = simulate.coverage(*asked, [50, 4000], 1, reps=500, by="a")
    seen = simulate.stream(*asked, [50, 4000], 1, reps=500, by="a")
    first = next(seen)
    seen.close()
    assert not first.complete
    assert 0 < first.studies < 500
    before = list(first.table())
    last = list(first.resume())[-1]
    assert last.complete
    assert same(last, whole)
    assert list(first.table()) == before


def two_columns():
    """A number and two arms."""
    return [Column.number("x", 0, 200, step=1, missing=0), Column.category("a", [0, 1])]


def test_what_else_is_simulated_changes_nothing():
    """A size and a loss have the same studies alone as among others."""
    alone = simulate.coverage("mean", BETA, 80, [1], reps=300)
    among = simulate.coverage("mean", BETA, [20, 80], [0.1, 1, 5], reps=300)
    one, two = alone.held("confidence"), among.held("confidence", n=80)
    assert (one.held[0, 0], one.width[0, 0]) == (two.held[1, 0], two.width[1, 0])


def test_naive_intervals_miss_where_there_is_noise_and_hold_where_there_is_none():
    """At ε = 0.1 a tenth of the claimed misses is a dream; at ε = 1000 the three intervals agree."""
    found = simulate.coverage("mean", BETA, 300, [0.1, 1000], ("confidence", "naive", "normal"), reps=1000)
    share = {name: found.held(name).held[:, 0] for name in ("confidence", "naive", "normal")}
    assert enough(int(share["confidence"][0]), 1000)
    assert share["naive"][0] < 700
    assert all(enough(int(hits[1]), 1000, 0.94) for hits in share.values())


@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": "0.1"}])
def test_noise_wider_than_declared_is_noticed(loss):
    """With simulated noise 10 % too wide, 10,000 privacy intervals of a sum miss too often; with the declared noise they do not.

    Of 400 people, whose sum is far from what no sum can be: intervals there are wider.
    """
    for stretch, right in ((1.0, True), (1.1, False)):
        with wider(stretch):
            found = simulate.coverage("sum", BETA, 400, loss, "privacy", reps=10_000)
        assert enough(int(found.held("privacy").held[0, 0]), 10_000, 0.949) == right


@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": "0.1"}])
@pytest.mark.parametrize("stretch", [0.9, 1.0, 1.1])
def test_noise_of_another_size_is_noticed_among_five(loss, stretch):
    """Where intervals are wider than they must be, the noise itself shows a scale that is 10 % off."""
    with wider(stretch):
        found = simulate.coverage("sum", BETA, 5, loss, "privacy", reps=KEPT)
    spread = found.tallies[0].kept["noise z"].std()
    assert (abs(spread - 1) < 0.05) == (stretch == 1)


def test_memory_does_not_grow_with_studies():
    """Whole studies are kept for the first few thousand only; everything else is a sum."""
    found = simulate.coverage("sum", BETA, 2, 1, "privacy", reps=KEPT + 700)
    assert found.tallies[0].kept["noise z"].shape == (1, KEPT, 1)
    assert found.tallies[0].studies == KEPT + 700


def test_progress_is_called_with_every_partial_result():
    """The last call has all studies."""
    seen = []
    simulate.coverage(
        "sum", BETA, 10, 1, "privacy", reps=2200, progress=lambda found: seen.append(found.studies)
    )
    assert seen == [1000, 2000, 2200]


def test_the_code_makes_the_result_again():
    """Running what `.code()` says gives the same numbers."""
    for found in (
        simulate.coverage(
            "mean", BETA, [20, 40], {"rho": ["0.01", 1]}, reps=50, levels=[0.8, 0.95], spread="bound"
        ),
        simulate.coverage("quantile", simulate.normal(50, 9), 40, 0.3, reps=20, q=[0.5, 0.9], ci=True, rng=7),
        simulate.coverage("std", simulate.with_outliers(simulate.lognormal(3, 1, upper=500)), 30, 1, reps=20),
        simulate.coverage("mean", simulate.bernoulli(0.2), 30, 1, "naive", reps=20, adjacency="add-remove"),
    ):
        assert same(found, eval(found.code(), {"simulate": simulate}))  # noqa: S307 - our own text


def test_computed_floats_are_rounded_to_six_digits_and_shown_as_used():
    """A simulation spends nothing: any positive float is read; table and code hold the very values that were simulated."""
    asked = np.geomspace(0.05, 10, 20)
    found = simulate.coverage("mean", BETA, 20, asked, reps=5)
    used = [loss.amount for loss in found.design.losses]
    assert all(Fraction(f"{value:.6g}") == amount for value, amount in zip(asked, used, strict=True))
    assert dict.fromkeys(found.table()["epsilon"]) == dict.fromkeys(map(float, used))
    assert same(found, eval(found.code(), {"simulate": simulate}))  # noqa: S307 - our own text
    assert same(found, simulate.sweep("mean", BETA, "epsilon", asked, n=20, reps=5).results[0])


@pytest.mark.parametrize(
    ("given", "used"),
    [
        (0.1 + 0.2, "0.3"),
        (1.23456789e-5, "0.000012346"),
        (1.5e-9, "2/1000000000"),
        (123456.789, "123457"),
        (np.float32(0.1), "0.1"),
        ("0.123456789", "0.123456789"),
        (Fraction(1, 3), "1/3"),
    ],
)
def test_floats_alone_are_rounded(given, used):
    """What is written exactly stays as it is written."""
    assert losses_of(given)[0].amount == Fraction(used)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -0.5, 0.0, 1e-10, 1e10, "0.1234567891"])
def test_what_is_no_loss_is_refused_in_a_simulation_too(bad):
    """Rounding lets in no number that is not a loss, and no text beyond nine decimals."""
    with pytest.raises(LossError):
        losses_of({"rho": [0.5, bad]})


def test_a_table_has_one_row_for_each_thing_counted():
    """Sizes × losses × entries × intervals × levels, with coverage inside its own Wilson band."""
    found = simulate.coverage(
        "quantile", BETA, [30, 60], [1, 2, 3], reps=40, q=[0.25, 0.75], ci=True, levels=[0.9, 0.95]
    )
    table = found.table()
    assert len(table) == 2 * 3 * 2 * 2 * 2
    assert set(table["entry"]) == {"quantile 0.25", "quantile 0.75"}
    assert all(row["low"] <= row["coverage"] <= row["high"] + 1e-12 for row in table)
    assert list(table.to_frame().columns) == list(table.columns)


def test_what_is_unavailable_is_said_with_its_reason():
    """A count has no confidence interval: no coverage is invented for it."""
    found = simulate.coverage("count", BETA, 50, 1, where=Compare(">", Ref("x"), Const(20)), reps=50)
    row = found.table()[1]
    assert (row["interval"], row["studies"], row["without"]) == ("confidence", 0, 1.0)
    assert math.isnan(row["coverage"])
    assert "population" in found.reasons()["confidence"]
    assert "none" in found.describe()


def test_standard_errors_effective_sizes_and_flags_are_counted():
    """At a small ε many studies are flagged and few people's worth of accuracy is left; at a large one hardly any are."""
    low, high = simulate.coverage("mean", BETA, 200, [0.1, 10], "confidence", reps=300).table()
    assert low["flagged"] > 0.9
    assert high["flagged"] < 0.1
    assert low["n_eff"] < 10
    assert 190 < high["n_eff"] <= 200
    assert low["standard_error"] > 5 * high["standard_error"] > 0
    assert low["zero"] == high["zero"] == 0


def test_the_figure_has_three_panels_and_words():
    """Coverage, widths and densities; the label is the text alternative."""
    found = simulate.coverage("mean", BETA, [30, 90], [0.5, 2], ("privacy", "confidence", "naive"), reps=60)
    figure = found.plot()
    assert [bool(axes.lines) for axes in figure.axes] == [True] * 3
    assert figure.get_label() == found.describe() == str(found)
    assert "naive, n = 90: covers" in found.describe()
    one = simulate.coverage("value_counts", simulate.study([0, 1, 1], Column.category("g", [0, 1])), reps=5)
    assert one.plot().axes


def test_a_fixed_study_draws_noise_alone():
    """The privacy interval of one table covers; no parameter is invented for a confidence interval."""
    fixed = simulate.study(np.linspace(0, 10, 40), lower=0, upper=10)
    found = simulate.coverage("mean", fixed, losses=[0.5], reps=1000)
    assert found.design.sizes == (40,)
    assert enough(int(found.held("privacy").held[0, 0]), 1000)
    assert found.held("confidence").studies.sum() == 0


def test_truths_may_be_given():
    """A statistic without a definition here takes what is true from the caller: the mode of a study."""

    def mode(study):
        return float(np.bincount(study["b"].astype(int)).argmax())

    found = simulate.coverage(
        "mode", simulate.bernoulli(0.3, name="b"), 50, 5, "privacy", reps=20, truth=mode
    )
    assert found.tallies[0].sums["noise squared"][0, 0] <= 2


BAD = [
    ({"statistic": "meen"}, PlanError, "mean"),
    ({"losses": 0}, LossError, "epsilon"),
    ({"losses": {"eps": [1]}}, LossError, "rho"),
    ({"losses": {"epsilon": [1], "rho": [1]}}, LossError, "one after the other"),
    ({"losses": []}, LossError, "at least one"),
    ({"n": 0}, PlanError, "whole number"),
    ({"n": None}, PlanError, "n="),
    ({"n": 2.5}, PlanError, "whole number"),
    ({"reps": 0}, OptionError, "reps="),
    ({"reps": 10**9}, OptionError, "10,000,000"),
    ({"rng": -1}, OptionError, "seed"),
    ({"rng": "x"}, OptionError, "seed"),
    ({"levels": 1.5}, OptionError, "0.95"),
    ({"intervals": "bootstrapp"}, OptionError, "privacy, confidence, naive, normal"),
    ({"intervals": ["naive", "naive"]}, OptionError, "once"),
    ({"intervals": [3]}, OptionError, "name"),
    ({"bins": 4}, OptionError, "bins"),
    ({"adjacency": "both"}, DpnbError, "change-one"),
    ({"column": "y"}, SchemaError, "y"),
    ({"truth": 3}, OptionError, "function"),
    ({"statistic": "count"}, PlanError, "add-remove"),
    ({"statistic": "mode", "column": "x"}, PlanError, "bins"),
    ({"source": [1.0, 2.0]}, SchemaError, "lower="),
    ({"source": [], "lower": 0, "upper": 1}, PlanError, "length"),
    ({"lower": 0}, PlanError, "leave out"),
    ({"source": [1.0], "lower": 0, "upper": 5, "bound": 4}, DpnbError, "bound"),
]


@pytest.mark.parametrize(("bad", "kind", "word"), BAD, ids=[str(bad)[:40] for bad, _, _ in BAD])
def test_bad_input_is_refused_before_anything_is_drawn(bad, kind, word):
    """The error is short, of the field's tree, and names the fix; `stream` raises it at once."""
    asked = {"statistic": "mean", "source": BETA, "n": 20, "losses": 1, "reps": 10, **bad}
    with pytest.raises(kind, match=word) as caught:
        simulate.stream(asked.pop("statistic"), asked.pop("source"), **asked)
    assert len(str(caught.value)) < 260


def test_a_statistic_without_truth_says_what_to_give():
    """Where nothing says what is true, the call asks for truth= and parameter=."""
    with pytest.raises(PlanError, match="truth="):
        simulate.coverage("mode", simulate.bernoulli(0.3), 20, 1, reps=5)


def test_a_sweep_stands_side_by_side():
    """Over an option there is one coverage a value, over a loss one in all; the figure and the table have them all."""
    swept = simulate.sweep("mean", BETA, "spread", ["bought", "bound"], n=50, losses=1, reps=60)
    assert swept.table()["spread"] == ("bought", "bought", "bound", "bound")
    assert len(swept.plot().axes) == 2
    assert "spread = bound" in swept.describe()
    assert len(swept.code().splitlines()) == 2
    along = simulate.sweep("mean", BETA, "epsilon", [0.5, 1], n=50, reps=60)
    assert same(along.results[0], simulate.coverage("mean", BETA, 50, [0.5, 1], reps=60))
    people = simulate.sweep("mean", None, "population", [BETA, simulate.with_outliers(BETA)], n=50, reps=30)
    assert people.table()["population"][-1] == "Beta(2, 5) with 2 % outliers"
    for bad in ({"over": "epsilon", "losses": 1}, {"over": "n", "n": 4}, {"over": "n", "values": []}):
        with pytest.raises(OptionError):
            simulate.sweep("mean", BETA, **{"values": [1], "over": "n", **bad})


SIMULATED = [(name, sample) for name in sorted(BY_NAME) for sample in SAMPLES[name]]


def drawn(studies, loss):
    """The ids of all draws of three simulated studies at one loss."""
    return [part.draw for study in range(3) for part in studies.release(loss, study).parts]


@pytest.mark.parametrize(("name", "sample"), SIMULATED, ids=[f"{n}-{str(s)[:50]}" for n, s in SIMULATED])
@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
def test_every_registered_statistic_can_be_simulated(name, sample, adjacency):
    """Priced, released and concluded for a block of studies; the answers have its shape, each part of each study at each loss its own draw."""
    n, measure = 40, "approx" if name == "frequent_values" else "epsilon"
    where = schema(PrivacyUnit(adjacency, rows=n if adjacency == "change-one" else None), measure)
    item = asked(sample, name, where, measure, 5)
    if item.public or item.checked.shape is None:
        return
    rng = np.random.default_rng(1)
    codes = {c.name: Ints(rng.integers(0, c.size, 3 * n), rng.random(3 * n) < 0.9) for c in where.columns}
    items, block = (item, asked(sample, name, where, measure, 2)), Block(Table(codes, 3 * n), 3, n)
    studies = draw(items, block, [np.random.default_rng(2) for _ in items], rng)
    entries = math.prod(item.checked.shape)
    assert studies.shape == (2, 3, entries)
    assert np.isfinite(studies.value).any()
    beside, alone = drawn(studies, 1), drawn(draw(items[1:], block, [np.random.default_rng(2)], rng), 0)
    ids = drawn(studies, 0) + beside
    assert beside == alone
    assert len(set(ids)) == len(ids)
    one = conclude(item.checked, [studies.release(1, 2)])
    assert np.allclose(np.ravel(one.value).astype(float), studies.value[1, 2], equal_nan=True)


def test_a_weighted_total_is_judged_by_that_of_as_many_people():
    """Its confidence interval is about the total of a study's size in the population: by the total of one person it held in no study."""
    rng = np.random.default_rng(3)
    people = {"x": rng.integers(0, 11, 5000).astype(float), "w": rng.choice([1.0, 2.0, 4.0], 5000)}
    grid = [Column.integer("x", 0, 10), Column.integer("w", 1, 4).weighing(True)]
    held = simulate.coverage(
        "weighted_sum", people, 800, 1, "confidence", reps=400, columns=grid, other="w", column="x"
    ).held("confidence")
    assert 0.92 < float(held.held.sum() / held.studies.sum()) <= 1
