"""A table in a database server, as a declaration names it: ``source = "postgresql:///clinic?table=visits"``.

The text is a URI of libpq, with ``table=`` beside its own words. No password stands in it: who logs in comes from the
environment of the curator (``PGUSER``, ``PGPASSWORD``), ``~/.pgpass`` or a service file, and is read by the driver alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit, urlunsplit

from dpnb.trusted.canonical import Record
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.records import Section, read_keys

SCHEMES = ("postgresql", "postgres")
_SECRETS = ("password", "sslpassword")


@dataclass(frozen=True, slots=True)
class ServerTable:
    """Where a server's table is, and how it may be read.

    Attributes
    ----------
    uri : str
        A URI of libpq, without a password and without the table.
    table : str
        ``visits``, or ``clinic.visits`` in a schema of its own.
    copy : bool
        Whether a prepared copy may be written into the server; without one every batch reads the table itself.
    version : str or None
        The version of the data, where the owner declares it: then the table is not looked over at an opening.
    """

    uri: str
    table: str
    copy: bool = True
    version: str | None = None

    @classmethod
    def of(cls, source: str, table: str | None, facts: Section, where: str) -> ServerTable:
        """Read a source and its ``[source]`` section.

        Raises
        ------
        OwnerError
            When a password stands in it, no table is named, or a key is unknown.

        Examples
        --------
        >>> ServerTable.of(
        ...     "postgresql://db.example/clinic?table=visits&sslmode=require", None, {}, "people.dpnb.toml"
        ... )
        ServerTable(uri='postgresql://db.example/clinic?sslmode=require', table='visits', copy=True, version=None)
        """
        parts = _parts(source, where)
        words = parse_qsl(parts.query, keep_blank_values=True)
        if ":" in parts.netloc.rpartition("@")[0] or any(word.lower() in _SECRETS for word, _ in words):
            raise OwnerError(
                f"{where}: source = … contains a password: take it out of this file, change it on the server if anybody "
                "has read it, and put the new one into ~/.pgpass, a service file or PGPASSWORD"
            )
        named = [value for word, value in words if word == "table"] or ([] if table is None else [table])
        if len(named) != 1 or not named[0]:
            raise OwnerError(f'{where}: source names no table: write source = "{_example(parts)}"')
        rest = urlencode([(word, value) for word, value in words if word != "table"], quote_via=quote)
        kept = urlunsplit((SCHEMES[0], parts.netloc, parts.path, rest, ""))
        uri = kept if parts.netloc else kept.replace(f"{SCHEMES[0]}:/", f"{SCHEMES[0]}:///", 1)
        return cls(uri, named[0], **_checked(facts, f"{where}, [source]"))

    @property
    def names(self) -> tuple[str, ...]:
        """The table's own name, its schema's before it where one is written."""
        return tuple(self.table.split(".", 1))


def is_server(source: object) -> bool:
    """Tell whether a source is a server's table rather than a file."""
    return isinstance(source, str) and source.partition("://")[0].lower() in SCHEMES


def _parts(source: str, where: str) -> SplitResult:
    try:
        return urlsplit(source)
    except ValueError:
        raise OwnerError(
            f'{where}: source is not an address: write source = "postgresql://host/database?table=visits"'
        ) from None


def _example(parts: SplitResult) -> str:
    return f"postgresql://{parts.hostname or ''}{parts.path or '/database'}?table=visits"


def _checked(facts: Section, where: str) -> Record:
    """The keys of ``[source]`` that a server's table has."""
    found = read_keys(facts, {"copy": False, "version": "2026-11"}, where)
    if found.get("copy") is False and "version" not in found:
        raise OwnerError(
            f"{where}: without a copy every batch reads the table itself, so you declare when its data change: "
            'write version = "2026-11" beside copy = false'
        )
    return found
