"""The price of a cell that has not run is the price that running it plans, or no price at all."""

from __future__ import annotations

import gc
import threading

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dpnb.client.asked import batch_of
from dpnb.errors import DpnbError
from dpnb.notebook import holding
from dpnb.notebook.options import parse
from dpnb.notebook.spending import asked, weigh
from dpnb.notebook.unrun import CellPrice, Snapshot, price_of
from dpnb.release import Batch
from tests.curator import small
from tests.examples import examples


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A handle on the small dataset."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPNB_HOME", str(home))
        service = small.curator(home)
        yield small.opened(small.session(service, "ann"), home)
        service.close()


def run(body: str, names: dict[str, object]) -> object:
    """Run a body as the magic does and return its last value."""
    *steps, last = body.splitlines() or [""]
    try:
        code = compile(last, "cell", "eval")
    except SyntaxError:
        exec(body, names)
        return None
    exec("\n".join(steps), names)
    return eval(code, names)  # noqa: S307


def planned(line: str, body: str, data: object) -> CellPrice:
    """What running the cell would plan."""
    names: dict[str, object] = {"data": data}
    try:
        with Batch() as batch:
            last = run(body, names)
        gc.collect()
        leaves = batch.pending_leaves()
        if not leaves:
            return CellPrice("nothing")
        options = parse(line)
        pairs = holding.named({name: value for name, value in names.items() if name != "data"})
        leaves = weigh(options, dict(pairs), leaves)
        found = batch_of(leaves, asked(options, leaves, epsilon="", names={}))
        del last
    except DpnbError as error:
        return CellPrice("error", message=error.message)
    rows = tuple((item.text, str(item.loss)) for item in found.priced.items)
    return CellPrice("priced", str(found.priced.loss), questions=tuple(("", *row) for row in rows))


def agree(line: str, body: str, data: object) -> CellPrice:
    """Where a price is given it is the price of running; return what was read."""
    read = price_of(f"%%dp {line}\n{body}", Snapshot.of({"data": data}))
    if read.status != "unread":
        ran = planned(line, body, data)
        assert (read.status, read.label, read.message) == (ran.status, ran.label, ran.message)
        assert [row[1:] for row in read.questions] == [row[1:] for row in ran.questions]
    return read


NUMBERS = st.sampled_from(["data.x", "data.y", "data['x']", "(data.x + 1)", "data.x * data.x"])
CONDITIONS = st.sampled_from(
    ["data.x > 4", "(data.x > 2) & (data.x <= 8)", "~(data.x < 6)", "data.x.between(2, 7)"]
)
NAMES = st.sampled_from(["a", "b", "c"])
QUESTIONS = st.one_of(
    NUMBERS.map(lambda x: f"{x}.mean()"),
    NUMBERS.map(lambda x: f"({x}).sum()"),
    NUMBERS.map(lambda x: f"({x}).quantile([0.25, 0.5])"),
    CONDITIONS.map(lambda c: f"data[{c}].count()"),
    CONDITIONS.map(lambda c: f"({c}).mean()"),
    st.just("data.x.histogram(bins=4)[1]"),
    st.just("data.count()"),
    st.just("data.x.mean().spend(epsilon=0.1)"),
    st.just("data.x.mean().weight(3)"),
)
STATEMENTS = st.one_of(
    st.builds("{} = {}".format, NAMES, QUESTIONS),
    st.builds("{} = {} ** 0.5 - {}".format, NAMES, QUESTIONS, QUESTIONS),
    st.builds("{} = {}".format, NAMES, NAMES),
    st.builds("del {}".format, NAMES),
    st.builds("{}; 1".format, QUESTIONS),
    st.builds("{} = [data[data.x > t].count() for t in (1, 2, 3)]".format, NAMES),
    st.builds("{} = {{t: data[data.x > t].count() for t in range(1, 3)}}".format, NAMES),
    st.builds("for t in [3, 5]: {} = (data.x > t).mean()".format, NAMES),
    st.builds("{} = lambda: {}".format, NAMES, QUESTIONS),
    st.builds("{} = sum([{}, {}])".format, NAMES, QUESTIONS, QUESTIONS),
    st.builds("{} = 1 if 2 > 1 else {}".format, NAMES, QUESTIONS),
    st.builds("if {}: pass".format, CONDITIONS),
)
LINES = st.sampled_from(
    ["epsilon=1", "plan epsilon=0.25", "within=2", "", "epsilon=1 weights=a:2", "rho=1", "epsilom=1"]
)


@settings(
    max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(line=LINES, statements=st.lists(STATEMENTS, max_size=8))
@example(line="epsilon=1", statements=["a = data.x.mean()", "del a"])
@example(line="epsilon=1", statements=["a = data.x.mean()", "b = a", "a = 1"])
def test_a_price_that_is_given_is_the_price_of_running(data, line, statements):
    if line != "epsilom=1":
        agree(line, "\n".join(statements), data)


READ = {
    "a = data.x.mean()": "ε 1",
    "a = data.x.mean()\nb = data.x.mean()": "ε 1",
    "m = data.x.mean().spend(epsilon=0.2)\nn = data.x.std()": "ε 1",
    "groups = {g: data[data.x > g].count() for g in [1, 2]}": "ε 1",
    "rows = []\nfor t in data.schema['x'].lower, 4:\n    rows.append(data[data.x > 2].count())": "ε 1",
    "total = 0\nfor t in range(1, 4):\n    total += data[data.x > t].count()": "ε 1",
    "data.x.mean()": "ε 1",
    "a, b = data.x.mean(), data.y.mean()": "ε 1",
    "name = f'x{1}'\nboth = {name: data.x.mean()}": "ε 1",
}


@pytest.mark.parametrize("body", READ)
def test_ordinary_cells_are_read(data, body):
    read = agree("epsilon=1", body, data)
    assert (read.status, read.label) == ("priced", READ[body])


UNREAD = [
    "import numpy as np\na = np.mean(data.x)",
    "a = (lambda: data.x.mean())()",
    "def f():\n    return data.x.mean()\na = f()",
    "a = other.x.mean()",
    "a = data.x.mean().value",
    "a = data.x.mean().remeasure(epsilon=1)",
    "a = data.session.close()",
    "while True: pass",
    "a = [data.x.mean() for t in range(10**9)]",
    "a = 10 ** 10 ** 10",
    "a = 'x' * 10 ** 10",
    "a = __import__('os')",
    "a = data.__class__",
    "a = data.x._ask('mean')",
    "for t in range(2000):\n    for u in range(2000):\n        a = 1",
    "a = data.x.mean(",
    "print(data.x.mean())",
    "box['a'] = data.x.mean()",
    "a = {**{}}",
]


@pytest.mark.parametrize("body", UNREAD)
def test_what_only_running_can_tell_gets_no_price(data, body):
    read = price_of(f"%%dp epsilon=1\n{body}", Snapshot.of({"data": data}))
    assert read.status == "unread"
    assert read.message


@pytest.mark.parametrize("body", ["", "z = len([1])", "a = data.x", "if False:\n    data.x.mean()"])
def test_a_cell_that_asks_nothing_is_told_apart_from_one_that_cannot_be_read(data, body):
    assert agree("epsilon=1", body, data).status == "nothing"


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%%dp epsilom=1\na = data.x.mean()", "did you mean epsilon"),
        ("%%dp epsilon=1\na = data.agee.mean()", "agee"),
        ("%%dp\na = data.x.mean()", "names no loss"),
        ("%%dp epsilon=1 weights=b:2\na = data.x.mean()", "no estimate"),
        ("%%dp epsilon=1\nif data.x > 1: pass", "truth value"),
    ],
)
def test_a_cell_that_would_stop_is_told_so_in_the_same_words(data, cell, message):
    read = price_of(cell, Snapshot.of({"data": data}))
    assert read.status == "error"
    assert message in read.message


def test_the_configured_default_and_aliases_of_handles_are_known(data):
    snapshot = Snapshot.of({"data": data, "x": data.x, "small": data[data.x > 2], "n": 3}, epsilon="0.5")
    assert price_of("%%dp\na = x.mean() + small.count()", snapshot).label == "ε 0.5"


def test_a_builtin_that_the_user_has_bound_is_not_read(data):
    snapshot = Snapshot.of({"data": data, "range": lambda _: [1]})
    assert (
        price_of("%%dp epsilon=1\na = [data[data.x > t].count() for t in range(11)]", snapshot).status
        == "unread"
    )


def test_reading_a_price_leaves_no_trace_in_an_open_batch(data):
    with Batch() as batch:
        price_of("%%dp epsilon=1\na = data.x.mean()", Snapshot.of({"data": data}))
    assert (batch.pending_leaves(), batch.built) == ([], 0)


def test_a_price_is_read_in_another_thread_while_a_cell_is_running(data):
    found: list[CellPrice] = []
    with Batch() as batch:
        mine = data.y.mean()
        thread = threading.Thread(
            target=lambda: found.append(
                price_of("%%dp epsilon=1\na = data.x.mean()", Snapshot.of({"data": data}))
            )
        )
        thread.start()
        thread.join()
    assert found[0].label == "ε 1"
    assert batch.pending_leaves() == list(mine.leaves())


def test_a_price_is_plain_json(data):
    read = price_of("%%dp epsilon=1\na = data.x.mean()", Snapshot.of({"data": data}))
    assert read.to_json() == {
        "status": "priced",
        "label": "ε 1",
        "message": "",
        "questions": [{"label": "a", "question": "small.x.mean()", "loss": "ε 1"}],
    }


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("x = [1]\nfor i in range(64):\n    x.extend(x)", id="a list that doubles"),
        pytest.param("x = 'a'\nfor i in range(64):\n    x = f'{x}{x}'", id="a text that doubles"),
        pytest.param("x = (1,)\nfor i in range(64):\n    x = (x, x)\ny = {x: 1}", id="a key of 2^64 parts"),
        pytest.param(
            "x = y = (1,)\nfor i in range(64):\n    x, y = (x, x), (y, y)\nx == y", id="a comparison"
        ),
        pytest.param("x = [1]\nfor i in range(64):\n    x = [x, x]\ndata.x.quantile(x)", id="an argument"),
        pytest.param("x = [1]\nx.append(x)\ndata.x.quantile(x)", id="a list in itself"),
        pytest.param("-" * 100_000 + "1", id="a hundred thousand signs"),
    ],
)
def test_a_cell_that_builds_much_out_of_little_is_left_unread(data, body):
    """A cell is priced while it is looked at: what would hold the kernel up, or fill its memory, gets no price."""
    assert price_of(f"%%dp epsilon=1\n{body}", Snapshot.of({"data": data})).status == "unread"
