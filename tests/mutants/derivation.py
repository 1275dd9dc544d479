"""Wrong derivations of what one person moves, and a curator that believes a statistic: brute force over tiny neighbours finds each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dpnb.planner import sharing
from dpnb.trusted.aggregate.algebra import Col, Key, Known, Mul
from dpnb.trusted.aggregate.cap import rows_kept
from dpnb.trusted.measurements import box, factors, facts, matrix, regions, sums
from dpnb.trusted.measurements.facts import Facts
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.query import price as price_module
from tests.fuzz.wrong import WRONG, kinds_without, less_of, smaller_box
from tests.measurements import test_derived_loss as derived
from tests.measurements import test_regions
from tests.mutants.table import Mutant, replaced
from tests.planner import test_sharing
from tests.query import test_hostile_plans
from tests.statistics import test_moments

ONE_ROW = PrivacyUnit("add-remove")


def sums_of(name: str, unit: str) -> Callable[[Any], None]:
    """No tiny neighbours move some sums farther than derived."""
    return lambda _: derived.test_no_neighbours_move_sums_farther_than_derived(name, unit)


def selection_of(name: str, unit: str) -> Callable[[Any], None]:
    """No tiny neighbours change a selection more than derived."""
    return lambda _: derived.test_no_neighbours_change_a_selection_more_than_derived(name, unit)


def caps_of(name: str) -> Callable[[Any], None]:
    """No tiny neighbours move some capped sums farther than derived."""
    return lambda _: derived.test_no_neighbours_move_capped_sums_farther_than_derived(
        name, "add a unit of three rows"
    )


def smallest_cap(real: Any) -> Any:
    """Of several filters the smallest cap."""
    return lambda unit, *wheres: min((real(unit, one) for one in wheres), key=lambda one: one.max_rows)


def any_cap(_: Any) -> Any:
    """Believe a cap above the declared one, and one of no rows."""
    return lambda unit, *wheres: replace(
        unit, max_rows=max(1, *(rows_kept(one) or unit.max_rows for one in wheres))
    )


def codes_alone(real: Any) -> Any:
    """What leaves rows out, of a key its code alone."""

    def excluded(self: Facts, request: Any) -> tuple[Any, ...]:
        return tuple(term.code if isinstance(term, Key) else term for term in real(self, request))

    return excluded


def a_group_is_charged_at_its_worst_move(folder: Any) -> None:
    """A sum and a count of the same rows, in one group and in two, are charged what one person can move."""
    for joined in (True, False):
        home = folder / f"{joined}"
        home.mkdir()
        desk = test_hostile_plans.PlanSender(home)
        test_hostile_plans.test_a_group_is_charged_at_its_worst_move_and_groups_add(desk, joined)
        desk.service.close()


def last_of_each_group(real: Any) -> Any:
    """Charge one question of each group."""
    return lambda bundles, *facts: real({one.group: one for one in bundles}.values(), *facts)


def all_in_one_group(real: Any) -> Any:
    """Price questions together that were said to be apart."""
    return lambda bundles, *facts: real([replace(one, group=0) for one in bundles], *facts)


def one_of_two_groups(real: Any) -> Any:
    """A person who changes leaves one group, and enters none."""

    def moves(self: Any, facts: Facts) -> Any:
        for frame in self.frames:
            yield from frame.moves(facts)

    return moves


def unknown_as_nothing(real: Any) -> Any:
    """Of two conditions the one that is known."""
    return lambda one, other, join: one if other is None else other if one is None else real(one, other, join)


def no_row_in_two(_: Any) -> None:
    """Filters that are said to be apart are."""
    test_regions.test_no_row_is_in_two_random_filters_that_are_said_to_be_apart()


def a_ball_holds_its_rows(_: Any) -> None:
    """A radius that is computed from limits is that of the largest moved row."""
    derived.test_no_neighbours_move_a_matrix_farther_than_derived(derived.BALL, "add a row")
    square = matrix.radius_squared(derived.matrix(derived.laplace, 3, derived.BALL)[0].request)
    assert square == 1


def any_sign(_: Any) -> Any:
    """Both factors of a product, whatever they can be."""
    return lambda part, facts: (
        iter([(part.request.value.a, part.request.value.b)])
        if isinstance(part.request.value, Mul)
        else iter(())
    )


def one_end(place: int) -> Any:
    """A factor and its products go to one end only."""
    return lambda real: lambda parts, facts: ((ends[place],) * 2 for ends in real(parts, facts))


MUTANTS = {
    "a factor that never moves": Mutant(
        "Of a sum and a product of it the product moves, and the factor stays where it is.",
        replaced(factors, "factors_of", one_end(0)),
        sums_of("a factor above 0 and products of it", "change a row"),
    ),
    "a factor that always moves": Mutant(
        "A factor always moves, so that its products never move by their whole range.",
        replaced(factors, "factors_of", one_end(1)),
        sums_of("a factor and a product of it", "change a row"),
    ),
    "products of a moving factor x 0.9": Mutant(
        "What products move with their factor is derived too small.",
        replaced(factors, "_moved", lambda real: lambda *sides: real(*sides) * 9 // 10),
        sums_of("a factor above 0 and products of it", "change a row"),
    ),
    "a factor of any sign": Mutant(
        "A factor that can be below 0 is said to move its products one way.",
        replaced(factors, "_sides", any_sign),
        sums_of("a factor of either sign", "change a row"),
    ),
    "membership derived as public": Mutant(
        "Under change-one no row comes or goes, whatever the filter.",
        WRONG["membership derived as public"].plant,
        sums_of("a filtered sum", "change a row"),
    ),
    "a missing key is in some cell": Mutant(
        "A key that can be missing is said to hold every row.",
        replaced(Facts, "partial", lambda _: lambda self, key, where: False),
        lambda _: derived.test_membership_is_derived_from_filter_values_and_keys(
            derived.Total(derived.C, None, derived.BY_G), private=True
        ),
    ),
    "keys of two sizes in one frame": Mutant(
        "A key leaves the same rows out, however many cells it has.",
        replaced(Facts, "excluded", codes_alone),
        sums_of("counts by keys of two sizes", "change a row"),
    ),
    "a group charged as its last question": Mutant(
        "Of what is priced together only one part is paid.",
        replaced(price_module, "together", last_of_each_group),
        a_group_is_charged_at_its_worst_move,
    ),
    "groups priced as one": Mutant(
        "What a plan calls apart is priced together: kernel and curator count differently.",
        replaced(price_module, "together", all_in_one_group),
        a_group_is_charged_at_its_worst_move,
    ),
    "what is saved spent twice": Mutant(
        "Noise is made finer than what a cell's questions save together pays for.",
        replaced(sharing, "_finer", lambda real: lambda part, factor: real(part, factor**2)),
        lambda _: test_sharing.test_what_is_saved_is_spent_on_less_noise_to_the_last_digit(),
    ),
    "what is shared at the larger noise": Mutant(
        "A count that two questions want has the noise of the one that wants less.",
        replaced(
            sharing,
            "_shared",
            lambda real: lambda one, other, facts: replace(one, texts=real(one, other, facts).texts),
        ),
        lambda _: test_sharing.test_a_count_that_three_questions_want_is_bought_once_at_the_smallest_noise(),
    ),
    "a joint bound torn apart": Mutant(
        "One of the moments of two numbers is made finer for a mean, and all of them become dearer.",
        replaced(sharing, "_bound_together", lambda _: lambda parts, facts: False),
        lambda _: test_sharing.test_moments_that_are_bound_together_are_bought_as_a_whole(),
    ),
    "groups that overlap said to be apart": Mutant(
        "Any two filters are priced as if no row were in both.",
        replaced(sums, "apart", lambda _: lambda one, other: True),
        sums_of("filters that overlap", "add a row"),
    ),
    "a person is in one group before and after": Mutant(
        "Under change-one, groups that are apart cost the dearest of them, once.",
        replaced(sums.Apart, "moves", one_of_two_groups),
        sums_of("counts of filters apart", "change a row"),
    ),
    "groups that are apart at one row": Mutant(
        "A person of two rows moves one of them.",
        replaced(sums, "_worst", lambda real: lambda moves, facts: real(moves, replace(facts, unit=ONE_ROW))),
        sums_of("counts of filters apart", "add a unit of two rows"),
    ),
    "either condition read as both": Mutant(
        "What an or keeps is said to be what both of its sides keep.",
        replaced(regions, "_either", lambda _: regions._both),
        no_row_in_two,
    ),
    "a condition that tells nothing overlooked": Mutant(
        "Of an or with an expression beside it, the column alone is read.",
        replaced(regions, "_joined", unknown_as_nothing),
        no_row_in_two,
    ),
    "below read as at most": Mutant(
        "A code is taken out of what a comparison keeps.",
        replaced(regions, "_below", lambda real: lambda op, value: real("<" if op == "<=" else op, value)),
        no_row_in_two,
    ),
    "known rows without NULL": Mutant(
        "That a value is known, or not, is said of its first code.",
        replaced(
            regions.Regions,
            "_read",
            lambda real: (
                lambda self, one: (
                    (one.a.name, ((0, 0),))
                    if isinstance(one, Known) and isinstance(one.a, Col)
                    else real(self, one)
                )
            ),
        ),
        no_row_in_two,
    ),
    "a switch derived as staying": Mutant(
        "A row that leaves one cell and enters another is said to stay.",
        kinds_without(sums.SWITCH),
        sums_of("counts by a partial key", "change a row"),
    ),
    "frames apart at the smaller cap": Mutant(
        "Of two filters that no row is in both of, the one that keeps fewer rows of a unit counts.",
        replaced(facts, "capped", smallest_cap),
        caps_of("caps apart"),
    ),
    "a cap beyond the declared one believed": Mutant(
        "Four rows of a unit are paid where the copy holds three, and no row at all is a question.",
        replaced(facts, "capped", any_cap),
        lambda _: derived.test_a_cap_beyond_the_declared_rows_is_refused(0),
    ),
    "a cap inside of an or believed": Mutant(
        "A rank that is compared anywhere in a filter is taken for a cap.",
        replaced(facts, "rows_kept", lambda _: lambda where: None if where is None else 1),
        caps_of("a rank or something else"),
    ),
    "k rows derived as one": Mutant(
        "A unit of two rows is derived as one row.",
        WRONG["rows of a unit overlooked"].plant,
        sums_of("a sum", "add a unit of two rows"),
    ),
    "a missing value that adds nothing overlooked": Mutant(
        "The range of a value that can be missing is taken without its zero.",
        replaced(Facts, "missing", lambda _: lambda self, node, where: False),
        lambda _: derived.test_a_value_that_the_filter_knows_is_not_missing(),
    ),
    "the norm of a matrix x 0.9": Mutant(
        "The squared Frobenius norm is derived too small.",
        smaller_box,
        lambda _: derived.test_a_matrix_without_missing_values_reaches_its_norm(),
    ),
    "the norm of products of four x 0.96": Mutant(
        "The squared norm of (1, x) is derived too small.",
        replaced(matrix, "_norm", lambda real: lambda columns, square: real(columns, square) * 24 / 25),
        lambda _: test_moments.test_the_norm_of_products_of_four_is_nearly_reached(1),
    ),
    "products of four derived as products of two": Mutant(
        "The order of the tensor is overlooked.",
        replaced(
            box, "l2_squared", lambda real: lambda columns, square, kind, order: real(columns, square, kind)
        ),
        lambda _: derived.test_no_neighbours_move_products_of_four_farther_than_derived("add a row"),
    ),
    "an entry of the tensor counted as one of a matrix": Mutant(
        "How often it stands there is taken to be twice off the diagonal.",
        replaced(matrix, "multiplicity", lambda _: lambda entry, order: 1 + (len(set(entry)) > 1)),
        lambda _: test_moments.test_how_often_an_entry_stands_in_the_tensor(),
    ),
    "a product under two names": Mutant(
        "Entries are told apart by their places, not by what they are products of.",
        replaced(matrix, "monomial", lambda _: lambda request, pair: tuple(sorted(pair))),
        lambda _: derived.test_a_product_that_is_named_twice_is_refused(),
    ),
    "a ball of the first limit alone": Mutant(
        "Rows above the first limit are said to be moved inside of it.",
        replaced(
            matrix,
            "radius_squared",
            lambda real: lambda request: None if request.shrink is None else real(request) / 4,
        ),
        a_ball_holds_its_rows,
    ),
    "a pick that ignores its unit": Mutant(
        "A pick is derived at a sixth of what it costs.",
        less_of(derived.PermuteAndFlip),
        selection_of("a pick", "change a row"),
    ),
}
