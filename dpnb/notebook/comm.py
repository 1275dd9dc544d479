"""The one way between this kernel and the front ends around it: what the session stands at, pushed; questions, answered.

A front end opens a comm on :data:`TARGET` and is told the state at once, after every cell, and whenever a ledger grew or the
curator came or went, also while a cell runs. A question is the first message of a comm of its own, answered on it and then over:
ipykernel hands such a message to the shell that its header names, so it is answered while a cell runs.

There is one comm that the kernel holds from ``%load_ext`` on, :data:`ANNOUNCE`. It is never opened on the other side, so that a
page without this front end hears nothing that it must complain of: whoever lists the kernel's comms sees that dpnb is loaded,
and a message on it tells front ends that asked too early to ask again.

There is no message that spends. A kernel that is no Jupyter kernel is left alone.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from comm import create_comm, get_comm_manager
from IPython.core.interactiveshell import InteractiveShell

from dpnb.cards.markup import clean
from dpnb.cards.methods import methods
from dpnb.client.columns import ColumnHandle
from dpnb.client.handles import Dataset
from dpnb.client.plan_view import PlanView
from dpnb.client.session import Session
from dpnb.errors import PlanError
from dpnb.estimate import Estimate
from dpnb.notebook.find_estimates import figures, named
from dpnb.notebook.pending_cards import CardQuestions, Waiting
from dpnb.notebook.price_preview import Snapshot, price_of, variables
from dpnb.trusted.canonical import Record
from dpnb.widgets.curve import Curves
from dpnb.widgets.host_questions import Dispatcher, handle_of
from dpnb.widgets.model_builder import model
from dpnb.widgets.plan_facts import board
from dpnb.widgets.snapshot import PROTOCOL, ledger_rows, snapshot

TARGET = "dpnb.session"
ANNOUNCE = "dpnb.announce"


class Link:
    """The front ends of one shell.

    Parameters
    ----------
    shell : InteractiveShell
        Its kernel is asked for; without one nothing is registered.
    session : callable
        Returns the session.
    waiting : Waiting, optional
        The pending questions that are shown.
    """

    def __init__(
        self, shell: InteractiveShell, session: Callable[[], Session], waiting: Waiting | None = None
    ) -> None:
        self._shell, self._session = shell, session
        self._comms: dict[str, Any] = {}
        self._lock = threading.RLock()
        self._names, self._reading = Snapshot({}), 0
        self._on_lines: set[str] = set()
        self._held: tuple[tuple[str, Estimate], ...] = ()
        self._waiting = Waiting() if waiting is None else waiting
        self._figures: tuple[tuple[str, str, Estimate], ...] = ()
        self._cards = CardQuestions(lambda: self._held, self._waiting, self._stops, lambda: self._figures)
        self._beacon: Any = None
        self._planned: PlanView | None = None
        self._curves = Curves()
        self._news = News(self._tell)
        answers = {
            "state": lambda _: self.state(),
            "price": self.price,
            "methods": self.methods,
            "model": self.model,
            "ledger": self.ledger,
            "plan": self.plan,
            "remeasure": self._cards.remeasure,
            "seesaw": self._cards.seesaw,
            "board": self._cards.board,
        }
        # views ask by themselves: that brings back no curator
        self.asked = Dispatcher(answers, around=lambda: self._session().looking())

    @property
    def connected(self) -> bool:
        """Whether there is a kernel whose front ends can be told."""
        return getattr(self._shell, "kernel", None) is not None

    def install(self) -> None:
        """Listen, and tell front ends that are open already."""
        if not self.connected:
            return
        manager = get_comm_manager()
        manager.register_target(TARGET, self._opened)
        self._shell.events.register("post_run_cell", self.push)
        self._beacon = create_comm(target_name=TARGET, comm_id=ANNOUNCE, primary=False)
        # never opened on the other side: so it is not closed there either, when it is collected
        self._beacon._closed = True  # noqa: SLF001
        manager.register_comm(self._beacon)
        self._beacon.send({"protocol": PROTOCOL})
        self._news.start()
        self._session().watch()  # a dataset may have been opened before %load_ext

    def uninstall(self) -> None:
        """Let go of every front end."""
        if not self.connected:
            return
        self._news.stop()
        self._shell.events.unregister("post_run_cell", self.push)
        get_comm_manager().unregister_target(TARGET, self._opened)
        get_comm_manager().unregister_comm(self._beacon)
        with self._lock:
            for one in list(self._comms.values()):
                one.close()
            self._comms.clear()

    def state(self) -> Record:
        """Return the state as it is pushed, with what the notebook calls each dataset."""
        names = {name: one.name for name, one in self._names.handles.items() if isinstance(one, Dataset)}
        return {
            "is": "state",
            "state": {**snapshot(self._session()), "names": names, "reading": self._reading},
        }

    def price(self, asked: Mapping[str, object]) -> Record:
        """Return what a cell would cost, read from its text: it is not run; what is stored of it is looked up, where that is quick."""
        cell = str(asked.get("cell", ""))
        self._on_lines |= variables(cell)
        found = price_of(cell, self._names, lambda batch: batch.dataset.session.glance(batch))
        return {"is": "price", **found.to_json()}

    def methods(self, asked: Mapping[str, object]) -> Record:
        """Return the methods paragraph on what the notebook holds released of a dataset."""
        name = str(asked.get("dataset", ""))
        found = [one for _, one in self._held if name in {data.name for data in _datasets(one)}]
        if not found:
            raise PlanError(
                f"This notebook holds no released answer of {clean(name)}. Run a %%dp cell that gives its answer a name."
            )
        schemas = {data.name: data.schema for one in found for data in _datasets(one)}
        return {"is": "methods", "text": methods(found, list(schemas.values()))}

    def model(self, asked: Mapping[str, object]) -> Record:
        """Return the cell of a regression, and what it costs; what the notebook holds released is read for free."""
        dataset = self._dataset(asked)
        return contextvars.Context().run(model, dataset, handle_of(dataset), asked, self._held)

    def ledger(self, asked: Mapping[str, object]) -> Record:
        """Return the whole ledger of a dataset; the state tells its newest entries."""
        return {"is": "ledger", "rows": ledger_rows(self._dataset(asked))}

    def plan(self, asked: Mapping[str, object]) -> Record:
        """Return the board of the session's current plan as it stands now; the plan itself is not made anew."""
        del asked
        session = self._session()
        view = session.latest
        if view is None:
            raise PlanError("There is no plan: %%dp plan epsilon=1, or dpnb.plan({...}, epsilon=1).")
        if self._planned is not view:
            self._planned, self._curves = view, Curves()
        body, verb = self._cell_of(view)
        if not any(one.answered for one in view.measurements):
            now = session.preview(view.measurements, view.ask, view.labels)
            view = replace(now, named=view.named, dropped=view.dropped, hidden=view.hidden)
        return {
            "is": "plan",
            "number": session.plans,
            "facts": board(view, body, curves=self._curves, verb=verb),
        }

    def _cell_of(self, view: PlanView) -> tuple[str | None, str]:
        """The body of the cell that asked a plan, and its language, where one did."""
        planned, body, language = getattr(self._magic, "planned", (None, None, ""))
        return (body, language) if planned is view else (None, "")

    def _dataset(self, asked: Mapping[str, object]) -> Dataset:
        name, opened = str(asked.get("dataset", "")), self._session().datasets
        if name not in opened:
            raise PlanError(f'No dataset {clean(name)} is open: hiv = dpnb.open("hiv").')
        found: Dataset = opened[name]
        return found

    def push(self, result: object = None) -> None:
        """Tell every front end, and bring the interactions on screen in step. On the main thread, after a cell."""
        del result
        self._see()
        # only what is released already: a pending question must not live on because it is listed here
        before = {id(one) for _, one in self._held}
        known = named(self._shell.user_ns)
        self._held = tuple((name, one) for name, one in known if not one.pending)
        self._figures = tuple(one for one in figures(self._shell.user_ns) if not one[-1].pending)
        self._waiting.see(known)
        # a charge is told before its answer is stored: prices are read again when the answer is held
        self._reading += any(id(one) not in before for _, one in self._held)
        self._refresh_interactions()
        self._send()

    def tell(self) -> None:
        """Tell front ends soon what became of ledger or curator; on any thread."""
        if self.connected:
            self._news.put()

    def names(self) -> Mapping[str, Any]:
        """Return the names of handles and released answers."""
        return _nameable(self._shell.user_ns)

    def _tell(self) -> None:
        """Tell what became of ledger or curator, on a thread of its own: also while a cell runs."""
        self._send()
        self._refresh_interactions()

    def _send(self) -> None:
        with self._lock:  # read and sent as one: what was read later has a higher number, and is sent later
            if not self._comms:
                return
            state = self.state()
            for one in list(self._comms.values()):
                one.send(state)

    def _refresh_interactions(self) -> None:
        """Bring the interactions in step, where there are any: their room is not loaded for this."""
        room = sys.modules.get("dpnb.widgets._base")
        if room is not None:
            with self._session().looking():
                room.refresh_all()

    @property
    def _magic(self) -> Any:
        return getattr(self._shell, "_dpnb_magic", None)

    def _stops(self) -> bool:
        """Whether cells stop at their plan here."""
        return getattr(self._magic, "mode", "") == "ask"

    def _see(self) -> None:
        """Take the names that a price may be read from; on the main thread, between cells."""
        magic = self._magic
        seen = Snapshot.of(self._shell.user_ns, "" if magic is None else magic.epsilon)
        self._reading += not seen.same(self._names, frozenset(self._on_lines))
        self._names = seen

    def _opened(self, one: Any, message: Mapping[str, Any]) -> None:
        asked = message["content"]["data"]
        if asked.get("ask") is not None:
            one.send(self.asked(asked))
            return
        one.on_close(lambda _: self._comms.pop(one.comm_id, None))
        with self._lock:
            self._comms[one.comm_id] = one
            one.send(self.state())


def _nameable(names: dict[str, Any]) -> dict[str, Any]:
    """The handles and answers among the user's names as they are now: copied at once, so that any thread may read them."""
    return {
        name: one for name, one in names.copy().items() if isinstance(one, Dataset | ColumnHandle | Estimate)
    }


def _datasets(estimate: Estimate) -> list[Dataset]:
    return [leaf.dataset for leaf in estimate.leaves() if leaf.dataset is not None]


_REST = 0.1


class News:
    """A thread that passes news on: a burst once, and always the last of it. It never raises into whoever brings them.

    Parameters
    ----------
    tell : callable
        Called on this thread, at once for the first news, and for later ones when it has rested.
    rest : float
        Seconds between two calls.
    """

    def __init__(self, tell: Callable[[], None], rest: float = _REST) -> None:
        self._tell, self._rest = tell, rest
        self._came, self._over = threading.Event(), threading.Event()

    def start(self) -> None:
        """Begin to listen."""
        self._over.clear()
        threading.Thread(target=self._run, name="dpnb-news", daemon=True).start()

    def stop(self) -> None:
        """Pass nothing on any more."""
        self._over.set()
        self._came.set()

    def put(self) -> None:
        """Bring news; it returns at once."""
        self._came.set()

    def _run(self) -> None:
        while self._came.wait() and not self._over.is_set():
            self._came.clear()
            with contextlib.suppress(
                Exception
            ):  # a front end that went, a curator that is busy: the next news tell again
                self._tell()
            self._over.wait(self._rest)
