"""What an interaction may ask of the notebook around it: the questions that its front ends ask, answered by the same functions.

The room of the notebook says here how it answers (``notebook`` knows this room, never the other way round). No question
spends, and without a notebook that was loaded every answer is a refusal that says what to type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["answer", "answered_by"]

Answer = Callable[[Mapping[str, Any]], dict[str, Any]]

_UNLOADED = "This notebook has not loaded dpnb. Run: %load_ext dpnb"


def _refuse(asked: Mapping[str, Any]) -> dict[str, Any]:
    del asked
    return {"is": "refusal", "problem": _UNLOADED}


_answer: Answer = _refuse


def answered_by(how: Answer | None) -> None:
    """Say who answers; None takes it back."""
    global _answer  # noqa: PLW0603  one notebook around one kernel
    _answer = _refuse if how is None else how


def answer(asked: object) -> dict[str, Any]:
    """Answer one question; what is no question is refused."""
    if not isinstance(asked, Mapping):
        return {"is": "refusal", "problem": "This is no question."}
    return _answer(asked)
