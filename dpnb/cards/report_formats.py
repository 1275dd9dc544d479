"""A report in the format that its file's name asks for: HTML, Markdown, LaTeX, Word, PDF, JSON or text.

Word needs python-docx, PDF a Chromium or Chrome on this machine (it prints the HTML); the others need nothing. A format that cannot
be made is told before anything is written.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpnb.cards.ledger import Row, plain_row, table_of
from dpnb.cards.markup import clean
from dpnb.errors import OptionError
from dpnb.estimate import Estimate, Table
from dpnb.estimate.table import json_text, latex, latex_text, markdown_text, tabular, told
from dpnb.trusted import system
from dpnb.version import __version__

BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
_PRINT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Content:
    """What a report says, whatever its format.

    Parameters
    ----------
    title : str
        Its first line.
    estimates : mapping of str to Estimate
        The results by name, released.
    methods : str
        The methods paragraph.
    ledger : sequence of mappings
        The ledger's rows of these results.
    sources : sequence of str
        Where the data come from.
    """

    title: str
    estimates: Mapping[str, Estimate]
    methods: str
    ledger: Sequence[Row]
    sources: Sequence[str]

    @property
    def tables(self) -> dict[str, tuple[str, Table]]:
        """For each name the question and its table."""
        return {name: (clean(one.text), one.table()) for name, one in self.estimates.items()}


def write(path: Path, content: Content, *, html: str, text: str) -> None:
    """Write a report in the format of the file's name.

    Parameters
    ----------
    path : Path
        Where to.
    content : Content
        What it says.
    html, text : str
        The same as a page and for a terminal.

    Raises
    ------
    OptionError
        An ending that names no format, or what the format needs is not there.
    """
    ending = path.suffix.lower()
    if ending in {".html", ".htm"}:
        made: bytes = html.encode()
    elif ending == ".txt":
        made = (text + "\n").encode()
    elif ending == ".pdf":
        made = _pdf(html)
    elif ending in FORMATS:
        made = FORMATS[ending](content)
    else:
        known = ", ".join([".html", ".pdf", ".txt", *FORMATS])
        said = f"{ending} is not one of them" if ending else "this name has no ending"
        raise OptionError(
            f"The ending of the file name sets the format of a report. It is one of {known}; {said}."
        )
    path.write_bytes(made)


def _markdown(content: Content) -> bytes:
    parts = [f"# {content.title}\n", "## Results\n"]
    for name, (question, table) in content.tables.items():
        parts.append(f"### {name}\n" + (f"\n`{question}`\n" if question != name else ""))
        parts.append(markdown_text(table))
    parts += ["## Methods\n", content.methods + "\n"]
    if content.ledger:
        parts += ["## Ledger extract\n", markdown_text(table_of(content.ledger))]
    if content.sources:
        parts += ["## Sources\n", *(f"{source}\n" for source in content.sources)]
    return "\n".join(parts).encode()


def _latex(content: Content) -> bytes:
    """A whole document; its tables and its paragraph can be copied out."""
    parts = [
        r"\documentclass{article}",
        r"\usepackage[T1]{fontenc}",
        r"\usepackage[utf8]{inputenc}",
        r"\usepackage{booktabs,textcomp}",
        rf"\title{{{latex(content.title)}}}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
        r"\section*{Results}",
    ]
    for name, (question, table) in content.tables.items():
        parts.append(rf"\subsection*{{{latex(name)}}}")
        parts += [rf"\texttt{{{latex(question)}}}" + r"\par\medskip"] if question != name else []
        parts.append(r"\noindent" + "\n" + latex_text(table))
    parts += [r"\section*{Methods}", latex(content.methods)]
    if content.ledger:
        charges = table_of(content.ledger)
        body = [[str(item) for item in row.values()] for row in charges]
        shape = r"rllp{.3\linewidth}rr"
        parts += [
            r"\section*{Ledger extract}",
            r"\noindent\footnotesize",
            tabular(tuple(charges.columns), body, shape),
        ]
    if content.sources:
        parts += [r"\section*{Sources}", *(latex(source) + r"\par" for source in content.sources)]
    return "\n".join([*parts, r"\end{document}", ""]).encode()


def _json(content: Content) -> bytes:
    """Results with all digits, and the ledger's rows with exact losses."""
    plain = {
        "format": 1,
        "dpnb": __version__,
        "title": content.title,
        "results": {name: one.to_dict() for name, one in content.estimates.items()},
        "methods": content.methods,
        "ledger": [plain_row(row) for row in content.ledger],
        "sources": list(content.sources),
    }
    return json_text(plain).encode()


def _word(content: Content) -> bytes:
    try:
        from docx import Document
    except ImportError:
        raise OptionError(
            "A Word file needs python-docx: pip install python-docx. Or write .html, which Word opens."
        ) from None
    page = Document()
    page.add_heading(content.title, 0)
    page.add_heading("Results", 1)
    for name, (question, table) in content.tables.items():
        page.add_heading(name, 2)
        if question != name:
            page.add_paragraph(question)
        _word_table(page, table)
        if table.estimand:
            page.add_paragraph(table.estimand)
    page.add_heading("Methods", 1)
    page.add_paragraph(content.methods)
    if content.ledger:
        page.add_heading("Ledger extract", 1)
        _word_table(page, table_of(content.ledger))
    if content.sources:
        page.add_heading("Sources", 1)
        for source in content.sources:
            page.add_paragraph(source)
    with tempfile.TemporaryFile() as file:
        page.save(file)
        file.seek(0)
        return file.read()


def _word_table(page: Any, table: Table) -> None:
    made = page.add_table(rows=1, cols=len(table.columns), style="Light Grid Accent 1")
    for cell, name in zip(made.rows[0].cells, table.columns, strict=True):
        cell.text = name
    for row in table:
        for cell, (name, item) in zip(made.add_row().cells, row.items(), strict=True):
            cell.text = told(item, key=name in table.keys)


def _pdf(html: str) -> bytes:
    """Print the page with a browser of this machine."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise OptionError(
            "A PDF needs Chromium or Chrome on this machine. Write .html and print it, or write .docx or .tex."
        )
    with tempfile.TemporaryDirectory() as folder:
        page, printed = Path(folder, "report.html"), Path(folder, "report.pdf")
        page.write_text(html, encoding="utf-8")
        options = [
            "--headless",
            "--disable-gpu",
            "--no-pdf-header-footer",
            f"--user-data-dir={folder}/profile",
        ]
        options += ["--no-sandbox"] if system.user_id() == 0 else []
        command = [browser, *options, f"--print-to-pdf={printed}", page.as_uri()]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_PRINT_SECONDS)
            return printed.read_bytes()
        except (OSError, subprocess.SubprocessError):
            raise OptionError(
                "The browser could not print the report. Write .html and print it yourself."
            ) from None


FORMATS: dict[str, Callable[[Content], bytes]] = {
    ".md": _markdown,
    ".tex": _latex,
    ".docx": _word,
    ".json": _json,
}
