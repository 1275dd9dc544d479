"""A reading is another thing that one release says: free, of its own shape, and never the measurement that pays."""

from __future__ import annotations

import gc
import inspect
import pickle
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pytest

from dpnb.errors import OptionError, PendingError, PlanError
from dpnb.estimate import Batch, Estimate, ask
from dpnb.statistics._base import Axis
from dpnb.statistics.result import Read
from tests.estimate.fakes import FakeOutcome, fill


def first(setting: str, places: int = 1) -> Read:
    """Read the first released integers."""
    if places < 1:
        raise OptionError("first(places) reads at least one place.")
    axes = (Axis("place", "place", tuple(range(places))),)

    def conclude(releases: Any) -> FakeOutcome:
        values = np.asarray(releases[0].parts[0].values[:places], dtype=float)
        return FakeOutcome(values, sd=2.0, flags=(f"read {setting}",))

    return Read(f".first({places})", (places,), axes, conclude)


def sum_(setting: str) -> Read:
    """Read the sum."""
    return Read(".sum()", (), (), lambda releases: FakeOutcome(float(sum(releases[0].parts[0].values))))


@dataclass(frozen=True)
class Readable:
    text: str = "hiv.age.tree()"
    shape: tuple[int, ...] = (2,)
    axes: tuple[Any, ...] = ()
    statistic: str = "tree"
    setting: str = "the setting"
    readings: ClassVar[Any] = MappingProxyType({"first": first, "sum": sum_})


def tree() -> Estimate:
    return ask("a tree", Readable(), dataset=None)


def released_tree() -> Estimate:
    return fill(tree(), [12.0, -3.0], id="ab")


def test_a_reading_resolves_in_place_when_its_question_is_answered():
    root = tree()
    read = root.first(2)
    assert (read.pending, read.shape, read.text) == (True, (2,), "hiv.age.tree().first(2)")
    with pytest.raises(PendingError):
        _ = read.value
    fill(root, [12.0, -3.0])
    np.testing.assert_array_equal(read.value, [12.0, -3.0])
    assert not read.pending


def test_a_reading_has_axes_intervals_and_flags_of_its_own():
    read = released_tree().first(1)
    assert read.keys == (0,)
    assert read.flags == ("read the setting",)
    assert read.interval(0.95, "privacy").half_width[0] == pytest.approx(1.96 * 2.0, abs=0.01)


def test_a_reading_takes_the_place_of_the_arithmetic_of_the_same_name():
    root = released_tree()
    assert root.sum().text == "hiv.age.tree().sum()"
    assert (root * 1.0).sum().text != root.sum().text


def test_a_kept_reading_asks_its_question_once_even_if_the_question_itself_was_dropped():
    with Batch() as batch:
        root = tree()
        kept = [root.first(1), root.sum(), root]
        kept.pop()
        del root
        gc.collect()
        (asked,) = batch.pending_leaves()
    assert asked.text == "hiv.age.tree()"
    assert kept[0].leaves() == kept[1].leaves() == (asked,)


def test_a_reading_is_no_measurement_and_shares_cannot_be_set_on_it():
    read = tree().sum()
    assert read.measurement is None
    with pytest.raises(PlanError, match=r"hiv\.age\.tree\(\)`\.weight"):
        read.weight(2)


def test_a_reading_costs_nothing_beside_its_question():
    root = released_tree()
    assert (root.sum() + root.first(1)).loss == root.loss
    assert root.sum().release == root.release


def test_bad_arguments_are_refused_where_they_are_written():
    with pytest.raises(OptionError, match="at least one"):
        tree().first(0)
    with pytest.raises(TypeError):
        tree().first(1, 2, 3)


def test_methods_show_their_own_signature_and_documentation():
    root = tree()
    assert "first" in dir(root)
    assert str(inspect.signature(root.first)).startswith("(places: ")
    assert root.first.__doc__ == "Read the first released integers."
    assert not hasattr(Estimate, "first")


def test_readings_survive_pickling_and_read_again():
    root = released_tree()
    again, whole = pickle.loads(pickle.dumps((root.first(2) * 2, root)))
    np.testing.assert_array_equal(again.value, [24.0, -6.0])
    assert whole.first(1).text == "hiv.age.tree().first(1)"
