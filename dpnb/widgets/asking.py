"""What an interaction may ask of the notebook around it: the questions that its front ends ask, answered by the same functions.

The room of the notebook says here how it answers (``notebook`` knows this room, never the other way round). No question
spends, and without a notebook that was loaded every answer is a refusal that says what to type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["answer", "answered_by", "handle_of"]

Answer = Callable[[Mapping[str, Any]], dict[str, Any]]

_UNLOADED = "This notebook has not loaded dpnb. Run: %load_ext dpnb"


def _refuse(asked: Mapping[str, Any]) -> dict[str, Any]:
    del asked
    return {"is": "refusal", "problem": _UNLOADED}


def _unnamed() -> dict[str, Any]:
    return {}


_answer: Answer = _refuse
_names: Callable[[], Mapping[str, Any]] = _unnamed


def answered_by(how: Answer | None, names: Callable[[], Mapping[str, Any]] = _unnamed) -> None:
    """Say who answers, and what the notebook calls its handles; None takes it back."""
    global _answer, _names
    _answer, _names = (_refuse, _unnamed) if how is None else (how, names)


def handle_of(dataset: Any) -> str:
    """Return what the notebook calls a dataset; its own name where it has none there.

    ``_`` and ``_12`` are no such names: what they hold is another thing after the next cell.
    """
    held = (name for name, one in _names().items() if one is dataset and not name.startswith("_"))
    return min(held, default=str(dataset.name))


def answer(asked: object) -> dict[str, Any]:
    """Answer one question; what is no question is refused."""
    if not isinstance(asked, Mapping):
        return {"is": "refusal", "problem": "This is no question."}
    return _answer(asked)
