"""``%dp NAME``: the interactions of :mod:`dpnb.widgets.registry`, by one line each.

What stands behind the command is ordinary Python in the user's names, as in a cell. None of them spends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from IPython.display import display

from dpnb.widgets.registry import INTERACTIONS, Entry

if TYPE_CHECKING:
    from dpnb.notebook.magic import DPMagic


def _shown(entry: Entry, names: Mapping[str, Any], text: str) -> Any:
    return entry.load().of_line(names, text)


def run(magic: DPMagic, name: str, text: str) -> None:
    """Show one interaction.

    Parameters
    ----------
    magic : DPMagic
        Its shell's names are what the text may use.
    name : str
        The command.
    text : str
        What follows it on the line.

    Raises
    ------
    OptionError
        When the text is missing, is no Python, or names what there is not.
    """
    __tracebackhide__ = True
    from dpnb.notebook.settle import current_session

    names = magic.shell.user_ns
    display(COMMANDS[name]({**current_session().datasets, **names}, text))


COMMANDS: dict[str, Callable[[Mapping[str, Any], str], Any]] = {
    entry.name: partial(_shown, entry) for entry in INTERACTIONS if entry.line
}
"""What each ``%dp`` word shows of the user's names and of what follows it."""
