"""Who may ask a service: tokens are issued (and shown once), listed and revoked."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dpnb.errors import OwnerError
from dpnb.owner.command_output import Output, confirmed
from dpnb.owner.ledger_acts import Acts, home_of, with_json, with_yes
from dpnb.trusted.canonical import Record

if TYPE_CHECKING:
    from dpnb.trusted.serving.tokens import Token


def add_token(acts: Acts) -> None:
    """Add ``token issue | list | revoke``."""
    tokens = acts.add_parser(
        "token",
        help="issue, list and revoke tokens of a service",
        description="A token identifies the user of a service. Its text is shown once and kept as a hash; a revoked token is refused at the next "
        "request. No token lets anybody act as the owner.",
        epilog="example: dpnb admin token issue --principal ada@uni.example --expires 30d --config curator.toml",
    ).add_subparsers(required=True, metavar="what")
    issue = tokens.add_parser("issue", help="make a token; its text is shown once")
    issue.add_argument(
        "--principal", required=True, help="whom it identifies: a stable name, such as a mail address"
    )
    issue.add_argument(
        "--scope", action="append", help="release (default), instruct, audit or metrics; may be repeated"
    )
    issue.add_argument(
        "--dataset",
        action="append",
        default=[],
        help="a dataset that it can open; may be repeated (default: all)",
    )
    issue.add_argument("--group", action="append", default=[], help="a group of this person; may be repeated")
    issue.add_argument("--epsilon", help="the most that it can spend of any one budget")
    issue.add_argument("--expires", default="30d", help="after this many days (30d) or hours (8h)")
    issue.set_defaults(run=_issue)
    listed = tokens.add_parser("list", help="list every token ever issued, without its text")
    listed.set_defaults(run=_tokens)
    revoke = tokens.add_parser(
        "revoke", help="end a token, or all tokens of a principal, at once; it asks once"
    )
    revoke.add_argument("name", help="the id of a token, or a principal")
    with_yes(revoke)
    revoke.set_defaults(run=_revoke)
    for one in (issue, listed, revoke):
        one.add_argument("--config", type=Path, required=True, help="the service's curator.toml")
        with_json(one)


def _issue(options: argparse.Namespace) -> Output:
    from dpnb.trusted.owner.issued_tokens import tokens_of

    tokens = tokens_of(home_of(options).make())
    scopes, days = tuple(options.scope or ["release"]), _days(options.expires)
    allowed = tuple(options.dataset), tuple(options.group), options.epsilon
    text, token = tokens.issue(options.principal, scopes, days, *allowed)
    said = (
        f"{text}\nToken {token.id} of {token.principal}: it is not shown again. In the notebook: DPNB_TOKEN"
    )
    return Output(said, {"token": text, **_facts(token)})


def _days(text: str) -> float:
    number, unit = text[:-1], text[-1:]
    if unit not in {"d", "h"} or not number.isdecimal():
        raise OwnerError("--expires is a number of days or hours: 30d, 8h.")
    return int(number) / (1 if unit == "d" else 24)


def _tokens(options: argparse.Namespace) -> Output:
    from dpnb.trusted.owner.issued_tokens import tokens_of

    found = tokens_of(home_of(options)).listed()
    lines = [
        f"{one.id}  {one.principal}  {','.join(one.scopes)}  {','.join(one.datasets) or 'all datasets'}  "
        f"{_limits(one)}until {datetime.fromtimestamp(one.expires, UTC):%Y-%m-%d %H:%M}{'  revoked' if one.revoked else ''}"
        for one in found
    ]
    said = "\n".join(lines) or "No token was issued: dpnb admin token issue --principal ada"
    return Output(said, {"tokens": [_facts(one) for one in found]})


def _facts(token: Token) -> Record:
    """Return what is told of a token: all but its hash."""
    return {name: value for name, value in asdict(token).items() if name != "digest"}


def _limits(token: Token) -> str:
    """The groups of a token and what may be spent with it."""
    groups = f"in {','.join(token.groups)}  " if token.groups else ""
    return groups + (f"at most ε {token.epsilon}  " if token.epsilon else "")


def _revoke(options: argparse.Namespace) -> Output:
    from dpnb.trusted.owner.issued_tokens import tokens_of

    confirmed(f"This ends {options.name}, for good.", yes=options.yes)
    count = tokens_of(home_of(options)).revoke(options.name)
    said = f"Revoked {count} token{'s' if count > 1 else ''} of {options.name}: refused from the next request on."
    return Output(said, {"name": options.name, "revoked": count})
