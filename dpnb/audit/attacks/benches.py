"""One attack against several publications of one secret: as it is, rounded, suppressed, resampled, and under ε.

The people are simulated here and nowhere else: no array comes in, so that none can be protected. Each attack gets answers
alone; the secret marks its guesses. Rounding, suppression and resampling promise nothing, so that no bound stands beside
them.

References
----------
Dinur and Nissim (2003); Dwork, Smith, Steinke and Ullman (2017), "Exposed! A Survey of Attacks on Private Data".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType

from dpnb.audit.attacks.benches_of_all import on_linkage, on_membership, on_reconstruction
from dpnb.audit.attacks.benches_of_one import on_averaging, on_differencing, on_floating_point
from dpnb.audit.attacks.publications import Bench
from dpnb.audit.attacks.repeating import repetitions
from dpnb.errors import OptionError


def bench(name: str, rng: int = 0, reps: int = 1) -> Bench:
    """Run one attack against every publication, once or several times.

    Parameters
    ----------
    name : {"differencing", "averaging", "reconstruction", "linkage", "membership", "floating point"}
    rng : int
        Seed of the people and of the noise.
    reps : int
        How often, each time with new people; the shares are means, and their errors hold the spread between people.

    Examples
    --------
    >>> found = bench("reconstruction")
    >>> found["raw"].rows[0].recovered, found["rounded"].rows[0].recovered > 0.9
    (1.0, True)
    """
    if name not in BENCHES:
        raise OptionError(f"no attack {name!r}. There are: {', '.join(BENCHES)}.")
    if reps < 1:
        raise OptionError("reps is a whole number of repetitions, at least 1.")
    return next(islice(repetitions(BENCHES[name], rng), reps - 1, None))


BENCHES: Mapping[str, Callable[[Sequence[int]], Bench]] = MappingProxyType(
    {
        "differencing": on_differencing,
        "averaging": on_averaging,
        "reconstruction": on_reconstruction,
        "linkage": on_linkage,
        "membership": on_membership,
        "floating point": on_floating_point,
    }
)
