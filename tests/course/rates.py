"""The measured errors of every check: ``dpnb/course/rates.json``, and the table in ``docs/course/checks.md``.

``python -m tests.course.rates`` simulates 30,000 students with right answers for each check and 1,000 with each listed wrong one, and
writes both (about half an hour). ``--table`` writes the page alone. Tests hold the page to the file, and the file to a share of the runs.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from unittest import mock
from zlib import crc32

import numpy as np

from dpnb.course import trial
from tests.course.students import (
    AVERAGE,
    CHOICE,
    COUNT,
    COVERAGE,
    EVENT,
    REBUILD,
    RESPONSE,
    SUM,
    Exercise,
)

ROOT = Path(__file__).parents[2]
RATES = ROOT / "dpnb" / "course" / "rates.json"
PAGE = ROOT / "docs" / "course" / "checks.md"
STUDENTS, WRONG = 30_000, 1_000
EXERCISES = {
    "mechanism": (COUNT, SUM),
    "selection": (CHOICE, RESPONSE),
    "coverage": (COVERAGE,),
    "attack": (REBUILD, AVERAGE, EVENT),
}
"""The exercises by which each check is measured."""
_ALL = {one.name: one for group in EXERCISES.values() for one in group}
BEGIN, END = "<!-- made by tests.course.rates; a test compares -->\n", "<!-- end -->"


FORKED = ("a generator of one's own", "a number from elsewhere")
"""Answers that differ in a process of their own. All others are tried beside the check, which gives the same and takes a fifth of the time."""


def passed(exercise: Exercise, name: str | None, first: int, count: int) -> int:
    """Count how many of so many students pass, with a wrong answer or (None) the right one; each has a seed of their own."""
    student = exercise.right if name is None else exercise.wrong[name]
    key = crc32(f"{exercise.name}/{name}".encode())
    rngs = (np.random.default_rng([key, place]) for place in range(first, first + count))
    with mock.patch.object(trial, "available", return_value=name in FORKED):
        return sum(exercise.check(student, rng).passed for rng in rngs)


def _task(task: tuple[str, str | None, int, int]) -> tuple[str, str | None, int]:
    exercise, name, first, count = task
    return exercise, name, passed(_ALL[exercise], name, first, count)


def tasks(check: str, students: int = STUDENTS, wrong: int = WRONG) -> list[tuple[str, str | None, int, int]]:
    """List the runs of a check: the right students in blocks, the wrong ones by answer."""
    found: list[tuple[str, str | None, int, int]] = []
    for one in EXERCISES[check]:
        each = students // len(EXERCISES[check])
        found += [(one.name, None, at, min(1_000, each - at)) for at in range(0, each, 1_000)]
        found += [(one.name, name, 0, wrong) for name in one.wrong]
    return found


def measured(check: str, students: int = STUDENTS, wrong: int = WRONG) -> dict[str, object]:
    """Run a check's students on two cores."""
    with ProcessPoolExecutor(2) as pool:
        outcomes = list(pool.map(_task, tasks(check, students, wrong)))
    right = sum(count for _, name, count in outcomes if name is None)
    missed = {f"{exercise}: {name}": count for exercise, name, count in outcomes if name is not None}
    return {"students": students, "failed": students - right, "wrong": wrong, "missed": missed}


def table(rates: dict[str, dict]) -> str:
    """Write the table of rates as Markdown."""
    lines = [
        "| check | exercise and answer | students | result |",
        "|---|---|--:|---|",
    ]
    for check, found in rates.items():
        lines.append(
            f"| `check.{check}` | right answers | {found['students']:,} | {found['failed']} failed; at most 1 in 10,000 by the levels |"
        )
        lines += [
            f"| | {name} | {found['wrong']:,} | {f'{count:,} passed' if count else 'none passed'} |"
            for name, count in found["missed"].items()
        ]
    return "\n".join(lines) + "\n"


def page(text: str, rates: dict[str, dict]) -> str:
    """Put the table into the page, between its marks."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + table(rates) + END + rest.partition(END)[2]


def known() -> dict[str, dict]:
    """Read the file of rates."""
    return json.loads(RATES.read_text(encoding="utf-8"))


def main() -> None:
    """Measure, and write file and page; checks may be named."""
    names = [name for name in sys.argv[1:] if not name.startswith("-")] or list(EXERCISES)
    if "--table" not in sys.argv:
        for name in names:
            found = measured(name)
            rates = {**known(), name: found}
            RATES.write_text(
                json.dumps(
                    {key: rates[key] for key in EXERCISES if key in rates}, indent=1, ensure_ascii=False
                )
                + "\n",
                encoding="utf-8",
            )
    if PAGE.exists():
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), known()), encoding="utf-8")


if __name__ == "__main__":
    main()
