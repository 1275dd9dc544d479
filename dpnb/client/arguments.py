"""What a call takes: an argument that it does not take is refused in a person's words, with the ones that it does.

Python's own text names a class that nobody imported (``ColumnQuestions.std() got an unexpected keyword argument 'ddof'``) and not
what to write. The call itself is left alone: it is looked at only after it has failed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import ParamSpec, TypeVar

from dpnb.errors import OptionError

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
_UNNAMED = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}


def checked_calls(kind: type[T]) -> type[T]:
    """Let the public methods of a class of handles, which have a ``_spoken()`` name, say what they take."""
    for name, method in list(vars(kind).items()):
        if inspect.isfunction(method) and not name.startswith("_"):
            setattr(kind, name, _checked(method, name))
    return kind


def checked_call(spoken: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function of the public names say what it takes."""

    def checked(function: Callable[P, R]) -> Callable[P, R]:
        return _checked(function, spoken)

    return checked


def _checked(function: Callable[P, R], name: str) -> Callable[P, R]:
    expected = inspect.signature(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError:
            wrong = _wrong(expected, name, args, kwargs)
            if wrong is None:
                raise
        raise OptionError(wrong)

    return call


def _wrong(
    expected: inspect.Signature, name: str, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> str | None:
    """Say what is wrong with a call's arguments; None where nothing is."""
    try:
        expected.bind(*args, **kwargs)
    except TypeError:
        pass
    else:
        return None
    of_handle = next(iter(expected.parameters), "") == "self"
    spoken = f"{args[0]._spoken()}.{name}" if of_handle and hasattr(args[0], "_spoken") else name
    taken = [one for one in expected.parameters.values() if one.name != "self"]
    unknown = next((word for word in kwargs if word not in expected.parameters), None)
    if unknown is not None:
        from dpnb.client.suggestions import for_argument  # what it knows of takes long to load

        return for_argument(unknown, spoken, _options(taken), kwargs[unknown])
    given = len(args) - of_handle
    if given > sum(one.kind in _UNNAMED for one in taken):
        return (
            f"{spoken}() was given too many values. {_takes(taken)}."
            if taken
            else f"{spoken}() takes no values."
        )
    missing = next(one.name for one in taken[given:] if one.default is one.empty and one.name not in kwargs)
    return f"{spoken}() needs {missing}. {_takes(taken)}."


def _options(taken: list[inspect.Parameter]) -> tuple[str, ...]:
    return tuple(one.name for one in taken if one.kind not in {one.VAR_POSITIONAL, one.VAR_KEYWORD})


def _takes(taken: list[inspect.Parameter]) -> str:
    words = [one.name if one.default is one.empty else f"{one.name}=" for one in taken]
    return f"It takes {', '.join(words)}"
