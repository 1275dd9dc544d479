"""Tokens that an owner issued (:mod:`dpnb.trusted.owner.issued_tokens`): who may ask what, until when. A revoked one is refused at once.

The file is read again whenever it has changed, so that a token that was revoked is refused at the next request. A clock that is
set back does not bring an expired token back to life while the service runs.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpnb.trusted.canonical import read_json
from dpnb.trusted.errors import AccessError, OwnerError
from dpnb.trusted.wire.places import Home

SCOPES = ("release", "instruct", "audit", "metrics")
"""Ask and see one's own ledger; see what one's groups were charged; see every entry; read the figures of the service."""
OURS = "dpnb_"
"""How the text of a token that an owner issued begins."""
_JUMP = 3600
"""Seconds by which a clock may run ahead of the ticks that were counted, before a token that expires by it alone is looked at as a fault."""
_UNREADABLE = "{} cannot be read: restore it, or remove it and issue new tokens."
_UNKNOWN = (
    "This token is unknown, expired or revoked. Nothing was spent. Ask the owner of the data for another."
)


@dataclass(frozen=True, slots=True)
class Token:
    """What a token allows.

    Parameters
    ----------
    id : str
        What it is called when it is listed or revoked.
    principal : str
        Who it speaks for: charges, answers and caps are theirs, whatever token they used.
    scopes : tuple of str
        Of :data:`SCOPES`.
    datasets : tuple of str
        The datasets that it opens; all, where none is named.
    issued, expires : int
        Seconds since 1970.
    digest : str
        SHA-256 of the token's text, which is kept nowhere.
    revoked : bool
    groups : tuple of str, or None
        Those to which the principal belongs; None where nobody says.
    epsilon : str or None
        What may be spent with it of any one budget.
    """

    id: str
    principal: str
    scopes: tuple[str, ...]
    datasets: tuple[str, ...]
    issued: int
    expires: int
    digest: str
    revoked: bool = False
    groups: tuple[str, ...] | None = ()
    epsilon: str | None = None

    def need(self, scope: str) -> None:
        """Refuse what needs a scope that it does not hold."""
        if scope not in self.scopes:
            raise AccessError(
                f"Your token does not allow this: it needs the scope {scope}. Nothing was spent."
            )

    def opens(self, dataset: str) -> bool:
        """Say whether it may ask a dataset."""
        return not self.datasets or dataset in self.datasets


class Tokens:
    """The tokens of a service, in one file of its home.

    Parameters
    ----------
    path : Path
    clock, ticks : callable
        Return seconds, since 1970 and since anything.
    """

    def __init__(self, path: Path, clock: Any = time.time, ticks: Any = time.monotonic) -> None:
        self.path, self._clock, self._ticks = path, clock, ticks
        self._latest, self._zero = 0.0, float(clock()) - float(ticks())
        self._stamp: tuple[int, ...] | None = None
        self._known: dict[str, Token] = {}
        self._reading = threading.Lock()

    def find(self, text: str) -> Token:
        """Return what a token allows now.

        Raises
        ------
        AccessError
            In one sentence for all: it is unknown, expired or revoked.
        OwnerError
            It expired because the clock jumped.
        """
        return self._holding(digest_of(text))

    def check(self, token: Token) -> Token:
        """Return a token that was found as it stands; refuse it in the same sentence where it holds no more."""
        return self._holding(token.digest)

    def holds(self, token: Token) -> bool:
        """Say whether a token that was found still holds."""
        return self._by_digest(token.digest) is not None

    def _holding(self, digest: str) -> Token:
        found = self._by_digest(digest)
        if found is not None:
            return found
        late = self._known.get(digest)
        if late is not None and not late.revoked and self._zero + self._ticks() + _JUMP < late.expires:
            raise OwnerError(
                "The clock jumped ahead since the service started: tokens that expire in that time are refused, and stay so if it is set "
                "back. Look at the clock, and start the service anew."
            )
        raise AccessError(_UNKNOWN)

    def _by_digest(self, digest: str) -> Token | None:
        """Return a token that holds now, as the file says now."""
        self.renew()
        found = self._known.get(digest)
        return None if found is None or found.revoked or self.now() >= found.expires else found

    def renew(self) -> None:
        """Read the file again if it has changed."""
        if self._stat() != self._stamp:
            with self._reading:
                stamp = self._stat()  # before the file is read: what changes meanwhile is read again
                self._known, self._stamp = {one.digest: one for one in self.listed()}, stamp

    def now(self) -> float:
        """Return the time, in seconds since 1970; it never goes back."""
        self._latest = max(self._latest, float(self._clock()))
        return self._latest

    def _stat(self) -> tuple[int, ...]:
        try:
            found = os.stat(self.path)  # noqa: PTH116 - three of these are made for each release
        except FileNotFoundError:
            return ()
        except OSError as fault:
            raise OwnerError(_UNREADABLE.format(self.path.name)) from fault
        return (found.st_ino, found.st_mtime_ns, found.st_size)

    def listed(self) -> list[Token]:
        """Return every token ever issued, the oldest first."""
        try:
            records = read_json(self.path.read_bytes())
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as fault:
            raise OwnerError(_UNREADABLE.format(self.path.name)) from fault
        lists = ("scopes", "datasets", "groups")
        return [
            Token(**{**record, **{name: tuple(record.get(name, ())) for name in lists}}) for record in records
        ]


def tokens_file(home: Home) -> Path:
    """Return where the tokens of a home are."""
    return home.root / "tokens.json"


def group_name(name: str) -> str:
    """Return what a group is called, if one can be.

    Raises
    ------
    OwnerError
    """
    if not name or not name.isprintable() or len(name) > 200:
        raise OwnerError("A group is 1 to 200 letters and signs that can be printed: write class-1.")
    return name


def digest_of(text: str) -> str:
    """Return what is kept of a token's text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
