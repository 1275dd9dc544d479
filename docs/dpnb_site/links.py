"""Links of a plain page, and where each of them leads on the site."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1[ ]*$", re.DOTALL | re.MULTILINE)
OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:|#")
SOURCES = "_code"


def prose(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the pieces of a page: whether each is prose, and its text; the others are code blocks."""
    end = 0
    for block in FENCE.finditer(text):
        yield True, text[end : block.start()]
        yield False, block[0]
        end = block.end()
    yield True, text[end:]


def targets(text: str) -> list[str]:
    """Return where the links of a page lead that stay in the repository, as they are written."""
    found = [link[2] for is_prose, piece in prose(text) if is_prose for link in LINK.finditer(piece)]
    return [target for target in found if not OUTSIDE.match(target)]


def resolved(page: str, target: str) -> tuple[str, str]:
    """Return the path in the repository that a link of `page` leads to, and its fragment."""
    path, _, fragment = target.partition("#")
    return os.path.normpath(PurePosixPath(page).parent / path), fragment


def rewritten(text: str, change: Callable[[str, str], str]) -> str:
    """Return a page whose links within the repository are replaced: `change` takes a link's text and target."""

    def of(link: re.Match[str]) -> str:
        return link[0] if OUTSIDE.match(link[2]) else change(link[1], link[2])

    return "".join(LINK.sub(of, piece) if is_prose else piece for is_prose, piece in prose(text))


def relative(page: str, target: str) -> str:
    """Return the way from one place of the site to another."""
    return os.path.relpath(target, PurePosixPath(page).parent)


def for_site(page: str, text: str, places: Mapping[str, str], linked: set[str]) -> str:
    """Return a page with its links as the site needs them.

    Parameters
    ----------
    page : str
        Where it is in the repository.
    text : str
        Its Markdown.
    places : mapping of str to str
        Where each page of the repository is on the site.
    linked : set of str
        Gets the files that have no page of their own: the site shows their source.
    """

    def change(words: str, target: str) -> str:
        path, fragment = resolved(page, target)
        if path == "README.md":
            path, fragment = ("docs/explanation/limits.md", "") if fragment else ("docs/index.md", "")
        anchor = f"#{fragment}" if fragment else ""
        if path in places:
            return f"[{words}]({relative(places[page], places[path])}{anchor})"
        linked.add(path)
        way = relative(places[page], f"{SOURCES}/{path}.html")
        return f'<a href="{way}{anchor}">{words}</a>'

    return rewritten(text, change)
