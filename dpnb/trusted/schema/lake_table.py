"""A table or a folder of Parquet that Spark reads, as a declaration names it: ``source = "spark:lake.visits"``.

Which Spark that is, and who logs in where, comes from Spark's own configuration on the curator's side; nothing of it stands here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dpnb.trusted.errors import OwnerError
from dpnb.trusted.records import Section, read_keys

SCHEME = "spark:"
_ADDRESS = r"[A-Za-z][A-Za-z0-9+.-]*://"
_PATTERN = set("*?[]{}\\")


@dataclass(frozen=True, slots=True)
class LakeTable:
    """Where a table of a lake is.

    Attributes
    ----------
    table : str
        ``lake.visits`` in Spark's catalogue; an absolute path or an address of a folder, ``s3a://lake/visits``.
    version : str or None
        The version of the data, where the owner declares it: then the table is not looked over at an opening.
    """

    table: str
    version: str | None = None

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder of Parquet files rather than a table of the catalogue."""
        return "/" in self.table

    @classmethod
    def of(cls, source: str, table: str | None, facts: Section, where: str) -> LakeTable:
        """Read a source and its ``[source]`` section.

        Raises
        ------
        OwnerError
            When a password stands in it, no table is named, or a key is unknown.

        Examples
        --------
        >>> LakeTable.of("spark:s3a://lake/visits", None, {"version": "2026-11"}, "people.dpnb.toml")
        LakeTable(table='s3a://lake/visits', version='2026-11')
        """
        if table is not None:
            raise OwnerError(f'{where}: write the table into source, "spark:{table}", and remove table = …')
        table = source[len(SCHEME) :]
        address = re.match(_ADDRESS, table)
        if address is not None and "@" in table[address.end() :].partition("/")[0]:
            raise OwnerError(
                f"{where}: source = … contains a login: take it out of this file, change the password if anybody has read "
                "it, and put the new one into the spark-defaults.conf of the curator"
            )
        if not table or (address is None and "/" in table and not table.startswith("/")):
            raise OwnerError(
                f'{where}: source names no table: write source = "spark:lake.visits", '
                'or a folder of Parquet from its root, "spark:/data/visits" or "spark:s3a://lake/visits"'
            )
        if "/" in table and _PATTERN & set(table):
            raise OwnerError(
                f"{where}: source is one folder, and in Spark *, ?, braces and brackets name many: rename it"
            )
        if "copy" in facts:
            raise OwnerError(f"{where}, [source]: Spark reads a prepared copy: remove copy = …")
        return cls(table, **read_keys(facts, {"version": "2026-11"}, f"{where}, [source]"))


def is_lake(source: object) -> bool:
    """Tell whether a source is read by Spark."""
    return isinstance(source, str) and source.startswith(SCHEME)
