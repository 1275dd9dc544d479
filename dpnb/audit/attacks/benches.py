"""One attack against several publications of one secret: as it is, rounded, suppressed, resampled, and under ε.

The people are simulated, or arrays of your own for reconstruction, linkage and membership: a protected handle turns into no array.
Each attack gets answers alone; the secret marks its guesses. Rounding, suppression and resampling promise nothing, so that no bound stands beside
them.

References
----------
Dinur and Nissim (2003); Dwork, Smith, Steinke and Ullman (2017), "Exposed! A Survey of Attacks on Private Data".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from dpnb.audit.attacks.averaging import on_averaging
from dpnb.audit.attacks.differencing import on_differencing
from dpnb.audit.attacks.floating_point import on_floating_point
from dpnb.audit.attacks.linkage import on_linkage
from dpnb.audit.attacks.membership import on_membership
from dpnb.audit.attacks.publications import Bench, Publication
from dpnb.audit.attacks.reconstruction import on_reconstruction
from dpnb.audit.attacks.result import AttackRow
from dpnb.errors import OptionError


def bench(name: str, rng: int = 0, reps: int = 1, **arrays: ArrayLike) -> Bench:
    """Run one attack against every publication, once or several times.

    Parameters
    ----------
    name : {"differencing", "averaging", "reconstruction", "linkage", "membership", "floating point"}
    rng : int
        The seed for the people and the noise.
    reps : int
        How often, each time with new people; the shares are means, and their errors hold the spread between people.
    **arrays
        Your own people: ``secret=`` for reconstruction, ``quasi=`` and ``secret=`` for linkage, ``members=`` and ``outsiders=`` for
        membership. Then only the noise is new in each repetition.

    Examples
    --------
    >>> found = bench("reconstruction")
    >>> found["raw"].rows[0].recovered, found["rounded"].rows[0].recovered > 0.9
    (1.0, True)
    """
    if name not in BENCHES:
        raise OptionError(f"unknown attack {name!r}. Known: {', '.join(BENCHES)}.")
    attack = on_arrays(name, arrays)
    if reps < 1:
        raise OptionError("reps is a whole number of repetitions, at least 1.")
    return next(islice(repetitions(attack, rng), reps - 1, None))


def on_arrays(name: str, arrays: Mapping[str, ArrayLike]) -> Callable[[Sequence[int]], Bench]:
    """Return an attack on somebody's own arrays, or on made-up people where there are none.

    Raises
    ------
    OptionError
        Where this attack takes other arrays, or none.
    """
    wanted = ARRAYS.get(name, ())
    if not arrays:
        return BENCHES[name]
    if set(arrays) != set(wanted):
        said = " and ".join(f"{one}=" for one in wanted)
        raise OptionError(f"The attack {name} takes {said or 'no arrays: it makes up its people'}.")
    return partial(BENCHES[name], **arrays)


ARRAYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"reconstruction": ("secret",), "linkage": ("quasi", "secret"), "membership": ("members", "outsiders")}
)
"""Which attacks take arrays of one's own, and which."""

BENCHES: Mapping[str, Callable[..., Bench]] = MappingProxyType(
    {
        "differencing": on_differencing,
        "averaging": on_averaging,
        "reconstruction": on_reconstruction,
        "linkage": on_linkage,
        "membership": on_membership,
        "floating point": on_floating_point,
    }
)


Seed = Sequence[int]


def repetitions(attack: Callable[[Seed], Bench], rng: int) -> Iterator[Bench]:
    """Yield an attack after one repetition, after two, and so on without end.

    Parameters
    ----------
    attack : callable
        Makes a bench from a seed.
    rng : int
        The seed of all of them.
    """
    found: list[Bench] = []
    while True:
        found.append(attack([rng, len(found)]))
        yield pooled(found)


def pooled(found: Sequence[Bench]) -> Bench:
    """Return the mean of several repetitions of one attack, with its standard error.

    Parameters
    ----------
    found : sequence of Bench
        Of the same attack and losses, each from people of its own.
    """
    first = found[0]
    if len(found) == 1:
        return first
    return Bench(
        first.name,
        first.goal,
        first.guess,
        first.loss,
        first.epsilons,
        float(np.mean([one.baseline for one in found])),
        tuple(_publication([one[part.key] for one in found]) for part in first.publications),
        len(found),
    )


def _publication(found: Sequence[Publication]) -> Publication:
    first = found[0]
    rows = tuple(_row(several) for several in zip(*(one.rows for one in found), strict=True))
    bounds = [one.bound for one in found if one.bound is not None]
    return Publication(first.key, first.label, first.note, rows, _mean_of(bounds) if bounds else None)


def _mean_of(bounds: Sequence[Callable[[float], float]]) -> Callable[[float], float]:
    return lambda epsilon: float(np.mean([bound(epsilon) for bound in bounds]))


def _row(several: Sequence[AttackRow]) -> AttackRow:
    """The mean; its error is that of the spread between repetitions, or of the simulation where that is larger."""
    shares = np.array([row.recovered for row in several])
    between = shares.std(ddof=1) / math.sqrt(shares.size)
    within = math.sqrt(np.nansum([row.error**2 for row in several])) / shares.size
    bounds = [row.bound for row in several if row.bound is not None]
    return AttackRow(
        several[0].setting,
        float(shares.mean()),
        float(max(between, within)),
        float(np.mean([row.baseline for row in several])),
        float(np.mean(bounds)) if bounds else None,
    )
