"""Measurements as permanent JSON: as they cross the wire, as a charge records them, and the name under which answers are stored.

A record holds public facts alone: aggregates over declared columns, mechanisms with their exact noise, the number of cells.
It is read from closed tables, so that whoever completes a charge never plans again; anything else is refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from dpnb.trusted.aggregate.algebra import Request
from dpnb.trusted.aggregate.request_record import Reader, written_requests
from dpnb.trusted.canonical import Record, canonical, is_record
from dpnb.trusted.errors import PlanError
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms.mechanism_record import read_mechanism

_PART = {"name": str, "request": int, "mechanism": dict, "cells": int}
_PARTS = {"nodes": list, "requests": list, "parts": list}
_LONGEST_NAME = 200


def written(parts: Sequence[Measurement]) -> Record:
    """Write measurements; a request that several of them ask stands once."""
    requests, places = _places(parts)
    listed = [
        {
            "name": part.name,
            "request": places[id(part.request)],
            "mechanism": part.mechanism.to_json(),
            "cells": part.cells,
        }
        for part in parts
    ]
    return {**written_requests(requests), "parts": listed}


def read_parts(record: object, reader: Reader | None = None) -> tuple[Measurement, ...]:
    """Read what :func:`written` wrote.

    Parameters
    ----------
    record : object
    reader : Reader, optional
        What reads the other records of the same plan.

    Raises
    ------
    PlanError
        If the record is in any other form.
    """
    if not is_record(record, _PARTS) or not record["parts"] or not all(map(_is_part, record["parts"])):
        raise _refusal()
    listed = record["parts"]
    requests = (reader or Reader()).read({name: record[name] for name in ("nodes", "requests")})
    twice = len(requests) > 1 and len(set(requests)) < len(requests)
    if twice or _order(listed) != list(range(len(requests))):
        raise _refusal()
    return tuple(
        Measurement(part["name"], requests[part["request"]], read_mechanism(part["mechanism"]), part["cells"])
        for part in listed
    )


def measured(parts: Sequence[Measurement], record: Mapping[str, Any] | None = None) -> str:
    """Return the name of what is measured, without how much noise is added or what its parts are called: SHA-256, in hexadecimal.

    Whoever asks the same, with more noise or with another kind of additive noise, can be given the stored answer.

    Parameters
    ----------
    parts : sequence of Measurement
    record : mapping, optional
        What :func:`written` makes of them, where it is at hand.
    """
    plan = written(parts) if record is None else record
    shapes = [
        [written_part["request"], list(part.mechanism.shape), part.cells]
        for part, written_part in zip(parts, plan["parts"], strict=True)
    ]
    text = canonical([plan["nodes"], plan["requests"], shapes])
    return hashlib.sha256(text.encode()).hexdigest()


def _places(parts: Sequence[Measurement]) -> tuple[list[Request], dict[int, int]]:
    """Return the different requests of some measurements, and the place of each object among them: equal ones have one place."""
    found: dict[Request, int] = {}
    places: dict[int, int] = {}
    if len(parts) == 1:  # to hash a request is to walk through it
        return [parts[0].request], {id(parts[0].request): 0}
    for part in parts:
        if id(part.request) not in places:
            places[id(part.request)] = found.setdefault(part.request, len(found))
    return list(found), places


def _order(parts: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the requests that parts name, in the order in which they are first named."""
    return list(dict.fromkeys(part["request"] for part in parts))


def _is_part(part: object) -> bool:
    """Whether a part has a name that a terminal shows as it is, a request, a mechanism and a number of cells, each of its own type.

    What is not printable could move a terminal's cursor or turn the direction of a line, and so show its reader another record.
    Fewer cells than one would be taken off the work that a batch is counted as, and leave it without a limit.
    """
    if not is_record(part, _PART) or part["cells"] < 1:
        return False
    return 0 < len(part["name"]) <= _LONGEST_NAME and part["name"].isprintable()


def _refusal() -> PlanError:
    return PlanError("A recorded plan is not in the form that this version of dpnb writes.")
