"""What a card is: one thing said in three forms, for whoever displays it.

HTML, with its drawings (which still reads when a sanitiser has removed styles, drawings and scripts), text for a terminal
and for print, and strict JSON. There is no picture beside them: every host that could show one shows the HTML, a saved notebook would be
a quarter larger, and LaTeX takes a picture before the text, but an SVG only where Inkscape is installed.

One style sheet for all cards: JupyterLab's colours where they are defined, the system's light and dark elsewhere. One accent colour,
which belongs to privacy: what the noise hides, and what was spent. Meaning is never colour alone. Nothing is loaded from anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpnb.cards.markup import Markup, el

LEVEL = 0.95
"""The level of all intervals that a card shows."""
Record = dict[str, object]
"""Facts in JSON's own types."""


@dataclass(frozen=True, slots=True)
class Card:
    """One card.

    Parameters
    ----------
    html : str
        A fragment with its own style sheet and no external resource.
    text : str
        For a terminal.
    json : dict
        The facts, in JSON's own types.
    kind : str
        What it is about; the JSON says so too.
    """

    html: str
    text: str
    json: Record
    kind: str

    @property
    def mime(self) -> str:
        """The MIME type of the JSON form; a release and one estimate of it share theirs."""
        return f"application/vnd.dpnb.{'release' if self.kind == 'estimate' else self.kind}+json"

    def bundle(self) -> Record:
        """Return the MIME bundle: every form, so that a saved notebook is never blank."""
        return {
            "text/html": str(self.html),
            "text/plain": self.text,
            self.mime: {"kind": self.kind, **self.json},
        }

    def _repr_mimebundle_(self, **_: object) -> Record:
        return self.bundle()

    def __str__(self) -> str:
        return self.text


def frame(*children: object) -> Markup:
    """Return a card's HTML: its parts under the one style sheet."""
    return el("div", STYLE, *children, class_="dpnb")


def heading(title: object, said: object = None, look: str = "soft") -> Markup:
    """Return the first line of a card: its title, and what must be seen beside it."""
    beside = None if said is None else el("span", said, class_=look)
    return el("div", title if isinstance(title, Markup) else el("h3", title), beside, class_="head")


def scrolled(table: object) -> Markup:
    """Return a table that scrolls by itself where it is wider than the page."""
    return el("div", table, class_="scroll", tabindex="0", role="group", aria_label="table")


# ---------------------------------------------------------------- the style sheet

TOKENS_LIGHT = "--dp-ink:#1c1d21;--dp-soft:#5b5e66;--dp-hair:#dcdde2;--dp-fill:#e9eaee;--dp-accent:#0a6480;--dp-warn:#8a4600;"
TOKENS_DARK = "--dp-ink:#ececf0;--dp-soft:#a6a9b3;--dp-hair:#3c3e46;--dp-fill:#32343b;--dp-accent:#62c3de;--dp-warn:#f0b26a;"

SIZES = "--t1:13px;--t2:15px;--t3:18px;--t4:28px;--s1:4px;--s2:8px;--s3:16px;--s4:24px;--s5:40px;"
"""The sizes of letters, and of room around things: no rule of a card, nor of what can be dragged, names another."""

_RULES = """
.dpnb{@light}
@media (prefers-color-scheme:dark){.dpnb{@dark}}
[data-jp-theme-light="true"] .dpnb,.vscode-light .dpnb{@light}
[data-jp-theme-light="false"] .dpnb,.vscode-dark .dpnb{@dark}
.dpnb{@sizes--ink:var(--jp-content-font-color1,var(--vscode-foreground,var(--dp-ink)));
--soft:var(--jp-content-font-color2,var(--dp-soft));--hair:var(--jp-border-color2,var(--dp-hair));
color:var(--ink);font:var(--t2)/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;
font-variant-numeric:tabular-nums;max-width:54rem;padding:var(--s1) 0 var(--s2);container-type:inline-size;text-align:left}
§ p,§ h3,§ h4,§ table,§ ul{margin:0;padding:0;color:inherit}
§ h3{font-size:var(--t3);font-weight:600;line-height:1.35;letter-spacing:0}
§ h4{font-size:var(--t2);font-weight:600;line-height:1.4}
§ code{font:var(--t1)/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--soft);background:none;
border:0;padding:0;overflow-wrap:break-word;white-space:normal}
§ .head,§ .row{display:flex;flex-wrap:wrap;gap:var(--s1) var(--s4);align-items:baseline;justify-content:space-between}
§ .head{padding-bottom:var(--s2);border-bottom:1px solid var(--hair)}
§ strong{font-weight:600}
§ .soft,§ small{color:var(--soft);font-size:var(--t1);font-weight:400}
§ .paid{color:var(--accent-text,var(--dp-accent));font-size:var(--t1);font-weight:600;white-space:nowrap}
§ .free{color:var(--soft);font-weight:400}
§ .row{position:relative}
§ details.stored > summary{cursor:pointer;list-style:none}
§ details.stored > summary::-webkit-details-marker{display:none}
§ details.stored > summary::after{content:" ▾";content:" ▾" / ""}
§ details.stored[open]{flex-basis:100%}
§ details.stored[open] > summary{position:absolute;top:0;right:0}
§ details.stored th{color:var(--soft);white-space:nowrap;vertical-align:baseline}
§ .badge{color:var(--dp-accent);font-size:var(--t1);font-weight:600;letter-spacing:.07em}
§ .line{padding:var(--s3) 0 var(--s1)}
§ .line + .line{margin-top:var(--s2);border-top:1px solid var(--hair)}
§ .line.joint{border-left:3px solid var(--dp-accent);padding-left:var(--s3)}§ .line.joint + .line.joint{margin-top:0}
§ .line.figure{margin:0;border:0;padding:0}
§ .value{font-size:var(--t4);font-weight:600;line-height:1.25;letter-spacing:-.01em}
§ .value small{margin-left:var(--s2);letter-spacing:0}
§ .anon{font-weight:400;color:var(--soft)}
§ .flag{color:var(--dp-warn);font-size:var(--t1)}
§ .foot{margin-top:var(--s3);padding-top:var(--s2);border-top:1px solid var(--hair)}
§ .scroll{overflow-x:auto;max-width:100%}
§ table{border-collapse:collapse;border:0;width:100%;margin:var(--s1) 0;table-layout:auto;font-size:var(--t1);line-height:1.45}
§ tr,§ tr:nth-child(odd),§ tr:nth-child(even),§ tr:hover{background:none;border:0}
§ th,§ td{border:0;padding:var(--s1) var(--s3) var(--s1) 0;text-align:left;vertical-align:middle;max-width:none;white-space:normal;font-weight:400}
§ th:last-child,§ td:last-child{padding-right:0}
§ thead th{color:var(--soft);font-size:var(--t1);vertical-align:bottom;border-bottom:1px solid var(--hair);white-space:nowrap}
§ .num{text-align:right;white-space:nowrap}
§ .keep{white-space:nowrap}
§ .strong{font-weight:600}
§ .intervals th{width:9.2rem;color:var(--soft);font-size:var(--t1);white-space:nowrap}
§ .intervals td.num{width:9.5rem}
§ .intervals td.track{padding-right:var(--s4)}
§ .rows td.track{width:34%;min-width:7rem}
§ svg{display:block;width:100%;overflow:visible;margin:0;max-width:none}
§ .pv{fill:var(--dp-accent)}
§ .dot{fill:var(--ink)}
§ .cf{stroke:var(--ink);stroke-width:1.5;fill:none}
§ .axis{stroke:var(--hair);stroke-width:1}
§ .er{stroke:var(--dp-accent);stroke-width:3.5;fill:none}
§ svg svg *{vector-effect:non-scaling-stroke}
§ .tick{fill:var(--soft);font-size:var(--t1)}
§ tr.scale td{padding-top:0;padding-bottom:0;line-height:1}
§ .select .tick:not(:first-of-type,:last-of-type){display:none}
§ .drawn th{width:1%;white-space:nowrap}§ .drawn td.num{width:1%}
§ details > summary{cursor:pointer}
§ .made p,§ .numbers > div{margin-top:var(--s1)}
§ .heat td{text-align:right}
§ .room{fill:var(--dp-fill)}
§ .used{fill:var(--dp-soft)}
§ .bar{margin:var(--s1) 0 var(--s1)}
§ .slim{width:auto}
§ .slim td,§ .slim th{padding-right:var(--s4)}
§ .sub td,§ .sub th{color:var(--soft);font-size:var(--t1);padding-top:0}
§ .sub td:first-child{padding-left:var(--s4)}
§ .plan .sub .num{white-space:normal}
§ .plan tbody.item > tr:first-child > *{padding-top:var(--s2)}
§ .row > .asked{flex:1 1 0;min-width:0}
§ .asked{display:flex;flex-wrap:wrap;gap:0 var(--s3);align-items:baseline}
@container (min-width:46rem){§ .answer{display:grid;grid-template-columns:15rem minmax(0,1fr);gap:0 var(--s4);align-items:start}
§ .answer .value small{display:block;margin:0;line-height:1.4}§ .answer .intervals{margin:0}}
@container (max-width:46rem){§ .scroll :is(.num,thead th){white-space:normal}§ .rows td.track{min-width:5rem}
§ :is(svg[viewBox^="0 0 640"],svg[viewBox^="0 0 560"]) text{font-size:var(--t2)}
§ .rows .scale .tick:not(:first-of-type,:last-of-type){display:none}}
@container (max-width:34rem){§ .plan thead,§ .cols thead{display:none}
§ .plan,§ .cols{display:block}§ .plan tbody,§ .cols tbody{display:block}
§ .plan tr,§ .cols tr{display:grid;grid-template-columns:1fr auto;column-gap:var(--s3);padding:var(--s1) 0}
§ .plan tr.sub{grid-template-columns:1fr fit-content(62%)}§ .plan td[colspan]{grid-column:1/-1}
§ .plan td:nth-child(2),§ .cols td:nth-child(2),§ .cols td:nth-child(4){grid-column:1/-1;order:3}
§ .cols td:nth-child(4){color:var(--soft)}§ .cols td:nth-child(4)::before{content:"missing: "}
§ .cols td:nth-child(3){text-align:right}
§ .wide,§ .select .track{display:none}§ :is(svg[viewBox^="0 0 640"],svg[viewBox^="0 0 560"]) text{font-size:calc(1.7*var(--t1))}
§ .intervals,§ .intervals tbody{display:block}§ .intervals tr{display:grid;grid-template-columns:1fr auto}
§ .intervals td.track{grid-column:1/-1;order:3;padding-right:var(--s2)}§ .intervals tr.scale td:not(.track){display:none}
§ .intervals th{width:auto}§ .intervals td.num{width:auto;text-align:right}§ .rows td.track{min-width:4rem;width:26%}
§ th,§ td{padding-right:var(--s2)}§ .line.joint{border-left:3px solid var(--dp-accent);padding-left:var(--s3)}§ .line.joint + .line.joint{margin-top:0}
§ .value{font-size:var(--t4)}}
@media print{.dpnb{@light}}
"""


def _sheet() -> Markup:
    text = (
        _RULES.replace("@light", TOKENS_LIGHT)
        .replace("@dark", TOKENS_DARK)
        .replace("@sizes", SIZES)
        .replace("§", ".dpnb.dpnb.dpnb")
    )
    return Markup("<style>" + text.replace("\n", "") + "</style>")


#: The style element that every card carries.
STYLE = _sheet()
