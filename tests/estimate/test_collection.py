"""What a batch releases: what it built and still holds when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpnb.errors import NestedSpendError
from dpnb.estimate import OPEN_BATCH, Batch, ask, open_batch
from tests.estimate.fakes import Checked, fill, pending


def texts(batch, **options):
    return [measurement.text for measurement in batch.pending_leaves(**options)]


def test_what_is_overwritten_deleted_or_not_kept_is_dropped_and_counted():
    with Batch() as batch:
        q = pending("first")
        q = pending("second")
        gone = pending("gone")
        del gone
        pending("bare")
    assert texts(batch) == ["second"]
    assert (batch.built, batch.dropped) == (4, 3)
    assert q.pending


def test_augmented_assignment_unpacking_walrus_loops_and_comprehensions_are_held():
    with Batch() as batch:
        total = pending("t")
        total += pending("u")
        a, b = pending("v", (2,))
        if (w := pending("w")) is not None:
            pass
        groups = {name: pending(name) for name in ("x", "y")}
        for last in (pending("l1"), pending("l2")):  # noqa: B007 -- the loop variable is what is kept
            pass
    assert texts(batch) == ["t", "u", "v", "w", "x", "y", "l2"]
    del a, b, w, groups


@dataclass(frozen=True)
class Frozen:
    q: Any


class Holder:
    pass


def closing_over(q):
    return lambda: q


def test_attributes_containers_dataclasses_frames_and_closures_are_held():
    holder = Holder()
    with Batch() as batch:
        holder.q = pending("attribute")
        box = {"k": pending("dict"), "n": [[pending("list")]]}
        frozen = Frozen(pending("frozen"))
        frame = pd.DataFrame({"a": [pending("frame"), 1]})
        array = np.empty(1, dtype=object)
        array[0] = pending("array")
        closed = closing_over(pending("closure"))
        part = functools.partial(print, pending("partial"))
    kept = [holder, box, frozen, frame, array, closed, part]
    expected = ["attribute", "dict", "list", "frozen", "frame", "array", "closure", "partial"]
    assert texts(batch) == expected
    del kept


def test_a_helper_that_keeps_scratch_questions_to_itself_is_charged_for_none_of_them():
    def helper():
        scratch = pending("scratch")
        return pending("result"), scratch.pending

    with Batch() as batch:
        result, _ = helper()
    assert texts(batch) == ["result"]
    assert result.pending


def test_objects_that_refer_to_themselves_are_collected_before_counting():
    with Batch() as batch:
        loop = Holder()
        loop.me, loop.q = loop, pending("cycle")
        del loop
    assert texts(batch) == []


def test_a_saved_exception_keeps_a_question_and_a_handled_one_does_not():
    def fail():
        kept = pending("in the frame")
        raise ValueError(kept.text)

    with Batch() as batch:
        try:
            fail()
        except ValueError as error:
            saved = error
    assert texts(batch) == ["in the frame"]
    del saved
    assert texts(batch) == []
    with Batch() as batch, contextlib.suppress(ValueError):
        fail()
    assert texts(batch) == []


def test_a_cache_keeps_a_question():
    @functools.lru_cache
    def cached(text):
        return pending(text)

    with Batch() as batch:
        cached("kept")
    assert texts(batch) == ["kept"]


def test_equal_questions_of_one_batch_are_one_measurement():
    with Batch() as batch:
        a, b = pending("same"), pending("same")
        c = ask("same", Checked("same"), dataset=object())
    assert a.measurement is b.measurement
    assert a is not b
    assert c.measurement is not a.measurement, "another dataset is another question"
    assert texts(batch) == ["same", "same"]
    fill(a, 0.5)
    assert (a - b).value == 0.0
    assert tuple((a - b).interval(kind="privacy")) == (0.0, 0.0)


def test_an_equal_question_outlives_its_first_estimate():
    with Batch() as batch:
        first = pending("same").weight(2)
        derived = first + 1
        del first
        again = pending("same")
    assert again.measurement.weight == 2
    assert derived.leaves() == (again.measurement,)
    assert texts(batch) == ["same"]


def test_an_older_question_under_a_new_expression_is_in_the_batch_unless_only_own_ones_count():
    old = pending("old")
    with Batch() as batch:
        mix = pending("new") - old
    assert texts(batch) == ["new", "old"]
    assert texts(batch, own=True) == ["new"]
    assert mix.pending


def test_a_released_leaf_under_a_new_expression_is_free():
    paid = fill(pending("paid"))
    with Batch() as batch:
        mix = paid + pending("new")
    assert texts(batch) == ["new"]
    assert mix.pending


def test_older_estimates_are_added_by_hand():
    old = pending("old")
    with Batch() as batch:
        batch.add(old, old * 2)
    assert texts(batch) == ["old"]


def test_a_closed_batch_counts_as_none():
    with Batch() as batch:
        assert open_batch() is batch
    assert open_batch() is None
    assert OPEN_BATCH.get() is None
    late = pending("late")
    assert texts(batch) == []
    assert late.measurement.batch is None


def test_an_exception_leaves_the_contextvar_empty_and_the_questions_pending():
    kept, batch = [], Batch()

    def cell():
        with batch:
            kept.append(pending("q"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cell()
    (q,) = kept
    assert OPEN_BATCH.get() is None
    assert not batch.is_open
    assert q.pending
    with Batch() as following:
        r = pending("r")
    assert texts(following) == ["r"]
    del r


def test_a_batch_may_open_inside_one_that_allows_it():
    with Batch(nests=True) as outer:
        first = pending("outer")
        with Batch() as inner:
            second = pending("inner")
        third = pending("after")
    assert texts(inner) == ["inner"]
    assert texts(outer) == ["outer", "after"]
    with Batch(), pytest.raises(NestedSpendError):
        Batch().open()
    del first, second, third


def test_concurrent_coroutines_have_a_batch_each():
    async def one(name):
        with Batch() as batch:
            q = pending(name)
            await asyncio.sleep(0)
            r = pending(name + "2")
        return texts(batch), q, r

    async def both():
        return await asyncio.gather(one("a"), one("b"))

    (first, *_), (second, *_) = asyncio.run(both())
    assert (first, second) == (["a", "a2"], ["b", "b2"])


def test_a_task_that_outlives_its_batch_stays_out():
    async def late(keep):
        await asyncio.sleep(0.001)
        keep.append(pending("late"))

    async def cell():
        keep = []
        with Batch() as batch:
            task = asyncio.create_task(late(keep))
        await task
        return texts(batch), keep

    found, keep = asyncio.run(cell())
    assert found == []
    assert keep[0].pending


def test_to_thread_is_inside_and_a_plain_thread_is_not():
    async def cell():
        with Batch() as batch:
            q = await asyncio.to_thread(pending, "in thread")
        return texts(batch), q

    assert asyncio.run(cell())[0] == ["in thread"]
    keep = []
    with Batch() as batch:
        thread = threading.Thread(target=lambda: keep.append(pending("plain thread")))
        thread.start()
        thread.join()
    assert texts(batch) == []
    assert [estimate.text for estimate in keep] == ["plain thread"]


def test_closing_in_another_context_still_closes():
    import contextvars

    batch = Batch()
    contextvars.copy_context().run(batch.open)
    batch.close()
    assert not batch.is_open
    batch.close()


@pytest.mark.slow
def test_pending_leaves_of_a_hundred_thousand_derived_estimates():
    with Batch() as batch:
        total = pending("q")
        for _ in range(100_000):
            total = total + 1
    assert texts(batch) == ["q"]
    assert batch.built == 1
