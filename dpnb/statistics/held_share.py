"""The share of rows at or beyond each declared bound: what a clamped mean does not see.

Values are clamped to their bounds before anything is computed, so that a row at a bound is one that was there, or beyond. Released are three
counts in one histogram: rows at the lower bound, between, and at the upper one; one person moves them as those of any histogram. Their
shares, with both intervals, are those of a table of counts (:mod:`~dpnb.statistics.shares`). How far beyond a bound a value lay is not
in any release.

A mean that is asked with ``clamped=True`` buys the same three counts beside its sum, with a tenth of its loss (:data:`BESIDE`): one person can
go from one end to the other, which moves the sum by the range and two counts by one, so that the losses add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import ClassVar

from dpnb.errors import PlanError
from dpnb.inference.digits import given
from dpnb.statistics._base import Axis, Options, Pricing, Setting, Target
from dpnb.statistics.declaration import Statistic
from dpnb.statistics.noise import additive, count_of
from dpnb.statistics.released import combine
from dpnb.statistics.result import Pair, Read
from dpnb.statistics.shares import SharesResult, shares_result
from dpnb.trusted.aggregate.algebra import Case, Cmp, Key, Lit
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release

_PLACES = 3
PART = "held"
"""What the counts are called beside a mean."""
BESIDE = Fraction(1, 10)
"""The part of the loss of a mean that they are bought with."""


class HeldShare(Statistic):
    """The share of rows at or beyond each bound."""

    name: ClassVar[str] = "held_share"
    title: ClassVar[str] = "share at or beyond the bounds"
    target: ClassVar[Target] = "number"
    of_dates: ClassVar[bool] = True
    by_rank: ClassVar[bool] = True
    of_bounds: ClassVar[bool] = True
    examples: ClassVar[tuple[Options, ...]] = (MappingProxyType({}),)
    reference: ClassVar[str] = "Dwork, McSherry, Nissim & Smith 2006; Wilson 1927, Fieller 1954"

    def extra_axes(self, setting: Setting) -> tuple[Axis, ...]:
        """At or below the lower bound, between, at or above the upper one."""
        return (axis_of(setting),)

    def domain(self, setting: Setting) -> Pair:  # noqa: ARG002
        """Shares lie from 0 to 1."""
        return 0.0, 1.0

    def price(self, setting: Setting, share: Share) -> Pricing:
        """One histogram of three cells with all of the share."""
        return placed(setting, share)

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:
        """The radius of the noise on a count, over the number of rows."""
        rows = setting.public_n or n
        return None if not rows else pricing.radius / rows

    def conclude(self, setting: Setting, releases: Sequence[Release]) -> SharesResult:
        """Return the three shares of every group, with both intervals."""
        part = combine(releases)["count"]
        within = range(len(setting.shape) - 1)
        return shares_result(setting, part, setting.shape, tuple(within))


def axis_of(setting: Setting) -> Axis:
    """Return the three places of a value: at or below the lower bound, between, at or above the upper one."""
    number = setting.number()
    if number.high - number.low < _PLACES - 1:
        raise PlanError(
            "A column with one or two values has no values between its bounds. Ask .mean(), the share of the second value."
        )
    low, high = given(float(number.lowest)), given(float(number.highest))
    return Axis("held", "held", (f"at {low} or below", "between", f"at {high} or above"))


def placed(setting: Setting, share: Share, name: str = "count") -> Pricing:
    """Price one histogram of three cells for each group, with all of a share."""
    placed_rows = _placed(setting)
    return additive(placed_rows, share, [count_of(placed_rows, f"rows by place of {setting.subject}", name)])


def held_share(setting: Setting) -> Read:
    """Read the share of rows at or beyond each bound, which was bought beside the mean: free."""
    axes = (*setting.axes, axis_of(setting))
    shape = (*setting.shape, _PLACES)

    def conclude(releases: Sequence[Release]) -> SharesResult:
        return shares_result(setting, combine(releases)[PART], shape, tuple(range(len(setting.shape))))

    return Read(".held_share()", shape, axes, conclude)


def _placed(setting: Setting) -> Setting:
    """The same question with one more key: where a value lies between its bounds."""
    number = setting.number()
    above = Case(Cmp("<=", Lit(number.high), number.code), Lit(2), Lit(1))
    place = Case(Cmp("<=", number.code, Lit(number.low)), Lit(0), above)
    return replace(setting, keys=(*setting.keys, Key(place, _PLACES)))
