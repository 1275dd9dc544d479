"""The notebook: magics, display, completion and automatic cells, attached to one IPython shell.

Everything that depends on IPython is here. ``load`` attaches it and ``unload`` removes all of it; loading twice is the
same as loading once. What it refuses: to touch the user's names, and to spend for a cell that failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_MARK = "_dpnb_magic"


def load(shell: InteractiveShell) -> None:
    """Attach dpnb to a shell: what ``%load_ext dpnb`` does."""
    if getattr(shell, _MARK, None) is not None:
        return
    from dpnb.notebook import install

    setattr(shell, _MARK, install.attach(shell))


def unload(shell: InteractiveShell) -> None:
    """Detach dpnb from a shell: what ``%unload_ext dpnb`` does."""
    magic = getattr(shell, _MARK, None)
    if magic is None:
        return
    from dpnb.notebook import install

    install.detach(shell, magic)
    setattr(shell, _MARK, None)
