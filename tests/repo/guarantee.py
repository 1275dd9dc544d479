"""The links of `docs/guarantee.md`: from each rule to the lines that keep it, and to the tests that fail when it is broken.

A link's text is the name of what it leads to: a function, class, method or constant in backticks, or a mutant (a wrong version
that a test must notice) in italics. `python -m tests.repo.guarantee` writes the lines anew after code has moved; a file that was
moved or renamed is found by what it defines.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guarantee.md"
COMMAND = "python -m tests.repo.guarantee"
_LINK = re.compile(r"\[([`*])([^\]]+?)\1\]\(\.\./((?:dpnb|tests)/[^)#]+\.py)#L(\d+)\)")
_ANY_LINK = re.compile(r"\]\(\.\./((?:dpnb|tests)/[^)]*)\)")
_RULE = re.compile(r"^### (\d+)\. ", re.MULTILINE)
_MUTANT = re.compile(r'^ *(f?)"(.+)": Mutant\($')


@dataclass(frozen=True, slots=True)
class Link:
    """One link of the page: the mark about its text, the text, the file as it stands there, and the line."""

    mark: str
    name: str
    file: str
    line: int

    @property
    def is_test(self) -> bool:
        """Whether it leads to what fails when a rule is broken."""
        return self.file.startswith("tests/")

    @property
    def text(self) -> str:
        """How the page writes it."""
        return f"[{self.mark}{self.name}{self.mark}](../{self.file}#L{self.line})"


def links(text: str) -> Iterator[Link]:
    """List the links of a page in order."""
    for mark, name, file, line in _LINK.findall(text):
        yield Link(mark, name, file, int(line))


def other_links(text: str) -> list[str]:
    """List the links into the code that name nothing or no line, which nobody could hold to be true."""
    return sorted(set(_ANY_LINK.findall(_LINK.sub("", text))))


def rules(text: str) -> dict[int, list[Link]]:
    """List the links below the heading of each rule."""
    _, *rest = _RULE.split(text)
    bodies = (body.split("\n## ")[0] for body in rest[1::2])
    return {int(number): list(links(body)) for number, body in zip(rest[::2], bodies, strict=True)}


@cache
def symbols(path: Path) -> Mapping[str, int]:
    """Map what a module defines to its line: functions, classes, their methods and constants as `Class.name`, constants."""
    return dict(_defined(ast.parse(path.read_text()).body, ""))


def _defined(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, int]]:
    for node in body:
        match node:
            case ast.ClassDef():
                yield prefix + node.name, node.lineno
                yield from _defined(node.body, f"{prefix}{node.name}.")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield prefix + node.name, node.lineno
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield prefix + name, node.lineno


@cache
def mutants(path: Path) -> Mapping[str, int]:
    """Map the names of a table's mutants to their lines; a name that is computed is known by what is written of it."""
    lines = enumerate(path.read_text().splitlines(), start=1)
    return {found[2]: number for number, line in lines if (found := _MUTANT.match(line))}


def line_of(link: Link) -> int | None:
    """Return the line on which what a link names begins, or None where its file does not define it."""
    path = ROOT / link.file
    if not path.is_file():
        return None
    return (mutants if link.mark == "*" else symbols)(path).get(link.name)


def faults(text: str) -> list[str]:
    """Say of each link that does not lead where it says, what is wrong with it."""
    found = []
    for link in links(text):
        line = line_of(link)
        if line is None:
            found.append(f"{link.file} does not define {link.name}")
        elif line != link.line:
            found.append(f"{link.file}: {link.name} is on line {line}, not {link.line}")
    return found


def moved(link: Link) -> Link:
    """Return a link to where its name is now: in its file, else in the one file of that name, else in the one file, that defines it."""
    if (ROOT / link.file).is_file():
        return _at(link, [link.file]) or link
    folder = "tests" if link.is_test else "dpnb"
    files = [str(path.relative_to(ROOT)) for path in sorted((ROOT / folder).rglob("*.py"))]
    namesakes = [file for file in files if Path(file).name == Path(link.file).name]
    return _at(link, namesakes) or _at(link, files) or link


def _at(link: Link, files: list[str]) -> Link | None:
    """Return the link to the one of these files that defines its name; nothing where none does, or several do."""
    found = [
        Link(link.mark, link.name, file, line) for file in files if (line := _line(link, file)) is not None
    ]
    return found[0] if len(found) == 1 else None


def _line(link: Link, file: str) -> int | None:
    return line_of(Link(link.mark, link.name, file, 0))


def rewritten(text: str) -> str:
    """Return the page with every link leading to where its name is now."""
    return _LINK.sub(lambda m: moved(Link(m[1], m[2], m[3], int(m[4]))).text, text)


def main() -> int:
    """Write the lines anew, and name what could not be found."""
    before = PAGE.read_text()
    after = rewritten(before)
    if after != before:
        PAGE.write_text(after)
    left = faults(after)
    print(*left, f"{len(list(links(after)))} links, {len(left)} lead nowhere.", sep="\n")
    return bool(left)


if __name__ == "__main__":
    sys.exit(main())
