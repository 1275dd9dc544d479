"""The card of a released batch, and of one estimate: value, both intervals, accuracy in people, price, mechanism."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from dpnb.cards import budget
from dpnb.cards.card import Card, Record, frame, heading, scrolled
from dpnb.cards.curves import Curve, bars_svg, curve_svg, sparkline
from dpnb.cards.facts import TRUTH, Entry, Line, line_of, record_of
from dpnb.cards.grid import grid_html, grid_text
from dpnb.cards.markup import Markup, clean, code, el
from dpnb.cards.payments import badge, first_of, price_words
from dpnb.cards.select import Select, grouped
from dpnb.cards.tracks import (
    Scale,
    axis_svg,
    entry_scales,
    entry_track,
    past_track,
    scale_of,
    span_track,
    text_track,
    truth_track,
)
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.estimate.table import aligned
from dpnb.estimate.wording import not_kept
from dpnb.inference import digits
from dpnb.inference.interval import KINDS
from dpnb.planner.price import PricedBatch
from dpnb.synthetic.tables import PairTables
from dpnb.trusted.privacy.loss import PrivacyLoss

_WIDE = 100
_FEW = 6
"""So many numbers are told beside their drawing; more are drawn, and told on demand."""
_LONGEST = 60
_WHOLE = " of the sample"


class _Plan(Protocol):
    """What was priced."""

    @property
    def priced(self) -> PricedBatch: ...


class _Report(Protocol):
    """What is read of a released batch."""

    @property
    def dataset(self) -> budget.Handle: ...
    @property
    def plan(self) -> _Plan: ...
    @property
    def charged(self) -> PrivacyLoss: ...
    @property
    def left(self) -> PrivacyLoss: ...
    @property
    def cap(self) -> PrivacyLoss: ...
    @property
    def whose(self) -> str: ...
    @property
    def entry(self) -> int | None: ...
    @property
    def before(self) -> PrivacyLoss | None: ...
    @property
    def completed(self) -> str: ...
    @property
    def dropped(self) -> int: ...
    @property
    def measurements(self) -> tuple[PendingQuestion, ...]: ...
    @property
    def labels(self) -> Mapping[PendingQuestion, str]: ...
    @property
    def named(self) -> tuple[tuple[str, Estimate], ...]: ...
    @property
    def hidden(self) -> tuple[PendingQuestion, ...]: ...
    @property
    def together(self) -> tuple[PairTables, ...]: ...
    @property
    def whole(self) -> Mapping[str, Any]: ...
    @property
    def prices(self) -> Sequence[tuple[tuple[int, ...], PrivacyLoss]]: ...


def release_card(report: _Report) -> Card:
    """Return the card of a released batch.

    Parameters
    ----------
    report : BatchReport
        Measurements with values, labels, charge and what is left.
    """
    every, answers = lines_of(report), _answers(report)
    lines = _apart(report, every)
    schema = report.dataset.schema
    before = report.left + report.charged
    paid, summed = _paid_for(report), _summed(report)
    left = budget.words(report.left, report.cap, report.whose)
    urgent, notes = _urgent(report), [*_sql_notes(report), *_notes(every)]
    html = frame(
        heading(f"Released from {schema.name}", paid, "paid" if report.charged else "paid free"),
        *(part for answer in answers for part in answer.html()),
        *_body(lines),
        el(
            "div",
            budget.bar(before, report.cap, report.charged),
            el("p", f"{summed.removesuffix(' paid') if ' = ' in summed else summed} · {left}", class_="soft"),
            *(el("p", note, class_="soft") for note in urgent),
            made_html(every, [*notes, *_entry(report)]),
            class_="foot",
        ),
    )
    text = "\n\n".join(
        part
        for part in (
            f"released from {schema.name}",
            *(answer.text() for answer in answers),
            *lines_text(lines),
            "\n".join(
                [
                    f"{budget.text_bar(before, report.cap, report.charged)}  {' · '.join([summed, left, *_entry(report)])}",
                    *urgent,
                    *notes,
                ]
            ),
        )
        if part
    )
    drawn = [*(line for answer in answers for line in answer.drawn(every)), *lines]
    return Card(html, text, _record(report, drawn, every), "release")


def _answers(report: _Report) -> list[Select]:
    """The SELECTs with groups that are drawn as tables."""
    return [Select(name, one) for name, one in report.whole.items() if grouped(one)]


def _apart(report: _Report, lines: list[Line]) -> list[Line]:
    """The lines that are drawn by themselves: of SELECTs with groups none, of others their figures, not what those are computed from."""
    answers = [one for one in report.whole.values() if hasattr(one, "bought")]
    asked = {id(leaf) for answer in answers for one in answer.bought for leaf in one.leaves()}
    alone = [one for answer in answers if not grouped(answer) for one in answer.estimates.values()]
    figures = {id(one) for one in alone} | {
        id(one.measurement) for one in alone if one.measurement is not None
    }
    return [
        line
        for line in lines
        if not {id(leaf) for leaf in line.estimate.leaves()} <= asked
        or {id(line.estimate), id(line.estimate.measurement)} & figures
    ]


def _sql_notes(report: _Report) -> list[str]:
    """What is said of SELECTs without groups; those with groups say it themselves."""
    found = [one for one in report.whole.values() if hasattr(one, "estimates") and not grouped(one)]
    return list(dict.fromkeys(clean(note) for one in found for note in one.notes))


def select_card(answer: Any) -> Card:
    """Return the card of the answer of one SELECT, pending or released."""
    if answer.pending:
        html = frame(el("div", el("p", str(answer), class_="soft"), class_="line"))
        return Card(html, str(answer), {"format": 1, "lines": []}, "release")
    lines = [line_of(one, column) for column, one in answer.estimates.items()]
    table = [Select("", answer)] if grouped(answer) or not lines else []
    alone = [] if table else lines
    notes = [] if table else [clean(note) for note in answer.notes]
    html = frame(
        *(part for one in table for part in one.html()),
        *_body(alone),
        *(el("p", note, class_="soft") for note in notes),
        made_html(lines, []),
    )
    text = "\n".join([*(one.text() for one in table), *map(line_text, alone), *notes])
    return Card(html, text, {"format": 1, "lines": [record_of(line) for line in lines]}, "release")


def lines_of(report: _Report) -> list[Line]:
    """Return the lines of a batch: its questions in order, what was derived from them, then what stands behind that, such as moments."""
    together = report.together
    hidden = {
        id(item) for item in (*report.hidden, *(table for one in together for table in one.questions()))
    }
    fresh = {
        id(one): item.loss for one, item in zip(report.measurements, report.plan.priced.items, strict=True)
    }
    mine = {id(e.measurement): e for _, e in report.named if e.measurement is not None}
    lines = [
        line_of(
            mine[id(item)] if id(item) in mine else Estimate.leaf(item),
            report.labels.get(item, ""),
            fresh=fresh[id(item)],
        )
        for item in report.measurements
        if id(item) not in hidden
    ]
    lines = _priced(report, lines)
    told = {id(one.estimate) for one in together}
    derived = [
        (name, e) for name, e in report.named if e.measurement is None and not e.pending and id(e) not in told
    ]
    shown = [line for line in lines if not _behind(line)] + [line_of(one, name) for name, one in derived]
    return shown + [line for line in lines if _behind(line)]


def _priced(report: _Report, lines: Sequence[Line]) -> list[Line]:
    """Say what was paid for each line now: lines with one price stand together, and it is told once."""
    at = {id(line.estimate.measurement): place for place, line in enumerate(lines)}
    groups = {place: [line] for place, line in enumerate(lines)}
    for places, loss in report.prices:
        found = [at[one] for place in places if (one := id(report.measurements[place])) in at]
        if found:
            its = sorted((groups.pop(place)[0] for place in sorted(found)), key=_behind)
            told = price_words([line.name for line in its], loss)
            groups[min(found)] = [
                replace(line, price=said, joint=len(its) > 1 and not _behind(line))
                for line, said in zip(its, told, strict=True)
            ]
    return [line for place in sorted(groups) for line in groups[place]]


def _behind(line: Line) -> bool:
    """Whether a line is of numbers without a name of their own, from which another line was read."""
    return line.folded and line.unnamed


def estimate_card(estimate: Estimate) -> Card:
    """Return the card of one estimate, pending or released."""
    if estimate.pending:
        return _pending(estimate)
    line = line_of(estimate)
    text = line_text(line)
    html = frame(*lines_html([line]))
    return Card(html, text, {"format": 1, **record_of(line)}, "estimate")


def _pending(estimate: Estimate) -> Card:
    question, leaf = clean(estimate.text), estimate.measurement
    html = frame(
        el(
            "div",
            el(
                "div",
                el("div", code(question)),
                el("span", "pending", class_="paid free"),
                class_="row",
            ),
            el(
                "p",
                "Not released yet. Put %%dp epsilon=1 above the cell that builds it. Nothing was spent.",
                class_="soft",
            ),
            class_="line",
        )
    )
    pays = "" if leaf is None else first_of(leaf)
    record: Record = {"format": 1, "question": question, "pending": True, "pays": pays}
    return Card(html, f"<pending {question}>", record, "estimate")


def _paid_for(report: _Report) -> str:
    if report.charged:
        return f"{report.charged} paid"
    return f"{'stored' if report.before is None else 'paid before'} · {report.charged.measure.symbol} 0 paid"


def _summed(report: _Report) -> str:
    """Say what was paid, as the sum of the prices of its lines."""
    if len(report.prices) < 2:
        return _paid_for(report)
    return f"{' + '.join(str(loss) for _, loss in report.prices)} = {_paid_for(report)}"


def _entry(report: _Report) -> list[str]:
    return [] if report.entry is None else [f"ledger entry {report.entry}"]


def _urgent(report: _Report) -> list[str]:
    """What must be seen at once."""
    notes = [report.completed] if report.before is not None else []
    notes += [clean(repr(one).strip("<>")) for one in report.together]
    return [*notes, not_kept(report.dropped)] if report.dropped else notes


def _notes(lines: Sequence[Line]) -> list[str]:
    notes = []
    if any(entry.privacy or entry.confidence for line in lines for entry in line.entries):
        notes.append(
            "Privacy interval: what the noise hides about this dataset. "
            "Confidence interval: what sampling and noise hide about the population. Both 95 %. "
            "Numbers of people carry noise too."
        )
    return notes


def _record(report: _Report, drawn: Sequence[Line], every: Sequence[Line]) -> Record:
    """The facts: the lines as they are drawn, by whose order a front end finds them, and what the figures of a SELECT are computed from."""
    shown = {id(line.estimate) for line in drawn}
    behind = [record_of(line) for line in every if id(line.estimate) not in shown]
    return {
        "format": 1,
        "dataset": report.dataset.schema.name,
        "charged": report.charged.to_json(),
        "left": report.left.to_json(),
        "cap": report.cap.to_json(),
        "whose": report.whose,
        "entry": report.entry,
        "dropped": report.dropped,
        "lines": [record_of(line) for line in drawn],
        **({"behind": behind} if behind else {}),
    }


# ---------------------------------------------------------------- HTML of one line


def lines_html(lines: Sequence[Line]) -> list[Markup | None]:
    """Return lines as HTML, and how their numbers were made."""
    return [*_body(lines), made_html(lines, [])]


def _body(lines: Sequence[Line]) -> list[Markup | None]:
    """The lines, and below them the one note that changes what the reader does; what a column means, and of what noise is a part, is told once."""
    found: list[Markup | None] = []
    told: set[str] = set()
    for line in lines:
        found.append(line_html(line, told))
        told |= {line.words[1], *([_WHOLE] if line.scalar and line.accuracy(line.entries[0]) else [])}
    first, *others = _warnings(lines) or [""]
    more = f" {len(others)} more under How it was made." if others else ""
    return [*found, el("p", el("strong", "Note: "), first, more, class_="flag") if first else None]


def _warnings(lines: Sequence[Line]) -> list[str]:
    """Each warning once, with the lines that it is about."""
    about: dict[str, list[str]] = {}
    for line in lines:
        for flag in line.flags:
            about.setdefault(flag, []).append(line.name)
    return [f"{', '.join(names)}: {flag}" if len(lines) > 1 else flag for flag, names in about.items()]


def made_html(lines: Sequence[Line], notes: Sequence[str]) -> Markup | None:
    """How the numbers were made: each noise, what is estimated, where they stand in the ledger; each sentence once, on demand."""
    about: dict[str, list[str]] = {}
    for line in lines:
        for said in (" · ".join(line.mechanism), line.estimand, line.people, *_reasons(line)):
            about.setdefault(said, []).append(line.name)
    about.pop("", None)
    several = len(lines) > 1
    asked = [line for line in lines if line.question != line.name]
    told = [
        *(el("p", el("strong", line.name), " ", code(line.question)) for line in asked),
        *(
            el("p", el("strong", ", ".join(names)) if several else None, " " * several, said)
            for said, names in about.items()
        ),
        *(el("p", note) for note in [*_warnings(lines)[1:], *notes]),
    ]
    return el("details", el("summary", "How it was made"), *told, class_="made soft") if told else None


def line_html(line: Line, known: Collection[str] = ()) -> Markup:
    """Return one line as HTML, without what is known of others: what a column means, and of what the noise is a part."""
    scale = scale_of(line)
    said, means = line.words
    words = f"{said}: {means}" if means and means not in known else said
    name = el("h4", line.name, class_="anon" if line.unnamed else None)
    question = code(line.question) if not words and line.question != line.name else None
    bare = not any(entry.intervals for entry in line.entries)
    return el(
        "div",
        el(
            "div",
            el("div", name, el("span", words) if words else None, question, class_="asked"),
            _paid(line),
            class_="row",
        ),
        _scalar(line, scale, known) if line.scalar else _vector(line, scale),
        *(el("p", _first_sentence(reason), class_="soft") for reason in _reasons(line) if bare),
        class_="line joint" if line.joint else "line",
    )


def _paid(line: Line) -> Markup:
    if line.stored is not None:
        return badge(line.cost, line.stored)
    words, between, names = line.cost.partition(" with ")
    told = [words, between, code(names)] if names else [words]
    return el("span", *told, class_="paid free" if line.free else "paid")


def _first_sentence(reason: str) -> str:
    """The first sentence of a reason: all of it stands under *How it was made*."""
    first, _, rest = reason.partition(". ")
    return f"{first}." if rest else reason


def _reasons(line: Line) -> list[str]:
    """Why an interval is missing, each reason once."""
    found: dict[str, list[str]] = {}
    for kind in KINDS:
        if kind in line.missing:
            found.setdefault(line.missing[kind], []).append(kind)
    return [
        reason
        if len(kinds) == 2 or reason.startswith("No ")
        else f"{kinds[0].capitalize()} interval: {reason}"
        for reason, kinds in found.items()
    ]


def _scalar(line: Line, scale: Scale, known: Collection[str] = ()) -> Markup:
    entry = line.entries[0]
    said = line.accuracy(entry)
    if said and _WHOLE in known:
        said = said.removesuffix(_WHOLE)
    rows = [_past(line, place, scale) for place in range(len(line.trail))] + [
        el(
            "tr",
            el("th", f"{kind} interval", scope="row"),
            el("td", span_track(kind, line, entry, pair, scale), class_="track"),
            el("td", line.span(pair), class_="num"),
        )
        for kind, pair in zip(KINDS, (entry.privacy, entry.confidence), strict=True)
        if pair is not None
    ]
    rows += [_truth(line, entry, scale)] if entry.truth is not None else []
    rows += [_axis_row(line, scale, 1)] if rows else []
    return el(
        "div",
        el(
            "p",
            line.answer(entry),
            " ",
            el("small", said) if said else None,
            class_=f"value{' soft' * entry.faint}",
        ),
        el("table", el("tbody", *rows), class_="intervals") if rows else None,
        class_="answer",
    )


def _axis_row(line: Line, scale: Scale, before: int) -> Markup:
    """The numbers under the tracks of a table."""
    blank = [el("td", Markup("&nbsp;")) for _ in range(before)]
    last = el("td", Markup("&nbsp;"))
    return el("tr", *blank, el("td", axis_svg(scale, line), class_="track"), last, class_="scale")


def _truth(line: Line, entry: Entry, scale: Scale) -> Markup:
    """The truth as a row that says where it is from."""
    return el(
        "tr",
        el("th", TRUTH, scope="row"),
        el("td", truth_track(line, entry, scale), class_="track"),
        el("td", line.true(entry), class_="num"),
    )


def _past(line: Line, place: int, scale: Scale) -> Markup:
    """An earlier interval as a row that steps back."""
    step = line.trail[place]
    return el(
        "tr",
        el("th", f"before, at {step.paid}", scope="row"),
        el("td", past_track(line, place, scale), class_="track"),
        el("td", line.span((step.low, step.high)), class_="num soft"),
    )


def _vector(line: Line, scale: Scale) -> Markup:
    if line.columns:
        return grid_html(line)
    if line.bars is not None:
        words = _all(line) if line.curve is not None else " · ".join(_legend(line, line.bars))
        numbers = None if line.curve is not None else _folded_away("Numbers", _numbers(line, scale))
        return el("div", bars_svg(line.bars, line.name), el("p", words, class_="soft"), numbers)
    if line.curve is not None:
        return el("div", curve_svg(line.curve, line.name), el("p", _all(line), class_="soft"))
    if line.folded:
        return _folded_away(f"The {line.size:,} numbers themselves", _numbers(line, scale))
    return _numbers(line, scale) if len(line.entries) <= _FEW else _drawn(line, scale)


def _folded_away(words: str, content: Markup) -> Markup:
    return el("details", el("summary", words), content, class_="numbers soft")


def _drawn(line: Line, scale: Scale) -> Markup:
    """Draw many numbers as dots with intervals, in the order of their size where their keys have none; the numbers on demand."""
    entries = line.entries
    if not line.hidden and not any(entry.key[:1].isdigit() or entry.key[:1] in "[-" for entry in entries):
        entries = tuple(sorted(entries, key=lambda entry: -entry.value))
    own = dict(zip(line.entries, entry_scales(line, scale) or (), strict=False))
    rows = [
        el(
            "tr",
            el("th", entry.key, scope="row"),
            _track(line, entry, scale, own.get(entry)),
            el("td", line.answer(entry), class_=f"num {entry.strength}"),
        )
        for entry in entries
    ]
    rows += [] if own else [_axis_row(line, scale, 1)]
    table = el("table", el("tbody", *rows), class_="rows drawn")
    more = el("p", _more(line), class_="soft") if line.hidden else None
    return el(
        "div",
        scrolled(table),
        more,
        _folded_away("Numbers", _numbers(line, scale)),
    )


def _numbers(line: Line, scale: Scale) -> Markup:
    kinds = [kind for kind in KINDS if any(getattr(entry, kind) for entry in line.entries)]
    sized = any(line.accuracy(entry) for entry in line.entries)
    head = [el("th", line.axis, scope="col"), el("th", "value", scope="col", class_="num")]
    if kinds:
        head.append(el("th", Markup("&nbsp;"), scope="col", class_="track"))
    head += [el("th", f"{kind} interval", scope="col", class_="num") for kind in kinds]
    if line.truths:
        head.append(el("th", TRUTH, scope="col", class_="num"))
    if sized:
        head.append(el("th", "noise costs", scope="col", class_="num wide"))
    own: Sequence[Scale | None] = entry_scales(line, scale) or [None] * len(line.entries)
    body = [
        _vector_row(line, entry, _track(line, entry, scale, mine) if kinds else None, kinds, sized=sized)
        for entry, mine in zip(line.entries, own, strict=True)
    ]
    body += [_axis_row(line, scale, 2)] if kinds and None in own else []
    more = el("p", _more(line), class_="soft") if line.hidden else None
    table = el(
        "table", el("thead", el("tr", *head)), el("tbody", *body), class_="rows" if kinds else "rows slim"
    )
    return el("div", scrolled(table), more)


def _track(line: Line, entry: Entry, scale: Scale, own: Scale | None) -> Markup:
    """Return the drawing of one number, with an axis of its own below it where it has one."""
    axis = None if own is None else axis_svg(own, line)
    return el("td", entry_track(line, entry, own or scale), axis, class_="track")


def _vector_row(
    line: Line, entry: Entry, track: Markup | None, kinds: Sequence[str], *, sized: bool
) -> Markup:
    cells = [
        el("th", entry.key, scope="row"),
        el("td", line.answer(entry), class_=f"num {entry.strength}"),
    ]
    cells += [] if track is None else [track]
    cells += [el("td", line.span(getattr(entry, kind)), class_="num") for kind in kinds]
    if line.truths:
        cells.append(el("td", line.true(entry), class_="num"))
    if sized:
        said = line.accuracy(entry, digits.noise_part) or "–"
        cells.append(el("td", said, class_="num wide"))
    return el("tr", *cells)


def _legend(line: Line, curve: Curve) -> list[str]:
    """Say what is drawn how."""
    look = ("thick lines", "thin lines") if line.bars is not None else ("shaded", "dashed")
    return [
        f"{drawn}: {kind} intervals" for kind, drawn in zip(KINDS, look, strict=True) if kind in curve.bands
    ]


def _all(line: Line) -> str:
    drawn = [] if line.curve is None else _legend(line, line.curve)
    drawn += (
        ["dotted: the truth (public data)"] if line.curve is not None and line.curve.truth is not None else []
    )
    named = "" if line.unnamed or not line.name.isidentifier() else line.name
    return " · ".join([*drawn, f"{named}.table() lists all {line.size:,}"])


def _more(line: Line) -> str:
    hint = "" if line.unnamed or not line.name.isidentifier() else f": {line.name}.table()"
    return f"… and {line.hidden:,} more{hint}" if hint else f"… and {line.hidden:,} more: .table() lists them"


# ---------------------------------------------------------------- text of one line


def lines_text(lines: Sequence[Line]) -> list[str]:
    """Return lines as text for a terminal; what was told of one is not told again of another."""
    mechanisms, found = {line.mechanism for line in lines if not _behind(line)}, []
    told: set[str] = set()
    for line in lines:
        found.append(line_text(line, told, mechanisms if _behind(line) else ()))
        told |= {line.estimand, *line.flags, *_reasons(line)}
    return found


def line_text(line: Line, told: Collection[str] = (), made: Collection[tuple[str, ...]] = ()) -> str:
    """Return one line as text for a terminal, without sentences, or how numbers were made, that were told already."""
    title = line.name if line.name == line.question else f"{line.name}  {line.question}"
    rows = [f"{title}  [{line.cost}]"]
    rows += _scalar_text(line) if line.scalar else _vector_text(line)
    notes = [line.estimand, *(f"note: {flag}" for flag in line.flags if flag not in told), *_reasons(line)]
    rows += [note for note in notes if note and note not in told]
    if line.stored is not None:
        rows.append(line.stored.text)
    if line.mechanism and line.mechanism not in made:
        rows.append(" · ".join(line.mechanism))
    first, *rest = rows
    return "\n".join([first, *(part for row in rest for part in _folded(row))])


def _folded(row: str) -> list[str]:
    if len(row) < _WIDE - 2:
        return [f"  {row}"]
    return textwrap.wrap(row, _WIDE, initial_indent="  ", subsequent_indent="    ")


def _scalar_text(line: Line) -> list[str]:
    entry = line.entries[0]
    scale = Scale.over(line.entries, line.trail)
    said = line.accuracy(entry)
    rows = [line.answer(entry) + (f"  {said}" if said else "")]
    for step in line.trail:
        then = (step.low, step.high)
        rows.append(
            f"{f'before, at {step.paid}':<20} {line.span(then):<20} {text_track(entry, then, scale, 'past')}"
        )
    for kind, pair in zip(KINDS, (entry.privacy, entry.confidence), strict=True):
        if pair is not None:
            label = f"{kind} interval"
            rows.append(f"{label:<20} {line.span(pair):<20} {text_track(entry, pair, scale, kind)}")
    return [*rows, f"{TRUTH:<20} {line.true(entry)}"] if entry.truth is not None else rows


def _vector_text(line: Line) -> list[str]:
    if line.columns:
        return grid_text(line)
    if line.curve is not None:
        return [sparkline(line.curve), _all(line)]
    if _behind(line):
        return [f"{line.size:,} numbers: .table() lists them"]
    kinds = [kind for kind in KINDS if any(getattr(entry, kind) for entry in line.entries)]
    sized = any(line.accuracy(entry) for entry in line.entries)
    table = [
        [
            line.axis,
            "value",
            *(f"{kind} interval" for kind in kinds),
            *([TRUTH] if line.truths else []),
            *(["noise costs"] if sized else []),
        ]
    ]
    for entry in line.entries:
        row = [entry.key[:24], _cut(line.answer(entry)), *(line.span(getattr(entry, k)) for k in kinds)]
        row += [line.true(entry)] if line.truths else []
        row += [line.accuracy(entry, digits.noise_part) or "–"] if sized else []
        table.append(row)
    rows = aligned(table)
    return [*rows, _more(line)] if line.hidden else rows


def _cut(answer: str) -> str:
    """An answer that fits in a column: only a label can be too long."""
    return answer if len(answer) <= _LONGEST else f"{answer[: _LONGEST - 1]}…"
