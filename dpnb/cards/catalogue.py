"""What can be asked, as a table: every registered statistic, priced and concluded on a small public example.

Nothing is written down by hand: which losses a statistic takes, what it releases, which intervals it gives and what can be read
from its release are found by asking it, under both adjacencies and in every measure, with the code that prices and concludes.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpnb.cards.card import Card, frame, heading
from dpnb.cards.markup import Markup, code, el
from dpnb.datasets.exact_answers import answer
from dpnb.datasets.preparation import prepare
from dpnb.errors import DpnbError, Unavailable
from dpnb.inference.seeded_bits import SeededBits
from dpnb.planner import Ask, Item, PricedQuestion, Question, price
from dpnb.planner.expression import Compare, Const, Expr, Ref
from dpnb.statistics import STATISTICS, Statistic, conclude
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.releases import Release, ReleasedPart
from dpnb.trusted.schema import Column, Schema

_ROWS = 2_000
_UNITS = {
    "change-one": PrivacyUnit("change-one", rows=_ROWS),
    "add-remove": PrivacyUnit("add-remove"),
}
_BUDGETS: tuple[tuple[str, str, dict[str, float]], ...] = (
    ("ε", "epsilon", {"epsilon": 1000}),
    ("ρ", "rho", {"rho": 1000}),
    ("(ε, δ)", "rho", {"epsilon": 1000, "delta": 1e-6}),
)
_HEADS = ("statistic", "adjacency", "loss", "released", "intervals", "read from it", "status", "reference")


@dataclass(frozen=True, slots=True)
class Entry:
    """One statistic, as it was found.

    Parameters
    ----------
    name, title : str
        Registered name, and what it is in words.
    example : str
        A question as a person types it.
    adjacencies, losses : tuple of str
        Where it can be asked.
    released : tuple of str
        The noised parts of the example, in words.
    intervals : tuple of str
        Which intervals the answer to the example has.
    readings : tuple of str
        What can be read from the release, free.
    status, reference : str
        As the statistic declares them.
    refused : str
        Why none of the example's columns can be asked about with it; empty where one can.
    """

    name: str
    title: str
    example: str
    adjacencies: tuple[str, ...]
    losses: tuple[str, ...]
    released: tuple[str, ...]
    intervals: tuple[str, ...]
    readings: tuple[str, ...]
    status: str
    reference: str
    refused: str = ""

    def cells(self) -> tuple[str, ...]:
        """The row of the table, one text for each of its heads."""
        unseen = f"no example: {self.refused}" if self.refused else ""
        return (
            self.example,
            ", ".join(self.adjacencies) or "–",
            ", ".join(self.losses) or "–",
            "; ".join(self.released) or unseen,
            ", ".join(self.intervals) or ("–" if unseen else "none (the error explains why)"),
            ", ".join(self.readings) or "–",
            self.status,
            self.reference,
        )


@functools.cache
def catalogue() -> tuple[Entry, ...]:
    """Return an entry for every registered statistic, in the order of the registry."""
    return tuple(_entry(statistic) for statistic in STATISTICS)


def markdown() -> str:
    """Return the table as Markdown, for the reference."""
    lines = ["| " + " | ".join(_HEADS) + " |", "|" + "---|" * len(_HEADS)]
    for entry in catalogue():
        example, *rest = (cell.replace("|", "\\|") for cell in entry.cells())
        lines.append("| " + " | ".join([f"`{example}`", *rest]) + " |")
    return "\n".join(lines)


def catalogue_card() -> Card:
    """Return the table as a card, with a short block for each statistic, which reads at any width."""
    entries = catalogue()
    html = frame(
        heading("What can be asked", "found by asking it"),
        *(_block(entry) for entry in entries),
    )
    text = "\n".join(
        f"{cells[0]}  [{cells[2]}]  {cells[3]}" for cells in (entry.cells() for entry in entries)
    )
    record = {"format": 1, "statistics": [dict(zip(_HEADS, entry.cells(), strict=True)) for entry in entries]}
    return Card(html, text, record, "catalogue")


def _block(entry: Entry) -> Markup:
    """What the row of the table says: the question and where it can be asked, what comes of it, who proved it."""
    facts = dict(zip(_HEADS, entry.cells(), strict=True))
    shown = ("released", "intervals", *(("read from it",) if entry.readings else ()))
    return el(
        "div",
        el(
            "div",
            el("h4", code(facts["statistic"], class_="strong")),
            el("small", facts["loss"], " · ", facts["adjacency"]),
            class_="row",
        ),
        el("table", el("tbody", *(_row(name, facts[name]) for name in shown))),
        el("p", facts["status"], ": ", facts["reference"], class_="soft"),
        class_="line",
    )


def _row(name: str, fact: str) -> Markup:
    label = el("th", name, scope="row", class_="soft keep", style="width:6rem;vertical-align:top")
    return el("tr", label, el("td", fact, style="vertical-align:top"))


def _entry(statistic: Statistic) -> Entry:
    """Ask a statistic everywhere, and look at its first answer."""
    found: dict[tuple[str, str], tuple[PricedQuestion, Schema]] = {}
    refused = ""
    for adjacency, unit in _UNITS.items():
        for loss, kind, budget in _BUDGETS:
            schema = _schema(unit, budget)
            try:
                found[adjacency, loss] = (_priced(statistic, schema, kind), schema)
            except DpnbError as refusal:
                refused = refused or str(refusal).partition("\n")[0]
    if not found:
        names = (statistic.name, statistic.title, statistic.name)
        return Entry(*names, (), (), (), (), (), statistic.status, statistic.reference, refused)
    item, schema = next(iter(found.values()))
    return Entry(
        statistic.name,
        statistic.title,
        item.text,
        tuple(dict.fromkeys(adjacency for adjacency, _ in found)),
        tuple(dict.fromkeys(loss for _, loss in found)),
        tuple(dict.fromkeys(row.name for row in item.rows)) or ("nothing: it is public",),
        _intervals(item, schema),
        tuple(f".{name}()" for name in item.checked.readings),
        statistic.status,
        statistic.reference,
    )


def _schema(unit: PrivacyUnit, budget: Mapping[str, float]) -> Schema:
    columns = (
        Column.number("age", 0, 100, step=1),
        Column.number("pay", 0, 10, step=1),
        Column.number("weight", 0, 5, step="0.01").weighing(True),
        Column.category("arm", [0, 1]),
        Column.category("town", ["u", "v", "w"]),
    )
    return Schema("ds", "Example", columns, unit, Budget.from_toml(dict(budget)))


def _priced(statistic: Statistic, schema: Schema, kind: str) -> PricedQuestion:
    """The example of a statistic, priced.

    Raises
    ------
    DpnbError
        The first refusal, where this budget or these columns cannot hold any.
    """
    refused: list[DpnbError] = []
    for asked in _examples(statistic):
        question = Question(schema.name, statistic.name, **asked)
        try:
            return price((Item(question),), _ask(kind), schema).items[0]
        except DpnbError as refusal:
            refused.append(refusal)
    raise refused[0]


def _ask(kind: str) -> Ask:
    return Ask.make(epsilon=1) if kind == "epsilon" else Ask.make(rho=1)


def _examples(statistic: Statistic) -> Iterator[dict[str, Any]]:
    """Ways to ask a statistic, by what it is of; the first that is allowed is its example."""
    age, pay, arm, town = (Ref(name) for name in ("age", "pay", "arm", "town"))
    where = {"where": _grown(age)}
    match statistic.target:
        case "none":
            yield where
        case "weighted":
            yield {"target": age, "other": Ref("weight")}
        case "pair":
            yield {"target": age, "other": pay}
        case "numbers":
            yield {"target": age, "others": (pay,)}
        case "number":
            yield {"target": age, "by": (arm,)} if statistic.arms else {"target": age}
        case "choice":
            yield {"target": town}
        case _:
            yield {"target": age, "options": (("bins", 10),)}
            yield {"target": town, "by": (arm,)} if statistic.spelling.columns == "keys" else {"target": town}
    yield {"target": town}


def _grown(age: Expr) -> Expr:
    return Compare(">=", age, Const(18))


def _intervals(item: PricedQuestion, schema: Schema) -> tuple[str, ...]:
    """Which intervals an answer about made-up rows has."""
    exact: list[Any] = answer(prepare(_rows(), schema), [part.request for part in item.parts])
    bits = SeededBits(1)
    parts = tuple(
        ReleasedPart(part.name, part.mechanism.record, part.mechanism.noised(found, bits), part.name)
        for part, found in zip(item.parts, exact, strict=True)
    )
    made = Release("0" * 32, item.key, "ds", "v1", parts, item.loss)
    outcome = conclude(item.checked, [made])
    kinds = []
    for kind in ("privacy", "confidence"):
        try:
            outcome.interval(0.95, kind)
        except Unavailable:
            continue
        kinds.append(kind)
    return tuple(kinds)


def _rows() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {
        "age": rng.integers(0, 101, _ROWS).astype(float),
        "pay": rng.integers(0, 11, _ROWS).astype(float),
        "weight": rng.integers(0, 501, _ROWS) / 100,
        "arm": rng.integers(0, 2, _ROWS).astype(float),
        "town": rng.choice(np.array(["u", "v", "w"], dtype=object), _ROWS),
    }
