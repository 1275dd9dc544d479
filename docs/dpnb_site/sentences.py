"""Every sentence that a person can read of dpnb, taken from the code: errors, hints, cards, helps, interactions.

A text of the Python code is a string that is no docstring; one of the front end stands between quotation marks. What is no sentence (names,
styles, statements of SQL, paths of drawings) is left out by its form. A value that is put in when it is said stands in braces.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from dpnb_site.links import ROOT

PYTHON, FRONT_END = ROOT / "dpnb", ROOT / "labextension" / "src"
_SQL = re.compile(
    r"^\s*\(?(SELECT|INSERT|CREATE|PRAGMA|WITH|UPDATE|DELETE|SET|DESCRIBE|FILTER|WHEN|TIMESTAMP) |\b(IS NOT NULL|IS NULL|NOT IN|ORDER BY|NOT EXISTS|CASE WHEN)\b"
    r"|\b(COLLATE|CAST|BETWEEN|AS|OR|AND) [\"({]|NEW\.|::|= O(N|FF)$"
)
_CODE = re.compile(
    r"[{;]\s*[\w-]+\s*:[^ ]|</?\w+[^>]*>|=>|===|\)\s*\{|^@|\bvar\(--|^[\w.]+\(|^\s*(import|from|def|return|const|let|[#:]\w*scope)\s"
    r"|^[Mm][\d{].*[HVLhvlZz]|^(\w+, )+[.\w]+$|-src '|^\[data-|sans-serif|:is\("
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|(?P<quote>['\"])(?P<plain>(?:\\.|(?!(?P=quote)).)*?)(?P=quote)|`(?P<template>(?:\\.|[^`\\])*)`",
    re.DOTALL,
)


def is_sentence(text: str) -> bool:
    """Tell whether a text is said to somebody: words with blanks between, and no code."""
    words = _WORD.findall(re.sub(r"\{[^{}]*\}", " ", text))
    ended = text.rstrip().endswith((".", "!", "?")) and text[:1].isupper() and len(words) > 1
    return (
        (ended or len(words) > 2) and " " in text.strip() and not _SQL.match(text) and not _CODE.search(text)
    )


def of_python(source: str) -> Iterator[str]:
    """Yield the sentences of a module, in order."""
    tree = ast.parse(source)
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inside.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
    found = [node for node in ast.walk(tree) if id(node) not in inside]
    texts = [node for node in found if isinstance(node, ast.JoinedStr) or _is_text(node)]
    for node in sorted(texts, key=lambda node: (node.lineno, node.col_offset)):
        yield _said(node)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _said(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_said(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _put_in(ast.unparse(node.value))
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _put_in(code: str) -> str:
    """Return what stands for a value: its name, where it has a short one."""
    names = re.findall(r"[a-z_]{2,}", code)
    return "{" + (code if re.fullmatch(r"[\w.]{1,24}", code) else names[-1] if names else "…") + "}"


def of_front_end(source: str) -> Iterator[str]:
    """Yield the sentences of a module of the front end, in order."""
    for token in _TOKEN.finditer(source):
        if token["template"] is not None:
            yield re.sub(r"\$\{((?:[^{}]|\{[^{}]*\})*)\}", lambda code: _put_in(code[1]), token["template"])
        elif token["plain"] is not None:
            yield re.sub(r"\\(['\"])", r"\1", token["plain"])


@functools.cache
def rooms() -> dict[str, list[str]]:
    """Return the sentences of each room, each once, in the order of files and lines."""
    found: dict[str, dict[str, None]] = {}
    for path in sorted(PYTHON.rglob("*.py")):
        found.setdefault(_room(path, ROOT), {}).update(_kept(of_python(path.read_text(encoding="utf-8"))))
    for path in sorted(FRONT_END.rglob("*.ts")):
        if not path.name.endswith((".test.ts", ".d.ts")):
            texts = of_front_end(path.read_text(encoding="utf-8"))
            found.setdefault(_room(path, ROOT), {}).update(_kept(texts))
    return {room: list(texts) for room, texts in found.items() if texts}


def _room(path: Path, root: Path) -> str:
    parts = path.relative_to(root).parent.parts
    return "/".join(parts[:3] if parts[:2] in {("dpnb", "trusted"), ("labextension", "src")} else parts[:2])


def _kept(texts: Iterable[str]) -> dict[str, None]:
    return dict.fromkeys(" ".join(text.split()) for text in texts if is_sentence(text))


def page() -> str:
    """Return the body of the page: a block for each room."""
    parts = [f"## `{room}`\n\n```text\n" + "\n".join(texts) + "\n```" for room, texts in rooms().items()]
    return "\n\n".join(parts)
