"""Tokens that an owner issues: who may ask what, until when. Shown once, kept as hashes, revoked at once.

The file is read again whenever it has changed, so that a token that was revoked is refused at the next request. A clock that is
set back does not bring an expired token back to life while the service runs.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dpnb.trusted.canonical import canonical, read_json
from dpnb.trusted.errors import AccessError, OwnerError
from dpnb.trusted.privacy.loss import positive
from dpnb.trusted.wire.filelock import FileLock
from dpnb.trusted.wire.places import write_private

SCOPES = ("release", "instruct", "audit", "metrics")
"""Ask and see one's own ledger; see what one's groups were charged; see every entry; read the figures of the service."""
_PRINCIPAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_ID = re.compile(r"[0-9a-f]{8}")
"""What a token is called, so that no principal is."""
OURS = "dpnb_"
"""How the text of a token that an owner issued begins."""
_DAY = 86_400
_LONGEST = 3_650
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
    clock : callable
        Returns seconds since 1970.
    """

    def __init__(self, path: Path, clock: Any = time.time) -> None:
        self._path, self._clock = path, clock
        self._latest = 0.0
        self._stamp: tuple[int, ...] | None = None
        self._known: dict[str, Token] = {}
        self._reading = threading.Lock()

    def issue(
        self,
        principal: str,
        scopes: tuple[str, ...],
        days: float,
        datasets: tuple[str, ...] = (),
        groups: tuple[str, ...] = (),
        epsilon: str | None = None,
    ) -> tuple[str, Token]:
        """Make a token; return its text, which is never shown again, and what is kept of it.

        Raises
        ------
        OwnerError
            For a principal, scope or number of days that cannot be.
        """
        if not _PRINCIPAL.fullmatch(principal) or _ID.fullmatch(principal):
            raise OwnerError(
                "A principal is 1 to 64 letters, digits and . _ @ -, for example ada@uni.example."
            )
        wrong = [scope for scope in scopes if scope not in SCOPES]
        if wrong or not scopes:
            raise OwnerError(f"Unknown scope {', '.join(wrong) or 'none'}: write one of {', '.join(SCOPES)}.")
        if not 0 < days <= _LONGEST:
            raise OwnerError("A token is valid for some minutes to ten years: write --expires 30d.")
        if epsilon is not None:
            positive(epsilon, name="epsilon")
        text, now = f"{OURS}{secrets.token_urlsafe(32)}", int(self._now())
        made = Token(
            id=secrets.token_hex(4),
            principal=principal,
            scopes=scopes,
            datasets=datasets,
            issued=now,
            expires=now + round(days * _DAY),
            digest=_digest(text),
            groups=tuple(map(group_name, groups)),
            epsilon=epsilon,
        )
        with self._writing() as tokens:
            tokens.append(made)
        return text, made

    def revoke(self, name: str) -> int:
        """Revoke a token by its id, or all of a principal; return how many."""
        with self._writing() as tokens:
            hit = [
                place
                for place, one in enumerate(tokens)
                if name in {one.id, one.principal} and not one.revoked
            ]
            if not hit:
                raise OwnerError(f"No valid token is called {name}: dpnb admin token list")
            for place in hit:
                tokens[place] = replace(tokens[place], revoked=True)
        return len(hit)

    def listed(self) -> list[Token]:
        """Return every token ever issued, the oldest first."""
        return self._read()

    def find(self, text: str) -> Token:
        """Return what a token allows now.

        Raises
        ------
        AccessError
            In one sentence for all: it is unknown, expired or revoked.
        """
        return self._holding(_digest(text))

    def check(self, token: Token) -> Token:
        """Return a token that was found as it stands; refuse it in the same sentence where it holds no more."""
        return self._holding(token.digest)

    def holds(self, token: Token) -> bool:
        """Say whether a token that was found still holds."""
        return self._by_digest(token.digest) is not None

    def _holding(self, digest: str) -> Token:
        found = self._by_digest(digest)
        if found is None:
            raise AccessError(_UNKNOWN)
        return found

    def _by_digest(self, digest: str) -> Token | None:
        """Return a token that holds now, as the file says now."""
        with self._reading:
            stamp = self._stat()
            if stamp != self._stamp:
                self._known, self._stamp = {one.digest: one for one in self._read()}, stamp
        found = self._known.get(digest)
        return None if found is None or found.revoked or self._now() >= found.expires else found

    def _now(self) -> float:
        self._latest = max(self._latest, float(self._clock()))
        return self._latest

    def _stat(self) -> tuple[int, ...]:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return ()
        return (found.st_ino, found.st_mtime_ns, found.st_size)

    def _read(self) -> list[Token]:
        try:
            records = read_json(self._path.read_bytes())
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as fault:
            raise OwnerError(
                f"{self._path.name} cannot be read: restore it, or remove it and issue tokens anew."
            ) from fault
        lists = ("scopes", "datasets", "groups")
        return [
            Token(**{**record, **{name: tuple(record.get(name, ())) for name in lists}}) for record in records
        ]

    @contextmanager
    def _writing(self) -> Iterator[list[Token]]:
        lock = FileLock(self._path.with_name(f"{self._path.name}.lock"))
        if not lock.acquire(timeout=10.0):
            raise OwnerError("Another command is writing the tokens. Try again.")
        try:
            tokens = self._read()
            yield tokens
            write_private(self._path, canonical([_record(one) for one in tokens]).encode())
        finally:
            lock.free()


def _record(token: Token) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(token).items()}


def group_name(name: str) -> str:
    """Return what a group is called, if one can be.

    Raises
    ------
    OwnerError
    """
    if not name or not name.isprintable() or len(name) > 200:
        raise OwnerError("A group is 1 to 200 letters and signs that can be printed: write class-1.")
    return name


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
