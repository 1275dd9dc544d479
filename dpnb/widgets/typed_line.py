"""What follows ``%dp NAME`` on its line: a Python expression in the user's names, as in a cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpnb.errors import DpnbError, OptionError


def value_of(names: Mapping[str, Any], text: str, example: str) -> Any:
    """Return what a line says in the user's names.

    Raises
    ------
    OptionError
        When the text is missing, is no Python, or names what there is not.
    """
    if not text:
        raise OptionError(f"This needs a question: {example}")
    return _evaluated(names, text, text, example)


def arguments_of(names: Mapping[str, Any], text: str, example: str) -> dict[str, Any]:
    """Return what a line such as ``x=ill, rng=2`` gives by name, read in the user's names; see :func:`value_of`."""
    found: dict[str, Any] = _evaluated({**names, "_called": dict}, f"_called({text})", text, example)
    return found


def _evaluated(names: Mapping[str, Any], code: str, text: str, example: str) -> Any:
    try:
        return eval(code, dict(names))  # noqa: S307  the user's own line
    except DpnbError:
        raise
    except SyntaxError:
        raise OptionError(f"{text} is not a Python expression. For example: {example}") from None
    except Exception as error:  # noqa: BLE001  whatever the line raises is told as what it is
        raise OptionError(f"{type(error).__name__} in {text}: {error}") from None
