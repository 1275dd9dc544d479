"""The page of the benchmarks: tables and pictures from what was measured, with method and caveats; the figures beside it as CSV."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .comparison import VARIANTS, Case, Line, cases, latest
from .library import LIBRARIES, SYNTHESIZERS
from .pictures import error_picture, time_picture
from .study import STATISTICS, TOGETHER
from .times import section, summary, table

NAMES = [library.name for library in LIBRARIES]
_TEXTS = {"method", "library", "peer", "adjacency", "statistic", "note", "fails", "kind", "date"}
_ABOUT = {
    "change-one": "One person's row is replaced, and n is public: what diffprivlib protects, and OpenDP with sized domains.",
    "add-remove": "One person's row comes or goes, and n is private: what PyDP and SmartNoise protect, and OpenDP.",
}


def write(measured: Path, folder: Path) -> None:
    """Write docs/benchmarks.md, its pictures and its CSV files: from the lines of a run, and from those files where it left something out.

    Times are of one run: beside each other, on one machine in one state. Errors do not depend on the machine: a part of them may be anew.
    """
    folder.mkdir(parents=True, exist_ok=True)
    errors = on_file(folder / "accuracy.csv") + read(measured / "accuracy.jsonl")
    kept = latest(errors, ("library", "adjacency", "rows", "epsilon", "statistic"))
    save(folder / "accuracy.csv", sorted(kept, key=_place))
    for name, lines in (
        ("timing", summary(read(measured / "timing.jsonl"))),
        ("sizes", latest(read(measured / "sizes.jsonl"), ("library",))),
        ("synthetic", latest(read(measured / "synthetic.jsonl"), ("library", "method", "rows", "run"))),
    ):
        if lines:
            save(folder / f"{name}.csv", lines)
    folder.with_suffix(".md").write_text(text(folder), encoding="utf-8")
    pictures(folder)


def text(folder: Path) -> str:
    """The page, from the CSV files alone: the same on every machine."""
    errors, times, sizes = (on_file(folder / f"{name}.csv") for name in ("accuracy", "timing", "sizes"))
    found = cases(errors)
    lines = [
        *_opening(found, errors, timed=bool(times)),
        *_exactly(),
        *_cases(found),
        *section(
            times,
            sizes,
            picture(
                "times",
                "The least time of every library by question, on a logarithmic axis, with a panel for each size. The tables below have the figures.",
            ),
        ),
        *_synthetic(on_file(folder / "synthetic.csv")),
        *_caveats(errors),
    ]
    return "\n".join(lines).rstrip() + "\n"


def pictures(folder: Path) -> None:
    """Both pictures, light and dark, from the CSV files."""
    found, times = cases(on_file(folder / "accuracy.csv")), on_file(folder / "timing.csv")
    for dark in (False, True):
        end = "-dark.svg" if dark else ".svg"
        if found:
            error_picture(found, folder / f"errors{end}", dark=dark)
        if times:
            time_picture(times, folder / f"times{end}", dark=dark)


def picture(name: str, told: str) -> str:
    """A picture for light and dark grounds, with what it shows in words."""
    dark = f'<source media="(prefers-color-scheme: dark)" srcset="benchmarks/{name}-dark.svg">'
    return f'<picture>{dark}<img src="benchmarks/{name}.svg" alt="{told}"></picture>'


def read(path: Path) -> list[Line]:
    """The lines of a run; none where it was not run."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def on_file(path: Path) -> list[Line]:
    """The lines of a CSV file that :func:`save` wrote; none where there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: _figure(name, text) for name, text in line.items()} for line in csv.DictReader(file)]


def _figure(name: str, text: str) -> Any:
    if name in _TEXTS:
        return text
    if text in {"True", "False"}:
        return text == "True"
    return None if text == "" else int(text) if text.isdecimal() else float(text)


def save(path: Path, lines: Sequence[Line]) -> None:
    """Write lines as CSV; an absent figure is an empty cell."""
    names = list(dict.fromkeys(name for line in lines for name in line))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in line.items()}
            for line in lines
        )


def _place(line: Line) -> tuple[Any, ...]:
    return line["adjacency"] != "change-one", line["rows"], line["epsilon"], NAMES.index(line["library"])


# ---------------------------------------------------------------- errors


def _opening(found: Sequence[Case], lines: Sequence[Line], *, timed: bool) -> Iterator[str]:
    files = "[errors](benchmarks/accuracy.csv)" + (", [times](benchmarks/timing.csv)" if timed else "")
    latest_day = max((line.get("date") or "" for line in lines), default="")
    yield from (
        "# Benchmarks: beside other libraries",
        "",
        "Errors and times of dpnb, OpenDP (its measurements, and its interface to Polars), diffprivlib, SmartNoise SQL, PyDP, PipelineDP",
        "and Tumult Analytics. Each library runs in an environment of its own and answers the same questions about the same table at the same privacy. `make bench` measures everything again and writes this page, its pictures and",
        f"its CSV files ({files}). Nothing here is written by hand.",
        f"Errors were measured until {latest_day or 'now'}; a partial run keeps the earlier figures for the rest. Times are from one run, on the day that they give.",
        "",
        "**Method.** The table has whole numbers from 0 to 100: x is bell-shaped around 50 (sd a sixth of the range), s is skewed (median 13), and y depends on x. A",
        "group has two fifths of the rows, and there are five regions. Count is of the group; histogram and group means are by region; difference is by group; least",
        "squares is the slope of y on x. Times are measured with fifty regions. An error is the root mean square of (released − file's), over releases and over regions; ± is its",
        "standard error. Every column is declared complete (`missing = 0`), which is not the default: see *declared complete* below. Every release of",
        "dpnb went through its curator and ledger, and was paid for. *The seven together* are count, mean,",
        "variance, median, histogram, group means and least squares: one cell of dpnb at ε, and ε/7 for each in the other libraries. *Covered*",
        "is how often a library's own bounded 95 % interval for the file's number contained it; a dash means that the library gives no interval.",
        "",
        "## Against the goals",
        "",
        "At n·ε ≥ 1,000 the error should be at most 1.1 × that of the best other library with an interval, and 1.0 × without one; for the seven together at most 1.0 ×",
        "(geometric mean over the questions, each compared with the best other library *for that question*). Three standard errors are allowed.",
        "",
    )
    yield "**The seven questions as one analysis**, goal 1.0:"
    yield ""
    head = ["neighbours", "case", "beside the best of each", "without least squares", "beside one library"]
    yield from table(head, [_together(case) for case in found if case.together() is not None])
    short = []
    for case in found:
        judged = case.alone() if case.rows * case.epsilon >= 1_000 else []
        if judged:
            for name, goal, one in judged:
                if one.verdict(goal) in {"missed", "within error"}:
                    short.append([case.adjacency, case.title, name, f"{goal:g}", one.text, one.verdict(goal)])
            met = sum(one.verdict(goal) in {"met", "both exact"} for _, goal, one in judged)
            yield f"- {case.adjacency}, {case.title}: {met} of {len(judged)} goals for a statistic alone are met."
    yield ""
    if short:
        yield "Goals that are not met, or only within the error of measurement:"
        yield ""
        yield from table(["neighbours", "case", "statistic", "goal", "ratio", ""], short)


def _exactly() -> Iterator[str]:
    """Which goals are met exactly, from the laws of the noise."""
    from .scales import ASKED, medians, ratios

    yield from (
        "### From the laws of the noise, without a simulation",
        "",
        "A simulated ratio has an error of its own. These ratios have none: every library's noise on what an answer is computed from is known. The error of the answer follows",
        "to first order, and so does the whole distribution of a selected median. Each statistic is compared with the least error of the other libraries. The goals at n·ε ≥ 1,000 are 1.1 with the",
        "interval included and 1.0 without. At n·ε = 100 the noise on a slope is too large for the first order to mean much.",
        "",
    )
    found, usual = _grouped(list(ratios())), _grouped(list(ratios("drop")))
    heads = [f"{adjacency}, n {rows:,}, ε {epsilon}" for adjacency, rows, epsilon in found]
    lines = [
        [
            name,
            *(_goal(name, rows * float(epsilon), case[name]) for (_, rows, epsilon), case in found.items()),
        ]
        for name in ASKED
    ]
    yield from table(["", *heads], lines)
    yield from (
        "*Declared complete.* Here and in the tables below every column is declared `missing = 0`, so that n is also the number of its values. By default",
        "a value may be missing, and if n is public a mean must also buy the number of values. The other libraries are told that no value is",
        "missing. The next table compares a default mean of dpnb with theirs. Its error grows with the distance from the middle of the bounds; if n is public it",
        "misses the goals above:",
        "",
    )
    means = [name for name in ASKED if "mean" in name]
    yield from table(
        ["by default", *heads], [[name, *(f"{case[name]:.3f}" for case in usual.values())] for name in means]
    )
    yield from (
        "*Medians.* If values have ties, errors fall exponentially in ε. dpnb's score is the number of ranks by which a value misses the target or, if the",
        "target is among the value's own ranks, the distance to their ends; the file's quantile always has the best score. OpenDP's score compares the rows below a value with",
        "those above it. It prefers a wrong value, at any ε, if a rare value beside a frequent median balances the two sides better. Its noisy",
        "maximum selects a wrong neighbour up to half as often as an exponential mechanism, which costs less in ρ. Limits need a part of ε; the fifth column spends nine tenths of it",
        "on the point alone. At n·ε ≥ 1,000 the goal is met at n 1,000 and ε 1, and where both are exact to a thousandth of a step;",
        "at n 10,000 and ε 0.1, change-one, it is not. The last column is a mechanism that is not built: dpnb's score with exponential noise, as in OpenDP, which a budget kept in ε could use.",
        "It would need exact binomial draws for runs of values with equal scores. It selects a wrong neighbour half as often, and its error in that case is still a tenth above OpenDP's.",
        "",
    )
    yield from table(
        [
            "neighbours",
            "case",
            "OpenDP",
            "dpnb, without limits",
            "dpnb, nine tenths of ε",
            "not built: exponential noise",
        ],
        [[one, f"n {n:,}, ε {e}", *(f"{error:.2g}" for error in errors)] for one, n, e, *errors in medians()],
    )


def _grouped(
    found: Sequence[tuple[str, int, str, str, float]],
) -> dict[tuple[str, int, str], dict[str, float]]:
    made: dict[tuple[str, int, str], dict[str, float]] = {}
    for adjacency, rows, epsilon, name, value in found:
        made.setdefault((adjacency, rows, epsilon), {})[name] = value
    return made


def _goal(name: str, size: float, value: float) -> str:
    goal = 1.0 if name.endswith("ci=False") else 1.1
    judged = "" if size < 1_000 else " met" if value <= goal + 1e-9 else " missed"
    return f"{value:.3f}{judged}"


def _together(case: Case) -> list[str]:
    whole, narrow = case.together(), case.together(without=("least squares",))
    each = [(peer, case.together(peer)) for peer in case.peers]
    return [
        case.adjacency,
        case.title,
        "–" if whole is None else f"{whole.text}: {whole.verdict(1.0)}",
        "–" if narrow is None else narrow.text,
        ", ".join(f"{peer} {one.value:.2f}" for peer, one in each if one is not None),
    ]


def _cases(found: Sequence[Case]) -> Iterator[str]:
    yield "## Errors at equal privacy"
    yield ""
    if found:
        yield picture(
            "errors",
            "Errors divided by dpnb's, on a logarithmic axis, with a panel for each case and a mark for each library and question; a mark right of 1 is less accurate than dpnb. The tables below have the figures.",
        )
        yield ""
    for adjacency, about in _ABOUT.items():
        chosen = [case for case in found if case.adjacency == adjacency]
        if not chosen:
            continue
        yield f"### {adjacency}"
        yield ""
        yield about
        yield ""
        for case in chosen:
            yield f"**{case.title}**"
            yield ""
            head = ["", "dpnb", "covered", *case.peers, "ratio to the best"]
            yield from table(head, [_line(case, name) for name in _names(case)])


def _names(case: Case) -> Iterator[str]:
    for name in STATISTICS:
        yield from (one for one in (name, *(name + v for v in VARIANTS)) if ("dpnb", one) in case.by)
    yield from (f"together: {name}" for name in TOGETHER)


def _line(case: Case, name: str) -> list[str]:
    mine, plain = case.by.get(("dpnb", name)), name.partition(",")[0]
    cells = [_error(case.by.get((peer, plain))) for peer in case.peers]
    beside = case.beside(name)
    return [
        name.replace("together: ", "*together:* "),
        _error(mine, covered=False),
        _covered(mine),
        *cells,
        "–" if beside is None else beside.text,
    ]


def _error(line: Line | None, *, covered: bool = True) -> str:
    if line is None:
        return "–"
    shown = f"{line['rmse']:.3g}" if math.isfinite(line["rmse"]) else "no number"
    if line["unsound"]:
        shown = f"({shown})"
    return f"{shown} · {_covered(line)}" if covered and line["covered"] is not None else shown


def _covered(line: Line | None) -> str:
    if line is None or line["covered"] is None:
        return "–"
    part = "" if line["intervals"] > 0.995 else f" of {100 * line['intervals']:.0f} % bounded"
    return f"{100 * line['covered']:.1f} %{part}"


# ---------------------------------------------------------------- synthetic rows


def _synthetic(lines: Sequence[Line]) -> Iterator[str]:
    if not lines:
        return
    yield from (
        "## Synthetic rows",
        "",
        "Eight columns of a population whose every chance is known (12,096 cells, effects of all pairs and of one triple), ρ 0.0244 for each, which",
        "is (ε 1, δ 10⁻⁶), add-remove. *One, two, three ways*: mean total variation between the margins of one synthetic table and those of the data.",
        "*Coefficients*: error of three coefficients of a logistic regression, over their standard errors in the data. *Naive*: of fifteen intervals",
        'that say 95 % and are computed on one table as if its rows were people, how many hold the population; *combined*: of dpnb\'s own. "round" is',
        'how OpenDP makes rows unless `method="sample"` is asked: it ties columns that its own model holds independent. Means of the few releases; seconds are of a busy',
        "machine, for comparison alone. *One table* is one draw of the twenty: those who combine them have the errors of *all twenty*. With 1,000",
        "people dpnb refuses these 28 tables (g 0.7), and says which to leave out.",
        "",
    )
    head = ["rows", "", "releases", "one way", "two ways", "three ways", "coefficients"]
    rows = []
    for key in dict.fromkeys((line["rows"], line["library"], line["method"]) for line in lines):
        mine = [line for line in lines if (line["rows"], line["library"], line["method"]) == key]
        mean = {
            name: sum(one[name] for one in mine) / len(mine) for name in _FIGURES if mine[0][name] is not None
        }
        shares = [f"{100 * mean[name]:.0f} %" if name in mean else "none" for name in ("naive", "combined")]
        errors = [f"{mean[name]:.4f}" for name in ("tv1", "tv2", "tv3")]
        told = [f"{mean['logit']:.1f}", *shares, f"{mean['seconds']:.0f}", f"{mean['mib']:,.0f}"]
        rows.append([f"{key[0]:,}", f"{key[1]}, {key[2]}", str(len(mine)), *errors, *told])
    yield from table([*head, "naive", "combined", "s", "MiB"], rows)
    missing = sorted({one.name for one in SYNTHESIZERS} - {line["library"] for line in lines})
    if missing:
        yield from (f"Not measured here: {', '.join(missing)}.", "")


_FIGURES = ("tv1", "tv2", "tv3", "logit", "naive", "combined", "seconds", "mib")


# ---------------------------------------------------------------- caveats


def _caveats(lines: Sequence[Line]) -> Iterator[str]:
    yield from (
        "## What to keep in mind",
        "",
        "- Every library is told what dpnb is told: bounds, categories, and n if it is public. None is told more.",
        "- A library that cannot answer all seven questions is compared, and timed, on those that it answers, still at ε/7 each: "
        + ", ".join(_fewer(lines))
        + ".",
        "- Exact engines answer the seven questions one after another.",
        "- Confidence intervals (for a population) are not compared here, since no other library has any.",
        _covering(lines),
        "- By the laws of the noise, 95 % of dpnb's intervals for the slope of this table contain it, at n 10,000 and ε 0.1 and 1, under either",
        "  kind of neighbours, and also for another table. A test compares this with 1,000 releases of each.",
    )
    notes: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        name = line["statistic"].removeprefix("together: ")
        if line["note"] and name not in notes.get((line["library"], line["note"]), []):
            notes.setdefault((line["library"], line["note"]), []).append(name)
    for (library, note), names in notes.items():
        yield f"- {library}, {', '.join(names)}: {note}."
    yield from (
        "- A figure in parentheses is from a release that is less private than claimed; it does not count as a goal.",
        "- PipelineDP runs on its local backend, Tumult Analytics on Spark with two local threads: both are made for clusters.",
        *(
            f"- Not measured here: {name}."
            for name in NAMES
            if name not in {line["library"] for line in lines}
        ),
    )


def _covering(lines: Sequence[Line]) -> str:
    """How well coverage is known, of the fewest releases."""
    least = min((line["releases"] for line in lines if line["covered"] is not None), default=0)
    points = 100 * math.sqrt(0.95 * 0.05 / least) if least else math.nan
    return f"- *Covered* is from {least} releases or more: one standard error is {points:.1f} points or less. Errors are from as many releases as a library's speed allows: see ±, and the CSV."


def _fewer(lines: Sequence[Line]) -> Iterator[str]:
    answered = {
        (line["library"], line["statistic"]) for line in lines if line["statistic"].startswith("together: ")
    }
    for library in NAMES:
        lacking = [name for name in TOGETHER if (library, f"together: {name}") not in answered]
        if 0 < len(lacking) < len(TOGETHER):
            yield f"{library} without {' and '.join(lacking)}"
