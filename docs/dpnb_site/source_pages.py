"""A page of source for each file that a page links to: every line has its anchor, so that a rule leads to the line that keeps it."""

from __future__ import annotations

import html
import subprocess
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound

from dpnb_site.links import ROOT

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ margin: 1rem; font: 14px/1.5 ui-monospace, monospace; background: Canvas; color: CanvasText }}
h1 {{ font-size: 1.1rem }} pre {{ overflow-x: auto }} :target {{ outline: 2px solid #b8860b; outline-offset: 2px }}
a {{ color: inherit; text-decoration: none; opacity: .6 }} li a {{ opacity: 1; text-decoration: underline }}
{style}
@media (prefers-color-scheme: dark) {{ {dark} }}
</style><h1>{title}</h1>
{body}
</html>
"""


def write(path: str, folder: Path) -> None:
    """Write the page of a file, or of a folder with the files in it."""
    place = ROOT / path
    if place.is_dir():
        _write(folder, path, _listing(path, folder))
    else:
        _write(folder, path, _coloured(place))


def _write(folder: Path, path: str, body: str) -> None:
    out = folder / f"{path}.html"
    out.parent.mkdir(parents=True, exist_ok=True)
    light, dark = (
        HtmlFormatter(style=style).get_style_defs(".highlight") for style in ("a11y-light", "a11y-dark")
    )
    out.write_text(_PAGE.format(title=html.escape(path), style=light, dark=dark, body=body), encoding="utf-8")


def _coloured(place: Path) -> str:
    text = place.read_text(encoding="utf-8", errors="replace")
    try:
        lexer = get_lexer_for_filename(place.name)
    except ClassNotFound:
        return f"<pre>{html.escape(text)}</pre>"
    form = HtmlFormatter(
        linenos="inline", linespans="L", anchorlinenos=True, lineanchors="line", wrapcode=True
    )
    return highlight(text, lexer, form).replace('id="L-', 'id="L')


def _listing(path: str, folder: Path) -> str:
    command = ["git", "ls-files", path]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for name in names:
        if not (folder / f"{name}.html").exists():
            write(name, folder)
    up = "../" * path.count("/")
    rows = "".join(
        f'<li><a href="{up}{html.escape(name)}.html">{html.escape(name)}</a></li>' for name in names
    )
    return f"<ul>{rows}</ul>"
