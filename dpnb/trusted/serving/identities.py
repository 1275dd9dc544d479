"""Who asks, by whichever token: one that the owner issued, or one of a JupyterHub."""

from __future__ import annotations

from dpnb.trusted.serving.hub import Hub, HubToken
from dpnb.trusted.serving.tokens import OURS, Token, Tokens


class Identities:
    """The tokens that a service knows.

    Parameters
    ----------
    tokens : Tokens
        The owner's.
    hub : Hub, optional
        Asked of every other token.
    """

    def __init__(self, tokens: Tokens, hub: Hub | None = None) -> None:
        self._tokens, self._hub = tokens, hub

    def waits(self, text: str) -> bool:
        """Say whether somebody else is asked, so that finding it takes a while."""
        return self._hub is not None and not text.startswith(OURS)

    def find(self, text: str) -> Token:
        """Return what a token allows now; AccessError where it allows nothing."""
        if self._hub is not None and self.waits(text):
            return self._hub.find(text)
        return self._tokens.find(text)

    def check(self, token: Token) -> Token:
        """Return what a token that was found allows by now; AccessError where it is nothing."""
        return self.find(token.text) if isinstance(token, HubToken) else self._tokens.check(token)

    def holds(self, token: Token) -> bool:
        """Say whether a line may be kept open for whoever showed a token."""
        if self._hub is not None and isinstance(token, HubToken):
            return self._hub.holds(token)
        return self._tokens.holds(token)
