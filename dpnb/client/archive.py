"""A study as one file: everything a referee needs, and nothing that was not released.

A zip archive of plain files: results with all digits, a table for each, schemas without data, the ledger as you may see it, versions,
the methods paragraph, the report, and the cells of the notebook. A manifest holds the digest of each file, so that a damaged copy is
noticed (it is no signature: who changes a file can change its digest).
"""

from __future__ import annotations

import hashlib
import json
import platform
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpnb.client.api import called_here, report
from dpnb.client.arguments import checked_call
from dpnb.errors import OptionError
from dpnb.estimate import Estimate, Table, current_host
from dpnb.estimate.table import json_text
from dpnb.trusted.canonical import Record

if TYPE_CHECKING:
    from dpnb.client.handles import Dataset

_FORMAT = 1
_LARGEST = 256 * 1024 * 1024  # bytes, unpacked; a larger archive is not read
# what zipfile, zlib and json raise on bytes that are not what they should be
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    RuntimeError,
    LookupError,
    TypeError,
    AttributeError,
    ValueError,
)
_PACKAGES = ("dpnb", "numpy", "scipy", "duckdb", "msgspec")


@dataclass(frozen=True, slots=True)
class Archive:
    """A study that was archived.

    Parameters
    ----------
    path : Path
        The file.
    results : dict
        For each name its question, value, intervals, loss and releases, as plain values.
    tables : dict of str to Table
        The same numbers, a row for each; an end that is infinite or undefined is ``None``.
    schemas : dict
        For each dataset its declaration; no data.
    ledger : list of dict
        The ledger's rows as its asker could see them; losses exactly, as texts.
    versions : dict
        Python and packages.
    methods : str
        The methods paragraph.
    cells : tuple of str
        The notebook's cells in the order in which they ran; none of a script.
    """

    path: Path
    results: Record
    tables: dict[str, Table]
    schemas: Record
    ledger: list[Record]
    versions: dict[str, str]
    methods: str
    cells: tuple[str, ...]

    def __repr__(self) -> str:
        count = "1 result" if len(self.results) == 1 else f"{len(self.results):,} results"
        cells = f", {len(self.cells):,} cells" if self.cells else ""
        about = " and ".join(self.schemas) or "no dataset"
        return f"<archive {self.path.name}: {count} about {about}, {len(self.ledger):,} ledger rows{cells}>"


class Archiver:
    """Write a study into one file; ``archive.read`` reads it."""

    @checked_call("dpnb.archive")
    def __call__(self, path: str | Path, items: object = None) -> Archive:
        """Write released answers with all that a referee needs.

        Parameters
        ----------
        path : path
            The zip file to write.
        items : mapping of str to Estimate, or estimates, optional
            What to archive; in a notebook by default every released answer that has a name.

        Returns
        -------
        Archive
            What was written, read back.

        Raises
        ------
        OptionError
            Another ending than .zip.
        PlanError
            Nothing to archive, or something that is not released yet.

        Examples
        --------
        >>> dpnb.archive("study.zip", {"effect": effect})  # doctest: +SKIP
        >>> dpnb.archive.read("study.zip").tables["effect"]  # doctest: +SKIP
        """
        target = Path(path)
        if target.suffix.lower() != ".zip":
            raise OptionError(f'An archive is a zip file: dpnb.archive("{target.stem or "study"}.zip").')
        named = _named(items)
        files = _files(named)
        files["manifest.json"] = json_text(_manifest(files)).encode()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in sorted(files.items()):
                packed.writestr(name, content)
        return self.read(target)

    @checked_call("dpnb.archive.read")
    def read(self, path: str | Path) -> Archive:
        """Open an archive; every file is held against its digest, nothing in it is run.

        Raises
        ------
        OptionError
            A file that is no archive of dpnb, is damaged, or is too large.
        """
        try:
            with zipfile.ZipFile(path) as packed:
                return _opened(Path(path), _unpacked(packed))
        except OptionError:
            raise
        except FileNotFoundError:
            raise OptionError("There is no such archive. Check the path.") from None
        except _DAMAGE:
            raise OptionError("This file is not an archive of dpnb, or it is damaged.") from None


archive = Archiver()


def _named(items: Any) -> Mapping[str, Any]:
    """What to archive, by name."""
    if items is None:
        items = called_here('archive: dpnb.archive("study.zip", {"effect": effect})')
    if isinstance(items, Mapping):
        return items
    single = [items] if hasattr(items, "text") or hasattr(items, "estimate") else items
    return {getattr(one, "estimate", one).text: one for one in single}


def _files(named: Mapping[str, Any]) -> dict[str, bytes]:
    written = report(named)
    estimates = {str(name): getattr(one, "estimate", one) for name, one in named.items()}
    datasets = _datasets(estimates)
    results = {name: one.to_dict() for name, one in estimates.items()}
    rows = [row for one in datasets.values() for row in one.session.ledger(one)]
    files = {
        "results.json": json_text(results),
        "tables.json": json_text({name: _columns(one.table()) for name, one in estimates.items()}),
        "schemas.json": json_text({name: one.schema.to_json() for name, one in datasets.items()}),
        "ledger.json": json_text(rows),
        "versions.json": json_text(_versions()),
        "cells.json": json_text(list(current_host().cells())),
        "methods.txt": written.methods + "\n",
        "report.html": written.html,
    }
    files |= {f"tables/{place:03}.csv": one.to_csv() for place, one in enumerate(estimates.values(), 1)}
    return {name: text.encode() for name, text in files.items()}


def _datasets(estimates: Mapping[str, Estimate]) -> dict[str, Dataset]:
    found = [leaf.dataset for one in estimates.values() for leaf in one.leaves()]
    return {one.name: one for one in found if one is not None}


def _columns(table: Table) -> dict[str, Any]:
    plain = json.loads(table.to_json())
    return {
        "columns": {name: [row[name] for row in plain] for name in table.columns},
        "keys": list(table.keys),
        "estimand": table.estimand,
    }


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _manifest(files: Mapping[str, bytes]) -> Record:
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())}
    return {"format": _FORMAT, "files": digests}


def _unpacked(packed: zipfile.ZipFile) -> dict[str, bytes]:
    """The files of an archive, if they are those that its manifest names."""
    if sum(entry.file_size for entry in packed.infolist()) > _LARGEST:
        raise OptionError(f"This archive is larger than {_LARGEST // 2**20} MB unpacked: it is not read.")
    files = {entry.filename: packed.read(entry) for entry in packed.infolist()}
    manifest = files.pop("manifest.json", b"")
    if not manifest or json.loads(manifest) != _manifest(files):
        raise zipfile.BadZipFile
    return files


def _opened(path: Path, files: Mapping[str, bytes]) -> Archive:
    tables = json.loads(files["tables.json"])
    return Archive(
        path=path,
        results=json.loads(files["results.json"]),
        tables={
            name: Table(one["columns"], tuple(one["keys"]), one["estimand"]) for name, one in tables.items()
        },
        schemas=json.loads(files["schemas.json"]),
        ledger=json.loads(files["ledger.json"]),
        versions=json.loads(files["versions.json"]),
        methods=files["methods.txt"].decode().rstrip("\n"),
        cells=tuple(json.loads(files["cells.json"])),
    )
