"""Wrong books: conversions that under-charge, sums that drift, a store that serves what was not bought, ids bound to nothing, holds that hold nothing."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpnb.inference import largest_epsilon
from dpnb.planner import expression
from dpnb.trusted.canonical import canonical
from dpnb.trusted.curator import admission, answer_store, database, holds, known_content, meters, pins, totals
from dpnb.trusted.curator import ledger as ledger_module
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.trusted.owner import act_entries
from dpnb.trusted.privacy import accountant, conversion, event, loss
from dpnb.trusted.privacy.conversion import laplace_rho
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from tests.curator import test_grouped_calls as on_together
from tests.curator import test_ledger as on_ledger
from tests.curator import test_shares as on_shares
from tests.mutants.table import Mutant, Patch, replaced
from tests.owner import test_holds as on_holds
from tests.planner import test_question as on_question
from tests.privacy.test_conversion import divergence


def on(test: Callable[..., None], *more: Any) -> Callable[[Any], None]:
    """Run a ledger's test on a new ledger."""

    def check(folder: Any) -> None:
        with Ledger(folder / "ledger.sqlite3") as ledger:
            test(ledger, *more)

    return check


def laplace_costs_its_rho(_: Any) -> None:
    """The Rényi divergence of discrete Laplace neighbours is at most αρ at every order, ρ being what a ρ budget is charged."""
    for epsilon in (Fraction(1, 2), Fraction(2), Fraction(6)):
        noise = DiscreteLaplace.calibrate(1, epsilon)
        either = PrivacyEvent("pure", epsilon), PrivacyEvent.laplace([[(Fraction(1), noise.scale)]])
        charged = min(float(event.loss(Measure.ZCDP).amount) for event in either)
        scale = float(noise.scale)
        outputs = np.arange(-400, 401)
        one, two = -np.abs(outputs) / scale, -np.abs(outputs - 1) / scale
        norm = np.logaddexp.reduce(one)
        for order in (1.001, 2.0, 8.0):
            divergence = (np.logaddexp.reduce(order * one + (1 - order) * two) - norm) / (order - 1)
            assert divergence <= order * charged + 1e-9


def by_the_total_before(_: Any) -> Any:
    """Read the totals once for a whole group."""

    def in_one(self: Any, acts: Any) -> list[Any]:
        known: dict[Any, Any] = {}
        with self.writing() as connection, pytest.MonkeyPatch.context() as patch:
            real = ledger_module._spent
            patch.setattr(
                ledger_module,
                "_spent",
                lambda db, pool, who, *rest: known.setdefault((pool, who), real(db, pool, who, *rest)),
            )
            return [database._tried(connection, act) for act, _ in acts]

    return in_one


def kept_half_done(_: Any) -> Any:
    """Roll nothing back."""

    def tried(connection: Any, act: Any) -> Any:
        try:
            return act(connection)
        except Exception:  # noqa: BLE001 - as what it stands for
            return database.BY_ITSELF

    return tried


def float_sum(_: Any) -> Any:
    """Add amounts as floats."""
    return lambda one, two: PrivacyLoss(
        one.measure, Fraction(float(one.amount) + float(two.amount)), one.delta + two.delta
    )


def address_without(part: str) -> Patch:
    """Leave a part out of the store's key."""

    def address(scope: Any, key: str) -> str:
        names = ("principal", "data_version", "schema_version", "mechanism_version")
        kept = [scope[name] for name in names if name != part]
        return hashlib.sha256(canonical([*kept, key]).encode()).hexdigest()

    return replaced(answer_store, "address", lambda _: address)


def bound_without(*names: str) -> Patch:
    """Leave something out of what a request id is bound to."""

    def make(real: Any) -> Any:
        return lambda db, request, bound: real(
            db, request, {name: value for name, value in bound.items() if name not in names}
        )

    return replaced(totals, "charged", make)


def nobody_spent_yet(_: Any) -> Any:
    """Read every total of a group as nothing."""
    return lambda _db, _pool, names, _period, measure: dict.fromkeys(names, PrivacyLoss.zero(measure))


def each_request_alone(_: Any) -> Any:
    """Compare each request with the cap, and forget what was spent before."""
    return lambda cap, spent, asked: asked.fits_in(cap)


def last_writer_wins(real: Any) -> Any:
    """Keep the answers of the retry."""

    def store(ledger: Any, request_id: str, principal: str, answers: Any, *, time: Any = None) -> Any:
        real(ledger, request_id, principal, answers, time=time)
        return list(answers)

    return store


def nobody_is_asked(real: Any) -> Any:
    """Serve stored answers to every principal."""
    return lambda ledger, principal, *rest, **more: real(ledger, "ann", *rest, **more)


def forgiving(_: Any) -> Any:
    """Let the owner's file loosen a promise in silence."""
    return lambda *_: None


def read_in_binary(real: Any) -> Any:
    """Read a float as the binary fraction that it is."""
    return lambda value, *, name="epsilon": (
        Fraction(value) if isinstance(value, float) else real(value, name=name)
    )


def decimals_are_read(_: Any) -> None:
    """0.1 is a tenth."""
    assert loss.rational(0.1) * 10 == 1


def converted_upwards(_: Any) -> None:
    """An ε that is shown for ρ and δ is not below the least of the conversion over its orders, and hardly above it."""
    a = np.linspace(1.001, 60, 200_000)
    least = np.min(0.5 * a + np.log1p(-1 / a) - np.log(a * 1e-6) / (a - 1))
    assert least - 1e-9 <= float(accountant.epsilon_of("0.5", "1e-6")) <= least + 1e-4


def untyped(_: Any) -> Any:
    """Write constants without their types."""
    return lambda value: ["const", str(value)]


def two_parts_cost_both(_: Any) -> None:
    """Two independent entries that move together cost the sum of their divergences."""
    parts = [(Fraction(1), Fraction(1)), (Fraction(1), Fraction(2))]
    charged = float(PrivacyEvent.laplace([parts]).loss(Measure.ZCDP).amount)
    assert sum(divergence(1, float(scale), 1.001) / 1.001 for _, scale in parts) <= charged


def solved_within(_: Any) -> None:
    """An ε solved from ρ costs at most that ρ."""
    for rho in (Fraction(1, 2), Fraction(1, 100), Fraction(3)):
        assert conversion.pure_rho(largest_epsilon.pure_epsilon.__wrapped__(rho)) <= rho


def fine_everywhere(_: Any) -> Any:
    """Charge every grid as if it were fine."""
    return lambda shift, scale: Fraction(math.expm1(-shift / scale) + float(shift / scale))


MUTANTS = {
    "nine tenths of a one-step grid's ρ": Mutant(
        "Discrete Laplace noise on a count is charged less than its law costs.",
        replaced(event, "laplace_rho", lambda real: lambda *part: real(*part) * Fraction(9, 10)),
        laplace_costs_its_rho,
    ),
    "every grid charged as a fine one": Mutant(
        "ε - 1 + e^-ε is the continuous law's; a count costs a quarter more.",
        replaced(event, "laplace_rho", fine_everywhere),
        laplace_costs_its_rho,
    ),
    "tanh of a quarter": Mutant(
        "ε·tanh(ε/4) is charged for a pure mechanism: half of what randomised response costs.",
        replaced(event, "pure_rho", lambda real: lambda e: real(e / 2) * 2),
        laplace_costs_its_rho,
    ),
    "the larger of two parts": Mutant(
        "A count beside a sum is thought to cost nothing under add-remove too.",
        replaced(
            PrivacyEvent,
            "_rho",
            lambda _: lambda e: max(laplace_rho(*part) for move in e.moves for part in move),
        ),
        two_parts_cost_both,
    ),
    "an ε solved in floating point": Mutant(
        "The ε that a ρ buys is rounded up, and costs more than that ρ.",
        replaced(largest_epsilon, "_settled", lambda _: lambda place, fits: place + 1),
        solved_within,
    ),
    "epsilon squared / 8 for pure events": Mutant(
        "Bounded range claimed for Laplace noise: a fourth of its ρ.",
        replaced(
            PrivacyEvent, "_rho", lambda _: lambda e: e.amount if e.kind == "gaussian" else e.amount**2 / 8
        ),
        laplace_costs_its_rho,
    ),
    "floats in the ledger's sums": Mutant(
        "Ten tenths are not one.",
        replaced(PrivacyLoss, "__add__", float_sum),
        on(on_ledger.test_ten_charges_of_a_tenth_fit_a_budget_of_one_and_the_next_unit_does_not),
    ),
    "epsilon read in binary": Mutant(
        "0.1 is a little more than a tenth.", replaced(loss, "rational", read_in_binary), decimals_are_read
    ),
    "a conversion that rounds down": Mutant(
        "The ε shown for ρ is a thousandth too small.",
        replaced(accountant, "epsilon_of", lambda real: lambda r, d: real(r, d) * Fraction(999, 1000)),
        converted_upwards,
    ),
    "the cap holds each request alone": Mutant(
        "What was spent before is forgotten.",
        replaced(admission, "admits", each_request_alone),
        on(on_ledger.test_ten_charges_of_a_tenth_fit_a_budget_of_one_and_the_next_unit_does_not),
    ),
    "a group's cap on each member alone": Mutant(
        "Eight students spend eight times what the class may.",
        replaced(totals, "shares", nobody_spent_yet),
        on(on_shares.test_a_cap_of_a_group_holds_for_its_members_together_and_for_nobody_else),
    ),
    "a group of charges admitted by the total before it": Mutant(
        "Charges that share a transaction do not see one another: together they pass every cap.",
        replaced(database.Database, "_written_in_one", by_the_total_before),
        on(on_together.test_charges_that_wait_are_one_transaction),
    ),
    "a failed act that stays in its group": Mutant(
        "What was half done when a request failed is kept with the others' charges.",
        replaced(database, "_tried", kept_half_done),
        on(on_together.test_an_act_that_fails_leaves_no_trace_among_the_others),
    ),
    "a request id bound without the digest": Mutant(
        "Another plan is answered under a paid id.",
        bound_without("digest"),
        on(on_ledger.test_a_request_id_is_bound_to_its_principal_and_plan, {"digest": "another plan"}),
    ),
    "a request id bound without the principal": Mutant(
        "Somebody else is answered under a paid id.",
        bound_without("principal"),
        on(on_ledger.test_a_request_id_is_bound_to_its_principal_and_plan, {"principal": "bob"}),
    ),
    "the last writer of an answer wins": Mutant(
        "Two retries see two draws for one charge.",
        replaced(Ledger, "store", last_writer_wins),
        on(on_ledger.test_the_first_writer_of_an_answer_wins_and_every_later_one_reads_it),
    ),
    "stored answers for everybody": Mutant(
        "Bob is given what Ann bought.",
        replaced(Ledger, "best_stored", nobody_is_asked),
        on(on_ledger.test_answers_belong_to_their_principal),
    ),
    "loosening in silence": Mutant(
        "Wider bounds and a larger budget are taken from the file at the next attach.",
        replaced(pins, "refuse_looser", forgiving),
        on(
            on_ledger.test_loosening_is_refused_at_attach_and_names_both_values,
            {"budget": on_ledger.Budget.from_toml({"epsilon": 5})},
        ),
    ),
    "a second budget for known rows": Mutant(
        "Protected rows are opened anew under another name.",
        replaced(known_content, "refusal", lambda _: lambda *_: None),
        on(on_ledger.test_known_rows_get_no_second_budget_and_the_attempt_is_recorded_without_a_pin),
    ),
    "wrong sizes without end": Mutant(
        "A public size is searched for by declaring one after the other.",
        replaced(known_content, "frozen", lambda _: lambda *_: False),
        on(on_ledger.test_five_wrong_sizes_freeze_the_data_under_every_name_until_the_owners_word),
    ),
    "a new meter at the old total": Mutant(
        "What was spent under add-remove counts once under change-one.",
        replaced(meters, "doubled", lambda _: lambda loss: loss),
        on(
            on_ledger.test_add_remove_becomes_change_one_at_the_old_total_doubled,
            *({"epsilon": 4}, PrivacyEvent("pure", Fraction(1, 2)), PrivacyLoss.pure(2), PrivacyLoss.pure(1)),
        ),
    ),
    "a name that teaches again": Mutant(
        "Who changes one row of a protected dataset opens it as TEACHING.",
        replaced(known_content, "_pinned_as_protected", lambda _: lambda *_: False),
        on(on_ledger.test_nothing_at_a_protected_name_or_place_opens_as_teaching),
    ),
    "untyped constants in the store's key": Mutant(
        '1, True and "1" share one stored answer.',
        replaced(expression, "encode_value", untyped),
        lambda _: on_question.test_constants_are_typed(),
    ),
    **{
        f"store key without {part.replace('_', ' ')}": Mutant(
            "An answer about another state of the world is served.",
            address_without(part),
            on(on_ledger.test_a_stored_answer_serves_only_its_exact_key, place),
        )
        for place, part in enumerate(("principal", "data_version", "schema_version", "mechanism_version"))
    },
    "a hold that holds nothing": Mutant(
        "A closed dataset is charged and answered.",
        replaced(holds, "refuse", lambda _: lambda *_: None),
        on(on_holds.test_a_hold_stops_a_charge_and_unfreezing_lets_it),
    ),
    "only a freezing is a hold": Mutant(
        "What was closed is asked on.",
        replaced(
            holds, "refuse", lambda real: lambda db, name: holds.state(db, name) == "closed" or real(db, name)
        ),
        on(on_holds.test_a_hold_stops_a_charge_and_unfreezing_lets_it),
    ),
    "a hold on one name": Mutant(
        "The same rows are asked on under another name in their pool.",
        replaced(act_entries, "_names", lambda _: lambda _db, dataset: {dataset}),
        on(on_holds.test_a_hold_is_on_every_name_of_the_same_rows),
    ),
    "closed rows under a new name": Mutant(
        "Closed rows are attached again, and asked.",
        replaced(holds, "refuse_closed_rows", lambda _: lambda *_: None),
        on(on_holds.test_closed_rows_get_no_further_name_whatever_is_recorded),
    ),
    "acts that are read once": Mutant(
        "A charge goes on from what the acts said at the first one.",
        replaced(ledger_module, "LAST_ACT", lambda _: "SELECT 1"),
        lambda folder: on_holds.test_the_next_charge_knows_every_act(
            folder, lambda ledger: on_holds.held(ledger, "freeze", "people"), on_holds.HeldError, False
        ),
    ),
    "a grant that is not looked at": Mutant(
        "An owner's cap below the budget admits everything.",
        replaced(admission, "granted", lambda _: lambda *_: []),
        on(on_holds.test_a_grant_only_tightens),
    ),
}
