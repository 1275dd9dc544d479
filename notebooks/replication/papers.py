"""What the papers print, and the tables that set it beside what a notebook computes.

``papers.toml`` holds what is printed, each number once. A notebook names a row and gives its own numbers; the verdict is a
comparison. ``python notebooks/replication/papers.py`` runs the notebooks and writes ``docs/reference/papers.md``.
"""

from __future__ import annotations

import html
import math
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from IPython.core.pylabtools import print_figure
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import StepPatch

HERE = Path(__file__).parent
UNTOLD = "not enough simulations to tell"
COLUMNS = ("in print", "what", "print", "ours", "± (one se)", "verdict")
_SURE, _FINE = 3.0, 0.05
_LEFT = ' style="text-align:left"'


@dataclass(frozen=True, slots=True)
class Printed:
    """A row of print: where it stands, what it is about, its cells as printed, and the range that each leaves.

    A cell is a number, whose range is its rounding unless `half` is given, or words, whose range stands in `ranges`. Without
    cells print has no such number: the row is derived.
    """

    where: str
    what: str
    cells: tuple[str, ...] = ()
    half: float | None = None
    ranges: tuple[tuple[float, float], ...] = ()
    form: str = ".4g"
    why: str = ""
    differs: bool = False

    def limits(self) -> tuple[tuple[float, float], ...]:
        """Return the range that each printed cell leaves to ours."""
        return self.ranges or tuple(_rounded(cell, self.half) for cell in self.cells)


def _rounded(cell: str, half: float | None) -> tuple[float, float]:
    if half is None:
        half = 0.5 * 10.0 ** -len(cell.partition(".")[2])
    return float(cell) - half, float(cell) + half


@dataclass(frozen=True, slots=True)
class Row:
    """A row of print with what comes out beside it, and the standard errors of that (0 for what is exact)."""

    key: str
    printed: Printed
    ours: tuple[float, ...]
    errors: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """``agrees``, ``differs``, ``not enough simulations to tell``, or ``derived`` where print has no number.

        A number agrees if it lies in the range of print, three of its standard errors allowed, and these are no wider than the
        range or than 5 % of the number.
        """
        if not self.printed.cells:
            return "derived"
        told = True
        for (low, high), ours, error in zip(self.printed.limits(), self.ours, self.errors, strict=True):
            band = _SURE * error
            slack = band + 1e-12 * max(1.0, *(abs(end) for end in (low, high) if math.isfinite(end)))
            if not low - slack <= ours <= high + slack:
                return "differs"
            inside = low <= ours - band and ours + band <= high
            told &= inside or band <= max((high - low) / 2, _FINE * abs(ours))
        return "agrees" if told else UNTOLD

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as text, a cell for each of the columns."""
        ours = " · ".join(format(value, self.printed.form) for value in self.ours)
        errors = "exact" if not any(self.errors) else " · ".join(map(_brief, self.errors))
        said = " · ".join(self.printed.cells) or "–"
        return self.printed.where, self.printed.what, said, ours, errors, self.verdict


def _brief(error: float) -> str:
    if error == 0:
        return "exact"
    return f"{error:.0f}" if error >= 9.5 else f"{error:.1g}"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of one section, shown as a table."""

    rows: tuple[Row, ...]

    def __str__(self) -> str:
        return "\n".join(
            " | ".join(row.cells) + (f"\n    {row.printed.why}" if row.printed.why else "")
            for row in self.rows
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th{_LEFT}>{name}</th>" for name in COLUMNS)
        body = ""
        for row in self.rows:
            body += "<tr>" + "".join(f"<td{_LEFT}>{html.escape(cell)}</td>" for cell in row.cells) + "</tr>"
            if row.printed.why:
                body += f'<tr><td></td><td colspan="5"{_LEFT}><i>{html.escape(row.printed.why)}</i></td></tr>'
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Paper:
    """One paper: what it prints, and the rows that a notebook has computed so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.printed: Mapping[str, Printed] = read(name)
        self.rows: list[Row] = []
        self._shown = 0

    def row(self, key: str, ours: Any, errors: Any = 0.0) -> None:
        """Set our numbers beside the row of that name; `errors` are standard errors of their simulation."""
        values = tuple(np.asarray(ours, dtype=float).ravel().tolist())
        spread = tuple(np.broadcast_to(np.asarray(errors, dtype=float).ravel(), len(values)).tolist())
        printed = self.printed[key]
        if printed.cells and len(printed.limits()) != len(values):
            raise ValueError(f"{key}: print has {len(printed.limits())} numbers, ours are {len(values)}.")
        if any(row.key == key for row in self.rows):
            raise ValueError(f"{key} has its row already.")
        self.rows.append(Row(key, printed, values, spread))

    def table(self) -> Table:
        """Return the rows since the last table."""
        rows = tuple(self.rows[self._shown :])
        self._shown = len(self.rows)
        return Table(rows)


def read(name: str) -> dict[str, Printed]:
    """Return what a paper prints, by row."""
    found = tomllib.loads((HERE / "papers.toml").read_text(encoding="utf-8"))[name]
    return {
        key: Printed(
            **{
                word: tuple(map(tuple, value))
                if word == "ranges"
                else tuple(value.split(" | "))
                if word == "cells"
                else value
                for word, value in row.items()
            }
        )
        for key, row in found.items()
    }


# ---------------------------------------------------------------- standard errors


def share_error(share: Any, draws: int) -> Any:
    """Return the standard error of a share of so many simulations; of 0 and 1, that of one simulation more."""
    share = np.clip(share, 1 / (draws + 2), 1 - 1 / (draws + 2))
    return np.sqrt(share * (1 - share) / draws)


def sd_error(values: Any) -> float:
    """Return the standard error of a sample's standard deviation, whatever its law."""
    values = np.asarray(values, dtype=float)
    centred = values - values.mean()
    variance = float(np.mean(centred**2))
    fourth = float(np.mean(centred**4))
    return math.sqrt(max(fourth - variance**2, 0.0) / (4 * variance * values.size))


def quantile_error(values: Any, share: float) -> float:
    """Return the standard error of a sample's quantile, from ten blocks."""
    blocks = [np.quantile(part, share) for part in np.array_split(np.asarray(values), 10)]
    return float(np.std(blocks, ddof=1) / math.sqrt(10))


# ---------------------------------------------------------------- figures

ACCENT, INK, SOFT, WARN, HAIR = "#0a6480", "#1c1d21", "#7b7e86", "#b05a00", "#dcdde2"
COLOURS = (ACCENT, INK, WARN, SOFT)
STYLES = ("-", "--", "-.", ":")


class Described(Figure):
    """A figure that is shown with a text alternative: what its axes and lines say, or its label where it has one."""

    @property
    def alternative(self) -> str:
        """What a reader who does not see the figure is told."""
        panels = [" ".join(_panel(axes, labelled=bool(self.get_label()))) for axes in self.axes]
        title = f"{self.get_suptitle()}." if self.get_suptitle() else ""
        several = f"{len(panels)} panels." if len(panels) > 1 else ""
        return " ".join(filter(None, [title, self.get_label(), several, *panels]))

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        # JupyterLab and nbconvert's page read no `alt` of a picture's metadata, so it is in an element of its own
        drawn, said = print_figure(self, base64=True), self.alternative
        shown = f'<img alt="{html.escape(said)}" src="data:image/png;base64,{drawn}" style="max-width:100%">'
        return {"text/html": shown, "image/png": drawn}, {"image/png": {"alt": said}}


def _panel(axes: Any, *, labelled: bool) -> Iterator[str]:
    """Yield what is told of a panel: its axes, then all that is drawn under a name, or all lines if none is and the figure has no label."""
    against = " against ".join(filter(None, [axes.get_ylabel(), axes.get_xlabel()]))
    if head := ": ".join(filter(None, [axes.get_title(loc="left"), against])):
        yield f"{head}."
    drawn, names = axes.get_legend_handles_labels()
    if not drawn and not labelled:
        drawn = [*axes.containers, *(line for line in axes.lines if len(line.get_xdata()) > 2)]
        names = [""] * len(drawn)
    for name, one in zip(names, drawn, strict=True):
        if said := ": ".join(filter(None, [name, _told(axes, one)])):
            yield f"{said}."


def _told(axes: Any, drawn: Any) -> str:
    """Return where a line begins and ends, where a density or another line is highest, or how high bars are."""
    if isinstance(drawn, BarContainer):
        return "bars of " + ", ".join(_short(bar.get_height()) for bar in drawn)
    if isinstance(drawn, StepPatch):
        heights, edges, _ = drawn.get_data()
        top = int(np.argmax(heights))
        return f"highest at about {_short((edges[top] + edges[top + 1]) / 2)}"
    if isinstance(drawn, ErrorbarContainer):
        return f"with intervals, {_told(axes, drawn[0])}"
    if not isinstance(drawn, Line2D):
        return ""
    x, y = np.asarray(drawn.get_xdata(), dtype=float), np.asarray(drawn.get_ydata(), dtype=float)
    if drawn.get_transform() != axes.transData:
        return f"a line at {_short(x[0] if x[0] == x[-1] else y[0])}"
    if drawn.get_gid() == "cdf":
        low, middle, high = (_short(x[int(share * (x.size - 1))]) for share in (0.05, 0.5, 0.95))
        return f"5 % below {low}, half below {middle}, 95 % below {high}"
    if drawn.get_linestyle() == "None":
        return f"{x.size} points between {_short(y.min())} and {_short(y.max())}"
    ends = f"from {_short(y[0])} at {_short(x[0])} to {_short(y[-1])} at {_short(x[-1])}"
    top = int(np.argmax(y))
    return ends if y[top] <= max(y[0], y[-1]) else f"{ends}, highest {_short(y[top])} at {_short(x[top])}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if 1_000 <= abs(value) < 1e6 else f"{value:.3g}"


def canvas(lines: int = 1, across: int = 1, height: float = 3.0) -> list[Any]:
    """Return the axes of a new figure."""
    _, axes = plt.subplots(
        lines,
        across,
        figsize=(9 if across > 1 else 5.6, height * lines),
        layout="constrained",
        squeeze=False,
        FigureClass=Described,
    )
    for one in axes.flat:
        one.spines[["top", "right"]].set_visible(False)
        one.grid(axis="y", color=HAIR, linewidth=0.7)
        one.set_axisbelow(True)
    return list(axes.flat)


def named(axes: Any, x: str, y: str = "", title: str = "", *, legend: str | None = "best") -> None:
    """Name the axes, the panel and, unless there is none, the legend."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, fontsize=10, loc="left")
    if legend:
        axes.legend(frameon=False, fontsize=8, loc=legend)


def lines(axes: Any, x: Any, series: Mapping[str, Any], marker: str = "o") -> None:
    """Draw a line for each series."""
    for i, (name, y) in enumerate(series.items()):
        axes.plot(x, y, STYLES[i % 4], color=COLOURS[i % 4], marker=marker, markersize=3.5, label=name)


def densities(axes: Any, samples: Mapping[str, Any], low: float, high: float, bins: int = 60) -> None:
    """Draw each sample as a density."""
    for i, (name, values) in enumerate(samples.items()):
        heights, edges = np.histogram(values, bins, (low, high))
        density = heights / max(np.size(values), 1) / (edges[1] - edges[0])
        axes.stairs(density, edges, color=COLOURS[i % 4], linestyle=STYLES[i % 4], linewidth=1.4, label=name)
    axes.set_xlim(low, high)
    axes.set_ylim(bottom=0)


def cdfs(axes: Any, samples: Mapping[str, Any], low: float, high: float) -> None:
    """Draw the distribution function of each sample."""
    for i, (name, values) in enumerate(samples.items()):
        ordered = np.sort(values)
        share = np.arange(1, ordered.size + 1) / ordered.size
        axes.plot(ordered, share, STYLES[i % 4], color=COLOURS[i % 4], linewidth=1.5, label=name, gid="cdf")
    axes.set_xlim(low, high)
    axes.set_ylim(0, 1)


# ---------------------------------------------------------------- the page

PAPERS = {
    "bootstrap-inference": "Brawner and Honaker (2018), *Bootstrap Inference and Differential Privacy: Standard Errors for Free*",
    "private-ish": "Mount and Zumel, *A simple differentially private-ish procedure*",
    "statistical-framework": "Notes on Wasserman and Zhou (2010), *A Statistical Framework for Differential Privacy*",
    "illustrated-primer": "*Differential Privacy: An Illustrated Primer*",
    "social-science": "D’Orazio, Honaker and King (2015), *Differential Privacy for Social Science Inference*",
}
PAGE = HERE.parents[1] / "docs" / "reference" / "papers.md"
_HEAD = """# Papers

Each table sets what a paper prints beside what comes out here. The notebooks compute every number called *ours*. A row *agrees*
if ours lies within the rounding of print, three standard errors allowed. A row *differs* with its reason below it. A row is
*derived* if the paper describes the computation and prints no number.

<!-- made by `python notebooks/replication/papers.py`; a test compares -->
"""


def page(papers: Sequence[Paper]) -> str:
    """Return the page of all rows."""
    text = _HEAD
    for paper in papers:
        verdicts = [row.verdict for row in paper.rows]
        words = {"agrees": "agree", "differs": "differ"}
        counts = ", ".join(f"{verdicts.count(one)} {words.get(one, one)}" for one in sorted(set(verdicts)))
        text += f"\n## {paper.name}\n\n{PAPERS[paper.name]}: [the notebook](../../notebooks/replication/{paper.name}.ipynb). Rows: {counts}.\n\n"
        text += f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"
        for row in paper.rows:
            where, what, *rest = (cell.replace("|", "\\|") for cell in row.cells)
            what += f"<br>*{row.printed.why}*" if row.printed.why else ""
            text += f"| {' | '.join([where, what, *rest])} |\n"
    return text


def main() -> int:
    """Run the notebooks as they stand and write the page."""
    import nbformat
    from IPython.core.interactiveshell import InteractiveShell

    plt.switch_backend("agg")
    sys.path.insert(0, str(HERE))
    sys.modules["papers"] = sys.modules[__name__]
    found = []
    for name in PAPERS:
        shell = InteractiveShell.instance()
        shell.reset(new_session=True)
        for cell in nbformat.read(HERE / f"{name}.ipynb", as_version=4).cells:
            if cell.cell_type == "code":
                shell.run_cell(cell.source, silent=True).raise_error()
        found.append(shell.user_ns["paper"])
        plt.close("all")
        print(
            name,
            *(f"\n  {row.printed.what}: {row.verdict}" for row in found[-1].rows if row.verdict != "agrees"),
        )
    PAGE.write_text(page(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
