"""The command line: ``dpnb init people.csv`` drafts the schema that an owner completes; ``dpnb admin …`` is the owner's side
(:mod:`dpnb.owner`), whose most usual acts have short names (``dpnb check``, ``loosen``, ``verify``, ``backup``, ``restore``);
``dpnb statistics`` prints what can be asked; ``dpnb serve`` serves analysts;
``dpnb course`` copies the course and scores its contest.

It is thin: it reads arguments, calls a room, prints. It never overwrites a file.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from dpnb.errors import DpnbError, OwnerError
from dpnb.owner.admin import add_admin
from dpnb.owner.command_output import Output, for_owner_alone, in_notebook
from dpnb.owner.ledger_acts import add_backup, add_check, add_loosen, add_restore, add_verify
from dpnb.trusted.schema.lake_table import is_lake
from dpnb.trusted.schema.owner import SUFFIX, declaration_of
from dpnb.trusted.schema.server_table import ServerTable, is_server


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
    for stream in (sys.stdout, sys.stderr):  # a terminal or pipe that cannot write ε shows it as \u03b5
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(arguments)
    try:
        said = options.run(options)
    except DpnbError as refusal:
        print(f"dpnb: {refusal}", file=sys.stderr)
        return 2
    except PermissionError as fault:
        print(
            f"dpnb: {fault.filename} belongs to another user. Run this as that user. Nothing was done.",
            file=sys.stderr,
        )
        return 2
    except OSError as fault:  # a full or read-only disk, for one
        where = f"{fault.filename}: " if fault.filename else ""
        print(
            f"dpnb: This could not be finished. {where}{fault.strerror or fault}. Check the disk, and run it again.",
            file=sys.stderr,
        )
        return 2
    _say(said.shown(as_json=getattr(options, "json", False)) if isinstance(said, Output) else said)
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
    init = commands.add_parser("init", help="draft a declaration for a data file, from names and types only")
    init.add_argument(
        "data",
        help="people.csv, people.xlsx, survey.sav, people.parquet, a folder of Parquet files, people.duckdb or "
        "postgresql://host/database?table=people",
    )
    init.add_argument(
        "-o", "--output", type=Path, help="where to write (default: people.dpnb.toml beside it)"
    )
    init.add_argument(
        "--table", help="the table of a DuckDB file or the sheet of a workbook, if it has several"
    )
    init.add_argument(
        "--with",
        dest="beside",
        action="append",
        type=Path,
        default=[],
        metavar="visits.csv",
        help="another file with rows about the same people, to prepare columns from; may be repeated",
    )
    init.add_argument("--on", metavar="person", help="the column in all files that identifies the person")
    init.add_argument(
        "--columns", metavar="age,sex", help="the columns that will be asked about; the rest stay comments"
    )
    init.add_argument("--all", action="store_true", help="draft every column")
    init.set_defaults(run=_init)
    for add in (add_loosen, add_check, add_verify, add_backup, add_restore):
        add(commands)
    serve = commands.add_parser("serve", help="serve datasets to analysts with tokens, as a separate user")
    serve.add_argument("--config", type=Path, help="curator.toml: where to listen, and which datasets")
    serve.add_argument(
        "init",
        nargs="?",
        choices=["init"],
        help="ask four questions, and write a folder to start a service from",
    )
    serve.add_argument(
        "folder", nargs="?", type=Path, default=Path("service"), help="that folder, which is new"
    )
    serve.set_defaults(run=lambda options: _init_service(options) if options.init else _serve(options.config))
    add_admin(commands.add_parser("admin", help="the owner's commands, on a laptop and for a service"))
    _add_course(
        commands.add_parser("course", help="the course: lessons for students, material for the teacher")
    )
    table = commands.add_parser("statistics", help="print the table of statistics as Markdown")
    table.set_defaults(run=lambda _: _statistics())
    return parser


def _add_course(course: argparse.ArgumentParser) -> None:
    acts = course.add_subparsers(required=True, metavar="act")
    copied = acts.add_parser("copy", help="write the lessons into a new folder")
    copied.add_argument(
        "folder", type=Path, nargs="?", default=Path("dpnb-course"), help="default: dpnb-course"
    )
    copied.add_argument(
        "--teacher", action="store_true", help="with answers, guide and slides, in nbgrader's layout"
    )
    copied.set_defaults(run=lambda options: _copy_course(options.folder, options.teacher))

    contest = acts.add_parser("contest", help="score the entries in a folder on unseen people")
    contest.add_argument(
        "folder", type=Path, help="a folder of notebooks, Python or JSON files, one for each team"
    )
    contest.add_argument("--seed", required=True, help="any text that only the teacher knows")
    contest.set_defaults(run=lambda options: _contest(options.folder, options.seed))


def _contest(folder: Path, seed: str) -> str:
    from dpnb.course.contest import ranked

    return "\n".join(one.text for one in ranked(folder, seed))


def _copy_course(folder: Path, teacher: bool) -> str:  # noqa: FBT001 - as it was typed
    from dpnb.course import kit

    files = kit.copy(folder, teacher=teacher)
    count = sum(file.suffix == ".ipynb" for file in files)
    more = ", with answers, the guide and nbgrader_config.py" if teacher else ", without answers"
    return f"Wrote {count} notebooks into {folder}{more}: jupyter lab {folder}"


def _init_service(options: argparse.Namespace) -> str:
    from dpnb.owner.service_folder import make_service_folder

    def ask(question: str, usual: str) -> str:
        print(f"{question}{usual and f' [{usual}]'}: ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip() or usual

    return make_service_folder(options.folder, ask)


def _serve(config: Path | None) -> NoReturn:
    from dpnb.trusted.serving.serve import run

    if config is None:
        raise OwnerError(
            "Name the service's file: dpnb serve --config curator.toml. dpnb serve init FOLDER writes one."
        )
    _allocate_in_one_place()
    run(config, studies="dpnb.datasets")
    sys.stderr.flush()
    # what was charged is stored; a usual end would have DuckDB list sixty objects that it still holds
    os._exit(0)


_M_ARENA_MAX = -8


def _allocate_in_one_place() -> None:
    """Let all threads share one heap: glibc gives each its own, and freed pieces gather in sixteen for as long as a service runs."""
    import ctypes

    with contextlib.suppress(AttributeError, OSError, TypeError):  # another C library, which needs none of it
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def _statistics() -> str:
    from dpnb.cards.catalogue import markdown

    return markdown()


def _init(options: argparse.Namespace) -> str:
    text, usual = _draft(options)
    target = options.output or usual
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise OwnerError(_exists(options, target)) from None
    except OSError as fault:
        raise OwnerError(f"{target} cannot be written: {fault.strerror}") from None
    opened = f'"{target}"' if is_server(options.data) else f'"{options.data}", schema="{target}"'
    return "\n".join(_after_init(options, target, text, opened))


def _exists(options: argparse.Namespace, target: Path) -> str:
    """Say what to do with a declaration that is there already."""
    written = shlex.quote(str(target))
    again = f"dpnb init {shlex.quote(options.data)} --output another{SUFFIX}"
    return (
        f"{target} exists already, and is left as it is. To go on with it, fill in its TODO and run dpnb check {written}. "
        f"To draft anew, move it away, or write elsewhere: {again}"
    )


def _after_init(options: argparse.Namespace, target: Path, text: str, opened: str) -> Iterator[str]:
    """Say what a draft asks, what it leaves out, and what comes next."""
    from dpnb.owner.draft import decisions

    yield f"Wrote {target}: fill in its {decisions(text)} TODO without looking at the data."
    yield from _beside_the_rows(options.data, text, options.table)
    written = shlex.quote(str(target))
    yield f"Then\n    dpnb check {written}  # in a terminal of your own: how the file meets the declaration"
    yield f"    dpnb admin budget {written}  # what the budget means for one person"
    yield f"    dpnb.open({opened})  # in a notebook or a script"
    if in_notebook():
        yield f"Or fill it in on a screen, here in the notebook: %dp deposit {shlex.quote(options.data)}"


def _beside_the_rows(data: str, text: str, table: str | None) -> Iterator[str]:
    """Say which columns are left out, and which lines of a file are no rows: of those below the header on an owner's terminal alone."""
    from dpnb.owner.header_lines import leave_out, total_below
    from dpnb.trusted.files.named_file import format_of

    if later := len(re.findall(r"(?m)^# \[columns\.", text)):
        yield f"{later} more {'columns are named, each in a line of its own' if later > 1 else 'column is named in one line'}, and not drafted. To draft those that will be asked about: --columns a,b"
    if "\nskip = [" in text:
        yield "The lines above the header are not rows: skip = [...] under [source] leaves them out."
    path = Path(data)
    if not for_owner_alone() or not path.is_file() or format_of(path) not in ("csv", "excel"):
        return
    if begins := total_below(path, table):
        what = leave_out(begins, ["above"] if "\nskip = [" in text else [])
        yield f'The last line begins with "{begins}". If that is not a person, {what}.'


def _draft(options: argparse.Namespace) -> tuple[str, Path]:
    """Return a draft, and where it is written if no other place is named."""
    from dpnb.owner.draft import Beside, draft, fields_of
    from dpnb.owner.header_lines import titles
    from dpnb.trusted.files.named_file import every, format_of

    if is_server(options.data):
        return _server_draft(options)
    if is_lake(options.data) or "://" in options.data:
        raise OwnerError(
            "dpnb init reads files and PostgreSQL: draft from one Parquet file of the table, then write source = …"
        )
    path = every(Path(options.data))
    tables = [Beside(path, fields_of(path)) for path in map(every, options.beside)]
    skip = titles(path, options.table) if format_of(path) in ("csv", "excel") else ()
    text = draft(
        path, fields_of(path, options.table), beside=tables, on=options.on, skip=skip, **_chosen(options)
    )
    if options.table:
        named = f"table = {json.dumps(options.table, ensure_ascii=False)}"
        text = re.sub(r"(?m)^source = .*$", lambda line: f"{line[0]}\n{named}", text, count=1)
    return text, declaration_of(path)


def _chosen(options: argparse.Namespace) -> dict[str, Any]:
    """Return which columns are drafted, as it was typed."""
    named = [one.strip() for one in (options.columns or "").split(",") if one.strip()]
    return {"columns": named or None, "whole": options.all}


def _server_draft(options: argparse.Namespace) -> tuple[str, Path]:
    from dpnb.owner.draft import draft
    from dpnb.owner.server_columns import address, server_fields

    if options.beside:
        raise OwnerError(
            "--with is for files: join a server's tables there, in a materialized view, and name it in table="
        )
    named = ServerTable.of(options.data, options.table, {}, "dpnb init")
    text = draft(named.names[-1], server_fields(named), source=address(named), **_chosen(options))
    return text, Path(f"{named.names[-1]}{SUFFIX}")


if __name__ == "__main__":
    sys.exit(main())
