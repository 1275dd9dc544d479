"""Estimates outside the kernel: pickled by record, and as JSON. Deep graphs are written flat, never by recursion."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from dpnb.estimate.estimate import Estimate
from dpnb.estimate.evaluate import is_node
from dpnb.estimate.reading import readable
from dpnb.estimate.table import Table
from dpnb.inference.interval import plain_number


def flat(estimate: Estimate) -> list[tuple[Any, ...]]:
    """The graph as a list, arguments before the nodes that use them, the root last."""
    order: list[Estimate] = []
    numbers: dict[int, int] = {}
    stack: list[tuple[Estimate, bool]] = [(estimate, False)]
    while stack:
        node, ready = stack.pop()
        if id(node) in numbers:
            continue
        if ready or node.op is None:
            numbers[id(node)] = len(order)
            order.append(node)
            continue
        stack.append((node, True))
        stack.extend((arg, False) for arg in reversed(node.args) if is_node(arg))
    return [
        (node.op, node.args, None, node._shape, node._axes)  # noqa: SLF001 -- its own kind
        if node.op is None
        else (
            node.op,
            tuple(None if is_node(arg) else arg for arg in node.args),
            tuple(numbers[id(arg)] if is_node(arg) else None for arg in node.args),
            node._shape,  # noqa: SLF001 -- its own kind
            node._axes,  # noqa: SLF001 -- its own kind
        )
        for node in order
    ]


def rebuild(records: list[tuple[Any, ...]]) -> Estimate:
    """The graph of :func:`flat`."""
    built: list[Estimate] = []
    for op, constants, places, shape, axes in records:
        if places is None:
            built.append(_leaf(constants, shape, axes))
            continue
        args = tuple(
            constant if place is None else built[place]
            for constant, place in zip(constants, places, strict=True)
        )
        built.append(Estimate(op, args, shape, axes))
    return built[-1]


def _leaf(args: tuple[Any, ...], shape: Any, axes: Any) -> Estimate:
    """A question with its readings, or a reading."""
    (view,) = args
    kind = readable(Estimate, view) if view.root is view else Estimate
    return kind(None, args, shape, axes)


def to_json(thing: Any) -> Any:
    """``default=`` for :func:`json.dumps`: estimates, releases, intervals, losses, exact numbers, numpy numbers."""
    if isinstance(thing, Estimate):
        return thing.to_dict()
    if isinstance(thing, Table):
        return thing.to_dict()
    if isinstance(thing, np.generic):
        return plain_number(thing) if isinstance(thing, np.floating) else thing.item()
    if isinstance(thing, np.ndarray):
        return plain_number(thing) if thing.dtype.kind == "f" else thing.tolist()
    if isinstance(thing, Fraction):
        return str(thing)
    if hasattr(thing, "to_json"):
        return thing.to_json()
    return _refuse(thing)


def _refuse(thing: Any) -> NoReturn:
    raise TypeError(f"Object of type {type(thing).__name__} is not JSON serializable")
