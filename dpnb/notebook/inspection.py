"""``hiv?`` and ``hiv.age?``: the public schema in place of a class's docstring.

IPython asks its MIME hooks first; this one answers for handles alone, and passes every other object on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpnb.notebook.display import handle_bundle

_KINDS = ("text/plain", "text/html")


def register(shell: Any) -> None:
    """Answer ``?`` on handles."""
    hooks = dict(shell.inspector.mime_hooks)
    for kind in _KINDS:
        hooks[kind] = _hook(kind, hooks.get(kind))
    shell.inspector.mime_hooks = hooks


def unregister(shell: Any) -> None:
    """Give ``?`` back to IPython."""
    hooks = dict(shell.inspector.mime_hooks)
    for kind in _KINDS:
        older = getattr(hooks.get(kind), "older", None)
        if hasattr(hooks.get(kind), "older"):
            hooks.pop(kind)
        if older is not None:
            hooks[kind] = older
    shell.inspector.mime_hooks = hooks


def described(value: object) -> dict[str, Any] | None:
    """Return what ``?`` says about a handle, or None for everything else."""
    from dpnb.client.columns import ColumnHandle
    from dpnb.client.handles import Dataset

    if isinstance(value, Dataset):
        return handle_bundle(value)
    return {"text/plain": repr(value)} if isinstance(value, ColumnHandle) else None


def _hook(kind: str, older: Callable[..., Any] | None) -> Callable[..., Any]:
    def describe(data: Any) -> Any:
        found = described(data.obj)
        if found is None:
            return older(data) if older is not None else None
        return [(type(data.obj).__name__, found[kind])] if kind in found else None

    describe.older = older  # type: ignore[attr-defined]
    return describe
