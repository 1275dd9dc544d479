"""The coverage lab: intervals stack study by study, and a person sees which of them hold what they claim to hold.

Everything is :mod:`dpnb.simulate`; the lab only cuts it into blocks. The page asks for one block at a time, so that it can
pause, go on, or stop asking, that a cell in between is never kept waiting for more than a block, and that a page that was
closed simulates nothing. Only declared, public or simulated rows are drawn, never a protected handle, and nothing is spent.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpnb.cards.card import Card
from dpnb.client.no_data import HoldsNoData
from dpnb.errors import DpnbError, OptionError, PlanError
from dpnb.estimate import Estimate
from dpnb.estimate.table import Table
from dpnb.simulate import BootstrapStudy, CoverageResult, Population, population
from dpnb.widgets import coverage_still
from dpnb.widgets._base import Interaction
from dpnb.widgets.coverage_charge import Costs, charges, partition, place_of, words
from dpnb.widgets.coverage_design import LabInputs
from dpnb.widgets.coverage_estimate import Subject, subject_of
from dpnb.widgets.coverage_figure import studies_figure, sweep_figure
from dpnb.widgets.coverage_run import Run, SharedStudies, StudyRun, SweepRun, with_methods
from dpnb.widgets.coverage_setup import (
    BOOTSTRAP,
    LARGE,
    METHODS,
    OWN,
    QUESTION,
    USUAL,
    VIEWS,
    WORDS,
    Setup,
    changed,
    shown_methods,
)
from dpnb.widgets.coverage_still import code_of, parts_of, table_of
from dpnb.widgets.registry import Facts, Names
from dpnb.widgets.scenes import ASKED, DECLARED, SCENES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEW = 100


class Coverage(Interaction):
    """Watch which intervals of simulated studies contain the truth.

    Parameters
    ----------
    statistic : str or Estimate
        ``"mean"``, ``"proportion"``, ``"count"``, ``"sum"``, ``"difference"``, ``"median"``, ``"lower quartile"``,
        ``"upper quartile"``, ``"variance"``, ``"std"``, ``"covariance"``, ``"correlation"``. Or an estimate, released or not:
        its question, size, bounds and loss are then simulated on a declared population, never on its rows.
    population : str, Population or array, optional
        A name (``"skewed"``, ``"outliers"``, ``"anes96.age"``, ``"declared"``, …), a population of :mod:`dpnb.simulate`, or
        made-up or public numbers with ``lower=``, ``upper=`` and ``step=``.
    n : int, optional
        Rows of a study; 500 by default, or those of the estimate.
    epsilon, rho : number, optional
        The loss of each study; by default ε 0.5, or the loss of the estimate.
    methods : sequence of str, optional
        Of ``"naive"``, ``"normal"``, ``"confidence"``, ``"monte carlo"``, ``"privacy"``; for a mean in ρ also ``"unbiased"``,
        ``"conservative"``, ``"most conservative"`` and ``"deconvolved"``, the intervals of the bootstrap.
    reps : int
        Studies, at most 1,000,000.
    rng : int
        The seed.
    level : float
        The level that the intervals claim.
    **more
        ``k=``, the number of bootstrap resamples; ``repaired=True``, with noise that keeps the promise; ``skew=``, ``outliers=``,
        ``share=``, ``effect=`` of the declared population; ``lower=``, ``upper=``, ``step=`` of an array.

    Examples
    --------
    >>> lab = dpnb.widgets.coverage_lab("mean", "outliers", n=200, epsilon=0.2)  # doctest: +SKIP
    >>> lab.run().table()  # doctest: +SKIP
    >>> dpnb.widgets.coverage_lab(effect)  # doctest: +SKIP
    """

    module: ClassVar[str] = "coverage"

    @classmethod
    def of_line(cls, names: Names, text: str) -> Self:
        """Show studies of an estimate, or of a statistic and a population; see :class:`Interaction`."""
        if not text:
            return cls()
        found = _estimate(names, text)
        if found is not None:
            return cls(found)
        longest = sorted(ASKED, key=len, reverse=True)
        words = text.split()
        statistic = next((one for one in longest if words[: len(one.split())] == one.split()), words[0])
        rest = words[len(statistic.split()) :]
        if len(rest) > 1:
            raise OptionError(
                f"%dp coverage takes an estimate, or a statistic and a population, not {text}: %dp coverage mean skewed"
            )
        return cls(statistic, *rest)

    def __init__(  # noqa: PLR0913 - a simulation has this many facts
        self,
        statistic: Any = "mean",
        population: Any = None,
        *,
        n: int | None = None,
        epsilon: float | None = None,
        rho: float | None = None,
        methods: Iterable[str] | None = None,
        reps: int = 1000,
        rng: int = 1,
        level: float = 0.95,
        **more: Any,
    ) -> None:
        if epsilon is not None and rho is not None:
            raise PlanError("A study pays in ε or in ρ: give epsilon= or rho=, not both.")
        grid: Facts = {name: more.pop(name) for name in ("lower", "upper", "step") if name in more}
        _known(more)
        subject = subject_of(statistic, n) if isinstance(statistic, Estimate) else None
        own = _population(population, grid)
        loss = _loss(epsilon, rho, subject)
        shown = list(USUAL) if methods is None else shown_methods(methods)
        setup = Setup(
            statistic=QUESTION if subject is not None else statistic,
            population=_key(own, subject, population, statistic),
            n=min(subject.n, subject.most) if subject is not None else 500 if n is None else n,
            kind=loss[0],
            loss=loss[1],
            reps=reps,
            seed=rng,
            level=level,
            computed=tuple(name for name in METHODS if name in {*USUAL, *shown}),
            **{**({} if subject is None else subject.start), **more},
        )
        self._inputs = LabInputs(own, subject)
        self._lock = threading.RLock()
        self._shown, self._view, self._pulled, self._reset = shown, "studies", 0, 0
        self._shared: tuple[Setup, SharedStudies] | None = None
        self._draws = -1
        self._begin(setup)
        super().__init__()

    def _begin(self, setup: Setup) -> None:
        """Start anew; a setup that cannot be simulated is refused, and the old one stays."""
        first = self._inputs.studies(setup)
        self._setup = setup
        self._runs: dict[str, Run] = {"studies": first}
        self._costs: Costs = {}

    def _simulate_shared(self) -> None:
        """Simulate a block of the studies at many losses that a drag goes through, once for all losses of one setup."""
        key = replace(self._setup, loss=1.0, computed=())
        if self._shared is None or self._shared[0] != key:
            self._shared = (key, self._inputs.shared(self._setup))
            self._draws += 1
            self._shared[1].step()
        elif self.chosen.get("reached") == self._shared[1].studies and not self._shared[1].done:
            self._shared[1].step()

    def complete(self) -> None:
        """Simulate the studies at many losses, which a page without a kernel draws; see :class:`Interaction`."""
        with self._lock:
            if self._view != "studies":
                return
            self._simulate_shared()
            assert self._shared is not None
            while not self._shared[1].done:
                self._shared[1].step()
            self._tell()

    def _tell(self) -> None:
        """Bring facts and arrays in step, in one message."""
        with self.hold_sync():
            self.arrays = {} if self._shared is None else self._shared[1].arrays(self._page())
            self.facts = self.describe()

    def _page(self) -> int:
        """Return which forty of the studies at many losses are drawn."""
        match self.chosen.get("page"):
            case [int(of), int(page)] if of == self._draws:
                return page
        return 0  # other studies begin at the first

    @property
    def setup(self) -> Setup:
        """What is simulated now."""
        return self._setup

    @property
    def result(self) -> CoverageResult:
        """The releases that were simulated, study by study, with the methods that are shown."""
        run = self._runs["studies"]
        assert isinstance(run, StudyRun)
        if self._view != "studies" or run.coverage is None:
            raise PlanError("A sweep, and a bootstrap alone, have a table() and a figure() of their own.")
        return with_methods(run.coverage, self._shown)

    @property
    def bootstrap(self) -> BootstrapStudy:
        """The resamples that were simulated of the same studies."""
        run = self._runs["studies"]
        assert isinstance(run, StudyRun)
        if run.bootstrap is None:
            raise PlanError('Nothing is resampled: coverage_lab("mean", rho=0.5, methods=["unbiased"]).')
        return run.bootstrap

    def _run(self, view: str) -> Run:
        if view not in self._runs:
            self._runs[view] = self._inputs.sweep(self._setup, view)
        return self._runs[view]

    def _step(self) -> bool:
        """Simulate one block, and with the last one price what was resampled."""
        run = self._run(self._view)
        more = run.step()
        for one, setup in parts_of(run, self._setup):
            if one.bootstrap is not None and one.studies >= one.reps and place_of(setup) not in self._costs:
                self._costs[place_of(setup)] = charges(setup, setup.k)
        return more

    def run(self, view: str | None = None) -> Coverage:
        """Simulate to the end, in this cell.

        Parameters
        ----------
        view : {"studies", "loss", "n", "k"}, optional
            What is looked at: single studies, or a sweep over losses, sizes or resamples. By default what is shown.
        """
        chosen = _view(self._view if view is None else view)
        self._run(chosen)
        self._view, self._shown = chosen, _fitting(chosen, self._shown)
        while self._locked_step():
            pass
        self.refresh()
        return self

    def _locked_step(self) -> bool:
        """Simulate one block; a page may ask for another from a thread of its own."""
        with self._lock:
            return self._step()

    def table(self) -> Table:
        """Return the numbers of what is shown: the columns of :meth:`dpnb.simulate.CoverageResult.table`, and charges."""
        return table_of(self._some(), self._visible(), self._setup, self._costs)

    def figure(self) -> Figure:
        """Return the publication figure of what is shown: a matplotlib figure."""
        run, title = self._some(), self._title()
        if isinstance(run, StudyRun):
            return studies_figure(run, self._visible(), title)
        symbol = {"loss": self._setup.symbol, "n": "rows of a study", "k": "resamples k"}[run.over]
        return sweep_figure(run, self._visible(), title, symbol, self._setup.level, self._at(run))

    def _some(self) -> Run:
        run = self._run(self._view)
        if not run.studies:
            raise PlanError("Nothing is simulated yet: press Start, or call lab.run().")
        return run

    def code(self) -> str:
        """Return the lines that reproduce what is simulated so far, to the bit; before that, what will be."""
        return code_of(self._run(self._view), self._visible(), self._inputs, self._setup)

    def _visible(self) -> list[str]:
        """The methods that are shown, and fit what is asked."""
        return [name for name in self._shown if name not in BOOTSTRAP or not self._setup.resampled]

    def _title(self) -> str:
        return f"{self._inputs.asked(self._setup).label} of {self._inputs.source(self._setup).name}"

    def _at(self, run: SweepRun) -> int:
        """Return where the cursor stands: where it was put, or at what the lab is set to."""
        at = self.chosen.get("at")
        if isinstance(at, int) and not isinstance(at, bool) and 0 <= at < len(run.values):
            return at
        now = {"loss": self._setup.loss, "n": self._setup.n, "k": self._setup.k}[run.over]
        return min(range(len(run.values)), key=lambda i: abs(run.values[i] - now))

    def describe(self) -> Facts:
        """State what is set, what can be, and what was found; see :class:`Interaction`."""
        setup, run = self._setup, self._run(self._view)
        visible = self._visible()
        resampled = any(name in BOOTSTRAP for name in visible)
        sweep = run.to_json() if isinstance(run, SweepRun) else None
        if isinstance(run, SweepRun) and sweep is not None:
            sweep["at"] = self._at(run)
            found = [self._note(one) for _, one in parts_of(run, setup)] if resampled else []
            sweep["notes"] = found + [""] * (len(run.values) - len(found))
        return {
            "question": self._title(),
            "from": self._from(),
            "statistics": self._statistics(),
            "populations": self._populations(setup),
            "sliders": self._inputs.sliders(setup),
            "kind": self._inputs.kind(setup),
            "shape": self._inputs.shape(setup),
            "methods": [self._method(name, setup) for name in METHODS],
            "setup": {key: value for key, value in asdict(setup).items() if key != "computed"},
            "shown": visible,
            "view": self._view,
            "studies": run.studies,
            "reps": run.reps,
            "pulled": self._pulled,
            "run": run.to_json() if isinstance(run, StudyRun) else None,
            "sweep": sweep,
            "shared": self._shared and {"of": self._draws, **self._shared[1].to_json(self._page())},
            "partition": partition(setup) if resampled and sweep is None else None,
            "charge": self._note(setup) if resampled and sweep is None else "",
            "columns": coverage_still.columns(run, visible, setup),
            "findings": coverage_still.findings(run, visible, setup, self._costs),
            "beside": coverage_still.beside(run, visible, setup),
            "code": self.code(),
            "problem": "",
        }

    def _from(self) -> str:
        """Return where the facts of an estimate come from, and how a large size is simulated."""
        subject = self._inputs.subject
        if subject is None:
            return ""
        if subject.n > subject.most:
            return (
                f"{subject.words} Simulated with {subject.most:,} rows: the most that the lab draws of this."
            )
        large = (
            " Studies of this size are drawn as counts of each value: the same law."
            if self._setup.n > LARGE
            else ""
        )
        return subject.words + large

    def _method(self, name: str, setup: Setup) -> Facts:
        resampled = name in BOOTSTRAP
        unfit = setup.resampled if resampled else ""
        return {"name": name, "words": WORDS[name], "resampled": resampled, "unfit": unfit}

    def _note(self, setup: Setup) -> str:
        found = self._costs.get(place_of(setup))
        return "" if found is None else words(setup, setup.k, found)

    def _statistics(self) -> list[dict[str, str]]:
        found = [{"key": key, "label": one.label} for key, one in ASKED.items()]
        subject = self._inputs.subject
        return found if subject is None else [{"key": QUESTION, "label": subject.asked.label}, *found]

    def _populations(self, setup: Setup) -> list[dict[str, str]]:
        kinds = self._inputs.asked(setup).kinds
        found = [{"key": DECLARED, "label": "under the sliders below", "group": "declared"}]
        if setup.statistic == QUESTION:
            return found
        own = self._inputs.own
        if own is not None and _kind(own) in kinds:
            found.insert(0, {"key": OWN, "label": f"yours: {own.name}", "group": "yours"})
        fitting = [
            {"key": key, "label": one.label, "group": one.group}
            for key, one in SCENES.items()
            if one.kind in kinds
        ]
        return found + fitting

    def _heard(self, change: object) -> None:
        """Set what the browser set, and simulate one block where it asks for one; a refusal is shown, not raised."""
        del change
        with self._lock:
            self._follow()

    def _follow(self) -> None:
        pull = self.chosen.get("pull", 0)
        pull = pull if isinstance(pull, int) else 0
        try:
            self._set(self.chosen)
            if self.chosen.get("shared") is True and self._view == "studies":
                self._simulate_shared()
            if pull > self._pulled:
                self._step()
            self._pulled = max(self._pulled, pull)
            self._tell()
        except DpnbError as error:
            self._pulled = max(self._pulled, pull)
            self.facts = {**self.facts, "pulled": self._pulled, "problem": str(error)}

    def _set(self, chosen: Facts) -> None:
        view = _view(chosen.get("view", self._view))
        shown = shown_methods(chosen["shown"]) if "shown" in chosen else self._shown
        setup = changed(self._setup, chosen.get("setup", {}), shown)
        if setup.population not in [one["key"] for one in self._populations(setup)]:
            setup = replace(setup, population=self._first(setup))
        if setup != self._setup or chosen.get("reset", 0) != self._reset:
            self._begin(setup)
            self._reset = chosen.get("reset", 0)
        self._run(view)
        self._shown, self._view = _fitting(view, shown), view

    def _first(self, setup: Setup) -> str:
        offered = [one["key"] for one in self._populations(setup)]
        return next((key for key in offered if key != DECLARED), DECLARED)

    def card(self) -> Card:
        """Draw the table of what was found; before anything was, of a hundred studies. See :class:`Interaction`."""
        return self._still(self.facts)

    def _still(self, facts: Facts) -> Card:
        run = self._run(self._view)
        if not run.studies:
            setup = replace(self._setup, reps=min(_FEW, self._setup.reps))
            run = self._inputs.studies(setup)
            while run.step():
                pass
        return coverage_still.card(run, self._visible(), self._setup, facts, self._costs)


def _fitting(view: str, shown: list[str]) -> list[str]:
    """Return the methods that are shown: along k some of the bootstrap are among them."""
    resampled = set(shown) & set(BOOTSTRAP)
    return shown if view != "k" or resampled else [n for n in METHODS if n in {*shown, *BOOTSTRAP[:3]}]


def _known(more: Facts) -> None:
    names = {"k", "repaired", "skew", "outliers", "share", "effect"}
    if set(more) - names:
        raise OptionError(f"unknown option {min(set(more) - names)!r}: there are {', '.join(sorted(names))}.")


def _loss(epsilon: float | None, rho: float | None, subject: Subject | None) -> tuple[str, float]:
    if rho is not None:
        return "rho", rho
    if epsilon is None and subject is not None and subject.loss is not None:
        return subject.loss
    return "epsilon", 0.5 if epsilon is None else epsilon


def _key(own: Population | None, subject: Subject | None, given: object, statistic: object) -> str:
    if subject is not None:
        if given not in (None, DECLARED):
            raise PlanError("An estimate is simulated on a declared population: leave out population=.")
        return DECLARED
    if own is not None:
        return OWN
    if given:
        return str(given)
    asked = ASKED.get(statistic) if isinstance(statistic, str) else None
    return next((key for key, one in SCENES.items() if asked and one.kind in asked.kinds), DECLARED)


def _kind(own: Population) -> str:
    return "number" if own.columns[0].values is None else "share"


def _population(given: Any, grid: Facts) -> Population | None:
    if isinstance(given, Estimate | HoldsNoData):
        raise PlanError("A lab simulates made-up, public or simulated numbers, never a protected column.")
    if given is None or isinstance(given, str):
        if grid:
            raise OptionError(f"unknown option {min(grid)!r}: lower=, upper= and step= belong to an array.")
        return None
    found = population(given, **grid)
    if len(found.columns) != 1 or found.size is not None:
        raise PlanError("A population of your own has one column here, and its studies are drawn from it.")
    return found


def _view(given: object) -> str:
    if given not in VIEWS:
        raise PlanError(f"A view is one of {', '.join(VIEWS)}.")
    return str(given)


def _estimate(names: Names, text: str) -> Estimate | None:
    """Return the estimate that a line stands for, or nothing: then it is a statistic and a population."""
    try:
        found = eval(text, dict(names))  # noqa: S307  the user's own line
    except DpnbError:
        raise
    except Exception:  # noqa: BLE001  it is no expression: two words of the lab
        return None
    return found if isinstance(found, Estimate) else None
