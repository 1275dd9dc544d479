"""What a card is: one thing said in three forms, for whoever displays it.

HTML, with its drawings (which still reads when a sanitiser has removed styles, drawings and scripts), text for a terminal
and for print, and strict JSON. There is no picture beside them: every host that could show one shows the HTML, a saved notebook would be
a quarter larger, and LaTeX takes a picture before the text, but an SVG only where Inkscape is installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpnb.cards.markup import Markup, el
from dpnb.cards.style import STYLE


@dataclass(frozen=True, slots=True)
class Card:
    """One card.

    Parameters
    ----------
    html : str
        A fragment with its own style sheet and no external resource.
    text : str
        For a terminal.
    json : dict
        The facts, in JSON's own types.
    kind : str
        What it is about; the JSON says so too.
    """

    html: str
    text: str
    json: dict[str, Any]
    kind: str

    @property
    def mime(self) -> str:
        """The MIME type of the JSON form; a release and one estimate of it share theirs."""
        return f"application/vnd.dpnb.{'release' if self.kind == 'estimate' else self.kind}+json"

    def bundle(self) -> dict[str, Any]:
        """Return the MIME bundle: every form, so that a saved notebook is never blank."""
        return {
            "text/html": str(self.html),
            "text/plain": self.text,
            self.mime: {"kind": self.kind, **self.json},
        }

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return self.bundle()

    def __str__(self) -> str:
        return self.text


def frame(*children: object) -> Markup:
    """Return a card's HTML: its parts under the one style sheet."""
    return el("div", STYLE, *children, class_="dpnb")
