"""A real kernel, spoken to as a front end does: outputs, errors, awaits, interrupts, completion, updates."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
SETUP = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import dpnb.notebook.install, dpnb.notebook.cell_release
from tests.notebook.fakes import FakeSession, Study
session = FakeSession()
dpnb.notebook.cell_release.current_session = lambda: session
study = Study()
%config InteractiveShell.colors = "nocolor"
%load_ext dpnb
"""


@dataclass
class Reply:
    """What one execution gave: the reply's status, and its messages in order."""

    status: str
    messages: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [content for name, content in self.messages if name == kind]

    @property
    def printed(self) -> str:
        return "".join(content["text"] for content in self.of("stream"))

    @property
    def result(self) -> str | None:
        found = self.of("execute_result")
        return found[-1]["data"]["text/plain"] if found else None

    @property
    def error(self) -> str:
        return "\n".join("\n".join(content["traceback"]) for content in self.of("error"))


class Kernel:
    """One kernel, its cells run one after the other."""

    def __init__(self) -> None:
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(extra_arguments=["--HistoryManager.enabled=False"])
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def run(self, code: str, **options: Any) -> Reply:
        """Run a cell and collect what it sent."""
        return self.collect(self.client.execute(code, **options))

    def collect(self, ident: str, timeout: float = 60) -> Reply:
        """Collect the messages of an execution until the kernel is idle again."""
        reply = Reply("")
        while True:
            message = self.client.get_iopub_msg(timeout=timeout)
            if message["parent_header"].get("msg_id") != ident:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
            reply.messages.append((message["msg_type"], message["content"]))
        while True:
            answer = self.client.get_shell_msg(timeout=timeout)
            if answer["parent_header"].get("msg_id") == ident:
                reply.status = answer["content"]["status"]
                return reply

    def ask(self, expression: str) -> Any:
        """Return the value of an expression whose repr is Python."""
        ident = self.client.execute("", user_expressions={"x": expression}, silent=True)
        answer = self.client.get_shell_msg(timeout=60)
        while answer["parent_header"].get("msg_id") != ident:
            answer = self.client.get_shell_msg(timeout=60)
        return ast.literal_eval(answer["content"]["user_expressions"]["x"]["data"]["text/plain"])

    @property
    def charged(self) -> list[tuple[str, ...]]:
        return self.ask("[texts for texts, _ in session.charges]")

    def stop(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.manager.cleanup_resources()


@pytest.fixture(scope="module")
def started() -> Iterator[Kernel]:
    one = Kernel()
    assert one.run(SETUP).status == "ok"
    yield one
    one.stop()


@pytest.fixture
def kernel(started: Kernel) -> Kernel:
    """The kernel with an empty ledger."""
    started.run("session.charges.clear(); session.stored.clear(); session.before = None", silent=True)
    return started


def until(true):
    """Wait until something is true."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("end", ["", ";"])
def test_an_await_in_a_body_is_awaited(kernel, end):
    """A top-level await works, silenced or not, and what the cell holds afterwards is released."""
    body = "import asyncio\nawait asyncio.sleep(0.01)\nq = study.ask('a')\nawait asyncio.sleep(0, q)"
    reply = kernel.run(f"%%dp epsilon=1\n{body}{end}")
    assert reply.status == "ok", reply.error
    assert (reply.result is None) == (end == ";")
    assert kernel.charged == [("study.a",)]


def test_an_error_after_an_await_spends_nothing(kernel):
    """The line is right behind an await, and the ledger is empty."""
    reply = kernel.run(
        "%%dp epsilon=1\nimport asyncio\n\nq = study.ask('a')\nawait asyncio.sleep(0)\nif q > 1: pass"
    )
    assert reply.status == "error"
    assert reply.error.splitlines()[1] == "line 6: if q > 1: pass"
    assert kernel.charged == []
    assert kernel.run("%%dp epsilon=1\nq = study.ask('b')").status == "ok"


@pytest.mark.parametrize("around", ["%%time\n", "%%capture\n"])
def test_other_cell_magics_around(kernel, around):
    """``%%time`` and ``%%capture`` around a ``%%dp`` cell: released and charged once."""
    reply = kernel.run(f"{around}%%dp epsilon=1\nq = study.ask('a')\nq")
    assert reply.status == "ok", reply.error
    assert kernel.charged == [("study.a",)]


def test_the_file_name_is_the_debuggers(kernel):
    """The body is compiled under the name that the debugger gives the raw cell."""
    raw = "%%dp epsilon=1\nimport sys\nname = sys._getframe().f_code.co_filename"
    kernel.run(raw)
    assert kernel.ask(f"name == __import__('ipykernel.compiler').compiler.get_file_name({raw!r})") is True


def test_an_error_is_short_and_tb_shows_the_rest(kernel):
    """First the message and the line; ``%tb`` shows the whole traceback; the cell has failed."""
    reply = kernel.run("%%dp epsilon=1\nq = study.ask('a')\n\nif q > 3:\n    pass")
    assert reply.status == "error"
    assert reply.error.splitlines() == [
        "`if` needs the value of `study.a`, which is released when this cell ends. Move this line to the next cell.",
        "line 4: if q > 3:",
    ]
    assert reply.of("error")[0]["ename"] == "PendingError"
    full = kernel.run("%tb")
    text = full.printed + full.error
    assert "Traceback" in text
    assert "if q > 3:" in text


def test_error_2_names_the_cell_where_a_question_was_built(kernel):
    """A value that was never released is told where it was built; after a failure, that nothing was spent."""
    number = kernel.ask("get_ipython().execution_count")
    kernel.run("x = 1\nq = study.ask('a')")
    text = kernel.run("float(q)").error
    assert text.splitlines()[:6] == [
        f"`study.a` (built in In[{number}], line 2) was never released. This cell releases it:",
        "",
        "    %%dp epsilon=1",
        "    q = study.a",
        "",
        'In a script: dpnb.release({"q": q}, epsilon=1).',
    ]
    number = kernel.ask("get_ipython().execution_count")
    kernel.run("%%dp epsilon=1\nq = study.ask('b')\n1 / 0")
    assert (
        f"In[{number}] stopped before the release; nothing was spent. Run it again."
        in kernel.run("float(q)").error
    )


def test_a_displayed_pending_object_is_updated_on_release(kernel):
    """A pending object shown in one cell turns into its value when another releases it."""
    shown = kernel.run("q = study.ask('a')\nq").of("display_data")[0]
    updates = kernel.run("%%dp epsilon=1\nq\n").of("update_display_data")
    assert [update["transient"]["display_id"] for update in updates] == [shown["transient"]["display_id"]]
    assert not re.search(r"0\.\d", shown["data"]["text/plain"])
    assert re.search(r"0\.\d", updates[0]["data"]["text/plain"])


@pytest.mark.slow
def test_the_update_is_saved_across_cells(tmp_path):
    """Nbclient saves the updated output in the earlier cell."""
    cells = [SETUP, "q = study.ask('a')\nq", "%%dp epsilon=1\nq\n"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, kernel_name="python3", store_widget_state=False, timeout=60).execute()
    (output,) = notebook.cells[1].outputs
    assert re.search(r"0\.\d", output["data"]["text/plain"])


REAL = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import dpnb.notebook.host
dpnb.notebook.host.PATIENCE = 0.0  # every wait is long enough to be shown
%load_ext dpnb
"""


def _saved(home: Path, *cells: str) -> list[Any]:
    """Run cells in a kernel of their own, and return what is saved of each."""
    texts = [f"%env DPNB_HOME={home}\n{REAL}", *cells]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in texts])
    NotebookClient(notebook, kernel_name="python3", store_widget_state=False, timeout=120).execute()
    return [cell.outputs for cell in notebook.cells[1:]]


@pytest.mark.slow
def test_a_notebook_that_is_run_again_is_saved_as_it_was(tmp_path):
    """Plan, pending question, stored answer: no seconds and no random key, in a new kernel; the card is where the waiting was told."""
    opening = 'import dpnb\nhiv = dpnb.open("hiv")'
    plan = "%%dp plan epsilon=0.5\nm = hiv.got.mean()\nq = hiv.age.median()"
    cells = [opening, plan, "hiv.tinc.mean()", "%%dp epsilon=0.5\nm = hiv.got.mean()\nm"]
    _saved(tmp_path, *cells)  # pays; from here on the answer is stored
    first, again = _saved(tmp_path, *cells), _saved(tmp_path, *cells)
    assert first == again
    assert [len(outputs) for outputs in first] == [1, 1, 1, 2]
    assert "plan" in first[1][0]["data"]["application/vnd.dpnb.plan+json"]
    assert "waiting" in first[2][0]["data"]["application/vnd.dpnb.release+json"]
    quiet = _saved(tmp_path, opening.replace('"hiv"', '"hiv", quiet=True'))
    assert [output["data"] for output in quiet[0]] == [{"text/plain": "opening the dataset: done"}]


def test_store_and_whos_do_not_raise_values(kernel):
    """``%whos`` shows pending text; ``%store`` of a pending object is error 6."""
    kernel.run("q = study.ask('a')")
    assert "Estimate" in kernel.run("%whos").printed
    assert "A pending estimate cannot be pickled" in kernel.run("%store q").error


def test_an_interrupted_body_spends_nothing(kernel, tmp_path):
    """Ctrl-C in the body: nothing charged, the object pending, the next cell works."""
    there = tmp_path / "there"
    body = f"import time\nq = study.ask('a')\nopen({str(there)!r}, 'w').close()\ntime.sleep(60)"
    ident = kernel.client.execute(f"%%dp epsilon=1\n{body}")
    until(there.exists)
    kernel.manager.interrupt_kernel()
    assert kernel.collect(ident).status == "error"
    assert kernel.charged == []
    assert kernel.run("%%dp epsilon=1\nr = study.ask('b')").status == "ok"


def test_waiting_is_shown_as_elapsed_time_and_becomes_the_card(kernel):
    """After half a second the place of the card says how long the wait is, and nothing else."""
    kernel.run("import time\nsession.before = lambda: time.sleep(1.3)")
    reply = kernel.run("%%dp epsilon=1\nq = study.ask('a')")
    first, *updates = reply.of("display_data") + reply.of("update_display_data")
    waited = [
        float(re.fullmatch(r"waiting for the curator … (\d+\.\d) s", one["data"]["text/plain"])[1])
        for one in (first, updates[0])
    ]
    assert 0.5 <= waited[0] < waited[1]
    assert "charged" in updates[-1]["data"]["text/plain"]
    assert {message["transient"]["display_id"] for message in (first, *updates)} == {
        first["transient"]["display_id"]
    }


def test_an_interrupted_wait_says_how_long_it_was(kernel, tmp_path):
    """Interrupting while waiting leaves no line that still says waiting."""
    there = tmp_path / "there"
    waits = f"(time.sleep(1.2), open({str(there)!r}, 'w').close(), time.sleep(60))"
    kernel.run(f"import time\nsession.before = lambda: {waits}")
    ident = kernel.client.execute("%%dp epsilon=1\nq = study.ask('a')")
    until(there.exists)
    kernel.manager.interrupt_kernel()
    reply = kernel.collect(ident)
    assert reply.status == "error"
    assert reply.of("update_display_data")[-1]["data"]["text/plain"].startswith("stopped after ")


def test_options_are_completed_on_the_magic_line(kernel):
    """The magic line completes options, over the protocol."""
    code = "%%dp eps"
    ident = kernel.client.complete(code, len(code))
    answer = kernel.client.get_shell_msg(timeout=60)
    while answer["parent_header"].get("msg_id") != ident:
        answer = kernel.client.get_shell_msg(timeout=60)
    assert answer["content"]["matches"] == ["epsilon="]


def test_help_is_one_line_away(kernel):
    """``%%dp --help`` works in a cell of its own, ``%dp help`` and ``%%dp?`` too."""
    assert "within=0.02" in kernel.run("%%dp --help").printed
    assert "%dp ledger" in kernel.run("%dp help").printed


def test_unloading_leaves_the_shell_as_it_was(kernel):
    """``%unload_ext`` removes every hook; ``%load_ext`` brings them back once."""
    count = (
        "[len(get_ipython().ast_transformers), len(get_ipython().input_transformers_post), "
        "sum(map(len, get_ipython().events.callbacks.values())), len(get_ipython().Completer.custom_matchers)]"
    )
    with_it = kernel.ask(count)
    kernel.run("dpnb.notebook.unload(get_ipython())")
    without = kernel.ask(count)
    assert "not found" in kernel.run("%dp budget").printed + kernel.run("%dp budget").error
    kernel.run("dpnb.notebook.load(get_ipython()); dpnb.notebook.load(get_ipython())")
    assert kernel.ask(count) == with_it
    assert [a - b for a, b in zip(with_it, without, strict=True)] == [1, 1, 5, 1]
