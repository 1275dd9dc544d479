"""A report: results with both intervals, a methods paragraph to paste into a paper, and an extract of the ledger.

One self-contained file, in the format that its name asks for (see report_formats.py). It holds released numbers and public facts
alone, so it may be published as it is.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dpnb.cards.card import STYLE
from dpnb.cards.deployment import registry_file, write_deployments
from dpnb.cards.facts import Line, line_of
from dpnb.cards.ledger import Row, ledger_table
from dpnb.cards.markup import Markup, clean, el, escape
from dpnb.cards.methods import methods
from dpnb.cards.released import lines_html, lines_text
from dpnb.cards.report_formats import Content, write
from dpnb.estimate import Estimate
from dpnb.trusted.schema import Schema

PAGE_STYLE = """
:root{color-scheme:light dark}
body{margin:0 auto;max-width:56rem;padding:2rem 1.2rem 3rem;font:15px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
color:#1c1d21;background:#fff}
h1{font-size:26px;line-height:1.25;margin:0 0 .3rem;font-weight:650}
h2{font-size:17px;margin:2.4rem 0 .4rem;font-weight:650}
.methods{max-width:44rem}
@media (prefers-color-scheme:dark){body{color:#ececf0;background:#17181c}}
"""
_REST = "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Report:
    """A report, written or not.

    Parameters
    ----------
    html : str
        The whole file.
    text : str
        The same for a terminal.
    methods : str
        The methods paragraph alone.
    path : Path or None
        Where it was written.
    body : Markup
        What stands in the file, to put into a page of its own.
    """

    html: str
    text: str
    methods: str
    path: Path | None
    body: Markup = field(default=Markup(""), repr=False)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        if self.path is None:
            return f"<report: {_size(len(self.html.encode()))}>"
        return f"<report written to {self.path}: {_size(self.path.stat().st_size) if self.path.exists() else 'moved since'}>"


def report(
    estimates: Mapping[str, Estimate] | Iterable[Estimate],
    *,
    schemas: Sequence[Schema] = (),
    rows: Sequence[Row] = (),
    to: str | Path | None = None,
    registry: str | Path | None = None,
) -> Report:
    """Return a report of released estimates, and write it where asked.

    Parameters
    ----------
    estimates : mapping of str to Estimate, or estimates
        Released.
    schemas : sequence of Schema
        The datasets that they are about.
    rows : sequence of mappings
        Ledger rows; those of the releases are shown.
    to : path, optional
        The file to write: .html, .md, .tex, .docx, .pdf, .json or .txt.
    registry : path, optional
        A .json file for the public registry of deployments; see :mod:`dpnb.cards.deployment`.

    Raises
    ------
    OptionError
        Another ending, or a format whose library or browser is not there; nothing is written.
    """
    entry = None if registry is None else registry_file(registry)
    named = dict(estimates) if isinstance(estimates, Mapping) else {e.text: e for e in estimates}
    lines = [line_of(estimate, name, now=False) for name, estimate in named.items()]
    paragraph = methods(list(named.values()), schemas)
    used = {release.entry for estimate in named.values() for release in estimate.releases}
    extract = [row for row in rows if row["entry"] in used]
    title = _title(schemas)
    body = _body(title, lines, paragraph, extract, schemas)
    html = document(title, el("main", body))
    text = "\n\n".join([title, *lines_text(lines), "Methods", paragraph])
    found = Report(html, text, paragraph, None if to is None else Path(to), body)
    if found.path is not None:
        content = Content(title, named, paragraph, extract, _sources(schemas))
        write(found.path, content, html=html, text=text)
    if entry is not None:
        write_deployments(entry, list(named.values()), schemas)
    return found


def _size(count: int) -> str:
    return f"{max(count // 1024, 1):,} kB, one self-contained file"


def document(title: str, body: object, *, style: str = PAGE_STYLE, script: str = "") -> str:
    """Return a whole HTML page that asks nothing of the network, and whose policy says so: it runs ``script`` alone."""
    head = [
        el("meta", charset="utf-8"),
        policy(script) if script else policy(),
        el("meta", name="viewport", content="width=device-width,initial-scale=1"),
        el("title", title),
        el("style", Markup(style)),
    ]
    tail = el("script", Markup(script)) if script else None
    page = el("html", el("head", *head), el("body", body, tail), lang="en")
    return f"<!doctype html>\n{page}\n"


def _title(schemas: Sequence[Schema]) -> str:
    names = [clean(schema.title or schema.name) for schema in schemas]
    return "; ".join(names) or "Differentially private results"


def _sources(schemas: Sequence[Schema]) -> list[str]:
    return [text for schema in schemas for text in (schema.citation, schema.source_note) if text]


def _body(
    title: str,
    lines: Sequence[Line],
    paragraph: str,
    extract: Sequence[Row],
    schemas: Sequence[Schema],
) -> Markup:
    sources = _sources(schemas)
    return el(
        "article",
        STYLE,
        el("h1", title),
        el(
            "p",
            "Differentially private results. Solid bars are privacy intervals (what the added noise hides about "
            "this dataset); capped lines are confidence intervals (what sampling and noise hide about the population). "
            "All at 95 %.",
        ),
        el("h2", "Results"),
        el("div", *lines_html(lines), class_="dpnb"),
        el("h2", "Methods"),
        el("p", paragraph, class_="methods"),
        el("h2", "Ledger extract") if extract else None,
        el("div", ledger_table(list(extract)), class_="dpnb") if extract else None,
        el("h2", "Sources") if sources else None,
        *(el("p", escape(text)) for text in sources),
    )


def policy(*scripts: str) -> Markup:
    """Return the ``meta`` element that comes before all else in a page: it runs the scripts it was written with, and asks nobody for anything.

    The scripts are named by their digests, taken when they are written and never read back from the finished page [1]_.

    Parameters
    ----------
    scripts : str
        The text of each inline script, as it stands between its tags.

    References
    ----------
    .. [1] W3C, "Content Security Policy Level 3".

    Examples
    --------
    >>> print(policy())
    <meta http-equiv="Content-Security-Policy" content="default-src &#x27;none&#x27;; style-src ...
    """
    run = f"script-src {' '.join(map(_digest, scripts))}; " if scripts else ""
    return el("meta", http_equiv="Content-Security-Policy", content=f"default-src 'none'; {run}{_REST}")


def _digest(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode('ascii')}'"
