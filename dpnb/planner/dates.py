"""Dates in questions: literal dates as numbers of the calendar, and the month, year, weekday and hour of a date.

A date is an integer on the grid (:mod:`dpnb.trusted.schema.calendar`); what is taken from it here is integer arithmetic on that
number, so that each row's answer is a function of that row and the ranges are public.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import takewhile
from typing import NoReturn

from dpnb.errors import PlanError
from dpnb.planner.expression import Const
from dpnb.statistics import Numeric
from dpnb.trusted.aggregate.algebra import Add, Clip, FloorDiv, IntExpr, Lit, Mul, Sub
from dpnb.trusted.schema.calendar import minutes_of, place_of, start_of

PARTS = ("year", "month", "weekday", "hour")
PERIODS = ("day", "week", "month", "year")
_CIVIL = (place_of("1900-03-01", "day") or 0, place_of("2100-02-28", "day") or 0)
"""The days between which every fourth year is a leap year."""


def literal(constant: Const, calendar: str, shown: str) -> Fraction:
    """Return the number of the step that a literal date begins.

    Parameters
    ----------
    constant : Const
        ISO text.
    calendar : {"hour", "day", "week", "month"}
    shown : str
        What it stands beside, for a refusal.

    Raises
    ------
    PlanError
        If it is no date, or lies inside a step, so that rows on both sides of it would be one.
    """
    text = constant.value
    if not isinstance(text, str):
        raise PlanError(f'{shown} holds dates; {text} is a number. Write a date: "2021-03-01".')
    place = place_of(text, calendar)
    if place is None:
        raise PlanError(f'{text[:40]!r} is not a date. Beside {shown} write one: "2021-03-01".')
    start = start_of(place, calendar)
    if minutes_of(text.strip()) != minutes_of(start):
        raise PlanError(
            f'{text!r} lies inside a {calendar}, and {shown} is kept by {calendar}: write "{start}", which means the whole {calendar}.'
        )
    return Fraction(place)


def refuse_arithmetic(shown: str) -> NoReturn:
    """Refuse arithmetic that has no meaning on dates."""
    raise PlanError(
        f"{shown} holds dates: subtract a date of the same step, add or subtract a whole number, or ask .month, .year."
    )


def shifted(calendar: str | None, a: Numeric, b: Numeric, sign: str, shown: str) -> str | None:
    """Return the calendar of ``a ± b``: a date and a whole number are a date; two dates have a difference in steps."""
    if calendar is None and b.calendar is None:
        return None
    if sign == "-" and calendar == b.calendar:
        return None
    if calendar is None or b.calendar is not None or not _is_whole(b):
        refuse_arithmetic(shown)
    return a.calendar


def _is_whole(number: Numeric) -> bool:
    return number.offset.denominator == number.step.denominator == 1


def part(word: str, date: Numeric, shown: str) -> Numeric:
    """Return the year, month (1 to 12), weekday (Monday is 0) or hour (0 to 23) of a date, with its public range.

    Raises
    ------
    PlanError
        If the number is no date, or a date that is kept by too long a step.
    """
    take = _TAKEN.get((word, date.calendar))
    if date.calendar is None or not _is_whole(date):
        raise PlanError(f"{shown} is not a date: .{word} is asked of a column of dates.")
    if take is None:
        finer = "hour" if word == "hour" else "day"
        raise PlanError(f'{shown} is kept by {date.calendar} and has no {word}: declare step = "{finer}".')
    low, high = int(date.lowest), int(date.highest)
    code: IntExpr = date.code if date.step == 1 else Mul(date.code, Lit(int(date.step)))
    first, last = _range(word, low, high, date.calendar)
    if word in ("year", "month") and date.calendar != "month":
        days = (low, high) if date.calendar == "day" else (low // 24, high // 24)
        if days[0] < _CIVIL[0] or days[1] > _CIVIL[1]:
            raise PlanError(
                f'{shown} goes beyond 1900-03-01 to 2100-02-28: for its {word} declare step = "month".'
            )
    taken = Clip(take(Add(code, Lit(int(date.offset)))), first, last)
    return Numeric(taken, Fraction(0), Fraction(1), first, last, date.nullable)


def _range(word: str, low: int, high: int, calendar: str) -> tuple[int, int]:
    if word == "year":
        return int(start_of(low, calendar)[:4]), int(start_of(high, calendar)[:4])
    return {"month": (1, 12), "weekday": (0, 6), "hour": (0, 23)}[word]


def _modulo(code: IntExpr, by: int) -> IntExpr:
    return Sub(code, Mul(FloorDiv(code, by), Lit(by)))


def _plus(code: IntExpr, number: int) -> IntExpr:
    return Add(code, Lit(number))


def _day(hour: IntExpr) -> IntExpr:
    return FloorDiv(hour, 24)


def _years(day: IntExpr) -> tuple[IntExpr, IntExpr]:
    """Return the year that begins in March, from 1900, and the month in it from 0: each fourth such year has a day more."""
    since = _plus(day, -_CIVIL[0])
    year = FloorDiv(_plus(Mul(since, Lit(4)), 3), 1461)
    in_year = Sub(since, FloorDiv(Mul(year, Lit(1461)), 4))
    return year, FloorDiv(_plus(Mul(in_year, Lit(5)), 2), 153)


def _year_of_day(day: IntExpr) -> IntExpr:
    year, month = _years(day)
    return _plus(Add(year, FloorDiv(month, 10)), 1900)


def _month_of_day(day: IntExpr) -> IntExpr:
    _, month = _years(day)
    return _plus(Sub(month, Mul(FloorDiv(month, 10), Lit(12))), 3)


_TAKEN: dict[tuple[str, str | None], Callable[[IntExpr], IntExpr]] = {
    ("year", "month"): lambda m: FloorDiv(m, 12),
    ("month", "month"): lambda m: _plus(_modulo(m, 12), 1),
    ("year", "day"): _year_of_day,
    ("month", "day"): _month_of_day,
    ("weekday", "day"): lambda d: _modulo(_plus(d, 3), 7),
    ("year", "hour"): lambda h: _year_of_day(_day(h)),
    ("month", "hour"): lambda h: _month_of_day(_day(h)),
    ("weekday", "hour"): lambda h: _modulo(_plus(_day(h), 3), 7),
    ("hour", "hour"): lambda h: _modulo(h, 24),
}


def period_edges(date: Numeric, word: str, shown: str) -> list[str]:
    """Return the edges of bins of one day, week, month or year over a date's public range, as ISO text.

    Raises
    ------
    PlanError
        If the word is no such period, or one shorter than the date's step.
    """
    calendar = date.calendar or ""
    if (
        word not in PERIODS
        or (word, calendar) in {("day", "week"), ("day", "month"), ("week", "month")}
        or (word in ("month", "year") and calendar == "week")
    ):
        raise PlanError(
            f'bins="{word}" does not go with {shown}, which is kept by {calendar or "number"}: give edges=.'
        )
    low, high = (start_of(int(end), calendar) for end in (date.lowest, date.highest))
    unit = "month" if word == "year" else word
    first, width = place_of(low, unit) or 0, 12 if word == "year" else 1
    first -= first % width
    later = (start_of(first + width * i, unit) for i in range(1, 1001))
    return [low, *takewhile(lambda edge: edge < high, (edge for edge in later if edge > low)), high]
