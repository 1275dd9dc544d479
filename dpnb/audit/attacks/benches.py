"""One attack against several publications of one secret: as it is, rounded, suppressed, resampled, and under ε.

The people are simulated, or arrays of your own for reconstruction, linkage and membership: a protected handle turns into no array.
Each attack gets answers alone; the secret marks its guesses. Rounding, suppression and resampling promise nothing, so that no bound stands beside
them.

References
----------
Dinur and Nissim (2003); Dwork, Smith, Steinke and Ullman (2017), "Exposed! A Survey of Attacks on Private Data".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any

from dpnb.audit.attacks.benches_of_all import on_linkage, on_membership, on_reconstruction
from dpnb.audit.attacks.benches_of_one import on_averaging, on_differencing, on_floating_point
from dpnb.audit.attacks.publications import Bench
from dpnb.audit.attacks.repeating import repetitions
from dpnb.errors import OptionError


def bench(name: str, rng: int = 0, reps: int = 1, **arrays: Any) -> Bench:
    """Run one attack against every publication, once or several times.

    Parameters
    ----------
    name : {"differencing", "averaging", "reconstruction", "linkage", "membership", "floating point"}
    rng : int
        Seed of the people and of the noise.
    reps : int
        How often, each time with new people; the shares are means, and their errors hold the spread between people.
    **arrays
        Your own people: ``secret=`` for reconstruction, ``quasi=`` and ``secret=`` for linkage, ``members=`` and ``outsiders=`` for
        membership. Then each repetition has new noise alone.

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


def on_arrays(name: str, arrays: Mapping[str, Any]) -> Callable[[Sequence[int]], Bench]:
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
