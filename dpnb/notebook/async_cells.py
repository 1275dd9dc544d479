"""``await`` in a ``%%dp`` body: the call of the magic is itself awaited when its body awaits.

Two smaller rewritings: ``%%dp --help`` may stand alone, which IPython refuses to a cell magic without a body; and a cell with
``%%dp`` below its first line, which IPython takes for an unknown line magic, runs nothing and says where it belongs.

IPython never awaits a magic and decides from the text alone whether a cell is asynchronous, so the text must say
so. Only cells with ``%%dp`` are touched.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import IPython.core.async_helpers as ipython_async

# a private name of IPython: without it an await in a body is a SyntaxError
needs_await: Callable[[str], bool] | None = getattr(ipython_async, "_should_be_async", None)

_CALL = "get_ipython().run_cell_magic('dp',"
_BELOW = re.compile(r"^\s*(?:\w+ = )?get_ipython\(\)\.run_line_magic\('%dp', ", re.MULTILINE)
_HELP = re.compile(r"get_ipython\(\)\.run_cell_magic\('dp', '\s*(--help|help|-h)\s*', ''\)")


def transformer(shell: Any) -> Callable[[list[str]], list[str]]:
    """An input transformer for ``shell.input_transformers_post``."""

    def await_dp(lines: list[str]) -> list[str]:
        text = "".join(lines)
        if _HELP.match(text):
            return ["get_ipython().run_line_magic('dp', 'options')\n"]
        if _BELOW.search(text):
            return ["get_ipython().run_line_magic('dp', '%%dp')\n"]
        if not text.startswith(_CALL) or needs_await is None:
            return lines
        body = _body(text)
        if body is None or not needs_await(_transformed(shell, body)):
            return lines
        return ("await " + text).splitlines(keepends=True)

    return await_dp


def _body(text: str) -> str | None:
    try:
        call = ast.parse(text).body[0]
    except SyntaxError:
        return None
    if not (isinstance(call, ast.Expr) and isinstance(call.value, ast.Call) and len(call.value.args) == 3):
        return None
    body = call.value.args[2]
    return body.value if isinstance(body, ast.Constant) and isinstance(body.value, str) else None


def _transformed(shell: Any, body: str) -> str:
    try:
        return str(shell.transform_cell(body))
    except SyntaxError:
        return body
