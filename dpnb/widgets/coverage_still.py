"""The still form of the coverage lab, of each of its views: a picture, what it says in words, and the numbers as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from dpnb.cards.card import Card
from dpnb.cards.markup import Markup, el
from dpnb.estimate.table import Table
from dpnb.inference.digits import number, percent
from dpnb.simulate import wilson
from dpnb.simulate.bootstrap import begun_study
from dpnb.widgets.coverage_charge import Costs, compared, paid, place_of, printed
from dpnb.widgets.coverage_design import LabInputs
from dpnb.widgets.coverage_run import Run, StudyRun, SweepRun, with_methods
from dpnb.widgets.coverage_setup import BOOTSTRAP, WORDS, Setup
from dpnb.widgets.registry import Facts
from dpnb.widgets.still_picture import intervals, still

Rows: TypeAlias = Sequence[Sequence[str]]

_WIDTH, _TALL, _SIDE = 560, 170, 44
_MARKS = {"too few": "✕", "as promised": "✓", "more": "▲"}


def card(run: Run, shown: list[str], setup: Setup, facts: Facts, costs: Costs) -> Card:
    """Return the card of a run of which something is simulated.

    Parameters
    ----------
    run : StudyRun or SweepRun
        What was simulated.
    shown : list of str
        The methods that are shown.
    setup : Setup
        What was set.
    facts : dict
        What the browser would draw.
    costs : dict
        What the resamples cost, by k.
    """
    if isinstance(run, StudyRun):
        return _of_studies(run, shown, setup, facts, costs)
    return _of_sweep(run, shown, setup, facts)


def _of_studies(run: StudyRun, shown: list[str], setup: Setup, facts: Facts, costs: Costs) -> Card:
    head = columns(run, shown, setup)
    many = len(head) - 1 if head[-1] == "about" else len(head)
    [found] = findings(run, shown, setup, costs)
    rows = [(one["name"], *one["cells"])[:many] for one in found]
    about = f"{facts['question']}, {setup.symbol} {setup.loss:g}, n {setup.n:,}: {run.studies:,} simulated studies"
    notes = [one["said"] for one in found] + [facts["charge"]] + beside(run, shown, setup)
    drawn = [row for row in run.rows() if row["name"] in shown and row["studies"]]
    drawn.sort(key=lambda row: shown.index(row["name"]))
    return _card(about, (head[:many], *rows), facts, list(filter(None, notes)), _bands(drawn, setup.level))


def columns(run: Run, shown: list[str], setup: Setup) -> list[str]:
    """Return the heads of the table: charges, and what is in print, only where single studies are resampled."""
    more = []
    if isinstance(run, StudyRun) and any(name in BOOTSTRAP for name in shown):
        more = [*(["in print (its band)"] if compared(setup) else []), "charged in print", "true charge"]
    return ["interval", "coverage", "95 % band", "mean width", *(more or ["about"])]


def findings(run: Run, shown: list[str], setup: Setup, costs: Costs) -> list[list[Facts]]:
    """Return what was found at each value of a sweep, or of single studies at one: for each method a sentence and its cells."""
    head = columns(run, shown, setup)
    if isinstance(run, StudyRun):
        return [[_finding(name, run, setup, head, costs) for name in shown]]
    runs = [*run.runs, *[None] * (len(run.values) - len(run.runs))]
    return [[_finding(name, one, setup, head, costs) for name in shown] for one in runs]


def _finding(name: str, run: StudyRun | None, setup: Setup, head: list[str], costs: Costs) -> Facts:
    row = None
    if run is not None and run.studies:
        row = next((one for one in run.rows() if one["name"] == name), None)
    mark, said, cells = "", "", ["–", "–", "–"]
    if row is not None and not row["studies"]:
        said, cells[0] = f"{name}: none. {row['reason']}", "none"
    elif row is not None:
        mark = _MARKS[verdict(row["held"], row["studies"], setup.level)]
        said = missed(name, row["held"], row["studies"], setup.level)
        cells = [_percent(row["coverage"]), _band(row), _width(row["width"])]
    if head[4].startswith("in print"):
        cells.append(_in_print(printed(setup, name)))
    cells += [WORDS[name]] if head[-1] == "about" else paid(setup, name, costs.get(place_of(setup)))
    return {"name": name, "mark": mark, "said": said, "cells": cells}


def _in_print(share: float | None) -> str:
    if share is None:
        return ""
    low, high = print_band(share)
    return f"{percent(share, 1)} ({100 * low:.1f} to {100 * high:.1f})"


def beside(run: Run, shown: list[str], setup: Setup) -> list[str]:
    """Return what is said beside the published table; nothing of another setup, or of a sweep."""
    if not isinstance(run, StudyRun):
        return []
    rows = {row["name"]: row for row in run.rows() if row["studies"]}
    pairs = [(rows[name], printed(setup, name)) for name in shown if name in rows]
    said = [
        beside_print(row["name"], row["held"], row["studies"], share)
        for row, share in pairs
        if share is not None
    ]
    return [*said, compared(setup)] if said else []


def _of_sweep(run: SweepRun, shown: list[str], setup: Setup, facts: Facts) -> Card:
    found = run.to_json()
    lines = [row for row in found["rows"] if row["name"] in shown]
    symbol = {"loss": setup.symbol}.get(run.over, run.over)
    head = (symbol, *(row["name"] for row in lines))
    rows = [
        (f"{symbol} {number(float(value))}", *(_told(row, i) for row in lines))
        for i, value in enumerate(found["values"][: len(run.runs)])
    ]
    about = f"{facts['question']}: coverage along {symbol}, and mean width; {run.runs[0].studies:,} simulated studies each"
    notes = [note for note in (facts["sweep"] or {}).get("notes", []) if note]
    return _card(about, (head, *rows), facts, notes, _lines(found["values"], lines, setup.level))


def _card(about: str, table: Rows, facts: Facts, notes: Sequence[str], picture: Markup | None) -> Card:
    """The one card of both views: what differs is what it is about, its table and its picture."""
    head, *rows = table
    title = "Would this interval be right?"
    return still("coverage", title, about, head, rows, facts, notes=notes, picture=picture)


def _told(row: Facts, i: int) -> str:
    if i >= len(row["coverage"]) or row["coverage"][i] is None:
        return "none"
    return f"{_percent(row['coverage'][i])}, {_width(row['width'][i])}"


def _percent(share: float | None) -> str:
    return "none" if share is None else percent(share, 1)


def _band(row: Facts) -> str:
    return "–" if row["low"] is None else f"{100 * row['low']:.1f} to {100 * row['high']:.1f} %"


def _width(width: float | None) -> str:
    if width is None:
        return "–"
    return f"{width:.3g}" if width < 999.5 else f"{width:,.0f}"


def _bands(rows: list[Facts], level: float) -> Markup | None:
    """Draw each coverage as a mark on its band, beside the promised share: a cross, a tick or a triangle says which side."""
    if not rows:
        return None
    floor = min(level - 0.03, *(row["low"] for row in rows))
    marks = [_MARKS[verdict(row["held"], row["studies"], level)] for row in rows]
    drawn = [
        (f"{mark} {row['name']}", row["low"], row["coverage"], row["high"], "3")
        for mark, row in zip(marks, rows, strict=True)
    ]
    said = "; ".join(f"{row['name']}: {100 * row['coverage']:.3g} %" for row in rows)
    promised = level, f"promised: {100 * level:g} %"
    return intervals("coverage of each interval, with its band", said, drawn, (floor, 1.0), promised)


def _lines(values: Sequence[float], rows: list[Facts], level: float) -> Markup | None:
    """Draw coverage along what is varied: dashes differ, and each line ends with its name."""
    known = [(row, [i for i, share in enumerate(row["coverage"]) if share is not None]) for row in rows]
    known = [(row, places) for row, places in known if places]
    if not known:
        return None
    floor = min(level - 0.05, *(row["low"][i] for row, places in known for i in places))
    right = _WIDTH - 120

    def x(i: int) -> float:
        return _SIDE + (right - _SIDE) * i / max(len(values) - 1, 1)

    def y(share: float) -> float:
        return 8 + (_TALL - 30) * (1 - share) / (1 - floor)

    ended = [f"{row['name']}: ends at {100 * row['coverage'][places[-1]]:.3g} %" for row, places in known]
    shapes: list[object] = [el("title", "coverage along what is varied"), el("desc", "; ".join(ended))]
    shapes.append(_line(_SIDE, y(level), right, y(level), stroke_dasharray="2 4"))
    shapes.append(_text(_SIDE - 6, y(level) + 4, f"{100 * level:g} %", "end"))
    shapes += [_text(x(i), _TALL - 4, number(float(value)), "middle") for i, value in enumerate(values)]
    ends: list[float] = []
    for place, (row, places) in enumerate(known):
        points = " ".join(f"{x(i):.1f},{y(row['coverage'][i]):.1f}" for i in places)
        dashes = {"stroke_dasharray": f"{3 + 2 * place} {1 + place}"} if place else {}
        shapes.append(
            el("polyline", points=points, class_="cf", fill="none", stroke="currentColor", **dashes)
        )
        down = y(row["coverage"][places[-1]])
        while any(abs(down - end) < 12 for end in ends):
            down += 12
        ends.append(down)
        shapes.append(_text(x(places[-1]) + 6, down + 4, row["name"], "start"))
    return el("svg", *shapes, viewBox=f"0 0 {_WIDTH} {_TALL}", role="img", font_size="12")


def _line(x1: float, y1: float, x2: float, y2: float, **more: str) -> Markup:
    ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    return el("line", **ends, stroke="currentColor", opacity="0.7", **more)


def _text(x: float, y: float, said: str, anchor: str) -> Markup:
    return el("text", said, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, fill="currentColor")


#: How many studies stand behind the shares in print: a thousand or so.
PRINT_STUDIES = 1000
_Z = 1.959963984540054


def verdict(held: int, studies: int, level: float) -> str:
    """Return ``"too few"``, ``"as promised"`` or ``"more"``: where the promised share lies to the band of what was found."""
    low, high = wilson(held, studies)
    return "too few" if float(high) < level else "more" if float(low) > level else "as promised"


def missed(name: str, held: int, studies: int, level: float) -> str:
    """Say how many intervals missed.

    Examples
    --------
    >>> missed("naive", 804, 1000, 0.95)
    'naive: 196 of 1,000 intervals missed, more than the 50 promised.'
    >>> missed("confidence", 9, 10, 0.95)
    'confidence: 1 of 10 intervals missed, as promised.'
    >>> missed("normal", 1000, 1000, 0.95)
    'normal: 0 of 1,000 intervals missed, fewer than the 50 promised: wider than needed.'
    """
    found = f"{name}: {studies - held:,} of {studies:,} intervals missed"
    said, promised = verdict(held, studies, level), f"{math.floor((1 - level) * studies + 0.5):,}"
    if said == "as promised":
        return f"{found}, as promised."
    if said == "too few":
        return f"{found}, more than the {promised} promised."
    return f"{found}, fewer than the {promised} promised: wider than needed."


def print_band(printed: float) -> tuple[float, float]:
    """Return the Wilson band that a share in print has by itself."""
    low, high = wilson(printed * PRINT_STUDIES, PRINT_STUDIES)
    return float(low), float(high)


def beside_print(name: str, held: int, studies: int, printed: float) -> str:
    """Say how far a share lies from the one in print, in standard errors of both.

    Examples
    --------
    >>> beside_print("unbiased", 804, 1000, 0.801)
    'unbiased: 80.4 % here, 80.1 % in print; 0.2 standard errors apart, no more than chance.'
    >>> beside_print("unbiased", 774, 1000, 0.801)
    'unbiased: 77.4 % here, 80.1 % in print; 1.5 standard errors apart, no more than chance.'
    >>> beside_print("unbiased", 7700, 10000, 0.801)
    'unbiased: 77.0 % here, 80.1 % in print; 2.2 standard errors apart, more than chance explains.'
    """
    here = held / studies
    both = (held + printed * PRINT_STUDIES) / (studies + PRINT_STUDIES)
    error = math.sqrt(both * (1 - both) * (1 / studies + 1 / PRINT_STUDIES)) if both < 1 else 0.0
    apart = abs(here - printed) / error if error else 0.0
    chance = "no more than chance" if apart <= _Z else "more than chance explains"
    return (
        f"{name}: {100 * here:.1f} % here, {100 * printed:.1f} % in print; "
        f"{apart:.1f} standard errors apart, {chance}."
    )


def parts_of(run: Run, setup: Setup) -> list[tuple[StudyRun, Setup]]:
    """Return the runs of which something is simulated, each with what it is set to."""
    if isinstance(run, StudyRun):
        return [(run, setup)]
    pairs = zip(run.runs, run.values, strict=False)
    return [(one, replace(setup, **{run.over: value})) for one, value in pairs]  # type: ignore[arg-type]


def table_of(run: Run, shown: list[str], setup: Setup, costs: Costs) -> Table:
    """Return one row for each value of a sweep and each method that is shown.

    Notes
    -----
    The columns are those of :meth:`dpnb.simulate.CoverageResult.table`; resampled intervals leave empty what they have not, and
    have ``k``, ``corrected`` (their coverage with the error of k resamples added), ``published`` and ``true`` charge.
    """
    parts = [(one, now) for one, now in parts_of(run, setup) if one.studies]
    rows = [row for one, now in parts for row in _rows(one, shown, now, costs)]
    if isinstance(run, SweepRun) and run.over == "loss":
        order = {name: place for place, name in enumerate(dict.fromkeys(row["interval"] for row in rows))}
        rows.sort(key=lambda row: order[row["interval"]])
    names = dict.fromkeys(name for row in rows for name in row)
    return Table({name: [row.get(name) for row in rows] for name in names})


def _rows(run: StudyRun, shown: list[str], setup: Setup, costs: Costs) -> list[Facts]:
    found: list[Facts] = []
    if run.coverage is not None and any(name not in BOOTSTRAP for name in shown):
        found += with_methods(run.coverage, shown).table().rows
    study = run.bootstrap
    if study is None:
        return found
    k = study.design.ks[0]
    for row in study:
        if row.kind not in shown:
            continue
        one = study.tallies[k, row.kind]
        low, high = wilson(one.published, one.studies)
        charge = paid(setup, row.kind, costs.get(place_of(setup)))
        found.append(
            {
                "n": study.design.n,
                "rho": study.design.rho,
                "interval": row.kind,
                "level": study.level,
                "studies": one.studies,
                "coverage": one.published / one.studies,
                "low": float(low),
                "high": float(high),
                "width": one.published_width / one.studies,
                "k": k,
                "corrected": row.corrected,
                "published": charge[0],
                "true": charge[1],
            }
        )
    return found


def code_of(run: Run, shown: list[str], inputs: LabInputs, setup: Setup) -> str:
    """Return the lines that reproduce what is shown: the studies that there are, not those that were asked for."""
    usual = [name for name in shown if name not in BOOTSTRAP]
    resampled = [name for name in shown if name in BOOTSTRAP]
    calls: dict[str, str] = {}
    for values, reps, ending in _done(run):
        now = replace(setup, reps=reps)
        if usual:
            calls[f"found{ending}"] = _releases(run, values, usual, inputs, now)
        if resampled:
            calls[f"resampled{ending}"] = _resamples(run, values, resampled, inputs, now)
    head = ["from dpnb import simulate"]
    names = [name for name in ("adult_ages", "find") if any(f"{name}(" in call for call in calls.values())]
    head += [f"from dpnb.datasets import {', '.join(names)}"] if names else []
    alone = len(calls) == 1
    return "\n".join([*head, "", *(call if alone else f"{name} = {call}" for name, call in calls.items())])


def _done(run: Run) -> list[tuple[list[float], int, str]]:
    """Return values of a sweep and how many studies each has: those that are finished, and the one that is not.

    Blocks of studies do not depend on how many were asked for: a run that was left after some is the run of as many. Before the
    first block it is what was asked for.
    """
    if isinstance(run, StudyRun):
        return [([], run.studies or run.reps, "")]
    if not run.studies:
        return [(run.values, run.runs[0].reps, "")]
    pairs = list(zip(run.runs, run.values, strict=False))
    whole = [value for one, value in pairs if one.studies >= one.reps]
    found = [(whole, run.runs[0].reps, "")] if whole else []
    part = [([value], one.studies, "_so_far") for one, value in pairs if 0 < one.studies < one.reps]
    return [*found, *part]


def _releases(run: Run, values: list[float], names: list[str], inputs: LabInputs, setup: Setup) -> str:
    several: Facts = {}
    if isinstance(run, SweepRun) and run.over != "k":
        several = {"losses" if run.over == "loss" else "sizes": values}
    call = inputs.releases(setup, names, **several).code()
    return call.replace("'monte carlo'", "simulate.monte_carlo()")


def _resamples(run: Run, values: list[float], kinds: list[str], inputs: LabInputs, setup: Setup) -> str:
    base = replace(setup, computed=tuple(kinds))
    if isinstance(run, StudyRun):
        designs = [inputs.resampling(base, (setup.k,))]
    elif run.over == "k" and not setup.repaired:
        designs = [inputs.resampling(base, tuple(int(k) for k in values))]
    else:
        changes: list[Facts] = [{run.over: value} for value in values]
        several = [replace(base, **change) for change in changes]
        designs = [inputs.resampling(one, (one.k,)) for one in several]
    calls = [begun_study(one).code() for one in designs]
    return calls[0] if len(calls) == 1 else "[\n    " + ",\n    ".join(calls) + ",\n]"
