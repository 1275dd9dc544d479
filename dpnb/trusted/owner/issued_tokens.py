"""How an owner issues and revokes the tokens of a service: a token's text is shown once, and kept as a hash."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace

from dpnb.trusted.canonical import Record, canonical
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.privacy.loss import positive
from dpnb.trusted.serving.tokens import OURS, SCOPES, Token, Tokens, digest_of, group_name, tokens_file
from dpnb.trusted.wire.filelock import FileLock
from dpnb.trusted.wire.places import Home, write_private

_PRINCIPAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_ID = re.compile(r"[0-9a-f]{8}")
"""What a token is called, so that no principal is."""
_DAY = 86_400
_LONGEST = 3_650


class IssuedTokens(Tokens):
    """The tokens of a service, in its owner's hand."""

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
        text, now = f"{OURS}{secrets.token_urlsafe(32)}", int(self.now())
        made = Token(
            id=secrets.token_hex(4),
            principal=principal,
            scopes=scopes,
            datasets=datasets,
            issued=now,
            expires=now + round(days * _DAY),
            digest=digest_of(text),
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

    @contextmanager
    def _writing(self) -> Iterator[list[Token]]:
        lock = FileLock(self.path.with_name(f"{self.path.name}.lock"))
        if not lock.acquire(timeout=10.0):
            raise OwnerError("Another command is writing the tokens. Try again.")
        try:
            tokens = self.listed()
            yield tokens
            write_private(self.path, canonical([_record(one) for one in tokens]).encode())
        finally:
            lock.free()


def _record(token: Token) -> Record:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(token).items()}


def tokens_of(home: Home) -> IssuedTokens:
    """Return the tokens of a home."""
    return IssuedTokens(tokens_file(home))
