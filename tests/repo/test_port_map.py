"""Every line of the port map runs as it stands, and every exercise has a line, or a reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "port-map.md").read_text()
ROWS = [row.split(" | ") for row in re.findall(r"^\| (.+) \|$", TEXT, re.MULTILINE)]
ROWS = [row for row in ROWS if row[0] != "exercise"]
EXERCISES = (
    "reconstruction membership linkage,sparse vector,local model,sample-and-aggregate,synthetic data,"
    "gradient descent,exponential mechanism,Gaussian composition,range queries"
)


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What the lines find, in a home of their own."""
    patch = pytest.MonkeyPatch()
    patch.setenv("DPNB_HOME", str(tmp_path_factory.mktemp("home")))
    found: dict[str, object] = {}
    (setup,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(setup, found)
    yield found
    found["dpnb"].client.api.close()  # type: ignore[attr-defined]
    patch.undo()


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_the_line_of_an_exercise_runs(row, names):
    """What stands in the third column is Python, or says that it is outside, and why."""
    _, lesson, line, note = row
    if line == "*outside*":
        assert len(note) > 20
        assert lesson == "–"
        return
    assert lesson == "–" or all(1 <= int(number) <= 14 for number in lesson.split(", "))
    assert eval(line.strip("`"), names) is not None  # noqa: S307 - the page's own lines


def test_no_exercise_is_left_out():
    """Each topic of the courses has a row, and each homework of both at least one."""
    listed = [
        name for part in EXERCISES.split(",") for name in (part.split() if "linkage" in part else [part])
    ]
    for name in listed:
        assert any(row[0].startswith(name) for row in ROWS), name
    vermont, *harvard = re.split(r"^## ", TEXT, flags=re.MULTILINE)[2:]
    assert len(harvard) == 2
    assert {int(number) for number in re.findall(r"^\| (\d+)[.]", vermont, re.MULTILINE)} == set(range(1, 11))
    for year in harvard:
        assert {int(number) for number in re.findall(r"^\| (\d+)[.ab]", year, re.MULTILINE)} == set(
            range(1, 9)
        )
