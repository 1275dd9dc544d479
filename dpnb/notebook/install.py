"""Attaching to a shell and leaving it as it was: each hook is put in here and taken out here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpnb.estimate import provide
from dpnb.notebook import async_cells, complete, display, tracebacks
from dpnb.notebook.display import handle_bundle
from dpnb.notebook.host import NotebookHost
from dpnb.notebook.magic import DPMagic


def attach(shell: Any) -> DPMagic:
    """Register magics, formatters, completion, errors and automatic cells."""
    magic = DPMagic(shell)
    shell.register_magics(magic)
    shell.configurables.append(magic)
    magic.automatic.install()
    shell.events.register("post_run_cell", magic.refresh)
    magic.hooks = (async_cells.transformer(shell), complete.matcher(shell), label_cell(shell, magic.host))
    shell.events.register("pre_run_cell", magic.hooks[2])
    shell.input_transformers_post.append(magic.hooks[0])
    shell.Completer.custom_matchers.append(magic.hooks[1])
    display.register(shell)
    _describe_handles(shell)
    tracebacks.install()
    provide(magic.host)
    magic.link.install()
    return magic


def detach(shell: Any, magic: DPMagic) -> None:
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


def label_cell(shell: Any, host: NotebookHost) -> Any:
    """Return a hook that notes which file name a cell is compiled under, for "built in In[5], line 2"."""

    def note(info: Any) -> None:
        number = shell.displayhook.prompt_count
        name = shell.compile.get_code_name(info.raw_cell, info.transformed_cell or info.raw_cell, number)
        host.labels[name] = f"In[{number}]"

    return note


def _remove(items: list[Any], item: Any) -> None:
    if item in items:
        items.remove(item)


_INSPECTED = ("text/plain", "text/html")


def _describe_handles(shell: Any) -> None:
    """Answer ``hiv?`` and ``hiv.age?`` with the public schema in place of a class's docstring; other objects are IPython's."""
    hooks = dict(shell.inspector.mime_hooks)
    for kind in _INSPECTED:
        hooks[kind] = _hook(kind, hooks.get(kind))
    shell.inspector.mime_hooks = hooks


def _describe_as_before(shell: Any) -> None:
    """Give ``?`` back to IPython."""
    hooks = dict(shell.inspector.mime_hooks)
    for kind in _INSPECTED:
        older = getattr(hooks.get(kind), "older", None)
        if hasattr(hooks.get(kind), "older"):
            hooks.pop(kind)
        if older is not None:
            hooks[kind] = older
    shell.inspector.mime_hooks = hooks


def _described(value: object) -> dict[str, Any] | None:
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
