"""A real IPython shell in this process, and a session with an in-memory ledger behind the magics."""

from __future__ import annotations

import atexit
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from dpnb.notebook import load, unload
from tests.notebook.fakes import FakeSession, Study


class CellShell(InteractiveShell):
    """A shell whose cells are run as a person runs them, and whose outputs are kept."""

    def cell(self, text: str, **options: Any) -> Any:
        """Run a cell as a front end does, and raise what it raised."""
        result = self.run_cell(text, **{"store_history": True, **options})
        if result.error_before_exec is not None:
            raise result.error_before_exec
        if result.error_in_exec is not None:
            raise result.error_in_exec
        return result.result

    def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
        self.tracebacks.append("\n".join(stb))

    @property
    def drawn(self) -> list[dict[str, Any]]:
        """The MIME bundles that were displayed, in order."""
        return [output["data"] for output in self.display_pub.outputs]

    @property
    def text_drawn(self) -> str:
        """The plain text of everything displayed."""
        return "\n".join(str(data.get("text/plain", "")) for data in self.drawn)


@pytest.fixture
def shell(monkeypatch) -> Iterator[CellShell]:
    """A fresh shell: the singleton while the test runs."""
    # a doctest leaves it there, in whichever process it ran, and IPython then sets no `_` of its own
    monkeypatch.delattr("builtins._", raising=False)
    InteractiveShell.clear_instance()
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    made = CellShell.instance(config=config)
    made.tracebacks = []
    made.display_pub = CapturingDisplayPublisher()
    yield made
    unload(made)
    atexit.unregister(made.atexit_operations)
    made.restore_sys_module_state()
    CellShell.clear_instance()


class Notebook:
    """A loaded shell, the session behind it, and what the last cell said."""

    def __init__(self, shell: CellShell, session: FakeSession) -> None:
        self.shell = shell
        self.session = session
        self.names = shell.user_ns

    def __call__(self, text: str, **options: Any) -> Any:
        """Run a cell; raise what it raised."""
        return self.shell.cell(textwrap.dedent(text).lstrip("\n"), **options)

    def fails(self, text: str) -> str:
        """Run a cell that must fail, and return what a person saw."""
        self.shell.tracebacks.clear()
        result = self.shell.run_cell(textwrap.dedent(text).lstrip("\n"), store_history=True)
        assert not result.success
        return "\n".join(self.shell.tracebacks)

    @property
    def magic(self) -> Any:
        """The magics of this shell."""
        return self.shell._dpnb_magic

    @property
    def report(self) -> Any:
        """The report of the last release."""
        return self.magic.last_report

    @property
    def labels(self) -> dict[str, str]:
        """Label of each question of the last release."""
        return {leaf.question: label for leaf, label in self.report.labels.items()}

    @property
    def charged(self) -> list[tuple[str, ...]]:
        """The questions of each charge."""
        return [texts for texts, _ in self.session.charges]


@pytest.fixture
def notebook(shell: CellShell, monkeypatch: pytest.MonkeyPatch) -> Notebook:
    """A shell with ``%load_ext dpnb`` done, and ``study`` in its names."""
    session = FakeSession()
    monkeypatch.setattr("dpnb.notebook.cell_release.current_session", lambda: session)
    load(shell)
    shell.user_ns["study"] = Study()
    return Notebook(shell, session)
