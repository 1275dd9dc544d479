"""The acts on one dataset: add it, look at its declaration and budget, cap it, freeze it, open it again, close it."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpnb.cards.attach import schema_card
from dpnb.errors import OwnerError
from dpnb.owner.budget_sheet import budget_sheet
from dpnb.owner.command_output import Output, confirmed
from dpnb.owner.ledger_acts import Acts, home_of, with_home, with_json, with_reason, with_yes
from dpnb.trusted.canonical import Record
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.owner import declaration_of, load

_WHICH = "its name in the ledger, or people.dpnb.toml"


def named(text: str) -> tuple[str, Schema | None]:
    """Return a dataset's name in the ledger, and its declaration where a file was named."""
    if text.endswith(".toml"):
        schema = load(Path(text)).schema
        return schema.name, schema
    return text, None


def add_add(acts: Acts) -> None:
    """Add ``add``."""
    add = acts.add_parser(
        "add",
        help="add a declared dataset to the ledger, before anybody opens it",
        description="Reads the declaration and the file as an opening does, pins mode and pool, and tells you what is wrong. "
        "Draft the declaration first: dpnb init people.csv; then look: dpnb check people.dpnb.toml.",
        epilog="example: dpnb admin add people.dpnb.toml",
    )
    add.add_argument("source", type=Path, help="people.dpnb.toml")
    with_home(add)
    add.set_defaults(run=_add)


def _add(options: argparse.Namespace) -> Output:
    if options.source.suffix != ".toml" and not declaration_of(options.source).exists():
        raise OwnerError(f"{options.source} has no declaration yet: dpnb init {options.source}")
    from dpnb.trusted.owner.loosened_terms import add

    serves = options.config is not None
    name, made = add(home_of(options), options.source, mode="enforced" if serves else None, serves=serves)
    where = f'[datasets.{name}]\nschema = "{options.source}"' if serves else f'dpnb.open("{options.source}")'
    said = "Added" if made.first else "Known already"
    facts = {"dataset": name, "pool": made.pool, "budget": made.budget.to_json(), "entry": made.entry}
    return Output(f"{said}: {name}, {made.budget.label}, entry {made.entry}.\n{where}", facts)


def add_schema(acts: Acts) -> None:
    """Add ``schema``."""
    schema = acts.add_parser(
        "schema",
        help="read a declaration, and show it as analysts will see it",
        description="Shows unit, bounds, values and budget as on the card of the dataset. No row is read, and nothing is recorded.",
        epilog="example: dpnb admin schema people.dpnb.toml",
    )
    schema.add_argument("source", type=Path, help="people.dpnb.toml; no row is read")
    with_json(schema)
    schema.set_defaults(run=_schema)


def _schema(options: argparse.Namespace) -> Output:
    schema = load(options.source).schema
    return Output(str(schema_card(schema)), schema.to_json())


def add_budget(acts: Acts) -> None:
    """Add ``budget``."""
    budget = acts.add_parser(
        "budget",
        help="show what a budget means for one person, and how much is spent",
        description="The declaration sets the budget. To raise it later, record why: dpnb loosen.",
        epilog="example: dpnb admin budget people.dpnb.toml",
    )
    budget.add_argument("dataset", help=_WHICH)
    with_home(budget)
    budget.set_defaults(run=_budget)


def _budget(options: argparse.Namespace) -> Output:
    from dpnb.owner.budget_sheet import standing

    name, schema = named(options.dataset)
    now = standing(home_of(options), name)
    if now is None and schema is None:
        raise OwnerError(f"The ledger knows no dataset {name!r}: name its declaration, people.dpnb.toml.")
    return budget_sheet(name, schema, now)


def add_cap(acts: Acts) -> None:
    """Add ``cap``."""
    cap = acts.add_parser(
        "cap",
        help="cap what everybody together may spend, below the budget",
        description="Keeps a reserve. The cap holds from the next charge on, and can be raised again up to the budget. The curator.toml of "
        "a service sets what each analyst or group may spend (each, groups).",
        epilog='example: dpnb admin cap people --epsilon 3 --reason "a reserve for next year"',
    )
    _add_loss(cap)
    cap.set_defaults(run=_grant, principal="")


def add_grant(acts: Acts) -> None:
    """Add ``grant``."""
    grant = acts.add_parser(
        "grant",
        help="set what one analyst may spend",
        description="Sets a cap on one principal, in addition to all others: every cap must allow a charge.",
        epilog='example: dpnb admin grant people --principal ada --epsilon 0.5 --reason "a pilot"',
    )
    grant.add_argument("--principal", required=True, help="the analyst, by their name in the ledger")
    _add_loss(grant)
    grant.set_defaults(run=_grant)


def _add_loss(act: argparse.ArgumentParser) -> None:
    act.add_argument("dataset", help=_WHICH)
    amount = act.add_mutually_exclusive_group(required=True)
    amount.add_argument("--epsilon", help="in a budget of ε")
    amount.add_argument("--rho", help="in a budget of ρ")
    amount.add_argument("--lift", action="store_true", help="remove the cap")
    with_reason(act)
    with_home(act)


def _grant(options: argparse.Namespace) -> Output:
    from dpnb.trusted.owner.owner_acts import grant

    given = {name: value for name in ("epsilon", "rho") if (value := getattr(options, name)) is not None}
    dataset = named(options.dataset)[0]
    entry = grant(home_of(options), dataset, options.principal, given or None, options.reason)
    who = options.principal or "everybody together"
    amount = ", ".join(f"{'ε' if name == 'epsilon' else 'ρ'} {value}" for name, value in given.items())
    text = f"Entry {entry}: {who} may spend {amount or 'what the other caps leave'} of {dataset}."
    return Output(text, {"dataset": dataset, "principal": options.principal, "cap": given, "entry": entry})


def add_freeze(acts: Acts) -> None:
    """Add ``freeze``."""
    _add_hold(acts, "freeze", "release nothing new from a dataset until you open it again")


def add_unfreeze(acts: Acts) -> None:
    """Add ``unfreeze``."""
    _add_hold(acts, "unfreeze", "open a frozen dataset again")


def add_close(acts: Acts) -> None:
    """Add ``close``."""
    _add_hold(
        acts, "close", "close a dataset for ever: what was published stays, and nothing new is released"
    )


_ASKED = {
    "unfreeze": "This allows new releases from {} again.",
    "close": "This closes {} for ever; nothing opens it again.",
}
_HELD = {
    "freeze": "{} is frozen: nothing new is released, and stored answers stay.",
    "unfreeze": "{} is open again: new releases are allowed.",
    "close": "{} is closed for ever: nothing new is released, and what was published stays.",
}


def _add_hold(acts: Acts, kind: str, words: str) -> None:
    act = acts.add_parser(
        kind,
        help=words,
        description=words[0].upper()
        + words[1:]
        + ". It holds for every name of the same rows, from the next charge on.",
        epilog=f'example: dpnb admin {kind} people --reason "…"',
    )
    act.add_argument("dataset", help=_WHICH)
    with_reason(act)
    with_home(act)
    if kind in _ASKED:
        with_yes(act)
    act.set_defaults(run=lambda options: _hold(options, kind))


def _hold(options: argparse.Namespace, kind: str) -> Output:
    from dpnb.trusted.owner.owner_acts import hold

    dataset = named(options.dataset)[0]
    if kind in _ASKED:
        confirmed(_ASKED[kind].format(dataset), yes=options.yes)
    entry = hold(home_of(options), kind, dataset, options.reason)
    facts: Record = {"dataset": dataset, "act": kind, "entry": entry}
    return Output(f"Entry {entry}: {_HELD[kind].format(dataset)}", facts)
