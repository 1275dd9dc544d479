"""The resolved plan that a charge records: how each question is measured, so that whoever completes the charge never plans again.

A record holds public facts alone: aggregates in the column language, mechanisms with their exact scales, the number of cells.
It is read from closed tables; a record of another version of the mechanisms is never run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpnb.plan.price import PricedPart, PricedQuestion
from dpnb.trusted.aggregate.request_record import read_requests, written_requests
from dpnb.trusted.curator.adoption import Question
from dpnb.trusted.errors import PlanError
from dpnb.trusted.mechanisms.mechanism_record import read_mechanism
from dpnb.trusted.privacy.loss import exact_text

_FIELDS = {"name", "mechanism", "cells"}


def question_of(priced: PricedQuestion) -> Question:
    """Return a priced question as it is charged and recorded."""
    share = (
        {} if priced.share is None else {"kind": priced.share.kind, "share": exact_text(priced.share.amount)}
    )
    return Question(priced.key, priced.text, priced.events, share, _written(priced.parts))


def _written(parts: tuple[PricedPart, ...]) -> dict[str, Any]:
    listed = [
        {"name": part.name, "mechanism": part.mechanism.to_json(), "cells": part.cells} for part in parts
    ]
    return {**written_requests(part.request for part in parts), "parts": listed}


def read_parts(plan: Mapping[str, Any]) -> tuple[PricedPart, ...]:
    """Return what a recorded question measures, in order.

    Raises
    ------
    PlanError
        If the record is not in the form that this version writes.
    """
    if set(plan) != {"nodes", "requests", "parts"} or not all(map(_is_part, plan["parts"])):
        raise PlanError("A recorded plan is not in the form that this version of dpnb writes.")
    requests = read_requests({name: plan[name] for name in ("nodes", "requests")})
    return tuple(
        PricedPart(part["name"], request, read_mechanism(part["mechanism"]), part["cells"])
        for part, request in zip(plan["parts"], requests, strict=True)
    )


def _is_part(part: Mapping[str, Any]) -> bool:
    """Whether a part has a name, a mechanism and a number of cells, each of its own type."""
    return set(part) == _FIELDS and isinstance(part["name"], str) and type(part["cells"]) is int
