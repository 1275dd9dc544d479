"""Wrong sensitivities, scales and charges that the fuzzer must find, each in the statistics where it is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from typing import Any

from dpnb.planner import CheckedQuestion, PricedBatch
from dpnb.statistics import _base, pair, quantile, tree
from dpnb.statistics import ratio as ratios
from dpnb.statistics.choice import Scores
from dpnb.statistics.frequent import FrequentValues
from dpnb.statistics.ks_density import KSDensity
from dpnb.statistics.quantile import Quantile
from dpnb.statistics.robust_mean import RobustMean
from dpnb.statistics.selection import Mode
from dpnb.statistics.sensitivity import ENTER, SWITCH, WITHIN, Moves
from dpnb.trusted.measurements import box, derivation, factors, pick, products, sums
from dpnb.trusted.measurements import quantile as quantile_kind
from dpnb.trusted.measurements.facts import Facts, Membership
from dpnb.trusted.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    KSExponential,
    LocatedSums,
    QuantileSelection,
    Thresholding,
)
from dpnb.trusted.privacy import event
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
from tests.mutants.sensitivity import (
    claims_of_the_offset_code,
    free_count_everywhere,
    moves_without,
    not_centred,
    squares_from_the_real_formula,
)
from tests.mutants.table import Patch, replaced

pricing = import_module("dpnb.planner.price")  # whose name in the room is that of its function

ADDITIVE = ("count", "sum", "mean", "histogram", "crosstab", "difference")


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong version, and the statistics in which it is to be found."""

    says: str
    plant: Patch
    where: tuple[str, ...]
    alone: bool = True


def less_noise(name: str, kind: type, factor: Fraction) -> Patch:
    """Add less noise to one part than was charged for."""

    def make(real: Any) -> Any:
        def calibrated(*arguments: Any) -> Any:
            mechanisms, event = real(*arguments)
            found = mechanisms.get(name)
            if isinstance(found, kind):
                size = found.scale if kind is DiscreteLaplace else found.variance
                mechanisms = {**mechanisms, name: kind(size * factor)}
            return mechanisms, event

        return calibrated

    return replaced(_base, "calibrated", make)


def rows_of_a_unit(rows: Callable[[int], Any]) -> Patch:
    """Price a unit as if it held another number of rows."""

    def make(real: Any) -> Any:
        def of(cls: Any, unit: Any, *, private: bool, cells: int) -> Moves:
            found = real.__func__(cls, unit, private=private, cells=cells)
            return Moves(found.kinds, rows(found.rows))

        return classmethod(of)

    return replaced(Moves, "of", make)


def priced_with(owner: Any, change: Callable[[Any, Any], Any]) -> Patch:
    """Another mechanism in the parts of a statistic, at the same charge."""

    def make(real: Any) -> Any:
        def price(self: Any, setting: Any, share: Any) -> Any:
            found = real(self, setting, share)
            parts = tuple(replace(part, mechanism=change(setting, part.mechanism)) for part in found.parts)
            return replace(found, parts=parts)

        return price

    return replaced(owner, "price", make)


def one_row_of_a_unit(setting: Any, mechanism: Any) -> Any:
    """The factor of a unit of one row; counts of a tree have none."""
    if not isinstance(mechanism, KSExponential | QuantileSelection):
        return mechanism
    return replace(mechanism, factor=Fraction(mechanism.factor) / setting.unit.max_rows)


def one_cell_touched(setting: Any, mechanism: Any) -> Any:
    """Half the factor where a row can leave one group and enter another."""
    if not isinstance(mechanism, KSExponential | QuantileSelection) or mechanism.factor < 2:
        return mechanism
    return replace(mechanism, factor=setting.unit.max_rows)


def lower_threshold(setting: Any, mechanism: Thresholding) -> Thresholding:
    """The threshold of a smaller unit."""
    return Thresholding(mechanism.scale, max(mechanism.threshold - 1, mechanism.rows + 1), mechanism.rows)


def narrow_sums(_: Any, mechanism: Any) -> Any:
    """Four tenths of the noise on the sum in the chosen range."""
    return replace(mechanism, sum_scale=mechanism.sum_scale * Fraction(2, 5))


def narrow_check(_: Any, mechanism: Any) -> Any:
    """A third of the noise on the measured distance."""
    if not isinstance(mechanism, KSExponential) or not mechanism.check:
        return mechanism
    return replace(mechanism, check=mechanism.check * 3)


def disjoint_without_proof(real: Any) -> Any:
    """Charge a cell for its dearest question alone, as if no row could be in two of them."""

    def loss(batch: PricedBatch) -> PrivacyLoss:
        return max(
            (item.loss for item in batch.items), key=lambda found: found.amount, default=real.fget(batch)
        )

    return property(loss)


def membership_public(real: Any) -> Any:
    """Price every question as if all rows took part."""

    def of(cls: Any, unit: Any, *, private: bool, cells: int) -> Moves:
        return real.__func__(cls, unit, private=False, cells=cells)

    return classmethod(of)


def bounded_range_for_picks(real: Any) -> Any:
    """Charge permute-and-flip as the exponential mechanism, at ε²/8."""

    def price(self: Any, setting: Any, share: Any) -> Any:
        found = real(self, setting, share)
        events = tuple(PrivacyEvent("exponential", paid.amount) for paid in found.events)
        return replace(found, events=events)

    return price


def smaller_within(monkeypatch: Any) -> None:
    """Five moments that move by at most 4 in L1 and 7 in squared L2 when a row changes."""
    monkeypatch.setitem(pair._L1, WITHIN, Fraction(4))
    monkeypatch.setitem(pair._L2, WITHIN, Fraction(6))


def smaller_matrix(monkeypatch: Any) -> None:
    """A matrix of moments that moves by nine tenths of what it does."""
    from dpnb.statistics import moments

    for name in ("l1", "l2_squared"):
        real = getattr(moments, name)
        monkeypatch.setattr(moments, name, lambda *found, real=real: real(*found) * Fraction(9, 10))


def every_root_alone(monkeypatch: Any) -> None:
    """The roots of a tree in groups priced as one root."""
    real = tree.root_component
    monkeypatch.setattr(tree, "root_component", lambda setting: replace(real(setting), alone=True))


def tallies_by_sign(real: Any) -> Any:
    """Zeros and ones of a two-valued column as one cell, though a changed row moves both."""

    def priced(setting: Any, share: Any, centred: Any, words: str) -> Any:
        found = real(setting, share, centred, words)
        parts = tuple(
            replace(part, mechanism=type(part.mechanism)(_size(part.mechanism) / 2)) for part in found.parts
        )
        return replace(found, parts=parts)

    return priced


def _size(mechanism: Any) -> Fraction:
    return Fraction(mechanism.scale if isinstance(mechanism, DiscreteLaplace) else mechanism.variance)


WRONG: dict[str, Wrong] = {
    "scale of one term x .9": Wrong(
        "The sum beside a count has nine tenths of its Laplace noise.",
        less_noise("sum", DiscreteLaplace, Fraction(9, 10)),
        ("sum", "mean", "variance"),
    ),
    "sigma of one term x .9": Wrong(
        "The squares have nine tenths of their Gaussian standard deviation.",
        less_noise("square", DiscreteGaussian, Fraction(81, 100)),
        ("mean", "variance", "std"),
    ),
    "count x .9": Wrong(
        "A count has nine tenths of its noise.",
        less_noise("count", DiscreteLaplace, Fraction(9, 10)),
        ("count", "histogram", "crosstab"),
    ),
    "add-remove for change-one": Wrong(
        "A row that leaves one cell and enters another costs one cell.", moves_without(SWITCH), ADDITIVE
    ),
    "no entering": Wrong("A changed row stays in the filter.", moves_without(ENTER), ("sum",)),
    "no change within": Wrong("A changed row keeps its value.", moves_without(WITHIN), ("sum", "mean")),
    "public membership": Wrong(
        "Filters and missing values leave the number of rows public.",
        replaced(Moves, "of", membership_public),
        ("sum",),
    ),
    "max_rows ignored": Wrong(
        "A unit of k rows is priced as one row.",
        rows_of_a_unit(lambda _: 1),
        ADDITIVE,
    ),
    "root of k for k": Wrong(
        "A unit of four rows is priced as two.",
        rows_of_a_unit(lambda rows: 2 if rows == 4 else rows),
        ADDITIVE,
    ),
    "count free in groups": Wrong(
        "The count beside a sum is free though a row can change its group.",
        free_count_everywhere,
        ("mean", "difference", "variance"),
    ),
    "squares by the real formula": Wrong(
        "On an odd grid half a range is rounded down.", squares_from_the_real_formula, ("mean", "variance")
    ),
    "sum of codes": Wrong(
        "A sum is priced by the range of its codes.",
        replaced(_base.Numeric, "rebased", claims_of_the_offset_code),
        ("sum",),
    ),
    "not centred": Wrong(
        "A sum that is not centred is priced as if it were.",
        replaced(_base.Numeric, "centred", not_centred),
        ("mean", "variance"),
    ),
    "tallies halved": Wrong(
        "A changed row moves one of two tallies.",
        replaced(ratios, "_price_tally", tallies_by_sign),
        ("mean", "difference"),
    ),
    "five moments within": Wrong(
        "The joint move of five moments is priced as that of a row that enters.",
        smaller_within,
        ("covariance", "correlation"),
    ),
    "matrix x .9": Wrong("The norm of a matrix is nine tenths of what it is.", smaller_matrix, ("moments",)),
    "roots in groups": Wrong("The roots of a tree by groups are priced as one.", every_root_alone, ("tree",)),
    "disjointness judged wrongly": Wrong(
        "Questions of one cell are priced as if no row were in two of them.",
        replaced(PricedBatch, "loss", disjoint_without_proof),
        ADDITIVE,
        alone=False,
    ),
    "half the score of a quantile": Wrong(
        "A unit moves the scores of a quantile by half of what it does.",
        replaced(quantile, "score_factor", lambda real: lambda *asked: real(*asked) / 2),
        ("quantile",),
    ),
    "Laplace in rho x .9": Wrong(
        "Discrete Laplace noise costs nine tenths of its law's value.",
        replaced(event, "laplace_rho", lambda real: lambda *part: real(*part) * Fraction(9, 10)),
        ("count", "sum", "mean"),
    ),
    "pure at ε²/8 in rho": Wrong(
        "Every pure event is charged as one of bounded range.",
        replaced(event, "pure_rho", lambda _: lambda epsilon: epsilon**2 / 8),
        ("mode", "top_k", "choose"),
    ),
    "max_rows of a quantile": Wrong(
        "A unit of k rows moves a rank by one.",
        priced_with(Quantile, one_row_of_a_unit),
        ("quantile",),
    ),
    "a pick's step": Wrong(
        "A changed row moves one count of a mode, not two.",
        replaced(Mode, "_factor", lambda _: lambda self, setting: setting.unit.max_rows),
        ("mode", "top_k"),
    ),
    "twice the rate of a selection": Wrong(
        "Weights fall by ε and not by ε/2 with each rank.",
        replaced(QuantileSelection, "rate", lambda real: property(lambda self: 2 * real.fget(self))),
        ("quantile",),
    ),
    "scores of a choice": Wrong(
        "A changed row moves candidates apart by as much as one that enters.",
        replaced(Scores, "apart", lambda real: lambda self, kinds: real(self, [ENTER])),
        ("choose",),
    ),
    "a pick at ε²/8": Wrong(
        "Permute-and-flip is charged as a mechanism of bounded range.",
        replaced(Mode, "price", bounded_range_for_picks),
        ("mode",),
    ),
    "group doubling of a placement": Wrong(
        "A row that changes its group touches one placement.",
        priced_with(KSDensity, one_cell_touched),
        ("ks_density",),
    ),
    "noise on a distance": Wrong(
        "The measured distance of a placement has a third of its noise.",
        priced_with(KSDensity, narrow_check),
        ("ks_density",),
    ),
    "sums in a range": Wrong(
        "The sum in a chosen range has four tenths of its noise.",
        priced_with(RobustMean, narrow_sums),
        ("robust_mean",),
    ),
    "threshold one lower": Wrong(
        "A value is shown one row too early.",
        priced_with(FrequentValues, lower_threshold),
        ("frequent_values",),
    ),
}


class Believed:
    """A statistic of which the claims are remembered."""

    def __init__(self, kind: Any, claims: dict[int, Any]) -> None:
        self._kind, self._claims = kind, claims

    def price(self, setting: Any, share: Any) -> Any:
        """Price, and remember what was claimed of these parts."""
        found = self._kind.price(setting, share)
        self._claims[id(found.parts)] = found
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kind, name)


def claims_believed(monkeypatch: Any) -> None:
    """Charge what a statistic claims, as if nothing were derived: then only the pairs can find its mistakes."""
    claims: dict[int, Any] = {}

    def claimed(parts: Any, _facts: Any) -> Any:
        return claims[id(parts)].events

    real = CheckedQuestion.__dict__["kind"]
    monkeypatch.setattr(
        CheckedQuestion, "kind", property(lambda question: Believed(real.fget(question), claims))
    )
    monkeypatch.setattr(pricing, "events", claimed)
    monkeypatch.setattr(pricing, "_within_share", lambda *_: None)


NOT_BY_DERIVATION = {
    "disjointness judged wrongly",
    "Laplace in rho x .9",
    "pure at ε²/8 in rho",
    "twice the rate of a selection",
}
"""Mistakes in the law, the conversion or the sum: what is derived from a wrong law is wrong, and only pairs find it."""

CHARGED_THE_TRUTH = {"a pick at ε²/8", "threshold one lower"}
"""Mistakes in a statistic's own charge, or within its share: they change nothing, since its charge is not read."""


def less(owner: Any, name: str, factor: Fraction) -> Patch:
    """A derived number that is too small."""
    return replaced(owner, name, lambda real: lambda *found: real(*found) * factor)


def fewer_steps(name: str) -> Patch:
    """Half of the steps of a pick, in as many groups."""

    def halved(real: Any) -> Any:
        def found(*asked: Any) -> Any:
            groups, steps = real(*asked)
            return groups, steps * Fraction(1, 2)

        return found

    return replaced(pick, name, halved)


def kinds_without(kind: str) -> Patch:
    """Derive sums as if one of the moves could not be."""

    def make(real: Any) -> Any:
        def moves(frame: Any, facts: Any) -> Any:
            for move in real(frame, facts):
                left = [(part, each) for part, each in move if each != kind]
                yield left or [(part, WITHIN if kind != WITHIN else ENTER) for part, _ in move]

        return moves

    return replaced(sums.Frame, "moves", make)


def less_of(mechanism: type) -> Patch:
    """All events of a kind, named by its mechanism, at a sixth."""

    def break_it(monkeypatch: Any) -> None:
        for kind, real in list(derivation.ALONE.items()):
            if kind[1] is mechanism:
                monkeypatch.setitem(derivation.ALONE, kind, _sixth(real))

    return break_it


def _sixth(real: Any) -> Any:
    def priced(request: Any, mechanism: Any, facts: Any) -> Any:
        cells, found = real(request, mechanism, facts)
        return cells, tuple(paid.scaled(Fraction(1, 6)) for paid in found)

    return priced


def smaller_products(monkeypatch: Any) -> None:
    """Five moments that move by too little when a row changes, by both bounds."""
    monkeypatch.setitem(products.L1, WITHIN, Fraction(4))
    monkeypatch.setitem(products.L2, WITHIN, Fraction(6))


def smaller_box(monkeypatch: Any) -> None:
    """A matrix of moments that moves by nine tenths of what it does."""
    for name in ("l1", "l2_squared"):
        less(box, name, Fraction(9, 10))(monkeypatch)


def nine_tenths(real: Any) -> Any:
    """Both ends of every factor, nine tenths as far."""
    return lambda parts, facts: (
        tuple({at: Fraction(shift) * 9 / 10 for at, shift in end.items()} for end in ends)
        for ends in real(parts, facts)
    )


WRONG_DERIVATIONS: dict[str, Wrong] = {
    "products of a factor x .9": Wrong(
        "A weighted sum and a sum of weights move by nine tenths of what they do.",
        replaced(factors, "_groups", nine_tenths),
        ("weighted_mean",),
    ),
    "membership derived as public": Wrong(
        "Filters, missing values and partial keys are said to leave the number of rows public.",
        replaced(Facts, "private", lambda _: lambda self, request: False),
        ("sum", "mean", "value_counts"),
    ),
    "rows of a unit overlooked": Wrong(
        "A unit of k rows is derived as one row.",
        replaced(Facts, "rows", lambda _: property(lambda self: 1)),
        ADDITIVE,
    ),
    "switch derived as staying": Wrong(
        "A row that changes its cell is derived as one that stays.",
        kinds_without(SWITCH),
        ("count", "histogram"),
    ),
    "range x .9": Wrong(
        "A row adds and changes nine tenths of what it does.",
        replaced(
            sums.Part,
            "shifts",
            lambda real: lambda self, kind: tuple(s * Fraction(9, 10) for s in real(self, kind)),
        ),
        ("count", "sum", "mean", "tree"),
    ),
    "frames without filters": Wrong(
        "Sums of other rows are priced as if they were of the same.",
        replaced(
            sums,
            "frames",
            lambda _: (
                lambda parts, facts: [
                    sums.Frame((part,), Membership(part.request.where, (), private=False))
                    for part in parts[:1]
                ]
            ),
        ),
        ("variance", "mean"),
    ),
    "two numbers moved less": Wrong(
        "The joint move of five moments is derived as that of a row that enters.",
        smaller_products,
        ("covariance", "correlation"),
    ),
    "a matrix moved less": Wrong("The norm of a matrix is derived too small.", smaller_box, ("moments",)),
    "half the derived score": Wrong(
        "A unit moves ranks by half of what it does.",
        less(quantile_kind, "score", Fraction(1, 2)),
        ("quantile",),
    ),
    "candidates that do not overlap": Wrong(
        "A changed row is said to move one candidate only.",
        fewer_steps("_overlapping"),
        ("choose",),
    ),
    "counts of a pick moved less": Wrong(
        "A changed row is said to move one count of a pick.",
        fewer_steps("_counted"),
        ("mode", "top_k"),
    ),
    "a placement moved less": Wrong(
        "A placement and its check are derived at a sixth.", less_of(KSExponential), ("ks_density",)
    ),
    "sums in a range moved less": Wrong(
        "The selections and the sums of a chosen range are derived at a sixth.",
        less_of(LocatedSums),
        ("robust_mean",),
    ),
}
"""What is derived too low, each in the statistics where pairs are to find it."""
