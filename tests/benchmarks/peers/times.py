"""The times of the page: medians, minima, first answers and ratios from a run, beside the goals; and what is installed."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from .comparison import Line
from .library import FLOORS, LIBRARIES
from .timing import SEVEN, TIMED
from .visits import AGAIN

ASKED = (*TIMED, SEVEN)
EXACT = [library.name for library in FLOORS]
ORDER = [*EXACT, *(library.name for library in LIBRARIES)]
BUSY = 0.1
"""Beyond this part of the processors at work for others, times are told to be of a busy machine."""


def summary(lines: Sequence[Line]) -> list[Line]:
    """Medians and minima over all visits, with the ratio of minima to the better exact engine."""
    grouped: dict[tuple[int, str, str], list[Line]] = {}
    for line in lines:
        grouped.setdefault((line["rows"], line["library"], line["statistic"]), []).append(line)
    summed = [_summed(*key, group) for key, group in grouped.items()]
    for line in summed:
        exact = [
            one["min"]
            for one in summed
            if one["library"] in EXACT
            and (one["rows"], one["statistic"]) == (line["rows"], line["statistic"])
        ]
        line["to_exact"] = (
            line["min"] / min(exact)
            if line["statistic"] in ASKED and all(exact) and exact and line["min"]
            else None
        )
    return sorted(summed, key=lambda line: (line["rows"], ORDER.index(line["library"])))


def _summed(rows: int, library: str, statistic: str, group: Sequence[Line]) -> Line:
    """One question of one library: what was asked once has its first answer's time for all."""
    cold = [line["cold"] for line in group if "cold" in line]
    warm = [value for line in group for value in line.get("warm", ())]
    told = warm or cold
    return {
        "rows": rows,
        "library": library,
        "statistic": statistic,
        "median": statistics.median(told) if told else None,
        "min": min(told, default=None),
        "cold": min(cold, default=None),
        "repeats": len(told),
        "visits": len(group),
        "load": statistics.median(line.get("load", 0.0) for line in group),
        "busy": max((line["busy"] for line in group if line.get("busy") is not None), default=None),
        "date": max(line.get("date", "") for line in group),
        "kind": "added up"
        if any(line.get("added") for line in group)
        else "once"
        if cold and not warm
        else "",
        "fails": "" if told else next((line["fails"] for line in group if "fails" in line), ""),
    }


def section(lines: Sequence[Line], sizes: Sequence[Line], picture: str) -> Iterator[str]:
    """The part of the page about times."""
    if not lines:
        return
    yield from _how(lines)
    yield from (picture, "")
    yield from _goals(lines)
    for rows in sorted({line["rows"] for line in lines}):
        yield from _size(rows, [line for line in lines if line["rows"] == rows])
    left = sorted(
        {(ORDER.index(line["library"]), line["rows"], _left(line)) for line in lines if line["fails"]}
    )
    yield from (f"- {text}" for *_, text in left)
    yield ""
    yield from _installed(lines, sizes)


def _how(lines: Sequence[Line]) -> Iterator[str]:
    twice, thrice = (f"{seconds:.0f}" for seconds, _ in AGAIN)
    yield from (
        "## Times",
        "",
        "Warm repeats in milliseconds, median / minimum, and × the minimum of the better exact engine (DuckDB or Polars on raw floats in memory,",
        "no privacy). The table has fifty regions; ε is 1; dpnb runs under change-one. Every release is fresh. dpnb's releases cross to another process and are",
        "written to a synced ledger before they are answered; no other library keeps a ledger. The libraries take turns, so that none gets the quiet minutes for itself. Each is",
        f"visited up to five times at each size, at most twice if a visit takes more than {twice} s, and once if it takes more than {thrice} s. A visit is a",
        "process of its own. It imports the library, opens the table, asks each question for the first time (*first answer*) and then again until a third of",
        "a second or fifteen answers are over. ° marks a first answer of more than five seconds, which was the only one of its visit. + marks seven",
        "questions that took more than half a minute, so that their own times are added up. Memory is of all processes of a library.",
        "",
        _machine(lines),
        "",
    )


def _machine(lines: Sequence[Line]) -> str:
    load = statistics.median(line["load"] for line in lines)
    others = [line["busy"] for line in lines if line["statistic"] == "visit" and line.get("busy") is not None]
    days = sorted({line["date"] for line in lines if line.get("date")})
    day = f"Taken on {' and '.join(days)}. " if days else ""
    if not others:
        return f"{day}**The machine was busy:** its load was {load:.0f} while these were taken, so only ratios of several times mean anything."
    median, most = statistics.median(others), max(others)
    told = f"Before the visits, while the run itself was idle, {median:.0%} of the processors were busy (median; at most {most:.0%}); the load was {load:.1f} (median), including the run's own."
    return day + told + (" **The machine was busy:** only ratios mean anything." if median > BUSY else "")


# ---------------------------------------------------------------- goals


def _goals(lines: Sequence[Line]) -> Iterator[str]:
    """Dpnb beside the better exact engine and beside the fastest other library, at a million rows and more."""
    rows = [
        line
        for line in lines
        if line["library"] == "dpnb"
        and line["rows"] >= 1_000_000
        and line["statistic"] in ASKED
        and line["min"]
    ]
    if not rows:
        return
    yield from (
        "**Against the goals.** At 1,000,000 rows and more, the seven as one should take at most 1.0 × the time of the better exact engine, and at most a fifth of every other library's time;",
        "at 10,000,000 rows every single question at most 1.5 × the better exact engine, and less than every other library; at 1,000,000 at most twice the fastest other library. All times are minima.",
        "",
    )
    yield from table(
        ["rows", "question", "dpnb, ms", "× exact", "fastest other library, ms", "dpnb ÷ it", ""],
        [_goal(line, lines) for line in rows],
    )


def _goal(mine: Line, lines: Sequence[Line]) -> list[str]:
    others = [
        line
        for line in lines
        if (line["rows"], line["statistic"]) == (mine["rows"], mine["statistic"])
        and line["library"] not in {"dpnb", *EXACT}
        and line["min"]
    ]
    fastest = min(others, key=lambda line: line["min"], default=None)
    beside = mine["min"] / fastest["min"] if fastest else None
    seven, large = mine["statistic"] == SEVEN, mine["rows"] >= 10_000_000
    most_exact = 1.0 if seven else 1.5 if large else None
    most_other = 0.2 if seven else 1.0 if large else 2.0
    met = [
        value <= goal
        for value, goal in ((mine["to_exact"], most_exact), (beside, most_other))
        if value is not None and goal is not None
    ]
    return [
        f"{mine['rows']:,}",
        mine["statistic"],
        f"{1e3 * mine['min']:.3g}",
        "–" if mine["to_exact"] is None else f"{mine['to_exact']:.2f}",
        "–" if fastest is None else f"{fastest['library']} {1e3 * fastest['min']:.3g}",
        "–" if beside is None else f"{beside:.2f}",
        "–" if not met else "met" if all(met) else "missed",
    ]


# ---------------------------------------------------------------- one size


def _size(rows: int, lines: Sequence[Line]) -> Iterator[str]:
    by = {(line["library"], line["statistic"]): line for line in lines}
    shown = [name for name in ORDER if any(key[0] == name and by[key]["min"] for key in by)]
    yield f"### {rows:,} rows"
    yield ""
    head = ["median / minimum, ms", *shown]
    yield from table(head, [[name, *(_time(by.get((one, name))) for one in shown)] for name in ASKED])
    first = [[name, *(_first(by.get((one, name))) for one in shown)] for name in ASKED]
    yield from table(["first answer, ms", *shown], first)
    whole = (("import, s", "import", 2), ("open, s", "open", 2), ("memory above the start, MiB", "memory", 0))
    kept = [
        [label, *(_figure(by.get((one, name)), places) for one in shown)] for label, name, places in whole
    ]
    kept.insert(2, ["import, open and a first mean, s", *(_ready(by, one) for one in shown)])
    kept.append(["visits", *(str(by[one, "open"].get("visits") or "–") for one in shown)])
    yield from table(["", *shown], kept)


def _time(line: Line | None) -> str:
    if line is None:
        return "–"
    if line["min"] is None:
        return "fails" if not line["fails"].startswith("left out") else "left out"
    mark = {"once": "°", "added up": "+"}.get(line.get("kind") or "", "")
    beside = "" if line["to_exact"] is None else f" ×{line['to_exact']:.3g}"
    return f"{_three(1e3 * line['median'])} / {_three(1e3 * line['min'])}{mark}{beside}"


def _first(line: Line | None) -> str:
    return "–" if line is None or line["cold"] is None else _three(1e3 * line["cold"])


def _three(value: float) -> str:
    """Three figures, in ordinary numbers."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _figure(line: Line | None, places: int) -> str:
    return "–" if line is None or line["min"] is None else f"{line['min']:,.{places}f}"


def _ready(by: dict[tuple[str, str], Line], library: str) -> str:
    parts = [
        by.get((library, name), {}).get(kind)
        for name, kind in (("import", "min"), ("open", "min"), ("mean", "cold"))
    ]
    return "–" if any(part is None for part in parts) else f"{sum(parts):.2f}"


def _left(line: Line) -> str:
    what = "" if line["statistic"] == "open" else f"{line['statistic']}, "
    return f"{line['library']}, {what}n {line['rows']:,}: {line['fails'].partition('. ')[0]}."


# ---------------------------------------------------------------- installed


def _installed(lines: Sequence[Line], sizes: Sequence[Line]) -> Iterator[str]:
    mib = {line["library"]: line["mib"] for line in sizes}
    if not mib:
        return
    told = ", ".join(f"{name} {size:,.0f}" for name, size in sorted(mib.items(), key=lambda pair: pair[1]))
    yield f"**Installed**, in MiB, with everything that each library needs: {told}."
    least = min((line["rows"] for line in lines), default=0)
    imports = {
        line["library"]: line["min"]
        for line in lines
        if line["statistic"] == "import" and line["rows"] == least and line["library"] not in EXACT
    }
    yield _beside("Installed", mib, "MiB")
    yield _beside("The import", imports, "s")
    yield (
        "dpnb includes an engine (DuckDB), the notebook kernel and widgets, and pictures. So the comparable libraries are those that include an engine,"
        " OpenDP Polars and Tumult. Import leaves out NumPy, which all of them need. dpnb imports most modules when a table is opened, so compare *import, open and a first mean*."
    )
    yield ""


def _beside(what: str, figures: dict[str, float], unit: str) -> str:
    if "dpnb" not in figures:
        return ""
    mine = figures["dpnb"]
    below = [name for name, one in figures.items() if one > mine]
    above = [name for name, one in figures.items() if one < mine]
    shown = f"{mine:,.0f}" if mine >= 10 else f"{mine:.2f}"
    return f"{what}: dpnb's {shown} {unit} is below {_listed(below)} and above {_listed(above)}."


def _listed(names: Sequence[str]) -> str:
    return (
        "none" if not names else names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """A table in Markdown."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    yield from ("| " + " | ".join(row) + " |" for row in rows)
    yield ""
