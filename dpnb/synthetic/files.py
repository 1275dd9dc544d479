"""Synthetic tables as a folder that reads anywhere: one file for each table, and ``synthetic.json``, which says what they are.

The sidecar holds what was measured, the noised tables, the level that intervals hold, what the rows may be used for, and the SHA-256 of every
file. ``dpnb.open_synthetic(folder)`` gives the same result again; docs/how-to/synthetic.md reads a folder with pandas alone.
"""

from __future__ import annotations

import csv
import hashlib
import importlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpnb.errors import DpnbError, OptionError, PlanError
from dpnb.synthetic.synthetic import Synthetic
from dpnb.trusted.canonical import Record
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.version import __version__

SIDECAR = "synthetic.json"
FORMAT = 1
_LARGEST = 64 * 2**20
WARNING = "Intervals computed on one table as if its rows were people hold 26 % to 83 % of the time where 95 % is said: compute on every table, and combine."


def uses(result: Synthetic) -> dict[str, str]:
    """Return what the rows may be used for, in words: for intervals, for looking, and for what not."""
    measured = ", ".join(" by ".join(pair) for pair in result.pairs)
    held = {0.95: "95 % intervals hold", 0.9: "intervals that say 95 % hold about 90 % of the time"}
    level = held.get(result.level or 0, "no interval holds: these tables are for looking alone")
    return {
        "intervals": f"Combined over all {result.count} tables, {level}.",
        "supported": f"Analyses whose columns were all measured in pairs. Measured: {measured}.",
        "modelled": "What needs three columns at once follows from the model of the pairs; it was not measured.",
        "unsupported": "Columns whose pair was not measured: the rows hold them independent given the others.",
        "warning": WARNING,
    }


def citation(result: Synthetic) -> str:
    """Return how the folder is cited."""
    paid = PrivacyLoss.from_json(result.released.paid) if result.released.paid else None
    return (
        f"{result.dataset}: {result.count} differentially private synthetic tables of {', '.join(result.design.names)}"
        f"{f' ({paid})' if paid else ''}, made with dpnb {__version__}."
    )


# ---------------------------------------------------------------- writing


def write(result: Synthetic, folder: str | Path, kind: str) -> Path:
    """Write the tables and their sidecar into a new folder.

    Parameters
    ----------
    result : Synthetic
        Released.
    folder : path
        Made; nothing is overwritten.
    kind : "csv" or "parquet"

    Returns
    -------
    Path
        The sidecar.

    Raises
    ------
    OptionError
        When the folder is there already or cannot be made, or pyarrow is missing.
    """
    found, made = contents(result, kind), Path(folder).expanduser()
    try:
        made.mkdir(parents=True)
    except FileExistsError:
        raise OptionError(f"{folder} exists and is left as it is. Name a new folder.") from None
    except OSError as fault:
        raise OptionError(f"{folder} cannot be made: {fault.strerror}.") from None
    for name, content in found.items():
        (made / name).write_bytes(content)
    return made / SIDECAR


def contents(result: Synthetic, kind: str) -> dict[str, bytes]:
    """Return all that is written, by file name; the sidecar, which holds the digests of the others, is the last."""
    written = _csv if kind == "csv" else _parquet
    found = {f"table-{place + 1:02}.{kind}": written(result.rows(place)) for place in range(result.count)}
    record = {
        "dpnb synthetic": FORMAT,
        "made with": f"dpnb {__version__}",
        "use": uses(result),
        "cite": citation(result),
        "files": [{"name": name, "sha256": digest(content)} for name, content in found.items()],
        "release": result.record(),
    }
    text = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    return {**found, SIDECAR: text.encode()}


def _csv(columns: Mapping[str, np.ndarray]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    return out.getvalue().encode()


def _parquet(columns: Mapping[str, np.ndarray]) -> bytes:
    out = io.BytesIO()
    arrow, parquet = _arrow("pyarrow"), _arrow("pyarrow.parquet")
    parquet.write_table(arrow.table({name: values.tolist() for name, values in columns.items()}), out)
    return out.getvalue()


def _arrow(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise OptionError(
            "Parquet needs pyarrow: pip install pyarrow. .to_csv(folder) does without."
        ) from None


def digest(content: bytes) -> str:
    """Return the SHA-256 of a file's content."""
    return hashlib.sha256(content).hexdigest()


# ---------------------------------------------------------------- reading


def open_synthetic(folder: str | Path) -> Synthetic:
    """Open a folder of synthetic tables that ``to_csv`` or ``to_parquet`` wrote: the same frames, analyses and intervals, without a curator.

    Parameters
    ----------
    folder : path
        Or its ``synthetic.json``.

    Raises
    ------
    PlanError
        When it is no such folder, or a file in it is missing or was changed.
    """
    place = Path(folder).expanduser()
    place = place.parent if place.name == SIDECAR else place
    record = _sidecar(place)
    try:
        release, names = record["release"], [(one["name"], one["sha256"]) for one in record["files"]]
        keys = {one["name"]: _typed(one) for one in release["columns"]}
        tables = [_read(place, name, known, keys) for name, known in names]
        return Synthetic.read(release, tables)
    except DpnbError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as fault:
        raise PlanError(
            f"{place / SIDECAR} is damaged ({type(fault).__name__}): get the folder from where it was published again."
        ) from None


def verify_folder(place: Path, signed: str) -> None:
    """Hold a folder against the digest of its sidecar that its owner signed, and each table against the sidecar.

    Raises
    ------
    PlanError
        When something is missing or was changed.
    """
    if digest(_content(place)) != signed:
        raise PlanError(
            f"{place / SIDECAR} is not what its owner signed. Get the folder from where it was published again."
        )
    open_synthetic(place)


def _content(place: Path) -> bytes:
    try:
        return (place / SIDECAR).read_bytes()[: _LARGEST + 1]
    except OSError as fault:
        raise PlanError(
            f"{place} has no {SIDECAR} that can be read ({fault.strerror}). Name a folder that .to_csv(folder) or .to_parquet(folder) wrote."
        ) from None


def _sidecar(place: Path) -> Record:
    content = _content(place)
    try:
        found = json.loads(content) if len(content) <= _LARGEST else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or "dpnb synthetic" not in found:
        raise PlanError(f"{place / SIDECAR} was not written by dpnb, or it is damaged.")
    if found["dpnb synthetic"] != FORMAT:
        raise PlanError(f"{place / SIDECAR} was written by a newer dpnb. Upgrade dpnb to open it.")
    return found


def _typed(column: Record) -> Callable[[Any], Any]:
    """Return what a cell of a column stands for: a number in a bin, or one of the declared values."""
    if column["edges"] is not None:
        return (lambda cell: int(float(cell))) if column["whole"] else float
    known = {str(key): key for key in column["keys"]}
    return lambda cell: known[str(cell)]


def _read(
    place: Path, name: str, known: str, keys: Mapping[str, Callable[[Any], Any]]
) -> dict[str, np.ndarray]:
    """Return the columns of one table.

    Raises
    ------
    PlanError
        When its file is missing, or is not the one that was written.
    """
    if Path(name).name != name or name.rpartition(".")[2] not in {"csv", "parquet"}:
        raise ValueError(name)
    try:
        content = (place / name).read_bytes()
    except OSError as fault:
        raise PlanError(
            f"{place / name} cannot be read ({fault.strerror}). Intervals need every table: get it from where the folder was published."
        ) from None
    if digest(content) != known:
        raise PlanError(
            f"{place / name} was changed since it was written: its SHA-256 is not that of {SIDECAR}. Get the folder again."
        )
    columns = _rows_of_csv(content) if name.endswith(".csv") else _rows_of_parquet(content)
    found = {column: list(map(meant, columns[column])) for column, meant in keys.items()}
    return {
        name: np.array(cells, dtype=object if isinstance(cells[0], str) else None)
        for name, cells in found.items()
    }


def _rows_of_csv(content: bytes) -> dict[str, Sequence[Any]]:
    head, *rows = csv.reader(io.StringIO(content.decode()))
    return dict(zip(head, zip(*rows, strict=True), strict=True))


def _rows_of_parquet(content: bytes) -> dict[str, Sequence[Any]]:
    found: dict[str, Sequence[Any]] = _arrow("pyarrow.parquet").read_table(io.BytesIO(content)).to_pydict()
    return found
