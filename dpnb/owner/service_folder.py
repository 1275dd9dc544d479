"""``dpnb serve init FOLDER``: four questions, and a folder from which a service can be started.

It holds the configuration, a certificate with the authority that signed it, a unit for systemd, and a home with a first token. The
authority's key is thrown away: a new folder has a new authority.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import re
import secrets
import shutil
import socket
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from dpnb.errors import OwnerError
from dpnb.trusted.files.named_file import read_toml
from dpnb.trusted.owner.issued_tokens import tokens_of
from dpnb.trusted.records import check_dataset_name
from dpnb.trusted.serving.settings import read_settings
from dpnb.trusted.wire.places import write_private

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_PLAIN = re.compile(r"[^\s%\"'\\$;]+")
"""A path that systemd reads in a unit as it stands."""
_HOMES = ("/home", "/root", "/run/user")
"""What ``ProtectHome=yes`` hides."""
_STUDY = "study:"
_PORT = 8443
_DAYS = 825
"""How long a certificate holds."""
_CONFIG = """[service]
home = "home"                   # ledger, prepared copies, tokens and log: back it up (dpnb backup)
listen = "{listen}:{port}"
certificate = "host.pem"
key = "host.key"

[datasets."{name}"]
{source}
each = {{ epsilon = {epsilon} }}
"""
_NEXT = """Wrote {folder}. Three steps are left:
  1. sudo useradd --system dpnb; sudo chown -R dpnb: {folder}; let dpnb, and nobody else, read the data
  2. sudo cp {folder}/dpnb-curator.service /etc/systemd/system/; sudo systemctl enable --now dpnb-curator
  3. give {who} the file ca.pem, and these three lines (the token is not shown again):
     export DPNB_SERVICE=https://{address}:{port}
     export DPNB_CA=ca.pem
     export DPNB_TOKEN={token}"""

_UNREACHED = """
In a home, which the unit lets be read and the user dpnb can usually not enter: {places}. Better have them in /srv or /opt."""


def make_service_folder(folder: Path, ask: Callable[[str, str], str]) -> str:
    """Ask four questions, and write a folder from which a service can be started.

    Parameters
    ----------
    folder : Path
        Made here (mode 0700); it must not exist.
    ask : callable
        ``ask(question, usual)`` returns what the owner answers.

    Returns
    -------
    str
        What is left to do, with the token of the first analyst.

    Raises
    ------
    OwnerError
        When the folder exists, or an answer cannot be used. Nothing is left then.
    """
    folder = folder.absolute()
    if folder.exists():
        raise OwnerError(f"{folder} exists and is left as it is. Name a new folder.")
    _refuse_for_systemd(folder, "Name a folder such as /srv/dpnb")
    program = shutil.which("dpnb") or sys.executable
    _refuse_for_systemd(program, "Install dpnb elsewhere, for example in /opt/dpnb")
    declared = ask("Declaration of the dataset (people.dpnb.toml), or study:hiv", "")
    name, source = _dataset(declared)
    host = ask("Name of this host, as analysts write it", socket.getfqdn())
    address, listen = _address(host)
    epsilon = ask("What each analyst may spend, in ε", "1")
    who = ask("The first analyst, by a name that stays (ada@uni.example)", "")
    read = [
        folder,
        Path(program),
        Path(sys.executable),
        *([] if declared.startswith(_STUDY) else [Path(declared)]),
    ]
    hidden = _in_homes(read)
    draft = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    try:
        draft.mkdir(mode=0o700)
        _write_certificate(draft, host)
        config = _CONFIG.format(listen=listen, port=_PORT, name=name, source=source, epsilon=epsilon)
        write_private(draft / "curator.toml", config.encode())
        unit = unit_text().format(
            what="dpnb: protected datasets",
            user="dpnb",
            folder=folder,
            program=f"{program} -m dpnb" if program == sys.executable else program,
            home="read-only" if hidden else "yes",
        )
        write_private(draft / "dpnb-curator.service", unit.encode())
        token, _ = tokens_of(read_settings(draft / "curator.toml").home.make()).issue(who, ("release",), 30)
        draft.rename(folder)
    except OSError as fault:
        raise OwnerError(f"{folder} cannot be written: {fault.strerror}.") from fault
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    told = _NEXT.format(folder=folder, who=who, address=address, port=_PORT, token=token)
    return told + (_UNREACHED.format(places=", ".join(hidden)) if hidden else "")


def _refuse_for_systemd(place: str | Path, fix: str) -> None:
    """Refuse a path that a unit would have to quote."""
    if not _PLAIN.fullmatch(str(place)):
        raise OwnerError(f"{place} has a blank, a quote or a sign that systemd reads otherwise. {fix}.")


def _in_homes(places: Sequence[Path]) -> list[str]:
    """Return the places, where they really are, that are in somebody's home."""
    homes, real = [Path.home().resolve(), *map(Path, _HOMES)], [place.resolve() for place in places]
    return [*dict.fromkeys(str(one) for one in real if any(one.is_relative_to(home) for home in homes))]


def _address(host: str) -> tuple[str, str]:
    """Return a host as it stands in an address, and what a service listens on that is reached there."""
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).version == 6 and "%" not in host:
            return f"[{host}]", "[::]"
    if not _HOST.fullmatch(host):
        raise OwnerError(f"{host} is not the name or address of a host: write curator.uni.example.")
    return host, "0.0.0.0"  # noqa: S104 - of every network that the host is in


def unit_text() -> str:
    """Return a curator's unit for systemd, with ``{what}``, ``{user}``, ``{folder}``, ``{program}`` and ``{home}`` to fill in."""
    return files("dpnb.owner").joinpath("curator.service").read_text(encoding="utf-8")


def _dataset(answer: str) -> tuple[str, str]:
    """Return the name of a dataset, and the line that says where it is from."""
    if answer.startswith(_STUDY):
        name = answer.removeprefix(_STUDY)
        check_dataset_name(name, "study:")
        return name, f'study = "{name}"'
    schema = Path(answer).absolute()
    name = str(read_toml(schema).get("dataset", {}).get("name", ""))
    check_dataset_name(name, schema.name)
    return name, f"schema = {json.dumps(str(schema), ensure_ascii=False)}"


def _write_certificate(folder: Path, host: str) -> None:
    """Write a host's certificate and key, and the authority that signed it, whose key nobody keeps."""
    try:
        alternative: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        alternative = x509.DNSName(host)
    ours, theirs = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority = _named("dpnb service").issuer_name(_name("dpnb service")).public_key(ours.public_key())
    authority = authority.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    authority = authority.add_extension(_usage(signs=True), critical=True)
    made = _named(host).issuer_name(_name("dpnb service")).public_key(theirs.public_key())
    made = made.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    made = made.add_extension(_usage(signs=False), critical=True)
    made = made.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    made = made.add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
    identifier = x509.SubjectKeyIdentifier.from_public_key(ours.public_key())
    authority = authority.add_extension(identifier, critical=False)
    known = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)
    made = made.add_extension(known, critical=False)
    for name, builder in (("ca.pem", authority), ("host.pem", made)):
        signed = builder.sign(ours, hashes.SHA256())
        (folder / name).write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    key = theirs.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    write_private(folder / "host.key", key)


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common[:64])])


def _named(common: str) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(_name(common)).serial_number(x509.random_serial_number())
    return builder.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(days=_DAYS))


def _usage(*, signs: bool) -> x509.KeyUsage:
    others = dict.fromkeys(
        ("content_commitment", "data_encipherment", "key_agreement", "encipher_only", "decipher_only"), False
    )
    return x509.KeyUsage(
        digital_signature=not signs, key_encipherment=False, key_cert_sign=signs, crl_sign=signs, **others
    )
