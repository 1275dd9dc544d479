"""Bytes to messages and back, strictly.

A body is refused, before any object is built from it, when it is too long or nested too deeply; a message is refused when
it has an unknown tag, an unknown field or a value of another type. The refusal is a :class:`~dpnb.trusted.errors.PlanError`: it
happens before any charge. Exact JSON of lower rooms is read and written with :func:`exact_json` and :func:`raw`,
which keep integers of any length.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, cast

import msgspec

from dpnb.trusted.canonical import canonical, read_json
from dpnb.trusted.errors import PlanError
from dpnb.trusted.wire.messages import Reply, Request, ServiceRequest

MAX_REQUEST = 4 * 2**20
MAX_REPLY = 512 * 2**20
MAX_DEPTH = 200
MAX_BRACKETS = 500_000
MAX_LIST = 100_000
MAX_STRING = 262_144

_OTHERS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_ENCODER = msgspec.json.Encoder(decimal_format="string")
_REQUESTS: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Request)
_SERVICE_REQUESTS: msgspec.json.Decoder[Any] = msgspec.json.Decoder(ServiceRequest)


def encode(message: Request | ServiceRequest | Reply) -> bytes:
    """Write a message as JSON bytes."""
    return _ENCODER.encode(message)


def decode_request(body: bytes) -> Request:
    """Read a request, or refuse it with :class:`PlanError`."""
    return cast("Request", _request(_REQUESTS, body))


def decode_service_request(body: bytes) -> ServiceRequest:
    """Read a request to a service, or refuse it with :class:`PlanError`."""
    return cast("ServiceRequest", _request(_SERVICE_REQUESTS, body))


def _request(decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
    if len(body) > MAX_REQUEST:
        raise PlanError(
            f"A request of {len(body):,} bytes is longer than {MAX_REQUEST:,}: ask fewer questions at once."
        )
    _check_depth(body)
    return decoded(decoder, body)


def raw(value: Any) -> msgspec.Raw:
    """Write a lower room's JSON value canonically (sorted keys, no spaces, integers of any length)."""
    return msgspec.Raw(canonical(value).encode())


def exact_json(value: msgspec.Raw | bytes) -> Any:
    """Read a :class:`msgspec.Raw` field: integers of any length; repeated keys, NaN and long lists or texts refused."""
    try:
        return read_json(bytes(value))
    except (ValueError, RecursionError) as error:
        if isinstance(error, PlanError):
            raise
        raise PlanError("A request that is not the JSON of a plan was refused.") from None


def limited(value: Any) -> Any:
    """Return a plan's decoded JSON, or refuse lists and texts beyond the limits of the wire; :func:`exact_json` refused those without bytes."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str) and len(item) > MAX_STRING:
            raise PlanError(f"A text of {len(item):,} characters in a plan; {MAX_STRING:,} is the limit.")
        if isinstance(item, (list, dict)):
            if len(item) > MAX_LIST:
                raise PlanError(f"A list of {len(item):,} entries in a plan; {MAX_LIST:,} is the limit.")
            stack.extend(item)
            stack.extend(item.values() if isinstance(item, dict) else ())
    return value


def decoded(decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
    """Decode a body, or refuse it with :class:`PlanError`."""
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise PlanError("A message that is not in dpnb's vocabulary was refused.") from None


def _check_depth(body: bytes) -> None:
    opened = body.count(b"[") + body.count(b"{")  # counted first: to walk through many takes a second
    if opened <= MAX_DEPTH:  # nothing is nested deeper than there are brackets
        return
    depths = () if opened > MAX_BRACKETS else accumulate(map(_STEPS.__getitem__, _brackets(body)))
    if opened > MAX_BRACKETS or max(depths, default=0) > MAX_DEPTH:
        raise PlanError(
            f"An expression nested more than {MAX_DEPTH} deep, or a cell of more than {MAX_BRACKETS:,} lists: "
            "split it, or use isin, between or clip."
        )


def _brackets(body: bytes) -> bytes:
    """Return the brackets of a body outside its texts; four passes, each linear, whatever the body holds.

    A backslash escapes what follows it inside a text and ends every parser outside one. So pairs of backslashes go first, from
    the left, then escaped quotes; the quotes that remain open and close texts in turn.
    """
    bare = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(bare.split(b'"')[::2]).translate(None, _OTHERS)
