"""The answer of a SELECT with groups: its rows as they were asked, each figure with both intervals, and what each figure is.

A SELECT without groups is drawn as other answers are. Nothing is computed here: rows and intervals are those of its table, digits
are those of each figure's line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from dpnb.cards.card import scrolled
from dpnb.cards.facts import Entry, Line, Pair, line_of
from dpnb.cards.markup import Markup, clean, el
from dpnb.cards.tracks import Scale, axis_svg, entry_track
from dpnb.estimate import Estimate
from dpnb.estimate.table import Table, aligned, told
from dpnb.inference.interval import KINDS
from dpnb.planner.estimand import in_words
from dpnb.trusted.canonical import Record

_ENDS = {"privacy": ("_low", "_high"), "confidence": ("_ci_low", "_ci_high")}
_BRACKETS = {"privacy": ("[", "]"), "confidence": ("(", ")")}
_SHOWN, _FEW = 60, 6
"""So many rows are shown, and so many with the numbers of their intervals; of more these are drawn, and told on demand."""


class _Answer(Protocol):
    """What is read of the answer of a SELECT."""

    @property
    def estimates(self) -> Mapping[str, Estimate]: ...
    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def bought(self) -> Sequence[Estimate]: ...
    @property
    def notes(self) -> Sequence[str]: ...
    def table(self, level: float = ...) -> Table: ...


def grouped(answer: Any) -> bool:
    """Whether something is the released answer of a SELECT with groups; one of which a figure was left out is not drawn as a table."""
    return bool(getattr(answer, "keys", ()) and hasattr(answer, "bought")) and not answer.pending


class Select:
    """A SELECT with groups, read once for every form of a card.

    Parameters
    ----------
    name : str
        What the user calls it; empty where nothing.
    answer : Selected
        Released.
    """

    def __init__(self, name: str, answer: _Answer) -> None:
        self.name, self.notes = clean(name), [clean(one) for one in answer.notes]
        self.lines = {column: line_of(one, column) for column, one in answer.estimates.items()}
        self.rows, self.columns = list(answer.table()), list(answer.columns)

    def entry(self, column: str, row: Record) -> Entry | None:
        """One figure of a row; nothing of a key, a constant, or a figure that is no number."""
        if column not in self.lines or not isinstance(row[column], int | float):
            return None
        privacy, confidence = (_pair(row, column, kind) for kind in KINDS)
        return Entry(self.key(row), float(row[column]), privacy, confidence, None, None)

    def key(self, row: Record) -> str:
        """What tells a row apart."""
        return " · ".join(clean(told(row[one], key=True)) for one in self.columns if one not in self.lines)

    def value(self, column: str, row: Record) -> str:
        """Write one cell."""
        entry = self.entry(column, row)
        return clean(told(row[column], key=True)) if entry is None else self.lines[column].answer(entry)

    def intervals(self, column: str, row: Record) -> list[str]:
        """Write both intervals of a cell, each in its brackets."""
        entry = self.entry(column, row)
        pairs = [] if entry is None else [(kind, getattr(entry, kind)) for kind in KINDS]
        return [
            _BRACKETS[kind][0] + self.lines[column].span(pair) + _BRACKETS[kind][1]
            for kind, pair in pairs
            if pair is not None
        ]

    @property
    def legend(self) -> str:
        """Say which interval is which."""
        found = {kind for row in self.rows for one in self.lines for kind in KINDS if _pair(row, one, kind)}
        drawn = {"privacy": "[privacy interval], the bar", "confidence": "(confidence interval), the line"}
        return "; ".join(drawn[kind] for kind in KINDS if kind in found)

    @property
    def said(self) -> Iterator[tuple[str, str, str]]:
        """What each figure is and what it cost; of a computed one what it was computed from cost."""
        for column, line in self.lines.items():
            estimand = clean(line.estimate.estimand)
            words = " ".join(
                f"{one}." for one in (_words(line), estimand and f"Estimates the {estimand}") if one
            )
            losses = [str(one.loss) for one in line.estimate.releases]
            yield column, words, f"from {' + '.join(losses)}" if line.derived and losses else line.paid

    def drawn(self, lines: Sequence[Line]) -> list[Line]:
        """Its figures in the order in which they are drawn: as the lines of a batch, where they are among them, called as the batch calls them."""
        found = []
        for column, line in self.lines.items():
            known = next((one for one in lines if _same(one.estimate, line.estimate)), line)
            parts = (self.name,) if len(self.lines) == 1 and self.name else (self.name, column)
            found.append(replace(known, name=".".join(filter(None, parts))))
        return found

    def html(self) -> list[Markup]:
        """Its parts of a card: the table, a line of each figure, which can be paid for again, and what is said of them all."""
        few = len(self.rows) <= _FEW
        numbers = (
            None
            if few
            else el(
                "details",
                el("summary", "Intervals"),
                self._table(drawn=False, told=True),
                class_="numbers soft",
            )
        )
        more = len(self.rows) - _SHOWN
        part = el(
            "div",
            el("h4", self.name) if self.name else None,
            self._table(drawn=True, told=few) if self.rows else el("p", "No group is left."),
            el("p", f"… and {more:,} more: .to_frame() has all", class_="soft") if more > 0 else None,
            el("p", self.legend, class_="soft") if self.legend else None,
            numbers,
            class_="line",
        )
        figures = [
            el(
                "div",
                el("p", el("strong", column), f" {words}"),
                el("span", paid, class_="paid"),
                class_="row",
            )
            for column, words, paid in self.said
        ]
        notes = [
            *(el("p", el("strong", "Note: "), flag, class_="flag") for flag in self._flags),
            *(el("p", note, class_="soft") for note in [*self._reasons, *self.notes]),
        ]
        # the table is no line of one figure: it stands one level deeper
        return [
            el("div", part),
            *(el("div", row, class_="line figure soft") for row in figures),
            el("div", *notes),
        ]

    @property
    def _reasons(self) -> list[str]:
        """Why an interval is missing, each reason once."""
        found: dict[str, list[str]] = {}
        for column, line in self.lines.items():
            for kind, reason in line.missing.items():
                found.setdefault(f"no {kind} interval. {reason}", []).append(column)
        return [f"{', '.join(columns)}: {reason}" for reason, columns in found.items()]

    @property
    def _flags(self) -> list[str]:
        return [f"{column}: {flag}" for column, line in self.lines.items() for flag in line.flags]

    def _table(self, *, drawn: bool, told: bool) -> Markup:
        shown = self.rows[:_SHOWN]
        scales = {one: Scale.over(e for row in shown if (e := self.entry(one, row))) for one in self.lines}
        drawn_of = scales if drawn else {}
        head, axes = [], []
        for one in self.columns:
            if one in drawn_of:
                head.append(el("th", Markup("&nbsp;"), class_="track"))
                axes.append(el("td", axis_svg(drawn_of[one], self.lines[one]), class_="track"))
            head.append(el("th", clean(one), scope="col", class_=self._look(one)))
            axes.append(el("td", Markup("&nbsp;")))
        body = [
            el(
                "tr",
                *(td for one in self.columns for td in self._cells(one, row, drawn_of.get(one), told=told)),
            )
            for row in shown
        ]
        foot = [el("tr", *axes, class_="scale")] if drawn else []
        return scrolled(
            el("table", el("thead", el("tr", *head)), el("tbody", *body, *foot), class_="rows select")
        )

    def _look(self, column: str) -> str | None:
        return "num" if column in self.lines else None

    def _cells(self, column: str, row: Record, scale: Scale | None, *, told: bool) -> list[Markup]:
        """One cell, and before it its drawing where there is one."""
        entry = self.entry(column, row)
        track = (
            []
            if scale is None
            else [None if entry is None else entry_track(self.lines[column], entry, scale)]
        )
        small = [el("small", words) for words in (self.intervals(column, row) if told else [])]
        under = [part for one in small for part in (el("br"), one)]
        strong = "strong" if entry is not None else None
        value = el(
            "td", el("span", self.value(column, row), class_=strong), *under, class_=self._look(column)
        )
        return [*(el("td", one, class_="track") for one in track), value]

    def text(self) -> str:
        """Its part of a card for a terminal."""
        rows = [self.columns]
        rows += [
            [" ".join([self.value(one, row), *self.intervals(one, row)]) for one in self.columns]
            for row in self.rows[:_SHOWN]
        ]
        more = len(self.rows) - _SHOWN
        said = [f"{column}: {words} [{paid}]" for column, words, paid in self.said]
        return "\n".join(
            [
                *([self.name] if self.name else []),
                *aligned(rows),
                *([f"… and {more:,} more: .to_frame() has all"] if more > 0 else []),
                *([self.legend] if self.legend else []),
                *said,
                *(f"note: {flag}" for flag in self._flags),
                *self._reasons,
                *self.notes,
            ]
        )


def _same(one: Estimate, other: Estimate) -> bool:
    return one is other or (one.measurement is not None and one.measurement is other.measurement)


def _words(line: Line) -> str:
    """A figure in words, without its groups: those stand beside it."""
    leaf = line.estimate.measurement
    if leaf is None or leaf.dataset is None:
        return "Computed from figures, free"
    asked, checked = replace(leaf.question, by=()), leaf.checked
    said = in_words(asked, checked.kind, checked.setting, leaf.dataset.schema)
    return clean(": ".join(filter(None, said)))


def _pair(row: Record, column: str, kind: str) -> Pair | None:
    low, high = (row.get(f"{column}{end}") for end in _ENDS[kind])
    return None if low is None or high is None else (float(low), float(high))
