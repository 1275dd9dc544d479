"""Attaching to a shell and leaving it as it was: each hook is put in here and taken out here."""

from __future__ import annotations

from typing import Any

from dpnb.estimate import provide
from dpnb.notebook import async_cells, complete, display, inspection, tracebacks
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
    inspection.register(shell)
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
    inspection.unregister(shell)
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
