"""The curator as a process: one per home, outlived by no kernel and ended by none, restarted with its budget intact."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import dpnb
from dpnb.client import api, launch, sessions
from dpnb.client.launch import connect
from dpnb.client.session import Session
from dpnb.client.transport import decode_reply
from dpnb.errors import ChargedError, CuratorGone, OwnerError, SchemaError
from dpnb.estimate import PendingQuestion
from dpnb.planner.check import check
from dpnb.planner.question import Question
from dpnb.planner.request import Ask
from dpnb.trusted.curator.config import Config
from dpnb.trusted.wire.codec import encode
from dpnb.trusted.wire.messages import Hello
from dpnb.trusted.wire.places import Home
from tests.contracts.questions import SAMPLES
from tests.curator import small

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

PEOPLE = """
[dataset]
name = "small"
source = "small.csv"
adjacency = "change-one"
rows = 40
[budget]
epsilon = 10
[columns.x]
type = "integer"
lower = 0
upper = 10
[columns.y]
type = "category"
values = [0, 1]
"""


@pytest.fixture
def people(tmp_path):
    """A CSV file with its schema beside it."""
    rows = small.rows()
    lines = [
        "x,y",
        *(f"{x:g},{'' if np.isnan(y) else f'{y:g}'}" for x, y in zip(rows["x"], rows["y"], strict=True)),
    ]
    (tmp_path / "small.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "small.dpnb.toml").write_text(PEOPLE)
    return tmp_path / "small.csv"


def pid_of(home):
    return json.loads(Home(Path(home)).address.read_bytes())["pid"]


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def ends(pid, within=5.0):
    """Wait until a process has ended; say whether it did."""
    end = time.monotonic() + within
    while alive(pid):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def kernel(code, **more):
    """A second kernel: a Python process that prints a line when it is ready and then waits for its input."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(dpnb.__file__).parents[1])},
        **more,
    )


def wait_until(true, within=20.0):
    """Wait until something is true, and fail if it never is."""
    end = time.monotonic() + within
    while not true():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)


OPENS = """
import sys, dpnb
data = dpnb.open(sys.argv[1] if len(sys.argv) > 1 else {path!r}, quiet=True)
print(data.budget.spent.amount, flush=True)
sys.stdin.read()
"""


def other_kernel(path):
    process = kernel(OPENS.format(path=str(path)))
    assert process.stdout.readline().strip()
    return process


def end(process):
    process.stdin.close()
    process.wait(10)
    process.stdout.close()


def test_files_and_socket_belong_to_the_user_alone(dpnb_home, people):
    """The home is 0700; ledger, key, log, copies and socket are 0600."""
    data = dpnb.open(people, quiet=True)
    dpnb.release([data.x.mean()], epsilon=1)
    home = Home(dpnb_home)
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700
    found = [home.socket, *(path for path in home.root.rglob("*") if not path.is_dir())]
    assert len(found) > 5
    for path in found:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    for path in home.root.rglob("*"):
        assert not path.is_dir() or stat.S_IMODE(path.stat().st_mode) == 0o700, path


def test_the_curator_ends_soon_after_its_last_kernel(dpnb_home, people):
    """No kernel, no curator; its socket and its address go with it."""
    dpnb.open(people, quiet=True)
    pid = pid_of(dpnb_home)
    api.close()
    assert ends(pid)
    assert not Home(dpnb_home).socket.exists()
    assert not Home(dpnb_home).address.exists()


def test_the_first_kernels_death_does_not_end_the_seconds_curator(dpnb_home, people):
    """The kernel that started the curator is killed; the other goes on with the same process and ledger."""
    first = other_kernel(people)
    pid = pid_of(dpnb_home)
    data = dpnb.open(people, quiet=True)
    first.kill()
    first.wait()
    first.stdin.close()
    first.stdout.close()
    time.sleep(0.6)  # longer than the curator lingers
    assert alive(pid)
    dpnb.release([data.x.mean()], epsilon=1)
    assert pid_of(dpnb_home) == pid
    assert data.budget.spent.amount == 1


def test_two_kernels_share_one_curator_and_one_budget(dpnb_home, people):
    """What one kernel spent, the other sees."""
    data = dpnb.open(people, quiet=True)
    dpnb.release([data.x.mean()], epsilon=3)
    process = kernel(OPENS.format(path=str(people)))
    assert process.stdout.readline().strip() == b"3"
    end(process)


@pytest.mark.slow
def test_kernels_that_start_together_start_one_curator(dpnb_home, people):
    """Four kernels at once: one process holds the home."""
    code = OPENS.format(path=str(people)).replace(
        "print(",
        'import dpnb.client.api as a; print(a.session().line.transport.send(b\'{"is":"hello"}\').decode(), ',
    )
    kernels = [kernel(code) for _ in range(4)]
    said = [json.loads(process.stdout.readline().split(b"} ")[0] + b"}")["pid"] for process in kernels]
    assert len(set(said)) == 1
    for process in kernels:
        end(process)


def test_a_killed_curator_is_started_anew_with_its_budget_intact(dpnb_home, people):
    """After SIGKILL the next request starts a curator: same handle, same budget, same stored answers."""
    data = dpnb.open(people, quiet=True)
    first = dpnb.release([data.x.mean()], epsilon=1)
    pid = pid_of(dpnb_home)
    os.kill(pid, signal.SIGKILL)
    assert ends(pid)
    again = dpnb.release([data.x.mean(), data.y.mean()], epsilon=1)
    assert again.stored == (True, False)
    assert again[0].value == first[0].value
    assert pid_of(dpnb_home) != pid
    assert data.budget.spent.amount == 1 + again.charged.amount == 1.5


def test_a_curator_that_another_kernel_began_anew_is_joined(dpnb_home, people):
    """Who only watches is told of the end, starts nothing, and is told when somebody else's request brought the curator back."""
    data = dpnb.open(people, quiet=True)
    other = Session()
    try:
        watched = other.attach(api.session()._sources[data.handle].source)
        other.watch()
        pid = pid_of(dpnb_home)
        os.kill(pid, signal.SIGKILL)
        assert ends(pid)
        wait_until(lambda: other.gone)
        with other.looking(), pytest.raises(CuratorGone, match="%dp budget"):
            watched.budget.state()
        assert not alive(pid_of(dpnb_home))
        dpnb.release([data.x.mean()], epsilon=1)
        wait_until(lambda: not other.gone)
        with other.looking():
            assert watched.budget.spent.amount == 1
    finally:
        other.close()


@pytest.mark.parametrize("name", ["incentive33", "incentive34"])
def test_a_study_that_is_opened_first_is_asked_of_the_curator_that_was_started_ahead(
    dpnb_home, monkeypatch, name
):
    """One curator is started, on the thread ahead; where there is no such study, nothing of it stays in the kernel."""
    started = []
    start = launch._start
    monkeypatch.setattr(
        launch, "_start", lambda *given: (started.append(threading.current_thread().name), start(*given))[1]
    )
    monkeypatch.delitem(sys.modules, "dpnb.client.session")
    with contextlib.suppress(SchemaError):
        assert not dpnb.open(name, quiet=True).budget.state().spent
    assert started == ["dpnb-curator-ahead"]
    assert not launch._AHEAD


DIES = """
import os, dpnb
from dpnb.client import api, launch
from dpnb.client.session import Session
data = dpnb.open({path!r}, quiet=True)
here = api.session()
def dying(body):
    here.line.transport._connection.request("/v1/messages", here.line.transport._headers, body)
    {wait}
    os._exit(9)
estimate = data.x.mean()
other = Session()
watched = other.attach(here._sources[data.handle].source)
here.line.transport._send = dying
dpnb.release([estimate], epsilon=1)
"""
WAITS = "while not watched.budget.spent: pass"


@pytest.mark.parametrize("wait", [WAITS, "pass"], ids=["after the charge", "at once"])
def test_a_killed_kernel_leaves_one_charge_and_its_answer_to_the_next_one(dpnb_home, people, wait):
    """A kernel dies before the reply: its request was charged and stored, or was nothing; the next kernel pays once in all."""
    process = kernel(DIES.format(path=str(people), wait=wait))
    assert process.wait(30) == 9
    process.stdin.close()
    process.stdout.close()
    data = dpnb.open(people, quiet=True)
    report = dpnb.release([data.x.mean()], epsilon=1)
    if wait == WAITS:
        assert report.stored == (True,)
    assert not report[0].pending
    assert data.budget.spent.amount == 1


FAULTY = """
import os, sys, time
from dpnb.trusted.curator import failpoints
marks = {marks!r}
def hook(step):
    if step == {step!r} and not os.path.exists(marks):
        open(marks, "w").close()
        {act}
failpoints.install(hook)
import runpy
runpy.run_module("dpnb.trusted.curator", run_name="__main__", alter_sys=True)
"""


def faulty(tmp_path, step, act):
    """A curator's command line that does something once, at one step."""
    script = tmp_path / "faulty.py"
    script.write_text(FAULTY.format(marks=str(tmp_path / "done"), step=step, act=act))
    return [sys.executable, str(script)]


@pytest.fixture
def with_curator(dpnb_home):
    """A session whose curator is started by a given command line."""
    made = []

    def make(command):
        here = Session(lambda: connect(Home.current(), command))
        made.append(here)
        sessions._SESSIONS[Home.current().root] = here
        sessions.opened_in(here)
        return here

    yield make
    for here in made:
        here.close()


@pytest.mark.parametrize("step", ["checked", "charged", "before-send"])
def test_a_curator_killed_during_a_release_answers_once_and_charges_once(
    dpnb_home, people, tmp_path, with_curator, step
):
    """The session starts it anew and sends the same request id: one charge, one answer, no error to the analyst."""
    here = with_curator(faulty(tmp_path, step, "os._exit(9)"))
    data = dpnb.open(people, quiet=True)
    report = dpnb.release([data.x.mean(), data.y.mean()], epsilon=1)
    assert (tmp_path / "done").exists()
    assert report.charged.amount == 1
    assert data.budget.spent.amount == 1
    assert len([row for row in here.ledger(data) if row["kind"] == "charge"]) == 1


def test_a_curator_that_keeps_dying_is_a_clear_error_and_the_charge_is_kept(
    dpnb_home, people, tmp_path, with_curator
):
    """Killed each time after the charge: CuratorGone; when it lives again the same cell is answered under that charge."""
    here = with_curator(faulty(tmp_path, "charged", "os.remove(marks); os._exit(9)"))
    data = dpnb.open(people, quiet=True)
    with pytest.raises(CuratorGone, match="Run the line again"):
        dpnb.release([data.x.mean()], epsilon=1)
    here.close()
    here.line.connect = lambda: connect(Home.current())
    report = dpnb.release([data.x.mean()], epsilon=1)
    assert report.charged.amount == 1
    assert data.budget.spent.amount == 1


@contextlib.contextmanager
def interrupted(tmp_path):
    """Interrupt this process, as the stop button does, when its curator stays at its step; then let that go on."""
    before = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))

    def watch():
        wait_until((tmp_path / "done").exists, within=60)
        os.kill(os.getpid(), signal.SIGALRM)
        time.sleep(0.1)
        (tmp_path / "go").touch()

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield
    finally:
        watching.join()
        signal.signal(signal.SIGALRM, before)


STAYS = "while not os.path.exists({go!r}): time.sleep(0.01)\n        open({gone!r}, 'w').close()"


def stays(tmp_path, step):
    """A curator that stays at a step until ``go`` is there, and says in ``gone`` that it went on."""
    return faulty(tmp_path, step, STAYS.format(go=str(tmp_path / "go"), gone=str(tmp_path / "gone")))


def test_an_interrupt_before_the_charge_cancels(dpnb_home, people, tmp_path, with_curator):
    """Interrupted while the plan is checked: nothing is spent, now or later, and the question stays pending."""
    with_curator(stays(tmp_path, "checked"))
    data = dpnb.open(people, quiet=True)
    estimate = data.x.mean()
    with interrupted(tmp_path), pytest.raises(KeyboardInterrupt, match="nothing was spent"):
        dpnb.release([estimate], epsilon=1)
    wait_until((tmp_path / "gone").exists)
    assert data.budget.spent.amount == 0
    assert estimate.pending
    dpnb.release([estimate], epsilon=1)
    assert data.budget.spent.amount == 1


def test_an_interrupt_after_the_charge_resolves(dpnb_home, people, tmp_path, with_curator):
    """Interrupted while the data are scanned: the charge stands, and the answer is fetched."""
    with_curator(stays(tmp_path, "charged"))
    data = dpnb.open(people, quiet=True)
    estimate = data.x.mean()
    with interrupted(tmp_path):
        dpnb.release([estimate], epsilon=1)
    assert not estimate.pending
    assert data.budget.spent.amount == 1


def test_a_second_interrupt_says_that_the_charge_stands(dpnb_home, people, tmp_path, with_curator):
    """Interrupted twice after the charge: ChargedError; asking again returns the stored answer for that charge."""
    with_curator(faulty(tmp_path, "charged", "time.sleep(1.5)"))
    data = dpnb.open(people, quiet=True)
    before = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    signal.setitimer(signal.ITIMER_REAL, 0.3, 0.4)
    try:
        with pytest.raises(ChargedError, match="Interrupted after the charge"):
            dpnb.release([data.x.mean()], epsilon=1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    report = dpnb.release([data.x.mean()], epsilon=1)
    assert report[0].value is not None
    assert data.budget.spent.amount == 1


def test_a_stale_socket_and_address_do_not_stop_a_start(dpnb_home, people):
    """What a dead curator left behind is replaced."""
    home = Home(dpnb_home).make()
    home.socket.write_text("")
    home.address.write_text(json.dumps({"socket": str(home.socket), "pid": 1, "protocol": 1}))
    assert dpnb.open(people, quiet=True).budget.spent.amount == 0


def test_a_home_that_cannot_be_used_is_named(dpnb_home, people, monkeypatch):
    """A file in the place of the home: the error says so and what to set."""
    blocked = dpnb_home / "file"
    blocked.write_text("")
    monkeypatch.setenv("DPNB_HOME", str(blocked))
    with pytest.raises(OwnerError, match="DPNB_HOME"):
        dpnb.open(people, quiet=True)


def test_a_damaged_ledger_stops_the_start_with_its_reason(dpnb_home, people):
    """The curator does not start with a truncated ledger, and the kernel hears why."""
    home = Home(dpnb_home).make()
    home.ledger.write_bytes(b"SQLite format 3\x00 and then nothing")
    with pytest.raises(OwnerError, match="ledger"):
        dpnb.open(people, quiet=True)


def test_the_loopback_with_a_token_works_and_refuses_a_wrong_token(dpnb_home, people, monkeypatch):
    """Where Unix sockets are missing: the same protocol over loopback, closed to whoever lacks the token."""
    from dpnb.client.transport import TcpTransport

    monkeypatch.setenv("DPNB_TCP", "1")
    data = dpnb.open(people, quiet=True)
    dpnb.release([data.x.mean()], epsilon=1)
    where = json.loads(Home(dpnb_home).address.read_bytes())
    assert decode_reply(TcpTransport(where["port"], where["token"]).send(encode(Hello()))).pid == where["pid"]
    with pytest.raises(CuratorGone):
        TcpTransport(where["port"], "0" * 64).send(encode(Hello()))


def test_a_wrong_row_count_refuses_the_attach_without_the_true_one(dpnb_home, people):
    """The owner is told that the count differs, not by how much."""
    people.write_text(people.read_text() + "5,1\n")
    with pytest.raises(OwnerError, match="rows") as caught:
        dpnb.open(people, quiet=True)
    assert "41" not in str(caught.value)


def test_a_frame_is_handed_over_once_and_says_so(dpnb_home, people):
    """A pandas frame: the same answers as the file's columns, a note on its card, and nothing left in the folder."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(small.rows())
    data = dpnb.open(frame, schema=small.declared(), quiet=True)
    assert any("already had" in note for note in data.notes)
    assert list(Home(dpnb_home).hand_over.iterdir()) == []
    report = dpnb.release({"n": data[data.y == 1].count()}, epsilon=10)
    assert abs(report["n"].value - (frame.y == 1).sum()) < 10


def test_a_forked_child_does_not_disturb_its_parents_connection(dpnb_home, people):
    """A fork asks on a connection of its own."""
    data = dpnb.open(people, quiet=True)
    assert data.budget.spent.amount == 0
    child = os.fork()
    if child == 0:
        ok = 1
        try:
            ok = 0 if data.budget.spent.amount == 0 else 1
        finally:
            os._exit(ok)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert data.budget.spent.amount == 0


def test_the_life_line_tells_that_a_ledger_grew_and_that_the_curator_ended(people, dpnb_home):
    """Whoever holds a life-line hears of another kernel's charge and nothing more, and of the curator's end, at once."""
    heard = connect(Home(Path(dpnb_home)))
    try:
        small_ = dpnb.open(people, quiet=True)
        assert heard.wait()  # the terms were pinned
        api.release(small_.x.mean(), epsilon=1)
        before = time.monotonic()
        assert heard.wait()
        assert time.monotonic() - before < 5
        os.kill(pid_of(dpnb_home), signal.SIGKILL)
        while heard.wait():
            pass  # what it said before its end
        assert not heard.wait()
    finally:
        heard.close()


def test_an_empty_variable_means_the_default(dpnb_home, monkeypatch):
    for name in ("DPNB_LINGER", "DPNB_TCP"):
        monkeypatch.setenv(name, "")
    assert Config.from_environment(Home(dpnb_home)) == Config(Home(dpnb_home))


NEVER_STARTS = """
import pathlib, sys
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.server import main
from dpnb.trusted.wire.places import Home
sys.exit(main(Config(Home(pathlib.Path(sys.argv[1]))), lambda _: {}["the fault"]))
"""


def test_a_curator_that_dies_before_it_has_a_service_leaves_its_fault_in_the_owners_log(dpnb_home):
    died = subprocess.run(
        [sys.executable, "-c", NEVER_STARTS, dpnb_home], capture_output=True, text=True, check=False
    )
    assert died.returncode == 1
    assert "the fault" not in died.stdout
    assert "the details are in its owner's log" in died.stdout
    assert "KeyError: 'the fault'" in Home(Path(dpnb_home)).log.read_text()


LOOKED_INTO = """
import atexit, runpy, sys
def write():
    with open({told!r}, "w") as file:
        file.write("\\n".join(name for name in sys.modules if name.split(".")[0] == "dpnb"))
atexit.register(write)
runpy.run_module("dpnb.trusted.curator", run_name="__main__", alter_sys=True)
"""
OWNED = """
[dataset]
name = "small"
source = "small.csv"
adjacency = "add-remove"
[budget]
epsilon = 1000
delta = 0.1
[columns.x]
type = "number"
lower = 0
upper = 100
step = 1
[columns.y]
type = "number"
lower = 0
upper = 10
step = 1
weights_fixed = true
[columns.b]
type = "category"
values = [0, 1]
[columns.g]
type = "category"
values = ["u", "v", "w"]
"""


def test_a_running_curator_has_loaded_nothing_of_dpnb_but_the_wing(
    dpnb_home, tmp_path, with_curator, monkeypatch
):
    """Asked after an owner's file was opened and every statistic was released: whoever reads the wing has read all that ran."""
    monkeypatch.setenv("DPNB_LINGER", "0.2")
    told, script = tmp_path / "modules", tmp_path / "looked_into.py"
    script.write_text(LOOKED_INTO.format(told=str(told)))
    here = with_curator([sys.executable, str(script)])
    (tmp_path / "small.dpnb.toml").write_text(OWNED)
    (tmp_path / "small.csv").write_text("x,y,b,g\n" + "31,2,1,u\n40,9,0,v\n" * 20)
    data = dpnb.open(tmp_path / "small.csv", quiet=True)
    asked = [
        PendingQuestion(question, check(question, data.schema), dataset=data)
        for name, samples in SAMPLES.items()
        for question in (Question(data.name, name, **sample) for sample in samples)
    ]
    here.release(asked, Ask.make(epsilon=900))
    here.close()
    end = time.monotonic() + 60
    while not told.exists() and time.monotonic() < end:
        time.sleep(0.1)
    loaded = set(told.read_text().split())
    assert {"dpnb.trusted.curator.service", "dpnb.trusted.measurements.selections"} <= loaded
    assert {name for name in loaded if name != "dpnb" and not name.startswith("dpnb.trusted")} == set()
    assert {name for name in loaded if name.startswith("dpnb.trusted.owner")} == set(), (
        "an owner acts elsewhere"
    )
