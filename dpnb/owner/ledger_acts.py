"""The acts that look after a ledger: check a file, loosen terms, verify, back up, restore. Each has a short name beside ``dpnb admin …``."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from dpnb.cards.markup import clean
from dpnb.errors import OwnerError
from dpnb.owner.check_sheet import check_sheet
from dpnb.owner.command_output import Output, confirmed, for_owner_alone, refuse_notebook
from dpnb.trusted.canonical import Record
from dpnb.trusted.files.named_file import format_of, read_toml
from dpnb.trusted.schema.owner import beside, declaration_of, load
from dpnb.trusted.wire.places import Home

if TYPE_CHECKING:
    from dpnb.owner.inspection import Inspected
    from dpnb.owner.unread_cells import Remedy

Acts: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 - it has no public name


def home_of(options: argparse.Namespace) -> Home:
    """Return the home that an act is of: a service's, where its file is named, or the user's own."""
    if getattr(options, "config", None) is None:
        return Home.current()
    from dpnb.trusted.serving.settings import read_settings

    return read_settings(options.config).home


def with_home(act: argparse.ArgumentParser) -> None:
    """Let an act take the file of a service, and print for programs."""
    act.add_argument(
        "--config", type=Path, help="the curator.toml of a service; default: your own home (DPNB_HOME)"
    )
    with_json(act)


def with_json(act: argparse.ArgumentParser) -> None:
    """Let an act print for programs."""
    act.add_argument("--json", action="store_true", help="print the same as JSON")


def with_reason(act: argparse.ArgumentParser) -> None:
    """Let an act say why."""
    act.add_argument("--reason", required=True, help="why; the ledger keeps it, with who and when")


def with_yes(act: argparse.ArgumentParser) -> None:
    """Let a script say yes beforehand."""
    act.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def add_check(acts: Acts) -> None:
    """Add ``check``."""
    check = acts.add_parser(
        "check",
        help="check your file against its declaration: exact counts that only you may see",
        description="Counts exactly how many cells are missing, unreadable or beyond the bounds, and how rows belong to units. This is "
        "NOT PRIVATE: it runs only in the owner's own terminal, never in a notebook, and writes nothing.",
        epilog="example: dpnb check people.dpnb.toml",
    )
    check.add_argument("source", type=Path, help="people.dpnb.toml, or the data file beside it")
    check.add_argument(
        "--fix",
        action="store_true",
        help="write into the declaration how cells are written (format, decimal, thousands, trim), never what they may be",
    )
    check.add_argument("--not-private", action="store_true", help="print into a pipe that only you can read")
    with_json(check)
    check.set_defaults(run=_check)


def _check(options: argparse.Namespace) -> Output:
    refuse_notebook(known=options.not_private)
    from dpnb.owner.inspection import inspected
    from dpnb.owner.unread_cells import nothing_written, told, write_keys

    home = Home.current()
    found = inspected(home, options.source)
    remedies = _remedies(home, options.source, found)
    fixed = {place: one for place, one in remedies.items() if one.fixable} if options.fix else {}
    if not fixed:
        sheet = check_sheet(found, remedies, shown=for_owner_alone(), total=_total(options.source))
        unread = sum(one.unread for _, inspection in found for one in inspection.columns)
        ready = [clean(name) for (_, name), one in remedies.items() if one.fixable]
        named = f"{'this line' if len(ready) == 1 else 'these lines'} for {', '.join(ready)}"
        offer = f"dpnb check {shlex.quote(str(options.source))} --fix writes {named}." if ready else ""
        why = nothing_written(unread, remedies.values()) if options.fix else offer
        return replace(sheet, text=f"{sheet.text}\n{why}") if why else sheet
    declaration = _declaration(options.source)
    write_keys(declaration, {_section(*place): one.keys[0] for place, one in fixed.items()})
    written = [f"Wrote for {name}: {told(one.keys[0])}" for (_, name), one in fixed.items()]
    now = inspected(home, options.source)
    rest = {place: one for place, one in remedies.items() if place not in fixed}
    sheet = check_sheet(now, rest, shown=for_owner_alone(), total=_total(options.source))
    return replace(sheet, text="\n".join([*written, "", sheet.text]), facts={**sheet.facts, "wrote": written})


def _declaration(source: Path) -> Path:
    return source if source.suffix == ".toml" else beside(source)


def _total(source: Path) -> tuple[str, Sequence[str]]:
    """Return how the last line of a file begins, if that is a word for a total and the owner alone sees it, and which words are left out."""
    from dpnb.owner.header_lines import total_below

    owned = load(_declaration(source))
    file = source if source.suffix != ".toml" else owned.source
    skip = owned.dialect.skip
    if file is None or not for_owner_alone() or format_of(file) not in ("csv", "excel"):
        return "", skip
    return total_below(file, owned.table, skip) or "", skip


def _section(table: str, column: str) -> tuple[str, ...]:
    return ("source", table, "columns", column) if table else ("columns", column)


def _remedies(home: Home, source: Path, found: Inspected) -> dict[tuple[str, str], Remedy]:
    """Find what would read the cells that are not read, by table and column, and which cells may be codes."""
    from dpnb.owner.inspection import strange_cells, unread_with
    from dpnb.owner.unread_cells import remedy

    unread = {
        (schema.name if at else "", one.name): one.unread
        for at, (schema, inspection) in enumerate(found)
        for one in inspection.columns
        if one.unread or one.beyond
    }
    if not unread:
        return {}
    declared: Any = read_toml(_declaration(source))
    remedies = {}
    for place, cells in strange_cells(home, source, found).items():
        facts = reduce(lambda section, part: section[part], _section(*place), declared)
        remedies[place] = remedy(place[1], facts, *cells)
    tried = {place: one.columns(place[1]) for place, one in remedies.items() if one.keys}
    counts = unread_with(home, source, tried)
    return {place: one.counted(counts.get(place, ()), unread[place]) for place, one in remedies.items()}


def add_loosen(acts: Acts) -> None:
    """Add ``loosen``."""
    loosen = acts.add_parser(
        "loosen",
        help="record looser terms than the pinned ones, as the owner",
        description="Raises a budget, or loosens another term, to what the declaration says now. It shows who received answers under "
        "the old terms, asks once, and records both values in the ledger.",
        epilog='example: dpnb loosen people.dpnb.toml --reason "the ethics board allows more since May"',
    )
    loosen.add_argument("source", type=Path, help="people.dpnb.toml, or the data file beside it")
    with_reason(loosen)
    with_home(loosen)
    with_yes(loosen)
    loosen.set_defaults(run=_loosen)


def _loosen(options: argparse.Namespace) -> Output:
    from dpnb.trusted.owner.loosened_terms import loosen

    home, serves = home_of(options), options.config is not None
    facts = _promised(home, options.source)
    confirmed(
        f"{_in_words(facts)}Looser terms cannot be taken back.", yes=options.yes or not options.reason.strip()
    )
    known_as = loosen(
        options.source, options.reason, home, mode="enforced" if serves else None, serves=serves
    )
    return Output(
        f"Recorded: {known_as} now has the terms of {options.source}. What was spent stays spent.",
        {**facts, "dataset": known_as},
    )


def _promised(home: Home, source: Path) -> Record:
    """Return under which budget, and to whom, answers left of what a declaration names; nothing where it is not known yet."""
    from dpnb.owner.budget_sheet import standing

    declaration = source if source.suffix == ".toml" else declaration_of(source)
    now = standing(home, load(declaration).schema.name) if declaration.exists() else None
    if now is None:
        return {}
    promised = {who: str(spent) for who, spent in now.promised.items()}
    return {"before": now.terms.budget.label, "promised": promised}


def _in_words(facts: Record) -> str:
    """Say to whom what was promised."""
    if not facts.get("promised"):
        return ""
    told = ", ".join(f"{clean(who)} {spent}" for who, spent in facts["promised"].items())
    return f"Under {facts['before']} answers were sent to: {told}. "


def add_verify(acts: Acts) -> None:
    """Add ``verify``."""
    verify = acts.add_parser(
        "verify",
        help="recompute the ledger and name its first bad entry; or verify a published file with a key",
        description="Without a file, it recomputes the ledger entry by entry. With people.releases.json or a receipt and --key people.pub, it "
        "checks every number and law against the owner's signature, without a server.",
        epilog="example: dpnb verify people.releases.json --key people.pub",
    )
    verify.add_argument("file", type=Path, nargs="?", help="people.releases.json, or a receipt")
    verify.add_argument("--key", type=Path, help="the owner's public key")
    with_home(verify)
    verify.set_defaults(run=_verify)


def _verify(options: argparse.Namespace) -> Output:
    if (options.file is None) != (options.key is None):
        raise OwnerError(
            "A file is verified with its owner's key: dpnb verify people.releases.json --key people.pub"
        )
    if options.file is not None:
        from dpnb.owner.signed_records import verify_file

        return verify_file(options.file, options.key)
    from dpnb.owner.signed_records import verify

    return Output(text := verify(home_of(options)), {"intact": True, "says": text})


def add_backup(acts: Acts) -> None:
    """Add ``backup``."""
    backup = acts.add_parser(
        "backup",
        help="copy ledger, journal, mark and key together, while dpnb runs",
        description="The copy is complete, and is checked entry by entry. It contains the signing key: keep it where nobody else can read it. "
        "It does not contain the tokens of a service, so that a restore cannot bring back a revoked one.",
        epilog="example: dpnb backup /safe/people-may",
    )
    backup.add_argument("target", type=Path, help="a new folder")
    with_home(backup)
    backup.set_defaults(run=_backup)


def _backup(options: argparse.Namespace) -> Output:
    from dpnb.owner.backup import backup

    said = backup(home_of(options), options.target.absolute())
    return Output(said, {"target": str(options.target), "says": said})


def add_restore(acts: Acts) -> None:
    """Add ``restore``."""
    restore = acts.add_parser(
        "restore",
        help="unfreeze the home with its present ledger, or with a backup; what was spent stays spent",
        description="Books as spent at least what was spent, so that no total ever falls, and keeps closed datasets closed. It asks once. "
        "Stop the service or shut down the kernels first.",
        epilog='example: dpnb restore --from /safe/people-may --reason "the disk failed"',
    )
    with_reason(restore)
    restore.add_argument(
        "--from", dest="source", type=Path, help="the folder of a backup to put in its place"
    )
    with_home(restore)
    with_yes(restore)
    restore.set_defaults(run=_restore)


def _restore(options: argparse.Namespace) -> Output:
    from dpnb.trusted.owner.restoration import restore

    confirmed("What a restore books as spent stays spent.", yes=options.yes)
    said = restore(home_of(options), options.reason, options.source)
    return Output(said, {"says": said})
