"""What an interaction may ask of the notebook around it: the questions that its front ends ask, answered by the same functions.

The host answers (:class:`dpnb.estimate.Host`; ``notebook`` provides one). No question spends, and without a notebook that was
loaded every answer is a refusal that says what to type.
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from dpnb.cards.markup import clean
from dpnb.errors import DpnbError
from dpnb.estimate import current_host
from dpnb.planner.expression import typed
from dpnb.widgets.registry import Facts, Names

if TYPE_CHECKING:
    from dpnb.client.handles import Dataset
    from dpnb.estimate import PendingQuestion


def names() -> Names:
    """Return what the notebook's names hold, of datasets and released answers; nothing outside a notebook."""
    return current_host().names() or {}


def called(thing: object) -> str | None:
    """Return what the notebook calls a dataset or a released answer, by the first of its names; None where it has none.

    ``_`` and ``_12`` are no such names: what they hold is another thing after the next cell.
    """
    return min(
        (name for name, one in names().items() if one is thing and not name.startswith("_")), default=None
    )


def handle_of(dataset: Dataset) -> str:
    """Return what a cell calls a dataset: its name in the notebook, else its own, unless that holds something else there."""
    own = typed(str(dataset.name))
    own = own if own.isidentifier() and not keyword.iskeyword(own) else f"data_{own}"
    while own in names():
        own += "_"
    return called(dataset) or own


def opening(dataset: Dataset) -> str:
    """Return the line that gives a dataset its name, before a cell that speaks of it; empty where the notebook has one."""
    if current_host().names() is None or called(dataset) is not None:
        return ""
    name, again = handle_of(dataset), dataset.session.opening(dataset)
    return f"{name} = {again}\n" if again else f"# the dataset has no name here yet: {name} = dpnb.open(…)\n"


def spoken(text: str, dataset: Dataset) -> str:
    """Return an expression on a dataset in the words of the notebook: its own name there is what the notebook calls it."""
    handle, line = handle_of(dataset), text.encode()
    try:
        found = ast.walk(ast.parse(text, mode="eval"))
    except (SyntaxError, RecursionError):
        return text
    ends = {
        (one.col_offset, one.end_col_offset)
        for one in found
        if isinstance(one, ast.Name) and one.id == typed(dataset.name) and one.lineno == 1
    }
    for start, end in sorted(ends, reverse=True):
        line = line[:start] + handle.encode() + line[end:]
    return line.decode()


def text_of(question: PendingQuestion) -> str:
    """Return a question in the words of the notebook, as one clean line."""
    text = clean(question.text)
    return text if question.dataset is None else spoken(text, question.dataset.root)


def answer(asked: object) -> Facts:
    """Answer one question; what is no question is refused."""
    return current_host().ask(asked) if isinstance(asked, Mapping) else refusal("This is not a question.")


Answer = Callable[[Names], Facts]


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
        around: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self.answers = dict(answers)
        self._around = around

    def __call__(self, asked: object) -> Facts:
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


def refusal(words: str) -> Facts:
    """Return what a page is told in place of an answer."""
    return {"is": "refusal", "problem": words}
