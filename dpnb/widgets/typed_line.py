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
    try:
        return eval(text, dict(names))  # noqa: S307  the user's own line
    except DpnbError:
        raise
    except SyntaxError:
        raise OptionError(f"{text} is not a Python expression. For example: {example}") from None
    except Exception as error:  # noqa: BLE001  whatever the line raises is told as what it is
        raise OptionError(f"{type(error).__name__} in {text}: {error}") from None
