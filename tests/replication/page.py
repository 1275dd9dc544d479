"""The page: the table and the figures in one self-contained HTML file."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from dpnb.cards.markup import Markup, el
from dpnb.cards.report import document
from tests.replication.canvas import Drawn
from tests.replication.row import COLUMNS, UNTOLD, Row, cells

NOT_REPRODUCED: Mapping[str, str] = MappingProxyType(
    {
        "000 Figs 1, 5, 9": "Fig 1 is a sketch without a scale, Fig 5 is drawn as the partition; the densities of Fig 9 are not drawn yet",
        "004 Fig 8": "the survey of 33 states is not ours to pass on; a made-up study of 33 sites stands in dpnb, and is not drawn here yet",
        "004 Figs 11, 12, 13": "Algorithm 3 trims rows by local sensitivities and is not private; clipping is shown instead, without a number",
    }
)
"""What was published and is not repeated, and why."""
_STYLE = """
:root{color-scheme:light}
body{margin:0 auto;max-width:66rem;padding:2.2rem 1.4rem 4rem;font:15px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
color:#1c1d21;background:#fff;font-variant-numeric:tabular-nums}
h1{font-size:26px;line-height:1.25;margin:0 0 .4rem;font-weight:650}
h2{font-size:18px;margin:2.6rem 0 .5rem;font-weight:650}
p.lead{max-width:46rem;margin:.3rem 0;color:#3c3e46}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:13px;line-height:1.45}
th,td{padding:.34rem .8rem .34rem 0;text-align:left;vertical-align:top;font-weight:400}
thead th{color:#5b5e66;font-size:12px;border-bottom:1px solid #dcdde2;white-space:nowrap}
tbody tr.first>*{border-top:1px solid #eeeff2}
tr.note td{color:#5b5e66;font-size:12.5px;padding-top:0}
td.num{white-space:nowrap}
td.agrees{color:#0a6480}
td.differs{color:#8a4600;font-weight:600}
td.alone,td.untold{color:#5b5e66}
figure{margin:1.6rem 0 2.4rem}
figure img{max-width:100%;height:auto;display:block}
figcaption{max-width:46rem;font-size:13.5px;color:#3c3e46;margin-top:.4rem}
figcaption b{color:#1c1d21;font-weight:600}
@media (max-width:40rem){th,td{padding-right:.5rem}}
"""
_CLASSES = {"agrees": "agrees", "differs": "differs", UNTOLD: "untold", "ours alone": "alone"}
_HOW = (
    "Every number called ours was computed for this page, with the standard error of its simulation. A row agrees when ours "
    "lies within the rounding of what was printed, three standard errors allowed; where these are wider than the rounding, there are "
    "not enough simulations to tell. A row that differs says why."
)
_WHO = (
    "000: Brawner and Honaker 2018. 001: Mount and Zumel. 002: notes on Wasserman and Zhou 2010. 003: an illustrated primer. "
    "004: D’Orazio, Honaker and King 2015. A figure has the number of the published one that it repeats, or none. Assumptions "
    "that print leaves open are named."
)


def html_page(rows: Sequence[Row], drawn: Sequence[Drawn]) -> str:
    """Return the whole page; it asks nothing of the network."""
    title = "Published, and recomputed"
    counts = {
        verdict: sum(row.verdict == verdict for row in rows)
        for verdict in ("agrees", "differs", UNTOLD, "ours alone")
    }
    body = el(
        "main",
        el("h1", title),
        el("p", _HOW, class_="lead"),
        el("p", _WHO, class_="lead"),
        el("p", _tally(counts), class_="lead"),
        el("h2", "Table"),
        el("div", _table(rows), class_="scroll", tabindex="0", role="group", aria_label="table"),
        el("h2", "Not repeated"),
        el("div", _missing(), class_="scroll", tabindex="0", role="group", aria_label="not repeated"),
        el("h2", "Figures"),
        *(_figure(one) for one in drawn),
    )
    return document(title, body, style=_STYLE)


def _tally(counts: Mapping[str, int]) -> str:
    untold = f"in {counts[UNTOLD]} there are not enough simulations to tell, " if counts[UNTOLD] else ""
    return (
        f"{counts['agrees']} rows agree, {counts['differs']} differ, {untold}and {counts['ours alone']} have nothing in print to "
        "be set beside."
    )


def _missing() -> Markup:
    """What was published and is missing here, each with its reason."""
    lines = (
        el("tr", el("th", name, scope="row"), el("td", f"{reason}."), class_="first")
        for name, reason in NOT_REPRODUCED.items()
    )
    return el("table", _head("in print", "why it is not repeated"), el("tbody", *lines))


def _table(rows: Sequence[Row]) -> Markup:
    return el("table", _head(*COLUMNS), el("tbody", *(part for row in rows for part in _row(row))))


def _head(*names: str) -> Markup:
    return el("thead", el("tr", *(el("th", name, scope="col") for name in names)))


def _row(row: Row) -> list[Markup]:
    source, *texts = cells(row)
    classes = (None, None, "num", "num", _CLASSES[row.verdict])
    rest = (el("td", text, class_=kind) for text, kind in zip(texts, classes, strict=True))
    line = el("tr", el("th", source, scope="row"), *rest, class_="first")
    return [line] + ([el("tr", el("td"), el("td", row.note, colspan="5"), class_="note")] if row.note else [])


def _figure(one: Drawn) -> Markup:
    source = "data:image/svg+xml;base64," + base64.b64encode(_svg(one.figure)).decode("ascii")
    width = round(one.figure.get_figwidth() * 96)
    return el(
        "figure",
        el("img", src=source, alt=one.alternative, width=str(width)),
        el("figcaption", el("b", one.source), " · ", one.caption),
    )


def _svg(figure: Any) -> bytes:
    import matplotlib as mpl

    file = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "dpnb"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()
