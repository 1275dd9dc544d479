"""The acts of publishing: release picked statistics after a look at their accuracy, and write what stands without a curator."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpnb.client import api, opening
from dpnb.errors import OwnerError
from dpnb.estimate import Estimate
from dpnb.owner.command_output import Output, confirmed
from dpnb.owner.ledger_acts import Acts, home_of, with_home, with_json, with_reason, with_yes
from dpnb.owner.publication import files_of, new_folder, record_of
from dpnb.owner.statistics_file import questions_of, read_statistics
from dpnb.planner.request import Ask
from dpnb.synthetic.tables import PairTables
from dpnb.trusted.canonical import Record
from dpnb.trusted.releases.signature import public_key
from dpnb.trusted.wire.places import Home


def _add_source(act: argparse.ArgumentParser) -> None:
    act.add_argument(
        "source",
        help="people.dpnb.toml; or a dataset of a service, https://host/dpnb/people, asked as the user whom DPNB_TOKEN names",
    )
    act.add_argument(
        "--statistics",
        type=Path,
        required=True,
        help='a file with [statistics] and a line such as mean_age = "people.age.mean()" for each',
    )
    amount = act.add_mutually_exclusive_group(required=True)
    amount.add_argument("--epsilon", help="the loss of all of them together")
    amount.add_argument("--rho", help="the same, in a budget of ρ")
    act.add_argument(
        "--assume-n",
        type=int,
        help="people to plan with where their number is private, as synthetic rows need",
    )


@contextmanager
def _asked(
    options: argparse.Namespace,
) -> Iterator[tuple[Any, dict[str, Estimate], dict[str, Any], dict[str, Any]]]:
    """Open the dataset as its owner, and read the statistics: handle, questions, synthetic rows made of some, and what is asked with them."""
    dataset = opening.open(options.source if _served(options) else Path(options.source), quiet=True)
    try:
        asked: Record = {
            name: value
            for name in ("epsilon", "rho", "assume_n")
            if (value := getattr(options, name)) is not None
        }
        picked = read_statistics(options.statistics, dataset)
        synthetic = {name: one for name, one in picked.items() if isinstance(one, PairTables)}
        yield dataset, questions_of(picked), synthetic, asked
    finally:
        api.close()


def _served(options: argparse.Namespace) -> bool:
    """Whether the dataset is asked of a service, by its address."""
    return "://" in options.source


def add_release(acts: Acts) -> None:
    """Add ``release``."""
    release = acts.add_parser(
        "release",
        help="show how accurate selected statistics will be, then release them",
        description="Shows, from public facts alone, what the statistics cost and how accurate each will be, asks once, and releases them. "
        "A second run is free and changes nothing. With --plan it only shows.",
        epilog="example: dpnb admin release people.dpnb.toml --statistics picked.toml --epsilon 1 --plan",
    )
    _add_source(release)
    release.add_argument("--plan", action="store_true", help="show the plan, spend nothing")
    with_json(release)
    with_yes(release)
    release.set_defaults(run=_release)


def _release(options: argparse.Namespace) -> Output:
    with _asked(options) as (dataset, questions, _, asked):
        plan = api.plan(questions, **asked)
        facts = {"dataset": dataset.name, "cost": plan.cost.to_json(), "statistics": list(questions)}
        if options.plan:
            return Output(str(plan), facts)
        if plan.cost:
            confirmed(f"{plan}\n\nThis spends {plan.cost} of {dataset.name}, for good.", yes=options.yes)
        report = api.release(questions, **asked)
        facts |= {"charged": report.charged.to_json(), "left": report.left.to_json()}
        return Output(str(report), facts)


def add_publish(acts: Acts) -> None:
    """Add ``publish``."""
    publish = acts.add_parser(
        "publish",
        help="write released statistics as a signed file, a page, tables and a registry entry",
        description="Use the statistics and the loss of the release: nothing is spent. The signed file opens anywhere with "
        'dpnb.open("people.releases.json"), and everybody who asks the same questions here gets these answers, free.',
        epilog='example: dpnb admin publish people.dpnb.toml --statistics picked.toml --epsilon 1 --to published --reason "…"',
    )
    _add_source(publish)
    publish.add_argument("--to", type=Path, required=True, help="a new folder")
    with_reason(publish)
    with_home(publish)
    with_yes(publish)
    publish.set_defaults(run=_publish)


def _publish(options: argparse.Namespace) -> Output:
    from dpnb.owner import signed_records
    from dpnb.owner.budget_sheet import standing
    from dpnb.synthetic.files import SIDECAR, contents, digest
    from dpnb.trusted.owner import owner_acts

    home = _home_of_answers(options)
    with _asked(options) as (dataset, questions, synthetic, asked):
        if cost := api.plan(questions, **asked).cost:
            raise OwnerError(
                f"These statistics were not all released with this loss: {cost} more would be spent. First: dpnb admin release."
            )
        # only what this loss gave: other answers that the store holds were not picked
        dataset.session.release(questions.values(), Ask.make(**asked), alone=True)
        name, schema = dataset.name, dataset.schema
        folders = {folder: contents(one, "csv") for folder, one in synthetic.items()}
    now = standing(home, name)
    draws = {part.draw for one in questions.values() for part in _parts(one)}
    found = signed_records.receipts(home, name, draws)
    record = record_of(questions, schema, found, "open" if now is None else now.state)
    record["synthetic"] = {folder: digest(inside[SIDECAR]) for folder, inside in folders.items()}
    signed = signed_records.signed_publication(home, record)
    files = files_of(signed, questions, schema)
    confirmed(f"This gives {len(questions)} answers of {name} to everybody, for good.", yes=options.yes)
    new_folder(options.to)
    signed_digest = digest(next(iter(files.values())).encode())
    entry = owner_acts.publish(
        home, name, signed_digest, draws, options.reason
    )  # first: no file is out that no entry names
    for file, text in files.items():
        (options.to / file).write_text(text, encoding="utf-8", newline="")
    for folder, inside in folders.items():
        (options.to / folder).mkdir()
        for file, content in inside.items():
            (options.to / folder / file).write_bytes(content)
    shown = [*files, *(f"{folder}/{SIDECAR}" for folder in folders)]
    listed = "\n".join(f"    {options.to / file}" for file in shown)
    return Output(
        f"Published {len(questions)} statistics of {name}, entry {entry}:\n{listed}",
        {"dataset": name, "entry": entry, "sha256": signed_digest, "files": shown},
    )


def _home_of_answers(options: argparse.Namespace) -> Home:
    """Return the home whose ledger vouches for the answers: a service's own, where a service gave them."""
    if _served(options) and options.config is None:
        raise OwnerError(
            "What a service released is published on its machine, by its owner: add --config curator.toml."
        )
    if options.config is not None and not _served(options):
        raise OwnerError(
            "With --config, name what the service holds by its address: https://host/dpnb/people."
        )
    return home_of(options)


def _parts(estimate: Estimate) -> Iterator[Any]:
    for release in estimate.releases:
        yield from release.parts


def add_receipt(acts: Acts) -> None:
    """Add ``receipt``."""
    receipt = acts.add_parser(
        "receipt",
        help="write the signed receipt of a charge, with what was released under it",
        description="Anybody can verify it with only the public key: dpnb verify receipt.json --key people.pub",
        epilog="example: dpnb admin receipt 7 --to receipt.json",
    )
    receipt.add_argument("entry", type=int, help="the charge's number in the ledger")
    receipt.add_argument("--to", type=Path, required=True, help="a new file")
    with_home(receipt)
    receipt.set_defaults(run=_receipt)


def _receipt(options: argparse.Namespace) -> Output:
    from dpnb.owner.signed_records import receipt_file
    from dpnb.trusted.curator.receipts import signing_key

    home = home_of(options)
    record = receipt_file(home, options.entry)
    key = options.to.with_suffix(".pub")
    _write_new(options.to, json.dumps(record, ensure_ascii=False, indent=1) + "\n")
    if not key.exists():
        _write_new(key, public_key(signing_key(home)))
    return Output(f"Wrote {options.to}: dpnb verify {options.to} --key {key}", record["receipt"])


def _write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as fault:
        raise OwnerError(f"{path} cannot be written: {fault.strerror}. Name a new file with --to.") from None
