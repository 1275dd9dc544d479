"""Random questions on random neighbouring tables: no pair needs more than is charged, and wrong charges are found."""

from __future__ import annotations

import random

import pytest

from dpnb.client.priced_batch import sent
from dpnb.errors import DpnbError
from dpnb.planner import price
from dpnb.statistics import BY_NAME
from dpnb.trusted.canonical import canonical, read_json
from dpnb.trusted.query.plan import Plan
from dpnb.trusted.query.price import charged_for
from dpnb.trusted.schema import Schema
from tests.examples import mostly_long
from tests.fuzz import pairs, questions, report
from tests.fuzz.report import pasted
from tests.fuzz.wrong import WRONG, WRONG_NOISE

TIGHT = (
    "count",
    "sum",
    "mean",
    "variance",
    "std",
    "histogram",
    "density",
    "value_counts",
    "crosstab",
    "difference",
)
"""Statistics whose charge some drawn pair reaches."""
NEAR = {"quantile": 0.35, "robust_mean": 0.25, "ks_density": 0.35, "choose": 0.8, "frequent_values": 0.4}
"""How near the others come at least; 0.95 where nothing is said."""
RUNS, TURNS, LOOK = 4, 30, 60
"""Seeds, how many cells of each begin with every statistic (more than 50,000 pairs), and how many a planted mistake has to be found in."""


def nearly_reached(tally):
    """Every statistic comes near to its charge: a fuzzer that is too weak, or a charge that is too high, is seen."""
    for name in questions.PARTS:
        found = max(ratio for (statistic, _), ratio in tally.highest.items() if statistic == name)
        assert found >= (0.99 if name in TIGHT else NEAR.get(name, 0.95)), (name, found)
    assert tally.refused < tally.batches


def test_every_statistic_is_drawn():
    """The grammar of the fuzzer has all statistics that there are, and one that it was never told of too."""
    assert list(questions.PARTS) == list(BY_NAME)
    assert set(questions.OWN_PARTS) <= set(BY_NAME)
    for one in BY_NAME.values():
        drawn = [questions.usual(one)(random.Random(seed)) for seed in range(20)]
        assert len({str(parts) for parts in drawn}) > 10 or one.target == "none"


@pytest.mark.slow
@pytest.mark.parametrize("seed", mostly_long(range(RUNS), 0))
def test_50_000_pairs_need_no_more_than_is_charged(seed):
    """Both adjacencies, rows and units, ε, ρ and (ε, δ), every statistic: so many pairs a seed."""
    tally = pairs.run(seed, TURNS)
    print(tally)
    assert tally.pairs > 50_000
    nearly_reached(tally)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(20))
def test_10_000_000_pairs_need_no_more_than_is_charged(part):
    """The long version, anew each time: the seed is printed."""
    seed = random.SystemRandom().randrange(2**40)
    turns = 20 * TURNS
    print(f"pairs.run({seed}, {turns}), part {part}")
    tally = pairs.run(seed, turns)
    print(tally)
    assert tally.pairs > 500_000
    nearly_reached(tally)


def planted(monkeypatch, wrong, seeds=(0,)):
    """Plant a mistake, and look twice as long as a run looks at its statistics: nearly every seed tried found it."""
    wrong.plant(monkeypatch)
    refusals = (ValueError, ZeroDivisionError)
    for seed in seeds:
        tally = pairs.run(seed, LOOK, statistics=wrong.where, alone=wrong.alone, refusals=refusals)
    return tally


@pytest.mark.parametrize("name", WRONG_NOISE)
def test_a_statistic_of_too_little_noise_is_charged_the_truth(name, monkeypatch):
    """No pair needs more than is charged, whatever noise a statistic takes for its share."""
    assert planted(monkeypatch, WRONG_NOISE[name]).pairs


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_derivation_is_found(name, monkeypatch):
    """What is derived too low is found by the pairs, as it is what is charged."""
    with pytest.raises(pairs.Violation):
        planted(monkeypatch, WRONG[name], seeds=(0, 1))


@pytest.mark.parametrize(
    "name",
    ["range x .9", "rows of a unit overlooked", "counts of a pick moved less", "half the derived score"],
)
def test_what_is_printed_shows_the_violation_again(name, monkeypatch):
    """The table, its neighbour and the question, pasted, need more than is charged; without the mistake they do not."""
    wrong = WRONG[name]
    with monkeypatch.context() as broken:
        wrong.plant(broken)
        with pytest.raises(pairs.Violation) as caught:
            pairs.run(7, LOOK, statistics=wrong.where, alone=True)
        text = pasted(caught.value)
        assert max(shown(text).values()) > 1
    assert caught.value.batch.items[0].question.text in text
    assert max(shown(text).values()) <= 1 + pairs.EXACT


def shown(text):
    """What the pasted lines print."""
    found = []
    exec(text, {"print": found.append})
    return found[0]


def test_a_plan_survives_the_wire_and_is_charged_what_was_priced():
    """What a kernel sends is read as it was, and the curator derives the same loss for each question."""
    rng, seen = random.Random(3), 0
    while seen < 200:
        where, batch = pairs.case(rng, rng.choice(list(questions.PARTS)))
        try:
            priced = price(*batch, where).refined(frozenset())
        except DpnbError:
            continue
        plan = Plan.from_json(read_json(canonical(sent(priced).to_json())))
        assert plan == sent(priced)
        read = Schema.from_json(where.to_json())
        charged = charged_for(plan, read)
        assert tuple(one.measured for one in charged.questions) == priced.measured
        assert charged.events == priced.events(frozenset())
        assert report.read(report.written(batch)) == batch
        seen += 1
