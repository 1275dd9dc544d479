"""The first line of a CSV, its column names, and nothing below it: what drafting a schema may know of one."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from dpnb.trusted.errors import OwnerError
from dpnb.trusted.files.named_file import NamedFile
from dpnb.trusted.schema.owner import format_of

_LONGEST = 2**20


def header(path: Path) -> list[str]:
    """Read the column names of a CSV: its first line, and nothing below it.

    Raises
    ------
    OwnerError
        When there is no such line, or the file is no CSV.
    """
    if format_of(path) != "csv":
        raise OwnerError(f"{path.name} has no header line: pass its columns' names and types")
    try:
        with (
            NamedFile.open(path) as file,
            io.TextIOWrapper(file.reader(), encoding="utf-8-sig", newline="") as lines,
        ):
            first = lines.readline(_LONGEST)
    except UnicodeDecodeError:
        raise OwnerError(f"{path.name} is not UTF-8 text: save it as UTF-8") from None
    except OSError as fault:
        raise OwnerError(f"{path} cannot be read: {fault.strerror}") from None
    if not first.strip():
        raise OwnerError(
            f"{path.name} is empty, or starts with an empty line: it needs a header line of names"
        )
    delimiter = max(",;\t|", key=first.count)
    return [name.strip() for name in next(csv.reader([first], delimiter=delimiter))]
