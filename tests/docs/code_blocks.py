"""The code on the pages, and how each block is run: in the page's own folder and session, from top to bottom, as a reader would.

A block of Python is run as a cell; one of shell as a command; one of TOML is written to the file that ``<!-- file: NAME -->`` before it
names. A block that is not run stands under ``<!-- not run: the reason -->``. Blocks of text, and of no language, are no code.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(
    r"(?:^<!-- (?P<word>file|not run): (?P<said>[^\n]*) -->\n)?^```(?P<language>[\w{}-]*)[^\n]*\n(?P<code>.*?)^```",
    re.DOTALL | re.MULTILINE,
)
CODE = {"python", "sh", "bash", "toml", "sql", "javascript", "ini", "yaml"}


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code: its language, its text, and what the comment before it says."""

    language: str
    code: str
    file: str = ""
    reason: str = ""


def blocks(page: Path) -> list[Block]:
    """Return the blocks of code of a page, in order."""
    return [*_blocks(page.read_text(encoding="utf-8"))]


def _blocks(text: str) -> Iterator[Block]:
    for found in _BLOCK.finditer(text):
        if found["language"] in CODE:
            said = {"file": "", "not run": ""} | ({found["word"]: found["said"]} if found["word"] else {})
            yield Block(found["language"], found["code"], said["file"], said["not run"])


#: Pages whose code another test runs, and which.
ELSEWHERE = {
    "docs/port-map.md": "tests/repo/test_port_map.py",
    "docs/service.md": "tests/serving",
    "docs/architecture.md": "docs/explanation/one-cell.md",
    "CONTRIBUTING.md": "Makefile",
    "docs/how-to/notebook-tools.md": "tests/docs/test_notebook_tools.py",
}


def pages() -> list[Path]:
    """Return the pages whose code is run here."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if any(not block.reason for block in blocks(page)) and not elsewhere(page)]


def elsewhere(page: Path) -> bool:
    """Whether another test says that it runs this page: it is listed above, or named by a test of the page's room."""
    name = page.relative_to(ROOT).as_posix()
    if name in ELSEWHERE:
        return True
    named = (name, f'"docs" / "{page.name}"')
    return name != "README.md" and any(any(one in text for one in named) for text in _other_tests())


@functools.cache
def _other_tests() -> list[str]:
    """Return the texts of the tests of all other rooms."""
    found = (ROOT / "tests").rglob("test_*.py")
    return [path.read_text(encoding="utf-8") for path in found if path.relative_to(ROOT).parts[1] != "docs"]
