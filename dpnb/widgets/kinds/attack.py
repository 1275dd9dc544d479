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
from dpnb.cards.markup import Markup, el
from dpnb.errors import DpnbError, PlanError
from dpnb.estimate.table import Table
from dpnb.exhibits.drawing import themed
from dpnb.inference.digits import percent
from dpnb.widgets._base import Interaction
from dpnb.widgets.registry import Facts, Names, arguments_of
from dpnb.widgets.still_picture import still

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FINE = 49
_OWN = "%dp attack linkage quasi=[region, age], secret=ill"
_MOST = {"rng": 2**53, "reps": 200}


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
        here = {name: found.pop(name) for name in ("epsilon", *_MOST) if name in found}
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
        if not _positive(epsilon):
            raise PlanError("epsilon is a number above 0. Write for example epsilon=1.")
        self._epsilon, self._pulled = float(epsilon), 0
        self._begin(_whole("rng", rng, 0), _whole("reps", reps, 1))
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
            self._begin(_whole("rng", rng, 0), _whole("reps", reps, 1))
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
            _fall(found),
            f"{times}, seed {self._rng}; ± is two standard errors.",
            "; ".join(filter(None, self.code().splitlines())),
        ]
        head = ("published", "recovered", "guessing", f"at most, ε {epsilon:g}")
        title = f"Attack bench: {found.name}"
        picture = bench_picture(found, epsilon)
        return still("attack", title, found.goal, head, rows, self.facts, notes=notes, picture=picture)

    def _at(self) -> float:
        """The ε that is set, inside what was computed."""
        epsilons, asked = self.result.epsilons, self.chosen.get("epsilon", self._epsilon)
        return min(max(float(asked) if _positive(asked) else self._epsilon, epsilons[0]), epsilons[-1])

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


def _positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def _whole(name: str, value: object, least: int) -> int:
    most = _MOST[name]
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise PlanError(f"{name} is a whole number from {least} to {most:,}.")
    return value


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


_WIDTH, _LEFT, _RIGHT, _TOP, _ROW = 640, 180, 64, 26, 30
_SOFT, _HAIR, _ACCENT, _INK = "#5b5e66", "#dcdde2", "#0a6480", "#5b5e66"


def bench_picture(found: Bench, epsilon: float) -> Markup:
    """Return the picture of a bench at an ε.

    Parameters
    ----------
    found : Bench
    epsilon : float
        Inside its losses.
    """
    floor = _TOP + _ROW * len(found.publications)
    guess = _across(found.baseline)
    said = "; ".join(
        f"{one.label}: {100 * found.share(one.key, epsilon):.0f} %" for one in found.publications
    )
    picture = el(
        "svg",
        el("title", f"share recovered by {found.name} at ε {epsilon:g}"),
        el("desc", f"{said}; guessing: {100 * found.baseline:.0f} %"),
        *(part for place, one in enumerate(found.publications) for part in _bar(found, one, epsilon, place)),
        el(
            "path", stroke=_SOFT, stroke_width="1.5", stroke_dasharray="5 4", d=f"M{guess} {_TOP - 6}V{floor}"
        ),
        _words("┆ guessing   ▮ the most that ε allows", x=str(_LEFT), y="14"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {floor + 8}",
        width=str(_WIDTH),
        height=str(floor + 8),
        role="img",
        aria_label=f"share recovered at ε {epsilon:g}: {said}; guessing: {100 * found.baseline:.0f} %",
    )
    return themed(picture)


def _across(share: float) -> str:
    return f"{_LEFT + (_WIDTH - _LEFT - _RIGHT) * share:.1f}"


def _bar(found: Bench, one: Publication, epsilon: float, place: int) -> list[Markup]:
    top, share = _TOP + _ROW * place, found.share(one.key, epsilon)
    end, high, low = _across(share), top + 22, top + 6
    parts = [
        _words(one.label, x=str(_LEFT - 8), y=str(top + 19), text_anchor="end"),
        el("path", fill=_HAIR, d=f"M{_LEFT} {low}H{_across(1)}V{high}H{_LEFT}Z"),
        el("path", fill=_ACCENT, d=f"M{_LEFT} {low}H{end}V{high}H{_LEFT}Z"),
        _words(f"{100 * share:.0f} %", x=str(_WIDTH - _RIGHT + 8), y=str(top + 19)),
    ]
    if one.bound is not None:
        edge = _across(one.bound(epsilon))
        parts.append(el("path", stroke=_INK, stroke_width="4", d=f"M{edge} {top + 2}V{top + 26}"))
    return parts


def _words(text: str, **places: str) -> Markup:
    return el("text", text, fill=_SOFT, font_size="13", font_family="sans-serif", **places)
