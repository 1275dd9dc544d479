"""The course: checks of exercises with known error rates, and the kit of lessons.

Students and teachers write ``from dpnb.teach import check``. A check takes functions that students wrote and teaching arrays, or
records that a curator wrote; nothing here takes protected rows, and no plan can name anything here. What must never change: a
correct answer fails at most one time in ten thousand, and every result shows the measured rates.
"""

from dpnb.course import check
from dpnb.course.result import CheckResult, Mistake, Part

__all__ = ["CheckResult", "Mistake", "Part", "check"]
