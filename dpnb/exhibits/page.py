"""An exhibit as facts: what its page says and draws, in JSON's own types. Live page, still page and JSON are made of these."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpnb.exhibits.exhibit import Exhibit, Finding, Mechanism, Test
from dpnb.inference.digits import loss_figure

Record = dict[str, Any]
"""What a page says, in JSON's own types."""


def record(exhibit: Exhibit, *, lever: bool = True) -> Record:
    """Return everything that the page of an exhibit says.

    Parameters
    ----------
    exhibit : Exhibit
    lever : bool
        Whether its lever is computed too; that takes a third of a second at most.

    Examples
    --------
    >>> from dpnb.exhibits import find
    >>> record(find("zero-sensitivity"))["published"]["actual"]
    'inf'
    """
    found, event, rows = exhibit.numbers(), frequencies(exhibit), neighbour_rows(exhibit)
    return {
        "format": 1,
        "name": exhibit.name,
        "title": exhibit.title,
        "theme": exhibit.theme,
        "source": exhibit.source,
        "claim": exhibit.claim,
        "neighbours": list(exhibit.worlds),
        "rows": rows,
        "left_out": "" if rows is None else left_out(rows),
        "exact": found.exact,
        "how": found.how,
        "why": exhibit.why,
        "published": _finding(found.broken),
        "event": None if event is None else list(event),
        "lever": lever_record(exhibit) if lever else None,
        "correction": exhibit.correction,
        "corrected": _finding(found.corrected),
        "cost": exhibit.cost,
        "cell": exhibit.cell,
        "more": [list(pair) for pair in found.more],
        "words": [loss_figure(found.broken.actual), loss_figure(found.corrected.actual)],
    }


def left_out(rows: Record) -> str:
    """Say how many rows of the neighbours are not shown."""
    said = []
    if rows["same"]:
        said.append(f"{rows['same']:,} more rows, the same in both")
    if rows["different"]:
        said.append(f"{rows['different']:,} more that differ")
    return f"… and {' and '.join(said)}" if said else ""


def _finding(finding: Finding) -> Record:
    return {
        "text": finding.text,
        "claimed": float(finding.claimed),
        "actual": _finite(finding.actual),
        "unit": finding.unit,
        "sense": finding.sense,
        "kept": finding.kept,
        "words": [loss_figure(finding.claimed), loss_figure(finding.actual)],
        "shares": list(shares(finding)),
    }


def shares(finding: Finding) -> tuple[float, float]:
    """Return the claimed and the actual length, of a full width of 1; what is infinite fills it."""
    finite = [abs(v) for v in (finding.claimed, finding.actual) if math.isfinite(v)]
    top = max(finite, default=1.0) or 1.0
    if math.isinf(finding.actual):
        return 0.12, 1.0
    return abs(finding.claimed) / top, abs(finding.actual) / top


def _finite(value: float) -> float | str:
    """JSON has no infinity: it is a word."""
    return "inf" if math.isinf(value) else float(value)


def lever_record(exhibit: Exhibit) -> Record | None:
    """Return the lever of an exhibit and its lines, or None where it has none.

    Parameters
    ----------
    exhibit : Exhibit
    """
    lever, claim = exhibit.lever, exhibit.numbers().broken
    if lever is None:
        return None
    claimed, actual, corrected = zip(*lever.drawn(), strict=True)
    tolerance = claim.tolerance if claim.sense == "exactly" else 1e-6
    kept = [
        Finding(one, other, lever.unit, claim.sense, tolerance).kept
        for one, other in zip(claimed, actual, strict=True)
    ]
    return {
        "label": lever.label,
        "unit": lever.unit,
        "values": list(map(float, lever.values)),
        "at": lever.values.index(lever.at),
        "says": lever.says,
        "claimed": list(map(float, claimed)),
        "actual": [_finite(value) for value in actual],
        "corrected": None if None in corrected else [float(value) for value in corrected],
        "kept": kept,
    }


_MOST = 8
_ANSWERS = 1_000
_SEED = 1

Rows = list[tuple[str, str, bool]]
Frequencies = tuple[str, int, int]
"""An event, and of a thousand answers each, how many show it under A and under B."""


def neighbour_rows(exhibit: Exhibit) -> Record | None:
    """Return a few rows of both neighbours side by side, and how many were left out; None where both are one dataset.

    Parameters
    ----------
    exhibit : Exhibit
    """
    first, second = (_texts(data) for data in exhibit.neighbours)
    size = max(len(first), len(second))
    rows = [
        (one, two, one != two) for one, two in zip(_filled(first, size), _filled(second, size), strict=True)
    ]
    if not any(differs for _, _, differs in rows):
        return None
    kept = _kept([differs for _, _, differs in rows])
    left = [differs for place, (_, _, differs) in enumerate(rows) if place not in kept]
    return {
        "columns": exhibit.columns,
        "rows": [list(rows[place]) for place in kept],
        "same": left.count(False),
        "different": left.count(True),
    }


def _kept(differs: list[bool]) -> list[int]:
    """The places of at most eight rows: those that differ, up to six, and the first others."""
    different = [place for place, one in enumerate(differs) if one][: _MOST - 2]
    same = [place for place, one in enumerate(differs) if not one][: _MOST - len(different)]
    return sorted(different + same)


def _filled(rows: list[str], size: int) -> list[str]:
    return rows + [""] * (size - len(rows))


def _texts(data: Sequence[float] | tuple[Sequence[float], ...]) -> list[str]:
    if isinstance(data, tuple):
        return [" · ".join(_text(part) for part in row) for row in zip(*data, strict=True)]
    return [_text(value) for value in data]


def _text(value: float) -> str:
    return "NaN" if math.isnan(value) else f"{float(value):.4g}"


def frequencies(exhibit: Exhibit) -> Frequencies | None:
    """Return the event that tells the neighbours apart and how often it is seen; None where there is no single one.

    Parameters
    ----------
    exhibit : Exhibit
    """
    if exhibit.event is None or exhibit.flawed is None:
        return None
    event, holds = exhibit.event
    first, second = (_share(exhibit.flawed, data, holds) for data in exhibit.neighbours)
    return event, round(_ANSWERS * first), round(_ANSWERS * second)


def _share(flawed: Mechanism, data: object, holds: Test) -> float:
    if len(inspect.signature(flawed).parameters) == 1:  # it writes its law down, and is not drawn from
        law = flawed(data)
        return float(np.array(list(law.values())) @ holds(np.array(list(law))))
    return float(np.mean(holds(flawed(data, _ANSWERS, np.random.default_rng(_SEED)))))
