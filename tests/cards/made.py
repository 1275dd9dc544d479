"""Released answers made by hand: real schema, real prices, fixed noised integers, no curator and no rows."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from dpnb.cards.facts import Line
from dpnb.client.plan_view import BatchReport, PlanView
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.planner.expression import Ref
from dpnb.planner.price import price
from dpnb.planner.question import Question
from dpnb.planner.request import Ask, Item
from dpnb.statistics import conclude
from dpnb.statistics._base import Axis
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.loss import PrivacyLoss, exact_text
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.releases import Release, ReleasedPart
from dpnb.trusted.schema import Column, Schema

EVIL = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>\x1b[31m\u202e"

QUESTIONS = {
    "collected": ("mean", "got", (), ()),
    "effect": ("difference", "got", ("any",), ()),
    "age": ("quantile", "age", (), (("q", (0.25, 0.5)),)),
    "by_any": ("mean", "got", ("any",), ()),
    "villages": ("mean", "got", ("village",), ()),
    "everyone": ("count", None, (), ()),
}

NUMBERS = {
    "collected": {"sum": (1138,), "count": (2897,)},
    "effect": {"tally": (413, 207, 446, 1751)},
    "age": {"0:point": (22,), "1:point": (32,)},
    "by_any": {"tally": (421, 218, 470, 1770)},
    "villages": {"tally": (60, 90) * 20},
}


def study(label="collected the result", title="A study"):
    """A schema whose texts are the caller's."""
    columns = (
        Column.category("got", [0, 1], label=label),
        Column.category("any", [0, 1], label="was offered money"),
        Column.integer("age", 0, 100, label=label, missing=30),
        Column.integer("village", 1, 20, missing="drop"),
    )
    unit = PrivacyUnit("change-one", rows=4820)
    return Schema(
        "hiv", title, columns, unit, Budget.from_toml({"epsilon": 4}), description=label, citation=label
    )


def question(name):
    """The plan of a named question."""
    statistic, target, by, options = QUESTIONS[name]
    from fractions import Fraction

    exact = tuple(
        (key, tuple(Fraction(x) for x in value) if isinstance(value, tuple) else value)
        for key, value in options
    )
    return Question("hiv", statistic, Ref(target) if target else None, None, tuple(map(Ref, by)), exact)


def plan(*names, epsilon=1, schema=None, left=4, labels=None, **more):
    """A plan view of named questions."""
    schema = schema or study()
    asked = Ask.make(epsilon=epsilon)
    priced = price(tuple(Item(question(name)) for name in names), asked, schema).refined(frozenset())
    measurements = tuple(PendingQuestion(item.checked.question, item.checked) for item in priced.items)
    said = dict(zip(measurements, labels or names, strict=True))
    facts = {"stored": (False,) * len(names), "cost": priced.loss, "prices": priced.prices()} | more
    return PlanView(
        dataset=SimpleNamespace(schema=schema, name="hiv"),
        priced=priced,
        left=PrivacyLoss.pure(left),
        cap=schema.budget.cap,
        measurements=measurements,
        labels=said,
        **facts,
    )


def report(*names, stored=(), named=(), hidden=(), dropped=0, **more):
    """A released batch of named questions; `named` builds derived estimates from a dict of the released ones."""
    view = plan(*names, **({"prices": ()} if stored else {}), **more)
    for name, item, measurement in zip(names, view.priced.items, view.measurements, strict=True):
        releases = () if item.public else (release(name, item, stored=name in stored),)
        measurement.fill(releases, conclude(item.checked, releases))
    found = {name: Estimate.leaf(m) for name, m in zip(names, view.measurements, strict=True)}
    return BatchReport(
        plan=view,
        left=view.left - view.cost,
        entry=7,
        labels=view.labels,
        dropped=dropped,
        named=tuple((name, make(found)) for name, make in named),
        hidden=tuple(found[name].measurement for name in hidden),
    )


def release(name, item, *, stored=False):
    """The record of a release with the numbers above."""
    parts = tuple(
        ReleasedPart(
            part.name,
            part.mechanism.record,
            NUMBERS[name][part.name],
            f"{name}-{part.name}",
        )
        for part in item.parts
    )
    share = exact_text(item.share.amount)
    return Release(
        f"id-{name}", item.key, "hiv", "v1", parts, item.loss, share, stored, "2026-01-02T03:04:05", 7
    )


def estimate(name, **more):
    """One released estimate."""
    return Estimate.leaf(report(name, **more).measurements[0])


def fit(*entries, axis="term"):
    """A line of coefficients."""
    axes = (Axis(axis, axis, tuple(entry.key for entry in entries)),)
    facts = {"text": "fit", "shape": (len(entries),), "size": len(entries), "axes": axes, "op": "fit"}
    none = {"outcome": None, "measurement": None, "estimand": "", "flags": ()}
    estimate = SimpleNamespace(**facts, **none, leaves=tuple)
    return Line(estimate, "fit", entries, {}, "free")


class State(SimpleNamespace):
    """A reading of a budget."""


def budget(spent="1.5"):
    """A budget of ε 4."""
    cap, used = PrivacyLoss.pure(4), PrivacyLoss.pure(spent)
    return State(cap=cap, whose="", spent=used, left=cap - used, personal=None, mine=used)


def rows():
    """Two ledger rows."""
    loss = PrivacyLoss.pure(1)
    shared = {"time": "2026-01-02T03:04:05+00:00", "dataset": "hiv", "hash": "00", "note": ""}
    opened = {"entry": 2, "kind": "attach", "principal": None, "loss": None, "spent_after": None, "texts": []}
    paid = {"entry": 7, "kind": "charge", "principal": "ann", "loss": loss, "spent_after": loss}
    return (
        {**shared, **opened, "answered": False},
        {**shared, **paid, "texts": ["hiv.got.mean()"], "answered": True},
    )


def combined(name, **more):
    """A question released twice, at the same loss and with the same numbers but noise of its own each time."""
    first = estimate(name, **more).measurement
    again = tuple(replace(part, draw=f"{part.name} again") for part in first.releases[0].parts)
    releases = (first.releases[0], replace(first.releases[0], id="another", parts=again))
    both = PendingQuestion(first.question, first.checked)
    both.fill(releases, conclude(first.checked, releases))
    return Estimate.leaf(both)
