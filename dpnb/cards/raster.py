"""A card's text as a PNG, without a drawing library: glyphs come from a small atlas, so a picture takes a millisecond.

The atlas holds the glyphs of DejaVu Sans Mono that cards use, in four grey levels, packed four pixels to a byte. A character that it lacks is drawn as a box.
"""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache
from importlib import resources

import numpy as np

_MARGIN, _EDGE = 16, 4  # rows above and below; bytes, of four pixels each, left and right
_MOST = (200, 160)
_PER_METRE = 5_669  # 144 dots an inch: half of the pixels' size on screen


@lru_cache(maxsize=1)
def _atlas() -> tuple[dict[str, int], np.ndarray]:
    """Places of the characters, and their glyphs, shape (glyphs, height, bytes in a row)."""
    stored = (resources.files("dpnb.cards") / "glyphs.bin").read_bytes()
    count, height, width, size = struct.unpack(">4H", stored[:8])
    places = {character: place for place, character in enumerate(stored[8 : 8 + size].decode("utf-8"))}
    packed = np.frombuffer(zlib.decompress(stored[8 + size :]), dtype=np.uint8)
    return places, packed.reshape(count, height, width)


def picture(text: str) -> bytes:
    """Return text as a PNG: dark on white, one character cell for each character.

    Parameters
    ----------
    text : str
        At most 160 lines of 200 characters are drawn.
    """
    places, glyphs = _atlas()
    lines = [line[: _MOST[0]] for line in text.splitlines()[: _MOST[1]]] or [""]
    width = max(1, *map(len, lines))
    box = places["\N{REPLACEMENT CHARACTER}"]
    codes = np.array([[places.get(c, box) for c in line.ljust(width)] for line in lines])
    _, tall, wide = glyphs.shape
    ink = glyphs[codes].transpose(0, 2, 1, 3).reshape(len(lines) * tall, width * wide)
    page = np.full((ink.shape[0] + 2 * _MARGIN, 1 + ink.shape[1] + 2 * _EDGE), 255, dtype=np.uint8)
    page[_MARGIN:-_MARGIN, 1 + _EDGE : -_EDGE] = ink
    page[:, 0] = 0  # each row begins with its filter: none
    return _png(page)


def _png(rows: np.ndarray) -> bytes:
    height, width = rows.shape[0], 4 * (rows.shape[1] - 1)
    header = struct.pack(">IIBBBBB", width, height, 2, 0, 0, 0, 0)
    size = struct.pack(">IIB", _PER_METRE, _PER_METRE, 1)
    body = zlib.compress(rows.tobytes(), 1)
    parts = ((b"IHDR", header), (b"pHYs", size), (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
