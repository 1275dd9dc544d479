"""Ages of the adults of California at the census of 2000: a published table of groups, no person's row.

It stands where a publication simulated on the census's own sample of persons, which is not handed out here. Within a group every
year of age is taken to be as frequent as the others; the last, open group is taken to be as wide as the two before it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: First and last year of age, and people: U.S. Census Bureau, Census 2000, Table DP-1, California (18 and 19 by difference).
GROUPS: tuple[tuple[int, int, int], ...] = (
    (18, 19, 984_742),
    (20, 24, 2_381_288),
    (25, 34, 5_229_062),
    (35, 44, 5_485_341),
    (45, 54, 4_331_635),
    (55, 59, 1_467_252),
    (60, 64, 1_146_841),
    (65, 74, 1_887_823),
    (75, 84, 1_282_178),
    (85, 94, 425_657),
)


def adult_ages() -> NDArray[np.int16]:
    """Return ages as frequent as the table says, one for about every thousand adults.

    Examples
    --------
    >>> ages = adult_ages()
    >>> ages.size, round(float(ages.mean()), 1), round(float(ages.std()), 1)
    (24624, 43.9, 17.6)
    """
    years = [
        (age, people / (1 + last - first)) for first, last, people in GROUPS for age in range(first, last + 1)
    ]
    return np.repeat(
        np.array([age for age, _ in years], dtype=np.int16), [round(many / 1000) for _, many in years]
    )
