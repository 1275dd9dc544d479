"""A file, exactly as it was named: opened once, and read through that opening ever after.

A path is literal: no pattern and no second file, but a folder of Parquet files, which are all that lies in it. A pipe, a device, a socket, a folder and an endless link are
refused before a byte is read, and none of them can make an opening wait. What is hashed and what is read is one file,
also when its name meanwhile leads to another one.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any, Literal, Self

from dpnb.trusted import system
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.files.dialect import STRICT, Dialect

LARGEST_TOML = 8 * 2**20
Format = Literal["csv", "parquet", "duckdb", "json", "arrow", "excel", "spss", "stata", "sas"]
FORMATS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
    ".txt.gz": "csv",
    ".zip": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".db": "duckdb",
    ".jsonl": "json",
    ".feather": "arrow",
    ".xlsx": "excel",
    ".sav": "spss",
    ".zsav": "spss",
    ".dta": "stata",
    ".sas7bdat": "sas",
}
"""The kinds of files that can be read, by the endings of their names."""
STATISTICS: tuple[Format, ...] = ("spss", "stata", "sas")
"""Files of statistics packages, which declare their columns and carry a codebook."""

_FLAGS = ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
_blake2b = partial(hashlib.blake2b, digest_size=32)
EVERY = "*.parquet"
"""What stands for a file's name where a source is every Parquet file of a folder."""
_MOST_FILES = 400
"""Files that are held open together: a process may usually hold 1,024."""
_TICK = 0.01
"""Seconds between two times that a system's file clock tells apart, at most."""


@dataclass(frozen=True, slots=True)
class NamedFile:
    """An ordinary file, held open.

    Parameters
    ----------
    path : Path
        As it was named; only messages and the file's ending come from it.
    descriptor : int
        The one opening that everything is read through.
    dialect : Dialect
        How its rows are written, where it is a CSV file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "p[1].csv").write_text("a,b")
    ...     with NamedFile.open(Path(folder) / "p[1].csv") as file, file.reader() as lines:
    ...         lines.read()
    b'a,b'
    """

    path: Path
    descriptor: int
    dialect: Dialect = STRICT

    @classmethod
    def open(cls, path: Path, dialect: Dialect = STRICT) -> NamedFile:
        """Open an ordinary file.

        Raises
        ------
        OwnerError
            When there is none, or this user may not read it.
        """
        if path.name == EVERY:
            return NamedFolder.of(path, dialect)
        try:
            _ordinary(path, path.stat())
            descriptor = os.open(path, os.O_RDONLY | _flags())
        except (OSError, ValueError) as error:
            raise OwnerError(_unreadable(path, error)) from None
        try:
            _ordinary(path, os.fstat(descriptor))
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, descriptor, dialect)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        with contextlib.suppress(OSError):
            os.close(self.descriptor)

    @property
    def parts(self) -> tuple[NamedFile, ...]:
        """The files whose rows are read, one after the other."""
        return (self,)

    @property
    def size(self) -> int:
        """The number of bytes."""
        return os.fstat(self.descriptor).st_size

    @property
    def place(self) -> str | None:
        """A path that leads to this very opening whatever becomes of the name, where the system has one."""
        place = system.place_of(self.descriptor)
        return None if place is None else str(place)

    def is_at(self, path: Path) -> bool:
        """Say whether a path leads to this very file now."""
        with contextlib.suppress(OSError):
            return os.path.samestat(path.stat(), os.fstat(self.descriptor))
        return False

    def reader(self) -> BufferedReader:
        """Open a reader of this very file, at its start."""
        place = self.place
        if place is not None:
            return open(place, "rb")  # noqa: PTH123 - the caller's with; a path of the system's own
        again = NamedFile.open(self.path)
        if not os.path.sameopenfile(again.descriptor, self.descriptor):
            again.close()
            raise OwnerError(f"{self.path.name} was replaced while it was read. Open it again.")
        return os.fdopen(again.descriptor, "rb")

    def stamp(self) -> tuple[int, ...]:
        """When the file last changed, by the system's clock: no program sets it, so that a change is seen that was undone.

        A change within the clock's own tick would not be seen: a file that young is waited for.
        """
        found = os.fstat(self.descriptor)
        age = time.time() - system.changed(found) / 1e9
        if 0 <= age < _TICK:
            time.sleep(_TICK - age)
        return found.st_size, found.st_mtime_ns, system.changed(found)

    def digest(self) -> str:
        """Hash the bytes.

        Raises
        ------
        OwnerError
            When the system cannot read them.
        """
        try:
            with self.reader() as file:
                return hashlib.file_digest(file, _blake2b).hexdigest()
        except OSError as error:
            raise OwnerError(_unreadable(self.path, error)) from None


@dataclass(frozen=True, slots=True)
class NamedFolder(NamedFile):
    """Every Parquet file of a folder, by their names, each held open; the folder is too, whose own stamp tells of another file.

    Parameters
    ----------
    parts : tuple of NamedFile
        The files whose rows are read, one after the other.
    """

    parts: tuple[NamedFile, ...] = ()

    @classmethod
    def of(cls, path: Path, dialect: Dialect = STRICT) -> NamedFolder:
        """Open a folder and its files.

        Raises
        ------
        OwnerError
            When it holds no Parquet file, or anything else: rows that nobody reads would be left out in silence.
        """
        with contextlib.ExitStack() as opened:
            try:
                descriptor = os.open(path.parent, os.O_RDONLY | _flags())
                opened.callback(os.close, descriptor)
                found = sorted(one for one in path.parent.iterdir() if one.name[0] not in "._")
            except OSError as error:
                raise OwnerError(_unreadable(path.parent, error)) from None
            _refuse_others(path.parent, found)
            parts = tuple(opened.enter_context(NamedFile.open(one)) for one in found)
            opened.pop_all()
        return cls(path, descriptor, dialect, parts)

    def close(self) -> None:
        """Let go of the folder and its files."""
        for file in self.parts:
            file.close()
        NamedFile.close(self)

    def stamp(self) -> tuple[int, ...]:
        """When a file was last added, removed, renamed or changed."""
        stamps = (number for file in self.parts for number in file.stamp())
        return (*NamedFile.stamp(self), *stamps)


@dataclass(frozen=True, slots=True)
class FetchedRows(NamedFile):
    """The declared cells of a server's table, each as its text, in a file of our own that is deleted when it is closed.

    Parameters
    ----------
    names : tuple of str
        The columns in their order; a column of no meaning stands before them, so that no line is empty.
    """

    names: tuple[str, ...] = ()

    def close(self) -> None:
        """Let go of the rows, and delete them."""
        NamedFile.close(self)
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class ColumnFiles(NamedFile):
    """The declared cells of a table of Spark, as Parquet in a folder of our own that is deleted when it is closed.

    Parameters
    ----------
    names : tuple of str
        The columns in their order; in the files they are c0, c1, …
    files : tuple of str
        In the order of the rows.
    """

    names: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def close(self) -> None:
        """Let go of the rows, and delete them."""
        NamedFile.close(self)
        shutil.rmtree(self.path, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Tables:
    """A dataset's own rows, and by name those of tables of which columns are prepared for the same units."""

    own: Any
    others: Mapping[str, Any]


@dataclass(frozen=True)
class NamedFiles(Tables):
    """The file of a dataset's own rows, and those of its other tables."""

    own: NamedFile
    others: Mapping[str, NamedFile]

    def close(self) -> None:
        """Let go of the files."""
        for file in (self.own, *self.others.values()):
            file.close()


@contextlib.contextmanager
def held(source: Any, dialect: Dialect = STRICT) -> Iterator[Any]:
    """Hold a source open while it is read, where it is a path; whatever else it is comes back as it is."""
    if isinstance(source, str | Path):
        with NamedFile.open(every(Path(source)), dialect) as file:
            yield file
    else:
        yield source


def ending_of(source: Path) -> str:
    """Return the ending of a file's name that says how it is stored; nothing where none does.

    Examples
    --------
    >>> ending_of(Path("People.2024.CSV.gz")), ending_of(Path("people.gz"))
    ('.csv.gz', '')
    """
    name = source.name.lower()
    found = (ending for ending in FORMATS if name.endswith(ending) and name != ending)
    return max(found, key=len, default="")


def stem_of(source: Path) -> str:
    """Return what a file is called, without the ending that says how it is stored; a folder of files by its own name."""
    if source.name == EVERY:
        return source.parent.name
    ending = ending_of(source)
    return source.name[: -len(ending)] if ending else source.stem


def format_of(source: Path) -> Format:
    """Say how a file is stored, by its ending alone.

    Raises
    ------
    OwnerError
        When the ending is none that can be read.
    """
    ending = ending_of(source)
    if ending:
        return FORMATS[ending]
    advice = _ADVICE.get(source.suffix.lower(), "convert the file to one of them")
    raise OwnerError(
        f"{source.name}: dpnb reads {', '.join(FORMATS)}, and a folder of Parquet files; {advice}"
    )


_ADVICE = {
    **dict.fromkeys((".xls", ".xlsb", ".xlsm", ".ods", ".numbers"), "save a spreadsheet as .xlsx or CSV"),
    **dict.fromkeys(
        (".gz", ".tgz", ".tar", ".7z", ".rar", ".bz2", ".xz", ".zst"),
        "unpack the file, and name what comes out",
    ),
    **dict.fromkeys(
        (".rds", ".rda", ".rdata"), 'save it in R: write.csv(people, "people.csv", row.names = FALSE)'
    ),
    ".json": "write one object on each line, into a .jsonl file",
}
"""What to do with a file that cannot be read."""


def read_toml(path: Path) -> dict[str, Any]:
    """Read an owner's file, its decimal numbers exactly.

    Raises
    ------
    OwnerError
        When it cannot be read, or is not TOML.
    """
    try:
        with NamedFile.open(path) as file, file.reader() as reader:
            if file.size > LARGEST_TOML:
                raise OwnerError(f"{path.name} is larger than 8 MiB: a declaration is a short text")
            return tomllib.loads(reader.read(LARGEST_TOML).decode("utf-8-sig"), parse_float=Decimal)
    except tomllib.TOMLDecodeError as fault:
        raise OwnerError(f"{path.name} is not valid TOML: {fault}") from None
    except UnicodeDecodeError:
        raise OwnerError(f"{path.name} is not UTF-8 text: save it as UTF-8") from None
    except OSError as fault:
        raise OwnerError(f"{path} cannot be read: {fault.strerror}") from None


def _flags() -> int:
    return sum(getattr(os, flag, 0) for flag in _FLAGS)


def every(path: Path) -> Path:
    """The path of a file; of a folder that of every Parquet file in it."""
    return path / EVERY if path.is_dir() else path


def _refuse_others(folder: Path, found: list[Path]) -> None:
    for one in found:
        if one.suffix.lower() != ".parquet" or one.is_symlink():
            raise OwnerError(
                f"{folder} holds {one.name}, which is not a .parquet file of its own. A folder that is a source may hold only the "
                "Parquet files of one table, no links and no folders: move it elsewhere, or name one file."
            )
    if not found:
        raise OwnerError(
            f"{folder} holds no .parquet file: name a folder of Parquet files, or one ordinary file."
        )
    if len(found) > _MOST_FILES:
        raise OwnerError(f"{folder} holds more than {_MOST_FILES} Parquet files: write them into fewer.")


def _ordinary(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "not an ordinary file")
        raise OwnerError(f"{path} is {kind}: name one ordinary file.")


_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def _unreadable(path: Path, error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"There is no file {path}. Check the path, or source = … in its schema."
    if getattr(error, "errno", None) == errno.ELOOP:
        return f"{path} is a link that leads back to itself: name one ordinary file."
    reason = getattr(error, "strerror", None) or "this cannot be the path of a file"
    return f"{path} cannot be read: {reason}."
