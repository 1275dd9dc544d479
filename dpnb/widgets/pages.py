"""One self-contained page of interactions: scripts, styles and facts in the file, nothing asked of any network.

What the browser computes by itself still drags there; there is no kernel behind it, and the page says so. Its policy lets it
run this one script, and ask nobody for anything.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from dpnb.cards.markup import Markup, el
from dpnb.cards.report import PAGE_STYLE, Report, document
from dpnb.client import api
from dpnb.errors import DpnbError, PlanError
from dpnb.estimate import Estimate
from dpnb.widgets import _base
from dpnb.widgets._base import Interaction, built, shown
from dpnb.widgets.kinds.remeasure import Remeasure
from dpnb.widgets.registry import Facts

_SCRIPT = """
const opened = arrays => Object.fromEntries(Object.entries(arrays ?? {}).map(
  ([name, text]) => [name, new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer)]));
for (const place of document.querySelectorAll("[data-dpnb]")) {
  const kept = JSON.parse(place.querySelector("script").textContent);
  kept.arrays = opened(kept.arrays);
  const heard = new Map();
  const model = {
    get: name => kept[name],
    set: (name, value) => { kept[name] = value; for (const f of heard.get("change:" + name) ?? []) f(); },
    on: (name, f) => heard.set(name, [...(heard.get(name) ?? []), f]),
    off: () => undefined,
    save_changes: () => undefined,
  };
  const still = place.querySelector(".still");
  VIEWS[place.dataset.dpnb].render({ model, el: place });
  still.remove();
}
"""

_STYLE = (
    "main{max-width:56rem;margin:0 auto}[data-dpnb]{margin:0 0 2rem}.dpnb-none{opacity:.8;font-size:13px}"
    "h2.dpnb-h{font-size:17px;margin:2.4rem 0 .8rem;font-weight:650}"
)
_KERNEL = (
    "This page has no kernel. You can still drag what the browser computes by itself; that spends nothing. "
    "what only a kernel can compute stays as it was."
)


def page(interactions: Iterable[Interaction], title: str = "dpnb", *, report: Report | None = None) -> str:
    """Return the page.

    Parameters
    ----------
    interactions : iterable of Interaction
        In their order on the page.
    title : str
        Of the page.
    report : Report, optional
        Released results, put in front.

    Raises
    ------
    PlanError
        If something other than an interaction is given, or if the front end is not built and there is no report.
    """
    found = list(interactions)
    if any(not isinstance(one, Interaction) for one in found):
        raise PlanError("A page is made of interactions: page([dpnb.widgets.odds()]).")
    views = {one.module: _base.source(f"{one.module}.js") for one in found}
    if None in views.values():
        if report is None:
            raise PlanError(
                "The front end of dpnb is not built here: install a wheel, or build it with Node.js."
            )
        views = {}
    body = el(
        "main",
        el("p", _KERNEL, class_="dpnb-none") if found else None,
        None if report is None else report.body,
        el("h2", "Interactions", class_="dpnb-h") if found and report is not None else None,
        *(_place(one) for one in found),
    )
    style = PAGE_STYLE + _STYLE + (_base.source("widget.css") or "")
    return document(title, body, style=style, script=_script(views) if views else "")


def _script(views: Mapping[str, str | None]) -> str:
    """Return the page's one script: the built views, each a function that gives its module, and what draws with them."""
    made = ",\n".join(
        f"{json.dumps(name)}: (() => {{\n{text}\nreturn dpnbView.default;\n}})()"
        for name, text in views.items()
    )
    script = f'"use strict";\nconst VIEWS = {{\n{made}\n}};{_SCRIPT}'
    assert not re.search(r"</script|<!--", script, re.IGNORECASE), "a built view would end its own script"
    return script


def session_page(estimates: Mapping[str, Estimate], title: str = "dpnb") -> tuple[str, int]:
    """Return the page of a session: its named releases, and every interaction that it shows; and how many those are.

    Parameters
    ----------
    estimates : mapping of str to Estimate
        Released, by name.
    title : str
        Of the page, where nothing is released.
    """
    found = [one for one in shown() if _stands(one)]
    if not estimates:
        return page(found, title), len(found)
    report = api.report(dict(estimates))
    forecasts = [*_forecasts(estimates)]
    drawn = [one for one in found if one.module != "remeasure"]
    return page([*forecasts, *drawn], f"{title}: {', '.join(estimates)}", report=report), len(found)


def _stands(one: Interaction) -> bool:
    """Whether an interaction can still be drawn; one whose dataset was closed is left out."""
    with suppress(DpnbError):
        one.complete()
        one.card()
        return True
    return False


def _forecasts(estimates: Mapping[str, Estimate]) -> Iterator[Interaction]:
    """Yield what paying more would buy, of every release that is one number: the ε thumb of its card, on the page."""
    if not built():
        return
    for name, estimate in estimates.items():
        with suppress(DpnbError):
            yield Remeasure(estimate, name=name)


def texts(arrays: Mapping[str, bytes]) -> dict[str, str]:
    """Return arrays of bytes as texts, for a page that is one file."""
    return {name: base64.b64encode(value).decode() for name, value in arrays.items()}


def _place(one: Interaction) -> Markup:
    one.complete()
    kept: Facts = {"facts": one.facts, "chosen": one.chosen, "arrays": texts(one.arrays)}
    data = json.dumps(kept, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    script = Markup(f'<script type="application/json">{data}</script>')
    return el("section", script, el("div", Markup(one.card().html), class_="still"), data_dpnb=one.module)
