"""The bootstrap in the coverage lab: what its three published intervals cover at each number of resamples, and what it costs.

One step is one k, a call of :func:`dpnb.simulate.bootstrap_coverage` with a generator of its own, so that a run that was
paused reproduces. The mechanism is priced twice: as its authors charge it, and as it can be proved.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dpnb.privacy.bootstrap import claimed_mu, resampling_epsilon
from dpnb.privacy.curves import gaussian_epsilon
from dpnb.release.table import Table
from dpnb.simulate import CoverageRow, Population, bootstrap_coverage, wilson
from dpnb.simulate.bootstrap import BootstrapStudy

__all__ = ["KINDS", "KS", "BootstrapRun"]

KINDS = {
    "unbiased": "the noise is subtracted from the spread; can be zero",
    "conservative": "the noise is subtracted where it is likely",
    "most conservative": "the noise is not subtracted",
}
KS = (10, 25, 50, 100)
_DELTA = 1e-6
_MOST = 500


class BootstrapRun:
    """A bootstrap study, k after k.

    Parameters
    ----------
    source : Population
        Of one number, with a known law.
    n, reps, seed : int
        Rows of a study, studies (at most 500), and the seed.
    rho : float
        What the resamples of a study are calibrated to.
    level : float
        What the intervals claim.
    """

    def __init__(self, source: Population, n: int, rho: float, reps: int, seed: int, level: float) -> None:
        self.source, self.n, self.rho, self.seed, self.level = source, n, rho, seed, level
        self.simulations = min(reps, _MOST)
        self.rows: list[CoverageRow] = []
        self._notes: list[str] = []

    @property
    def studies(self) -> int:
        """How many studies there are so far, those of each k counted."""
        return self.simulations * len(self._notes)

    @property
    def reps(self) -> int:
        """How many there will be."""
        return self.simulations * len(KS)

    def step(self) -> bool:
        """Simulate the next k; false where all are there."""
        if len(self._notes) == len(KS):
            return False
        k = KS[len(self._notes)]
        study = bootstrap_coverage(
            self.source,
            np.random.default_rng((self.seed, k)),
            n=self.n,
            rho=self.rho,
            ks=[k],
            simulations=self.simulations,
            level=self.level,
        )
        self.rows += list(study)
        self._notes.append(self._price(k))
        return True

    def _price(self, k: int) -> str:
        claimed = float(gaussian_epsilon(Fraction(claimed_mu(self.rho)), Fraction(1, 10**6)))
        proved = resampling_epsilon(_DELTA, self.rho, k, self.n)
        return (
            f"Charged as ρ {self.rho:g}, which is ε {claimed:.2f} at δ 10⁻⁶; {k} resamples are proved for "
            f"ε {proved:.2f} only."
        )

    def to_json(self) -> dict[str, Any]:
        """Return what is drawn: the published intervals, as in a sweep."""
        return {
            "over": "k",
            "values": list(KS),
            "rows": [self._row(kind) for kind in KINDS],
            "notes": self._notes,
        }

    def _row(self, kind: str) -> dict[str, Any]:
        found = [row for row in self.rows if row.kind == kind]
        bands = [wilson((row.published or 0) * row.simulations, row.simulations) for row in found]
        return {
            "name": kind,
            "coverage": [row.published for row in found],
            "low": [float(low) for low, _ in bands],
            "high": [float(high) for _, high in bands],
            "width": [2 * (row.published_width or 0.0) for row in found],
        }

    def table(self) -> Table:
        """Return one row for each k and kind: coverage as published and with the error of a finite k, and half-widths."""
        names = ("k", "kind", "published", "corrected", "published_width", "corrected_width", "simulations")
        return Table({name: [getattr(row, name) for row in self.rows] for name in names})

    def figure(self) -> Any:
        """Return coverage and half-width against k."""
        return BootstrapStudy(tuple(self.rows), self.level, 1.0).plot()

    def code(self) -> str:
        """Return the line that reproduces the rows."""
        call = (
            f"simulate.bootstrap_coverage({self.source.code}, np.random.default_rng(({self.seed}, k)), n={self.n}, "
            f"rho={self.rho!r}, ks=[k], simulations={self.simulations}, level={self.level!r})"
        )
        return f"[row for k in {KS} for row in {call}]"
