"""The text of a file of rows, as UTF-8, whatever it is packed and encoded in.

A text may be packed (``.gz``, or a ``.zip`` that holds one file), written in another encoding than UTF-8, or begin with Excel's line
``sep=;``. None of this looks at a row: an encoding is declared in ``[source]`` or said by the mark at the file's beginning, and only
encodings are taken in which the bytes of one line never change what those of another mean. What is unpacked is counted.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, BinaryIO, cast

from dpnb.trusted.errors import OwnerError
from dpnb.trusted.files.dialect import UTF_8
from dpnb.trusted.files.named_file import NamedFile

LARGEST, MOST_PACKED = 2**28, 200
"""What unpacks to more than so many bytes, and to more than so many times its packed size, is taken for a zip bomb."""

DELIMITERS = ",;\t|"
"""What is looked for in a header line, where nothing says what stands between two fields."""

ENCODED = 'save the file as UTF-8, or write in [source] how it was saved, for example encoding = "cp1252"'
"""What to do with a text of another encoding."""

_BLOCK = 1 << 20
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SEP = re.compile(rb'(?:\xef\xbb\xbf)?sep=((?![\w"])[\t -~])(?:\r\n|\r|\n)')
_DAMAGED = (EOFError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file of rows that is a text, or holds one.

    Parameters
    ----------
    file : NamedFile
    inner : str
        The name of the text itself: the file's, without ``.gz``; of a ``.zip`` that of the one file in it.
    encoding : str
    delimiter : str
        What stands between two fields, as it is declared, as ``sep=`` names it or as the ending says; nothing where a header line tells it.
    before : int
        Bytes of the text, as UTF-8, that stand before its first line: those of ``sep=``.
    """

    file: NamedFile
    inner: str
    encoding: str
    delimiter: str = ""
    before: int = 0

    @classmethod
    def of(cls, file: NamedFile) -> TextFile:
        """Find what the text is called, and how it is written.

        Raises
        ------
        OwnerError
            When the file cannot be unpacked, or begins with what is no text.
        """
        with _unpacked(file) as (packed, inner):
            mark = packed.read(len(_WIDE_MARKS[0]))
        wide = mark in _WIDE_MARKS and file.dialect.encoding == UTF_8
        text = cls(file, inner, "utf-16" if wide else file.dialect.encoding)
        led = _SEP.match(next(text.blocks(), b""))
        usual = "\t" if inner.lower().endswith(".tsv") else ""
        delimiter = file.dialect.delimiter or (led[1].decode() if led else usual)
        return replace(text, delimiter=delimiter, before=led.end() if led else 0)

    @property
    def as_it_stands(self) -> bool:
        """Whether the file's own bytes are the text, from its first line on."""
        return self.inner == self.file.path.name and self.encoding == UTF_8 and not self.before

    def blocks(self) -> Generator[bytes, None, None]:
        """Read the text as UTF-8 from its first line on; one that is said to be UTF-8 is not checked.

        Raises
        ------
        OwnerError
            When the file is damaged, holds another encoding, or unpacks to far more than it is.
        """
        letters = None if self.encoding == UTF_8 else codecs.getincrementaldecoder(self.encoding)()
        size, lines, before, block = 0, 1, self.before, b"-"
        with _unpacked(self.file) as (packed, _):
            while block:
                block = packed.read(_BLOCK)
                size += len(block)
                refuse_bomb(self.file, size)
                try:
                    made = block if letters is None else letters.decode(block, final=not block).encode()
                except UnicodeError as error:  # of a missing mark of UTF-16 some Pythons tell no place
                    read = getattr(error, "object", b"")[: getattr(error, "start", 0)]
                    raise self.not_of(lines + read.decode(self.encoding, "ignore").count("\n")) from None
                lines += made.count(b"\n") if letters is not None else 0
                yield made[before:]
                before = max(0, before - len(made))

    @contextlib.contextmanager
    def lines(self, errors: str = "surrogateescape") -> Iterator[io.TextIOWrapper]:
        """Open the text as lines, from its first one on."""
        with contextlib.closing(self.blocks()) as blocks:
            stream = io.BufferedReader(_Blocks(blocks))
            yield io.TextIOWrapper(stream, encoding="utf-8-sig", errors=errors, newline="")

    def not_of(self, line: int) -> OwnerError:
        """Say that a line is not of the encoding that the file is read in."""
        word = "UTF-8" if self.encoding == UTF_8 else self.encoding
        return OwnerError(f'"{self.file.path.name}", line {line} is not {word} text: {ENCODED}.')

    def between_fields(self, header: str) -> str:
        """Return the delimiter; where nothing else says it, of a ``.csv`` the one that its header line has most often.

        Raises
        ------
        OwnerError
            For a ``.txt``, which has none of its own: its owner declares it.
        """
        if not self.delimiter and self.inner.lower().endswith(".txt"):
            raise OwnerError(
                f'"{self.file.path.name}": nothing says what stands between two fields: write delimiter = "\\t", ";", "," or "|" '
                "in [source] (dpnb init finds it)."
            )
        return self.delimiter or max(DELIMITERS, key=header.count)

    def write(self, into: Path) -> None:
        """Write the text as UTF-8, for its owner alone."""
        with into.open("xb") as plain:
            into.chmod(0o600)
            plain.writelines(self.blocks())


class _Blocks(io.RawIOBase):
    """Blocks of bytes as a stream."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._rest = blocks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = memoryview(block)
        size = min(len(into), len(self._rest))
        into[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


def refuse_bomb(file: NamedFile, size: int) -> None:
    """Refuse what unpacks to far more than it is."""
    if size > LARGEST and size > MOST_PACKED * file.size:
        raise OwnerError(
            f'"{file.path.name}" unpacks to more than {MOST_PACKED} times its size, as a zip bomb does: unpack it yourself, and name '
            "what comes out."
        )


@contextlib.contextmanager
def _unpacked(file: NamedFile) -> Iterator[tuple[BinaryIO, str]]:
    """Open the bytes of the one text that a file is or holds, and say what that is called."""
    name, ending = file.path.name, file.path.suffix.lower()
    try:
        with file.reader() as packed:
            if ending == ".gz":
                with gzip.GzipFile(fileobj=packed) as text:
                    yield cast("BinaryIO", text), name[: -len(ending)]
            elif ending == ".zip":
                with zipfile.ZipFile(packed) as archive, _member(archive, name) as member:
                    yield cast("BinaryIO", member), member.name
            else:
                yield packed, name
    except _DAMAGED:
        raise OwnerError(
            f'"{name}" is damaged, or not what its ending says: it cannot be unpacked.'
        ) from None


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """The one text in an archive; what a Mac adds beside it is none."""
    held = [
        one for one in archive.infolist() if not one.is_dir() and not one.filename.startswith("__MACOSX/")
    ]
    if len(held) != 1 or Path(held[0].filename).suffix.lower() not in {".csv", ".tsv", ".txt"}:
        raise OwnerError(
            f'"{name}" must hold one .csv, .tsv or .txt file and nothing else: unpack it, and name the file.'
        )
    if held[0].flag_bits & 1:
        raise OwnerError(f'"{name}" is encrypted: unpack it, and name the file.')
    try:
        return archive.open(held[0])
    except NotImplementedError:
        raise OwnerError(
            f'"{name}" is packed in a way that is not read: unpack it, and name the file.'
        ) from None
