"""A published dataset: every answer that its owner released, read from one signed file, without a curator.

Answers are estimates as ever: intervals, arithmetic, readings, tables. A question that was not published says what was. The file is held
against its own signature and receipts when it is opened, so that a damaged copy is noticed; who signed it is another question, which
``dpnb verify people.releases.json --key people.pub`` answers with the owner's key.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

from dpnb.client.arguments import checked_calls
from dpnb.client.handles import Dataset, Opened
from dpnb.client.verification import verify, verify_receipt, verify_released
from dpnb.errors import DpnbError, OwnerError, PlanError
from dpnb.estimate import Estimate, Origin, PendingQuestion
from dpnb.planner.check import CheckedQuestion, check
from dpnb.planner.question import Question
from dpnb.statistics import conclude
from dpnb.trusted.canonical import Record, canonical, read_json
from dpnb.trusted.releases import Release
from dpnb.trusted.schema import Schema

ENDING = ".releases.json"
FORMAT = 1
_LARGEST = 64 * 2**20
_LISTED = 12


def is_publication(what: object) -> bool:
    """Tell whether ``dpnb.open`` was given a file of published answers, or several."""
    if isinstance(what, list | tuple):
        return bool(what) and all(map(is_publication, what))
    return isinstance(what, str | Path) and str(what).endswith(ENDING)


def read_publication(path: str | Path, key: str | None = None) -> Record:
    """Read a file of published answers, and hold it against its signature and its receipts.

    Parameters
    ----------
    path : path
    key : str, optional
        The owner's public key (PEM); by default the one in the file, which shows damage and not who signed.

    Raises
    ------
    OwnerError
        When there is no such file, or something in it is not what was signed.
    """
    try:
        content = Path(path).expanduser().read_bytes()[: _LARGEST + 1]
    except OSError as fault:
        raise OwnerError(f"{path} cannot be read: {fault.strerror}.") from None
    try:
        whole = read_json(content if len(content) <= _LARGEST else b"")
        signed = {name: value for name, value in whole.items() if name != "signature"}
        signature, public = whole["signature"], key or whole["key"]
    except (ValueError, AttributeError, KeyError, RecursionError, PlanError):
        raise OwnerError(f"{Path(path).name} is not a file of published answers, or it is damaged.") from None
    verify("publication", signed, signature, public)
    if signed.get("format") != FORMAT:
        raise OwnerError(f"{Path(path).name} was published by a newer dpnb. Upgrade dpnb to open it.")
    receipts = [verify_receipt(one, public) for one in signed["receipts"]]
    verify_released((release for one in signed["statistics"] for release in releases_of(one)), receipts)
    return signed


def releases_of(statistic: Record) -> tuple[Release, ...]:
    """Return the releases of a published statistic."""
    return tuple(map(Release.from_json, statistic["releases"]))


class _Nobody:
    """In the place of a session: nobody is there to be asked."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise PlanError(
            "This dataset is a file of published answers: nothing is spent, and nobody is asked. Its answers: .published"
        )


@checked_calls
class PublishedDataset(Dataset):
    """What was published of a dataset, perhaps with a selection of rows and groups. It holds released answers alone."""

    __slots__ = ("_answers", "_record")
    _answers: dict[str, Estimate]
    _record: Record

    @classmethod
    def of(cls, record: Record) -> PublishedDataset:
        """Return the dataset of a publication that was verified."""
        schema = Schema.from_json(record["schema"])
        version = next((one.data_version for found in record["statistics"] for one in releases_of(found)), "")
        note = f"Published on {record['published'][:10]}: every answer is free, and nothing else is asked."
        made = cls(cast("Any", _Nobody()), Opened(record["ledger"], schema, version, schema.mode, (note,)))
        made._record = record
        made._answers = dict(_answers(record["statistics"], schema))
        made._moments.extend(map(weakref.ref, made._answers.values()))
        return made

    def __repr__(self) -> str:
        title = self.schema.title or self.name
        return f"<{self._spoken()}: {title}, {len(self._whole._answers)} published answers>"

    @property
    def _whole(self) -> PublishedDataset:
        return cast("PublishedDataset", self._root)

    @property
    def published(self) -> dict[str, Estimate]:
        """Every published answer, by the name that the owner gave it."""
        whole = self._whole
        found = zip(whole._record["statistics"], whole._answers.values(), strict=True)
        return {one["name"]: answer for one, answer in found}

    def _asked(self, question: Question) -> Estimate:
        found = self._answers.get(question.canonical())
        if found is not None:
            return found
        checked = check(question, self.schema)
        if checked.public_value is not None:
            return _filled(question, checked, ())
        texts = [one["text"] for one in self._record["statistics"]]
        listed = ", ".join(texts[:_LISTED]) + (" …" if len(texts) > _LISTED else "")
        raise PlanError(f"`{checked.text}` was not published. Published were: {listed}")


def open_publication(what: Any) -> PublishedDataset:
    """Open a file of published answers, or several of one dataset as one.

    Raises
    ------
    OwnerError
        Where they are not of one dataset, declared in one way, in one ledger.
    """
    records = [read_publication(one) for one in (what if isinstance(what, list | tuple) else [what])]
    return PublishedDataset.of(merged(records))


def merged(records: Sequence[Record]) -> Record:
    """Return publications of one dataset as one: a question that several answer is concluded from all of its draws, each once."""
    first, latest = records[0], max(records, key=lambda one: str(one["published"]))
    for one in records[1:]:
        if any(one[name] != first[name] for name in ("dataset", "ledger", "schema")):
            raise OwnerError(
                f"{one['dataset']} and {first['dataset']} were not published of one dataset under one declaration. Open each by itself: "
                "their answers are combined as any two estimates are."
            )
    found: dict[str, Record] = {}
    for statistic in (one for record in records for one in record["statistics"]):
        known = found.setdefault(canonical(statistic["question"]), {**statistic, "releases": []})
        ids = {release["id"] for release in known["releases"]}
        known["releases"] += [release for release in statistic["releases"] if release["id"] not in ids]
    return {**latest, "statistics": _named_once(list(found.values()))}


def _named_once(statistics: list[Record]) -> list[Record]:
    """Give a second statistic of a name its number."""
    names: Counter[str] = Counter()
    for one in statistics:
        names[one["name"]] += 1
        if names[one["name"]] > 1:
            one["name"] = f"{one['name']}_{names[one['name']]}"
    return statistics


def _answers(statistics: list[Record], schema: Schema) -> Iterator[tuple[str, Estimate]]:
    for one in statistics:
        try:
            question = Question.from_json(one["question"])
            yield question.canonical(), _filled(question, check(question, schema), releases_of(one))
        except DpnbError as error:
            raise OwnerError(f"{one['name']} cannot be read by this version of dpnb: {error}") from None


def _filled(question: Question, checked: CheckedQuestion, releases: tuple[Release, ...]) -> Estimate:
    """Return an answered estimate that belongs to no session, as one that was saved does."""
    answered = PendingQuestion(question, checked, origin=Origin())
    answered.fill(releases, conclude(checked, releases))
    return Estimate.leaf(answered)
