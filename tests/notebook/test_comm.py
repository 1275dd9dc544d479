"""The link to the front ends: state is pushed, questions are answered, and no message spends."""

from __future__ import annotations

import json
import threading
import time
from types import SimpleNamespace

import comm
import pytest

import dpnb
from dpnb.errors import CuratorGone, PlanError
from dpnb.estimate import provide
from dpnb.notebook import comm as link_module
from dpnb.notebook.comm import ANNOUNCE, TARGET, Link
from dpnb.notebook.display import Screen
from dpnb.notebook.host import NotebookHost
from dpnb.planner.request import Ask
from dpnb.widgets import host_questions
from dpnb.widgets.snapshot import _row, snapshot


class Front:
    """One comm as the kernel sees it, and what was sent on it."""

    def __init__(self, name="c1"):
        self.comm_id, self.sent, self.closed = name, [], None

    def send(self, data):
        self.sent.append(json.loads(json.dumps(data, allow_nan=False)))

    def wait(self, count):
        """Wait until as many messages have come, which another thread sends."""
        end = time.monotonic() + 10
        while len(self.sent) < count and time.monotonic() < end:
            time.sleep(0.005)
        assert len(self.sent) >= count, "nothing came"

    def on_close(self, call):
        self.closed = call

    def close(self):
        self.closed(None)


class Events:
    """The events of a shell."""

    def __init__(self):
        self.calls = []

    def register(self, name, call):
        self.calls.append((name, call))

    def unregister(self, name, call):
        self.calls.remove((name, call))


@pytest.fixture
def session(data):
    """A session with one protected dataset."""
    made = data.session
    made.small = data
    return made


class Beacon:
    """The comm that the kernel holds; what was sent on it is in ``sent``."""

    def __init__(self, **asked):
        self.asked, self.sent = asked, []

    def send(self, data):
        self.sent.append(data)


@pytest.fixture
def link(session, monkeypatch):
    """A link in a shell with a kernel; what it registered is in ``targets`` and ``held``."""
    targets, held = {}, []
    manager = SimpleNamespace(
        register_target=targets.__setitem__,
        unregister_target=lambda name, _: targets.pop(name),
        register_comm=held.append,
        unregister_comm=held.remove,
    )
    monkeypatch.setattr(link_module, "get_comm_manager", lambda: manager)
    monkeypatch.setattr(link_module, "create_comm", Beacon)
    shell = SimpleNamespace(kernel=object(), events=Events(), user_ns={"small": session.small})
    made = Link(shell, lambda: session)
    provide(NotebookHost(Screen(), made))
    made.install()
    made.targets, made.held, made.shell = targets, held, shell
    yield made
    provide(None)
    if targets:
        made.uninstall()


def opened(link, data):
    """What a front end hears that opens a comm with this first message."""
    front = Front()
    link.targets[TARGET](front, {"content": {"data": data}})
    return front


def test_a_shell_without_a_kernel_is_left_alone(session, monkeypatch):
    """In plain IPython nothing is registered, announced or taken away."""
    monkeypatch.setattr(link_module, "get_comm_manager", pytest.fail)
    link = Link(SimpleNamespace(), lambda: session)
    link.install()
    link.uninstall()
    assert not link.connected
    assert comm


def test_loading_announces_itself(link):
    """A kernel that has dpnb lists a comm of its target, and front ends that asked before %load_ext are told on it to ask again."""
    (beacon,) = link.held
    assert (beacon.asked["target_name"], beacon.asked["comm_id"]) == (TARGET, ANNOUNCE)
    assert not beacon.asked["primary"], "it would be opened in pages that do not know it"
    assert beacon.sent == [{"protocol": 1}]


def test_what_others_charge_is_told(link, session):
    """News of the ledger reach every front end without a cell, and the kernel's answer stands when it is told."""
    front = opened(link, {"protocol": 1})
    session.release([session.small.x.mean()], Ask.make(epsilon=2))
    link.tell()
    front.wait(2)
    (one,) = front.sent[-1]["state"]["datasets"]
    assert one["left"] == 8.0


def test_a_curator_that_has_gone_is_not_started_to_say_so(link, session, monkeypatch):
    """The state then is the last that was read, marked; no request is sent for it. A question that needs the curator ends it."""
    front = opened(link, {"protocol": 1})
    before = front.sent[-1]["state"]
    transport = session.line.transport
    with monkeypatch.context() as patch:
        patch.setattr(session.line, "once", pytest.fail)
        transport.close()
        front.wait(2)
        state = front.sent[-1]["state"]
        assert state["curator"] == "gone"
        assert state["datasets"] == before["datasets"]
        assert state["at"] == before["at"]
        link.push()
        assert front.sent[-1]["state"]["curator"] == "gone"
    assert session.small.budget.spent is not None
    assert not session.gone


def test_who_only_looks_brings_back_no_curator(link, session, monkeypatch):
    """The curator ends while its ledger is read, before the life-line says so: the reading says that it is gone."""
    front = opened(link, {"protocol": 1})
    before = front.sent[-1]["state"]
    session.plan([session.small.x.mean()], Ask.make(epsilon=1))
    with monkeypatch.context() as patch:
        patch.setattr(session.line, "connect", lambda: pytest.fail("a curator was started"))
        patch.setattr(
            session.line.transport, "send", lambda _: (_ for _ in ()).throw(CuratorGone("it ended"))
        )
        link.push()
        state = front.sent[-1]["state"]
        assert state["curator"] == "gone"
        assert state["datasets"] == before["datasets"]
        (answer,) = opened(link, {"ask": "plan"}).sent
        assert "%dp budget" in answer["problem"]
    assert session.small.budget.spent is not None
    assert not session.gone


def test_state_is_told_at_once_and_after_every_cell(link):
    """A front end hears the state when it connects, after each cell with a higher number, and no more once it is gone."""
    front = opened(link, {"protocol": 1})
    (name, after_cell) = link.shell.events.calls[0]
    assert name == "post_run_cell"
    after_cell(object())
    first, second = (message["state"] for message in front.sent)
    assert second["seq"] > first["seq"]
    (one,) = second["datasets"]
    assert (one["name"], one["symbol"], one["cap"], one["left"]) == ("small", "ε", 10.0, 10.0)
    assert [column["name"] for column in one["columns"]] == ["x", "g", "y"]
    front.close()
    after_cell(object())
    assert len(front.sent) == 2


def test_a_charge_is_in_the_next_state(link, session):
    """What was spent, what is left and what for."""
    front = opened(link, {"protocol": 1})
    session.release([session.small.x.mean()], Ask.make(epsilon=1))
    link.push()
    (one,) = front.sent[-1]["state"]["datasets"]
    assert (one["spent"], one["left"]) == (1.0, 9.0)
    charges = [row for row in one["ledger"] if row["kind"] == "charge"]
    assert [(row["questions"], row["paid"]) for row in charges] == [(["small.x.mean()"], "ε 1")]


def test_a_question_is_answered_on_its_own_comm(link):
    """The price of a cell is read from its text; the comm is not kept."""
    link.push()
    front = opened(link, {"ask": "price", "cell": "%%dp epsilon=0.5\nm = small.x.mean()"})
    assert [(one["status"], one["label"]) for one in front.sent] == [("priced", "ε 0.5")]
    assert not link._comms


def test_a_price_tells_what_is_stored(link, session):
    """Beside the price: how many questions are stored, what the others would be charged, and what is left if that is too little."""
    link.push()
    cell = "%%dp epsilon=0.5\nm = small.x.mean()\nn = small.y.mean()"
    stored = lambda text: {
        name: opened(link, {"ask": "price", "cell": text}).sent[0][name]
        for name in ("label", "stored", "asked", "new", "left")
    }
    assert stored(cell) == {"label": "ε 0.5", "stored": 0, "asked": 2, "new": "ε 0.5", "left": ""}
    session.release([session.small.x.mean()], Ask.make(epsilon=1))
    assert stored(cell) == {"label": "ε 0.5", "stored": 1, "asked": 2, "new": "ε 0.25", "left": ""}
    assert stored("%%dp epsilon=0.5 fresh\nm = small.x.mean()")["stored"] == 0
    assert stored("%%dp epsilon=30\nm = small.y.mean()")["left"] == "ε 9"
    assert session.small.budget.spent.amount == 1


def test_a_price_waits_for_no_curator(link, session, monkeypatch):
    """While a cell holds the session, or after the curator has gone, the price is told without what is stored, and at once."""
    link.push()
    asked = {"ask": "price", "cell": "%%dp epsilon=0.5\nm = small.x.mean()"}
    held, done = threading.Event(), threading.Event()

    def hold():
        with session.line.lock:
            held.set()
            done.wait(300)

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(60)
    answer = opened(link, asked).sent[0]
    assert holder.is_alive()
    done.set()
    holder.join()
    assert answer["label"] == "ε 0.5"
    assert "stored" not in answer
    session.close()
    monkeypatch.setattr(session.line, "connect", pytest.fail)
    answer = opened(link, asked).sent[0]
    assert answer["label"] == "ε 0.5"
    assert "stored" not in answer


def test_the_state_says_when_prices_must_be_read_again(link, session):
    """Its number changes with a name, a handle or a default, and stays when a cell changed none of them."""
    reading = lambda: opened(link, {"protocol": 1}).sent[-1]["state"]["reading"]
    link.push()
    first = reading()
    link.shell.user_ns["x"] = 3
    link.push()
    assert reading() == first
    link.shell.user_ns["young"] = session.small[session.small.x < 5]
    link.push()
    second = reading()
    assert second > first
    link.shell.user_ns["young"] = session.small[session.small.x < 7]
    link.push()
    assert reading() > second


def test_a_variable_of_a_magic_line_is_read_again_when_it_changes(link, session):
    """A number that a priced line uses changes the state's number, and the price; a number that none uses changes neither."""
    reading = lambda: opened(link, {"protocol": 1}).sent[-1]["state"]["reading"]
    asked = {"ask": "price", "cell": "%%dp epsilon={eps}\nm = small.x.mean()"}
    names = link.shell.user_ns
    names |= {"small": session.small, "eps": 1, "n": 1}
    link.push()
    assert opened(link, asked).sent[0]["label"] == "ε 1"
    first = reading()
    names["n"] = 2
    link.push()
    assert reading() == first
    names["eps"] = 2
    link.push()
    assert reading() > first
    assert opened(link, asked).sent[0]["label"] == "ε 2"
    del names["eps"]
    link.push()
    assert reading() > first + 1
    assert opened(link, asked).sent[0]["status"] == "unread"


def test_the_state_has_the_notebook_s_names(link, session):
    """What the notebook calls a dataset, after the cell that says so; a name bound anew is gone."""
    link.shell.user_ns["people"] = session.small
    front = opened(link, {"protocol": 1})
    assert front.sent[-1]["state"]["names"] == {}
    link.push()
    assert front.sent[-1]["state"]["names"] == {"small": "small", "people": "small"}
    link.shell.user_ns["people"] = 3
    link.push()
    assert front.sent[-1]["state"]["names"] == {"small": "small"}


def test_the_methods_paragraph_is_about_what_was_released(link, session):
    """Nothing released: a refusal that says what to do. Then the paragraph that a report has; pending questions are not in it."""
    from dpnb.cards.report import methods

    asked = {"ask": "methods", "dataset": "small"}
    names = link.shell.user_ns
    names["pending"] = session.small.y.mean()
    link.push()
    assert "Run a %%dp cell" in opened(link, asked).sent[0]["problem"]
    names["m"] = session.small.x.mean()
    session.release([names["m"]], Ask.make(epsilon=1))
    link.push()
    spent = session.small.budget.spent
    (answer,) = opened(link, asked).sent
    assert answer == {"is": "methods", "text": methods([names["m"]], [session.small.schema])}
    assert "no released answer of other" in opened(link, {**asked, "dataset": "other"}).sent[0]["problem"]
    assert session.small.budget.spent == spent
    assert names["pending"].pending


def test_a_pending_question_does_not_live_on_in_the_link(link, session):
    """After it is pushed, an estimate that nobody released is held by the notebook alone."""
    import gc
    import weakref

    link.shell.user_ns["q"] = session.small.y.mean()
    seen = weakref.ref(link.shell.user_ns["q"])
    link.push()
    del link.shell.user_ns["q"]
    gc.collect()
    assert seen() is None


def test_a_pending_card_is_answered_by_its_key(link, session):
    """After the cell that showed it: what each loss would buy, and the name it has now; the ledger stays as it was."""
    mean, names = session.small.y.mean(), link.shell.user_ns
    key = link._waiting.key(mean.measurement)
    names["q"], names["found"] = mean, [mean]
    assert "does not hold" in opened(link, {"ask": "seesaw", "waiting": key}).sent[0]["problem"]
    link.push()
    (answer,) = opened(link, {"ask": "seesaw", "waiting": key}).sent
    assert (answer["is"], answer["facts"]["name"], answer["facts"]["verb"]) == ("seesaw", "q", "")
    link.shell._dpnb_magic = SimpleNamespace(mode="ask")
    assert opened(link, {"ask": "seesaw", "waiting": key}).sent[0]["facts"]["verb"] == "release"
    assert not session.small.budget.spent
    assert mean.pending


def test_no_question_spends(link, session):
    """Whatever is asked, the ledger stays as it was: there is no message that releases."""
    before = session.small.budget.spent
    cell = "%%dp epsilon=0.5\nm = small.x.mean()"
    for asked in (
        {"ask": "price", "cell": cell},
        {"ask": "release", "cell": cell},
        {"ask": "state"},
        {"ask": "methods", "dataset": "small"},
        {"ask": "seesaw", "waiting": "a key"},
        {"ask": None},
    ):
        opened(link, asked)
    assert session.small.budget.spent == before


@pytest.mark.parametrize("asked", [{"ask": "fly"}, {"ask": 3}, {"ask": ["price"]}, {"ask": {}}])
def test_a_question_nobody_knows_is_refused_in_words(link, asked):
    """The front end hears why; the kernel is not disturbed."""
    (answer,) = opened(link, asked).sent
    assert answer["is"] == "refusal"
    assert "does not know" in answer["problem"]


def test_a_failing_answer_says_no_more_than_it_should(link):
    """A dpnb error is told in its own words; any other fault as a constant."""

    def refuse(_):
        raise PlanError("no column z")

    def break_(_):
        raise RuntimeError("row 17 is 42")

    link.asked.answers |= {"refuse": refuse, "break": break_}
    assert opened(link, {"ask": "refuse"}).sent[0]["problem"] == "no column z"
    assert "42" not in opened(link, {"ask": "break"}).sent[0]["problem"]


def test_unloading_lets_go(link):
    """After %unload_ext no event and no target is left, and every comm is closed."""
    front = opened(link, {"protocol": 1})
    link.uninstall()
    assert not link.targets
    assert not link.held
    assert not link.shell.events.calls
    link.push()
    assert len(front.sent) == 1


def test_without_a_dataset_no_curator_is_asked():
    """A snapshot of an empty session starts nothing."""
    empty = SimpleNamespace(datasets={}, gone=False, latest=None)
    assert snapshot(empty)["datasets"] == []


def test_other_people_s_text_is_cleaned():
    """Control characters and marks that turn the reading direction do not reach a front end."""
    row = {
        "entry": 1,
        "time": "",
        "kind": "charge",
        "loss": None,
        "texts": ["a\u202eb\x1b[31m"],
        "principal": None,
        "note": "\u2066",
    }
    assert (_row(row)["questions"], _row(row)["note"]) == (["ab[31m"], "")


def test_the_current_plan_is_told_in_a_word_and_its_board_is_asked(link, session):
    """The state names the plan and its cost; the board is an answer, priced as it stands now; without a plan it is refused."""
    assert "There is no plan" in opened(link, {"ask": "plan"}).sent[0]["problem"]
    dpnb.plan({"m": session.small.x.mean(), "s": session.small.y.mean()}, epsilon=1, assume_n=40)
    (told,) = opened(link, {"protocol": 1}).sent
    assert told["state"]["plan"] == {"number": 1, "dataset": "small", "cost": "ε 1"}
    answer = opened(link, {"ask": "plan"}).sent[0]
    assert (answer["number"], answer["facts"]["loss"], answer["facts"]["left"]) == (1, 1.0, 10.0)
    assert "m = small.x.mean()" in answer["facts"]["body"]
    assert not session.small.budget.spent


def test_a_model_is_written_under_the_notebook_s_own_names(link, session):
    """What the notebook calls the dataset is what the cell says; moments that a name holds released are read free."""
    link.shell.user_ns["people"] = link.shell.user_ns.pop("small")
    link.push()
    asked = {"ask": "model", "dataset": "small", "y": "y", "x": ["x"], "loss": "0.5"}
    assert 'people.moments("x", "y")' in opened(link, asked).sent[0]["cell"]
    link.shell.user_ns["held"] = dpnb.release([session.small.moments("x", "y")], epsilon="0.5")[0]
    link.push()
    assert opened(link, asked).sent[0]["cell"] == 'fit = held.ols("y ~ x")\nfit'
    assert "No dataset" in opened(link, {**asked, "dataset": "nobody"}).sent[0]["problem"]


def test_the_whole_ledger_is_one_question(link, session):
    """Every entry is answered, whatever the state tells; a dataset that is not open is refused in words."""
    dpnb.release([session.small.x.sum()], epsilon="0.5")
    rows = opened(link, {"ask": "ledger", "dataset": "small"}).sent[0]["rows"]
    assert [row["kind"] for row in rows] == ["attach", "charge"]
    assert rows[1]["here"]
    assert opened(link, {"ask": "ledger", "dataset": 3}).sent[0]["is"] == "refusal"


def test_widgets_know_the_names_of_the_cell_that_runs(link, session):
    """What the notebook calls a handle or an answer is read as it is now, before the cell has ended; other names are not told."""
    report = session.release([session.small.x.mean()], Ask.make(epsilon=1))
    answer = report[0]
    link.shell.user_ns |= {"h": session.small, "effect": answer, "rows": [1, 2]}
    assert host_questions.handle_of(session.small) == "h"
    assert host_questions.called(answer) == "effect"
    assert host_questions.called(link.shell.user_ns["rows"]) is None
