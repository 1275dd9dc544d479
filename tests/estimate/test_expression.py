"""Expressions are computed without recursion, freed as they go, and indexed by key."""

from __future__ import annotations

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

from dpnb.estimate import Estimate, ask
from dpnb.statistics._base import Axis
from tests.estimate.fakes import Checked, FakeOutcome, fill, make_release, pending, released


def test_a_chain_of_30_000_nodes_has_a_value_text_and_interval():
    q = released(1.0, sd=0.1)
    total = q
    for _ in range(30_000):
        total = total + 1
    assert total.value == 30_001.0
    assert len(repr(total)) < 200
    assert not total.pending
    low, high = (total * 1).interval(kind="privacy")
    assert low < 30_001.0 < high


def test_a_long_chain_is_freed_without_recursion():
    q = pending()
    total = q
    for _ in range(30_000):
        total = total + q
    watch = weakref.ref(total)
    del total
    gc.collect()
    assert watch() is None


def test_a_long_chain_to_the_right_is_computed_too():
    total = released(1.0)
    for _ in range(20_000):
        total = 1 + total
    assert total.value == 20_001.0


def test_a_sum_of_many_releases_draws_each_once_and_frees_it():
    total = sum(released(1.0, sd=0.1) for _ in range(300))
    tracemalloc.start()
    interval = total.interval(kind="privacy")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert abs(interval.half_width / (1.96 * 0.1 * 300**0.5) - 1) < 0.1
    assert peak < 4e6, "a few vectors of 10,000 draws, not 300"


def test_shared_nodes_are_computed_once():
    calls = []

    class Counting(FakeOutcome):
        def draws(self, count, rng, kind):
            calls.append(count)
            return super().draws(count, rng, kind)

    def leaf():
        q = pending()
        q.measurement.fill((make_release(),), Counting(1.0))
        return q

    a, b = leaf(), leaf()
    shared = a * b
    (shared + shared * shared - a).interval(kind="privacy")
    assert calls == [10_000, 10_000]


def test_intervals_are_computed_once_and_agree_when_they_are_asked_again():
    q, r = released(1.0, id="aa"), released(2.0, id="bb")
    derived = q * r
    assert derived.interval(kind="privacy") is derived.interval(kind="privacy")
    again = released(1.0, id="aa") * released(2.0, id="bb")
    assert again.interval(kind="privacy") == derived.interval(kind="privacy")


@pytest.mark.parametrize("pending_too", [False, True])
def test_keys_index_before_positions(pending_too):
    named = pending(keys=("Goa", "Delhi", "Pune"))
    coded = pending(keys=(1, 2, 3))
    if not pending_too:
        fill(named, np.array([10.0, 20.0, 30.0]))
        fill(coded, np.array([10.0, 20.0, 30.0]))
        assert named["Delhi"].value == 20.0
        assert named[0].value == 10.0, "keys that are words leave numbers to places"
        assert coded[1].value == 10.0, "keys that are numbers are keys"
        assert [x.value for x in coded] == [10.0, 20.0, 30.0]
        assert named[["Pune", "Goa"]].value.tolist() == [30.0, 10.0]
        assert named[1:].value.tolist() == [20.0, 30.0]
        assert (named / named.sum())["Goa"].value == 10 / 60
    assert named.keys == ("Goa", "Delhi", "Pune")
    assert (named * 2).keys == named.keys
    assert named[1:].keys == ("Delhi", "Pune")
    assert named[["Pune", "Goa"]].keys == ("Pune", "Goa")
    assert "Goa" in named
    assert "Gao" not in named
    assert named.sum().keys == ()
    assert named["Delhi"].text == "hiv.got.mean()['Delhi']"
    for wrong in (0, 4, "1"):
        with pytest.raises(KeyError):
            coded[wrong]
    with pytest.raises(IndexError):
        named[3]


def test_boolean_keys_are_not_their_numbers_as_text():
    flags = released([1.0, 2.0], keys=(False, True))
    assert flags[True].value == 2.0
    assert flags[1].value == 2.0


def test_two_axes_are_indexed_by_two_keys():
    axes = (Axis("village", "village", ("Goa", "Delhi")), Axis("any", "money", (0, 1)))
    table = ask("q", Checked("q", (2, 2), axes))
    fill(table, np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert table["Goa"].value.tolist() == [1.0, 2.0]
    assert table["Goa"].keys == (0, 1)
    assert table["Delhi", 1].value == 4.0
    assert table[:, 1].value.tolist() == [2.0, 4.0]
    assert table[:, 1].keys == ("Goa", "Delhi")
    assert table[..., 0].value.tolist() == [1.0, 3.0]
    assert table.keys == (("Goa", "Delhi"), (0, 1))
    assert table.sum(axis=0).keys == (0, 1)
    assert table.sum(axis=1).value.tolist() == [3.0, 7.0]
    assert table.mean(axis=(0, 1)).value == 2.5
    assert table.sum(axis=-1, keepdims=True).shape == (2, 1)
    assert (table / table.sum(axis=1, keepdims=True)).value[0].tolist() == [1 / 3, 2 / 3]
    assert table.cumsum().value.tolist() == [1, 3, 6, 10]
    assert np.cumsum(table, axis=1).value.tolist() == [[1, 3], [3, 7]]
    assert (table @ [1, 1]).value.tolist() == [3, 7]
    assert ([1, 1] @ table).value.tolist() == [4, 6]
    assert (table @ table).value.tolist() == [[7, 10], [15, 22]]
    assert len(table.table()) == 4
    assert table.table()["any"] == (0, 1, 0, 1)
    with pytest.raises(IndexError):
        table[0, 0, 0]
    with pytest.raises(ValueError, match="aligned"):
        table @ [1, 2, 3]
    with pytest.raises(ValueError, match="out of bounds"):
        table.sum(axis=2)


@pytest.mark.parametrize(
    "operation",
    [
        lambda t: t.sum(axis=0),
        lambda t: t.mean(axis=1, keepdims=True),
        lambda t: t / t.sum(),
        lambda t: t - t.mean(axis=0),
        lambda t: t @ t,
        lambda t: t @ np.array([1.0, 2.0]),
        lambda t: np.array([1.0, 2.0]) @ t,
        lambda t: t[0] @ t[1],
        lambda t: np.concatenate([t, t, np.ones((1, 2))]),
        lambda t: np.concatenate([t, t], axis=1),
        lambda t: np.stack([t[0], t[1], [1, 2]], axis=-1),
        lambda t: np.where([True, False], t, t[0, 0]),
        lambda t: np.maximum(t, t[0]),
        lambda t: t[::-1, [1, 0]],
        lambda t: t.cumsum(axis=0).round(1).clip(0, 5),
        lambda t: t[0] * 2 + t[:, 1] ** 2,
    ],
)
def test_draws_and_values_are_computed_by_the_same_code(operation):
    exact = np.array([[1.0, 2.0], [3.0, 4.0]])
    table = released(exact, sd=1e-9)
    estimate = operation(table)
    expected = np.asarray(operation(exact), dtype=float)
    np.testing.assert_allclose(estimate.value, expected)
    interval = estimate.interval(kind="privacy")
    assert np.shape(interval.low) == expected.shape
    np.testing.assert_allclose(interval.low, expected, atol=1e-6)
    np.testing.assert_allclose(interval.high, expected, atol=1e-6)


def test_shapes_that_do_not_fit_are_refused_while_pending():
    with pytest.raises(ValueError, match="broadcast"):
        pending(shape=(2,)) + pending(shape=(3,))


def test_a_private_shape_is_an_error_until_the_release():
    h = pending(shape=None)
    with pytest.raises(TypeError, match="never released"):
        len(h)
    fill(h, np.array([1.0, 2.0]))
    assert len(h) == 2
    assert (h * 2).value.tolist() == [2.0, 4.0]


def test_an_estimate_is_no_index():
    with pytest.raises(TypeError, match="cannot be an index"):
        pending(shape=(3,))[released(1.0)]


def test_expressions_are_written_as_they_were_typed():
    c, d = pending("c"), pending("d")
    cases = {
        "(c * (1 - c)) ** 0.5": (c * (1 - c)) ** 0.5,
        "c - d": c - d,
        "c / (c + d)": c / (c + d),
        "-c": -c,
        "sqrt(c)": np.sqrt(c),
        "abs(c - d)": abs(c - d),
        "round(c, 2)": round(c, 2),
        "maximum(c, 0)": np.maximum(c, 0),
        "c[0]": None,
    }
    for text, estimate in cases.items():
        if estimate is not None:
            assert estimate.text == text
    vector = pending("v", (3,))
    assert vector[1].text == "v[1]"
    assert vector[1:].text == "v[1:]"
    assert (vector / vector.sum()).text == "v / sum(v)"
    assert np.stack([c, d]).text == "stack(c, d)"
    assert (vector + np.ones(3)).text == "v + array"


def test_leaves_are_listed_once_from_the_left():
    a, b = pending("a"), pending("b")
    assert [m.text for m in ((b + a) * b - a).leaves()] == ["b", "a"]
    assert a.measurement is a.leaves()[0]
    assert (a + b).measurement is None


def test_an_estimate_is_small():
    q = pending()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    many = [q + 1 for _ in range(1_000)]
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert isinstance(many[0], Estimate)
    assert grown / len(many) < 500
