"""What content is known by, spelled out in Python: the reference of what the engine computes in SQL."""

from __future__ import annotations

import contextlib
import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from dpnb.datasets.cell_text import canonical, text_of
from dpnb.trusted.curator.content import (
    ABSENT,
    DAY,
    DAYS,
    FRACTION,
    MIDDLE,
    WHOLE,
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
    rows = [[ABSENT if h is None else h for h in row] for row in zip(*hashed, strict=True)]
    multiset = sum(finished(sum(row)) for row in rows)
    places = column_numbers(key, len(hashed))
    told = [finished(sum(h * place for h, place in zip(row, places, strict=True))) for row in rows]
    owners = _owners(columns, schema, key, len(rows))
    state = sum(finished(row ^ owner) for row, owner in zip(told, owners, strict=True))
    kinds = [_kind_of(text) for text in texts.values()]
    known = [
        (sum(h is not None for h in column), sum(h or 0 for h in column))
        for column, kind in zip(hashed, kinds, strict=True)
        if identifies(kind.distinct, run=kind.run)
    ]
    guessable = may_be_guessed(len(rows), kinds)
    return finish(Sums(len(rows), known, guessable, multiset, state), schema, key)


def _owners(columns: Mapping[str, Iterable[Any]], schema: Schema, key: bytes, rows: int) -> list[int]:
    """Return whose each row is, as a number: of its place where the unit is the row."""
    if schema.unit_column is None:
        return [mix(place + MIDDLE, numbers_of(key, "place")) for place in range(rows)]
    return [_owner(key, text_of(cell)) for cell in columns[schema.unit_column]]


def _owner(key: bytes, unit: str | None) -> int:
    if unit is None:
        return 0
    plain = re.fullmatch(PLAIN_WHOLE, unit)
    return mix(int(unit) + MIDDLE, numbers_of(key, "cell")) if plain else _half(key, "unit", unit)


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


def _place(text: str) -> int | None:
    """Return the number that is mixed for a canonical text: of a whole number or a day."""
    if re.fullmatch(WHOLE, text):
        return int(text)
    if re.fullmatch(DAY, text):
        with contextlib.suppress(ValueError):
            return DAYS + (date.fromisoformat(text) - date(1970, 1, 1)).days
    return None


def _hashed(key: bytes, text: str | None) -> int | None:
    """Return the number of a cell."""
    if text is None:
        return None
    place = _place(text)
    if place is not None:
        return mix(place + MIDDLE, numbers_of(key, "cell"))
    parts = _parts(text)
    if parts is None:
        return _half(key, "cell", text)
    whole, part = parts
    return mix(whole + MIDDLE ^ mix(part + MIDDLE, numbers_of(key, "part")), numbers_of(key, "cell"))


def _parts(text: str) -> tuple[int, int] | None:
    """Return the whole number and the fraction, in units, of a canonical text that is such a number."""
    number = number_of(text)
    if number is None or not abs(number) < LARGEST_WHOLE:
        return None
    whole = math.trunc(number)
    part = (number - whole) * FRACTION
    return (whole, int(part)) if part == math.trunc(part) else None


def _half(key: bytes, kind: str, text: str) -> int:
    digest = hashlib.md5((hash_text(key, kind) + text).encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:], "little")
