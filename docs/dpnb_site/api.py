"""The pages of the public names: each docstring as it stands in the code, drawn by Sphinx and numpydoc."""

from __future__ import annotations

import inspect
from pathlib import Path

from dpnb_site.public_names import ROOMS, Room


def write(folder: Path) -> None:
    """Write one page for each room, below `folder`."""
    out = folder / "api"
    out.mkdir(parents=True, exist_ok=True)
    for room in ROOMS:
        (out / f"{room.page}.rst").write_text(_page(room), encoding="utf-8")
    index = (folder / "api.md").read_text(encoding="utf-8")
    tree = "\n".join(["", "```{toctree}", ":hidden:", "", *(f"api/{room.page}" for room in ROOMS), "```", ""])
    (folder / "api.md").write_text(index + tree, encoding="utf-8")


def _page(room: Room) -> str:
    title = f"{room.title}"
    parts = [title, "=" * len(title), "", room.words, ""]
    for name, thing in room.members():
        parts += [_directive(room, name, thing), ""]
    return "\n".join(parts)


def _directive(room: Room, name: str, thing: object) -> str:
    where = f"{room.module}.{name}"
    if inspect.isclass(thing):
        lines = [f".. autoclass:: {where}"]
        if room.methods:
            lines += ["   :members:", "   :inherited-members: object, Exception, BaseException"]
        return "\n".join(lines)
    if callable(thing):
        return f".. autofunction:: {where}"
    return f".. autodata:: {where}\n   :no-value:"
