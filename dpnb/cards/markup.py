"""HTML that is escaped by construction: text becomes markup only through this module.

Labels, names and questions are other people's text. Every child of an element is escaped unless it is markup that was
made here, and characters that could redraw a terminal or reverse a line are dropped.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_VOID = frozenset({"br", "hr", "img", "meta", "wbr"})
_KEPT = frozenset("\n\t")


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def clean(text: object) -> str:
    """Return text without control characters and without marks that change its direction."""
    found = str(text)
    if found.isprintable():
        return found
    return "".join([c for c in found if c in _KEPT or unicodedata.category(c) not in {"Cc", "Cf", "Cs"}])


def escape(text: object) -> Markup:
    """Return text as markup."""
    return text if isinstance(text, Markup) else _escaped(str(text))


@lru_cache(maxsize=1024)
def _escaped(text: str) -> Markup:
    """Escape a text; the names of classes and the words of a card return on every card."""
    return Markup(html.escape(clean(text), quote=True))


def join(children: Iterable[object], between: str = "") -> Markup:
    """Return children one after the other, escaped where they are not markup."""
    parts = [child if isinstance(child, Markup) else escape(child) for child in children]
    return Markup(escape(between).join(parts) if between else "".join(parts))


#: Where long code may break: after an operator, a dot of a name, a comma or a bracket, never inside a word or a number.
_BREAKS = re.compile(r"(?<=[.,=&|+*/(<>\[-])(?![=)\]*])(?<!\d[.,](?=\d))")
_LONG = 24


def code(text: object, **attributes: object) -> Markup:
    """Return code as an element; where it is long, with the places at which it may break.

    Examples
    --------
    >>> code("small.income[small.age > 60].mean()")
    '<code>small.<wbr>income[<wbr>small.<wbr>age &gt;<wbr> 60].<wbr>mean()</code>'
    """
    words = str(text)
    parts = [words] if len(words) <= _LONG else _BREAKS.split(words)
    return el("code", join(parts, Markup("<wbr>")), **attributes)


def el(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element.

    Parameters
    ----------
    name : str
        The tag.
    *children
        Texts (escaped) and markup; None is left out.
    **attributes
        ``class_`` is class, underscores are hyphens; None is left out.

    Examples
    --------
    >>> el("p", "a < b", class_="x")
    '<p class="x">a &lt; b</p>'
    """
    opening = name
    for key, value in attributes.items():
        if value is not None:
            opening += f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
    if name in _VOID:
        return Markup(f"<{opening}>")
    inner = ""
    for child in children:
        if child is not None:
            inner += child if isinstance(child, Markup) else escape(child)
    return Markup(f"<{opening}>{inner}</{name}>")
