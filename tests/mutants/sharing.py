"""Wrong versions of what a cell shares: equal measurements, rows that no two questions keep, and what is held already."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpnb.errors import PlanError
from dpnb.planner import sharing, stored_share
from dpnb.trusted.aggregate.algebra import And, Cmp, Lit, Not, Or
from dpnb.trusted.measurements import derivation, products, regions, sums
from dpnb.trusted.measurements.facts import Facts
from tests.measurements import test_derived_loss as derived
from tests.measurements import test_regions
from tests.mutants.derivation import no_row_in_two, sums_of
from tests.mutants.table import Mutant, Patch, replaced
from tests.planner import test_sharing

planned = importlib.import_module("dpnb.planner.price")
"""The room's function has the name of its module."""
NOBODY: frozenset[int] = frozenset()


def plain(test: Callable[..., None], *arguments: Any, **named: Any) -> Callable[[Any], None]:
    """A test that needs no folder."""
    return lambda _: test(*arguments, **named)


def groups(adjacency: str, parts: int, times: int, kind: str = "epsilon") -> Callable[[Any], None]:
    """Counts of bands of ages are paid once, or twice where a person may change."""
    return plain(
        test_sharing.test_groups_that_nobody_is_in_two_of_are_paid_once, adjacency, parts, times, kind
    )


def told_apart(one: Any, other: Any) -> Callable[[Any], None]:
    """Two conditions that single columns tell apart."""
    return plain(test_regions.test_conditions_on_one_column_tell, one, other)


def refined_with(**wrong: Any) -> Patch:
    """Spend what is saved as if something else were fixed, or held."""

    def made(real: Any) -> Any:
        def refined(bundles: Any, apart: Any, kind: str, fixed: Any, held: Any, facts: Facts) -> Any:
            asked = {"fixed": fixed, "held": held} | wrong
            return real(bundles, apart, kind, asked["fixed"], asked["held"], facts)

        return refined

    return replaced(planned, "refined", made)


def in_the_order_of_the_cell(monkeypatch: Any) -> None:
    """Groups are made as questions come, not the dearest first."""
    monkeypatch.setattr(sharing, "sorted", lambda listed, **_: list(listed), raising=False)


def cheapest_first(monkeypatch: Any) -> None:
    """The curator sorts frames the other way round."""
    monkeypatch.setattr(
        sums, "sorted", lambda listed, *, key, reverse: sorted(listed, key=key), raising=False
    )


def joined(bundles: list[Any], many: Any, facts: Facts) -> None:
    """Make one group of what stands at some places, whatever that costs."""
    new = 1 + max(one.group for one in bundles)
    for place in many:
        bundles[place] = replace(bundles[place], group=new)


def without_within(real: Any) -> Any:
    """Of frames that are apart only those moves count by which somebody comes or goes."""

    def moves(self: Any, facts: Facts) -> Any:
        for move in real(self, facts):
            if all(kind == sums.ENTER for _, kind in move):
                yield move

    return moves


def a_complement(shift: int) -> Callable[[Any], Any]:
    """Codes beside a set, the first of each piece moved."""

    def made(real: Any) -> Any:
        def others(self: Any, name: str, codes: Any) -> Any:
            found = real(self, name, codes)
            return tuple((low + shift, high) for low, high in found if low + shift <= high)

        return others

    return made


def half_of(table: dict[str, Fraction], move: str) -> Patch:
    """Half of one bound of the table."""
    return lambda monkeypatch: monkeypatch.setitem(table, move, table[move] / 2)


def covers(times: Fraction, *amounts: int | None) -> Callable[[Any], None]:
    """What is stored of the sums of a mean, each bought at a share, covers so many times the mean's own; nothing where one is not stored."""

    def check(_: Any) -> None:
        (item,) = test_sharing.priced([test_sharing.AGES], epsilon=1).items
        paid = []
        for place, amount in enumerate(amounts):
            (one,) = test_sharing.priced([test_sharing.AGES], epsilon=amount or 1).items
            events = [event.to_json() for event in derivation.events((one.parts[place],), FACTS)]
            paid.append(None if amount is None else {"events": events, "share": one.share.to_json()})
        found = stored_share.held_share(item, paid, FACTS)
        assert (None if found is None else found.amount) == (None if None in amounts else times)

    return check


FACTS = Facts.of(test_sharing.schema())


def ungrouped(real: Any) -> Any:
    """Every bundle is a group of its own, at the price of the groups."""
    return lambda found: real(
        replace(found, bundles=tuple(replace(one, group=at) for at, one in enumerate(found.bundles)))
    )


def by_groups(found: Any) -> bool:
    """Whether there are fewer groups than questions."""
    return len({one.group for one in found.bundles}) < len(found.items)


def by_questions(found: Any, _: Any) -> Any:
    """What questions cost alone."""
    return tuple(event for item in found.alone for event in item.events)


def regrouped(_: Any) -> None:
    """A cell whose sums are priced together, and its selections apart, costs what the curator counts."""
    for case in test_sharing.REGROUPED:
        test_sharing.test_a_cell_is_asked_at_what_the_curator_counts_however_its_sums_are_grouped(*case)


def or_refused(check: Callable[[Any], None]) -> Callable[[Any], None]:
    """Count it as noticed where the curator refuses the wrong version before anything can be compared."""

    def refused(folder: Any) -> None:
        try:
            check(folder)
        except PlanError as error:
            raise AssertionError("the curator refused it") from error

    return refused


def half_held(real: Any) -> Any:
    """What is stored of a question, where the rest is not."""
    return lambda item, paid, facts: real(item, [one or paid[0] for one in paid], facts)


def in_held(smallest: Any) -> Patch:
    """Take another than the least of what parts cover."""
    return lambda monkeypatch: monkeypatch.setattr(stored_share, "min", smallest, raising=False)


def of_any_column(real: Any) -> Any:
    """Join what is said of two columns."""
    return lambda one, other, join: real(
        one, None if one is None or other is None else (one[0], other[1]), join
    )


def in_every_column(one: Any, other: Any) -> bool:
    """Apart by each column that both tell of."""
    shared = [not regions._both(codes, other[name]) for name, codes in one.items() if name in other]
    return bool(shared) and all(shared)


def read_once(real: Any) -> Any:
    """Remember the first condition for all."""

    def call(self: Any, condition: Any) -> Any:
        if not self.found:
            self.found[0] = real(self, condition)
        return self.found[0]

    return call


def widest_region(real: Any) -> Any:
    """Either of the conditions on a column."""

    def of(self: Any, where: Any) -> Any:
        region: dict[str, Any] = {}
        for condition in regions.conjuncts(where):
            known = self(condition)
            if known is not None:
                region[known[0]] = regions._either(region.get(known[0], ()), known[1])
        return region

    return of


def quarter_of(table: dict[str, Fraction], move: str) -> Patch:
    """A quarter of one bound of the table."""
    return lambda monkeypatch: monkeypatch.setitem(table, move, table[move] / 4)


def a_dear_change_beside_a_cheap_group(_: Any) -> None:
    """A number may go from one end of its range to the other inside of a group: twice what coming moves."""
    values = (derived.CENTRED, 1, Lit(0)), (Lit(1), 100, Lit(1))
    parts = [
        derived.laplace(derived.Total(value, Cmp("==", derived.H, at)), scale) for value, scale, at in values
    ]
    is_held(parts, "change a row")


def is_held(parts: Any, unit: str) -> None:
    """No tiny neighbours move some sums farther than derived."""
    where = derived.schema(derived.UNITS[unit])
    rows = derived.pool(where, parts)
    pairs = derived.neighbours(where, len(rows), most=500)
    assert derived.held_to(parts, where, pairs, rows, measure="epsilon") <= 1 + 1e-9


def the_count_of_two_numbers_is_paid(_: Any) -> None:
    """With a fine count beside coarse moments, what a person moves by coming is paid."""
    parts = [
        replace(one, mechanism=derived.DiscreteLaplace(one.mechanism.scale * 50))
        for one in derived.pair_of(derived.laplace)
    ]
    parts[-1] = replace(parts[-1], mechanism=derived.DiscreteLaplace(Fraction(1)))
    is_held(parts, "add a row")


def entering_beside(real: Any) -> Any:
    """Price what is beside the moments at what a row that comes moves."""

    def event(self: Any, kinds: Any, facts: Facts) -> Any:
        others = tuple(replace(part, within=part.enter) for part in self.others)
        return real(replace(self, others=others), kinds, facts)

    return event


def what_is_beside_two_numbers_is_paid(_: Any) -> None:
    """With fine sums beside coarse moments, what a person moves of these is paid, whatever the noise."""
    coarse = derived.DiscreteLaplace(Fraction(300))
    parts = derived.pair_of(derived.laplace, (), derived.POWERS)
    parts = [replace(one, mechanism=coarse) for one in parts[:6]] + parts[6:]
    is_held(parts, "add a row")
    is_held(parts, "change a row")


def nothing_said(one: Any, other: Any) -> Callable[[Any], None]:
    """Two conditions that some row meets both of are not said to be apart."""
    return plain(test_regions.test_what_is_not_said_of_one_column_tells_nothing, one, other)


MUTANTS = {
    "noise in the name of a bundle": Mutant(
        "Two questions want the same integers at two shares, and both are bought.",
        replaced(
            sharing,
            "measured",
            lambda real: lambda parts, plan: real(parts, plan) + str(sharing.amount(parts[0].mechanism)),
        ),
        plain(test_sharing.test_a_count_that_three_questions_want_is_bought_once_at_the_smallest_noise),
    ),
    "a question bought as a whole": Mutant(
        "The count of a mean is not that of another mean.",
        replaced(sharing, "_bound_together", lambda _: lambda parts, facts: True),
        plain(test_sharing.test_a_count_that_three_questions_want_is_bought_once_at_the_smallest_noise),
    ),
    "frames of one question alone": Mutant(
        "Sums that keep the same rows are added up by questions: a count is not free beside a mean.",
        replaced(sharing, "_frames", lambda _: lambda bundles, facts: []),
        plain(test_sharing.test_what_is_saved_is_spent_on_less_noise_to_the_last_digit),
    ),
    "what is saved kept": Mutant(
        "What questions save together is left unspent.",
        replaced(sharing, "_SLACK", lambda _: Fraction(1)),
        plain(test_sharing.test_what_is_saved_is_spent_on_less_noise_to_the_last_digit),
    ),
    "a selection torn apart": Mutant(
        "Quantiles are bought one by one, as if noise were added to them.",
        replaced(sharing, "additive", lambda _: lambda part: True),
        plain(test_sharing.test_other_than_additive_noise_is_bought_as_a_whole),
    ),
    "a loss of its own refined": Mutant(
        "A question with .spend gets less noise than it pays for, at the others' cost.",
        refined_with(fixed=NOBODY),
        plain(test_sharing.test_a_question_with_a_loss_of_its_own_is_not_made_finer),
    ),
    "an accuracy made finer": Mutant(
        "within= is solved, and the noise is then made smaller than was asked.",
        replaced(
            planned.PricedBatch,
            "refined",
            lambda real: (
                lambda self, held: real(
                    replace(
                        self,
                        ask=replace(self.ask, within=None, epsilon=Fraction(1)),
                    ),
                    held,
                )
            ),
        ),
        plain(test_sharing.test_an_accuracy_that_was_asked_is_not_made_finer),
    ),
    "what is held refined": Mutant(
        "A stored answer is bought again with less noise, since its questions save.",
        replaced(planned.PricedBatch, "refined", lambda real: lambda self, held: real(self, NOBODY)),
        plain(test_sharing.test_what_is_held_is_taken_out_first),
    ),
    "what is held paid": Mutant(
        "A cell is charged for what is stored.",
        replaced(planned.PricedBatch, "events", lambda real: lambda self, held: real(self, NOBODY)),
        plain(test_sharing.test_what_is_held_is_taken_out_first),
    ),
    "one group at any price": Mutant(
        "Rows that no two questions keep are priced together also where that saves nothing.",
        replaced(sharing, "_join", lambda _: joined),
        groups("change-one", 2, 1),
    ),
    "groups that are apart overlooked": Mutant(
        "Ten age bands are paid ten times.",
        replaced(sharing, "_apart", lambda _: lambda bundles, facts: []),
        groups("add-remove", 5, 5),
    ),
    "groups that are apart added up by the curator": Mutant(
        "The curator adds frames that no row is in two of.",
        replaced(sums, "apart_from_each_other", lambda _: lambda found, facts: [(one,) for one in found]),
        groups("add-remove", 2, 2, "rho"),
    ),
    "two frames apart at most": Mutant(
        "Of five bands two are priced together.",
        replaced(sums, "MOST_APART", lambda _: 2),
        groups("add-remove", 5, 5),
    ),
    "groups in the order of the cell": Mutant(
        "What is cheap parts what is dear: a cell of overlapping filters costs twice as much.",
        in_the_order_of_the_cell,
        plain(test_sharing.test_the_dearest_groups_are_priced_together_first, "bcd"),
    ),
    "the cheapest frames first": Mutant(
        "Kernel and curator sort frames differently: a plan is refused, or costs more.",
        cheapest_first,
        plain(test_sharing.test_the_dearest_groups_are_priced_together_first, "bcd"),
    ),
    "a group lost on the wire": Mutant(
        "The kernel prices groups together and sends them as if each stood alone.",
        replaced(test_sharing, "sent", ungrouped),
        or_refused(plain(test_sharing.test_a_question_across_groups_is_paid_beside_them)),
    ),
    "the noise of others on the card": Mutant(
        "A question is answered with its own noise, whatever serves it, and its card says so.",
        replaced(planned, "_served_by", lambda _: lambda item, served: item),
        plain(test_sharing.test_one_measurement_under_two_names_is_one_answer),
    ),
    "sharing said of what is apart": Mutant(
        "The plan does not say why noise is less.",
        replaced(planned, "_why_finer", lambda _: lambda who, divided: "less noise"),
        plain(test_sharing.test_means_of_groups_are_finer_together_and_each_is_told_why),
    ),
    "saving not noticed": Mutant(
        "What a batch saves is not spent.",
        replaced(planned.PricedBatch, "saves", lambda _: property(lambda self: False)),
        plain(test_sharing.test_what_is_saved_is_spent_on_less_noise_to_the_last_digit),
    ),
    "sharing told by the number of groups": Mutant(
        "Sums of two questions that are priced together are not noticed where selections stay apart.",
        replaced(planned.PricedBatch, "saves", lambda _: property(by_groups)),
        regrouped,
    ),
    "a kernel that adds up its questions": Mutant(
        "The kernel sends the sum of its questions, and the curator refuses what costs less.",
        replaced(planned.PricedBatch, "events", lambda _: by_questions),
        or_refused(regrouped),
    ),
    "a part of an answer is an answer": Mutant(
        "A mean of which the count is not stored is said to be held.",
        replaced(stored_share, "held_share", half_held),
        covers(Fraction(1), 1, 1, None),
    ),
    "the dearest part covers": Mutant(
        "A mean with a coarse count is said to be held at the share of its fine sum.",
        in_held(max),
        covers(Fraction(1), 1, 2, 2),
    ),
    "a row does not change inside of a group": Mutant(
        "Of frames that are apart only those who come and go are paid.",
        replaced(sums.Apart, "moves", without_within),
        a_dear_change_beside_a_cheap_group,
    ),
    "exclusions forgotten": Mutant(
        "Sums that keep different rows, since one of them can be missing, are one frame.",
        replaced(Facts, "excluded", lambda _: lambda self, request: ()),
        or_refused(sums_of("counts by keys of two sizes", "change a row")),
    ),
    "above read as at least": Mutant(
        "A code is taken out of what a comparison with a column on its right keeps.",
        replaced(regions, "_above", lambda real: lambda op, value: real("<" if op == "<=" else op, value)),
        nothing_said(Cmp("<=", Lit(1), derived.X), Cmp("==", derived.X, Lit(1))),
    ),
    "the codes beside a set without their first": Mutant(
        "What a not keeps is read as one code less.",
        replaced(regions.Regions, "_others", a_complement(1)),
        no_row_in_two,
    ),
    "the codes beside a set with its last": Mutant(
        "What a not keeps is read as one code more: nothing is proved apart from its opposite.",
        replaced(regions.Regions, "_others", a_complement(-1)),
        told_apart(derived.LOW, Not(derived.LOW)),
    ),
    "two columns read as one": Mutant(
        "An or of two columns is read as if it were of the first.",
        replaced(regions, "_joined", of_any_column),
        nothing_said(Or(derived.THIRDS[0], Cmp("==", derived.G, Lit(0))), derived.THIRDS[1]),
    ),
    "some code is not in both": Mutant(
        "Two filters are apart where one keeps a code that the other does not.",
        replaced(
            derivation.sums,
            "apart",
            lambda _: (
                lambda one, other: any(codes != other[name] for name, codes in one.items() if name in other)
            ),
        ),
        sums_of("filters that overlap", "add a row"),
    ),
    "apart in every column": Mutant(
        "Two filters that one column tells apart are not, since another does not.",
        replaced(test_regions, "apart", lambda _: in_every_column),
        told_apart(
            And(derived.THIRDS[0], Cmp("==", derived.G, Lit(1))),
            And(Cmp("==", derived.G, Lit(0)), derived.THIRDS[0]),
        ),
    ),
    "codes beyond the declared ones": Mutant(
        "A comparison with a code that nobody can have is said to keep somebody.",
        replaced(regions.Regions, "_held", lambda _: lambda self, name, codes: (codes,)),
        told_apart(Cmp("==", derived.C, Lit(7)), Cmp("==", derived.C, Lit(7))),
    ),
    "any condition read as the first": Mutant(
        "What was read of one condition is taken for all.",
        replaced(regions.Regions, "__call__", read_once),
        no_row_in_two,
    ),
    "conditions of a filter joined by or": Mutant(
        "Of two conditions on one column a row need only meet one.",
        replaced(regions.Regions, "of", widest_region),
        told_apart(
            And(Cmp("<", derived.X, Lit(2)), Cmp("<", Lit(0), derived.X)), Cmp("==", derived.X, Lit(0))
        ),
    ),
    "two numbers entering, half of the bound": Mutant(
        "A person who comes is said to move half of what the moments of two numbers can.",
        half_of(products.L1, sums.ENTER),
        sums_of("two numbers", "add a row"),
    ),
    "two numbers changing, a quarter of the bound": Mutant(
        "A change inside of a cell is derived from entering the half of it.",
        quarter_of(products.L2, sums.WITHIN),
        sums_of("two numbers", "change a row"),
    ),
    "the count of two numbers free": Mutant(
        "A count beside the moments of two numbers costs nothing.",
        lambda monkeypatch: monkeypatch.setitem(products.COUNTED, sums.ENTER, 0),
        the_count_of_two_numbers_is_paid,
    ),
    "what is beside two numbers free": Mutant(
        "Other sums of the rows of two numbers cost nothing.",
        replaced(products, "_joint", lambda real: lambda *args: replace(real(*args), others=())),
        what_is_beside_two_numbers_is_paid,
    ),
    "what is beside two numbers entering where it changes": Mutant(
        "Of a row that changes, sums beside the moments of two numbers move as of one that comes.",
        replaced(products.Joint, "event", entering_beside),
        what_is_beside_two_numbers_is_paid,
    ),
}
