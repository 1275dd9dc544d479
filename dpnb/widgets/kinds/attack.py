"""The attack bench: what an attack recovers from each way to publish, beside guessing and beside what ε lets through.

The people are simulated by the attacks themselves, or are arrays of the teacher's or student's own; a protected handle is refused. Every share was
computed before a hand moves; between two computed losses the front end draws a straight line, and says so. The page asks for
one repetition at a time, each on new people, so that it can pause and that a cell in between is not kept waiting.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from dpnb.audit.attacks.benches import BENCHES, on_arrays, repetitions
from dpnb.audit.attacks.publications import Bench, Publication
from dpnb.cards.card import Card
from dpnb.cards.markup import Markup
from dpnb.errors import DpnbError, PlanError
from dpnb.estimate.table import Table
from dpnb.inference.digits import percent
from dpnb.widgets._base import Interaction
from dpnb.widgets.registry import Facts, Names, a_loss, a_whole, arguments_of, is_number
from dpnb.widgets.still_picture import bars, still

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FINE = 49
_OWN = "%dp attack linkage quasi=[region, age], secret=ill"


class Attack(Interaction):
    """One attack against several ways to publish.

    Parameters
    ----------
    attack : str
        The attack to show first: differencing, averaging, reconstruction, linkage, membership or floating point.
    epsilon : number
        The initial ε.
    rng : int
        The seed for the people and the noise.
    reps : int
        How often an attack can be repeated, each time on new people: the first repetition is shown at once, the others on
        request.
    arrays : mapping, optional
        Your own people for the first attack: ``{"secret": bits}`` for reconstruction, ``quasi`` (a list of columns) and ``secret`` for
        linkage, ``members`` and ``outsiders`` for membership. Repetitions then only draw new noise.

    Examples
    --------
    >>> mine = dpnb.widgets.attack_bench("reconstruction", arrays={"secret": [0, 1] * 20})  # doctest: +SKIP
    >>> bench = dpnb.widgets.attack_bench("reconstruction", rng=3)  # doctest: +SKIP
    >>> bench.run().table()  # doctest: +SKIP
    """

    module: ClassVar[str] = "attack"

    @classmethod
    def of_line(cls, names: Names, text: str) -> Self:
        """Show an attack by its name, or the first, on made-up people or on arrays; see :class:`Interaction`."""
        if not text:
            return cls()
        attack, given = _split(text)
        found = arguments_of(names, given, _OWN) if given else {}
        here = {name: found.pop(name) for name in ("epsilon", "rng", "reps") if name in found}
        return cls(attack, arrays=found, **here)

    def __init__(
        self,
        attack: str = "reconstruction",
        *,
        epsilon: float = 1.0,
        rng: int = 0,
        reps: int = 10,
        arrays: Names | None = None,
    ) -> None:
        self._attack = _attack(attack)
        self._own = {self._attack: dict(arrays)} if arrays else {}
        self._epsilon, self._pulled = a_loss(epsilon), 0
        self._begin(_seed(rng), _repeats(reps))
        super().__init__()

    def _begin(self, rng: int, reps: int) -> None:
        """Start anew with a seed; another number of repetitions alone takes nothing away."""
        if rng != getattr(self, "_rng", None):
            self._benches: dict[str, Bench] = {}
            self._more: dict[str, Iterator[Bench]] = {}
        self._rng, self._reps = rng, reps

    def run(self, attack: str | None = None) -> Attack:
        """Run attacks to their last repetition, in this cell.

        Parameters
        ----------
        attack : str, optional
            One attack, which is then shown; by default every one, for a page without a kernel.
        """
        if attack is not None:
            self._attack = _attack(attack)
            self.chosen = {**self.chosen, "attack": self._attack}
        for name in BENCHES if attack is None else [self._attack]:
            while self._lay(name).reps < self._reps:
                self._step(name)
        self.refresh()
        return self

    def complete(self) -> None:
        """Run every attack once at least, so that a page without a kernel can show any of them."""
        for name in BENCHES:
            self._lay(name)
        self.refresh()

    @property
    def result(self) -> Bench:
        """What was found by the attack that is shown."""
        return self._lay(self._attack)

    def table(self) -> Table:
        """Return the numbers of what is shown: share, standard error, guessing and bound; see :meth:`Bench.table`."""
        return self.result.table()

    def figure(self) -> Figure:
        """Return the publication figure of what is shown: every publication at this ε, and one along ε."""
        key = self.chosen.get("published", "dp")
        known = {one.key for one in self.result.publications}
        return self.result.figure(self._at(), key if key in known else "dp")

    def code(self) -> str:
        """Return the lines that reproduce what is shown, to the bit."""
        own = "".join(f", {name}={name}" for name in self._own.get(self._attack, ()))
        call = f"bench({self._attack!r}, rng={self._rng}, reps={self.result.reps}{own})"
        return f"from dpnb.audit.attacks import bench\n\n{call}.table()"

    def describe(self) -> Facts:
        """State the shares recovered by the attacks that were asked for; see :class:`Interaction`."""
        self._lay(self._attack)
        return {
            "attacks": list(BENCHES),
            "attack": self._attack,
            "epsilon": self._epsilon,
            "rng": self._rng,
            "reps": self._reps,
            "pulled": self._pulled,
            "run": {name: _record(found) for name, found in self._benches.items()},
            "code": self.code(),
            "problem": "",
        }

    def _heard(self, change: object) -> None:
        """Set what the browser set, and repeat once where it asks for it; a refusal is shown, not raised."""
        del change
        pull = self.chosen.get("pull", 0)
        again = isinstance(pull, int) and pull > self._pulled
        self._pulled = max(self._pulled, pull if isinstance(pull, int) else 0)
        try:
            self._attack = _attack(self.chosen.get("attack", self._attack))
            rng, reps = (
                self.chosen.get(name, now) for name, now in (("rng", self._rng), ("reps", self._reps))
            )
            self._begin(_seed(rng), _repeats(reps))
            if again and self.result.reps < self._reps:
                self._step(self._attack)
            self.facts = self.describe()
        except DpnbError as error:
            self.facts = {**self.facts, "pulled": self._pulled, "problem": str(error)}

    def card(self) -> Card:
        """Draw the table of all publications at one ε; see :class:`Interaction`."""
        found, epsilon = self.result, self._at()
        rows = []
        for one in found.publications:
            share, error = found.share(one.key, epsilon), found.error(one.key, epsilon)
            bound = "–" if one.bound is None else percent(one.bound(epsilon), 1)
            rows.append(
                (one.label, f"{percent(share, 1)} ± {200 * error:.1f}", percent(found.baseline, 1), bound)
            )
        times = "One repetition" if found.reps == 1 else f"{found.reps} repetitions"
        notes = [
            f"Guessing: {found.guess}. ε pays for {found.loss}.",
            "The strokes on a bar: guessing, and the most that ε allows.",
            _fall(found),
            f"{times}, seed {self._rng}; ± is two standard errors.",
            "; ".join(filter(None, self.code().splitlines())),
        ]
        head = ("published", "recovered", "guessing", f"at most, ε {epsilon:g}")
        title = f"Attack bench: {found.name}"
        picture = _picture(found, epsilon)
        return still("attack", title, found.goal, head, rows, self.facts, notes=notes, picture=picture)

    def _at(self) -> float:
        """The ε that is set, inside what was computed."""
        epsilons, asked = self.result.epsilons, self.chosen.get("epsilon", self._epsilon)
        good = is_number(asked) and asked > 0
        return min(max(float(asked) if good else self._epsilon, epsilons[0]), epsilons[-1])

    def _lay(self, name: str) -> Bench:
        if name not in self._benches:
            self._more[name] = repetitions(on_arrays(name, self._own.get(name, {})), self._rng)
            self._step(name)
        return self._benches[name]

    def _step(self, name: str) -> None:
        self._benches[name] = next(self._more[name])


def _split(text: str) -> tuple[str, str]:
    """Return an attack's name and what is given to it: the name ends where the first ``name=`` begins."""
    head, given, _ = text.partition("=")
    if not given:
        return text, ""
    attack, _, first = head.rstrip().rpartition(" ")
    return attack, text[text.index(first, len(attack)) :]


def _attack(given: object) -> str:
    if not isinstance(given, str):
        raise PlanError(
            "An attack bench begins with a name: the truth marks what an attack guessed, and a protected handle never gives it out. "
            'Write attack_bench("reconstruction"); your own arrays are arrays={"secret": bits}.'
        )
    name = " ".join(given.strip().casefold().replace("-", " ").replace("_", " ").split())
    if name not in BENCHES:
        raise PlanError(f"No attack is called {given!r}. Known: {', '.join(BENCHES)}.")
    return name


def _seed(rng: object) -> int:
    return a_whole("rng", rng, 0, 2**53)


def _repeats(reps: object) -> int:
    return a_whole("reps", reps, 1, 200)


def _record(found: Bench) -> Facts:
    fine = np.geomspace(found.epsilons[0], found.epsilons[-1], _FINE)
    return {
        "goal": found.goal,
        "guess": found.guess,
        "loss": found.loss,
        "epsilons": list(found.epsilons),
        "baseline": _round(found.baseline),
        "done": found.reps,
        "publications": [_publication(one, found, fine) for one in found.publications],
    }


def _publication(one: Publication, found: Bench, fine: Iterable[float]) -> Facts:
    several = len(one.rows) > 1
    return {
        "key": one.key,
        "label": one.label,
        "note": one.note,
        "recovered": [_round(row.recovered) for row in one.rows],
        "error": [_round(row.error) for row in one.rows],
        "bound": None if one.bound is None else [_round(one.bound(float(e))) for e in fine],
        "falls": found.falls(one.key) if several else None,
    }


def _round(share: float) -> float:
    return 0.0 if math.isnan(share) else round(share, 5)


def _fall(found: Bench) -> str:
    epsilon = found.falls("dp")
    if epsilon is None:
        return f"Even at ε {found.epsilons[0]:g} the attack is more than five points above guessing."
    return f"Up to ε {epsilon:g} the attack stays within five points of guessing."


def _picture(found: Bench, epsilon: float) -> Markup:
    """Draw what is recovered at an ε, with a stroke for guessing and one for the most that ε allows."""
    rows, marks = [], []
    for one in found.publications:
        share, most = found.share(one.key, epsilon), None if one.bound is None else one.bound(epsilon)
        bound = "" if most is None else f", at most {percent(most)}"
        rows.append((one.label, share, f"{percent(share)}{bound}"))
        marks.append([found.baseline] if most is None else [found.baseline, most])
    title = f"share recovered at ε {epsilon:g}; guessing recovers {percent(found.baseline)}"
    return bars(title, rows, marks)
