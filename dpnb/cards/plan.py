"""The plan card: an itemised price list, what accuracy it buys, and what would be left. It says that nothing was spent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpnb.cards import budget
from dpnb.cards.card import Card, frame
from dpnb.cards.markup import Markup, clean, code, el
from dpnb.estimate.wording import not_kept
from dpnb.inference import digits
from dpnb.planner.forecast import Forecast, Law, half_widths
from dpnb.planner.schema_words import cap_words


def plan_card(view: Any) -> Card:
    """Return the card of a batch that was priced and not released.

    Parameters
    ----------
    view : PlanView
        Priced questions, which of them are stored, the cost now, and what is left.
    """
    schema = view.dataset.schema
    rows, derived = _rows(view), _derived(view)
    left = _left(view)
    html = frame(
        el(
            "div",
            el("h3", f"Plan for {schema.name}"),
            el("span", "Nothing was spent.", class_="paid free"),
            class_="head",
        ),
        el("div", _table(rows, derived), class_="scroll", tabindex="0", role="group", aria_label="table"),
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
            class_="foot",
        ),
    )
    text = "\n".join(
        [
            f"plan for {schema.name}: nothing was spent",
            *_text(rows, derived),
            f"costs {view.cost}. {left}",
            *_notes(view),
        ]
    )
    return Card(html, text, _record(view, rows, derived), "plan")


def _rows(view: Any) -> list[dict[str, Any]]:
    rows = []
    for place, item in enumerate(view.items):
        stored = bool(view.stored[place])
        symbol = view.cost.measure.symbol
        cost = "public · free" if item.public else f"stored · {symbol} 0" if stored else str(item.loss)
        rows.append(
            {
                "name": clean(view.label(place)),
                "question": clean(item.text),
                "estimand": clean(item.checked.estimand),
                "expected": clean(item.preview.words),
                "half_width": item.preview.half_width,
                "cost": cost,
                "stored": stored,
                "public": item.public,
                "loss": item.loss.to_json(),
                "parts": [
                    {
                        "name": clean(row.name),
                        "mechanism": row.mechanism,
                        "sensitivity": row.sensitivity,
                        "scale": row.scale,
                        "cost": row.cost,
                    }
                    for row in item.rows
                ],
            }
        )
    return rows


def _left(view: Any) -> str:
    if not view.fits:
        return f"Only {view.left.brief('down')} is left{cap_words(view.whose)}: it would be refused. Ask less, or drop a question."
    return (
        f"{(view.left - view.cost).brief('down')} of {view.cap.brief()} would be left{cap_words(view.whose)}."
    )


def _notes(view: Any) -> list[str]:
    notes = []
    if view.dropped:
        notes.append(not_kept(view.dropped))
    for place in view.bought_anew:
        held, item = view.held[place], view.items[place]
        symbol = "ε" if held.kind == "epsilon" else "ρ"
        notes.append(
            f"{clean(view.label(place))} was answered before at {symbol} {digits.number(float(held.amount))}. This plan asks "
            f"{symbol} {digits.number(float(item.share.amount))} of it, more than that: it would be bought anew, in full."
        )
    notes += [clean(sentence) for sentence in view.divided]
    notes += [f"{clean(name)}: expected {clean(one.sentence)}" for name, one in view.matrix_plans()]
    if any("more if fewer do" in item.preview.words for item in view.items):
        notes.append(
            "How many people an answer is about is private here. assume_n=1000 plans with a number that you expect; "
            "once a count or mean of the same people is released, that is used."
        )
    return notes


def _derived(view: Any) -> list[dict[str, str]]:
    """The derived values: their expression, and what is known of their ±."""
    told = view.outlook()
    labels = [view.label(place) for place in range(len(view.items))]
    names = labels + [one.text for one in told.questions[len(labels) :]]
    return [
        {
            "name": clean(name),
            "question": clean(one.text),
            "expected": derived_words(forecast, told.laws, told.widths, names),
        }
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


def _record(view: Any, rows: list[dict[str, Any]], derived: list[dict[str, str]]) -> dict[str, Any]:
    return {
        "format": 1,
        "dataset": view.dataset.schema.name,
        "cost": view.cost.to_json(),
        "left": view.left.to_json(),
        "cap": view.cap.to_json(),
        "whose": view.whose,
        "fits": view.fits,
        "dropped": view.dropped,
        "items": rows,
        "derived": derived,
    }


def _table(rows: list[dict[str, Any]], derived: list[dict[str, str]]) -> Markup:
    head = el(
        "thead",
        el(
            "tr",
            el("th", "question", scope="col"),
            el("th", "expected accuracy (95 %)", scope="col"),
            el("th", "cost", scope="col", class_="num"),
        ),
    )
    free = (_item({**row, "cost": "free", "stored": False, "public": True, "parts": []}) for row in derived)
    return el("table", head, *(_item(row) for row in rows), *free, class_="plan")


def _item(row: dict[str, Any]) -> Markup:
    same = row["name"] == row["question"]
    title = el("span", row["name"], class_="strong")
    question = None if same else code(row["question"])
    free = row["stored"] or row["public"]
    first = el(
        "tr",
        el("th", title, None if same else Markup("<br>"), question, scope="row"),
        el("td", row["expected"]),
        el("td", row["cost"], class_="num paid free" if free else "num paid"),
    )
    estimates = (
        [el("tr", el("td", f"estimates the {said}", colspan="3"), class_="sub")]
        if (said := row.get("estimand"))
        else []
    )
    parts = [
        el(
            "tr",
            el("td", part["name"]),
            el("td", f"{part['mechanism']}, {part['scale']}; {part['sensitivity']}"),
            el("td", part["cost"], class_="num"),
            class_="sub",
        )
        for part in row["parts"]
    ]
    return el("tbody", first, *estimates, *parts, class_="item")


def _text(rows: list[dict[str, Any]], derived: list[dict[str, str]]) -> list[str]:
    lines = []
    for row in rows:
        title = row["name"] if row["name"] == row["question"] else f"{row['name']}  {row['question']}"
        lines.append(f"  {title}  [{row['cost']}]  {row['expected']}")
        lines += [f"      estimates the {said}"] if (said := row.get("estimand")) else []
        lines += [
            f"      {part['name']}: {part['mechanism']}, {part['scale']}; {part['sensitivity']}; {part['cost']}"
            for part in row["parts"]
        ]
    return lines + [f"  {row['name']}  {row['question']}  [free]  {row['expected']}" for row in derived]
