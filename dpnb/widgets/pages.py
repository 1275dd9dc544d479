"""One self-contained page of interactions: scripts, styles and facts in the file, nothing asked of any network.

What the browser computes by itself still drags there; there is no kernel behind it, and the page says so.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

from dpnb.cards.markup import Markup, el
from dpnb.errors import PlanError
from dpnb.widgets._base import Interaction, source

__all__ = ["page"]

_SCRIPT = """
for (const place of document.querySelectorAll("[data-dpnb]")) {
  const kept = JSON.parse(place.querySelector("script").textContent);
  const heard = new Map();
  const model = {
    get: name => kept[name],
    set: (name, value) => { kept[name] = value; for (const f of heard.get("change:" + name) ?? []) f(); },
    on: (name, f) => heard.set(name, [...(heard.get(name) ?? []), f]),
    off: () => undefined,
    save_changes: () => undefined,
  };
  const module = await import("data:text/javascript;base64," + MODULES[place.dataset.dpnb]);
  const still = place.querySelector(".still");
  module.default.render({ model, el: place });
  still.remove();
}
"""

_STYLE = "body{margin:0 auto;max-width:56rem;padding:1rem;background:Canvas;color:CanvasText;color-scheme:light dark}[data-dpnb]{margin-bottom:2rem}"


def page(interactions: Iterable[Interaction], title: str = "dpnb") -> str:
    """Return the page.

    Parameters
    ----------
    interactions : iterable of Interaction
        In their order on the page.
    title : str
        Of the page.

    Raises
    ------
    PlanError
        Where the front end is not built, or something else than an interaction is given.
    """
    found = list(interactions)
    if any(not isinstance(one, Interaction) for one in found):
        raise PlanError("A page is made of interactions: page([dpnb.widgets.odds()]).")
    modules = {one.module: source(f"{one.module}.js") for one in found}
    if None in modules.values():
        raise PlanError("The front end of dpnb is not built here: install a wheel, or build it with Node.js.")
    style = Markup("<style>" + _STYLE + (source("widget.css") or "") + "</style>")
    coded = {name: base64.b64encode(str(text).encode()).decode("ascii") for name, text in modules.items()}
    script = Markup(f'<script type="module">const MODULES = {json.dumps(coded)};{_SCRIPT}</script>')
    head = el("head", Markup('<meta charset="utf-8">'), _VIEWPORT, el("title", title), style)
    body = el("body", el("main", *map(_place, found)), script)
    return "<!doctype html>\n" + el("html", head, body, lang="en")


_VIEWPORT = Markup('<meta name="viewport" content="width=device-width,initial-scale=1">')


def _place(one: Interaction) -> Markup:
    kept: dict[str, Any] = {"facts": one.facts, "chosen": one.chosen}
    data = json.dumps(kept, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    script = Markup(f'<script type="application/json">{data}</script>')
    return el("section", script, el("div", Markup(one.card().html), class_="still"), data_dpnb=one.module)
