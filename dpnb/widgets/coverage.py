"""The coverage lab: intervals stack study by study, and a person sees which of them hold what they claim to hold.

Everything is :mod:`dpnb.simulate`; the lab only cuts it into blocks. The page asks for one block at a time, so that it can
pause, go on, or stop asking, that a cell in between is never kept waiting for more than a block, and that a page that was
closed simulates nothing. Only made-up, public or simulated rows are drawn, never a protected handle, and nothing is spent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar

from dpnb import simulate
from dpnb.cards.card import Card
from dpnb.cards.digits import number
from dpnb.client.empty import HoldsNoData
from dpnb.errors import DpnbError, OptionError, PlanError
from dpnb.release import Estimate
from dpnb.release.table import Table
from dpnb.simulate import CoverageResult, Population
from dpnb.simulate.coverage import designed
from dpnb.simulate.tally import Tally
from dpnb.widgets._base import Interaction
from dpnb.widgets.coverage_bootstrap import KINDS, BootstrapRun
from dpnb.widgets.coverage_run import StudyRun, SweepRun, with_methods
from dpnb.widgets.scenes import ASKED, SCENES, made
from dpnb.widgets.wording import still

__all__ = ["CoverageLab", "Setup"]

Run = StudyRun | SweepRun | BootstrapRun

METHODS = ("privacy", "confidence", "naive", "normal", "monte carlo")
_WORDS = {
    "privacy": "noise alone, about this dataset",
    "confidence": "noise and sampling, by the release's own exact test",
    "naive": "ignores the noise",
    "normal": "adds the noise's variance, with a normal quantile",
    "monte carlo": "draws noise and sampling again around each answer (Algorithm 2); slower",
}
_VIEWS = ("studies", "loss", "n", "k")
_LOSSES: dict[str, tuple[str, ...]] = {
    "epsilon": ("0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10"),
    "rho": ("0.001", "0.003", "0.01", "0.03", "0.1", "0.3", "1", "3"),
}
_SIZES = (30, 100, 300, 1_000, 3_000)
_SWEPT, _STILL = 400, 100
_MOST = {"n": 20_000, "reps": 1_000_000}
_OWN = "own"


@dataclass(frozen=True, slots=True)
class Setup:
    """What a lab simulates; what the browser sets is checked here.

    Parameters
    ----------
    statistic, population : str
        Keys of :data:`dpnb.widgets.scenes.ASKED` and :data:`~dpnb.widgets.scenes.SCENES`.
    n, reps, seed : int
        Rows of a study, studies, and the seed of everything drawn.
    kind, loss : str, float
        ``"epsilon"`` or ``"rho"``, and its amount.
    level : float
        What the intervals claim.
    monte_carlo : bool
        Whether the Monte Carlo interval is computed too.
    """

    statistic: str = "mean"
    population: str = "skewed"
    n: int = 500
    kind: str = "epsilon"
    loss: float = 0.5
    reps: int = 1000
    seed: int = 1
    level: float = 0.95
    monte_carlo: bool = False

    def __post_init__(self) -> None:
        if self.statistic not in ASKED:
            raise PlanError(f"statistic is one of {', '.join(ASKED)}, not {self.statistic!r}.")
        if self.population not in (*SCENES, _OWN):
            raise PlanError(f"population is one of {', '.join(SCENES)}, or an array with lower= and upper=.")
        if self.kind not in _LOSSES:
            raise PlanError('A loss is measured in "epsilon" or "rho".')
        _number("the loss", self.loss, 1e-4, 100)
        _number("level", self.level, 0.5, 0.999)
        _whole("n", self.n, 10, _MOST["n"])
        _whole("reps", self.reps, 1, _MOST["reps"])
        _whole("rng", self.seed, 0, 2**53)


class CoverageLab(Interaction):
    """Watch intervals of simulated studies hold or miss what they claim to hold.

    Parameters
    ----------
    statistic : str
        ``"mean"``, ``"proportion"``, ``"difference"``, ``"median"``, ``"variance"``, ``"std"``, ``"correlation"``, ``"count"``.
    population : str, Population or array, optional
        A name (``"skewed"``, ``"outliers"``, ``"income"``, …), a population of :mod:`dpnb.simulate`, or made-up or public
        numbers with ``lower=``, ``upper=`` and ``step=``.
    n : int
        Rows of a study.
    epsilon, rho : number, optional
        What each study pays; ε 0.5 by default.
    methods : sequence of str, optional
        Of ``"privacy"``, ``"confidence"``, ``"naive"``, ``"normal"``, ``"monte carlo"``.
    reps : int
        Studies, at most 1,000,000.
    rng : int
        The seed.
    level : float
        What the intervals claim.

    Examples
    --------
    >>> lab = dpnb.widgets.coverage_lab("mean", "outliers", n=200, epsilon=0.2)  # doctest: +SKIP
    >>> lab.run().table()  # doctest: +SKIP
    """

    module: ClassVar[str] = "coverage"

    def __init__(  # noqa: PLR0913 - a simulation has this many facts
        self,
        statistic: str = "mean",
        population: Any = None,
        *,
        n: int = 500,
        epsilon: float | None = None,
        rho: float | None = None,
        methods: Iterable[str] | None = None,
        reps: int = 1000,
        rng: int = 1,
        level: float = 0.95,
        **grid: Any,
    ) -> None:
        if epsilon is not None and rho is not None:
            raise PlanError("A study pays in ε or in ρ: give epsilon= or rho=, not both.")
        kind, loss = ("rho", rho) if rho is not None else ("epsilon", 0.5 if epsilon is None else epsilon)
        self._own = _population(population, grid)
        key = _OWN if self._own is not None else population or _first(statistic)
        self._shown = _methods(METHODS[:4] if methods is None else methods)
        self._setup = Setup(
            statistic, key, n, kind, loss, reps, rng, level, monte_carlo="monte carlo" in self._shown
        )
        self._view, self._pulled, self._reset = "studies", 0, 0
        self._begin(self._setup)
        super().__init__()

    def _begin(self, setup: Setup) -> None:
        """Start anew; a setup that cannot be simulated is refused, and the old one stays."""
        first = StudyRun(self._start(setup, "studies"))
        self._setup = setup
        self._runs: dict[str, Run] = {"studies": first}

    def _start(self, setup: Setup, view: str) -> CoverageResult:
        asked, source = ASKED[setup.statistic], self._source(setup)
        question = dict(SCENES[setup.population].question) if setup.population != _OWN else {}
        losses = _LOSSES[setup.kind] if view == "loss" else (repr(float(setup.loss)),)
        intervals: list[Any] = list(METHODS[:4])
        if setup.monte_carlo and view == "studies":
            intervals.append(simulate.monte_carlo())
        reps = setup.reps if view == "studies" else min(setup.reps, _SWEPT)
        more = {**asked.options, **question, "levels": float(setup.level)}
        n = _SIZES if view == "n" else setup.n
        design = designed(
            asked.statistic, source, n, {setup.kind: list(losses)}, intervals, reps, setup.seed, **more
        )
        for size in design.sizes:
            design.items(size)
        return CoverageResult(design, tuple(Tally() for _ in design.sizes))

    def _bootstrap(self, setup: Setup) -> BootstrapRun:
        source = self._source(setup)
        if setup.statistic != "mean" or setup.kind != "rho":
            raise PlanError(
                'The bootstrap is of a mean, and calibrated in ρ: coverage_lab("mean", "skewed", rho=0.5).'
            )
        return BootstrapRun(source, setup.n, float(setup.loss), setup.reps, setup.seed, float(setup.level))

    def _source(self, setup: Setup) -> Population:
        if setup.population == _OWN:
            if self._own is None:
                raise PlanError("No population of your own was given to this lab.")
            return self._own
        asked, scene = ASKED[setup.statistic], SCENES[setup.population]
        if scene.kind not in asked.kinds:
            raise PlanError(f"A {asked.label} cannot be asked of {scene.label}.")
        return made(setup.population)

    @property
    def setup(self) -> Setup:
        """What is simulated now."""
        return self._setup

    @property
    def result(self) -> CoverageResult:
        """What has been simulated of the view that is shown, with the methods that are shown; of the bootstrap its rows."""
        run = self._run(self._view)
        if isinstance(run, BootstrapRun):
            raise PlanError("The bootstrap has a table() and a figure() of its own.")
        return with_methods(run.found, self._shown)

    def _run(self, view: str) -> Run:
        if view not in self._runs:
            setup = self._setup
            self._runs[view] = self._bootstrap(setup) if view == "k" else SweepRun(self._start(setup, view))
        return self._runs[view]

    def run(self, view: str | None = None) -> CoverageLab:
        """Simulate to the end, in this cell.

        Parameters
        ----------
        view : {"studies", "loss", "n", "k"}, optional
            What is looked at: single studies, or a sweep over losses, sizes or resamples. By default what is shown.
        """
        chosen = _view(self._view if view is None else view)
        run = self._run(chosen)
        self._view = chosen
        while run.step():
            pass
        self.refresh()
        return self

    def table(self) -> Table:
        """Return the numbers of what is shown; see :meth:`dpnb.simulate.CoverageResult.table`."""
        return self._some().table()

    def figure(self) -> Any:
        """Return the publication figure of what is shown."""
        found = self._some()
        return found.figure() if isinstance(found, BootstrapRun) else found.plot()

    def _some(self) -> CoverageResult | BootstrapRun:
        run = self._run(self._view)
        found = run if isinstance(run, BootstrapRun) else self.result
        if not found.studies:
            raise PlanError("Nothing is simulated yet: press Start, or call lab.run().")
        return found

    def code(self) -> str:
        """Return the lines that reproduce what is shown, to the bit, once all studies are simulated."""
        run = self._run(self._view)
        if isinstance(run, BootstrapRun):
            return _code(run.code(), "import numpy as np\n")
        return _code(self.result.code())

    def describe(self) -> dict[str, Any]:
        """State what is set, what can be, and what was found; see :class:`Interaction`."""
        setup, run = self._setup, self._run(self._view)
        return {
            "question": f"{ASKED[setup.statistic].label} of {self._source(setup).name}",
            "statistics": [{"key": key, "label": one.label} for key, one in ASKED.items()],
            "populations": self._populations(setup),
            "methods": [{"name": name, "words": text} for name, text in _WORDS.items()],
            "about": {**_WORDS, **KINDS},
            "setup": asdict(setup),
            "shown": list(KINDS) if isinstance(run, BootstrapRun) else self._shown,
            "view": self._view,
            "studies": run.studies if isinstance(run, BootstrapRun) else run.found.studies,
            "reps": run.reps if isinstance(run, BootstrapRun) else run.found.design.reps,
            "pulled": self._pulled,
            "run": run.to_json() if isinstance(run, StudyRun) else None,
            "sweep": None if isinstance(run, StudyRun) else run.to_json(),
            "code": self.code(),
            "problem": "",
        }

    def _populations(self, setup: Setup) -> list[dict[str, str]]:
        kinds = ASKED[setup.statistic].kinds
        fitting = [{"key": key, "label": one.label} for key, one in SCENES.items() if one.kind in kinds]
        if self._own is not None and _kind(self._own) in kinds:
            fitting.insert(0, {"key": _OWN, "label": f"yours: {self._own.name}"})
        return fitting

    def _heard(self, change: Any) -> None:
        """Set what the browser set, and simulate one block where it asks for one; a refusal is shown, not raised."""
        del change
        pull = self.chosen.get("pull", 0)
        try:
            self._set(self.chosen)
            if isinstance(pull, int) and pull > self._pulled:
                self._run(self._view).step()
            self._pulled = max(self._pulled, pull if isinstance(pull, int) else 0)
            self.facts = self.describe()
        except DpnbError as error:
            self._pulled = max(self._pulled, pull if isinstance(pull, int) else 0)
            self.facts = {**self.facts, "pulled": self._pulled, "problem": str(error)}

    def _set(self, chosen: dict[str, Any]) -> None:
        view = _view(chosen.get("view", self._view))
        if "shown" in chosen:
            self._shown = _methods(chosen["shown"])
        setup = _changed(self._setup, chosen.get("setup", {}), self._shown)
        if setup.population not in [one["key"] for one in self._populations(setup)]:
            own = self._own is not None and _kind(self._own) in ASKED[setup.statistic].kinds
            setup = replace(setup, population=_OWN if own else _first(setup.statistic))
        reset = chosen.get("reset", 0)
        if setup != self._setup or reset != self._reset:
            self._begin(setup)
            self._reset = reset
        self._run(view)
        self._view = view

    def card(self) -> Card:
        """Draw the table of what was found; before anything was, of a hundred studies. See :class:`Interaction`."""
        first = self._runs["studies"]
        assert isinstance(first, StudyRun)
        found = with_methods(first.found, self._shown) if self._view == "k" else self.result
        if not found.studies:
            short = replace(first.found.design, reps=min(_STILL, self._setup.reps))
            *_, found = CoverageResult(short, (Tally(),)).resume()
            found = with_methods(found, self._shown)
        table = found.table()
        loss = self._setup.kind
        rows = [
            (
                f"{name}, {'ε' if loss == 'epsilon' else 'ρ'} {paid:g}, n {n:,}",
                _percent(share),
                "–" if math.isnan(share) else f"{_percent(low)} to {_percent(high)}",
                "–" if math.isnan(width) else number(width),
            )
            for name, paid, n, share, low, high, width in zip(
                *(table[key] for key in ("interval", loss, "n", "coverage", "low", "high", "width")),
                strict=True,
            )
        ]
        head = ("interval", "coverage", "its 95 % band", "mean width")
        about = f"{self.facts['question']}: {found.studies:,} simulated studies, nominal {_percent(self._setup.level)}"
        return still("coverage", "Would this interval be right?", about, head, rows, self.facts)


def _percent(share: float) -> str:
    return "none" if math.isnan(share) else f"{100 * share:.1f} %"


def _code(line: str, first: str = "") -> str:
    call = line.replace("'monte carlo'", "simulate.monte_carlo()")
    head = [
        *first.splitlines(),
        "from dpnb import simulate",
        *(["from dpnb.datasets import find"] if "find(" in call else []),
    ]
    return "\n".join([*head, "", call])


def _first(statistic: str) -> str:
    asked = ASKED.get(statistic)
    return next((key for key, one in SCENES.items() if asked and one.kind in asked.kinds), "skewed")


def _kind(own: Population) -> str:
    return "number" if own.columns[0].values is None else "share"


def _population(given: Any, grid: dict[str, Any]) -> Population | None:
    if isinstance(given, Estimate | HoldsNoData):
        raise PlanError("A lab simulates made-up, public or simulated numbers, never a protected column.")
    if given is None or isinstance(given, str):
        if grid:
            raise OptionError(f"unknown option {min(grid)!r}: lower=, upper= and step= belong to an array.")
        return None
    found = simulate.population(given, **grid)
    if len(found.columns) != 1 or found.size is not None:
        raise PlanError("A population of your own has one column here, and its studies are drawn from it.")
    return found


def _methods(given: Any) -> list[str]:
    asked = [given] if isinstance(given, str) else given
    chosen = list(asked) if isinstance(asked, Iterable) else []
    if not chosen or any(name not in METHODS for name in chosen):
        raise PlanError(f"methods= names at least one of {', '.join(METHODS)}.")
    return [name for name in METHODS if name in chosen]


def _view(given: Any) -> str:
    if given not in _VIEWS:
        raise PlanError(f"A view is one of {', '.join(_VIEWS)}.")
    return str(given)


def _changed(setup: Setup, given: Any, shown: list[str]) -> Setup:
    known = {one.name for one in fields(Setup)} - {"monte_carlo"}
    if not isinstance(given, dict) or set(given) - known:
        raise PlanError(f"A setup has {', '.join(sorted(known))}.")
    # a Monte Carlo interval that was computed stays, so that hiding it loses nothing
    return replace(setup, **given, monte_carlo=setup.monte_carlo or "monte carlo" in shown)


def _number(name: str, value: Any, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise PlanError(f"{name} is a number from {low:g} to {high:g}.")


def _whole(name: str, value: Any, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise PlanError(f"{name} is a whole number from {low:,} to {high:,}.")
