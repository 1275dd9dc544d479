"""Wrong sensitivities, scales and charges that the fuzzer must find, each in the statistics where it is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpnb.planner import PricedBatch
from dpnb.statistics import noise
from dpnb.statistics.frequent import FrequentValues
from dpnb.statistics.ks_density import KSDensity
from dpnb.statistics.quantile import Quantile
from dpnb.statistics.robust_mean import RobustMean
from dpnb.trusted.measurements import box, derivation, factors, products, selections, sums
from dpnb.trusted.measurements.facts import Facts
from dpnb.trusted.measurements.sums import ENTER, SWITCH, WITHIN
from dpnb.trusted.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    KSExponential,
    LocatedSums,
    QuantileSelection,
    Thresholding,
)
from dpnb.trusted.privacy import event
from dpnb.trusted.privacy.loss import PrivacyLoss
from tests.mutants.table import Patch, replaced

ADDITIVE = ("count", "sum", "mean", "histogram", "crosstab", "difference")


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong version, and the statistics in which it is to be found."""

    says: str
    plant: Patch
    where: tuple[str, ...]
    alone: bool = True


def less_noise(name: str, kind: type, factor: Fraction) -> Patch:
    """Add less noise to one part than its share pays for."""

    def make(real: Any) -> Any:
        def split(setting: Any, share: Any, summands: Any) -> Any:
            found = zip(summands, real(setting, share, summands), strict=True)
            return [
                (noise.with_amount(size, noise.amount(size) * factor), costs)
                if one.name == name and isinstance(size, kind)
                else (size, costs)
                for one, (size, costs) in found
            ]

        return split

    return replaced(noise, "split", make)


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


WRONG_NOISE: dict[str, Wrong] = {
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
    "max_rows of a quantile": Wrong(
        "A unit of k rows is said to move a rank by one.",
        priced_with(Quantile, one_row_of_a_unit),
        ("quantile",),
    ),
    "group doubling of a placement": Wrong(
        "A row that changes its group is said to touch one placement.",
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
"""Statistics with less noise than their shares pay for: they are charged what it costs."""


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

    return replaced(selections, name, halved)


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


def first_parts(real: Any) -> Any:
    """Price the first sum of each frame."""

    def together(frames: Any, facts: Facts) -> Any:
        return real([replace(frame, parts=frame.parts[:1]) for frame in frames], facts)

    return together


def nine_tenths(real: Any) -> Any:
    """Both ends of every factor, nine tenths as far."""
    return lambda parts, facts: (
        tuple({at: Fraction(shift) * 9 / 10 for at, shift in end.items()} for end in ends)
        for ends in real(parts, facts)
    )


WRONG: dict[str, Wrong] = {
    "disjointness judged wrongly": Wrong(
        "Questions of one cell are priced as if no row were in two of them.",
        replaced(PricedBatch, "loss", disjoint_without_proof),
        ADDITIVE,
        alone=False,
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
    "twice the rate of a selection": Wrong(
        "Weights fall by ε and not by ε/2 with each rank.",
        replaced(QuantileSelection, "rate", lambda real: property(lambda self: 2 * real.fget(self))),
        ("quantile",),
    ),
    "entering overlooked": Wrong("A changed row stays in the filter.", kinds_without(ENTER), ("sum",)),
    "change within overlooked": Wrong(
        "A changed row keeps its value.", kinds_without(WITHIN), ("sum", "mean")
    ),
    "root of k for k": Wrong(
        "A unit of four rows is derived as two.",
        replaced(
            Facts, "rows", lambda real: property(lambda self: 2 if real.fget(self) == 4 else real.fget(self))
        ),
        ADDITIVE,
    ),
    "products of a factor x .9": Wrong(
        "A weighted sum and a sum of weights move by nine tenths of what they do.",
        replaced(factors, "factors_of", nine_tenths),
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
    "one sum of many": Wrong(
        "Of several sums over the same rows only the first is priced.",
        replaced(derivation, "_together", first_parts),
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
        less(selections, "score", Fraction(1, 2)),
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
"""What is derived too low, or converted or added wrongly, each in the statistics where pairs are to find it."""
