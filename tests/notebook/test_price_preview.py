"""The price of a cell that has not run is the price that running it plans, or no price at all."""

from __future__ import annotations

import ast
import gc
import re
import threading
from functools import partial

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import dpnb
from dpnb.client.priced_batch import batch_of
from dpnb.errors import DpnbError
from dpnb.estimate import Batch, Rehearsal
from dpnb.notebook import find_estimates
from dpnb.notebook.find_estimates import asked, weigh
from dpnb.notebook.options import evaluated, filled, parse
from dpnb.notebook.price_preview import CellPrice, Snapshot, price_of
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
    tree = ast.parse(body)
    final = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(final.value), "cell", "eval"), names) if final else None  # noqa: S307


def notebook(data: object) -> dict[str, object]:
    """The names of a notebook before the cell: handles under several names, an older pending answer, other values."""
    older = data.x.median()
    return {
        "data": data,
        "h": data,
        "x": data.x,
        "some": data[data.x > 3],
        "older": older,
        "n": 3,
        "eps": 0.5,
        "text": "0.25 fresh",
        "len": max,
    }


def planned(line: str, body: str, before: dict[str, object], epsilon: str = "") -> CellPrice:
    """What running the cell would plan."""
    names = dict(before)
    try:
        with Batch() as batch:
            last = run(body, names)
        gc.collect()
        bound = [one for name, one in names.items() if before.get(name) is not one]
        leaves = list(dict.fromkeys([*batch.pending_leaves(), *find_estimates.pending_in([*bound, last])]))
        if not leaves:
            return CellPrice("nothing")
        options = parse(filled(line, partial(evaluated, names=names)))
        leaves = weigh(options, dict(find_estimates.named(names)), leaves)
        if not leaves:
            return CellPrice("nothing")
        found = batch_of(leaves, asked(options, leaves, epsilon=epsilon, names=names))
        del last
    except DpnbError as error:
        return CellPrice("error", message=error.message)
    rows = tuple((item.text, str(item.loss)) for item in found.priced.items)
    return CellPrice(
        "priced", str(found.priced.refined(frozenset()).loss), questions=tuple(("", *row) for row in rows)
    )


def agree(line: str, body: str, data: object, epsilon: str = "") -> CellPrice:
    """Where a price is given it is the price of running; return what was read."""
    before = notebook(data)
    read = price_of(f"%%dp {line}\n{body}", Snapshot.of(before, epsilon))
    if read.status != "unread":
        ran = planned(line, body, before, epsilon)
        assert (read.status, read.label, _words(read)) == (ran.status, ran.label, _words(ran))
        assert [row[1:] for row in read.questions] == [row[1:] for row in ran.questions]
    return read


def _words(price: CellPrice) -> list[str]:
    """The words of an error, whatever order it lists the known names in, and whichever keyword asked for a value."""
    return sorted(re.split(r"[ ,]+", re.sub(r"^`\w+` needs", "needs", price.message)))


NUMBERS = st.sampled_from(
    ["data.x", "data.y", "data['x']", "(data.x + 1)", "data.x * data.x", "h.x", "x", "some.x", "(x - n)"]
)
CONDITIONS = st.sampled_from(
    [
        "data.x > 4",
        "(data.x > 2) & (data.x <= 8)",
        "~(data.x < 6)",
        "data.x.between(2, 7)",
        "h.x > 4",
        "3 < x",
        "2 < x < 7",
        "1 < 2 < x",
        "2 > 3 > x",
    ]
)
NAMES = st.sampled_from(["a", "b", "c"])
OLD = st.sampled_from(["h", "x", "some", "older", "n", "len", "t", "range"])
VALUES = st.sampled_from(
    ["1", "2", "0", "'a'", "()", "1 < 2 < 3", "1 < 3 < 2", "n", "None", "f'{1}b'", "[1, 2]"]
)
QUESTIONS = st.one_of(
    NUMBERS.map(lambda x: f"{x}.mean()"),
    NUMBERS.map(lambda x: f"({x}).sum()"),
    NUMBERS.map(lambda x: f"({x}).quantile([0.25, 0.5])"),
    CONDITIONS.map(lambda c: f"data[{c}].count()"),
    CONDITIONS.map(lambda c: f"({c}).mean()"),
    st.just("data.x.histogram(bins=4)[1]"),
    st.just("data.count()"),
    st.just("some.count()"),
    st.just("data.x.mean().spend(epsilon=0.1)"),
    st.just("data.x.mean().weight(3)"),
    st.just("data.moments('x', 'y')"),
    st.just("data.ols('y ~ x')"),
    st.just("data.x.difference(by='g')"),
)
ANSWERS = st.one_of(
    QUESTIONS,
    NAMES,
    OLD,
    st.builds("{} and {}".format, VALUES, QUESTIONS),
    st.builds("{} or {}".format, VALUES, QUESTIONS),
    st.builds("not {}".format, VALUES),
    st.builds("({} if {} else {})".format, QUESTIONS, VALUES, QUESTIONS),
    st.builds("[{}, {}][{}]".format, QUESTIONS, QUESTIONS, st.sampled_from(["0", "-1", "2", "n - 3"])),
    st.builds("{{'a': {}, f'{{n}}': {}}}['a']".format, QUESTIONS, QUESTIONS),
    st.builds("-{} / ({} + 1)".format, QUESTIONS, QUESTIONS),
)
#: What is gone through, also while it changes.
LOOPS = st.sampled_from(
    [
        "(1, 2, 3)",
        "range(n)",
        "range(1, 4)",
        "enumerate([4, 5])",
        "zip([1, 2], [3, 4])",
        "data.schema['x'].lower, 4",
        "'ab'",
        "rows",
        "walk",
        "box",
        "box.items()",
    ]
)
INNER = st.one_of(
    st.builds("{} = {}".format, NAMES, ANSWERS),
    st.builds("rows.append({})".format, ANSWERS),
    st.builds("box[t] = {}".format, ANSWERS),
    st.builds("box[f'{{t}}{{n}}'] = {}".format, ANSWERS),
    st.builds("{} += {}".format, NAMES, ANSWERS),
    st.just("rest = list(walk)"),
    st.just("rows.append(data[data.x > t].count())"),
    st.just("rows.extend([1, 2]) if len(rows) < 9 else None"),
)


def looped(over: str, inner: list[str]) -> str:
    """A loop, and in it another where `inner` says so."""
    return f"for t in {over}:\n" + "\n".join(f"    {line}" for one in inner for line in one.splitlines())


LOOP = st.builds(looped, LOOPS, st.lists(INNER, min_size=1, max_size=3))
NESTED = st.builds(lambda over, inner: looped(over, [inner]), LOOPS, LOOP)
STATEMENTS = st.one_of(
    st.builds("{} = {}".format, NAMES, QUESTIONS),
    st.builds("{} = {}".format, NAMES, ANSWERS),
    st.builds("{} = {}".format, OLD, ANSWERS),
    st.builds("{} = {} ** 0.5 - {}".format, NAMES, QUESTIONS, QUESTIONS),
    st.builds("{} = {} = {}".format, NAMES, NAMES, ANSWERS),
    st.builds("{}, {} = {}, {}".format, NAMES, NAMES, ANSWERS, ANSWERS),
    st.builds("{}, {} = {}".format, NAMES, NAMES, LOOPS),
    st.builds("{} += {}".format, st.one_of(NAMES, OLD), ANSWERS),
    st.builds("{} -= {}".format, NAMES, ANSWERS),
    st.builds("{}: {} = {}".format, NAMES, st.sampled_from(["float", "n", "a", "data.y.sum()"]), ANSWERS),
    st.builds("{} = {}".format, NAMES, NAMES),
    st.builds("del {}".format, st.one_of(NAMES, OLD)),
    st.builds("{}; 1".format, QUESTIONS),
    st.builds("{};".format, QUESTIONS),
    ANSWERS,
    st.just("rows, box = [], {}"),
    st.builds("walk = {}".format, LOOPS),
    LOOP,
    NESTED,
    st.builds("{} = [data[data.x > t].count() for t in (1, 2, 3)]".format, NAMES),
    st.builds("{} = [{} for t in {} if t != 2]".format, NAMES, ANSWERS, LOOPS),
    st.builds("{} = {{f'{{t}}': {} for t in {}}}".format, NAMES, ANSWERS, LOOPS),
    st.builds("{} = {{t: data[data.x > t].count() for t in range(1, 3)}}".format, NAMES),
    st.builds("for t in [3, 5]: {} = (data.x > t).mean()".format, NAMES),
    st.builds("{} = lambda: {}".format, NAMES, QUESTIONS),
    st.builds("{} = sum([{}, {}])".format, NAMES, QUESTIONS, QUESTIONS),
    st.builds("{} = len([{}, {}])".format, NAMES, VALUES, VALUES),
    st.builds("{} = 1 if 2 > 1 else {}".format, NAMES, QUESTIONS),
    st.builds("if {}: pass".format, st.one_of(CONDITIONS, VALUES, ANSWERS)),
    st.builds("if {}:\n    {} = {}\nelse:\n    {} = {}".format, VALUES, NAMES, ANSWERS, NAMES, ANSWERS),
    st.builds("{} = data.x.histogram(bins=4, bins={})".format, NAMES, VALUES),
)
LINES = st.sampled_from(
    [
        "epsilon=1",
        "plan epsilon=0.25",
        "within=2",
        "within=2 assume_n=40",
        "within=0.5 assume_n=n",
        "",
        "fresh",
        "epsilon=1 weights=a:2",
        "epsilon=1 weights=a:2,b:0",
        "epsilon=1 weights=older:2",
        "epsilon=1 weights=rows:0",
        "weights=b:1/3,c:1",
        "rho=1",
        "epsilon={eps}",
        "plan epsilon=$eps",
        "epsilon={eps / n}",
        "epsilon={text}",
        "epsilon={len((1, n))}",
        "epsilon={h}",
        "epsilom=1",
    ]
)
DEFAULTS = st.sampled_from(["", "0.5"])


@pytest.mark.slow
@settings(
    max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(line=LINES, statements=st.lists(STATEMENTS, max_size=8), epsilon=DEFAULTS)
@example(line="epsilon=1", statements=["a = data.x.mean()", "del a"], epsilon="")
@example(line="epsilon=1", statements=["a = data.x.mean()", "b = a", "a = 1"], epsilon="")
@example(
    line="epsilon=1",
    statements=["a = data.moments('x', 'y')", "b = data.x.mean()", "a = data.ols('y ~ x')"],
    epsilon="",
)
def test_a_price_that_is_given_is_the_price_of_running(data, line, statements, epsilon):
    """Whatever the cell and the notebook around it, a price is that of running it, or there is none."""
    if line != "epsilom=1":
        agree(line, "\n".join(statements), data, epsilon)


READ = {
    "a = data.x.mean()": "ε 1",
    "a = data.x.mean()\nb = data.x.mean()": "ε 1",
    "m = data.x.mean().spend(epsilon=0.2)\nn = data.x.std()": "ε 1",
    "groups = {g: data[data.x > g].count() for g in [1, 2]}": "ε 1",
    "rows = []\nfor t in data.schema['x'].lower, 4:\n    rows.append(data[data.x > 2].count())": "ε 1",
    "total = 0\nfor t in range(1, 4):\n    total += data[data.x > t].count()": "ε 1",
    "data.x.mean()": "ε 1",
    "a, b = data.x.mean(), data.y.mean()": "ε 1",
    "r = data[['x', 'y']].corr()": "ε 1",
    "name = f'x{1}'\nboth = {name: data.x.mean()}": "ε 1",
}


FOUND = {
    "a = 1 and data.x.mean()": "priced",
    "a = 0 or data.x.mean()": "priced",
    "walk = enumerate([1, 2])\nrows = []\nfor i, t in walk:\n    rows.append(data[data.x > t].count())\n    rest = list(walk)": (
        "priced"
    ),
    "rows = [1]\nfor t in rows:\n    rows.append(t)\na = data.x.mean()": "unread",
    "box = {1: 2}\nfor t in box:\n    box[t + 1] = data.x.mean()": "unread",
    "a: missing = data.x.mean()": "unread",
    "a: data.y.mean() = data.x.mean()": "unread",
    "a: float = data.x.mean()": "priced",
    "a = data.x.histogram(bins=4, bins=5)": "unread",
}


@pytest.mark.parametrize("body", FOUND)
def test_a_cell_that_reads_otherwise_than_it_looks_has_the_price_of_running(data, body):
    """What was once read wrongly: truth nobody asks for, loops over what they change, annotations, arguments given twice."""
    if FOUND[body] == "unread":
        assert price_of(f"%%dp epsilon=1\n{body}", Snapshot.of({"data": data})).status == "unread"
    else:
        assert agree("epsilon=1", body, data).status == "priced"


def test_a_handle_called_as_a_builtin_is_not_called(data):
    """``list`` that holds a dataset is no list any more."""
    snapshot = Snapshot.of({"data": data, "list": data})
    assert price_of("%%dp epsilon=1\na = list((data.x.mean(),))", snapshot).status == "unread"


def test_a_weight_may_name_what_an_earlier_cell_built(data):
    """A weight of an earlier answer is left to running; a name that nobody has is told with all that there are."""
    names = {"data": data, "older": data.x.median()}
    read = price_of("%%dp epsilon=1 weights=older:2\na = data.x.mean()", Snapshot.of(names))
    assert (read.status, read.message) == ("unread", "a weight of an earlier answer")
    read = price_of("%%dp epsilon=1 weights=zzz:2\na = data.x.mean()", Snapshot.of(names))
    assert read.message == "weights=zzz:… names no estimate of this cell: use one of: a, older"


PRICED = {
    "epsilon={eps}": "ε 0.5",
    "epsilon=$eps": "ε 0.5",
    "plan epsilon={eps / 2}": "ε 0.25",
    "epsilon={text}": "ε 0.25",
    "epsilon={n * eps}": "ε 1.5",
}


@pytest.mark.parametrize("line", PRICED)
def test_a_variable_on_the_magic_line_is_priced_while_typing(data, line):
    """The snapshot of the notebook holds plain numbers and texts, and the price is that of running."""
    read = agree(line, "a = data.x.mean()", data)
    assert (read.status, read.label) == ("priced", PRICED[line])


def test_a_variable_that_only_running_can_tell_gets_no_price(data):
    """A name that no cell has set yet, a value of another kind, and a call that is not read: no guess, and no error."""
    for line in (
        "epsilon={later}",
        "epsilon={h}",
        "epsilon={max(eps, 1)}",
        "epsilon={len((1, 2))}",
        "epsilon={eps +}",
    ):
        read = price_of(f"%%dp {line}\na = data.x.mean()", Snapshot.of(notebook(data)))
        assert (read.status, read.label) == ("unread", ""), line


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


@pytest.mark.parametrize("body", ["", "z = list((1,))", "a = data.x", "if False:\n    data.x.mean()"])
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


def test_a_cell_that_runs_does_not_read_what_was_built_for_a_price(data):
    """Moments that a price is being read from are nobody's: the cell that runs meanwhile asks its own."""
    with Rehearsal():
        read = data.moments("x", "y")
    with Batch() as batch:
        fit = data.ols("y ~ x")
    assert len(batch.pending_leaves()) == 1
    assert batch.pending_leaves() != list(read.leaves())
    assert fit is not None


def test_a_price_is_plain_json(data):
    read = price_of("%%dp epsilon=1\na = data.x.mean()", Snapshot.of({"data": data}))
    assert read.to_json() == {
        "status": "priced",
        "label": "ε 1",
        "message": "",
        "questions": [
            {
                "label": "a",
                "question": "small.x.mean()",
                "loss": "ε 1",
                "accuracy": "± 0.934 to ± 5 for 40 to 4 people",
            }
        ],
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


def test_a_price_tells_what_it_buys_and_leaves(data):
    """Beside the loss stand the ± of each question and what would be left of the budget, before anything is spent."""
    cell = "%%dp epsilon=0.5\nm = data.y.mean()\nq = data.x.median()"
    found = price_of(cell, Snapshot.of({"data": data}), lambda batch: batch.dataset.session.glance(batch))
    told = found.to_json()
    view = dpnb.plan({"m": data.y.mean(), "q": data.x.median()}, epsilon=0.5)
    assert [one["accuracy"] for one in told["questions"]] == [item.preview.words for item in view.items]
    assert told["after"] == (view.left - view.cost).brief("down")


def test_the_price_of_a_regression_tells_what_its_coefficients_would_be(data):
    """Before anything is paid: how wide they are, at which spread they would be unbounded, or that they are and what bounds them."""
    wide = price_of('%%dp epsilon=60\nfit = data.ols("y ~ x")', Snapshot.of({"data": data})).accuracy[0]
    assert re.match(r"± [\d.]+ to ± [\d.]+ of its coefficients for n = 40\. If columns spread over a ", wide)
    for body in ('fit = data.ols("x ~ y")', 'zz = data.moments("x", "y")\nfit = zz.ols("x ~ y")\nfit["y"]'):
        short = price_of(f"%%dp epsilon=0.25\n{body}", Snapshot.of({"data": data})).accuracy[0]
        enough = re.fullmatch(
            r"unbounded coefficients in \d+ % of simulated releases; epsilon=([\d.]+) would bound them", short
        )
        assert enough is not None
        bought = f"%%dp epsilon={enough[1]}\n{body}"
        assert price_of(bought, Snapshot.of({"data": data})).accuracy[0].startswith("± ")
