"""Terms of formulas: how a side of a formula falls apart, and when two spellings name the same column.

``age**2``, ``I(age ** 2)``, ``age * age`` and the column ``(hiv.age * hiv.age)`` of some moments are one; so are ``a:b`` and ``b:a``.
Spellings are compared as parsed Python, without the dataset's name; what is no Python is compared as it stands. A name that is no
word of Python stands in backticks, in ``Q("No-show")`` or in ``s["No-show"]``.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator
from functools import lru_cache, reduce
from typing import Any

from dpnb.errors import OptionError

_OPENING, _CLOSING = "([{", ")]}"

_NAMED = re.compile(r"""("[^"]*"|'[^']*')|`([^`]+)`""")
_METHODS = ("isin", "between", "clip", "is_missing", "isna")


def split(text: str, sign: str) -> list[tuple[str, str]]:
    """Return the parts of a text between the signs that stand outside of brackets and quotes, each with the sign before it.

    Parameters
    ----------
    text : str
    sign : str
        ``"+"`` splits at ``+`` and at ``-`` between two operands; ``"*"`` does not split at ``**``.

    Examples
    --------
    >>> split("a + I(b + c) - 1", "+")
    [('', 'a'), ('+', 'I(b + c)'), ('-', '1')]
    >>> [part for _, part in split("a*b**2", "*")]
    ['a', 'b**2']
    """
    parts, start, before = [], 0, ""
    for place in _places(text, sign):
        parts.append((before, text[start:place].strip()))
        start, before = place + 1, text[place]
    return [*parts, (before, text[start:].strip())]


def _places(text: str, sign: str) -> Iterator[int]:
    depth, quote = 0, ""
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'`":
            quote = letter
        elif letter in _OPENING or letter in _CLOSING:
            depth += 1 if letter in _OPENING else -1
        elif depth == 0 and _splits(text, place, sign):
            yield place


def _splits(text: str, place: int, sign: str) -> bool:
    letter, before = text[place], text[:place].rstrip()
    if sign == "*":
        return letter == "*" and "*" not in (text[place - 1 : place], text[place + 1 : place + 2])
    if sign == "+" and letter in "+-":
        return letter == "+" or bool(before and (before[-1].isalnum() or before[-1] in "_)]}\"'`"))
    return letter == sign


def bare(term: str) -> str:
    """Return a term without an ``I( )`` or a pair of parentheses around the whole of it.

    Examples
    --------
    >>> bare("I(age ** 2)"), bare("(a) + (b)")
    ('age ** 2', '(a) + (b)')
    """
    inner = term.removeprefix("I").strip() if term.startswith(("I(", "I (")) else term
    if not (inner.startswith("(") and inner.endswith(")")):
        return term
    depth = 0
    for place, letter in enumerate(inner):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and place < len(inner) - 1:
            return term
    return bare(inner[1:-1].strip())


def factors(term: str) -> tuple[str, ...]:
    """Return the factors of an interaction ``a:b``; a term without one is its own."""
    return tuple(bare(part) for _, part in split(term, ":"))


@lru_cache(maxsize=4096)
def spelling(term: str) -> str:
    """Return the one spelling of a term, for comparison.

    Examples
    --------
    >>> spelling("I(age**2)") == spelling("(hiv.age * hiv.age)")
    True
    >>> spelling("b:a") == spelling("hiv.a * hiv.b"), spelling("a == 1") == spelling("(x.a == 1.0)")
    (True, True)
    """
    try:
        trees = [_Spelling().visit(_parsed(part)) for part in factors(term)]
    except (SyntaxError, ValueError, RecursionError):
        return term.strip()
    return ast.unparse(_product(trees))


def _product(trees: list[ast.expr]) -> ast.expr:
    """The product of some factors, in the order of their spellings."""
    flat = [one for tree in trees for one in _flat(tree)]
    first, *others = sorted(flat, key=ast.unparse)
    for one in others:
        first = ast.BinOp(first, ast.Mult(), one)
    return first


def _flat(tree: ast.expr) -> Iterator[ast.expr]:
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult):
        yield from _flat(tree.left)
        yield from _flat(tree.right)
    else:
        yield tree


class _Spelling(ast.NodeTransformer):
    """One form for what means the same: squares as products, factors in order, whole numbers as such, no dataset's name."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant) and node.right.value == 2:
            return _product([node.left, node.left])
        return _product([node]) if isinstance(node.op, ast.Mult) else node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        whole = isinstance(node.value, float) and node.value.is_integer()
        return ast.Constant(int(node.value)) if whole else node  # type: ignore[arg-type]

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Name(node.attr) if isinstance(node.value, ast.Name) else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        named = isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Constant)
        return ast.Name(str(node.slice.value)) if named else node  # type: ignore[attr-defined]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if (name := _name(node)) is not None:
            return ast.Name(name)
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
        node.args = [self.visit(one) for one in node.args]
        return node


def value(term: str, look: Callable[[str], object]) -> Any:
    """Return what a term comes to: an expression of columns, or of numbers.

    Parameters
    ----------
    term : str
    look : callable
        Returns what a name stands for: a column of a dataset, or values.

    Raises
    ------
    OptionError
        If it is no expression, or says what a formula cannot.

    Examples
    --------
    >>> value("age**2:sex", {"age": 40, "sex": 2}.get)
    3200
    """
    return reduce(operator.mul, [_read(part, look) for part in factors(term)])


def _parsed(text: str) -> ast.expr:
    """Return a term as Python, each name in backticks as ``Q("…")``."""
    return ast.parse(_NAMED.sub(lambda one: one[1] or f"Q({one[2]!r})", text), mode="eval").body


def name_of(term: str) -> str:
    """Return the name of the column that a term is, however it is written; another term as it stands.

    Examples
    --------
    >>> (
    ...     name_of("`No-show`"),
    ...     name_of('Q("No-show")'),
    ...     name_of("s['No-show']"),
    ...     name_of("s.age"),
    ...     name_of("age"),
    ... )
    ('No-show', 'No-show', 'No-show', 'age', 'age')
    """
    try:
        return _name(_parsed(term)) or term
    except (SyntaxError, ValueError):
        return term


def _name(tree: ast.AST) -> str | None:
    match tree:
        case ast.Name(name) | ast.Attribute(ast.Name(), name):
            return name
        case ast.Call(ast.Name("Q"), [ast.Constant(str(name))], []) | ast.Subscript(
            ast.Name(), ast.Constant(str(name))
        ):
            return name
    return None


def _read(text: str, look: Callable[[str], object]) -> Any:
    try:
        tree = _parsed(text)
    except (SyntaxError, ValueError):
        raise OptionError(
            f'{text!r} is neither a column nor an expression of columns. Write for example "y ~ x1 + x1**2 + (x2 == 1)", and a name that '
            "is not one word in backticks."
        ) from None
    return _value(tree, look)


def _value(tree: ast.AST, look: Callable[[str], object]) -> Any:
    def of(node: ast.AST) -> Any:
        return _value(node, look)

    name = _name(tree)
    if name is not None:
        return look(name)
    match tree:
        case ast.Constant(constant):
            return constant
        case ast.List(items) | ast.Tuple(items):
            return [of(item) for item in items]
        case ast.UnaryOp(sign, operand) if type(sign) in UNARY:
            return UNARY[type(sign)](of(operand))
        case ast.BinOp(left, sign, right) if type(sign) in BINARY:
            return BINARY[type(sign)](of(left), of(right))
        case ast.Compare(left, [sign], [right]) if type(sign) in COMPARE:
            return COMPARE[type(sign)](of(left), of(right))
        case ast.Call(ast.Attribute(owner, name), arguments, []) if name in _METHODS:
            return getattr(of(owner), name)(*map(of, arguments))
        case _:
            raise OptionError(
                f"A formula has no {ast.unparse(tree)}. It has + - * / by a constant, ** 2, comparisons, & | ~, .isin() and .clip()."
            )


BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
