"""Permanent records are read in their own types alone: true is not version 1, 1.0 is not 1, and a number is not its text."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpnb.client.priced_batch import sent
from dpnb.errors import DpnbError
from dpnb.planner import Ask, Item, price
from dpnb.planner.question import Question
from dpnb.trusted.curator.mark import Mark, Total
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.query.plan import Plan, Share
from dpnb.trusted.query.plan_record import read_parts, written
from dpnb.trusted.releases import Release, ReleasedPart
from dpnb.trusted.schema import Column, Schema
from tests.contracts.questions import SAMPLES, asked, schema
from tests.contracts.records import twins

PEOPLE = PrivacyUnit("change-one", rows=60)
EVENTS = json.loads((Path(__file__).parents[1] / "golden" / "events" / "v1.json").read_text())
ITEMS = [
    asked(sample, name, schema(PEOPLE, "epsilon"), "epsilon", "0.75")
    for name, samples in SAMPLES.items()
    if name != "frequent_values"
    for sample in samples[:1]
]
SMALL = schema(PEOPLE, "epsilon")
BATCH = price(
    tuple(Item(Question(SMALL.name, name, **SAMPLES[name][0])) for name in ("sum", "mode", "quantile")),
    Ask.make(epsilon=1),
    SMALL,
)
BUDGETS = [Budget.from_toml({"epsilon": 1}), Budget.from_toml({"epsilon": 1, "delta": "0.5"})]
UNITS = [PrivacyUnit("change-one", rows=1), PrivacyUnit("change-one", unit="who", units=1)]
LAW = {"kind": "discrete-laplace", "scale": "12"}
RELEASE = Release(
    "a" * 32,
    "q",
    "t",
    "v",
    (ReleasedPart("sum", LAW, (1, 2**70), "1"),),
    PrivacyLoss.pure(1),
    stored=True,
    entry=1,
)
COLUMNS = (Column.integer("x", 0, 1, missing=1),)
KINDS: dict[str, tuple[Any, list[Any]]] = {
    "event": (PrivacyEvent.from_json, [one["event"] for one in EVENTS]),
    "loss": (PrivacyLoss.from_json, [PrivacyLoss.pure(1).to_json(), PrivacyLoss.approx(1, "0.5").to_json()]),
    "budget": (Budget.from_json, [budget.to_json() for budget in BUDGETS]),
    "unit": (PrivacyUnit.from_json, [unit.to_json() for unit in UNITS]),
    "schema": (Schema.from_json, [Schema("t", "t", COLUMNS, PEOPLE, BUDGETS[0]).to_json()]),
    "question": (Question.from_json, [item.checked.question.to_json() for item in ITEMS]),
    "share": (Share.from_json, [Share(kind, Fraction(1)).to_json() for kind in ("epsilon", "rho")]),
    "asked": (Plan.from_json, [sent(BATCH).to_json()]),
    "plan": (read_parts, [written(item.parts) for item in ITEMS if item.parts]),
    "release": (Release.from_json, [RELEASE.to_json()]),
    "mark": (Mark.from_json, [Mark("1" * 32, 1, "1" * 64, {"p": Total(1, PrivacyLoss.pure(1))}).to_json()]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_with_one_leaf_of_another_type_is_refused(kind):
    """Seen: an event of version true was read as one of version 1, and {"amount": 1} as {"amount": "1"}."""
    read, written = KINDS[kind]
    refused = 0
    for record in json.loads(json.dumps(written)):
        read(record)
        for twin in twins(record):
            with pytest.raises((DpnbError, ValueError)):
                print(kind, read(twin), twin)
            refused += 1
    assert refused > 3
