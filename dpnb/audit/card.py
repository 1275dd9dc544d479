"""The card of a verdict, in the style of all cards: the finding first, then what it rests on."""

from __future__ import annotations

from dpnb.audit.verdict import Verdict, chance
from dpnb.cards.card import Card, frame
from dpnb.cards.markup import Markup, el
from dpnb.inference.digits import loss_figure


def verdict_card(verdict: Verdict) -> Card:
    """Return the card of a verdict.

    Parameters
    ----------
    verdict : Verdict
    """
    html = frame(
        el("div", el("h3", "Privacy audit"), el("span", _mark(verdict), class_="badge"), class_="head"),
        el("p", el("strong", verdict.headline, class_=None if verdict.passes else "flag")),
        el(
            "table",
            *(
                el("tr", el("th", name, scope="row", class_="keep"), el("td", said))
                for name, said in verdict.rows()
            ),
            class_="slim",
        ),
        _scale(verdict) if verdict.has_event else None,
    )
    return Card(html, verdict.text, verdict.to_json(), "audit")


def _mark(verdict: Verdict) -> str:
    if verdict.breaks:
        return "claim broken"
    if not verdict.passes:
        return "not the expected noise" if not verdict.repeats else "fixed seed"
    return "exact" if verdict.exact else "lower bound"


def _scale(verdict: Verdict) -> Markup:
    """Both probabilities as bars: what the neighbour may differ by, made visible."""
    words = (
        f"the event has probability {chance(verdict.likely.probability)} under A "
        f"and {chance(verdict.unlikely.probability)} under B: {verdict.symbol} {loss_figure(verdict.loss)}"
    )
    return el(
        "svg",
        el("title", "probability of the event under each neighbour"),
        el("desc", words),
        *_bar(verdict.likely.probability, 0, "pv"),
        *_bar(verdict.unlikely.probability, 12, "used"),
        height="20",
        role="img",
        aria_label=words,
    )


def _bar(share: float, top: int, name: str) -> list[Markup]:
    width = f"{100 * min(max(share, 0.0), 1.0):.2f}%"
    return [
        el("rect", x="0", y=str(top), width="100%", height="8", class_="room"),
        el("rect", x="0", y=str(top), width=width, height="8", class_=name),
    ]
