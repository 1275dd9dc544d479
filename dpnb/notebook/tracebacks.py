"""Short errors: an error of dpnb is its message and the user's line; ``%tb`` shows everything.

The cell still fails: only the drawing changes. Errors that are not dpnb's own are left to IPython.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator, Mapping
from types import TracebackType

from IPython.core.getipython import get_ipython

from dpnb.client.handles import Dataset
from dpnb.errors import DpnbError

_HOOK = "_render_traceback_"
_SHOWN = "_dpnb_shown"


def install() -> None:
    """Draw every :class:`DpnbError` short, once; the second drawing (``%tb``) is the full traceback."""
    setattr(DpnbError, _HOOK, render)


def uninstall() -> None:
    """Give the drawing back to IPython."""
    if _HOOK in vars(DpnbError):
        delattr(DpnbError, _HOOK)


def render(error: DpnbError) -> list[str]:
    """Draw an error: short the first time, whole the second."""
    shell = get_ipython()
    assert shell is not None
    if getattr(error, _SHOWN, False) or not wants_short(shell):
        return list(shell.InteractiveTB.structured_traceback(type(error), error, error.__traceback__))
    setattr(error, _SHOWN, True)
    text = short(error, dict(shell.compile._filename_map), shell.displayhook.prompt_count)  # noqa: SLF001
    return in_own_names(text, shell.user_ns).splitlines()


def wants_short(shell: object) -> bool:
    """Whether ``DPMagic.short_errors`` is on."""
    magic = getattr(shell, "_dpnb_magic", None)
    return bool(magic is None or magic.short_errors)


def short(error: BaseException, cells: dict[str, int], current: int) -> str:
    """The message, then the line of the user's cell that raised it.

    Parameters
    ----------
    error : BaseException
        The error to describe.
    cells : dict
        File name of every compiled cell, and its number.
    current : int
        The number of the running cell; a line of another cell is labelled ``In[n]``.
    """
    message = str(error).rstrip()
    place = where(error.__traceback__, cells, current)
    return f"{message}\n{place}" if place else message


def where(trace: TracebackType | None, cells: dict[str, int], current: int) -> str:
    """``line 4: if q > 3:`` for the innermost frame that is a cell, or an empty text."""
    frames = [(name, line) for name, line in _frames(trace) if name in cells]
    if not frames:
        return ""
    name, line = frames[-1]
    text = linecache.getline(name, line).strip()
    if re.match(r"(await )?get_ipython\(\)\.run_(cell|line)_magic\(", text):
        return ""
    cell = "" if cells[name] == current else f"In[{cells[name]}], "
    return f"{cell}line {line}: {text}"


def _frames(trace: TracebackType | None) -> Iterator[tuple[str, int]]:
    while trace is not None:
        yield trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next


def in_own_names(text: str, names: Mapping[str, object]) -> str:
    """Say what the notebook calls a dataset in the place of the dataset's own name, where that stands for nothing there.

    Examples
    --------
    >>> in_own_names("hiv has no column gott: hiv.got.mean()", {})
    'hiv has no column gott: hiv.got.mean()'
    """
    handles = {
        name: one for name, one in names.items() if isinstance(one, Dataset) and not name.startswith("_")
    }
    for name, one in handles.items():
        if one.name not in names and one is one.root:
            text = re.sub(_EXPRESSION.format(re.escape(one.name)), name, text)
    return text


_EXPRESSION = r"(?<![\w.\"'/]){}(?=[.\[](?:<wbr>)?(?:[\w\"'(]|&quot;))"
"""A name at the head of an expression, in text or in HTML that may break its line after an operator."""
