"""The error texts are golden: what happened, which question, what to type next."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dpnb.errors import NestedSpendError, OptionError, PendingError, PlanError, Unavailable
from dpnb.estimate import Batch, Origin, PendingQuestion, current_host
from dpnb.estimate.estimate import Estimate
from tests.estimate.fakes import Checked, fill, pending, released


def message(action, error=PendingError):
    with pytest.raises(error) as caught:
        action()
    return str(caught.value)


def _if(q):
    if q:
        pass


def _if_compare(q):
    if q > 3:
        pass


def _while(q):
    while q < 3:
        pass


def _compare(q):
    return q > 3


ENDING = "needs the value of `hiv.got.mean()`, which is released when this cell ends. Move this line to the next cell."


@pytest.mark.parametrize(
    ("action", "start"),
    [
        (_if, "`if`"),
        (_if_compare, "`if`"),
        (_while, "`while`"),
        (_compare, "`>`"),
        (lambda q: not q, "`not`"),
        (lambda q: [float(q)], "`float`"),
        (lambda q: [int(q)], "`int`"),
        (lambda q: f"{q:.2f}", "A format string"),
        (lambda q: f"{q}", "A format string"),
        (lambda q: [np.asarray(q)], "`np.asarray`"),
        (lambda q: np.mean([q]), "`np.mean`"),
        (lambda q: [np.isnan(q)], "`np.isnan`"),
        (lambda q: q in {1: 2}.values(), "`in`"),
        (lambda q: q.value, "`.value`"),
        (lambda q: q.interval(), "`.interval()`"),
        (lambda q: (q * 2 + 1) == 3, "`==`"),
    ],
)
def test_error_1_names_what_needs_the_value_and_the_leaf_question(action, start):
    with Batch("In[5]"):
        q = pending()
        assert message(lambda: action(q)).endswith(f"{start} {ENDING}")
        assert message(lambda: action(q)).startswith(start)


@pytest.mark.parametrize(("action", "name"), [(max, "max"), (min, "min"), (lambda *q: sorted(q), "sorted")])
def test_error_1_offers_maximum_for_what_compares(action, name):
    with Batch("In[5]"):
        q = pending()
        calls = {"max": lambda: max(q, 1), "min": lambda: min(q, 1), "sorted": lambda: sorted([q, 1])}
        expected = f"`{name}` {ENDING} Inside the cell use np.maximum(a, b)."
        assert message(calls[name]) == expected


def test_error_1_names_the_drawing_function_of_a_library():
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    _, axes = plt.subplots()
    with Batch():
        h = pending(shape=(3,))
        assert message(lambda: axes.plot(h)).startswith("`axes.plot` needs the value")


def test_error_2_says_where_the_question_was_built():
    q = Estimate.leaf(PendingQuestion("q", Checked("hiv.got.mean()"), origin=Origin("x.py", 2, "In[5]")))
    assert message(lambda: q + 1 > 3) == (
        "`hiv.got.mean()` (built in In[5], line 2) was never released. This cell releases it:\n\n"
        "    %%dp epsilon=1\n    q = hiv.got.mean()\n\n"
        'In a script: dpnb.release({"q": q}, epsilon=1).'
    )


def test_error_2_says_that_the_cell_stopped():
    q = Estimate.leaf(PendingQuestion("q", Checked("hiv.got.mean()"), origin=Origin("x.py", 2, "In[5]")))
    q.measurement.stopped = True
    assert message(lambda: float(q)) == (
        "`hiv.got.mean()` (built in In[5], line 2) was never released. "
        "In[5] stopped before the release; nothing was spent. Run it again."
    )


def test_error_2_says_that_an_answer_is_on_its_way():
    q = Estimate.leaf(PendingQuestion("q", Checked("hiv.got.mean()"), origin=Origin("x.py", 2, "In[5]")))
    q.measurement.submit("r1")
    assert "Run its cell again: the answer is stored." in message(lambda: float(q))


def test_a_cell_label_is_found_through_the_file_name():
    current_host().labels["/tmp/cell.py"] = "In[9]"
    try:
        q = Estimate.leaf(PendingQuestion("q", Checked("hiv.got.mean()"), origin=Origin("/tmp/cell.py", 1)))
        assert "(built in In[9], line 1)" in message(lambda: float(q))
    finally:
        del current_host().labels["/tmp/cell.py"]


def test_an_exception_in_the_batch_marks_its_questions_as_stopped():
    kept = []

    def cell():
        with Batch("In[5]"):
            kept.append(pending())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cell()
    (q,) = kept
    assert "stopped before the release; nothing was spent" in message(lambda: float(q))


def test_error_6_refuses_to_pickle():
    import pickle

    assert message(lambda: pickle.dumps(pending())) == (
        "A pending estimate cannot be pickled (%store, joblib): it has no value yet. Release it first."
    )


def test_error_7_refuses_a_batch_in_a_batch():
    def nest():
        with Batch(), Batch():
            pass

    assert message(nest, NestedSpendError) == (
        "A %%dp cell is one batch: a second spend inside it would be charged even if the cell fails. "
        "Put it in its own cell."
    )


def test_error_9_lists_what_carries_intervals():
    assert message(lambda: np.linalg.norm(released([1.0, 2.0])), Unavailable) == (
        "numpy.linalg.norm does not carry intervals. Use h.value for the numbers alone, or one of: "
        "clip, concatenate, cumsum, dot, mean, ndim, round, shape, size, stack, sum, where."
    )
    assert message(lambda: np.median(released([1.0])), Unavailable).startswith("numpy.median does not carry")


def test_error_10_names_the_histogram():
    h = pending("hiv.age.histogram(bins=5)", (5,), statistic="histogram")
    assert message(lambda: float(h), Unavailable) == (
        "A histogram of 5 bins has no single value: index it (h[0]) or convert it (np.asarray(h), after release)."
    )
    assert message(lambda: float(h * 2), Unavailable).startswith("A vector of 5 values has no single value")
    assert message(lambda: float(pending(keys=("a", "b"))), Unavailable).startswith(
        "`hiv.got.mean()`, with 2 values, has no single value"
    )


def test_a_confidence_interval_over_two_answers_says_how_they_were_put_together():
    a, b = released(0.7, "hiv.got.mean()"), released(0.6, "hiv.any.mean()")
    assert (a - b).interval().note == (
        "10,000 draws of the known noise; the sampling errors of answers about the same rows are taken together at their worst"
    )


def test_an_unknown_kind_or_level_is_an_option_error():
    q = released()
    assert "kind=" in message(lambda: q.interval(kind="credible"), OptionError)
    for level in (0, 1, 95, -0.1, "0.9", True, float("nan")):
        assert "between 0 and 1" in message(lambda level=level: q.interval(level), OptionError)


def test_an_unknown_key_names_the_keys():
    q = pending(keys=("Goa", "Delhi"))
    assert "'Goa', 'Delhi'" in message(lambda: q["Gao"], KeyError)


def test_measuring_again_needs_a_base_question_and_an_open_dataset():
    q = released()
    assert "Open the dataset" in message(lambda: q.remeasure(epsilon=1), PlanError)
    assert "derived" in message(lambda: (q + 1).remeasure(epsilon=1), PlanError)
    assert "one of" in message(q.remeasure, OptionError)
    session = SimpleNamespace(remeasure=lambda estimate, **asked: (estimate, asked))
    q.measurement.dataset = SimpleNamespace(session=session)
    assert q.remeasure(epsilon=0.5) == (q, {"epsilon": 0.5})
    assert "never released" in message(lambda: pending().remeasure(epsilon=1))


def test_figures_of_derived_estimates_are_refused_with_the_question_to_ask():
    q = released()
    assert "Ask `hiv.got.mean()`" in message(lambda: (q + 1).n_eff, Unavailable)
    assert "2 releases" in message(lambda: (q + released()).release, Unavailable)
    public = pending("people.count()")
    public.measurement.fill((), fill(pending()).measurement.outcome)
    assert "is public" in message(lambda: public.release, Unavailable)
