"""What is drawn, and where: formatters by type, and the pending things that are still on screen.

Objects of the lower rooms know nothing of IPython; here their types are registered with its formatters. Every
bundle carries text, so a saved notebook is never blank. A pending estimate or a plan is drawn under a display id,
and the same place becomes the card when its questions are released. A card that cannot be drawn falls back to
text: spending is never silent.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import DisplayHandle, display

from dpnb.estimate import Estimate, PendingQuestion, current_host
from dpnb.notebook.pending_cards import ShownPlan, Waiting
from dpnb.notebook.tracebacks import in_own_names
from dpnb.trusted.canonical import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpnb.client.handles import Dataset
    from dpnb.client.plan_view import PlanView

Bundle = Record

_PLAN = "application/vnd.dpnb.plan+json"
_RELEASE = "application/vnd.dpnb.release+json"
_DATASET = "application/vnd.dpnb.dataset+json"

_HANDLES = (
    ("dpnb.client.handles", "Dataset", "handle_bundle"),
    ("dpnb.client.plan_view", "PlanView", "plan_bundle"),
    ("dpnb.client.plan_view", "BatchReport", "report_bundle"),
)
_LOSS = ("dpnb.trusted.privacy.loss", "PrivacyLoss")


def draw(card: str, *subjects: object, text: str) -> Bundle:
    """Draw a card of the cards room as a MIME bundle, in the notebook's own names; as ``text`` where that fails."""
    try:
        maker, names = getattr(importlib.import_module("dpnb.cards"), card), current_host().names() or {}
        drawn = {kind: data for kind, data in maker(*subjects).bundle().items() if data is not None}
        return {
            kind: in_own_names(data, names) if isinstance(data, str) else data for kind, data in drawn.items()
        }
    except Exception:  # noqa: BLE001  what was paid for is shown whatever happens to its drawing
        return {"text/plain": text}


def estimate_bundle(estimate: Estimate) -> Bundle:
    """Draw one estimate, pending or released."""
    return draw("estimate_card", estimate, text=repr(estimate))


def plan_bundle(view: PlanView, body: str | None = None, verb: str = "") -> Bundle:
    """Draw a plan: what it would cost, and how accurate it would be; with the facts of its board.

    Parameters
    ----------
    view : PlanView
    body, verb : str, optional
        Of the cell that releases it: what stands below its magic line, and the verb on it.
    """
    from dpnb.widgets.plan_facts import board

    bundle = draw("plan_card", view, text=repr(view))
    return _with_facts(bundle, _PLAN, lambda: board(view, body, verb=verb))


def _with_facts(bundle: Bundle, kind: str, facts: Callable[[], Record]) -> Bundle:
    """Add to a card's record what its controls draw; a card without them stands still."""
    if isinstance(bundle.get(kind), dict):
        with contextlib.suppress(Exception):  # what a card shows does not hang on what can be dragged
            bundle[kind] = {**bundle[kind], "facts": facts()}
    return bundle


def report_bundle(report: object) -> Bundle:
    """Draw a released batch."""
    return draw("release_card", report, text=repr(report))


def handle_bundle(handle: Dataset) -> Bundle:
    """Draw a dataset as its attach card; a selection of its rows, or its groups, as text."""
    whole = repr(handle).startswith(f"<{handle.name}:")
    return attach_bundle(handle) if whole else {"text/plain": repr(handle)}


def attach_bundle(dataset: Dataset) -> Bundle:
    """Draw what everybody may know about a dataset, and its budget."""
    from dpnb.widgets.snapshot import attach_facts

    lines = [repr(dataset), *(f"  {column.name}: {column.describe()}" for column in dataset.schema.columns)]
    bundle = draw("attach_card", dataset.schema, dataset.budget, dataset.notes, text="\n".join(lines))
    return _with_facts(bundle, _DATASET, lambda: attach_facts(dataset))


@dataclass(frozen=True, slots=True)
class _Shown:
    handle: DisplayHandle
    waiting: tuple[weakref.ref[PendingQuestion], ...]
    redraw: Callable[[object], Bundle | None]

    @property
    def resolved(self) -> bool:
        left = [ref() for ref in self.waiting]
        return all(item is None or item.answered for item in left)


class Screen:
    """The pending things that were drawn, each redrawn in place once its questions are released."""

    def __init__(self) -> None:
        self._shown: list[_Shown] = []
        self.waiting = Waiting()

    def show_estimate(self, estimate: Estimate) -> None:
        """Draw a pending estimate under a display id."""
        handle = display(self._keyed(estimate_bundle(estimate), estimate), raw=True, display_id=True)
        living = weakref.ref(estimate)

        def redraw(report: object) -> Bundle | None:
            del report
            kept = living()
            return None if kept is None else estimate_bundle(kept)

        self._remember(handle, estimate.leaves(), redraw)

    def show_plan(
        self,
        view: PlanView,
        measurements: list[PendingQuestion],
        body: str | None = None,
        verb: str = "",
        *,
        show: Callable[[Bundle], DisplayHandle] | None = None,
    ) -> None:
        """Draw a plan under a display id, by `show` where its place is known; it becomes the card of the batch that answers it."""
        shown = ShownPlan(view, body, verb)
        bundle = plan_bundle(view, body, verb)
        if isinstance(bundle.get(_PLAN), dict):  # by its key the card asks what the plan costs now
            bundle[_PLAN] = {**bundle[_PLAN], "plan": self.waiting.plan_key(shown)}
        handle = display(bundle, raw=True, display_id=True) if show is None else show(bundle)
        asked = {id(item) for item in measurements}

        def redraw(report: object) -> Bundle | None:
            answered = {id(item) for item in getattr(report, "measurements", ())}
            return (
                report_bundle(report)
                if asked <= answered
                else plan_bundle(shown.view, shown.body, shown.verb)
            )

        self._remember(handle, measurements, redraw)

    def refresh(self, report: object = None) -> None:
        """Redraw what has been released since."""
        done = [shown for shown in self._shown if shown.resolved]
        self._shown = [shown for shown in self._shown if not shown.resolved]
        for shown in done:
            bundle = shown.redraw(report)
            if bundle is not None:
                shown.handle.update(bundle, raw=True)

    def _keyed(self, bundle: Bundle, estimate: Estimate) -> Bundle:
        """Add to the record of a question that can be priced the key by which its card asks about it."""
        record, question = bundle.get(_RELEASE), estimate.measurement
        if question is None or not isinstance(record, dict) or not record.get("pays"):
            return bundle
        return {**bundle, _RELEASE: {**record, "waiting": self.waiting.key(question)}}

    def _remember(
        self,
        handle: DisplayHandle,
        leaves: Iterable[PendingQuestion],
        redraw: Callable[[object], Bundle | None],
    ) -> None:
        waiting = tuple(weakref.ref(leaf) for leaf in leaves)
        self._shown.append(_Shown(handle, waiting, redraw))


def register(shell: InteractiveShell) -> None:
    """Register the formatters of a shell."""
    formatter = shell.display_formatter
    assert formatter is not None
    for module, name, maker in _HANDLES:
        formatter.mimebundle_formatter.for_type_by_name(module, name, _as_formatter(maker))
    formatter.formatters["text/plain"].for_type_by_name(*_LOSS, _write_loss)
    formatter.formatters["image/png"].for_type_by_name("matplotlib.figure", "Figure", figure_png)


def unregister(shell: InteractiveShell) -> None:
    """Remove the formatters of a shell."""
    formatter = shell.display_formatter
    assert formatter is not None
    for module, name, _ in _HANDLES:
        formatter.mimebundle_formatter.pop(f"{module}.{name}", None)
    formatter.formatters["text/plain"].pop(".".join(_LOSS), None)


def _write_loss(loss: object, printer: Any, cycle: object) -> None:
    """Write a loss for people, ``ε 0.5``: its exact fractions are in ``.amount`` and ``.delta``."""
    del cycle
    printer.text(str(loss))


def figure_png(figure: Figure) -> bytes:
    """Draw a matplotlib figure; the inline backend does so too, but only once pyplot is in use."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=110)
    return drawn.getvalue()


def _as_formatter(maker: str) -> Callable[..., Bundle]:
    def format_bundle(subject: object, include: object = None, exclude: object = None) -> Bundle:
        del include, exclude
        return globals()[maker](subject)

    return format_bundle
