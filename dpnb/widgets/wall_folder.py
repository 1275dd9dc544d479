"""A folder of exported answers, looked at again and again: only what is new or changed is read.

A look lists the folder and nothing else; a file is read when its size or its time differs from the last look. A file that is still
being copied is damaged for one look and whole at the next. Links, devices and what is no ``.json`` or ``.zip`` are left alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpnb.cards.markup import clean
from dpnb.client.archive import archive
from dpnb.client.class_answers import ClassAnswers
from dpnb.errors import DpnbError, OptionError, PlanError
from dpnb.estimate import Estimate
from dpnb.widgets.wall_answers import Answer, answer_of, answers_in

_ENDINGS = (".json", ".zip")
_LARGEST = 16 * 1024 * 1024
_MOST = 1000
"""Files of a folder that are read: the first by name."""

Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Found:
    """What a file holds.

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
        self._known: dict[str, tuple[Stamp, Found]] = {}
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
        answers = [answer for _, (_, found) in ordered for answer in found.answers]
        told = [
            f"{_called(name)} is left out: {found.problem}." for name, (_, found) in ordered if found.problem
        ]
        return answers, told + (
            [f"Only the first {_MOST:,} files are read; {more:,} more lie there."] if more else []
        )

    def _listed(self) -> tuple[dict[str, Stamp], int]:
        """The exports by name, with time and size, and how many more there are than are read."""
        try:
            with os.scandir(self.path) as entries:
                found = {one.name: _stamp(one) for one in entries if _is_export(one)}
        except OSError:
            raise OptionError(
                f"There is no folder {self.name} that can be read. Make it, or check the path."
            ) from None
        return {name: found[name] for name in sorted(found)[:_MOST]}, max(len(found) - _MOST, 0)

    def _again(self, name: str, stamp: Stamp) -> tuple[Stamp, Found]:
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


def _read(path: Path, size: int) -> Found:
    if size > _LARGEST:
        return Found(problem=f"it is larger than {_LARGEST // 2**20} MB")
    try:
        return Found(tuple(_answers(path)))
    except PlanError as reason:
        return Found(problem=str(reason))
    except (OptionError, OSError, ValueError, RecursionError):
        return Found(problem="it is damaged, or not an export of dpnb")


def _answers(path: Path) -> Iterator[Answer]:
    if path.suffix.lower() == ".zip":
        opened = archive.read(path)
        return answers_in(opened.results, path.stem, protected=_protected(opened.schemas))
    return answers_in(json.loads(path.read_bytes()), path.stem)


def _protected(schemas: Any) -> bool:
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
            found, told = self._class.look(), list[str]()
        except DpnbError as refused:  # a service that restarts is asked again with the next look
            return self._answers(), [clean(str(refused))]
        for who, estimate in found:
            if id(estimate) not in self._known:
                try:
                    self._known[id(estimate)] = estimate, answer_of(estimate, who)
                except PlanError as reason:
                    told = [clean(str(reason))]
        return self._answers(), told

    def _answers(self) -> list[Answer]:
        return [answer for _, answer in self._known.values()]
