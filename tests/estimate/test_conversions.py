"""The table of conversions: operations by pending or released, by scalar or vector."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest

from dpnb.errors import PendingError, Unavailable
from dpnb.estimate import Batch, Estimate
from tests.estimate.fakes import fill, pending, released

VALUES = [1.5, -2.0, 4.0]

#: operation -> value for 2.5, value for VALUES; an exception class where that is the answer
NEEDS_A_VALUE = {
    "float": (float, 2.5, Unavailable),
    "int": (int, 2, Unavailable),
    "complex": (complex, 2.5 + 0j, Unavailable),
    "bool": (bool, True, ValueError),
    "not": (operator.not_, False, ValueError),
    "format": (lambda q: f"{q}", "2.5", "[1.5, -2, 4]"),
    "format .2f": (lambda q: f"{q:.2f}", "2.50", Unavailable),
    "percent .2f": ("{:.2f}".format, "2.50", Unavailable),
    "math.sqrt": (math.sqrt, math.sqrt(2.5), Unavailable),
    "math.floor": (math.floor, 2, Unavailable),
    "<": (lambda q: q < 3, True, [True, True, False]),
    "<=": (lambda q: q <= 2.5, True, [True, True, False]),
    ">": (lambda q: q > 3, False, [False, False, True]),
    ">=": (lambda q: q >= 3, False, [False, False, True]),
    "==": (lambda q: q == 2.5, True, [False, False, False]),
    "!=": (lambda q: q != 2.5, False, [True, True, True]),
    "reflected <": (lambda q: q > 3, False, [False, False, True]),
    "np ==": (lambda q: np.float64(2.5) == q, True, [False, False, False]),
    "max": (lambda q: max(q, 1), 2.5, ValueError),
    "sorted": (lambda q: float(sorted([q, 1])[1]), 2.5, ValueError),
    "in": (lambda q: 2.5 in [q, q], True, ValueError),
    "np.asarray": (lambda q: np.asarray(q).tolist(), 2.5, VALUES),
    "np.array of two": (lambda q: np.array([q, q]).tolist(), [2.5, 2.5], [VALUES, VALUES]),
    "np.mean of a list": (lambda q: np.mean([q]), 2.5, np.mean(VALUES)),
    "np.isnan": (lambda q: np.isnan(q).tolist(), False, [False] * 3),
    "np.less": (lambda q: np.less(q, 3).tolist(), True, [True, True, False]),
    "np.where of itself": (lambda q: np.where(q > 3, 1, 0).tolist(), 0, [0, 0, 1]),
    "np.argmax": (np.argmax, 0, 2),
    "np.allclose": (lambda q: np.allclose(q, q), True, True),
    ".value": (lambda q: np.asarray(q.value).tolist(), 2.5, VALUES),
    ".interval": (lambda q: q.interval().kind, "confidence", "confidence"),
    ".n": (lambda q: q.n, 100, 100),
    ".n_eff": (lambda q: q.n_eff, 90, 90),
    ".flags": (lambda q: q.flags, (), ()),
    ".loss": (lambda q: str(q.loss), "ε 0.5", "ε 0.5"),
    ".release": (lambda q: q.release.dataset, "hiv", "hiv"),
    ".table": (lambda q: len(q.table()), 1, 3),
    ".to_dict": (lambda q: q.to_dict()["value"], 2.5, VALUES),
    ".plot": (lambda q: callable(q.plot), True, True),
}

#: operation -> value for 2.5, value for VALUES; these build derived estimates, pending or released
DERIVES = {
    "+": lambda q: q + 1,
    "reflected +": lambda q: 1 + q,
    "-": lambda q: q - 1,
    "reflected -": lambda q: 1 - q,
    "*": lambda q: q * 3,
    "/": lambda q: q / 2,
    "reflected /": lambda q: 1 / q,
    "//": lambda q: q // 2,
    "%": lambda q: q % 2,
    "**": lambda q: q**2,
    "reflected **": lambda q: 2**q,
    "reflected //": lambda q: 5 // q,
    "reflected %": lambda q: 5 % q,
    "negative": lambda q: -q,
    "positive": lambda q: +q,
    "abs": abs,
    "round": round,
    "round 1": lambda q: round(q, 1),
    "divmod": lambda q: divmod(q, 2)[1],
    "reflected divmod": lambda q: divmod(5, q)[0],
    "sum of a list": lambda q: sum([q, q]),
    "np.float64 on the left": lambda q: np.float64(2) * q,
    "array on the left": lambda q: np.array([1.0, 2.0, 3.0]) * q,
    "list on the right": lambda q: q + [1, 2, 3],  # noqa: RUF005 -- a sum, not a list
    "np.exp": np.exp,
    "np.maximum": lambda q: np.maximum(q, 2),
    "np.clip": lambda q: np.clip(q, 0, 2),
    "np.round": lambda q: np.round(q, 1),
    "np.stack": lambda q: np.stack([q, q]),
    "fixed np.where": lambda q: np.where(True, q, 0),
    "np.logaddexp": lambda q: np.logaddexp(q, 0),
    "self": lambda q: q * q - q,
}

VECTORS_ONLY = {
    "np.sum": np.sum,
    "np.mean": np.mean,
    "h.sum": lambda h: h.sum(),
    "np.cumsum": np.cumsum,
    "share": lambda h: h / h.sum(),
    "np.dot": lambda h: np.dot(h, [1, 2, 3]),
    "@": lambda h: h @ h,
    "reflected @": lambda h: np.array([1.0, 2.0, 3.0]) @ h,
    "np.concatenate": lambda h: np.concatenate([h, h]),
    "np.where": lambda h: np.where([True, False, True], h, 0),
    "slice": lambda h: h[1:],
    "mask": lambda h: h[np.array([True, False, True])],
    "negative place": lambda h: h[-1],
    "places": lambda h: h[[2, 0]],
}

PUBLIC = {
    "np.shape": np.shape,
    "np.ndim": np.ndim,
    "np.size": np.size,
    "len": len,
}


class Plain(np.ndarray):
    """An array that rounds as a number does: the oracle of arithmetic."""

    def __new__(cls, value):
        return np.asarray(value, dtype=float).view(cls)

    def __round__(self, decimals=0):
        return np.round(self, decimals)


def _expected(operation, value):
    with np.errstate(all="ignore"):
        found = operation(Plain(value))
    return np.asarray(found, dtype=float)


@pytest.mark.parametrize("name", NEEDS_A_VALUE)
def test_what_needs_a_value_raises_error_1_while_the_cell_runs_and_error_2_after_it(name):
    operation = NEEDS_A_VALUE[name][0]
    if name == ".plot":
        operation = lambda q: q.plot()
    with Batch("In[5]"), pytest.raises(PendingError, match="which is released when this cell ends"):
        operation(pending())
    with pytest.raises(PendingError, match="was never released"):
        operation(pending())


@pytest.mark.parametrize("name", NEEDS_A_VALUE)
def test_what_needs_a_value_gives_it_after_the_release(name):
    operation, scalar, vector = NEEDS_A_VALUE[name]
    assert operation(released(2.5)) == scalar
    if isinstance(vector, type):
        with pytest.raises(vector):
            operation(released(VALUES))
    else:
        assert np.all(operation(released(VALUES)) == vector)


@pytest.mark.parametrize("name", DERIVES)
@pytest.mark.parametrize("value", [2.5, VALUES], ids=["scalar", "vector"])
def test_arithmetic_derives_an_estimate_before_and_after(name, value):
    operation = DERIVES[name]
    q = pending(shape=np.shape(value))
    early = operation(q)
    assert isinstance(early, Estimate)
    assert early.pending
    fill(q, np.asarray(value) if isinstance(value, list) else value)
    expected = _expected(operation, value)
    for derived in (early, operation(q)):
        assert derived.shape == expected.shape
        np.testing.assert_array_equal(derived.value, expected)


@pytest.mark.parametrize("name", VECTORS_ONLY)
def test_vector_operations_derive_an_estimate_before_and_after(name):
    operation = VECTORS_ONLY[name]
    h = pending(shape=(3,))
    early = operation(h)
    assert early.pending
    fill(h, np.asarray(VALUES))
    np.testing.assert_allclose(early.value, _expected(operation, VALUES), rtol=1e-15)
    assert early.interval(0.9, "privacy").low is not None


@pytest.mark.parametrize("name", PUBLIC)
def test_shapes_are_public(name):
    assert PUBLIC[name](pending(shape=(3,))) == PUBLIC[name](np.zeros(3))


def test_a_vector_can_be_unpacked_iterated_and_indexed_while_pending():
    h = pending(shape=(3,))
    a, b, c = h
    assert [part.shape for part in h] == [(), (), ()]
    assert h[0].pending
    fill(h, np.asarray(VALUES))
    assert (a.value, b.value, c.value) == tuple(VALUES)
    assert [part.value for part in h] == VALUES


@pytest.mark.parametrize("operation", [len, iter, lambda q: q[0], list])
def test_a_single_number_is_no_sequence(operation):
    for q in (pending(), released()):
        with pytest.raises(TypeError, match="single number"):
            operation(q)


PERCENT = lambda q: "%s" % q  # noqa: UP031 -- the old way is in the table


@pytest.mark.parametrize("text", [repr, str, ascii, lambda q: f"{q!r}", lambda q: f"{q=}", PERCENT])
def test_text_never_raises(text):
    q = pending()
    with Batch():
        assert "pending hiv.got.mean()" in text(q)
        assert "pending hiv.got.mean() + 1" in text(q + 1)
        assert "pending" in text(pending(shape=(3,)))
    fill(q, 0.25)
    assert "0.25" in text(q)
    assert "<estimate>" in text(object.__new__(Estimate)), "even of an object that was never built"


def test_unknown_types_compare_unequal_and_do_not_add():
    q = pending()
    assert (q == "text") is False
    assert (q != None) is True  # noqa: E711 -- the fact
    with pytest.raises(TypeError):
        q + "text"
    with pytest.raises(TypeError):
        q < "text"  # noqa: B015 -- the fact


def test_an_operand_that_takes_over_is_asked():
    class Column:
        __array_ufunc__ = None

        def __gt__(self, other):
            return ("column", other)

        def __lt__(self, other):
            return ("column <", other)

        def __radd__(self, other):
            return ("column +", other)

    q = released(2.5)
    assert (Column() > q)[0] == "column"
    assert (q > Column())[0] == "column <"
    assert (q + Column())[0] == "column +"


@pytest.mark.parametrize(
    "function",
    [
        np.linalg.norm,
        np.max,
        np.median,
        np.sort,
        np.add.reduce,
        lambda h: np.add(h, 1, out=np.zeros(3)),
        lambda h: np.divmod(h, 2),
        lambda h: np.hstack([h, h]),
    ],
)
def test_numpy_functions_that_would_drop_the_uncertainty_are_refused_always(function):
    for h in (pending(shape=(3,)), released(VALUES)):
        with pytest.raises(Unavailable, match="does not carry intervals"):
            function(h)


def test_the_value_of_a_scalar_is_a_python_float_and_comparisons_are_plain_bools():
    q = released(2.5)
    assert type(q.value) is float
    assert type(q > 1) is bool
    assert type((q * 2).value) is float


def test_matplotlib_draws_released_estimates_and_refuses_pending_ones():
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    h, q = released(VALUES), released(2.5)
    _, axes = plt.subplots()
    axes.plot(h)
    axes.bar(range(3), h)
    axes.axhline(q)
    axes.scatter([1, 2, 3], h)
    axes.errorbar([1, 2, 3], h, yerr=[1, 1, 1])
    axes.set_title(f"{q:.2f}")
    with Batch():
        for draw in (axes.plot, axes.axhline):
            with pytest.raises(PendingError, match="released when this cell ends"):
                draw(pending(shape=(3,)) if draw == axes.plot else pending())


def test_pandas_holds_estimates_in_cells():
    import pandas as pd

    q = pending()
    frame = pd.DataFrame({"a": [q, 1]})
    assert "pending" in frame.to_string()
    assert pd.Series([q, q])[0] is q
