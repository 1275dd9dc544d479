"""Datasets that a service holds: ``dpnb.open("https://host/dpnb/incomes")``, or a name where ``DPNB_SERVICE`` says which service.

Who asks is the token in ``DPNB_TOKEN``, or the one that a JupyterHub gave the kernel, which goes to the service that
``DPNB_SERVICE`` names and to no other; where a certificate is not known to the system, ``DPNB_CA`` names the file that vouches
for it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from dpnb.client.transport import ServiceTransport, Transport, decode_reply
from dpnb.errors import CuratorError, OptionError, OwnerError, from_wire
from dpnb.trusted.files.named_file import ending_of
from dpnb.trusted.wire.codec import encode
from dpnb.trusted.wire.messages import PROTOCOL, Failure, Hello, Reply, Welcome

LONGEST_NAME = 200
"""The longest name of a dataset that a service holds."""
_EXAMPLE = 'dpnb.open("https://host.example/dpnb/incomes")'


@dataclass(frozen=True, slots=True)
class Service:
    """Where a service listens: ``https://host:port/prefix``."""

    scheme: str
    host: str
    port: int | None
    prefix: str

    @property
    def url(self) -> str:
        """The address, without a dataset."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.prefix}"

    def connect(self) -> Transport:
        """Return a transport to the service, with the life-line held.

        Raises
        ------
        AccessError
            The service does not know the token.
        OptionError
            The token is another service's.
        CuratorGone
            It cannot be reached.
        """
        token, authority = self._token(), os.environ.get("DPNB_CA")
        transport = ServiceTransport(self.scheme, self.host, self.port, self.prefix, token, authority)
        try:
            self._expect(decode_reply(transport.send(encode(Hello()))))
            transport.hold()
        except BaseException:
            transport.close()
            raise
        return transport

    def _token(self) -> str:
        """Return who asks: a token goes to the service that it was given for, where that is said."""
        usual_one, token = usual(), os.environ.get("DPNB_TOKEN", "")
        if token and usual_one is not None and not self._is_at(usual_one):
            raise OptionError(
                f"DPNB_TOKEN is for {usual_one.url}, and is not sent to {self.host}. Set DPNB_SERVICE to where it belongs."
            )
        if (
            not token and self == usual_one
        ):  # a Hub's token is for what its administrator named, to the last letter
            return os.environ.get("JUPYTERHUB_API_TOKEN", "")
        return token

    def _is_at(self, other: Service) -> bool:
        return (self.scheme, self.host, self.port) == (other.scheme, other.host, other.port)

    def _expect(self, welcome: Reply) -> None:
        if isinstance(welcome, Failure):
            raise from_wire({"code": welcome.code, "message": welcome.message, "details": welcome.details})
        if not isinstance(welcome, Welcome) or welcome.protocol != PROTOCOL:
            raise CuratorError(f"{self.url} is a service of another dpnb version.")


def served(what: object) -> tuple[Service, str] | None:
    """Return the service and the name of a dataset that is opened by its address; None for anything else.

    Raises
    ------
    OwnerError
        For an address without a dataset.

    Examples
    --------
    >>> service, name = served("https://host.example:8443/dpnb/incomes")
    >>> service.url, name
    ('https://host.example:8443/dpnb', 'incomes')
    """
    if not isinstance(what, str) or not what.startswith(("https://", "http://")):
        return None
    try:
        parts = urlsplit(what)
        port = parts.port
    except ValueError:
        raise OwnerError(f"This is not an address. For example: {_EXAMPLE}.") from None
    prefix, _, name = parts.path.rstrip("/").rpartition("/")
    if ending_of(Path(name)):
        return None  # a file on another machine
    if not parts.hostname or not name or parts.query or parts.fragment or parts.username:
        raise OwnerError(f"An address names a service and a dataset: {_EXAMPLE}.")
    return Service(parts.scheme, parts.hostname, port, prefix), unquote(name)


def usual() -> Service | None:
    """Return the service that ``DPNB_SERVICE`` names."""
    named = os.environ.get("DPNB_SERVICE", "").rstrip("/")
    found = served(f"{named}/any") if named else None
    if named and found is None:
        raise OwnerError("DPNB_SERVICE is the address of a service, for example https://host.example/dpnb.")
    return None if found is None else found[0]
