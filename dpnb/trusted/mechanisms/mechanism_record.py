"""The permanent record of a mechanism, read back: the object that a charge was made for, with its exact parameters.

Every mechanism writes its record itself (``to_json``: all texts). Only the mechanisms of the closed registry are read, and
only a record that the mechanism so made would write again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final, TypeVar

from dpnb.trusted.errors import PlanError
from dpnb.trusted.mechanisms import MECHANISMS, AnyMechanism
from dpnb.trusted.mechanisms._base import ratio
from dpnb.trusted.mechanisms.exponential import QuantileSelection

Kind = TypeVar("Kind", bound=AnyMechanism)
_NAMED: Final[dict[str, type[AnyMechanism]]] = {kind.name: kind for kind in MECHANISMS}

_READ: Final[dict[str, Callable[[str], Any]]] = {
    "Fraction": ratio,
    "int": int,
    "tuple[int, ...]": lambda text: tuple(int(part) for part in text.split()),
    "tuple[Fraction, ...]": lambda text: tuple(ratio(part) for part in text.split()),
    "Fraction | None": lambda text: None if text == "None" else ratio(text),
}
"""How a parameter is read, by the type that its mechanism declares."""


def read_mechanism(record: Mapping[str, str]) -> AnyMechanism:
    """Read what a mechanism's ``to_json`` wrote.

    Raises
    ------
    PlanError
        If the record is not that of a mechanism of this version.

    Examples
    --------
    >>> read_mechanism({"mechanism": "discrete-laplace", "scale": "3/2"})
    DiscreteLaplace(scale=Fraction(3, 2))
    """
    try:
        found = _made(_NAMED[record["mechanism"]], dict(record))
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        raise _refusal() from None
    if found.to_json() != dict(record):
        raise _refusal()
    return found


def _refusal() -> PlanError:
    return PlanError("A recorded mechanism is not in the form that this version of dpnb writes.")


def _made(kind: type[Kind], record: Mapping[str, str]) -> Kind:
    make: Callable[..., Kind] = kind
    return make(**{field.name: _parameter(field.name, str(field.type), record) for field in fields(kind)})


def _parameter(name: str, declared: str, record: Mapping[str, str]) -> Any:
    if declared == "QuantileSelection":  # a part of its own, under its name and a space
        begin = f"{name} "
        return _made(
            QuantileSelection,
            {key.removeprefix(begin): text for key, text in record.items() if key.startswith(begin)},
        )
    text = record[name]
    if not isinstance(text, str):
        raise _refusal()
    return _READ[declared](text)
