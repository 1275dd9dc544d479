"""The table and the code of what the coverage lab shows: the numbers of :mod:`dpnb.simulate`, and the calls that make them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dpnb.estimate.table import Table
from dpnb.simulate import wilson
from dpnb.simulate.bootstrap import begun_study
from dpnb.widgets.coverage_charge import Costs, paid, place_of
from dpnb.widgets.coverage_design import Design
from dpnb.widgets.coverage_run import Run, StudyRun, SweepRun, with_methods
from dpnb.widgets.coverage_setup import BOOTSTRAP, Setup


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


def _rows(run: StudyRun, shown: list[str], setup: Setup, costs: Costs) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
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


def code_of(run: Run, shown: list[str], design: Design, setup: Setup) -> str:
    """Return the lines that reproduce what is shown: the studies that there are, not those that were asked for."""
    usual = [name for name in shown if name not in BOOTSTRAP]
    resampled = [name for name in shown if name in BOOTSTRAP]
    calls: dict[str, str] = {}
    for values, reps, ending in _done(run):
        now = replace(setup, reps=reps)
        if usual:
            calls[f"found{ending}"] = _releases(run, values, usual, design, now)
        if resampled:
            calls[f"resampled{ending}"] = _resamples(run, values, resampled, design, now)
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


def _releases(run: Run, values: list[float], names: list[str], design: Design, setup: Setup) -> str:
    several: dict[str, Any] = {}
    if isinstance(run, SweepRun) and run.over != "k":
        several = {"losses" if run.over == "loss" else "sizes": values}
    call = design.releases(setup, names, **several).code()
    return call.replace("'monte carlo'", "simulate.monte_carlo()")


def _resamples(run: Run, values: list[float], kinds: list[str], design: Design, setup: Setup) -> str:
    base = replace(setup, computed=tuple(kinds))
    if isinstance(run, StudyRun):
        designs = [design.resampling(base, (setup.k,))]
    elif run.over == "k" and not setup.repaired:
        designs = [design.resampling(base, tuple(int(k) for k in values))]
    else:
        changes: list[dict[str, Any]] = [{run.over: value} for value in values]
        several = [replace(base, **change) for change in changes]
        designs = [design.resampling(one, (one.k,)) for one in several]
    calls = [begun_study(one).code() for one in designs]
    return calls[0] if len(calls) == 1 else "[\n    " + ",\n    ".join(calls) + ",\n]"
