"""One cell body: ordinary Python, compiled and run so that lines, files and errors are the user's own.

The body is compiled under the file name that the debugger expects and padded to the line numbers of the whole
cell, and the raw text is what tracebacks quote. It refuses nothing: every Python program is a cell. The last
expression is returned instead of displayed, because it must be released before it is shown.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import tokenize
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell

from dpnb.errors import DpnbError, OptionError
from dpnb.estimate import current_host

_SQL = re.compile(r"\s*(\w+\s*<<\s*)?(SELECT|WITH\s+\w+\s+AS\s*\()", re.IGNORECASE)


class CellSyntaxError(DpnbError):
    """The body is not Python. Drawn as IPython draws a SyntaxError; nothing ran, nothing was spent."""

    code = "syntax"

    def __init__(self, cause: SyntaxError, lines: list[str]) -> None:
        super().__init__(f"{cause.msg} (line {cause.lineno})")
        self.lines = lines

    def _render_traceback_(self) -> list[str]:
        return self.lines


@dataclass(frozen=True, slots=True)
class Body:
    """A compiled cell body.

    Attributes
    ----------
    steps, last : CodeType or None
        The statements, and the final expression if there is one.
    names : tuple of str
        Names that the body binds at its top level, or whose item or attribute it sets.
    silenced : bool
        Whether the body ends in ``;``.
    awaits : bool
        Whether it must be run by :func:`run_async`.
    text : str
        As it was typed.
    """

    steps: CodeType
    last: CodeType | None
    names: tuple[str, ...]
    silenced: bool
    awaits: bool
    text: str = ""


def prepare(shell: InteractiveShell, cell: str, head: str = "%%dp") -> Body:
    """Compile the body of a cell magic.

    Parameters
    ----------
    shell : InteractiveShell
        The shell whose transformers, compiler and history apply.
    cell : str
        The body as IPython hands it to the magic.
    head : str
        The magic line, used where the history does not hold this cell.

    Raises
    ------
    CellSyntaxError
        When the body does not parse; drawn as IPython draws a SyntaxError.
    """
    raw, above = as_typed(shell, cell, head)
    name = shell.compile.cache(raw, shell.displayhook.prompt_count, raw_code=raw)
    current_host().labels[name] = f"In[{shell.displayhook.prompt_count}]"
    linecache.cache[name] = (len(raw), None, raw.splitlines(keepends=True), name)
    failure = None
    try:
        source = "\n" * (above + _blank_lines(cell)) + shell.transform_cell(cell)
        body = _compile(shell, source, name, silenced=_silenced(cell))
        return replace(body, text=cell.rstrip("\n"))
    except SyntaxError as error:
        failure = error
    if _SQL.match(cell):
        raise OptionError("This is SQL: write %%dp sql epsilon=1 in the first line.")
    drawn = shell.SyntaxTB.structured_traceback(SyntaxError, failure, [])  # type: ignore[arg-type]  # as IPython calls it
    raise CellSyntaxError(failure, drawn)


def run(body: Body, namespace: dict[str, Any]) -> Any:
    """Run a body and return the value of its last expression, or None."""
    __tracebackhide__ = True
    exec(body.steps, namespace)  # noqa: S102  the user's own cell
    return eval(body.last, namespace) if body.last else None  # noqa: S307


async def run_async(body: Body, namespace: dict[str, Any]) -> Any:
    """Run a body that awaits at its top level."""
    __tracebackhide__ = True
    for code in filter(None, (body.steps, body.last)):
        value = eval(code, namespace)  # noqa: S307  the user's own cell
        if inspect.iscoroutine(value) and code.co_flags & inspect.CO_COROUTINE:
            value = await value
    return value if body.last else None


def bound_names(tree: ast.AST) -> tuple[str, ...]:
    """Names that a module stores, and the base names of ``d[k] =`` and ``s.x =``, in order of appearance."""
    finder = _Bound()
    finder.visit(tree)
    return tuple(dict.fromkeys(finder.names))


def as_typed(shell: InteractiveShell, cell: str, head: str) -> tuple[str, int]:
    """Return the whole cell as it was typed, and how many of its lines stand above its body."""
    history = shell.history_manager
    raw = "" if history is None else str(history.input_hist_raw[-1])
    for text in (raw, raw + "\n"):  # the body that IPython hands over always ends a line
        if text.endswith(cell):
            return raw, text[: len(text) - len(cell)].count("\n")
    return f"{head}\n{cell}", 1


def _silenced(cell: str) -> bool:
    """Tell whether the last expression ends in a semicolon; what cannot be read is left to the compiler's error."""
    try:
        return bool(DisplayHook.semicolon_at_end_of_expression(cell))
    except (tokenize.TokenError, SyntaxError):
        return False


def _blank_lines(cell: str) -> int:
    lines = cell.splitlines()
    return next((count for count, line in enumerate(lines) if line.strip()), len(lines))


def _compile(shell: InteractiveShell, source: str, name: str, *, silenced: bool) -> Body:
    flag = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if shell.autoawait else 0
    with shell.compile.extra_flags(flag):
        tree = shell.transform_ast(shell.compile.ast_parse(source, filename=name))
        names = bound_names(tree)
        final = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        steps = shell.compile(tree, name, "exec")
        last = shell.compile(ast.Expression(final.value), name, "eval") if final else None  # type: ignore[arg-type]
    awaits = any(code.co_flags & inspect.CO_COROUTINE for code in (steps, last) if code)
    return Body(steps, last, names, silenced, awaits)


class _Bound(ast.NodeVisitor):
    """Collects stored names, not entering scopes of their own."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.names.append(node.id)

    def _target(self, node: ast.Subscript | ast.Attribute) -> None:
        base: ast.AST = node
        while isinstance(base, ast.Subscript | ast.Attribute):
            base = base.value
        if isinstance(node.ctx, ast.Store) and isinstance(base, ast.Name):
            self.names.append(base.id)
        self.generic_visit(node)

    visit_Subscript = visit_Attribute = _target  # noqa: N815

    def visit_Global(self, node: ast.Global) -> None:
        self.names.extend(node.names)

    def _inner(self, node: ast.AST) -> None:
        for child in ast.walk(node):
            if isinstance(child, ast.Global):
                self.names.extend(child.names)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _inner  # noqa: N815

    def _comprehension(self, node: ast.AST) -> None:
        for child in ast.walk(node):
            if isinstance(child, ast.NamedExpr) and isinstance(child.target, ast.Name):
                self.names.append(child.target.id)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815
