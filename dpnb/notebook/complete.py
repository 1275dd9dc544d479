"""Completion: options on the magic line, columns and statistics behind a handle, names of datasets in quotes.

It offers public names alone, reads handles without calling anything of the user's, and leaves every other word to
IPython.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher
from IPython.core.interactiveshell import InteractiveShell

from dpnb.client.columns import ColumnHandle
from dpnb.notebook.commands import COMMANDS, INTERACTION_COMMANDS
from dpnb.notebook.options import FLAGS, VALUED
from dpnb.notebook.price_preview import is_plain

_CHAIN = re.compile(r"([A-Za-z_]\w*)((?:\.\w+|\[['\"][^'\"]*['\"]\])*)\.(\w*)$")
_COLUMN = re.compile(r"([A-Za-z_]\w*)[\w.'\"\[\]]*?(?:\[|\.(?:groupby|difference)\((?:by=)?)(['\"])(\w*)$")
_OF_NUMBERS = ("mean", "count", "sum")
_OF_CATEGORIES = ("value_counts", "count", "proportions")
_VALUE = re.compile(r"[{$](\w*)$")
_DATASET = re.compile(r"(?:dpnb\.)?open\((['\"])([\w-]*)$")


def matcher(shell: InteractiveShell) -> Any:
    """Return the matcher of a shell, for ``shell.Completer.custom_matchers``."""

    @context_matcher(identifier="dpnb", priority=1000)
    def dpnb_matcher(context: CompletionContext) -> SimpleMatcherResult:
        if _in_sql(context):
            return _sql_offers(context, shell)
        before = _line_before(context)
        offers = offered(before, shell.user_ns, first=context.cursor_line == 0)
        if offers is None:
            return SimpleMatcherResult(completions=[], suppress=False)
        word, names = offers
        head = context.token[: len(context.token) - len(word)] if context.token.endswith(word) else ""
        found = [SimpleCompletion(head + name, type="dpnb") for name in names if name.startswith(word)]
        return SimpleMatcherResult(completions=found, suppress=bool(found), ordered=True)

    return dpnb_matcher


def offered(
    before: str, namespace: Mapping[str, object], *, first: bool = True
) -> tuple[str, list[str]] | None:
    """Return the word before the cursor and all names that may continue it, or None where others know better.

    Parameters
    ----------
    before : str
        The line up to the cursor.
    namespace : mapping
        The user's names.
    first : bool
        Whether this is the first line of the cell.
    """
    if first and before.lstrip().startswith("%%dp"):
        return _variable(before, namespace) or _option(before)
    if before.lstrip().startswith("%dp "):
        return _word(before), _arguments(before, namespace)
    if found := _DATASET.search(before):
        return found[2], _studies()
    if found := _COLUMN.search(before):
        return _columns_of(namespace.get(found[1]), found[3])
    if found := _CHAIN.search(before):
        return _members_of(namespace.get(found[1]), found[2], found[3])
    return None


def _line_before(context: CompletionContext) -> str:
    lines = context.full_text.split("\n")
    line = lines[context.cursor_line] if context.cursor_line < len(lines) else ""
    return line[: context.cursor_position] if len(lines) > 1 or context.cursor_position <= len(line) else line


def _in_sql(context: CompletionContext) -> bool:
    """Whether the cursor stands in the body of a ``%%dp sql`` cell."""
    return context.cursor_line > 0 and re.match(r"%%dp\s(.*\s)?sql(\s|$)", context.full_text) is not None


def _sql_offers(context: CompletionContext, shell: InteractiveShell) -> SimpleMatcherResult:
    """What may continue a SELECT: names of datasets and columns, and declared values."""
    from dpnb.client.sql import completions, tables_of

    body = context.full_text.partition("\n")[2]
    above = sum(len(line) + 1 for line in body.split("\n")[: context.cursor_line - 1])
    here = above + context.cursor_position
    start, options = completions(body, here, tables_of(shell.user_ns))
    typed, token = body[start:here], context.token
    whole = token.endswith(typed)  # of people.ag the word is ag; of 'pen IPython's token is pen
    before, cut = (token[: len(token) - len(typed)], 0) if whole else ("", len(typed) - len(token))
    texts = [before + one[cut:].removesuffix("'" if body[here : here + 1] == "'" else "") for one in options]
    found = [SimpleCompletion(text, type="dpnb") for text in texts]
    return SimpleMatcherResult(completions=found, suppress=True, ordered=True)


def _variable(before: str, namespace: Mapping[str, object]) -> tuple[str, list[str]] | None:
    """The names of numbers and texts, after ``{`` and ``$``."""
    found = _VALUE.search(before)
    if found is None:
        return None
    return found[1], [name for name, value in namespace.items() if is_plain(value) and name[0] != "_"]


def _option(before: str) -> tuple[str, list[str]]:
    word = before.rsplit(" ", maxsplit=1)[-1]
    if word.startswith("-"):
        return word, [f"--{name.replace('_', '-')}" for name in (*VALUED, *FLAGS, "plan", "release", "help")]
    return word, [*(f"{name}=" for name in VALUED), *FLAGS, "plan", "release", "--help"]


def _word(before: str) -> str:
    found = re.search(r"[\w-]*$", before)
    return found[0] if found else ""


def _arguments(before: str, namespace: Mapping[str, object]) -> list[str]:
    words = before.split()
    if len(words) < 2 or (len(words) == 2 and not before.endswith(" ")):
        return [*COMMANDS, *INTERACTION_COMMANDS]
    if words[1] == "auto":
        return ["on", "off", "release"]
    if words[1] == "open":
        return _studies()
    if words[1] == "explain":
        return [
            name for name, value in namespace.items() if type(value).__name__ == "Estimate" and name[0] != "_"
        ]
    if words[1] in {"schema", "ledger", "budget", "sql"}:
        return [name for name, value in namespace.items() if _schema(value) is not None and name[0] != "_"]
    return []


def _studies() -> list[str]:
    from dpnb import datasets

    return list(datasets.names())


def _schema(value: object) -> Any:
    if not type(value).__module__.startswith("dpnb."):
        return None
    schema = inspect.getattr_static(value, "schema", None)
    return None if schema is None else getattr(value, "schema", None)


def _names(schema: Any) -> Iterable[str]:
    return [column.name for column in schema.columns]


def _columns_of(value: object, word: str) -> tuple[str, list[str]] | None:
    schema = _schema(value)
    return None if schema is None else (word, list(_names(schema)))


def _members_of(value: object, chain: str, word: str) -> tuple[str, list[str]] | None:
    schema = _schema(value)
    if schema is None:
        return None
    members = [name for name in dir(type(value)) if not name.startswith("_")]
    if not chain:
        columns = [name for name in _names(schema) if name not in members]
        return word, [*columns, *_first(("count", "groupby"), members)]
    known = set(_names(schema))
    inside = re.findall(r"\w+", chain)
    if not inside or inside[-1] not in known:
        return None
    usual = _OF_NUMBERS if schema[inside[-1]].numeric else _OF_CATEGORIES
    return word, _first(usual, _ways_on(ColumnHandle))


def _first(usual: tuple[str, ...], names: list[str]) -> list[str]:
    """Some names before the others, and nothing lost."""
    return [*usual, *(name for name in names if name not in usual)]


def _ways_on(kind: type) -> list[str]:
    """What can be asked of a handle, or made from it; not what it is."""
    return [name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name))]
