"""A small part of Python, read and never run: what a cell builds of protected handles, which hold no data.

It reads attributes, subscripts and question calls of handles, arithmetic, comparisons, literals, names that the cell itself
binds, ``if`` on constants, ``for`` and comprehensions over literals and schema values. It refuses everything else with
:class:`Unread`, calls no function of the user's, and takes a bounded number of steps.
"""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, TypeAlias

from dpnb.client.columns import ColumnHandle
from dpnb.client.handles import Dataset
from dpnb.errors import DpnbError
from dpnb.estimate import Estimate
from dpnb.estimate.regression_summary import Regression
from dpnb.statistics.formula_terms import BINARY, COMPARE, UNARY
from dpnb.trusted.schema import Column, Schema

Handle: TypeAlias = Dataset | ColumnHandle
Value: TypeAlias = Any
"""What an expression of a cell gives: a handle, an estimate, or a plain value of Python."""

STEPS = 20_000
LARGEST = 2**64
LONGEST = 2_000

CALLABLE: dict[str, Callable[..., Value]] = {
    "range": range,
    "list": list,
    "tuple": tuple,
    "dict": dict,
    "zip": zip,
    "enumerate": enumerate,
    "len": len,
}
_UNARY = {**UNARY, ast.Not: operator.not_}
_PUBLIC: dict[type[Any], frozenset[str]] = {
    Dataset: frozenset({"schema", "name"}),
    Schema: frozenset({"names", "columns"}),
    Column: frozenset({"values", "lower", "upper", "name", "label"}),
    Regression: frozenset({"coefficients"}),
    list: frozenset({"append", "extend"}),
    dict: frozenset({"items", "keys", "values"}),
}
_TYPES = frozenset({"float", "int", "str", "bool", "object"})
_MADE = ("Estimate", "ColumnHandle", "Dataset", "Regression")
_EFFECTS = frozenset({"remeasure"})


class Unread(Exception):
    """Something that only running the cell can tell."""


def read(
    tree: ast.Module, handles: Mapping[str, Value], shadowed: frozenset[str] = frozenset()
) -> tuple[dict[str, Value], Value]:
    """Return the names that a cell binds, and the value of its last expression.

    Parameters
    ----------
    tree : ast.Module
        The cell.
    handles : mapping of str to Dataset or ColumnHandle
        The names of protected handles; for the expressions of a magic line, those of plain numbers and texts.
    shadowed : frozenset of str
        Names of builtins that the user has bound to something else.

    Raises
    ------
    Unread
        Where only running the cell can tell.
    DpnbError
        Where running the cell would stop with this error.
    """
    if any(map(_repeats, ast.walk(tree))):
        raise Unread("an argument that is given twice")
    reader = _Reader(handles, shadowed)
    last = reader.run(tree)
    return reader.names, last


class _Reader(ast.NodeVisitor):
    """Reads statements and expressions of one cell.

    Parameters
    ----------
    handles : mapping of str to Dataset or ColumnHandle
        The names of protected handles.
    shadowed : frozenset of str
        Names that the user has bound to anything else.

    Attributes
    ----------
    names : dict
        What the cell has bound so far.
    """

    def __init__(self, handles: Mapping[str, Value], shadowed: frozenset[str] = frozenset()) -> None:
        self.handles, self.shadowed = handles, shadowed
        self.names: dict[str, Value] = {}
        self.left = STEPS

    def run(self, tree: ast.Module) -> Value:
        """Read a module and return the value of its last expression, or None."""
        *steps, final = tree.body or [ast.Pass()]
        self._all(steps)
        if isinstance(final, ast.Expr):
            return self.visit(final.value)
        self.visit(final)
        return None

    # statements ------------------------------------------------------------------------------------------------

    def visit(self, node: ast.AST) -> Value:
        """Read one statement, or one expression and return its value; count the step."""
        self.left -= 1
        if self.left < 0:
            raise Unread("a long cell")
        return super().visit(node)

    def generic_visit(self, node: ast.AST) -> NoReturn:
        """Refuse what has no rule here."""
        raise Unread(type(node).__name__.lower())

    def visit_Expr(self, node: ast.Expr) -> None:
        self.visit(node.value)

    def visit_Pass(self, node: ast.Pass) -> None:
        pass

    def visit_Assign(self, node: ast.Assign) -> None:
        found = self.visit(node.value)
        for target in node.targets:
            self._bind(target, found)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        plain = isinstance(node.annotation, ast.Constant) or (
            isinstance(node.annotation, ast.Name) and node.annotation.id in _TYPES
        )
        if not plain or node.value is None:
            raise Unread("an annotation")
        self._bind(node.target, self.visit(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if not isinstance(node.target, ast.Name):
            raise Unread("an assignment to a part")
        self._bind(node.target, self._binary(node.op, self._name(node.target.id), self.visit(node.value)))

    def visit_For(self, node: ast.For) -> None:
        if node.orelse:
            raise Unread("for with else")
        for item in self._items(node.iter):
            self._bind(node.target, item)
            self._all(node.body)

    def visit_If(self, node: ast.If) -> None:
        self._all(node.body if self._truth(node.test) else node.orelse)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if not isinstance(target, ast.Name) or target.id not in self.names:
                raise Unread("del")
            del self.names[target.id]

    def _take(self, *values: object) -> None:
        """Count what a step reads: a cell may build much out of little, but not have it read."""
        rest = list(values)
        while rest:
            value = rest.pop()
            self.left -= 1
            if self.left < 0:
                raise Unread("a long cell")
            if isinstance(value, list | tuple):
                rest.extend(value[: self.left + 1])
            elif isinstance(value, dict):
                rest.extend(itertools.chain(*itertools.islice(value.items(), self.left + 1)))

    def _all(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.visit(statement)

    def _bind(self, target: ast.expr, value: object) -> None:
        match target:
            case ast.Name(name):
                self.names[name] = value
            case ast.Tuple(parts) | ast.List(parts):
                items = list(_steps(value))
                if len(items) != len(parts) or any(isinstance(part, ast.Starred) for part in parts):
                    raise Unread("unpacking")
                for part, item in zip(parts, items, strict=True):
                    self._bind(part, item)
            case ast.Subscript(ast.Name(name), key) if type(self.names.get(name)) is dict:
                self.names[name][self._key(key)] = value
            case _:
                raise Unread("an assignment to something that the cell did not make")

    # expressions -----------------------------------------------------------------------------------------------

    def visit_Constant(self, node: ast.Constant) -> Value:
        return _small(node.value)

    def visit_Name(self, node: ast.Name) -> Value:
        return self._name(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> Value:
        return _attribute(self.visit(node.value), node.attr)

    def visit_BinOp(self, node: ast.BinOp) -> Value:
        return self._binary(node.op, self.visit(node.left), self.visit(node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self.visit(node.operand)
        if not _counts(value):
            raise Unread("an operator")
        return _tried(_UNARY[type(node.op)], value)

    def visit_IfExp(self, node: ast.IfExp) -> Value:
        return self.visit(node.body if self._truth(node.test) else node.orelse)

    def visit_List(self, node: ast.List) -> list[Value]:
        return [self.visit(part) for part in node.elts]

    def visit_Tuple(self, node: ast.Tuple) -> tuple[Value, ...]:
        return tuple(self.visit(part) for part in node.elts)

    def visit_Dict(self, node: ast.Dict) -> dict[Value, Value]:
        keys = [key for key in node.keys if key is not None]
        if len(keys) != len(node.keys):
            raise Unread("a starred dict")
        return {self._key(key): self.visit(value) for key, value in zip(keys, node.values, strict=True)}

    def visit_ListComp(self, node: ast.ListComp) -> list[Value]:
        return self._comprehended(node.generators, lambda: self.visit(node.elt))

    def visit_DictComp(self, node: ast.DictComp) -> dict[Value, Value]:
        return dict(
            self._comprehended(node.generators, lambda: (self._key(node.key), self.visit(node.value)))
        )

    def visit_JoinedStr(self, node: ast.JoinedStr) -> str:
        found = "".join(self._text(part) for part in node.values)
        if len(found) > LONGEST:
            raise Unread("a long text")
        return found

    def _name(self, name: str) -> Value:
        if name in self.names:
            return self.names[name]
        if name in self.handles:
            return self.handles[name]
        raise Unread(f"the name {name}")

    def visit_Subscript(self, node: ast.Subscript) -> Value:
        of, key = self.visit(node.value), node.slice
        if not isinstance(of, Dataset | Estimate | Regression | Schema | list | tuple | dict):
            raise Unread("a subscript")
        if isinstance(key, ast.Slice):
            ends = (None if end is None else self.visit(end) for end in (key.lower, key.upper, key.step))
            return _tried(operator.getitem, of, slice(*ends))
        return _tried(operator.getitem, of, self._key(key) if isinstance(of, dict) else self.visit(key))

    def visit_Call(self, node: ast.Call) -> Value:
        function = self._function(node.func)
        if any(isinstance(arg, ast.Starred) for arg in node.args) or any(
            k.arg is None for k in node.keywords
        ):
            raise Unread("a starred argument")
        args = [self.visit(arg) for arg in node.args]
        kwargs = {str(k.arg): self.visit(k.value) for k in node.keywords}
        self._take(*args, *kwargs.values())
        found = _tried(function, *args, **kwargs)
        if isinstance(found, range) and len(found) > LONGEST:
            raise Unread("a long range")
        return found

    def _function(self, node: ast.expr) -> Callable[..., Value]:
        if isinstance(node, ast.Name) and node.id not in self.names:
            if node.id in CALLABLE and node.id not in self.shadowed:
                return CALLABLE[node.id]
            raise Unread(f"the function {node.id}")
        if not isinstance(node, ast.Attribute):
            raise Unread("a call")
        return _method(self.visit(node.value), node.attr)

    def _binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        if type(op) not in BINARY or not _counts(left) or not _counts(right):
            raise Unread("an operator")
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        if numbers and isinstance(op, ast.Pow) and (abs(left) > 2**16 or abs(right) > 64):
            raise Unread("a large power")
        return _small(_tried(BINARY[type(op)], left, right))

    def visit_Compare(self, node: ast.Compare) -> Value:
        left, found = self.visit(node.left), None
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            if found is not None and not found:
                return found
            right = self.visit(right_node)
            if type(op) not in COMPARE or isinstance(left, list | dict) or isinstance(right, list | dict):
                raise Unread("a comparison")
            self._take(left, right)
            found, left = _tried(COMPARE[type(op)], left, right), right
        return found

    def visit_BoolOp(self, node: ast.BoolOp) -> Value:
        *parts, final = node.values
        for part in parts:
            value = self.visit(part)
            if _true(value) is isinstance(node.op, ast.Or):
                return value
        return self.visit(final)  # nobody asks whether it is true

    def _key(self, node: ast.expr) -> Value:
        value = self.visit(node)
        if not isinstance(value, str | int | float | bool | tuple):
            raise Unread("a key")
        self._take(value)
        return value

    def _truth(self, node: ast.expr) -> bool:
        return _true(self.visit(node))

    def _comprehended(self, generators: list[ast.comprehension], make: Callable[[], object]) -> list[Value]:
        """Values of a comprehension; its own names end with it."""
        first, *rest = generators
        if rest or first.is_async:
            raise Unread("a comprehension of several loops")
        outer = dict(self.names)
        try:
            found = []
            for item in self._items(first.iter):
                self._bind(first.target, item)
                if all(self._truth(test) for test in first.ifs):
                    found.append(make())
        finally:
            self.names = outer
        return found

    def _items(self, source: ast.expr) -> Iterator[Value]:
        """One item after the other, as they are then: the loop's own body may change what it goes through."""
        return _steps(self.visit(source))

    def _text(self, part: ast.expr) -> str:
        if isinstance(part, ast.Constant):
            return str(part.value)
        if isinstance(part, ast.FormattedValue) and part.format_spec is None and part.conversion == -1:
            value = self.visit(part.value)
            if type(value) in {str, int}:
                return str(value)
        raise Unread("a formatted text")


def _repeats(node: ast.AST) -> bool:
    """Whether a call names an argument twice: the parser lets it pass, the compiler does not."""
    names = [keyword.arg for keyword in node.keywords if keyword.arg] if isinstance(node, ast.Call) else []
    return len(set(names)) < len(names)


def _true(value: object) -> bool:
    """Whether a value is true; one that is not known yet refuses in the words of the ``if`` that asked it."""
    if value:  # noqa: SIM103  the error names the branch that asks
        return True
    return False


def _steps(value: Value) -> Iterator[Value]:
    """Go through literals and schema values, so many at most."""
    plain = isinstance(value, str | list | tuple | dict | range | zip | enumerate)
    if not plain and type(value).__name__ not in {"dict_items", "dict_keys", "dict_values"}:
        raise Unread("a loop over something other than literals and schema values")
    try:
        for place, item in enumerate(value):
            if place == LONGEST:
                raise Unread("a long loop")
            yield item
    except RuntimeError as error:  # a dict that changed in its own loop
        raise Unread(type(error).__name__) from None


def _attribute(of: object, name: str) -> Value:
    if name.startswith("_"):
        raise Unread(name)
    for kind, names in _PUBLIC.items():
        if isinstance(of, kind) and name in names and kind not in {list, dict}:
            return getattr(of, name)
    if isinstance(of, Dataset) and not hasattr(type(of), name):
        return getattr(of, name)
    raise Unread(f".{name}")


def _method(of: object, name: str) -> Callable[..., Value]:
    """A method that builds questions: one that gives a handle or an estimate and has no effect."""
    found = getattr(type(of), name, None)
    if name.startswith("_") or name in _EFFECTS or not callable(found):
        raise Unread(f".{name}()")
    for kind in (list, dict):
        if type(of) is kind and name in _PUBLIC[kind]:
            return getattr(of, name)
    if isinstance(of, Dataset | ColumnHandle | Estimate) and _gives(found) in _MADE:
        return getattr(of, name)
    raise Unread(f".{name}()")


def _gives(function: object) -> str:
    """The name of what a method says that it returns."""
    said = getattr(function, "__signature__", None)
    said = (
        said.return_annotation if said is not None else getattr(function, "__annotations__", {}).get("return")
    )
    return said if isinstance(said, str) else getattr(said, "__name__", "")


def _counts(value: object) -> bool:
    return isinstance(value, int | float | ColumnHandle | Estimate)


def _small(value: object) -> Value:
    """Refuse constants that would take long to compute with."""
    if isinstance(value, int) and abs(value) > LARGEST:
        raise Unread("a large number")
    if not isinstance(value, int | float | str | bool | None | ColumnHandle | Estimate):
        raise Unread(type(value).__name__)
    return value


def _tried(function: Callable[..., object], *args: object, **kwargs: object) -> Value:
    """Call; what Python itself would refuse is left to running the cell."""
    try:
        return function(*args, **kwargs)
    except DpnbError:
        raise
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
        raise Unread(type(error).__name__) from None
