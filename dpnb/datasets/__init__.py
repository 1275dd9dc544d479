"""Data to begin with: public studies, simulated people, and an owner's own files.

A study's schema is written by hand from codebooks. Its rows come from an installed package or a seeded generator, only
when :meth:`Study.load` is called. The list is closed: each study is one entry here and one test.
"""

from __future__ import annotations

from dpnb.datasets.census import CENSUS, census, census_schema
from dpnb.datasets.public_studies import ANES96, CPS, FAIR, HIV, NHEFS, NSW, RANDHIE, adult_ages
from dpnb.datasets.pums import PUMS, pums
from dpnb.datasets.study import Study
from dpnb.datasets.trial import INCENTIVE33, incentive33
from dpnb.errors import SchemaError
from dpnb.trusted.schema import nearest
from dpnb.trusted.schema.owner import OwnedDataset, load

__all__ = [
    "BUILT_IN",
    "OwnedDataset",
    "Study",
    "adult_ages",
    "census",
    "census_schema",
    "find",
    "incentive33",
    "load",
    "names",
    "pums",
]

BUILT_IN: tuple[Study, ...] = (HIV, NSW, CPS, NHEFS, RANDHIE, FAIR, ANES96, CENSUS, PUMS, INCENTIVE33)
"""Every study that can be opened by name."""


def names() -> tuple[str, ...]:
    """List the names of the built-in studies.

    Examples
    --------
    >>> "hiv" in names()
    True
    """
    return tuple(study.name for study in BUILT_IN)


def find(name: str) -> Study:
    """Return the built-in study of that name.

    Raises
    ------
    SchemaError
        When there is none; the message names the nearest.

    Examples
    --------
    >>> find("hiv").schema["got"].describe()
    '0/1'
    """
    for study in BUILT_IN:
        if study.name == name:
            return study
    close = nearest(name, names())
    hint = (
        f"Did you mean {close}?"
        if close
        else f"Studies: {', '.join(names())}. A file needs its suffix (.csv)."
    )
    raise SchemaError(f"no built-in study {name!r}. {hint}")
