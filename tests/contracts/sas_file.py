"""A file of SAS, written by hand, since no library writes one: a header, a page that describes the columns, and pages of rows.

Little-endian and of 32 bits, not packed. Where its numbers stand is known from public descriptions of the format, made by looking at files.
"""

from __future__ import annotations

import datetime as dt
import math
import struct

_MAGIC = bytes(12) + bytes.fromhex("c2ea8160 b31411cf bd920800 09c7318c 181f1011")
_HEADER, _PAGE = 1024, 1 << 16
_PAGE_HEADER = 24
_DATA = 0x100
_UTF_8 = 20
_ROW_SIZE, _COLUMN_SIZE = b"\xf7" * 4, b"\xf6" * 4
_TEXT, _NAMES, _ATTRIBUTES, _FORMAT = (struct.pack("<i", number) for number in (-3, -1, -4, -0x402))
_DAY_ZERO = dt.datetime(1960, 1, 1)  # noqa: DTZ001 - SAS knows no zone
MISSING = struct.pack("<Q", 0xFFFF_FE00_0000_0000)
"""What SAS calls missing."""


def number(cell):
    """A number as SAS keeps it: days for a date, seconds for a moment."""
    if isinstance(cell, dt.datetime):
        cell = (cell - _DAY_ZERO).total_seconds()
    elif isinstance(cell, dt.date):
        cell = (cell - _DAY_ZERO.date()).days
    return MISSING if cell is None or math.isnan(cell) else struct.pack("<d", cell)


def described(names, widths, texts, formats, labels, rows):
    """The page that describes the columns: where their names, formats and labels lie among its texts, and where their cells lie in a row."""
    pool = bytearray(b"\0\0") + bytes(
        26
    )  # the length that comes before the texts, and what names a way of packing

    def told(text):
        place = len(pool)
        pool.extend(text.encode())
        return struct.pack("<3H", 0, place if text else 0, len(pool) - place)

    named = b"".join(told(name) + bytes(2) for name in names)
    offsets = [sum(widths[:place]) for place in range(len(widths))]
    attributes = b"".join(
        struct.pack("<2IHBB", offset, width, 4, 2 if name in texts else 1, 0)
        for name, offset, width in zip(names, offsets, widths, strict=True)
    )
    parts = [
        _ROW_SIZE + bytes(16) + struct.pack("<2I", sum(widths), rows) + bytes(480 - 28),
        _COLUMN_SIZE + struct.pack("<2I", len(names), 0),
        *(
            signature + struct.pack("<H", len(told_of) + 8) + bytes(6) + told_of + bytes(8)
            for signature, told_of in ((_NAMES, named), (_ATTRIBUTES, attributes))
        ),
        *(
            _FORMAT + bytes(30) + told(formats.get(name, "")) + told(labels.get(name, "")) + bytes(6)
            for name in names
        ),
    ]
    pool[:2] = struct.pack("<H", len(pool) - 8)
    parts.insert(2, _TEXT + bytes(pool))
    page, pointers = bytearray(_PAGE), b""
    end = _PAGE
    for part in parts:
        end -= -(-len(part) // 8) * 8
        page[end : end + len(part)] = part
        pointers += struct.pack("<2I4x", end, len(part))
    page[16:_PAGE_HEADER] = struct.pack("<4H", 0, len(parts), len(parts), 0)
    page[_PAGE_HEADER : _PAGE_HEADER + len(pointers)] = pointers
    assert _PAGE_HEADER + len(pointers) <= end
    return bytes(page)


def write_sas(path, columns, formats=None, labels=None):
    """Write columns: each of texts and None, or of numbers, days, moments and None; a column of days or of moments has a format that says so."""
    kinds = {name: {type(cell) for cell in cells} for name, cells in columns.items()}
    usual = {name: "DATE" for name in columns if dt.date in kinds[name]}
    usual |= {name: "DATETIME" for name in columns if dt.datetime in kinds[name]}
    texts = {name for name in columns if str in kinds[name]}
    packed = {
        name: [(cell or "").encode() if name in texts else number(cell) for cell in cells]
        for name, cells in columns.items()
    }
    widths = [max(map(len, cells), default=8) or 1 for cells in packed.values()]
    lines = [
        b"".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in zip(*packed.values(), strict=True)
    ]
    each = (_PAGE - _PAGE_HEADER) // sum(widths)
    pages = [described([*columns], widths, texts, usual | (formats or {}), labels or {}, len(lines))]
    for start in range(0, len(lines), each):
        held = lines[start : start + each]
        head = bytes(16) + struct.pack("<4H", _DATA, len(held), 0, 0)
        pages.append((head + b"".join(held)).ljust(_PAGE, b"\0"))
    header = bytearray(_HEADER)
    header[:32] = _MAGIC
    header[32:40] = b'"\0\0"\0\1\0' + b"2"
    header[70] = _UTF_8
    header[84:92], header[92:156], header[156:164] = b"SAS FILE", b"PEOPLE".ljust(64), b"DATA    "
    header[164:208] = struct.pack("<4d3I", 0, 0, 0, 0, _HEADER, _PAGE, len(pages))
    header[216:224] = b"9.0401M6"
    path.write_bytes(bytes(header) + b"".join(pages))
