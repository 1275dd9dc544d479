"""Texts that nobody listed, as they are typed: labels that many rows have, groups of the labels shown, and no trace of the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpnb
from dpnb.client.upload import hand_over
from dpnb.datasets import load
from dpnb.errors import DpnbError, PlanError, SchemaError
from dpnb.trusted.wire.places import Home

SECRET = "only anna does this"
JOBS = (
    ["Nurse"] * 60
    + [" nurse"] * 40
    + ["teacher"] * 80
    + ["far too long to be a label at all"] * 30
    + [SECRET]
    + [None] * 9
)
PAY = [10.0] * 100 + [50.0] * 80 + [0.0] * 40


DECLARED: dict[str, Any] = {
    "dataset": {"name": "staff", "adjacency": "add-remove"},
    "budget": {"epsilon": 200, "delta": "1e-4"},
    "columns": {
        "job": {"type": "text", "length": 20, "case": "lower"},
        "pay": {"type": "integer", "lower": 0, "upper": 100},
    },
}


@pytest.fixture
def staff(session, dpnb_home):
    """Two hundred and twenty people."""
    raw = {"job": np.array(JOBS, dtype=object), "pay": np.array(PAY)}
    return session.attach(hand_over(raw, load(DECLARED).schema, Home(dpnb_home)))


def test_labels_that_many_rows_have_are_shown_and_no_other(staff: Any) -> None:
    """Both spellings are one label; what one person has, what is too long and what is missing is not shown."""
    shown = staff.job.frequent_values(delta="1e-6")
    assert "rows or more are shown" in repr(dpnb.plan({"f": shown}, epsilon=2))
    done = dpnb.release({"shown": shown}, epsilon=8)
    assert shown.keys == ("nurse", "teacher")
    assert (
        shown["nurse"].interval(1 - 1e-9, "privacy")[0]
        <= 100
        <= shown["nurse"].interval(1 - 1e-9, "privacy")[1]
    )
    assert shown.to_frame()["job"].tolist() == ["nurse", "teacher"]
    assert 0 < done.charged.delta <= 1e-6
    assert "threshold of" in str(shown.explain())
    assert SECRET not in dpnb.report(done).text + repr(done) + str(shown.explain())


def test_labels_shown_are_groups_and_filters(staff: Any) -> None:
    """A released set of labels is public: other questions may be asked for each of them; others fall in no group."""
    shown = staff.job.frequent_values(delta="1e-6")
    dpnb.release([shown], epsilon=8)
    means = staff.groupby(staff.job.among(shown)).pay.mean()
    counts = staff.groupby(staff.job.among(["teacher", "NURSE", "judge"])).count()
    one = staff[staff.job == " Nurse "].count()
    rest = staff[staff.job != "nurse"].count()
    listed = staff[staff.job.isin(["nurse", "teacher"])].count()
    none = staff[staff.job.is_missing()].count()
    dpnb.release(
        [means, counts, one, rest, listed, none], epsilon=120
    )  # noise is nothing beside what is allowed
    assert means["nurse"].value == pytest.approx(10, abs=3)
    assert means["teacher"].value == pytest.approx(50, abs=3)
    assert counts.keys == ("teacher", "nurse", "judge")
    assert counts.value == pytest.approx([80, 100, 0], abs=6)
    found = [one.value, rest.value, listed.value, none.value]
    assert found == pytest.approx([100, 81, 180, 39], abs=6)
    assert means.text == "staff.groupby(staff.job.among(['nurse', 'teacher'])).pay.mean()"


def test_a_thousand_labels_are_one_question(staff: Any) -> None:
    """A group key of a thousand labels is planned and answered, by halving."""
    labels = [f"job {place}" for place in range(999)] + ["nurse"]
    counts = staff.groupby(staff.job.among(labels)).count()
    dpnb.release([counts], epsilon=8)
    assert counts["nurse"].value == pytest.approx(100, abs=6)
    assert abs(np.mean(counts.value[:-1])) < 0.2


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda d: d.job.value_counts(), r"shown = staff.job.frequent_values\(\)"),
        (lambda d: d.groupby("job").count(), r"groupby\(staff.job.among\(shown\)\)"),
        (lambda d: d.crosstab("job", "pay"), r"frequent_values"),
        (lambda d: d.job.top_k(2), r"frequent_values"),
        (lambda d: d.job.mean(), r"frequent_values\(\), or compare it"),
        (lambda d: (d.job + 1).sum(), r"holds texts"),
        (lambda d: d[d.job < "m"].count(), r'staff.job == "…"'),
        (lambda d: d[d.job].count(), r'== "…"'),
        (lambda d: d[d.job == "日本"].count(), r"no cell is '日本'"),
        (lambda d: d[d.job == d.job].count(), r"holds texts"),
        (lambda d: d.groupby(d.pay.among([1])).count(), r"among\(\) names labels of a text"),
        (lambda d: d.groupby(d.job.among(["nurse", "Nurse"])).count(), r"each of them once"),
        (lambda d: d.groupby(d.job.among([])).count(), r"each of them once"),
        (lambda d: d.job.among("nurse"), r"among takes labels"),
        (lambda d: d.groupby("pay").job.frequent_values(), r"not asked by groups"),
        (lambda d: d.ols("pay ~ C(job)"), r"declared values"),
    ],
)
def test_what_a_text_cannot_be_asked_says_what_to_write(staff: Any, ask: Any, words: str) -> None:
    """Nothing is spent."""
    with pytest.raises((PlanError, SchemaError, DpnbError), match=words):
        ask(staff)
    assert not staff.budget.spent


def test_nothing_of_a_label_that_is_not_shown_leaves(session: Any, staff: Any, dpnb_home: Any) -> None:
    """Neither the schema, the handle, a ledger nor what is stored holds a label that only one person has, or that is too long."""
    shown = staff.job.frequent_values(delta="1e-6")
    done = dpnb.release([shown], epsilon=8)
    public = repr(staff.job) + repr(staff.schema.to_json()) + repr(done) + repr(shown.to_frame())
    codes = [str(code) for code in staff.schema["job"].text.codes_of(SECRET)]
    for path in (Home(dpnb_home).ledger,):
        kept = path.read_bytes()
        assert b"nurse" in kept or "nurse" in public
        assert SECRET.encode() not in kept
        assert not any(code.encode() in kept for code in codes[:2])
    assert SECRET not in public


@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas", "dict"])
def test_files_and_frames_show_the_same(tmp_path: Any, dpnb_home: Any, kind: str) -> None:
    """A CSV, a Parquet file, a frame of pandas and a dict are read alike, by a real curator."""
    frame = pd.DataFrame({"job": JOBS, "pay": PAY})
    frame.to_csv(tmp_path / "staff.csv", index=False)
    frame.to_parquet(tmp_path / "staff.parquet")
    held = {"pandas": frame, "dict": {"job": JOBS, "pay": PAY}}
    data = dpnb.open(held.get(kind, tmp_path / f"staff.{kind}"), schema=DECLARED, quiet=True)
    shown = data.job.frequent_values(delta="1e-6")
    dpnb.release([shown], epsilon=8)
    assert shown.keys == ("nurse", "teacher")
    assert shown.value == pytest.approx([100, 80], abs=8)
