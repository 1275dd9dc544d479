"""``incentive33``: a simulated trial of incentives at 33 sites, the smallest of 12 people and the largest of 6,000.

It repeats the question of ``hiv`` with sites, to show what noise does to small groups. All people and effects are
simulated; the sites only borrow the names of places.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from dpnb.datasets.study import Columns, Study, flag, public_study
from dpnb.trusted.schema import Column

_SITES = (
    "Accra Arusha Bahia Balaka Bengal Cebu Cusco Dakar Dodoma Goa Gulu Hue Ibadan Jaipur Kandy Kisumu Kumasi Lagos "
    "Lima Lusaka Mchinji Mombasa Nairobi Oaxaca Patna Pune Quito Rumphi Salta Tamale Vientiane Yaounde Zomba"
)
SITES = tuple(_SITES.split())
"""The names of the sites, in alphabetical order."""

_ORDER = np.random.default_rng(33).permutation(33)
SIZES = dict(zip(SITES, (int(size) for size in np.rint(np.geomspace(12, 6_000, 33))[_ORDER]), strict=True))
"""The public size of each site by the trial's design."""

_SCHEMA = public_study(
    "incentive33",
    "Incentives at 33 sites: a simulated trial",
    sum(SIZES.values()),
    (
        Column.category("site", SITES, label="site"),
        flag("any", "was offered any money for collecting the result (1 = yes)"),
        flag("got", "collected the result (1 = yes)"),
        Column.integer("age", 0, 100, label="age in years"),
        Column.number("distance", 0, 10, step="0.1", label="distance to the centre, in kilometres"),
    ),
    description="SIMULATED: no such trial took place. Site sizes are log-spaced from 12 to 6,000; effects differ by site.",
    source_note="Simulated by dpnb.datasets.incentive33; modelled on the findings of Thornton (2008)",
    licence="CC0",
    citation="Simulated data: dpnb, dpnb.datasets.incentive33.",
)


def incentive33(seed: int = 0) -> Columns:
    """Simulate the trial.

    Parameters
    ----------
    seed : int
        The same seed gives the same people; the sites and their sizes never change.

    Returns
    -------
    dict of str to ndarray
        ``site`` as text, ``any``, ``got``, ``age`` as int8 and ``distance`` as float64.

    Examples
    --------
    >>> people = incentive33()
    >>> len(set(people["site"])), bool((people["site"] == "Goa").any())
    (33, True)
    """
    rng = np.random.default_rng(seed)
    sizes = np.array(list(SIZES.values()))
    base = np.clip(rng.normal(0.34, 0.06, 33), 0.1, 0.6)
    effect = np.clip(rng.normal(0.40, 0.10, 33), 0.0, 0.6)
    site = rng.permutation(np.repeat(np.arange(33), sizes))
    offered = rng.random(len(site)) < 0.5
    distance = np.round(np.minimum(rng.gamma(2.0, 1.0, len(site)), 10.0), 1)
    chance = np.clip(base[site] + effect[site] * offered - 0.02 * (distance - 2.0), 0.02, 0.98)
    return {
        "site": np.array(SITES, dtype=object)[site],
        "any": offered.astype(np.int8),
        "got": (rng.random(len(site)) < chance).astype(np.int8),
        "age": np.clip(rng.normal(34, 13, len(site)), 15, 90).astype(np.int8),
        "distance": distance,
    }


INCENTIVE33 = Study(_SCHEMA, partial(incentive33, 0), simulated=True)
