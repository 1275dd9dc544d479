"""The class wall: a class's noisy answers to one question on one axis, and what they say, and cost, together.

It shows composition: thirty answers with noise of their own scatter around the truth, their average closes in on it, and the price of
that is the sum of all. It reads what was released and spends nothing. A folder is looked at again when the page asks, about once a
second; a page that was closed asks for nothing, so that nothing runs on here. A look lists the folder, and reads a file when its size or
its time differs from the last look: a file that is still being copied is damaged for one look and whole at the next. Links, devices and
what is no ``.json`` or ``.zip`` are left alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from dpnb.cards.card import Card
from dpnb.cards.markup import Markup, clean
from dpnb.client.archive import archive
from dpnb.client.class_answers import ClassAnswers
from dpnb.errors import DpnbError, OptionError, PlanError, Unavailable
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.widgets._base import Interaction
from dpnb.widgets.registry import Facts, Names
from dpnb.widgets.still_picture import Interval, intervals, still
from dpnb.widgets.wall_answers import Answer, answer_of, answers_in
from dpnb.widgets.wall_facts import facts_of, wall_of

_ASKED = 'A wall shows released answers, or a folder of them: dpnb.widgets.wall("answers/").'

_ENDINGS = (".json", ".zip")
_LARGEST = 16 * 1024 * 1024
_MOST = 1000
"""Files of a folder that are read: the first by name."""

Stamp = tuple[int, int]


class Wall(Interaction):
    """Show a class's answers to one question as dots with their 95 % privacy intervals, and their average.

    Parameters
    ----------
    answers : path, question, or estimates
        A folder of exports (``answer.to_json("ada.json")``, ``dpnb.archive("ada.zip")``), or released answers in a list or by name. Or, for
        an instructor of a service, a pending question (``people.age.mean()``): the answers of their class as they arrive.
        If there are several questions, the most frequent one is shown. Answers with the same noise count once.
    truth : number or Estimate, optional
        The answer without noise, for TEACHING data only: a number, or your own answer to the question, with which exports can also
        be averaged exactly. By default it is taken from the answers in the list; exports do not contain it.

    Raises
    ------
    OptionError
        If there is no such folder, or if something is not an answer.
    PlanError
        For an answer without a privacy interval, or with more than one number.

    Examples
    --------
    >>> dpnb.widgets.wall("answers/", truth=share)  # doctest: +SKIP
    """

    module: ClassVar[str] = "wall"
    example: ClassVar[str] = '"answers/"'
    otherwise: ClassVar[object] = "answers"

    def __init__(self, answers: object, *, truth: object = None) -> None:
        self._folder = _place(answers)
        self._held = [] if self._folder is not None else _held(answers)
        self._truth = _own(self._held) if truth is None else _known(truth)
        self._asked = _question([truth, *(one.estimate for one in self._held)])
        super().__init__()

    def describe(self) -> Facts:
        """Look at the folder again; see :class:`Interaction`."""
        found, told = (self._held, []) if self._folder is None else self._folder.look()
        place = "" if self._folder is None else self._folder.name
        wall = wall_of(found, self._truth, told)
        return {**facts_of(wall, f"Waiting for answers in {place}", self._asked), "place": place}

    def card(self) -> Card:
        """Draw it as a picture and a table; see :class:`Interaction`."""
        facts = self.facts
        rows = [_cells(row, row["who"], row["paid"]) for row in facts["answers"]]
        if facts["average"] is not None:
            rows.append(_cells(facts["average"], "averaged", facts["figures"][-1][0]))
        head = ["whose", "answer", "95 % privacy interval", "paid"]
        head += [] if facts["truth"] is None else ["the truth"]
        said = [
            text for text in (facts["waiting"], facts["sentence"], *facts["notes"], facts["problem"]) if text
        ]
        about = facts["question"] or facts["place"]
        return still("wall", "Class wall", about, head, rows, facts, notes=said, picture=_picture(facts))


def _place(answers: object) -> Folder | Classroom | None:
    """Where answers come in: a folder, or a service that is asked about a question that is pending; None for answers that are held."""
    if isinstance(answers, str | os.PathLike):
        return Folder(answers)
    return Classroom(answers) if isinstance(answers, Estimate) and answers.pending else None


def _cells(row: Names, who: str, paid: str) -> list[str]:
    """A line of the table; what the interval holds stands in it where the truth is known."""
    held = [] if row["held"] is None else ["inside" if row["held"] else "✕ missed"]
    return [who, row["words"], row["span"], paid, *held]


def _held(answers: object) -> list[Answer]:
    """The answers that are held: one, several, or several by name."""
    if hasattr(answers, "to_dict") or hasattr(answers, "estimate"):
        answers = [answers]
    if isinstance(answers, Mapping):
        return [answer_of(one, str(name)) for name, one in answers.items()]
    if not isinstance(answers, Iterable):
        raise OptionError(_ASKED)
    found = [answer_of(one, str(place)) for place, one in enumerate(answers, 1)]
    if not found:
        raise OptionError(f"There is no answer in this list. {_ASKED}")
    return found


def _known(truth: Any) -> float:
    """The truth that was given: a number, or what an answer of TEACHING data says of itself."""
    found = truth.truth if isinstance(truth, Estimate) else truth
    try:
        value = float(found)
    except (TypeError, ValueError, OverflowError):
        value = float("nan")
    if isinstance(found, bool | str) or not -float("inf") < value < float("inf"):
        raise OptionError("truth= is a number, or your own answer of TEACHING data: wall(..., truth=share).")
    return value


def _question(held: Iterable[object]) -> PendingQuestion | None:
    """The first question among what is held: whoever holds it knows how answers to it are put together."""
    asked = (one.measurement for one in held if isinstance(one, Estimate))
    return next((one for one in asked if one is not None), None)


def _own(held: Iterable[Answer]) -> float | None:
    """The truth behind the answers that are held, where they are of TEACHING data."""
    for one in held:
        if one.estimate is not None:
            with suppress(Unavailable):
                return float(one.estimate.truth)
    return None


def _picture(facts: Names) -> Markup | None:
    """Draw the answers and their average; nothing while there is none."""
    if not facts["answers"]:
        return None
    rows = [_drawn(row, row["who"]) for row in facts["answers"]]
    if facts["average"] is not None:
        rows.append((*_drawn(facts["average"], "averaged")[:4], "5"))
    low, high = facts["reach"]
    truth = facts["truth"] and (facts["truth"]["value"], f"truth {facts['truth']['words']}")
    return intervals("answers with their 95 % privacy intervals", facts["sentence"], rows, (low, high), truth)


def _drawn(row: Names, who: str) -> Interval:
    missed = row["held"] is False
    return f"✕ {who}" if missed else who, row["low"], row["value"], row["high"], "2.6" if missed else "1.4"


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """What was read from a file of a folder.

    Parameters
    ----------
    answers : tuple of Answer
        Its answers; none of a file that is left out.
    problem : str
        Why it is left out; empty where it is not.
    """

    answers: tuple[Answer, ...] = ()
    problem: str = ""


class Folder:
    """The exports in a folder, as they are now.

    Parameters
    ----------
    path : str or path
        The folder; its subfolders are not looked into.

    Raises
    ------
    OptionError
        Where there is no such folder.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.reads = 0
        self._known: dict[str, tuple[Stamp, ExportedFile]] = {}
        self.look()

    @property
    def name(self) -> str:
        """What it is called."""
        return clean(os.fspath(self.path))

    def look(self) -> tuple[list[Answer], list[str]]:
        """Return the answers in it, the oldest file first, and what is said of files that are left out."""
        stamps, more = self._listed()
        self._known = {name: self._again(name, stamp) for name, stamp in stamps.items()}
        ordered = sorted(self._known.items(), key=lambda item: (item[1][0][0], item[0]))
        answers = [answer for _, (_, file) in ordered for answer in file.answers]
        told = [
            f"{_called(name)} is left out: {file.problem}." for name, (_, file) in ordered if file.problem
        ]
        return answers, told + (
            [f"Only the first {_MOST:,} files are read; {more:,} more are in the folder."] if more else []
        )

    def _listed(self) -> tuple[dict[str, Stamp], int]:
        """The exports by name, with time and size, and how many more there are than are read."""
        try:
            with os.scandir(self.path) as entries:
                exports = {one.name: _stamp(one) for one in entries if _is_export(one)}
        except OSError:
            raise OptionError(
                f"There is no folder {self.name} that can be read. Make it, or check the path."
            ) from None
        return {name: exports[name] for name in sorted(exports)[:_MOST]}, max(len(exports) - _MOST, 0)

    def _again(self, name: str, stamp: Stamp) -> tuple[Stamp, ExportedFile]:
        known = self._known.get(name)
        if known is not None and known[0] == stamp:
            return known
        self.reads += 1
        return stamp, _read(self.path / name, stamp[1])


def _is_export(entry: os.DirEntry[str]) -> bool:
    return (
        entry.name.lower().endswith(_ENDINGS)
        and not entry.name.startswith(".")
        and entry.is_file(follow_symlinks=False)
    )


def _stamp(entry: os.DirEntry[str]) -> Stamp:
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError:
        return 0, 0  # gone meanwhile: it cannot be read either
    return facts.st_mtime_ns, facts.st_size


def _read(path: Path, size: int) -> ExportedFile:
    if size > _LARGEST:
        return ExportedFile(problem=f"it is larger than {_LARGEST // 2**20} MB")
    try:
        return ExportedFile(tuple(_answers(path)))
    except PlanError as reason:
        return ExportedFile(problem=str(reason))
    except (OptionError, OSError, ValueError, RecursionError):
        return ExportedFile(problem="it is damaged, or not an export of dpnb")


def _answers(path: Path) -> Iterator[Answer]:
    if path.suffix.lower() == ".zip":
        opened = archive.read(path)
        return answers_in(opened.results, path.stem, protected=_protected(opened.schemas))
    return answers_in(json.loads(path.read_bytes()), path.stem)


def _protected(schemas: object) -> bool:
    """Whether an archive says of its data that they are no TEACHING data."""
    declared = schemas.values() if isinstance(schemas, dict) else ()
    return any(not isinstance(one, dict) or one.get("mode") != "teaching" for one in declared)


def _called(name: str) -> str:
    said = clean(name)
    return said if len(said) <= 80 else f"{said[:79]}…"


class Classroom:
    """The answers to a question that come in at a service, in the place of a folder.

    Parameters
    ----------
    asked : Estimate
        Pending.
    """

    def __init__(self, asked: Estimate) -> None:
        self._class = ClassAnswers(asked)
        self._known: dict[int, tuple[Estimate, Answer]] = {}  # an id is only good while its object lives

    @property
    def name(self) -> str:
        """What it is called."""
        return f"your class, to {clean(self._class.text)}"

    def look(self) -> tuple[list[Answer], list[str]]:
        """Return the answers that came so far, the oldest first, and what is said where they cannot be read or shown."""
        try:
            received, told = self._class.look(), list[str]()
        except DpnbError as refused:  # a service that restarts is asked again with the next look
            return self._answers(), [clean(str(refused))]
        for who, estimate in received:
            if id(estimate) not in self._known:
                try:
                    self._known[id(estimate)] = estimate, answer_of(estimate, who)
                except PlanError as reason:
                    told = [clean(str(reason))]
        return self._answers(), told

    def _answers(self) -> list[Answer]:
        return [answer for _, answer in self._known.values()]
