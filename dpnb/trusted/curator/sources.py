"""Where an attach finds its rows and its terms: a study, an owner's file, or arrays that a kernel handed over.

Everything here is read by the owner's act of attaching; faults of files are told to the owner and never depend on a row's
value. A fingerprint recognises content (:mod:`dpnb.trusted.curator.content`); it stays in the curator.
"""

from __future__ import annotations

import contextlib
import importlib
import secrets
import shlex
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, cast

import numpy as np

from dpnb.trusted.curator.content import digest, frame_digest, may_be_guessed, places_of
from dpnb.trusted.curator.engines.raw_table import refuse_empty, told_apart
from dpnb.trusted.curator.pins import owners_act
from dpnb.trusted.errors import OwnerError, SchemaError
from dpnb.trusted.files.dialect import Dialect
from dpnb.trusted.files.named_file import EVERY, NamedFile, NamedFiles, Tables, every, format_of
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.schema import Mode, Schema, nearest
from dpnb.trusted.schema.cell import QUANTISER_VERSION
from dpnb.trusted.schema.dataset import SEEN_ON_DATA
from dpnb.trusted.schema.lake_table import LakeTable
from dpnb.trusted.schema.owner import OwnedDataset, beside, load
from dpnb.trusted.schema.server_table import ServerTable
from dpnb.trusted.wire.codec import exact_json
from dpnb.trusted.wire.messages import FileSource, HandOver, StudySource
from dpnb.trusted.wire.places import Home

Rows = NamedFile | Tables | Mapping[str, np.ndarray]

HELD = "This kernel already had these rows: protection against accidents begins now."
POOLED = (
    "This dataset shares its budget with the others of pool {pool}; overlap between them is not detected."
)

NO_COPY = (
    "Without a prepared copy every batch reads the server's table itself and computes all codes again: a batch takes several times "
    "as long as on a copy, and answers of one version are of the rows as they were when each was asked."
)

SEEN = "Bounds seen on data: the owner chose them after a look at the rows, and no guarantee covers what they say."


_NO_FILE = f"{owners_act('SCHEMA')}, where SCHEMA is a file that declares this dataset"


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """The rows of an attach, its schema, the name in the ledger, and what the card must say. Close it when it was read.

    Parameters
    ----------
    schema : Schema
    known_as : str
        The dataset's name in the ledger.
    fingerprint : str
        Recognises the content.
    rows : callable
        Returns an open file, or raw columns.
    table : str, optional
        The table of a DuckDB file.
    notes : tuple of str
    recognise : callable, optional
        Returns the fingerprint of the content as it is now, if it never changed; for what can change while it is read.
    marks : tuple of str
        What the rows are known by under any name: each file by its bytes, whichever of its columns are declared.
    places : tuple of str
        What the paths of its files are known by.
    declared : Path, optional
        The file of the schema, where it was read from one.
    server : ServerTable or LakeTable, optional
        The table of a server or of Spark that the rows are in; they are fetched when they are first asked for.
    close : callable, optional
        Lets go of rows that were fetched.
    """

    schema: Schema
    known_as: str
    fingerprint: str
    rows: Callable[[], Rows]
    table: str | None = None
    notes: tuple[str, ...] = ()
    recognise: Callable[[], str] | None = None
    marks: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    declared: Path | None = None
    server: ServerTable | LakeTable | None = None
    close: Callable[[], None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.close is not None:
            self.close()
            return
        rows = self.rows()
        if isinstance(rows, NamedFile | NamedFiles):
            rows.close()

    @property
    def state(self) -> str:
        """What is equal for equal codes: answers that are stored for one are stored for the other."""
        return digest(self.fingerprint, QUANTISER_VERSION)

    @contextlib.contextmanager
    def schema_named(self) -> Iterator[None]:
        """Let a refusal that tells an owner what to type name the schema's own file, wherever it lies."""
        try:
            yield
        except OwnerError as error:
            usual = owners_act(f"{self.known_as}.dpnb.toml")
            read = self.server is not None or isinstance(self.rows(), NamedFile | NamedFiles)
            if usual not in error.message or (self.declared is None and read):
                raise
            act = _NO_FILE if self.declared is None else owners_act(shlex.quote(str(self.declared)))
            raise OwnerError(error.message.replace(usual, act), **error.details) from None

    def check_unchanged(self) -> None:
        """Refuse content that changed while it was read: it would be filed under the version it had before."""
        if self.recognise is not None and self.recognise() != self.fingerprint:
            raise OwnerError(f"{self.schema.name}: the file changed while it was read. Open it again.")


def look_up(
    source: StudySource | FileSource | HandOver,
    mode: str | None,
    home: Home,
    studies: str | None = None,
    *,
    serves: bool = False,
) -> OpenedSource:
    """Find the rows and the terms of an attach; `studies` is the module that finds public studies by name.

    With `serves` the data are another user's than whoever asks, so that they may be ENFORCED.

    Raises
    ------
    OwnerError, SchemaError
        When the schema, the file or the mode is not usable; the message names the fix.
    """
    if isinstance(source, StudySource):
        found = _study(source.name, studies)
    elif isinstance(source, FileSource):
        found = _file(source, home)
    else:
        found = _handed_over(source, home)
    found = _apart(_in_mode(found, mode, serves=serves))
    return replace(found, notes=(*found.notes, *_notes(found.schema)))


def _notes(schema: Schema) -> Iterator[str]:
    """What the card must say of a schema."""
    if schema.pool is not None:
        yield POOLED.format(pool=schema.pool)
    if schema.bounds == SEEN_ON_DATA:
        yield SEEN


def _study(name: str, studies: str | None) -> OpenedSource:
    if studies is None:
        raise OwnerError("This curator serves no built-in studies. Open a file of your own.")
    study = importlib.import_module(studies).find(name)
    columns = study.load()
    known = frame_digest(columns)
    return OpenedSource(study.schema, study.name, known, lambda: columns, marks=(known,))


def _file(source: FileSource, home: Home) -> OpenedSource:
    path, declared = _named(source.path, home), None
    if bytes(source.schema) != b"null":
        owned = OwnedDataset(_schema(source.schema), every(path), dialect=_dialect(source.dialect))
    elif path.name.endswith(".toml"):
        owned, declared = load(path), path
    else:
        terms = _named(source.schema_path, home) if source.schema_path else beside(path)
        declared = _named(str(terms), home)
        owned = load(declared, source=path)
    if owned.server is not None:
        found = _in_server(owned.server, owned.schema, home)
        return replace(_with_others(found, owned, home) if owned.others else found, declared=declared)
    if owned.source is None:
        raise OwnerError(f'{path.name} names no source: write source = "people.csv" under [dataset].')
    found = _held_open(owned, NamedFile.open(_named(str(owned.source), home), owned.dialect))
    if owned.others:
        found = _with_others(found, owned, home)
    return replace(found, declared=declared)


def _with_others(found: OpenedSource, owned: OwnedDataset, home: Home) -> OpenedSource:
    """A file and the other tables of its declaration, all held open; content is known by each of them."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(found)
        tables = {}
        for name, (place, dialect) in owned.others.items():
            other = OwnedDataset(found.schema, place, dialect=dialect)
            tables[name] = stack.enter_context(
                _held_open(other, NamedFile.open(_named(str(place), home), dialect))
            )
        stack.pop_all()
    every = (found, *tables.values())

    def now() -> str:
        return digest(*(one.fingerprint if one.recognise is None else one.recognise() for one in every))

    own, *others = (cast("NamedFile", one.rows()) for one in every)
    files = NamedFiles(own, dict(zip(tables, others, strict=True)))
    fingerprint = digest(*(one.fingerprint for one in every))
    marks = tuple(mark for one in every for mark in one.marks)
    places = tuple(place for one in every for place in one.places)
    known = replace(found, fingerprint=fingerprint, recognise=now, marks=marks, places=places)
    return replace(known, rows=lambda: files, close=None)


def _in_server(table: ServerTable | LakeTable, schema: Schema, home: Home) -> OpenedSource:
    """A table as it was looked over: known by which table it is, whatever it holds and is called; its rows by what they say."""
    place: Any
    if isinstance(table, LakeTable):
        from dpnb.trusted.curator.engines import spark_table as place
    else:
        from dpnb.trusted.curator.engines import postgres_table as place

    identity, version = place.identified(table, schema)
    fetched: list[NamedFile] = []

    def rows() -> NamedFile:
        if not fetched:
            aside = home.prepared / f".fetched-{secrets.token_hex(8)}.csv"
            fetched.append(place.fetch(table, schema, version, aside))
        return fetched[0]

    def close() -> None:
        while fetched:
            fetched.pop().close()

    notes = (NO_COPY,) if isinstance(table, ServerTable) and not table.copy else ()
    return OpenedSource(
        schema, schema.name, version, rows, notes=notes, marks=(identity,), server=table, close=close
    )


def _held_open(owned: OwnedDataset, file: NamedFile) -> OpenedSource:
    """An open file as it was found: closed again where it cannot be read."""
    schema, table = owned.schema, owned.table

    def fingerprint(each: list[str]) -> str:
        return digest(*each, kind, table or "", repr(owned.dialect))

    def now() -> str:
        each = [part.digest() for part in file.parts]
        return fingerprint(each) if file.stamp() == stamp else "another"

    try:
        refuse_empty(file)
        kind, stamp, each = format_of(file.path), file.stamp(), [part.digest() for part in file.parts]
        marks = tuple(digest(one, told_apart(file, table)) for one in each)
        known = OpenedSource(schema, schema.name, fingerprint(each), lambda: file, table, recognise=now)
        return replace(known, marks=marks, places=places_of(file))
    except BaseException:
        file.close()
        raise


def _named(text: str, home: Home) -> Path:
    """Return a path that the system can look up, whether or not something is there; never a file of the home's own.

    Its rows are nobody's; and a file that this process opens and closes again loses every lock that SQLite has on it.
    """
    if Path(text).name == EVERY:
        for file in Path(text).parent.glob("*"):
            _named(str(file), home)
    try:
        Path(text).lstat()
        with contextlib.suppress(OSError):
            if home.owns(Path(text).stat()):
                raise OwnerError(f"{Path(text).name} is a file of dpnb's own home: name your own file.")
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or "it contains a character that no path can have"
        raise OwnerError(f"A file of this name cannot be opened: {reason}.") from None
    return Path(text)


def _dialect(record: Any) -> Dialect:
    facts = exact_json(record)
    if facts is not None and not isinstance(facts, Mapping):
        raise OwnerError('[source] is a section, with quoting = "…", line_ends = "…" or ragged = …')
    written = dict(facts or {})
    match written.pop("headers", []):
        case [*pairs] if all(isinstance(pair, list) and [*map(type, pair)] == [str, str] for pair in pairs):
            return replace(Dialect.from_toml(written, "[source]"), headers=tuple(map(tuple, pairs)))
    raise OwnerError("headers are pairs of names: of each column its own, and the one in the file")


def _handed_over(source: HandOver, home: Home) -> OpenedSource:
    path = home.hand_over / source.file
    try:
        with (
            NamedFile.open(path) as named,
            named.reader() as file,
            np.load(file, allow_pickle=False) as arrays,
        ):
            tables = {name: read_arrays(arrays, at) for at, name in enumerate(arrays["tables"].tolist())}
    except (OwnerError, OSError, ValueError, KeyError, zipfile.BadZipFile):
        raise OwnerError(
            "The rows handed over by this kernel could not be read. Open the frame again."
        ) from None
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
    schema = _schema(source.schema)
    frames = (tables.pop("", {}), *tables.values())
    rows: Rows = Tables(frames[0], tables) if tables else frames[0]
    digests = [frame_digest(frame) for frame in frames]
    marks = tuple(
        mark for mark, frame in zip(digests, frames, strict=True) if frame and not may_be_guessed(frame)
    )
    return OpenedSource(schema, schema.name, digest(*digests), lambda: rows, notes=(HELD,), marks=marks)


def read_arrays(arrays: Mapping[str, np.ndarray], table: int = 0) -> dict[str, np.ndarray]:
    """Rebuild a table's columns from what :func:`dpnb.client.upload.hand_over` wrote: numbers, or texts and ``None``."""
    stacked = {
        int(place): row
        for name in arrays
        if name.startswith(f"{table}.") and name.endswith(".stack")
        for place, row in zip(arrays[name.removesuffix("stack") + "places"], arrays[name], strict=True)
    }
    columns: dict[str, np.ndarray] = {}
    for place, name in enumerate(arrays[f"{table}.names"].tolist()):
        at = f"{table}.{place}"
        if place in stacked:
            columns[name] = stacked[place]
        else:
            numbers = f"{at}.v" in arrays
            columns[name] = arrays[f"{at}.v"] if numbers else _texts(arrays[f"{at}.b"], arrays[f"{at}.l"])
    return columns


def _texts(letters: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Texts from their UTF-8 bytes in a row and the length of each; a length below 0 is a missing text."""
    data = letters.tobytes()
    ends = np.cumsum(np.maximum(lengths, 0))
    if len(data) != (ends[-1] if len(ends) else 0):
        raise ValueError("damaged texts")
    cells = np.empty(len(lengths), dtype=object)
    cells[:] = [
        None if length < 0 else data[end - length : end].decode()
        for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
    ]
    return cells


def _schema(record: Any) -> Schema:
    return Schema.from_json(exact_json(record))


def _in_mode(found: OpenedSource, mode: str | None, *, serves: bool) -> OpenedSource:
    """Apply ``mode=``: public data shown as protected keep a ledger of their own beside their TEACHING one."""
    if (mode or found.schema.mode) == Mode.ENFORCED and not serves:
        raise OwnerError(
            'mode="enforced" needs a curator of another user or host. This one serves mode="guard-rail".'
        )
    if mode is None or mode == found.schema.mode.value:
        return found
    if mode not in list(Mode):
        close = nearest(mode, [kind.value for kind in Mode])
        hint = f"did you mean {close!r}?" if close else 'write "teaching" or "guard-rail".'
        raise OwnerError(f"mode={mode!r} is unknown: {hint}")
    try:
        schema = replace(found.schema, mode=Mode(mode))
    except SchemaError as error:
        raise OwnerError(error.message) from None
    return replace(
        found, schema=schema, known_as=f"{found.known_as}@{mode}" if schema.public else found.known_as
    )


def _apart(found: OpenedSource) -> OpenedSource:
    """TEACHING data keep a ledger for each unit, adjacency and measure: what was spent in one says nothing in another."""
    schema = found.schema
    if schema.mode is not Mode.TEACHING or schema.pool is not None:
        return found
    facts = (schema.unit.unit, schema.unit.adjacency, schema.budget.measure.value)
    usual = ("row", "change-one", Measure.PURE.value)
    words = [fact for fact, common in zip(facts, usual, strict=True) if fact != common]
    return replace(found, known_as="@".join((found.known_as, *words)))
