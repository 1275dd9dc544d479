"""SQL as text to trees that are read whole: statements, positions, and a refusal of every part that nobody reads.

sqlglot reads DuckDB's dialect, and writes nothing that an engine runs. **The reader is strict**: for each kind of node a table says which
parts the translator reads (:data:`PARTS`, and what :func:`reads` adds); any other part that is set, and any other kind of node, is refused.
sqlglot is imported on first use; it comes with ``pip install dpnb[sql]``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from dpnb.client.sql.refusals import INSTEAD, NEVER, QUOTED, SAID
from dpnb.errors import DpnbError, OptionError, PlanError
from dpnb.trusted.records import nearest

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

    Node = exp.Expr
F = TypeVar("F", bound=Callable[..., Any])

MOST_CHARACTERS, MOST_DEPTH = 100_000, 60
_SHOWN = 60
_STARTS = ("SELECT", "WITH", "FROM", "(")

PARTS: dict[str, str] = {
    "select": "with_ expressions from_ joins where group having order limit offset",
    **dict.fromkeys(("with", "order", "tuple", "distinct"), "expressions"),
    **dict.fromkeys(("subquery", "table", "cte", "alias"), "this alias"),
    **dict.fromkeys(
        ["from", "tablealias", "where", "having", "var", "datatypeparam", "placeholder", "paren", "boolean"],
        "this",
    ),
    **dict.fromkeys(("limit", "offset"), "expression"),
    **dict.fromkeys(("star", "null"), ""),
    "join": "this on side kind using",
    "group": "expressions all",
    "ordered": "this desc nulls_first",
    "column": "this table",
    "identifier": "this quoted",
    "literal": "this is_string",
    "datatype": "this expressions nested",
    "filter": "this expression",
}
"""Which parts are read of the nodes that are no operator and no function."""

MAKERS: dict[str, dict[str, Callable[..., Any]]] = {"rows": {}, "figures": {}, "released": {}}
"""What translates a kind of node: in a row, as a figure, and on released figures."""
WORDS: dict[str, dict[str, str]] = {"rows": {}, "figures": {}, "released": {}}
"""What each of them understands: words, and what they mean; the reference page and ``%dp sql`` are made from it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One SELECT of a cell.

    Parameters
    ----------
    name : str or None
        What it is bound to: ``pay`` of ``pay << SELECT …``.
    text : str
        The SELECT as it was typed, without its name and semicolon.
    line, column : int
        Where the text begins in what was given, from 1.
    """

    name: str | None
    text: str
    line: int = 1
    column: int = 1

    def place(self, at: int) -> tuple[int, int]:
        """Return line and column, from 1, of a place in the text."""
        before = self.text[: max(at, 0)]
        lines = before.count("\n")
        column = len(before) - before.rfind("\n") - 1
        return self.line + lines, column + (1 if lines else self.column)

    def located(self, error: DpnbError) -> DpnbError:
        """Return an error with the line and column to which it points."""
        line, column = self.place(int(error.details.get("at", 0)))
        return type(error)(f"{error.message} (line {line}, column {column})", line=line, column=column)


def sqlglot() -> Any:
    """Return the library that reads SQL.

    Raises
    ------
    OptionError
        Where it is not installed.
    """
    try:
        import sqlglot as library
    except ImportError:
        raise OptionError(SAID["sqlglot"]) from None
    return library


def reads(place: str, kinds: str, parts: str) -> Callable[[F], F]:
    """Register what translates some kinds of nodes in one kind of place, and which parts it reads.

    Its docstring is the line of the reference: words, an en dash, and what they mean; without one the line is another's.
    """

    def register(function: F) -> F:
        for kind in kinds.split():
            known = PARTS.setdefault(kind, parts)
            assert parts in {"", known}, f"{kind} is read in two ways"
            MAKERS[place][kind] = function
        words, _, meaning = (function.__doc__ or "").partition(" – ")
        if meaning:
            WORDS[place][words] = meaning
        return function

    return register


def statements(text: str) -> tuple[Statement, ...]:
    """Split the text of a cell into its SELECTs: ``name << SELECT …; SELECT …``.

    Raises
    ------
    PlanError
        For a text or comment that does not end, a name that is none, or an empty cell; with line and column.
    """
    if len(text) > MOST_CHARACTERS:
        raise PlanError(
            f"A cell of SQL is limited to {MOST_CHARACTERS:,} characters; this has {len(text):,}."
        )
    whole, found = Statement(None, text), list[Statement]()
    group: list[Token] = []
    try:
        for token in [*_tokens(text), None]:
            if token is not None and token.token_type.name != "SEMICOLON":
                group.append(token)
            elif group:
                found.append(_statement(group, whole))
                group = []
        if not found:
            raise PlanError("Write a SELECT: SELECT COUNT(*) FROM people", at=0)
    except DpnbError as error:
        raise whole.located(error) from None
    return tuple(found)


def _statement(tokens: list[Token], whole: Statement) -> Statement:
    name, first = None, tokens[0]
    if (
        len(tokens) > 2
        and [one.text for one in tokens[1:3]] == ["<", "<"]
        and tokens[2].start == tokens[1].end + 1
    ):
        del tokens[2]
    elif len(tokens) == 1 or tokens[1].text != "<<":
        tokens = [first, first, *tokens]
    if tokens[1] is not first:
        name = whole.text[first.start : first.end + 1]
        if not name.isidentifier() or len(tokens) == 2:
            raise PlanError(
                f"Bind an answer to a name, and write a SELECT after it: pay << SELECT …, not {name[:_SHOWN]} << …",
                at=first.start,
            )
    line, column = whole.place(tokens[2].start)
    return Statement(name, whole.text[tokens[2].start : tokens[-1].end + 1], line, column)


def _tokens(text: str) -> list[Token]:
    library = sqlglot()
    try:
        found: list[Token] = library.tokenize(text, read="duckdb")
    except library.errors.TokenError:
        at = _opened(text)
        raise PlanError(f"This text, name or comment does not end: {_around(text, at)}", at=at) from None
    return found


_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|(['\"]|/\*)", re.DOTALL)


def _opened(text: str) -> int:
    """Return where the quote or comment begins that does not end."""
    return next((one.start() for one in _QUOTED.finditer(text) if one[1]), 0)


def parse(statement: Statement) -> exp.Select:
    """Return the tree of a statement, every part of which is read.

    Raises
    ------
    PlanError
        With ``at``, the place in the statement's text.
    """
    library, text = sqlglot(), statement.text
    tokens = _tokens(text)
    _refuse_tokens(tokens)
    word = tokens[0].text.upper()[:_SHOWN]
    if word not in _STARTS:
        close = nearest(word, _STARTS)
        assigned = "=" if [one.text for one in tokens[1:2]] == ["="] else word
        hint = INSTEAD.get(assigned) or (f" Did you mean {close}?" if close else "")
        raise PlanError(SAID["a select"].replace("{word}", word) + hint, at=tokens[0].start)
    try:
        tree: Any = library.parse_one(_with_placeholders(text, tokens), dialect="duckdb")
    except library.errors.ParseError as error:
        first = error.errors[0] if error.errors else {}
        lines = text.split("\n")[: max(int(first.get("line") or 1) - 1, 0)]
        at = (
            sum(len(line) + 1 for line in lines)
            + int(first.get("col") or 1)
            - len(first.get("highlight") or "")
        )
        raise PlanError(f"SQL cannot be read here: {_around(text, at)}{_meant(text, at)}", at=at) from None
    while tree.key == "subquery":
        tree = tree.this
    for node in tree.walk():
        _refuse_unread(node)
    if tree.key != "select":
        fail(tree, "a select", word=tree.key.upper())
    found: exp.Select = tree
    return found


def _refuse_tokens(tokens: list[Token]) -> None:
    """Refuse brackets that are too deep, numbers that are not decimal, and parameters inside of texts."""
    depth = 0
    for before, token in zip([None, *tokens], tokens, strict=False):
        kind = token.token_type.name
        depth += (kind != "STRING" and token.text in {"(", "[", "{"}) or kind == "CASE"
        depth -= (kind != "STRING" and token.text in {")", "]", "}"}) or kind == "END"
        if depth > MOST_DEPTH:
            raise PlanError(
                f"More than {MOST_DEPTH} brackets inside each other. Write it as several statements.",
                at=token.start,
            )
        if before is not None and (before.token_type.name, kind, before.end + 1) == (
            "NUMBER",
            "VAR",
            token.start,
        ):
            raise PlanError(
                f"{before.text}{token.text} is no number here: write it in decimal digits.", at=before.start
            )
        if kind == "STRING" and "{{" in token.text:
            raise PlanError(
                "A parameter is a constant, not a part of a text: write {{x}} without quotes.", at=token.start
            )


def _with_placeholders(text: str, tokens: list[Token]) -> str:
    """Return the text with ``:x  `` in the place of ``{{x}}``: a constant of the tree, as long as what was typed."""
    for place in range(len(tokens) - 4):
        first, second, name, third, last = tokens[place : place + 5]
        if [one.text for one in (first, second, third, last)] == [
            "{",
            "{",
            "}",
            "}",
        ] and name.text.isidentifier():
            length = last.end + 1 - first.start
            text = text[: first.start] + f":{name.text}".ljust(length) + text[last.end + 1 :]
    return text


def _meant(text: str, at: int) -> str:
    """What may have been meant where a text cannot be read; empty where nothing is known."""
    words = re.findall(r"\w+", text[:at])[-1:] + re.findall(r"\w+", text[at:])[:1]
    if quoted := next((one for one in words if one.upper() in QUOTED), ""):
        return f'. A column that has the name of a keyword is in double quotes: "{quoted}"'
    return (
        ". Several SELECTs are parted by a semicolon" if words[-1:] and words[-1].upper() == "SELECT" else ""
    )


def _around(text: str, at: int) -> str:
    """Return three words of a text from the one before a place."""
    before, after = text[: max(at, 0)].split()[-1:], text[max(at, 0) :].split()
    return "… " + " ".join([*before, *after[: 3 - len(before)]])[:_SHOWN]


def _refuse_unread(node: Node) -> None:
    """Refuse a node of a kind that nothing reads, and a part of one that is not read."""
    if node.key not in PARTS:
        raise unread(node)
    for name, part in node.args.items():
        if part and name not in PARTS[node.key].split():
            said = NEVER.get(name) or NEVER.get(getattr(part, "key", name))
            shown_ = {"sql": shown(part)} if name == "sample" else {}
            word = name.strip("_").replace("_", " ").upper()
            raise refusal(node, said or SAID["part"], part=word, word=word, **shown_)


_SORTS = {"aggregate": "AggFunc", "function": "Func"}


def unread(node: Node) -> PlanError:
    """Return the refusal of a kind of node that nothing translates."""
    named, exp = node.key == "anonymous", sqlglot().exp
    kind = next((word for word, one in _SORTS.items() if isinstance(node, getattr(exp, one))), "node")
    of = {"of": shown(node.expressions[0])} if named and node.expressions else {}
    return refusal(node, NEVER.get(node.name.lower() if named else node.key) or SAID[kind], **of)


def refusal(node: Node, words: str, **more: str) -> PlanError:
    """Return an error about a node; ``{sql}``, ``{word}``, ``{of}`` and ``{inner}`` stand for its parts."""
    inner = node.find(sqlglot().exp.Select) if "{inner}" in words else None
    of = node.args.get("this")
    parts = {
        "word": {"groupingsets": "GROUPING SETS"}.get(node.key, node.key.upper()),
        "of": "x" if of is None or isinstance(of, str) else shown(of),
        "inner": "SELECT …" if inner is None else shown(inner),
        **more,
    }
    parts["sql"] = parts.pop("sql", shown(node))  # the last: what was typed may look like one of the others
    for name, part in parts.items():
        words = words.replace("{" + name + "}", part)
    return PlanError(words, at=start(node))


def fail(node: Node, name_: str, /, **more: str) -> NoReturn:
    """Raise one of :data:`~dpnb.client.sql.refusals.SAID` about a node."""
    raise refusal(node, SAID[name_], **more)


def shown(node: Node) -> str:
    """Return a node as SQL, cut where it is long."""
    text = str(node.sql(dialect="duckdb", unsupported_level=sqlglot().ErrorLevel.IGNORE))
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def start(node: Node) -> int:
    """Return where a node begins in the text: the first name, function or number in it, or around it."""
    here: Any = node
    while here is not None:
        found = [one.meta["start"] for one in here.walk() if isinstance(one.meta.get("start"), int)]
        if found:
            return int(min(found))
        here = here.parent
    return 0


class pointing:  # noqa: N801 - reads as what it does: with pointing(node)
    """Let an error that is raised inside point at a node, unless it points at one already; a recursion that is too deep is one."""

    def __init__(self, node: Node | None = None) -> None:
        self._node = node

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, DpnbError) and self._node is not None:
            error.details.setdefault("at", start(self._node))
        elif isinstance(error, RecursionError) and self._node is None:
            raise PlanError(SAID["too deep"], at=0) from None


def each(node: Node, *names: str) -> Iterator[Node]:
    """Yield the nodes under some names of a node."""
    for name in names:
        part = node.args.get(name)
        yield from part if isinstance(part, list) else () if part is None else (part,)


def listed(names: Iterable[str]) -> str:
    """Return some names for a refusal."""
    every = list(names)
    return ", ".join(every[:8]) + (", …" if len(every) > 8 else "")
