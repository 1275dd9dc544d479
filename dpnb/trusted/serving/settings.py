"""What an owner tells a service: where it listens, which datasets it holds, and what each analyst may spend of them.

::

    [service]
    home = "home"                # its ledger, prepared copies, tokens and log
    listen = "0.0.0.0:8443"
    certificate = "host.pem"     # and key = "host.key"; or behind_proxy = true, which listens on loopback alone
    key = "host.key"

    [datasets.incomes]
    schema = "incomes.dpnb.toml" # which names its source
    each = { epsilon = 1 }
    groups = { class-1 = { epsilon = 8 } }   # what the members of a group may spend together
    store = "principal"          # whose a stored answer is: who asked, their "group", or "everyone"
    numbers = 5_000_000          # how many numbers may be stored for each analyst, for good

    [hub]                        # optional: a JupyterHub whose users may ask; said here, or by the Hub that starts this
    api = "http://127.0.0.1:8081/hub/api"
    service = "dpnb"             # what the Hub calls this service
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from dpnb.trusted.errors import AccessError, LossError, OwnerError
from dpnb.trusted.files.named_file import read_toml
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.records import check_dataset_name, known
from dpnb.trusted.serving.health import LEAST_FREE
from dpnb.trusted.serving.hub import Hub, hub_of
from dpnb.trusted.serving.tokens import Token, group_name
from dpnb.trusted.wire.messages import FileSource, StudySource
from dpnb.trusted.wire.places import Home

_SERVICE = ("home", "listen", "certificate", "key", "behind_proxy", "prefix", "bucket", "work", "free_disk")
_DATASET = ("schema", "study", "each", "groups", "store", "numbers")
STORES = ("principal", "group", "everyone")
"""Who may read what somebody was answered: they alone, the first of their groups here, or everybody; the first is meant where nothing is said."""
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_NOTHING = Decimal(0)
BUCKET = 0.05
"""Seconds: answers are sent at a whole multiple of it."""
WORK, LEAST_SECONDS, MOST_SECONDS = 2.0, Decimal("0.01"), 60.0
"""Seconds of work that one request may be, by the public estimate; and the least and most that an owner may say."""
NUMBERS = 5_000_000
"""Numbers that are stored for an analyst of a dataset, for good: a byte and half a byte for each digit, as a rule."""


@dataclass(frozen=True, slots=True)
class ServedDataset:
    """A dataset of a service.

    Parameters
    ----------
    name : str
        By which analysts open it.
    source : FileSource or StudySource
        Where the owner says that its rows are.
    each : Budget or None
        What every analyst may spend of its budget.
    groups : mapping of str to Budget
        What the members of a group may spend of it together. A group's total counts what was charged while it stood here.
    store : str
        Of :data:`STORES`.
    numbers : int
        How many numbers may be stored for each analyst, by what their plans say.
    """

    name: str
    source: FileSource | StudySource
    each: Budget | None = None
    groups: Mapping[str, Budget] = field(default_factory=dict)
    store: str = STORES[0]
    numbers: int = NUMBERS

    def groups_of(self, token: Token) -> list[str]:
        """Return the groups named here to which whoever asks belongs: none for an instructor, whose questions count to no class."""
        return [] if "instruct" in token.scopes else self.named_for(token)

    def named_for(self, token: Token) -> list[str]:
        """Return the groups named here of which a token says that they are its own, to ask in or to instruct.

        Raises
        ------
        AccessError
            There are some, and nobody says which: a cap that cannot be looked at lets nothing through.
        """
        if self.groups and token.groups is None:
            raise AccessError(
                "The Hub does not say which groups you belong to. Nothing was spent. Whoever runs it can give your server the "
                "scope read:users:groups!user."
            )
        return [name for name in self.groups if name in (token.groups or ())]


@dataclass(frozen=True, slots=True)
class Settings:
    """A service's settings."""

    home: Home
    host: str
    port: int
    datasets: Mapping[str, ServedDataset]
    certificate: Path | None = None
    key: Path | None = None
    prefix: str = ""
    bucket: float = BUCKET
    work: float = WORK
    free_disk: float = LEAST_FREE
    file: Path = Path("curator.toml")
    hub: Hub | None = None

    def tls(self) -> ssl.SSLContext | None:
        """Return how connections are encrypted; nothing behind a proxy."""
        if self.certificate is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.certificate, self.key)
        except (OSError, ssl.SSLError) as fault:
            raise OwnerError(
                f"certificate = {self.certificate.name} and key = … do not go together, or cannot be read."
            ) from fault
        return context


def read_settings(path: Path) -> Settings:
    """Read a service's file; anything unknown or contradictory is refused with its place.

    Raises
    ------
    OwnerError
        Naming the key and the fix.
    """
    if not path.exists():
        raise OwnerError(f"{path} cannot be read: there is no such file.")
    facts = read_toml(path)
    known(facts, ("service", "datasets", "hub"), path.name)
    service = _section(facts.get("service", {}), f"{path.name}, [service]", _SERVICE)
    folder = path.absolute().parent
    host, port = _listen(str(service.get("listen", "127.0.0.1:8443")))
    certificate, key = _tls(service, host, folder)
    datasets = _section(facts.get("datasets", {}), f"{path.name}, [datasets]")
    if not datasets:
        raise OwnerError(
            f'{path.name} serves nothing: write [datasets.people] with schema = "people.dpnb.toml".'
        )
    if not isinstance(service.get("home"), str):
        raise OwnerError(f'{path.name}, [service]: write home = "home": a service has a folder of its own.')
    home, hub = Home((folder / service["home"]).absolute()), f"{path.name}, [hub]"
    return Settings(
        home,
        host,
        port,
        {name: _dataset(name, found, folder, path.name) for name, found in datasets.items()},
        certificate,
        key,
        _prefix(service.get("prefix", "")),
        _amount(service, "bucket", " of seconds", 10, BUCKET),
        _amount(service, "work", " of seconds", MOST_SECONDS, WORK, LEAST_SECONDS),
        _amount(service, "free_disk", " of MiB", 2**30, LEAST_FREE / 2**20) * 2**20,
        path.absolute(),
        hub_of(_section(facts["hub"], hub, ("api", "service")), os.environ, hub) if "hub" in facts else None,
    )


def _listen(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65_535:
        raise OwnerError(f'listen = "{text}" is not a host and a port: write listen = "0.0.0.0:8443".')
    return host.strip("[]"), int(port)


def _tls(service: Mapping[str, Any], host: str, folder: Path) -> tuple[Path | None, Path | None]:
    found = [folder / service[name] if name in service else None for name in ("certificate", "key")]
    if (found[0] is None) != (found[1] is None):
        raise OwnerError("certificate = … and key = … go together.")
    if found[0] is None and (service.get("behind_proxy") is not True or host not in _LOOPBACK):
        raise OwnerError(
            "Tokens are never sent unencrypted: write certificate = … and key = …, or behind_proxy = true with "
            'listen = "127.0.0.1:8443", where the proxy encrypts.'
        )
    return found[0], found[1]


def _dataset(name: str, facts: Any, folder: Path, file: str) -> ServedDataset:
    where = f"{file}, [datasets.{name}]"
    check_dataset_name(name, where)
    found = _section(facts, where, _DATASET)
    if ("schema" in found) == ("study" in found):
        raise OwnerError(
            f'{where}: write schema = "people.dpnb.toml", which names its source, or study = "hiv".'
        )
    source: FileSource | StudySource
    if "schema" in found:
        source = FileSource(path=str((folder / str(found["schema"])).absolute()))
    else:
        source = StudySource(name=str(found["study"]))
    each = _loss(found["each"], where, "each") if "each" in found else None
    caps = _section(found.get("groups", {}), f"{where}, groups")
    groups = {group_name(group): _loss(cap, where, group) for group, cap in caps.items()}
    store = found.get("store", STORES[0])
    if store not in STORES or (store == "group" and not groups):
        raise OwnerError(
            f'{where}: store is one of {", ".join(STORES)}, and "group" needs groups: write store = "principal".'
        )
    return ServedDataset(
        name, source, each, groups, store, int(_amount(found, "numbers", "", 10**12, NUMBERS))
    )


def _loss(facts: Any, where: str, name: str) -> Budget:
    try:
        return Budget.from_toml(facts)
    except (LossError, TypeError, AttributeError):
        raise OwnerError(f"{where}: {name} is a loss: write {name} = {{ epsilon = 1 }}.") from None


def _prefix(text: Any) -> str:
    if not isinstance(text, str) or (text and not text.startswith("/")) or text.endswith("/"):
        raise OwnerError('prefix is the path at which a proxy serves this: write prefix = "/services/dpnb".')
    return text


def _amount(
    facts: Mapping[str, Any], name: str, of: str, most: float, usual: float, least: Decimal = _NOTHING
) -> float:
    found = facts.get(name, usual)
    if isinstance(found, bool) or not isinstance(found, int | float | Decimal) or not least <= found <= most:
        raise OwnerError(
            f"{name} is a number{of} from {least:g} to {most:,.0f}: write {name} = {usual:.10g}."
        )
    return float(found)


def _section(facts: Any, where: str, keys: tuple[str, ...] | None = None) -> Mapping[str, Any]:
    """Return a section, if it is one and has no other keys than these."""
    if not isinstance(facts, Mapping):
        raise OwnerError(f"{where} is a section: write it as [name] with keys below.")
    if keys is not None:
        known(facts, keys, where)
    return facts
