"""The one table of questions that a page may ask of its kernel, and who answers each.

A question arrives as the first message of a comm of its own, as a message of an interaction, or from inside a cell; it is the
same mapping each time, named by ``ask``, and ends here. No answer is an error: what cannot be answered is a refusal in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from dpnb.errors import DpnbError

Answer = Callable[[Mapping[str, Any]], dict[str, Any]]


class Dispatcher:
    """Answers questions by name.

    Parameters
    ----------
    answers : mapping of str to callable
        What each question is answered by; it is handed the whole question.
    around : callable, optional
        Returns what an answer is computed in.

    Examples
    --------
    >>> ask = Dispatcher({"twice": lambda asked: {"is": "number", "n": 2 * asked["n"]}})
    >>> ask({"ask": "twice", "n": 4})
    {'is': 'number', 'n': 8}
    >>> ask({"ask": "once"})["is"], ask("twice")["is"]
    ('refusal', 'refusal')
    """

    def __init__(
        self,
        answers: Mapping[str, Answer],
        around: Callable[[], AbstractContextManager[Any]] = nullcontext,
    ) -> None:
        self.answers = dict(answers)
        self._around = around

    def __call__(self, asked: object) -> dict[str, Any]:
        """Answer a question, or refuse it."""
        if not isinstance(asked, Mapping):
            return refusal("This is not a question.")
        answer = self.answers.get(str(asked.get("ask")))
        if answer is None:
            return refusal(f"This kernel's dpnb does not know the question {asked.get('ask')!r}.")
        try:
            with self._around():
                return answer(asked)
        except DpnbError as error:
            return refusal(str(error))
        except Exception:  # noqa: BLE001  whatever a page sent, a cell of the user's is not disturbed
            return refusal("This question could not be answered.")


def refusal(words: str) -> dict[str, Any]:
    """Return what a page is told in place of an answer."""
    return {"is": "refusal", "problem": words}
