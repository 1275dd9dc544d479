"""A plan says what its release will give: the forecast of the privacy interval beside the interval that is released, over random cells.

Each cell is asked of one of the ten studies, of all its rows or of a filter, at a random ε. What the plan may know is one earlier answer about
the same rows: a mean, a variance, counts by group, or the same question. Left apart are ratios whose interval is the whole range.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dpnb
from dpnb.client.handles import Dataset
from dpnb.datasets import names
from dpnb.errors import DpnbError
from dpnb.estimate import Estimate
from dpnb.trusted.wire.messages import StudySource
from tests.curator import small

NEAR, MOST_APART = 0.15, 0.1
Ask = Callable[[Any, str, str], Estimate]

ASKED: dict[str, tuple[Ask, Ask]] = {
    "mean": (lambda rows, x, _: rows[x].mean(), lambda rows, x, _: rows[x].variance()),
    "the same mean": (lambda rows, x, _: rows[x].mean(), lambda rows, x, _: rows[x].mean()),
    "sum": (lambda rows, x, _: rows[x].sum(), lambda rows, x, _: rows[x].mean()),
    "variance": (lambda rows, x, _: rows[x].variance(), lambda rows, x, _: rows[x].mean()),
    "histogram": (lambda rows, x, _: rows[x].histogram(bins=8), lambda rows, x, _: rows[x].mean()),
    "difference": (
        lambda rows, x, by: rows[x].difference(by=by),
        lambda rows, x, by: rows.groupby(by)[x].mean(),
    ),
    "groups": (lambda rows, x, by: rows.groupby(by)[x].mean(), lambda rows, x, by: rows[x].difference(by=by)),
    "counts": (lambda rows, _, by: rows[by].value_counts(), lambda rows, _, by: rows[by].mean()),
    "share": (lambda rows, _, by: rows[by].mean(), lambda rows, _, by: rows[by].value_counts()),
}
"""A question of rows, a number and a two-valued column; and what was released of the same rows before."""


@dataclass(frozen=True)
class Cell:
    """A forecast and the released half-width, the widest of several cells."""

    text: str
    words: str
    forecast: float | None
    released: float
    whole: bool

    @property
    def near(self) -> bool:
        """Whether the forecast is within 15 % of what was released."""
        return self.forecast is not None and abs(self.forecast / self.released - 1) <= NEAR


def asked(data: Dataset, kind: str, rng: np.random.Generator) -> Cell:
    """Release an earlier answer, plan a random question, release it, and read both half-widths."""
    columns = list(data.schema.columns)
    few = [one for one in columns if one.values is not None and len(one.values) <= 8]
    by = str(rng.choice([one.name for one in few if len(one.values or ()) == 2] or [few[0].name]))
    number = rng.choice([one.name for one in columns if one.values is None])
    rows = data
    others = [one for one in few if one.name != by]
    if others and rng.random() < 0.5:
        chosen = others[rng.integers(len(others))]
        rows = data[data[chosen.name] == list(chosen.values or ())[rng.integers(len(chosen.values or ()))]]
    ask, before = ASKED[kind]
    dpnb.release([before(rows, number, by)], epsilon=1)
    question, loss = ask(rows, number, by), {"epsilon": f"{10 ** rng.uniform(-1, 0.3):.2f}", "fresh": True}
    preview = dpnb.plan([question], **loss).items[0].preview
    dpnb.release([question], **loss)
    measurement = question.measurement
    assert measurement is not None
    assert measurement.outcome is not None
    pair = measurement.outcome.interval(0.95, "privacy")
    low, high = measurement.checked.domain
    whole = bool(np.any((np.asarray(pair.low) <= low) & (np.asarray(pair.high) >= high)))
    return Cell(question.text, preview.words, preview.half_width, float(np.max(pair.half_width)), whole)


def cells(home: Any, count: int, seed: int) -> Iterator[Cell]:
    """Random cells, so many of each of the ten studies; one that a study cannot be asked is passed over."""
    service, rng = small.curator(home), np.random.default_rng(seed)
    here = small.session(service)
    for name in names():
        data = here.attach(StudySource(name=name))
        for kind in rng.choice(list(ASKED), count):
            here.reset(data)
            with contextlib.suppress(DpnbError):  # a study without a two-valued column has no difference
                yield asked(data, str(kind), rng)
    service.close()


@pytest.mark.parametrize("each", [6, pytest.param(200, marks=pytest.mark.soak)])
def test_plans_tell_what_the_release_gives(dpnb_home, each):
    """Within 15 % in 90 % of the cells, and every one of them has a forecast."""
    found = [one for one in cells(dpnb_home, each, seed=1) if not one.whole]
    assert len(found) >= 8 * each
    missed = [one for one in found if not one.near]
    assert len(missed) <= MOST_APART * len(found), "\n".join(map(str, missed))


def between(words: str) -> tuple[float, float]:
    """The two ends that a plan tells where nobody counted the rows."""
    low, high = words.removeprefix("± ").split(" for ")[0].split(" to ± ")
    return float(low.replace(",", "")), float(high.replace(",", ""))


@pytest.mark.parametrize(
    "counted",
    [
        lambda hiv: [],
        lambda hiv: [hiv["any"].value_counts(), hiv.got.mean()],
        lambda hiv: [hiv[hiv["any"] == 0].count(), hiv.tinc.mean()],
    ],
    ids=["nothing", "both conditions", "others"],
)
def test_where_nobody_counted_a_range_holds_what_is_released(dpnb_home, counted):
    """The tour's questions: from all that can count to those who must, or to a tenth; "if all 4,820 people count" was up to 7 times too good."""
    service = small.curator(dpnb_home)
    hiv = small.session(service).attach(StudySource(name="hiv"))
    known = counted(hiv)
    if known:
        dpnb.release(known, epsilon=1)
    asked = [hiv[hiv["any"] == 0].got.mean(), hiv.got.difference(by="any"), hiv.groupby("any").age.mean()]
    for question in asked:
        words = dpnb.plan([question], epsilon="0.375").items[0].preview.words
        dpnb.release([question], epsilon="0.375")
        low, high = between(words)
        assert low <= np.max(question.interval(0.95, "privacy").half_width) <= high
        assert " to " in words.split(" for ")[1]
    service.close()


def test_counts_of_both_conditions_bound_who_satisfies_both(dpnb_home):
    """Of 4,820 people, those who lack a result are at most missing from the arm that was counted: the range is no tenth."""
    service = small.curator(dpnb_home)
    hiv = small.session(service).attach(StudySource(name="hiv"))
    report = dpnb.release({"arms": hiv["any"].value_counts(), "got": hiv.got.mean()}, epsilon=2)
    paid, known = report["arms"].value[1], report["got"].n
    words = dpnb.plan([hiv[hiv["any"] == 1].got.mean()], epsilon=1).items[0].preview.words
    most, least = (
        float(one.replace(",", "")) for one in words.split(" for ")[1].removesuffix(" people").split(" to ")
    )
    assert most == pytest.approx(min(paid, known), rel=0.01)
    assert least == pytest.approx(paid + known - 4820, rel=0.01)
    service.close()


def test_of_two_counts_that_with_less_noise_is_planned_with(data):
    """A later answer at a tenth of the loss does not replace a better one."""
    good = dpnb.release({"n": data[data.g == 1].count()}, epsilon=4)["n"]
    dpnb.release({"n": data[data.g == 1].count()}, epsilon="0.1", fresh=True)
    words = dpnb.plan([data[data.g == 1].x.mean()], epsilon=1).items[0].preview.words
    assert f"for {round(float(good.value))} to" in words
