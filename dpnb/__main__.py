"""The command line: ``dpnb init people.csv`` drafts the schema that an owner completes; ``dpnb loosen`` records a looser one;
``dpnb verify``, ``dpnb backup FOLDER`` and ``dpnb restore --reason …`` look after the ledger; ``dpnb statistics`` prints what can
be asked; ``dpnb serve`` and ``dpnb admin token`` are the owner's of a service; ``dpnb course copy`` writes the course into a folder.

It is thin: it reads arguments, calls a room, prints one line. It never overwrites a file, and never reads a value.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dpnb.errors import DpnbError, OwnerError
from dpnb.trusted.schema.drafting import draft
from dpnb.trusted.schema.owner import SUFFIX, format_of
from dpnb.trusted.wire.places import Home

if TYPE_CHECKING:
    from dpnb.trusted.serving.tokens import Token


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``dpnb``; by default those of this process.

    Returns
    -------
    int
        0 when done, 2 when refused: the reason is on standard error.
    """
    options = _parser().parse_args(arguments)
    try:
        said = options.run(options)
    except DpnbError as refusal:
        print(f"dpnb: {refusal}", file=sys.stderr)
        return 2
    _say(said)
    return 0


def _say(said: str) -> None:
    """Print; a reader that has read enough (``dpnb verify | head``) is no fault."""
    try:
        print(said, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dpnb", description="Differential privacy in the notebook.")
    commands = parser.add_subparsers(required=True, metavar="command")
    init = commands.add_parser("init", help="draft a schema for a data file, from names and types only")
    init.add_argument("data", type=Path, help="people.csv, people.parquet or people.duckdb")
    init.add_argument(
        "-o", "--output", type=Path, help="where to write (default: people.dpnb.toml beside it)"
    )
    init.add_argument("--table", help="the table, in a DuckDB file that holds several")
    init.set_defaults(run=lambda options: _init(options.data, options.output, options.table))
    loosen = commands.add_parser(
        "loosen", help="record, as the owner, terms that are looser than the pinned ones"
    )
    loosen.add_argument("source", type=Path, help="people.dpnb.toml, or the data file beside it")
    loosen.add_argument("--reason", required=True, help="why; it stays in the ledger with both values")
    loosen.set_defaults(run=lambda options: _loosen(options.source, options.reason))
    verify = commands.add_parser("verify", help="recompute the ledger, and name its first bad entry")
    verify.set_defaults(run=lambda _: _verify())
    backup = commands.add_parser(
        "backup", help="copy ledger, journal, mark and key together, while dpnb runs"
    )
    backup.add_argument("target", type=Path, help="a new folder")
    backup.set_defaults(run=lambda options: _backup(options.target))
    restore = commands.add_parser(
        "restore", help="go on with the ledger that there is; what was spent stays spent"
    )
    restore.add_argument("--reason", required=True, help="why; it stays in the ledger")
    restore.add_argument(
        "--from", dest="source", type=Path, help="the folder of a backup to put in its place"
    )
    restore.set_defaults(run=lambda options: _restore(options.reason, options.source))
    serve = commands.add_parser("serve", help="serve datasets to analysts who hold tokens, as another user")
    serve.add_argument(
        "--config", type=Path, required=True, help="curator.toml: where to listen, and which datasets"
    )
    serve.set_defaults(run=lambda options: _serve(options.config))
    _add_admin(commands.add_parser("admin", help="what the owner of a service does"))
    _add_course(
        commands.add_parser("course", help="the lessons of a course, for students and for their teacher")
    )
    table = commands.add_parser("statistics", help="the table of what can be asked, as Markdown")
    table.set_defaults(run=lambda _: _statistics())
    return parser


def _add_admin(admin: argparse.ArgumentParser) -> None:
    acts = admin.add_subparsers(required=True, metavar="act")
    tokens = acts.add_parser("token", help="issue, list and revoke tokens").add_subparsers(
        required=True, metavar="what"
    )
    issue = tokens.add_parser("issue", help="make a token; it is shown once")
    issue.add_argument(
        "--principal", required=True, help="who it speaks for: a stable name, such as a mail address"
    )
    issue.add_argument(
        "--scope", action="append", help="release (default), audit or metrics; may be repeated"
    )
    issue.add_argument(
        "--dataset", action="append", default=[], help="the datasets that it opens (default: all)"
    )
    issue.add_argument(
        "--group", action="append", default=[], help="a group of whom it speaks for; may be repeated"
    )
    issue.add_argument("--epsilon", help="what may be spent with it, of any one budget")
    issue.add_argument("--expires", default="30d", help="after so many days (30d) or hours (8h)")
    issue.set_defaults(run=_issue)
    listed = tokens.add_parser("list", help="every token ever issued, without its text")
    listed.set_defaults(run=_tokens)
    revoke = tokens.add_parser("revoke", help="end a token, or all of a principal, at once")
    revoke.add_argument("name", help="the id of a token, or a principal")
    revoke.set_defaults(run=_revoke)
    for one in (issue, listed, revoke):
        one.add_argument("--config", type=Path, required=True, help="the service's curator.toml")


def _add_course(course: argparse.ArgumentParser) -> None:
    acts = course.add_subparsers(required=True, metavar="act")
    copied = acts.add_parser("copy", help="write the lessons into a new folder")
    copied.add_argument(
        "folder", type=Path, nargs="?", default=Path("dpnb-course"), help="default: dpnb-course"
    )
    copied.add_argument(
        "--teacher", action="store_true", help="with answers, guide and slides, as nbgrader wants them"
    )
    copied.set_defaults(run=lambda options: _copy_course(options.folder, options.teacher))


def _copy_course(folder: Path, teacher: bool) -> str:  # noqa: FBT001 - as it was typed
    from dpnb.course import kit

    files = kit.copy(folder, teacher=teacher)
    count = sum(file.suffix == ".ipynb" for file in files)
    more = ", with answers, the guide and nbgrader_config.py" if teacher else ", without answers"
    return f"Wrote {count} notebooks into {folder}{more}: jupyter lab {folder}"


def _home(config: Path) -> Home:
    from dpnb.trusted.serving.settings import read_settings

    return read_settings(config).home


def _issue(options: argparse.Namespace) -> str:
    from dpnb.trusted.serving.serve import tokens_of

    tokens = tokens_of(_home(options.config).make())
    scopes, days = tuple(options.scope or ["release"]), _days(options.expires)
    allowed = tuple(options.dataset), tuple(options.group), options.epsilon
    text, token = tokens.issue(options.principal, scopes, days, *allowed)
    return (
        f"{text}\nToken {token.id} of {token.principal}: it is not shown again. In the notebook: DPNB_TOKEN"
    )


def _days(text: str) -> float:
    number, unit = text[:-1], text[-1:]
    if unit not in {"d", "h"} or not number.isdecimal():
        raise OwnerError("--expires is a number of days or hours: 30d, 8h.")
    return int(number) / (1 if unit == "d" else 24)


def _tokens(options: argparse.Namespace) -> str:
    from dpnb.trusted.serving.serve import tokens_of

    lines = [
        f"{one.id}  {one.principal}  {','.join(one.scopes)}  {','.join(one.datasets) or 'all datasets'}  "
        f"{_limits(one)}until {datetime.fromtimestamp(one.expires, UTC):%Y-%m-%d %H:%M}{'  revoked' if one.revoked else ''}"
        for one in tokens_of(_home(options.config)).listed()
    ]
    return "\n".join(lines) or "No token was issued: dpnb admin token issue --principal ada"


def _limits(token: Token) -> str:
    """The groups of a token and what may be spent with it."""
    groups = f"in {','.join(token.groups)}  " if token.groups else ""
    return groups + (f"at most ε {token.epsilon}  " if token.epsilon else "")


def _revoke(options: argparse.Namespace) -> str:
    from dpnb.trusted.serving.serve import tokens_of

    count = tokens_of(_home(options.config)).revoke(options.name)
    return f"Revoked {count} token{'s' if count > 1 else ''} of {options.name}: refused from the next request on."


def _serve(config: Path) -> str:
    from dpnb.trusted.serving.serve import run

    run(config, studies="dpnb.datasets")
    return "The service has ended; what was charged is stored."


def _statistics() -> str:
    from dpnb.cards.catalogue import markdown

    return markdown()


def _loosen(source: Path, reason: str) -> str:
    from dpnb.trusted.curator.loosened_terms import loosen

    known_as = loosen(source, reason)
    return f"Recorded: {known_as} is held to the terms of {source} from now on. What was spent stays spent."


def _verify() -> str:
    from dpnb.trusted.curator.examination import verify

    return verify(Home.current())


def _backup(target: Path) -> str:
    from dpnb.trusted.curator.backup import backup

    return backup(Home.current(), target.absolute())


def _restore(reason: str, source: Path | None) -> str:
    from dpnb.trusted.curator.restoration import restore

    return restore(Home.current(), reason, source)


def _init(data: Path, output: Path | None, table: str | None) -> str:
    target = output or data.with_suffix(SUFFIX)
    text = _draft(data, table)
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise OwnerError(f"{target} exists and is left as it is. Write elsewhere with --output") from None
    except OSError as fault:
        raise OwnerError(f"{target} cannot be written: {fault.strerror}") from None
    todo = text.count('"TODO')
    return (
        f"Wrote {target}: fill in its {todo} TODO without looking at the data, then\n"
        f'    dpnb.open("{data}", schema="{target}")'
    )


def _draft(data: Path, table: str | None) -> str:
    if format_of(data) == "csv":
        return draft(data)
    from dpnb.trusted.curator.header import fields

    return draft(data, fields(data, table))


if __name__ == "__main__":
    sys.exit(main())
