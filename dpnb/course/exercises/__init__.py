"""The exercises of the course on cases that their notebooks do not show, each with its usual mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dpnb.course.exercises import lessons_1_to_5, lessons_6_to_9, lessons_10_to_14
from dpnb.course.result import CheckResult

EXERCISES: Mapping[str, Callable[..., CheckResult]] = {
    **lessons_1_to_5.EXERCISES,
    **lessons_6_to_9.EXERCISES,
    **lessons_10_to_14.EXERCISES,
}
"""By lesson and exercise: ``"4.1"``. Each takes the student's functions and the check's chance."""
__all__ = ["EXERCISES"]
