"""Released numbers as files: each text read back by a reader that is not ours, and nothing lost or invented on the way."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpnb.errors import DpnbError
from dpnb.estimate import Table
from tests.estimate.fakes import pending, released


def table(**columns: list[object]) -> Table:
    return Table(columns)


def test_csv_keeps_all_digits_and_leaves_undefined_cells_empty() -> None:
    value = [math.pi, math.nan, math.inf, 1 / 3]
    one = table(key=["a,b", 'q"', "line\nbreak", "é"], value=value)
    read = list(csv.DictReader(io.StringIO(one.to_csv())))
    assert [row["key"] for row in read] == ["a,b", 'q"', "line\nbreak", "é"]
    assert [row["value"] for row in read] == [repr(math.pi), "", "inf", repr(1 / 3)]


def test_a_frame_has_the_columns_and_the_types() -> None:
    frame = table(key=["a", "b"], n=[1, 2], value=[0.5, 1.5]).to_frame()
    expected = pd.DataFrame({"key": ["a", "b"], "n": [1, 2], "value": [0.5, 1.5]})
    pd.testing.assert_frame_equal(frame, expected)


def test_json_has_no_number_that_json_does_not_know() -> None:
    text = table(value=[1.0, math.nan, -math.inf]).to_json()
    assert json.loads(text, parse_constant=pytest.fail) == [{"value": 1.0}, {"value": None}, {"value": None}]


def test_markdown_has_as_many_bars_in_each_line_whatever_the_keys_say() -> None:
    text = table(key=["a|b", "x\ny", "<script>", "`c`"], value=[1.0, 2.0, 3.0, math.nan]).to_markdown()
    lines = text.splitlines()
    assert len(lines) == 6
    assert {line.replace(r"\|", "").count("|") for line in lines} == {3}
    assert lines[1] == "| --- | ---: |"
    assert "<" not in text
    assert lines[-1].endswith("| – |")


def test_latex_has_as_many_cells_in_each_line_and_nothing_to_run() -> None:
    text = table(key=["a & b", r"\input{x}", "50 %", "m_1$"], value=[1.0, 2.0, 3.0, 4.0]).to_latex()
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert [line.replace(r"\&", "").count("&") for line in body] == [1] * 5
    assert r"\input" not in text
    assert r"50 \%" in text
    assert r"m\_1\$" in text
    assert text.startswith(r"\begin{tabular}{lr}")


def test_a_released_estimate_writes_its_table_and_returns_the_text(tmp_path: Path) -> None:
    one = released()
    for name in ("csv", "markdown", "latex", "json"):
        path = tmp_path / name
        text = getattr(one, f"to_{name}")(path)
        assert path.read_bytes().decode() == text
    assert json.loads(one.to_json()) == one.to_dict()
    low = float(one.to_frame(level=0.5)["privacy_low"][0])
    assert low == pytest.approx(float(np.ravel(one.interval(0.5, "privacy").low)[0]))


@pytest.mark.parametrize("name", ["to_frame", "to_csv", "to_markdown", "to_latex", "to_json"])
def test_a_pending_estimate_says_that_it_is_not_released(name: str) -> None:
    with pytest.raises(DpnbError, match="never released"):
        getattr(pending(), name)()
