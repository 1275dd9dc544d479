"""The copy of the repository's pages that Sphinx reads: links led to the site, contents trees, pictures for both themes."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from dpnb_site import lessons, links
from dpnb_site.links import ROOT

PROJECT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
_ALSO = re.compile(r"^<!-- also: (\S+) -->$", re.MULTILINE)
_LIVE = re.compile(r"^<!-- live: (\w+) -->$", re.MULTILINE)
_PICTURE = re.compile(
    r'<picture><source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)"><img src="([^"]+)" alt="([^"]*)"([^>]*)></picture>'
)


def places() -> dict[str, str]:
    """Return where each page of the repository is on the site: path in the repository to path on the site."""
    found = {f"docs/{name}": name for name in _under(ROOT / "docs", "*.md")}
    found |= {f"notebooks/{name}": f"notebooks/{name}" for name in _under(ROOT / "notebooks", "*.ipynb")}
    found |= {f"notebooks/{name}": f"notebooks/{name}" for name in _under(ROOT / "notebooks", "*.md")}
    return found | {name: f"project/{name}" for name in PROJECT}


def _under(folder: Path, pattern: str) -> Iterator[str]:
    for path in sorted(folder.rglob(pattern)):
        name = path.relative_to(folder).as_posix()
        if not any(part.startswith((".", "_")) for part in name.split("/")):
            yield name


def stage(folder: Path, live: set[str]) -> set[str]:
    """Write the copy into `folder`.

    Parameters
    ----------
    folder : Path
        For Sphinx to read.
    live : set of str
        The interactions that have a live page.

    Returns
    -------
    set of str
        Files of the repository that pages link to and that have no page of their own.
    """
    where, linked = places(), set[str]()
    for picture in _under(ROOT / "docs", "*.svg"):
        (folder / picture).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / "docs" / picture, folder / picture)
    for path, name in where.items():
        out = folder / name
        out.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / path).read_text(encoding="utf-8")
        if path.endswith(".ipynb"):
            out.write_text(json.dumps(lessons.staged(path, json.loads(text))), encoding="utf-8")
            continue
        tree = contents(path, text, where) if out.name == "index.md" else ""
        out.write_text(
            _dressed(links.for_site(path, text, where, linked), name, live) + tree, encoding="utf-8"
        )
    return linked


def contents(path: str, text: str, where: dict[str, str]) -> str:
    """Return the contents tree of an index page: what it links to, in its order, and what it names with ``<!-- also: … -->``."""
    linked = (links.resolved(path, target)[0] for target in links.targets(text))
    named = dict.fromkeys(where[one] for one in linked if one in where and _below(path, one))
    for pattern in _ALSO.findall(text):
        named |= dict.fromkeys(name for name in where.values() if fnmatch(f"/{name}", f"{pattern}.*"))
    named.pop(where[path], None)
    lines = [f"/{name.removesuffix('.md').removesuffix('.ipynb')}" for name in named]
    return "\n".join(["", "```{toctree}", ":hidden:", "", *lines, "```", ""])


def _below(index: str, page: str) -> bool:
    """Tell whether a page belongs under an index: the first page has the parts, and a part has its pages and no other part's."""
    parts = page.startswith("docs/") and page.endswith("/index.md")
    if index == "docs/index.md":
        return parts
    other = re.match(r"docs/(tutorials|how-to|explanation|reference)/", page)
    return page != index and (other is None or index.startswith(other[0]))


_LIVE_PICTURE = re.compile(_PICTURE.pattern + r"\n\n(?=<!-- live: (\w+) -->)")


_NOTE = 110
"""Pixels of the sentence that stands above every live interaction."""


def _tall(name: str) -> int:
    """Return how tall a live page is, by the height that stands in the head of its picture."""
    head = (ROOT / "docs" / "pictures" / f"{name}.png").read_bytes()[:24]
    return int.from_bytes(head[20:24], "big") + _NOTE


def _dressed(text: str, name: str, live: set[str]) -> str:
    up = "../" * name.count("/")

    def frame(found: re.Match[str]) -> str:
        if found[1] not in live:
            return ""
        place = f"{up}live/{found[1]}.html"
        return (
            f'<iframe class="live" style="--tall: {_tall(found[1])}px" src="{place}" title="{found[1]}: drag it" loading="lazy"></iframe>\n\n'
            f'<a href="{place}">Open it on a page of its own</a>'
        )

    text = _LIVE_PICTURE.sub(lambda found: "" if found[5] in live else found[0], text)
    both = r'<img class="only-dark" src="\1" alt="\3"\4><img class="only-light" src="\2" alt="\3"\4>'
    return _LIVE.sub(frame, _PICTURE.sub(both, text))
