"""From what the coverage lab is set to, to the designs that are simulated: the same calls that its code shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb import simulate
from dpnb.errors import PlanError
from dpnb.simulate import CoverageResult, Population
from dpnb.simulate.bootstrap import BootstrapDesign, begun_study
from dpnb.simulate.coverage import designed
from dpnb.simulate.tally import Tally
from dpnb.trusted.aggregate.reference import Table
from dpnb.widgets.coverage_charge import inflation
from dpnb.widgets.coverage_estimate import Subject
from dpnb.widgets.coverage_run import COUNTED, SharedStudies, StudyRun, SweepRun, losses_of
from dpnb.widgets.coverage_setup import BOOTSTRAP, LARGE, METHODS, OWN, QUESTION, Setup
from dpnb.widgets.registry import Facts
from dpnb.widgets.scenes import ASKED, DECLARED, SCENES, Asked, Shape, declared, made

LOSSES: dict[str, tuple[float, ...]] = {
    "epsilon": (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10),
    "rho": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 1, 3),
}
SIZES = (30, 100, 300, 1_000, 3_000)
KS = (10, 25, 50, 100, 200)
_BARS = 40


@dataclass(frozen=True, slots=True, eq=False)
class LabInputs:
    """What a lab was given beside its setup.

    Parameters
    ----------
    own : Population, optional
        A population of the person's own.
    subject : Subject, optional
        The estimate that it was started from.
    """

    own: Population | None
    subject: Subject | None

    def asked(self, setup: Setup) -> Asked:
        """Return the question."""
        if setup.statistic != QUESTION:
            return ASKED[setup.statistic]
        if self.subject is None:
            raise PlanError("This lab was not started from an estimate.")
        return self.subject.asked

    def kind(self, setup: Setup) -> str:
        """Return the kind of population that is asked."""
        return self.asked(setup).kinds[0]

    def source(self, setup: Setup) -> Population:
        """Return the population."""
        if setup.population == OWN:
            if self.own is None:
                raise PlanError("No population of your own was given to this lab.")
            return self.own
        if setup.population == DECLARED:
            return declared(self._declared(setup))
        asked, scene = self.asked(setup), SCENES[setup.population]
        if scene.kind not in asked.kinds:
            raise PlanError(f"A {asked.label} cannot be asked of {scene.label}.")
        return made(setup.population)

    def _declared(self, setup: Setup) -> Shape:
        kind: Any = self.kind(setup)
        shape = Shape(kind, setup.skew, setup.outliers, setup.share, setup.effect)
        if setup.statistic == QUESTION and self.subject is not None:
            return replace(shape, grids=self.subject.grids, missing=self.subject.missing)
        return shape

    def sliders(self, setup: Setup) -> list[str]:
        """Return the sliders of the declared population; none for another."""
        return list(self._declared(setup).sliders) if setup.population == DECLARED else []

    def shape(self, setup: Setup) -> Facts | None:
        """Return the shares of the population's first column in at most forty bins; of two arms each by itself."""
        source = self.source(setup)
        law = source.law()
        if law is None:
            return None
        table, weights = law
        column = source.columns[0]
        ints = table.columns[column.name]
        bins = min(_BARS, column.size)
        edges = np.linspace(-0.5, column.size - 0.5, bins + 1)
        parts = []
        for name, inside in _arms(source, table) if self.kind(setup) == "arms" else [("", ints.known)]:
            there = ints.known & inside
            shares = np.histogram(ints.values[there], edges, weights=weights[there])[0]
            parts.append({"name": name, "shares": (shares / shares.sum()).tolist()})
        low, high = (float(end) for end in column.bounds)
        return {"low": low, "high": high, "parts": parts}

    def studies(self, setup: Setup, **given: Any) -> StudyRun:
        """Return the run of one size at one loss, with so many resamples."""
        now = replace(setup, **given) if given else setup
        bootstrap = None
        if any(name in BOOTSTRAP for name in now.computed) and not now.resampled:
            bootstrap = begun_study(self.resampling(now, (now.k,)))
        usual = [name for name in now.computed if name not in BOOTSTRAP]
        return StudyRun(self.releases(now, usual), bootstrap)

    def releases(self, setup: Setup, names: list[str], **several: Any) -> CoverageResult:
        """Return the releases of which nothing is simulated yet, at one loss and size or at several."""
        scene = SCENES.get(setup.population)
        asked, source = self.asked(setup), self.source(setup)
        question = dict(scene.question) if scene is not None else _columns(source)
        losses = several.get("losses", (setup.loss,))
        intervals = [simulate.monte_carlo() if name == "monte carlo" else name for name in names]
        design = designed(
            asked.statistic,
            source,
            list(several.get("sizes", (setup.n,))),
            {setup.kind: [repr(float(loss)) for loss in losses]},
            intervals,
            setup.reps,
            setup.seed,
            **{**asked.options, **question, "levels": float(setup.level)},
            **({"counted": True} if setup.n > LARGE and "sizes" not in several else {}),
        )
        for size in design.sizes:
            design.items(size)
        return CoverageResult(design, tuple(Tally() for _ in design.sizes))

    def shared(self, setup: Setup) -> SharedStudies:
        """Return the studies of a setup at many losses, which share their random numbers; draws within methods are left out."""
        names = [name for name in METHODS if name not in (*BOOTSTRAP, "monte carlo")]
        losses = losses_of(setup.kind, setup.loss)
        return SharedStudies(
            replace(
                self.releases(replace(setup, reps=min(setup.reps, COUNTED)), names, losses=losses).design,
                common=True,
            )
        )

    def resampling(self, setup: Setup, ks: tuple[int, ...]) -> BootstrapDesign:
        """Return the design of the resamples of the same studies."""
        kinds: Any = tuple(name for name in BOOTSTRAP if name in setup.computed)
        factor = inflation(setup, ks[0])
        return BootstrapDesign(
            self.source(setup),
            setup.n,
            float(setup.loss),
            ks,
            kinds,
            float(setup.level),
            factor,
            setup.reps,
            setup.seed,
        )

    def sweep(self, setup: Setup, view: str) -> SweepRun:
        """Return the run along losses, sizes or resamples.

        Raises
        ------
        PlanError
            For resamples of what is not resampled.
        """
        if view == "k":
            if setup.resampled:
                raise PlanError(setup.resampled)
            computed = (
                setup.computed if set(BOOTSTRAP) & set(setup.computed) else (*setup.computed, *BOOTSTRAP[:3])
            )
            base = replace(setup, computed=computed)
            values = sorted({*KS, setup.k})
            return SweepRun("k", values, lambda k: self.studies(base, k=int(k)))
        if view == "n":
            return SweepRun("n", SIZES, lambda n: self.studies(setup, n=int(n)))
        return SweepRun("loss", LOSSES[setup.kind], lambda loss: self.studies(setup, loss=float(loss)))


def _arms(source: Population, table: Table) -> list[tuple[str, NDArray[np.bool_]]]:
    """Return the name of each arm, and which rows of the population are in it."""
    which = source.columns[1]
    codes = table.columns[which.name]
    return [
        (f"{which.name} {which.value_of(code)}", codes.known & (codes.values == code))
        for code in range(which.size)
    ]


def _columns(source: Population) -> Facts:
    """Return how a question names the second column of a declared population."""
    if len(source.columns) < 2:
        return {}
    name = source.columns[1].name
    return {"by": name} if name == "arm" else {"other": name}
