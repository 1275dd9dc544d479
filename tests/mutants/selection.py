"""Wrong noise and wrong selections: laws that are not the declared ones, weights that rule an output out."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpnb.inference.law import law_from_json
from dpnb.inference.seeded_bits import SeededBits
from dpnb.planner.question import Question
from dpnb.trusted.curator import release
from dpnb.trusted.curator.release import Randomness
from dpnb.trusted.measurements import selections
from dpnb.trusted.mechanisms import (
    QuantileFlip,
    QuantileSelection,
    exponential,
    gaussian,
    laplace,
    quantile_flip,
)
from dpnb.trusted.releases import ReleasedPart
from tests.contracts.derived_loss import score_factor
from tests.contracts.law import FITS, fit
from tests.contracts.statistic import priced, schema
from tests.mechanisms.enumeration import worst
from tests.mechanisms.test_additive import TestDiscreteGaussian, TestDiscreteLaplace
from tests.mechanisms.test_audit import ADDED, CHANGED, LEVELS, sharp_pair, tight
from tests.mechanisms.test_mutants import floating, quantile
from tests.mechanisms.test_quantile_flip import flips_fit, heard_fits
from tests.mutants.sensitivity import ROW
from tests.mutants.table import Mutant, replaced
from tests.statistics.test_sensitivity import G, X


def parts_carry_their_noise(_: Any) -> None:
    """What the curator sends of each part, less the exact integers, fits the law that it declares."""
    question = priced(Question("tiny", "mean", X, None, (G,)), schema(ROW, missing_b=0))
    exact = list(range(20_000))
    for seed, part in enumerate(question.parts):
        sent = release._noised(part, exact, Randomness(SeededBits(seed)))
        assert fit(np.array(sent.values) - np.array(exact), law_from_json(dict(sent.law))) > FITS, part.name


def exact_count(real: Any) -> Any:
    """Send the private count as it is."""

    def noised(part: Any, exact: Any, chance: Randomness) -> ReleasedPart:
        found = real(part, exact, chance)
        if part.name != "count":
            return found
        return ReleasedPart(found.name, found.law, tuple(int(v) for v in exact), found.draw)

    return noised


def one_draw_for_all_cells(real: Any) -> Any:
    """Draw one noise value and use it in every cell."""

    def noised(part: Any, exact: Any, chance: Randomness) -> ReleasedPart:
        found = real(part, exact, chance)
        shift = found.values[0] - int(exact[0])
        return ReleasedPart(found.name, found.law, tuple(int(v) + shift for v in exact), found.draw)

    return noised


def tight_pairs(_: Any) -> None:
    """On pairs made to attain ε with weights near their floor the loss is at most ε."""
    assert max(loss - claim for claim, loss in tight(40)) <= 0


def whole_law(epsilon: int, law_of: Any = lambda mechanism: mechanism) -> Any:
    """No pair of tiny neighbours costs a selection more than ε."""

    def check(_: Any) -> None:
        assert worst(law_of(quantile(epsilon)), 4, "change-one") <= epsilon

    return check


def wrapping(_: Any) -> Any:
    """Add noise in 64 bits."""

    def add(exact: Any, noise: Any) -> tuple[int, ...]:
        with np.errstate(over="ignore"):
            wide = np.array([int(v) % 2**64 for v in exact], dtype=np.uint64).astype(np.int64)
            return tuple((wide + noise.astype(np.int64)).tolist())

    return add


def saturating(_: Any) -> Any:
    """Keep what is released within 64 bits."""

    def add(exact: Any, noise: Any) -> tuple[int, ...]:
        return tuple(
            max(-(2**63), min(2**63 - 1, int(v) + int(k))) for v, k in zip(exact, noise.tolist(), strict=True)
        )

    return add


def added_rows(_: Any) -> None:
    """A row more at the end of a long grid costs at most ε, at every level."""
    for q in LEVELS:
        assert sharp_pair(q, Fraction(1), score_factor(q, ADDED, 1)) <= 1


def rows_that_change_their_cell(_: Any) -> None:
    """A row that leaves one cell and enters another costs at most ε in both together."""
    for q in LEVELS:
        mechanism = QuantileSelection(Fraction(1), q, -2, 4, score_factor(q, CHANGED, 3))
        assert 2 * worst(mechanism, 4, "add-remove") <= 1


def one_group(real: Any) -> Any:
    """Leave the groups out."""
    return lambda q, request, facts: real(q, replace(request, keys=()), facts)


def doubled_inside(real: Any) -> Any:
    """Score a point twice as high as it deserves where the target lies among its ranks."""

    def penalty(terrain: exponential.Terrain, point: int) -> int:
        score = terrain.deepest - real(terrain, point)
        return terrain.deepest - (2 * score if score > 0 else score)

    return penalty


def flips_of_added_rows(_: Any) -> None:
    """No added row costs a flipped quantile more than ε, which scores that move both ways nearly attain."""
    for q in LEVELS:
        flip = QuantileFlip(Fraction(4), q, 0, 4, score_factor(q, ADDED, 1))
        assert worst(flip, 4, "add-remove") <= 4 * (1 + 1e-9)


def flips_are_drawn(_: Any) -> None:
    """Exact draws of two points fit binomials over runs of equal scores."""
    assert flips_fit(QuantileFlip(Fraction(2), Fraction(1, 2), 0, 1), (1, 1)) > FITS


def clocks_are_heard(_: Any) -> None:
    """What several clocks tell of one time fits the integrals over it."""
    assert heard_fits(quantile_flip.struck_before) > FITS


def forgetful(real: Any) -> Any:
    """Ask each clock about a time of which nothing is known."""
    return lambda pieces, rate, bits: real(list(pieces), rate, bits)


MUTANTS = {
    "a flip's rate over the single factor": Mutant(
        "That scores move both ways is left out: ε over the factor, and not over twice it.",
        replaced(QuantileSelection, "rate", lambda real: property(lambda self: 2 * real.fget(self))),
        flips_of_added_rows,
    ),
    "points visited again": Mutant(
        "A point that was passed over is taken at a later visit: the exponential mechanism at twice its rate.",
        replaced(quantile_flip, "struck_before", lambda _: lambda *asked: False),
        flips_are_drawn,
    ),
    "a time of which nothing is remembered": Mutant(
        "Each point is asked whether it was visited before a time drawn anew.",
        replaced(quantile_flip, "struck_before", forgetful),
        clocks_are_heard,
    ),
    "nine tenths of max(q, 1 - q)": Mutant(
        "An added row is thought to move a quantile's scores by less than it does.",
        replaced(selections, "score", lambda real: lambda *asked: real(*asked) * Fraction(9, 10)),
        added_rows,
    ),
    "half a row at every quantile": Mutant(
        "What holds for the median is claimed for all quantiles.",
        replaced(selections, "score", lambda _: lambda *asked: Fraction(1, 2)),
        added_rows,
    ),
    "groups that cost nothing under change-one": Mutant(
        "A row that changes its group acts on two cells: a median's ½ twice, a maximum's 1 twice.",
        replaced(selections, "score", one_group),
        rows_that_change_their_cell,
    ),
    "exact private n beside a noised sum": Mutant(
        "The count behind a mean is sent as it is, under the law that was paid.",
        replaced(release, "_noised", exact_count),
        parts_carry_their_noise,
    ),
    "one draw for all cells": Mutant(
        "Differences of cells are exact.",
        replaced(release, "_noised", one_draw_for_all_cells),
        parts_carry_their_noise,
    ),
    "zero scale, Laplace": Mutant(
        "A scale of zero, a loss of zero and floats are accepted.",
        replaced(laplace, "above_zero", lambda _: lambda value, name: Fraction(value)),
        lambda _: TestDiscreteLaplace().test_zero_sensitivity_zero_loss_and_floats_are_refused(),
    ),
    "zero scale, Gaussian": Mutant(
        "A variance of zero is accepted.",
        replaced(gaussian, "above_zero", lambda _: lambda value, name: Fraction(value)),
        lambda _: TestDiscreteGaussian().test_zero_sensitivity_zero_loss_and_floats_are_refused(),
    ),
    "noise added in 64 bits": Mutant(
        "A sum near 2^63 wraps, and its sign tells on which side it was.",
        replaced(laplace, "add", wrapping),
        lambda _: TestDiscreteLaplace().test_release_neither_saturates_nor_wraps(),
    ),
    "noise that saturates": Mutant(
        "A sum beyond 2^63 is released without noise.",
        replaced(gaussian, "add", saturating),
        lambda _: TestDiscreteGaussian().test_release_neither_saturates_nor_wraps(),
    ),
    "float weights": Mutant(
        "Far points underflow to impossible in one world and not in its neighbour.",
        replaced(exponential, "_weight", lambda _: lambda x, bits: int(2**52 * math.exp(-x)) / 2**52),
        whole_law(600, floating),
    ),
    "weights without a floor": Mutant(
        "Integer weights rounded to zero.",
        replaced(exponential, "FLOOR", lambda _: 0),
        whole_law(80),
    ),
    "no rounding allowance": Mutant(
        "The rounding of weights is not taken off ε.",
        replaced(QuantileSelection, "rounding", lambda _: Fraction(0)),
        tight_pairs,
    ),
    "ranks inside of a value count twice": Mutant(
        "The quantile's own value is set twice as far above the others as one row may set it.",
        replaced(exponential.Terrain, "penalty", doubled_inside),
        whole_law(1),
    ),
    "e to the epsilon u": Mutant(
        "The half of e^(εu/2) forgotten.",
        replaced(QuantileSelection, "rate", lambda _: property(lambda m: m.inner / m.q.denominator)),
        whole_law(1),
    ),
}
