"""Attaching to a shell and leaving it as it was: each hook is put in here and taken out here."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import IPython.core.async_helpers as ipython_async
from IPython.core.interactiveshell import InteractiveShell

from dpnb.estimate import provide
from dpnb.notebook import complete, display, tracebacks
from dpnb.notebook.display import handle_bundle
from dpnb.notebook.host import NotebookHost
from dpnb.notebook.magic import DPMagic
from dpnb.trusted.canonical import Record


def attach(shell: InteractiveShell) -> DPMagic:
    """Register magics, formatters, completion, errors and automatic cells."""
    magic = DPMagic(shell)
    shell.register_magics(magic)
    shell.configurables.append(magic)  # type: ignore[arg-type]  # IPython appends its own magics there
    magic.automatic.install()
    shell.events.register("post_run_cell", magic.refresh)
    magic.hooks = (transformer(shell), complete.matcher(shell), label_cell(shell, magic.host))
    shell.events.register("pre_run_cell", magic.hooks[2])
    shell.input_transformers_post.append(magic.hooks[0])
    shell.Completer.custom_matchers.append(magic.hooks[1])
    display.register(shell)
    _describe_handles(shell)
    tracebacks.install()
    provide(magic.host)
    magic.link.install()
    return magic


def detach(shell: InteractiveShell, magic: DPMagic) -> None:
    """Remove everything that :func:`attach` registered."""
    magic.link.uninstall()
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("dp", None)
    _remove(shell.configurables, magic)
    magic.automatic.uninstall()
    shell.events.unregister("post_run_cell", magic.refresh)
    shell.events.unregister("pre_run_cell", magic.hooks[2])
    _remove(shell.input_transformers_post, magic.hooks[0])
    _remove(shell.Completer.custom_matchers, magic.hooks[1])
    display.unregister(shell)
    _describe_as_before(shell)
    tracebacks.uninstall()
    provide(None)


def label_cell(shell: InteractiveShell, host: NotebookHost) -> Callable[[Any], None]:
    """Return a hook that notes which file name a cell is compiled under, for "built in In[5], line 2"."""

    def note(info: Any) -> None:
        number = shell.displayhook.prompt_count
        name = shell.compile.get_code_name(info.raw_cell, info.transformed_cell or info.raw_cell, number)
        host.labels[name] = f"In[{number}]"

    return note


def _remove(items: list[Any], item: object) -> None:
    if item in items:
        items.remove(item)


_INSPECTED = ("text/plain", "text/html")


def _describe_handles(shell: InteractiveShell) -> None:
    """Answer ``hiv?`` and ``hiv.age?`` with the public schema in place of a class's docstring; other objects are IPython's."""
    hooks = dict(shell.inspector.mime_hooks)
    for kind in _INSPECTED:
        hooks[kind] = _hook(kind, hooks.get(kind))
    shell.inspector.mime_hooks = hooks


def _describe_as_before(shell: InteractiveShell) -> None:
    """Give ``?`` back to IPython."""
    hooks = dict(shell.inspector.mime_hooks)
    for kind in _INSPECTED:
        older = getattr(hooks.get(kind), "older", None)
        if hasattr(hooks.get(kind), "older"):
            hooks.pop(kind)
        if older is not None:
            hooks[kind] = older
    shell.inspector.mime_hooks = hooks


def _described(value: object) -> Record | None:
    """Return what ``?`` says about a handle, or None for everything else."""
    from dpnb.client.columns import ColumnHandle
    from dpnb.client.handles import Dataset

    if isinstance(value, Dataset):
        return handle_bundle(value)
    return {"text/plain": repr(value)} if isinstance(value, ColumnHandle) else None


def _hook(kind: str, older: Callable[..., Any] | None) -> Callable[..., Any]:
    def describe(data: Any) -> Any:
        found = _described(data.obj)
        if found is None:
            return older(data) if older is not None else None
        return [(type(data.obj).__name__, found[kind])] if kind in found else None

    describe.older = older  # type: ignore[attr-defined]
    return describe


# a private name of IPython: without it an await in a body is a SyntaxError
needs_await: Callable[[str], bool] | None = getattr(ipython_async, "_should_be_async", None)

_CALL = "get_ipython().run_cell_magic('dp',"
_BELOW = re.compile(r"^\s*(?:\w+ = )?get_ipython\(\)\.run_line_magic\('%dp', ", re.MULTILINE)
_HELP = re.compile(r"get_ipython\(\)\.run_cell_magic\('dp', '\s*(--help|help|-h)\s*', ''\)")


def transformer(shell: InteractiveShell) -> Callable[[list[str]], list[str]]:
    """Return an input transformer: ``await`` in a ``%%dp`` body, ``%%dp --help`` without a body, ``%%dp`` below the first line.

    IPython never awaits a magic and decides from the text alone whether a cell is asynchronous, so the text must say so.
    """

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


def _transformed(shell: InteractiveShell, body: str) -> str:
    try:
        return str(shell.transform_cell(body))
    except SyntaxError:
        return body
