"""The error texts of pending estimates and of vectors: what needed a value, of which question, what to do.

A text names the *leaf question*, also when a derived estimate was used, because that is what a person typed. The
room never shows data here. What may never change without its golden test: the texts themselves.
"""

from __future__ import annotations

import dis
import linecache
import re
import sys
from collections.abc import Iterable
from types import CodeType, FrameType
from typing import Any

import numpy as np

from dpnb.errors import NestedSpendError, OptionError, PendingError, PlanError, Unavailable
from dpnb.estimate import wording
from dpnb.estimate.evaluate import Expression
from dpnb.estimate.host import current_host
from dpnb.estimate.pending_question import PendingQuestion
from dpnb.trusted.schema import nearest

_PACKAGE = __name__.rpartition(".")[0]
_LIBRARIES = ("site-packages", "dist-packages")
_KEYWORDS = ("if", "elif", "while", "assert", "not", "and", "or")


def value_needed(measurement: PendingQuestion, by: str) -> PendingError:
    """Error 1 while the asking cell runs, error 2 after it: the value of a pending question was needed."""
    if measurement.answerable:
        hint = " Inside the cell use np.maximum(a, b)." if by in {"`max`", "`min`", "`sorted`"} else ""
        return PendingError(
            f"{by} needs the value of `{measurement.text}`, which is released when this cell ends. "
            f"Move this line to the next cell.{hint}"
        )
    return never_released(measurement)


def never_released(measurement: PendingQuestion) -> PendingError:
    """Error 2: a question whose cell is over, and which has no answer."""
    where = f"`{measurement.text}` (built {measurement.origin})"
    if measurement.state == "submitted":
        return PendingError(
            f"{where} was submitted and its answer has not arrived. Run its cell again: the answer is stored."
        )
    if measurement.stopped:
        cell = measurement.origin.label or "Its cell"
        return PendingError(
            f"{where} was never released. {cell} stopped before the release; nothing was spent. Run it again."
        )
    name = _name_of(measurement)
    return PendingError(
        f"{where} was never released. This cell releases it:\n\n    %%dp epsilon=1\n"
        f"    {name} = {measurement.text}\n\n"
        f'In a script: dpnb.release({{"{name}": {name}}}, epsilon=1).'
    )


def _name_of(measurement: PendingQuestion) -> str:
    """The notebook's name for a question, else one that nothing else has."""
    names = current_host().names() or {}
    known = (name for name, one in names.items() if getattr(one, "measurement", None) is measurement)
    return next((name for name in known if not name.startswith("_")), "q")


class NoAttribute(PlanError, AttributeError):
    """A name that an estimate does not have; the message says what to write instead."""


_OF_TABLES = ("goodness_of_fit_test", "independence_test")


def no_attribute(text: str, name: str, known: Iterable[str]) -> NoAttribute:
    """Say what an estimate has in the place of a name that it does not have."""
    if name in _OF_TABLES:
        return NoAttribute(
            f"`{text}` has no .{name}: it tests a table as it was asked. Ask the key by itself, "
            f"for example .value_counts().goodness_of_fit_test(), or .crosstab(…).independence_test()."
        )
    if hasattr(np.ndarray, name):
        said = f"{name}()" if callable(getattr(np.ndarray, name)) else name
        return NoAttribute(
            f"`{text}` has no .{said}, which would lose the intervals. Of the numbers alone: .value.{said}."
        )
    other = nearest(name, (one for one in known if not one.startswith("_")))
    hint = (
        f"Did you mean .{other}?"
        if other
        else "It has .value, .interval(), .table(), .plot() and .explain()."
    )
    return NoAttribute(f"`{text}` has no .{name}. {hint}")


def nested() -> NestedSpendError:
    """Error 7: a batch was opened inside a batch."""
    return NestedSpendError(
        "A %%dp cell is one batch: a second spend inside it would be charged even if the cell fails. "
        "Put it in its own cell."
    )


def carries_no_interval(function: object, carried: tuple[str, ...]) -> Unavailable:
    """Error 9: a numpy function whose result would lose its uncertainty."""
    module = str(getattr(function, "__module__", "") or "numpy")
    name = f"{module.replace('numpy._core', 'numpy')}.{getattr(function, '__name__', function)}"
    name = re.sub(r"^numpy\.(fromnumeric|numeric|function_base|umath|multiarray)\.", "numpy.", name)
    return Unavailable(
        f"{name} does not carry intervals. Use h.value for the numbers alone, or one of: {', '.join(carried)}."
    )


def many_values(estimate: Expression) -> Unavailable:
    """Error 10: one value was asked of a vector."""
    leaf = estimate.measurement
    shape = estimate.shape
    size = " x ".join(map(str, shape))
    noun = "A vector of " + size + " values"
    if leaf is not None:
        kind = getattr(leaf.checked, "kind", None)
        noun = f"`{leaf.text}`, with {size} values,"
        if kind is not None and kind.counts and "bins" in kind.defaults and len(shape) == 1:
            noun = f"A {kind.title} of {size} bins"
    return Unavailable(
        f"{noun} has no single value: index it (h[0]) or convert it (np.asarray(h), after release)."
    )


def user_frame() -> FrameType:
    """The innermost frame that is neither this room's nor an installed library's."""
    frame = sys._getframe(1)  # noqa: SLF001 -- the documented way to ask who calls
    while frame.f_back is not None and _is_library(frame):
        frame = frame.f_back
    return frame


def _is_library(frame: FrameType) -> bool:
    inside = str(frame.f_globals.get("__name__", "")).startswith(_PACKAGE)
    return inside or any(part in frame.f_code.co_filename for part in _LIBRARIES)


def asked_by(fallback: str) -> str:
    """What in the user's line needed a value: ``"`if`"``, ``"`max`"``, or `fallback`.

    Parameters
    ----------
    fallback : str
        The special method's own name for itself, such as ``"`<`"``.
    """
    frame = user_frame()
    code, place = frame.f_code, frame.f_lasti
    if fallback.startswith("`.") or not 0 <= place < len(code.co_code):
        return fallback
    while place > 0 and dis.opname[code.co_code[place]] == "CACHE":
        place -= 2
    name = dis.opname[code.co_code[place]]
    if name == "UNARY_NOT":
        return "`not`"
    if name.startswith("CALL"):
        return _called(frame) or fallback
    if name in {"COMPARE_OP", "CONTAINS_OP", "TO_BOOL"} or "JUMP" in name:
        return _branch(code, place, frame) or ("`in`" if name == "CONTAINS_OP" else fallback)
    return fallback


def _branch(code: CodeType, place: int, frame: FrameType) -> str | None:
    """The keyword of the branch that this instruction decides, if it decides one."""
    for step in range(place, min(place + 24, len(code.co_code)), 2):
        name = dis.opname[code.co_code[step]]
        if "JUMP" in name and "_IF_" in name:
            return f"`{_keyword(frame)}`"
        if name == "UNARY_NOT" and dis.opname[code.co_code[place]] == "TO_BOOL":
            return "`not`"  # since Python 3.13 `not` asks for a truth value by an instruction of its own
        if step > place and name not in {"CACHE", "TO_BOOL", "EXTENDED_ARG", "COPY", "NOT_TAKEN"}:
            return None
    return None


def _keyword(frame: FrameType) -> str:
    """The branching word of the user's line, or ``if``."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
    first = line.split(maxsplit=1)[0] if line.strip() else ""
    if first in _KEYWORDS:
        return first
    for word in ("if", "while", "and", "or", "not"):
        if re.search(rf"\b{word}\b", line):
            return word
    return "if"


def _called(frame: FrameType) -> str | None:
    """The name of the function that this frame is calling, read from its source."""
    positions = next(_positions(frame), None)
    if positions is None:
        return None
    line, _, start, _ = positions
    if line is None or start is None:
        return None
    text = linecache.getline(frame.f_code.co_filename, line, frame.f_globals)
    found = re.match(r"[\w.]+(?=\()", text.encode()[start:].decode(errors="ignore"))
    return f"`{found.group()}`" if found else None


def _positions(frame: FrameType) -> Any:
    """The source positions of the instruction that this frame is at."""
    everywhere = frame.f_code.co_positions()
    return (at for number, at in enumerate(everywhere) if number == frame.f_lasti // 2)


def no_interval(estimate: Expression, kind: object) -> Exception:
    """A kind of interval that there is none of: another word, or that of the values as they are, without bounds."""
    usual = 'Use kind="confidence" or kind="privacy".'
    if kind != "unclamped":
        return OptionError(f"No interval of kind {kind!r}. {usual}")
    said = wording.estimand(estimate)
    if not said:
        return OptionError(f"No values are clamped here. {usual}")
    known = "" if estimate.op is not None else wording.at_bounds(estimate.leaves()[0])
    return Unavailable(
        f"Not available: this is the {said}.{f' {known[0].upper()}{known[1:]}.' if known else ''} No release shows how far values are beyond the bounds, and one value "
        "could be anywhere, so there is no valid interval for the unclamped values. Declare wider bounds, or ask .median(), which bounds "
        "do not move."
    )
