r"""The one JSON of what is permanent: how it is written, and how it is read where a stranger may have written it.

The ledger's entries, stored answers, pinned terms, marks, plans, schemas and every message's exact parts are written here and
nowhere else, because hashes and stored answers depend on the bytes. The rule, which may never change:

- keys sorted by code point, no spaces, no line ends;
- UTF-8 with nothing escaped but ``"``, ``\\`` and control characters; Unicode is neither normalised nor escaped, and a text that
  has no bytes (half a surrogate pair) is refused;
- numbers are integers, of up to the 4,300 digits that Python reads. A float is refused, whole or not, and so are NaN and the infinities: two programs may
  round one differently. Exact numbers travel as texts (``"1/10"``);
- the keys of an object are texts (``{1: …}``, which the standard library would write as ``{"1": …}``, is refused).

So equal values have one text, and different values different texts; ``1``, ``True`` and ``"1"`` differ. The reader takes spaces
and any order of keys, since its texts may come from elsewhere, and refuses whatever the writer could not have written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn, TypeAlias, TypeGuard

import msgspec

from dpnb.trusted.errors import PlanError

Record: TypeAlias = dict[str, Any]  # a JSON object, as it is written
JsonObject: TypeAlias = Mapping[str, Any]  # one, as it is read
_ENCODER: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)
_FAST: Final = msgspec.json.Encoder(order="sorted")
"""Writes the same bytes of plain values, many times as fast, and other values in its own ways: it is shown plain ones alone."""
_NESTED: Final = frozenset({list, tuple})
_PLAIN: Final = frozenset({str, int, bool, type(None)})


def canonical(value: Any) -> str:
    """Write a value as its one JSON text.

    Parameters
    ----------
    value : None, bool, int, str, or lists, tuples and dicts of them

    Raises
    ------
    ValueError
        When the value holds anything else, a float for example, or a key that is no text.
    PlanError
        When a text in it has no bytes.

    Examples
    --------
    >>> canonical({"b": 1, "a": ["ε", True, None, "1/10"]})
    '{"a":["ε",true,null,"1/10"],"b":1}'
    """
    try:
        if _is_plain(value):
            return _FAST.encode(value).decode()
    except (TypeError, ValueError, ArithmeticError, RecursionError):
        pass  # the other one says why
    _check(value)
    text = _ENCODER.encode(value)
    if not text.isascii():
        _check_bytes(text)
    return text


def read_json(text: str | bytes) -> Any:
    """Read a value of :func:`canonical`, whoever wrote it.

    Raises
    ------
    ValueError
        When the text is no JSON; a :class:`~dpnb.trusted.errors.PlanError` where it repeats a key, holds a number that is no
        integer, or a text that has no bytes.
    RecursionError
        When it is nested too deeply.

    Examples
    --------
    >>> read_json('{"a": [1, "1/10"]}')
    {'a': [1, '1/10']}
    """
    if isinstance(text, bytes):
        text = text.decode()  # here: json itself would take UTF-16, and half a surrogate pair in bytes
    found = _READER.decode(text)
    if "\\u" in text or not text.isascii():
        _check_bytes(_ENCODER.encode(found))
    return found


def is_record(value: object, fields: Mapping[str, type]) -> TypeGuard[Record]:
    """Tell whether a value is a record of exactly these fields, each of exactly its type (a truth is no integer; ``object`` is any).

    Examples
    --------
    >>> is_record({"cells": 3}, {"cells": int}), is_record({"cells": True}, {"cells": int})
    (True, False)
    """
    if not isinstance(value, dict) or value.keys() != fields.keys():
        return False
    return not [name for name, kind in fields.items() if kind is not object and type(value[name]) is not kind]


def _is_plain(value: Any) -> bool:
    """Tell whether a value holds no types but the plain ones, dict, list and tuple, and none that only descends from them."""
    if type(value) is dict:
        value = value.values()
    elif type(value) not in _NESTED:
        return type(value) in _PLAIN
    for one in value:  # noqa: SIM110 - a generator takes twice as long
        if type(one) not in _PLAIN and not _is_plain(one):
            return False
    return True


def _check(value: Any) -> None:
    """Refuse what would be written as something else, or in more than one way."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("A key that is not text has no canonical form.")
        value = value.values()
    elif value is None or isinstance(value, (str, int)):
        return
    elif not isinstance(value, (list, tuple)):
        what = type(value).__name__
        raise ValueError(f"A {what} has no canonical form: write exact numbers as texts.")
    for one in value:
        _check(one)


def _check_bytes(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise PlanError("A text that is not Unicode (half a surrogate pair) was refused.") from None


def _no_float(number: str) -> NoReturn:
    shown = number if len(number) <= 40 else f"{number[:39]}…"
    raise PlanError(f"{shown} is not an exact number: write integers, and all others as texts.")


def _no_twins(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise PlanError("A record with a repeated key was refused.")
    return record


_READER = json.JSONDecoder(parse_float=_no_float, parse_constant=_no_float, object_pairs_hook=_no_twins)
