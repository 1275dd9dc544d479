"""What a budget means for one person, how it stands, and to whom answers left under it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dpnb.cards.markup import clean
from dpnb.owner.command_output import Output
from dpnb.risk.odds import odds_sentence, posterior_table
from dpnb.trusted.canonical import Record
from dpnb.trusted.curator.terms import Terms
from dpnb.trusted.owner.owner_acts import acting
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.schema import Schema
from dpnb.trusted.wire.places import Home

_PRIOR = "0.1"


def budget_sheet(name: str, schema: Schema | None, now: Standing | None) -> Output:
    """Return the sheet of a dataset's budget: as it is declared, and as it stands in the ledger.

    Parameters
    ----------
    name : str
    schema : Schema or None
        What a declaration says, where one was named.
    now : Standing or None
        What the ledger says, where it knows the dataset.
    """
    lines: list[str] = []
    facts: Record = {"dataset": name}
    declared = None if schema is None else schema.budget
    budget = declared if now is None else now.terms.budget
    if budget is not None:
        lines += [f"{clean(name)}: {budget.label}.", *_meaning(budget)]
        facts["budget"] = budget.to_json()
    if now is not None:
        lines += ["", *_standing(now)]
        facts |= _facts(now)
    if declared is not None and now is not None and declared != now.terms.budget:
        more = 'dpnb loosen people.dpnb.toml --reason "…"'
        lines += [
            "",
            f"The declaration says {declared.label}. A smaller one applies from the next opening; record a larger one with",
            more,
        ]
        facts["declared"] = declared.to_json()
    return Output("\n".join(lines), facts)


def _meaning(budget: Budget) -> Iterator[str]:
    if budget.measure is not Measure.PURE:
        yield "What that means for one person: dpnb.widgets.odds in a notebook."
        return
    yield f"If all of it is spent: {odds_sentence(_PRIOR, budget.cap.amount)}"
    yield ""
    yield "The most that a belief about one person can become, by what it was before:"
    yield str(posterior_table())


def _standing(now: Standing) -> Iterator[str]:
    yield f"In the ledger it is {now.state}; {now.spent} was spent of {now.terms.pool}."
    for who, spent in now.promised.items():
        yield f"    {clean(who)}: {spent}"
    if not now.promised:
        yield "Nobody was answered yet: bounds, levels and budget may still be corrected."


def _facts(now: Standing) -> Record:
    return {
        "state": now.state,
        "pool": now.terms.pool,
        "spent": now.spent.to_json(),
        "promised": {who: spent.to_json() for who, spent in now.promised.items()},
    }


@dataclass(frozen=True, slots=True)
class Standing:
    """How a dataset stands in the ledger.

    Parameters
    ----------
    terms : Terms
        As they are pinned.
    state : str
        ``"open"``, ``"frozen"`` or ``"closed"``.
    spent : PrivacyLoss
        What its pool has spent.
    promised : mapping of str to PrivacyLoss
        What each principal was charged: to whom answers left under these terms.
    """

    terms: Terms
    state: str
    spent: PrivacyLoss
    promised: Mapping[str, PrivacyLoss]


def standing(home: Home, dataset: str) -> Standing | None:
    """Tell how a dataset stands, or None where the ledger does not know it yet."""
    if not home.ledger.exists():
        return None
    with acting(home) as ledger:
        terms = ledger.pins(dataset)
        if terms is None:
            return None
        names = sorted({row.principal for row in ledger.statement(dataset) if row.loss and row.principal})
        promised = {name: ledger.spent(terms.pool, name) for name in names}
        return Standing(terms, ledger.state(dataset), ledger.spent(terms.pool), promised)
