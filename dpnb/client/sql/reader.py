"""SQL as text to trees that are read whole: statements, positions, and a refusal of every part that nobody reads.

sqlglot reads DuckDB's dialect, and writes nothing that an engine runs. **The reader is strict**: for each kind of node a table says which
parts the translator reads (:data:`PARTS`, and what :func:`reads` adds); any other part that is set, and any other kind of node, is refused.
sqlglot is imported on first use; it comes with ``pip install dpnb[sql]``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

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
_ONE_SELECT = "A private cell answers one SELECT; {} is not one."
_ASK_EACH = " Ask each SELECT by itself; released frames are stacked free."

PARTS: dict[str, str] = {
    "select": "with_ expressions from_ joins where group having order limit offset",
    **dict.fromkeys(("with", "order", "tuple"), "expressions"),
    **dict.fromkeys(("subquery", "table", "cte", "alias"), "this alias"),
    **dict.fromkeys(
        ("from", "tablealias", "where", "having", "var", "datatypeparam", "placeholder", "paren"), "this"
    ),
    **dict.fromkeys(("limit", "offset"), "expression"),
    "join": "this on side kind using",
    "group": "expressions all",
    "ordered": "this desc nulls_first",
    "column": "this table",
    "identifier": "this quoted",
    "literal": "this is_string",
    "datatype": "this expressions nested",
    "distinct": "expressions",
    "filter": "this expression",
    "star": "",
    "boolean": "this",
    "null": "",
}
"""Which parts are read of the nodes that are no operator and no function."""

WORDS: dict[str, dict[str, tuple[str, str]]] = {"rows": {}, "figures": {}, "released": {}}
"""What each kind of place understands: its words, and what they mean; the reference page and ``%dp sql`` are made from it."""

_ACROSS = 'EXISTS looks across tables. Its owner declares it: [prepare] x = {{ any = "visits.…", is = … }}.'
_INSIDE = "A subquery inside an expression is a release of its own: m << {inner}; then write :m."
_ROWS_ORDER = "LIMIT, ORDER BY and DISTINCT on single rows would let one person decide about others. Leave them out, or filter with WHERE."
_EXTREME = "{sql} is one person's value. Ask a quantile near the end: quantile_cont({of}, 0.99); the declared bounds are public."
_MARGINS = "{word} adds margins of one table: ask GROUP BY the finest keys; .margin() of the answer is free."
_WINDOW = "A window function ranks or accumulates single rows. Over released groups it is free: release, then use the frame."
_LISTS = "{sql} shows single values. Ask how many rows have each: GROUP BY with COUNT(*)."
REFUSED: dict[str, str] = {
    **dict.fromkeys(("union", "except", "intersect"), _ONE_SELECT.format("{word}") + _ASK_EACH),
    **dict.fromkeys(("window", "qualify"), _WINDOW),
    "exists": _ACROSS,
    **dict.fromkeys(("rollup", "cube", "groupingsets", "grouping"), _MARGINS),
    **dict.fromkeys(("max", "min", "first", "last", "anyvalue", "argmax", "argmin", "ignorenulls"), _EXTREME),
    **dict.fromkeys(("groupconcat", "arrayagg", "arrayuniqueagg", "histogram", "approxtopk"), _LISTS),
    **dict.fromkeys(
        ("tablesample", "fetch"),
        "{sql} takes some rows and not others. Leave it out: noise hides each person already.",
    ),
    "distinct": "SELECT DISTINCT lists values that rows have. Declared values are public; how many rows have each: GROUP BY with COUNT(*).",
    "escape": "ESCAPE is not read: name the values, x IN ('…', '…').",
    "pivot": "PIVOT is not read: GROUP BY both columns; .table().wide() of the answer puts one across.",
    "approxdistinct": "{sql}: one person alone can add a value. The declared values are public; which of them many rows have: .frequent_values().",
}
"""What is said of a kind of node that is never read, or that is read in some places alone."""


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
        at = error.details.get("at")
        if not isinstance(at, int):
            return error
        line, column = self.place(at)
        return type(error)(f"{error.message} (line {line}, column {column})", line=line, column=column)


def sqlglot() -> Any:
    """Return the reader's library.

    Raises
    ------
    OptionError
        Where it is not installed.
    """
    try:
        import sqlglot as library
    except ImportError:
        raise OptionError(
            "SQL is read by sqlglot, which is not installed here: pip install dpnb[sql]"
        ) from None
    return library


def reads(place: str, kinds: str, parts: str, words: str = "", meaning: str = "") -> Callable[[F], F]:
    """Register what translates some kinds of nodes in one kind of place, and the parts that it reads."""

    def register(function: F) -> F:
        for kind in kinds.split():
            known = PARTS.setdefault(kind, parts)
            assert known == parts or not parts, f"{kind} is read in two ways"
            MAKERS[place][kind] = function
        if words:
            WORDS[place][words] = words, meaning
        return function

    return register


MAKERS: dict[str, dict[str, Callable[..., Any]]] = {"rows": {}, "figures": {}, "released": {}}


def statements(text: str) -> tuple[Statement, ...]:
    """Split the text of a cell into its SELECTs: ``name << SELECT …; SELECT …``.

    Raises
    ------
    PlanError
        For a text or comment that does not end, another statement than SELECT, or an empty cell; with line and column.
    """
    if len(text) > MOST_CHARACTERS:
        raise PlanError(
            f"A cell of SQL is limited to {MOST_CHARACTERS:,} characters; this has {len(text):,}."
        )
    found: list[Statement] = []
    group: list[Token] = []
    whole = Statement(None, text)
    for token in [*_tokens(whole), None]:
        if token is not None and token.token_type.name != "SEMICOLON":
            group.append(token)
        elif group:
            found.append(_statement(group, whole))
            group = []
    if not found:
        raise PlanError("Write a SELECT: SELECT COUNT(*) FROM people")
    return tuple(found)


def _statement(tokens: list[Token], whole: Statement) -> Statement:
    name, first = None, tokens[0]
    if (len(tokens) > 1 and tokens[1].token_type.name == "LT_LT") or (len(tokens) > 2 and _is_arrow(tokens)):
        name = whole.text[first.start : first.end + 1]
        if not name.isidentifier():
            raise whole.located(
                PlanError(f"{name} is no name to bind an answer to: pay << SELECT …", at=first.start)
            )
        tokens = tokens[2 if tokens[1].token_type.name == "LT_LT" else 3 :]
        if not tokens:
            raise whole.located(PlanError(f"Write a SELECT after {name} <<.", at=first.start))
    line, column = whole.place(tokens[0].start)
    return Statement(name, whole.text[tokens[0].start : tokens[-1].end + 1], line, column)


def _is_arrow(tokens: list[Token]) -> bool:
    return [one.text for one in tokens[1:3]] == ["<", "<"] and tokens[2].start == tokens[1].start + 1


def _tokens(statement: Statement) -> list[Token]:
    library = sqlglot()
    try:
        found: list[Token] = library.tokenize(statement.text, read="duckdb")
    except library.errors.TokenError:
        at = _opened(statement.text)
        raise statement.located(
            PlanError("This text, name or comment does not end: " + _around(statement.text, at), at=at)
        ) from None
    return found


def _opened(text: str) -> int:
    """Return where the quote or comment begins that does not end."""
    at = 0
    for found in re.finditer(
        r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|(['\"]|/\*)", text, re.DOTALL
    ):
        if found[1]:
            return found.start()
        at = found.start()
    return at


def parse(statement: Statement) -> exp.Select:
    """Return the tree of a statement, every part of which is read.

    Raises
    ------
    PlanError
        With ``at``, the place in the statement's text.
    """
    library, tokens = sqlglot(), _tokens(statement)
    _refuse_depth(tokens)
    if tokens[0].text.upper() not in _STARTS:
        known = nearest(tokens[0].text.upper(), _STARTS)
        hint = f" Did you mean {known}?" if known else ""
        raise PlanError(_ONE_SELECT.format(tokens[0].text.upper()[:_SHOWN]) + hint, at=tokens[0].start)
    text = _with_placeholders(statement.text, tokens)
    try:
        tree = library.parse_one(text, dialect="duckdb")
    except library.errors.ParseError as error:
        raise _syntax(statement.text, error) from None
    except RecursionError:
        raise PlanError("This statement is nested too deeply. Write it as several.", at=0) from None
    if tree.key == "subquery":
        tree = tree.unnest()
    for node in tree.walk():
        _refuse_unread(node)
    if tree.key != "select":
        raise refusal(tree, _ONE_SELECT.format(tree.key.upper()))
    found: exp.Select = tree
    return found


def _refuse_depth(tokens: list[Token]) -> None:
    depth = 0
    for before, token in zip([None, *tokens], tokens, strict=False):
        kind = token.token_type.name
        depth += (token.text in "([{" and kind != "STRING") or kind == "CASE"
        depth -= (token.text in ")]}" and kind != "STRING") or kind == "END"
        if depth > MOST_DEPTH:
            raise PlanError(
                f"More than {MOST_DEPTH} brackets inside each other. Write it as several statements.",
                at=token.start,
            )
        if (
            before is not None
            and before.token_type.name == "NUMBER"
            and kind == "VAR"
            and before.end + 1 == token.start
        ):
            raise PlanError(
                f"{before.text}{token.text} is no number here: write it in decimal digits.", at=before.start
            )


def _with_placeholders(text: str, tokens: list[Token]) -> str:
    """Return the text with ``:x  `` in the place of ``{{x}}``: a constant of the tree, as long as what was typed."""
    for place, token in enumerate(tokens):
        if token.token_type.name == "STRING" and "{{" in token.text:
            raise PlanError(
                "A parameter is a constant, not a part of a text: write {{x}} without quotes.", at=token.start
            )
        five = tokens[place : place + 5]
        if [one.text for one in five[:2] + five[3:]] == ["{", "{", "}", "}"] and five[2].text.isidentifier():
            start, end = five[0].start, five[4].end + 1
            text = text[:start] + f":{five[2].text}".ljust(end - start) + text[end:]
    return text


def _syntax(text: str, error: Any) -> PlanError:
    first = error.errors[0] if error.errors else {}
    lines = text.split("\n")[: max(int(first.get("line") or 1) - 1, 0)]
    highlight = str(first.get("highlight") or "")
    at = sum(len(line) + 1 for line in lines) + int(first.get("col") or 1) - len(highlight)
    at = min(max(at, 0), len(text))
    return PlanError(f"SQL cannot be read here: {_around(text, at)}", at=at)


def _around(text: str, at: int) -> str:
    """Return three words of a text from the one before a place."""
    before, after = text[:at].split()[-1:], text[at:].split()
    return "… " + " ".join([*before, *after[: 3 - len(before)]])[:_SHOWN]


def _refuse_unread(node: Node) -> None:
    kind = node.key
    if kind not in PARTS:
        raise refusal(node, REFUSED.get(kind) or unknown(node))
    read = PARTS[kind].split()
    for name, part in node.args.items():
        if part and name not in read:
            said = REFUSED.get(getattr(part, "key", name)) or REFUSED.get(name)
            raise refusal(
                node,
                said
                or f"{name.strip('_').replace('_', ' ').upper()} in {{sql}} is not read here: leave it out.",
            )


def unknown(node: Node) -> str:
    """Return what is said of a kind of node that nothing translates."""
    if node.key in {"any", "all"}:
        return _INSIDE
    if isinstance(node, sqlglot().exp.Func):
        known = ", ".join(words for words, _ in WORDS["rows"].values())
        return f"{{sql}} is not in the column language. It has {known}."
    return "{sql} is not read here. SELECT takes aggregates, GROUP BY, HAVING, ORDER BY, LIMIT, WITH and JOIN by the unit."


def refusal(node: Node, words: str, **more: str) -> PlanError:
    """Return an error about a node; ``{sql}``, ``{word}``, ``{of}`` and ``{inner}`` stand for its parts."""
    inner = node.find(sqlglot().exp.Select) if "{inner}" in words else None
    of = node.args.get("this")
    parts = {
        "sql": shown(node),
        "word": shown(node).split("(")[0].split(" ")[0]
        if node.key not in {"union", "except", "intersect", "groupingsets"}
        else _HEADS.get(node.key, node.key.upper()),
        "of": "x" if of is None or isinstance(of, str) else shown(of),
        "inner": "SELECT …" if inner is None else shown(inner),
    }
    for name, part in (parts | more).items():
        words = words.replace("{" + name + "}", part)
    return PlanError(words.replace("{{", "{").replace("}}", "}"), at=start(node))


_HEADS = {"groupingsets": "GROUPING SETS"}


def shown(node: Node) -> str:
    """Return a node as SQL, cut where it is long."""
    try:
        text: str = node.sql(dialect="duckdb")
    except (RecursionError, ValueError, TypeError):
        return "this"
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
    """Let an error that is raised inside point at a node, unless it points at one already."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, DpnbError) and "at" not in error.details:
            error.details["at"] = start(self._node)
        elif isinstance(error, RecursionError):
            raise PlanError("This statement is nested too deeply. Write it as several.", at=0) from None


def each(node: Node, *names: str) -> Iterator[Node]:
    """Yield the nodes under some names of a node."""
    for name in names:
        part = node.args.get(name)
        yield from part if isinstance(part, list) else () if part is None else (part,)


def listed(candidates: Mapping[str, object]) -> str:
    """Return some names for a refusal."""
    names = list(candidates)
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")


def fail(node: Node, words: str, **more: str) -> NoReturn:
    """Raise the refusal of a node."""
    raise refusal(node, words, **more)
