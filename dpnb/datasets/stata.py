"""Reading the Stata files that packages ship (format 118, Stata 14 and later) with numpy alone.

Format: StataCorp, *Description of the .dta file format*, ``help dta_118``. Importing pandas takes longer than opening a
study may; its ``read_stata`` is the oracle of the tests.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_HEADER: Final = b"<stata_dta><header><release>118</release><byteorder>"
_SECTIONS: Final = 14
_NAME: Final = 129
_LONGEST_TEXT: Final = 2045
_NUMBERS: Final = {65526: "f8", 65527: "f4", 65528: "i4", 65529: "i2", 65530: "i1"}
_LARGEST: Final = {
    "f8": float.fromhex("0x1.fffffffffffffp+1022"),
    "f4": float.fromhex("0x1.fffffep+126"),
    "i4": 2_147_483_620,
    "i2": 32_740,
    "i1": 100,
}
"""The largest value of each type: what lies above it stands for a missing value."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file's bytes, its byte order, its size and where its sections begin."""

    content: bytes
    order: str
    columns: int
    rows: int
    begins: tuple[int, ...]

    @classmethod
    def of(cls, content: bytes) -> _File:
        if not content.startswith(_HEADER):
            raise ValueError("not a Stata file of format 118 (Stata 14 and later)")
        order = "<" if content.startswith(b"LSF", len(_HEADER)) else ">"
        columns = struct.unpack_from(f"{order}H", content, content.index(b"<K>") + len("<K>"))[0]
        rows = struct.unpack_from(f"{order}Q", content, content.index(b"<N>") + len("<N>"))[0]
        begins = struct.unpack_from(f"{order}{_SECTIONS}Q", content, content.index(b"<map>") + len("<map>"))
        return cls(content, order, columns, rows, begins)

    def start(self, section: int, tag: str) -> int:
        """Return where a section's content begins, after its tag."""
        return self.begins[section] + len(f"<{tag}>")

    def names(self, section: int, tag: str) -> list[str]:
        """Read one fixed-width name for each column."""
        start = self.start(section, tag)
        return [_text(self.content[start + i * _NAME : start + (i + 1) * _NAME]) for i in range(self.columns)]

    def formats(self) -> list[str]:
        """Read each column's type in the words of numpy."""
        codes = struct.unpack_from(
            f"{self.order}{self.columns}H", self.content, self.start(2, "variable_types")
        )
        return [_format(code, self.order) for code in codes]


def read(content: bytes) -> dict[str, NDArray[Any]]:
    """Read a Stata file: numbers are float64 with NaN for missing, texts and labelled values are objects.

    Parameters
    ----------
    content : bytes
        The whole file.

    Returns
    -------
    dict of str to ndarray
        One array for each column; a value with a label is the label's text.

    Raises
    ------
    ValueError
        For a file of another format, and for one with texts of more than 2045 bytes.
    """
    file = _File.of(content)
    names, formats = file.names(3, "varnames"), file.formats()
    kind = np.dtype([(f"{i}", form) for i, form in enumerate(formats)])
    table = np.frombuffer(content, kind, file.rows, file.start(9, "data"))
    labels, sets = file.names(6, "value_label_names"), _label_sets(file)
    return {name: _labelled(_column(table[f"{i}"]), sets.get(labels[i], {})) for i, name in enumerate(names)}


def _text(padded: bytes) -> str:
    return padded.split(b"\0", 1)[0].decode()


def _format(code: int, order: str) -> str:
    if code in _NUMBERS:
        return order + _NUMBERS[code]
    if code > _LONGEST_TEXT:
        raise ValueError("a Stata file with long texts (strL) is not read")
    return f"S{code}"


def _column(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind == "S":
        return np.array([_text(value) for value in values.tolist()], dtype=object)
    numbers = values.astype(np.float64)
    numbers[numbers > _LARGEST[values.dtype.str[1:]]] = np.nan
    return numbers


def _labelled(values: NDArray[Any], labels: dict[int, str]) -> NDArray[Any]:
    """Return the labels' texts where there are labels; a missing value stays NaN."""
    if not labels:
        return values
    return np.array([labels.get(value, value) for value in values.tolist()], dtype=object)


def _label_sets(file: _File) -> dict[str, dict[int, str]]:
    """Read every set of value labels by name."""
    sets, at = {}, file.start(11, "value_labels")
    while file.content.startswith(b"<lbl>", at):
        at += len("<lbl>")
        size = struct.unpack_from(f"{file.order}I", file.content, at)[0]
        begin = at + 4 + _NAME + 3
        sets[_text(file.content[at + 4 : at + 4 + _NAME])] = _labels(
            file.content[begin : begin + size], file.order
        )
        at = begin + size + len("</lbl>")
    return sets


def _labels(table: bytes, order: str) -> dict[int, str]:
    """Read one set: how many, the length of the texts, where each begins, the values, the texts."""
    count = struct.unpack_from(f"{order}I", table)[0]
    offsets = struct.unpack_from(f"{order}{count}I", table, 8)
    values = struct.unpack_from(f"{order}{count}i", table, 8 + 4 * count)
    texts = table[8 + 8 * count :]
    return {value: _text(texts[offset:]) for value, offset in zip(values, offsets, strict=True)}
