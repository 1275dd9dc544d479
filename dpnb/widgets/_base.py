"""What every interaction is: public facts from the kernel, a module that draws them, and a card for where nothing can be dragged.

An interaction holds priced curves, released numbers and public constants, never a row. Moving a control changes ``chosen``
alone: there is no code path from here to a release. Its saved form is the card: HTML, text and a picture, which read
without a kernel, without scripts and in a terminal.

An interaction carries no code either: its state names a kind of a closed table, and the extension ``dpnb-widgets`` of
JupyterLab, Notebook 7 and Voilà has the code of that kind. So the state that a notebook was saved with runs nothing when the
notebook is opened. Where no extension can be, :mod:`dpnb.widgets.hosts` says what is shown instead.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar, Self

import ipywidgets
import traitlets

from dpnb.cards.card import Card
from dpnb.errors import DpnbError
from dpnb.widgets import host_questions, hosts
from dpnb.widgets.registry import INTERACTIONS, Facts, Names, is_number, value_of

if TYPE_CHECKING:
    from dpnb.widgets.portable import Portable

MODULE = "dpnb-widgets"
"""What a notebook calls the module of the classes; ``labextension/src/drawing/name.ts`` says the same."""
VERSION = "1.0.0"
KINDS = tuple(entry.name for entry in INTERACTIONS)
"""The closed table of kinds; ``labextension/src/widgets`` has the code of each in a folder of its name."""

_DISPLAYS = itertools.count(1)
_LIVING: weakref.WeakSet[Interaction] = weakref.WeakSet()
_LISTING = threading.Lock()
"""Held while they are counted up or one is added: a cell makes them while the news, on its own thread, brings them in step."""
_IN_STEP = threading.RLock()
"""Held from the reading of facts to their setting: what was read later is shown later."""


@cache
def source(name: str) -> str | None:
    """Return a built file of the front end, or None where it was not built."""
    place = files("dpnb.widgets") / "static" / name
    return place.read_text(encoding="utf-8") if place.is_file() else None


def built() -> bool:
    """Return whether this installation includes the front end; without it every interaction has its still form."""
    return source("widget.css") is not None


def living() -> Iterator[Interaction]:
    """Yield the interactions that are still held, so that a release anywhere brings them in step."""
    with _LISTING:
        listed = list(_LIVING)
    yield from listed


def shown() -> list[Interaction]:
    """Return the interactions that a cell displayed and that are still held, in the order of their last display.

    Of those that show the same facts, as a cell leaves them that was run twice, the last is kept.
    """
    listed = sorted((one for one in living() if one.displayed), key=lambda one: one.displayed)
    return list({(one.module, json.dumps(one.facts)): one for one in listed}.values())


REQUIRED = object()
"""Where an interaction cannot be shown of nothing."""


class Interaction(ipywidgets.DOMWidget):
    """Base of the interactions.

    Attributes
    ----------
    kind : str
        Which code draws it, of :data:`KINDS`.
    facts : dict
        What is drawn: strict JSON.
    chosen : dict
        What the user set last.
    arrays : dict of str to bytes
        Many numbers of the facts; they travel as binary buffers.
    """

    module: ClassVar[str]
    follows: ClassVar[bool] = False
    """Whether its facts follow the ledger: then it is read again after every cell."""
    example: ClassVar[str] = ""
    """What may follow its ``%dp`` line."""
    otherwise: ClassVar[object] = REQUIRED
    """What it is shown of where nothing follows."""
    named: ClassVar[bool] = False
    """Whether it wants the user's own name of what it is shown of as well."""

    displayed: int = 0
    """Its place among all displays of this kernel; 0 where it was never shown."""

    _model_module = traitlets.Unicode(MODULE, read_only=True).tag(sync=True)
    _model_module_version = traitlets.Unicode(VERSION, read_only=True).tag(sync=True)
    _model_name = traitlets.Unicode("Interaction", read_only=True).tag(sync=True)
    _view_module = traitlets.Unicode(MODULE, read_only=True).tag(sync=True)
    _view_module_version = traitlets.Unicode(VERSION, read_only=True).tag(sync=True)
    _view_name = traitlets.Unicode("InteractionView", read_only=True).tag(sync=True)
    kind = traitlets.Enum(KINDS, read_only=True).tag(sync=True)
    facts = traitlets.Dict().tag(sync=True)
    chosen = traitlets.Dict().tag(sync=True)
    arrays = traitlets.Dict().tag(sync=True)

    def __init__(self, **chosen: object) -> None:
        self.set_trait("kind", self.module)
        self._elsewhere: Portable | None = None
        super().__init__(chosen={name: value for name, value in chosen.items() if value is not None})
        self.refresh()
        self.observe(self._heard, "chosen")
        self.on_msg(self._reply)
        with _LISTING:
            _LIVING.add(self)

    @classmethod
    def of_line(cls, names: Names, text: str) -> Self:
        """Return the interaction that ``%dp NAME text`` shows; the text is read in the user's names."""
        show: Callable[..., Self] = cls
        if not text and cls.otherwise is not REQUIRED:
            return show(cls.otherwise)
        found = value_of(names, text, f"%dp {cls.module} {cls.example}")
        return show(found, name=text if text.isidentifier() else None) if cls.named else show(found)

    def open(self) -> None:
        """Tell the front end of this, where it knows the classes."""
        if hosts.form() == "extension":
            super().open()

    def send(self, content: object, buffers: object = None) -> None:
        """Send a message to the views, whichever draw this."""
        if self._elsewhere is None:
            super().send(content, buffers)
        else:
            self._elsewhere.send(content, buffers)

    def answer(self, asked: object) -> Facts:
        """Answer a question of the page: the notebook does, unless an interaction has questions of its own."""
        return host_questions.answer(asked)

    def _reply(self, _: object, message: object, __: object) -> None:
        """Answer a question under the number that the page gave it."""
        number = message.get("number") if isinstance(message, Mapping) else None
        self.send({"number": number, "answer": self.answer(message)})

    def describe(self) -> Facts:
        """Return the facts as they are now."""
        raise NotImplementedError

    def card(self) -> Card:
        """Return the static card."""
        raise NotImplementedError

    def complete(self) -> None:
        """Compute what a page without a kernel has to bring; most interactions hold it already."""

    def refresh(self) -> None:
        """Read the facts again; what cannot be read leaves the picture as it was, and says so."""
        self.facts = self.describe()

    def held(self, name: str, start: float, low: float, high: float) -> float:
        """Return a number that the user set, inside its range; anything else gives the initial one."""
        value = self.chosen.get(name)
        return min(max(float(value), low), high) if is_number(value) else start

    def _heard(self, change: object) -> None:
        """Draw anew for what was set; errors are shown in the widget, not raised."""
        del change
        with _IN_STEP:
            try:
                self.refresh()
            except DpnbError as error:
                self.facts = {**self.facts, "problem": str(error)}

    def _repr_mimebundle_(self, **options: object) -> Any:
        self.displayed = next(_DISPLAYS)
        still = self.card().bundle()
        live = self._live(**options)
        data, metadata = live if isinstance(live, tuple) else (live, {})
        return {**still, **{kind: item for kind, item in (data or {}).items() if kind not in still}}, metadata

    def _live(self, **options: object) -> Any:
        """What a front end draws alive, beside the still form; nothing where it cannot."""
        form = hosts.form() if built() else "still"
        if form == "anywidget":
            from dpnb.widgets.portable import Portable

            self._elsewhere = self._elsewhere or Portable(self)
            return self._elsewhere.bundle(**options)
        return super()._repr_mimebundle_(**options) if form == "extension" and self.comm is not None else {}

    def __repr__(self) -> str:
        return self.card().text


def refresh_all() -> None:
    """Bring every living interaction that follows the ledger in step; one that cannot be read keeps its picture.

    Called after a cell, and on another thread when another kernel charged while a cell runs here.
    """
    with _IN_STEP:
        for one in filter(lambda one: one.follows, living()):
            with contextlib.suppress(DpnbError):
                one.refresh()
