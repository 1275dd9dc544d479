"""The plan card: an itemised price list, what accuracy it buys, and what would be left. It says that nothing was spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from dpnb.cards import budget
from dpnb.cards.card import Card, Record, frame, heading, scrolled
from dpnb.cards.markup import Markup, clean, code, el
from dpnb.cards.payments import price_words
from dpnb.estimate.derived import Outlook
from dpnb.estimate.wording import not_kept
from dpnb.inference import digits
from dpnb.planner.forecast import Forecast, Law, half_widths
from dpnb.planner.price import PricedQuestion
from dpnb.planner.schema_words import cap_words
from dpnb.statistics._base import PriceRow
from dpnb.synthetic.tables import PairTables
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.query.plan import Share


class _Reading(Protocol):
    """What is expected of what is read from moments."""

    @property
    def sentence(self) -> str: ...


class _Tables(Protocol):
    """What is expected of synthetic rows, whose tables are one line."""

    @property
    def asked(self) -> PairTables: ...
    @property
    def places(self) -> tuple[int, ...]: ...
    @property
    def name(self) -> str: ...
    @property
    def cost(self) -> PrivacyLoss: ...
    @property
    def sentence(self) -> str: ...


class _View(Protocol):
    """What is read of a priced batch."""

    @property
    def dataset(self) -> budget.Handle: ...
    @property
    def items(self) -> tuple[PricedQuestion, ...]: ...
    @property
    def stored(self) -> tuple[bool, ...]: ...
    @property
    def held(self) -> tuple[Share | None, ...]: ...
    @property
    def bought_anew(self) -> tuple[int, ...]: ...
    @property
    def cost(self) -> PrivacyLoss: ...
    @property
    def left(self) -> PrivacyLoss: ...
    @property
    def cap(self) -> PrivacyLoss: ...
    @property
    def whose(self) -> str: ...
    @property
    def fits(self) -> bool: ...
    @property
    def dropped(self) -> int: ...
    @property
    def divided(self) -> tuple[str, ...]: ...
    @property
    def prices(self) -> Sequence[tuple[tuple[int, ...], PrivacyLoss]]: ...

    def label(self, place: int) -> str: ...
    def outlook(self) -> Outlook: ...
    def matrix_plans(self) -> Sequence[tuple[str, _Reading]]: ...
    def synthetic_plans(self) -> Sequence[_Tables]: ...


def plan_card(view: _View) -> Card:
    """Return the card of a batch that was priced and not released.

    Parameters
    ----------
    view : PlanView
        Priced questions, which of them are stored, the cost now, and what is left.
    """
    schema = view.dataset.schema
    prices = _prices(view)
    rows = [_row(view, place, prices.get(place, "")) for place in range(len(view.items))]
    derived = _derived(view)
    left, shown = _left(view), _shown(view, rows)
    html = frame(
        heading(f"Plan for {schema.name}", "Nothing was spent.", "paid free"),
        scrolled(_table([*shown, *derived])),
        el(
            "div",
            budget.bar(view.left, view.cap, view.cost if view.fits else None, what="this plan"),
            el(
                "p",
                el("strong", f"This plan costs {view.cost}. "),
                left,
                class_="flag" if not view.fits else None,
            ),
            *(el("p", note, class_="soft") for note in _notes(view)),
            _made(shown),
            class_="foot",
        ),
    )
    text = "\n".join(
        [
            f"plan for {schema.name}: nothing was spent",
            *_text([*shown, *derived]),
            f"costs {view.cost}. {left}",
            *_notes(view),
        ]
    )
    return Card(html, text, _record(view, rows, derived), "plan")


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the price list: a question with its parts, or a derived value, which is free."""

    name: str
    question: str
    expected: str
    cost: str = "free"
    free: bool = True
    estimand: str = ""
    parts: tuple[PriceRow, ...] = ()

    @property
    def title(self) -> str:
        """Its name and its question in one line."""
        return self.name if self.name == self.question else f"{self.name}  {self.question}"


def _prices(view: _View) -> dict[int, str]:
    """What is paid for each question now: a price of several is told once, so that the prices add up to the cost."""
    return {
        place: clean(said)
        for places, loss in view.prices
        for place, said in zip(
            places, price_words([view.label(place) for place in places], loss), strict=True
        )
    }


def _row(view: _View, place: int, price: str) -> _Row:
    item, stored = view.items[place], view.stored[place]
    symbol = view.cost.measure.symbol
    return _Row(
        clean(view.label(place)),
        clean(item.text),
        clean(item.preview.words),
        "public · free" if item.public else f"stored · {symbol} 0" if stored else price or str(item.loss),
        bool(stored) or item.public,
        clean(item.checked.estimand),
        item.rows,
    )


def _shown(view: _View, rows: Sequence[_Row]) -> list[_Row]:
    """The lines of questions, the tables of synthetic rows as one."""
    found: dict[int, _Row | None] = dict(enumerate(rows))
    for one in view.synthetic_plans():
        free = all(rows[place].free for place in one.places)
        cost = rows[one.places[0]].cost if free else str(one.cost)
        found |= dict.fromkeys(one.places)
        found[one.places[0]] = _Row(clean(one.name), clean(one.asked.text), clean(one.sentence), cost, free)
    return [row for row in found.values() if row is not None]


def _left(view: _View) -> str:
    if not view.fits:
        return f"Only {view.left.brief('down')} is left{cap_words(view.whose)}: it would be refused. Ask less, or drop a question."
    return (
        f"{(view.left - view.cost).brief('down')} of {view.cap.brief()} would be left{cap_words(view.whose)}."
    )


def _notes(view: _View) -> list[str]:
    notes = []
    if view.dropped:
        notes.append(not_kept(view.dropped))
    for place in view.bought_anew:
        held, asked = view.held[place], view.items[place].share
        assert held is not None
        assert asked is not None
        symbol = "ε" if held.kind == "epsilon" else "ρ"
        notes.append(
            f"{clean(view.label(place))} was answered before at {symbol} {digits.number(float(held.amount))}. This plan asks "
            f"{symbol} {digits.number(float(asked.amount))} for it: that is more, so it would be bought again in full."
        )
    notes += [clean(sentence) for sentence in view.divided]
    notes += [f"{clean(name)}: expected {clean(one.sentence)}" for name, one in view.matrix_plans()]
    if any(_sizes_unknown(item) for item in view.items):
        notes.append(
            "How many people an answer is about is private here. assume_n=1000 plans with a number that you expect; "
            "once a count or mean of the same people is released, that is used."
        )
    return notes


def _sizes_unknown(item: PricedQuestion) -> bool:
    """Whether the ± of a question is told for two numbers of people, since nothing tells how many count."""
    return not item.public and item.preview.half_width is None and item.checked.kind.foretold


def _derived(view: _View) -> list[_Row]:
    """The derived values: their expression, and what is known of their ±."""
    told = view.outlook()
    labels = [view.label(place) for place in range(len(view.items))]
    names = labels + [one.text for one in told.questions[len(labels) :]]
    return [
        _Row(clean(name), clean(one.text), derived_words(forecast, told.laws, told.widths, names))
        for name, one, forecast in zip(told.names, told.estimates, told.forecasts, strict=True)
    ]


def derived_words(
    forecast: Forecast,
    laws: Sequence[Law | None],
    widths: Sequence[float | None],
    names: Sequence[str],
) -> str:
    """Say what is known of the ± of a derived value.

    Parameters
    ----------
    forecast : Forecast
    laws, widths, names : sequences
        Of each question: the law of its noise, its 95 % radius, and what it is called.
    """
    if forecast.kind == "none":
        return forecast.why
    found = _half_widths_in_words(forecast, laws, widths, names)
    return f"{found}, {forecast.given}" if forecast.given else found


def _half_widths_in_words(
    forecast: Forecast, laws: Sequence[Law | None], widths: Sequence[float | None], names: Sequence[str]
) -> str:
    middle, worst = half_widths(forecast, laws, widths)
    most = "" if worst is None else f"± {digits.number(worst, digits.decimals_for([worst]))}"
    if forecast.kind == "sum":
        return f"at most {most} each" if forecast.each else most
    about = f"± {digits.number(middle, digits.decimals_for([middle]))}" if middle is not None else ""
    if forecast.kind == "one":
        name = clean(names[forecast.of])
        return f"{about} if {name} is {digits.number(forecast.centre)}, at most {most}"
    bound = f", at most about {most}" if most else f"; {forecast.why}"
    return f"about {about} in the middle of the ranges{bound}"


def _record(view: _View, rows: Sequence[_Row], derived: Sequence[_Row]) -> Record:
    items = [
        {
            "name": row.name,
            "question": row.question,
            "estimand": row.estimand,
            "expected": row.expected,
            "half_width": item.preview.half_width,
            "cost": row.cost,
            "stored": bool(stored),
            "public": item.public,
            "loss": item.loss.to_json(),
            "parts": [{**asdict(part), "name": clean(part.name)} for part in row.parts],
        }
        for row, item, stored in zip(rows, view.items, view.stored, strict=True)
    ]
    return {
        "format": 1,
        "dataset": view.dataset.schema.name,
        "cost": view.cost.to_json(),
        "left": view.left.to_json(),
        "cap": view.cap.to_json(),
        "whose": view.whose,
        "fits": view.fits,
        "dropped": view.dropped,
        "items": items,
        "derived": [
            {"name": row.name, "question": row.question, "expected": row.expected} for row in derived
        ],
    }


def _table(rows: Sequence[_Row]) -> Markup:
    head = el(
        "thead",
        el(
            "tr",
            el("th", "question", scope="col"),
            el("th", "expected accuracy (95 %)", scope="col"),
            el("th", "cost", scope="col", class_="num"),
        ),
    )
    return el("table", head, *map(_item, rows), class_="plan")


def _item(row: _Row) -> Markup:
    same = row.name == row.question
    first = el(
        "tr",
        el(
            "th",
            el("span", row.name, class_="strong"),
            None if same else Markup("<br>"),
            None if same else code(row.question),
            scope="row",
        ),
        el("td", row.expected),
        el("td", row.cost, class_="num paid free" if row.free else "num paid"),
    )
    return el("tbody", first, class_="item")


def _made(rows: Sequence[_Row]) -> Markup | None:
    """How the numbers would be made: what is estimated, and the noise of each measurement; on demand."""
    said = [
        el("p", el("strong", row.name), " ", words)
        for row in rows
        for words in (
            *([f"estimates the {row.estimand}"] if row.estimand else []),
            *(
                f"{clean(one.name)}: {one.mechanism}, {one.scale}; {one.sensitivity}; {one.cost}"
                for one in row.parts
            ),
        )
    ]
    return el("details", el("summary", "How it would be made"), *said, class_="made soft") if said else None


def _text(rows: Sequence[_Row]) -> list[str]:
    lines = []
    for row in rows:
        lines.append(f"  {row.title}  [{row.cost}]  {row.expected}")
        lines += [f"      estimates the {row.estimand}"] if row.estimand else []
        lines += [
            f"      {clean(part.name)}: {part.mechanism}, {part.scale}; {part.sensitivity}; {part.cost}"
            for part in row.parts
        ]
    return lines
