"""What content is known by, spelled out in Python: the reference of what the engine computes in SQL."""

from __future__ import annotations

import contextlib
import hashlib
import re
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import reduce
from operator import xor
from typing import Any

from dpnb.datasets.cell_text import canonical, text_of
from dpnb.trusted.curator.content import (
    DAY,
    DAYS,
    MISSING,
    Content,
    Kind,
    Sums,
    column_numbers,
    finish,
    finished,
    hash_text,
    identifies,
    may_be_guessed,
    mix,
    numbers_of,
    read_names,
)
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.cell import LARGEST_WHOLE, PLAIN_WHOLE, number_of


def content_of(columns: Mapping[str, Iterable[Any]], schema: Schema, key: bytes) -> Content:
    """Sum raw columns in Python: the reference of what the engine computes in SQL.

    Parameters
    ----------
    columns : mapping of str to iterable
        Raw cells of each declared column, and of the unit's.
    schema : Schema
    key : bytes
    """
    texts = {name: [canonical(cell) for cell in columns[name]] for name in read_names(schema)}
    hashed = [[_hashed(key, text) for text in texts[name]] for name in texts]
    rows = list(zip(*hashed, strict=True))
    multiset = sum(finished(sum(row)) for row in rows)
    places = column_numbers(key, len(hashed))
    told = [
        reduce(xor, (finished(h ^ place) for h, place in zip(row, places, strict=True)), 0) for row in rows
    ]
    owners = _owners(columns, schema, key, len(rows))
    state = sum(finished(row ^ owner) for row, owner in zip(told, owners, strict=True))
    kinds = [_kind_of(text) for text in texts.values()]
    known = [
        (
            sum(text is not None for text in column),
            sum(h for h, text in zip(one, column, strict=True) if text is not None),
        )
        for one, column, kind in zip(hashed, texts.values(), kinds, strict=True)
        if identifies(kind.distinct, run=kind.run)
    ]
    guessable = may_be_guessed(len(rows), kinds)
    return finish(Sums(len(rows), known, guessable, multiset, state), schema, key)


def _owners(columns: Mapping[str, Iterable[Any]], schema: Schema, key: bytes, rows: int) -> list[int]:
    """Return whose each row is, as a number: of its place where the unit is the row."""
    if schema.unit_column is None:
        return [mix(place, numbers_of(key, "place")) for place in range(rows)]
    return [_owner(key, text_of(cell)) for cell in columns[schema.unit_column]]


def _owner(key: bytes, unit: str | None) -> int:
    plain = unit is None or re.fullmatch(PLAIN_WHOLE, unit)
    return _hashed(key, unit) if plain else _half(key, "unit", unit)


def _kind_of(texts: Sequence[str | None]) -> Kind:
    counts = Counter(text for text in texts if text is not None)
    places = [_place(text) for text in counts]
    whole = [place for place in places if place is not None]
    run = (
        len(whole) == len(places) > 0
        and max(whole) - min(whole) + 1 == len(whole)
        and len(set(counts.values())) == 1
    )
    return Kind(len(counts), run=run, missing=None in texts)


def _place(text: str) -> float | None:
    """Return the place of a whole number or a day among those that can be a run: of a day between two numbers."""
    number, day = number_of(text), _day(text)
    if day is not None:
        return day + 0.5
    return number if number is not None and abs(number) < LARGEST_WHOLE and number.is_integer() else None


def _day(text: str) -> int | None:
    if re.fullmatch(DAY, text):
        with contextlib.suppress(ValueError):
            return (date.fromisoformat(text) - date(1970, 1, 1)).days
    return None


def _hashed(key: bytes, text: str | None) -> int:
    """Return the number of a cell."""
    bits = MISSING if text is None else _bits(text)
    return _half(key, "cell", text or "") if bits is None else mix(bits, numbers_of(key, "cell"))


def _bits(text: str) -> int | None:
    """Return the bits of a number's binary64, or of a day."""
    number, day = number_of(text), _day(text)
    if number is not None:
        return int(struct.unpack("<Q", struct.pack("<d", number + 0.0))[0])  # there is one zero
    return None if day is None else DAYS + day


def _half(key: bytes, kind: str, text: str) -> int:
    digest = hashlib.md5((hash_text(key, kind) + text).encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:], "little")
