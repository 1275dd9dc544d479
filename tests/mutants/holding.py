"""Wrong holds: what an owner froze or closed is asked all the same, under its name or another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpnb.trusted.curator import admission, holds
from dpnb.trusted.curator import ledger as ledger_module
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.owner import act_entries
from tests.mutants.table import Mutant, replaced
from tests.owner import test_holds as on_holds


def on(test: Callable[[Ledger], None]) -> Callable[[Any], None]:
    """Run a test of holds on a new ledger."""

    def check(folder: Any) -> None:
        with Ledger(folder / "ledger.sqlite3") as ledger:
            test(ledger)

    return check


MUTANTS = {
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
