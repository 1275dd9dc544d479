"""Ways out of a budget: each that a refusal prints is taken here, and is admitted; none is printed that would not be."""

from __future__ import annotations

import random
import re

import pytest

from dpnb.errors import BudgetError
from dpnb.planner.request import Ask
from dpnb.trusted.privacy.loss import PrivacyLoss
from tests.curator import small

BUDGETS = {
    "pure": ({"epsilon": 2}, ("epsilon",)),
    "zcdp": ({"rho": "0.5"}, ("epsilon", "rho")),
    "approximate": ({"epsilon": 2, "delta": "1e-6"}, ("epsilon", "rho")),
}


def questions(data):
    """What a cell may ask."""
    return {
        "sum": data.x.sum,
        "count": data[data.x > 3].count,
        "median": lambda: data.x.quantile(0.5),
        "mode": data.x.mode,
        "cells": lambda: data.groupby("g").count(),
    }


def refused(here, items, ask):
    """The ways out that a refusal prints, or None where the cell was answered."""
    try:
        here.release(items, ask)
    except BudgetError as refusal:
        text = refusal.message
        assert text.endswith("Nothing was spent.")
        found = re.search(r"Options: (.*)\. Nothing was spent\.", text)
        return found[1].split(" · ") if found else []
    return None


def taken(way, names, made, ask):
    """The cell as it is written when a way out is taken."""
    chosen, option = list(names), re.search(r"%%dp (\w+)=(\S+)", way)
    items = {name: made[name]() for name in chosen}
    spent = {"fresh": ask.fresh and way != "leave out fresh"}
    if way.startswith("leave out ") and way != "leave out fresh":
        (out,) = [name for name in chosen if way.startswith(f"leave out {items[name].text}")]
        del items[out]
    if option:
        return list(items.values()), Ask.make(**{option[1]: option[2]}, **spent)
    return list(items.values()), Ask(**{ask.kind: getattr(ask, ask.kind)}, **spent)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("seed", range(3))
def test_each_way_that_is_printed_is_admitted(service, ann, dpnb_home, budget, seed):
    """Random cells against what random cells have left: a way is taken as it is written, at once."""
    rng = random.Random(f"{budget} {seed}")
    caps, kinds = BUDGETS[budget]
    data = small.opened(ann, dpnb_home, **caps)
    made, seen = questions(data), set()
    for _ in range(16):
        names = rng.sample(sorted(made), rng.randint(1, 3))
        kind = rng.choice(kinds)
        if kind == "rho":
            names = [name for name in names if name not in ("median", "mode")] or ["sum"]
        ask = Ask.make(**{kind: rng.choice(("0.1", "0.3", "0.7", "1.5", "4"))}, fresh=rng.random() < 0.3)
        ways = refused(ann, [made[name]() for name in names], ask)
        if not ways:
            continue
        way = rng.choice(ways)
        seen.add(way.split()[0])
        if "stored" not in way:
            items, then = taken(way, names, made, ask)
            assert refused(ann, items, then) is None, way
    assert "%%dp" in seen


def test_what_is_left_out_leaves_the_others_their_losses(ann, dpnb_home):
    data = small.opened(ann, dpnb_home, epsilon=1)
    made = questions(data)
    ways = refused(ann, [made["sum"](), made["count"]()], Ask.make(epsilon="1.5"))
    assert ways == ["%%dp epsilon=1", "leave out small.x.sum() and write %%dp epsilon=0.75"]
    ways = refused(ann, [made["sum"]().spend("0.4"), made["count"]().spend("0.9")], Ask.make())
    assert ways == ["leave out small.x.sum()"]
    assert refused(ann, [made["count"]().spend("0.9")], Ask.make()) is None


def test_a_stored_answer_is_named_where_there_is_one_and_asking_as_it_is_stored_is_free(ann, dpnb_home):
    data = small.opened(ann, dpnb_home, epsilon=1)
    made = questions(data)
    ann.release([made["sum"]()], Ask.make(epsilon="0.75"))
    ways = refused(ann, [made["sum"](), made["count"]()], Ask.make(epsilon=2))
    assert ways[0] == "%%dp epsilon=0.25"
    ways = refused(ann, [made["sum"](), made["count"]()], Ask.make(epsilon="1.6"))
    assert "small.x.sum() is stored at epsilon=0.75 (%dp ledger)" not in ways  # the count alone asks for 0.8
    ways = refused(ann, [made["sum"](), made["count"]().spend("0.2")], Ask.make(epsilon=2))
    assert "small.x.sum() is stored at epsilon=0.75 (%dp ledger)" in ways
    again = [made["sum"]().spend("0.75"), made["count"]().spend("0.2")]
    assert ann.release(again, Ask.make()).charged == PrivacyLoss.pure("0.2")


def test_nothing_is_printed_where_nothing_helps(ann, dpnb_home):
    data = small.opened(ann, dpnb_home, epsilon=1)
    made = questions(data)
    ann.release([made["sum"]()], Ask.make(epsilon=1))
    assert refused(ann, [made["count"](), made["mode"]()], Ask.make(epsilon=1)) == []
    assert refused(ann, [made["sum"]()], Ask.make(epsilon=1, fresh=True)) == ["leave out fresh"]


def test_a_cap_of_ones_own_is_asked_too(service, ann, dpnb_home):
    data = small.opened(ann, dpnb_home, epsilon=10)
    service._ledger.set_cap("ann", "dataset:small", PrivacyLoss.pure("0.3"))
    ways = refused(ann, [questions(data)["sum"]()], Ask.make(epsilon=5))
    assert ways == ["%%dp epsilon=0.3"]
