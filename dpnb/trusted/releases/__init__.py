"""What leaves the curator: the frozen record of a release, and the axes of its vectors.

Noised integers and public constants alone; there is no field for anything else. The record is permanent: ledgers and saved answers
hold it as JSON.
"""

from dpnb.trusted.releases.axis import Axis
from dpnb.trusted.releases.record import Release, ReleasedPart

__all__ = ["Axis", "Release", "ReleasedPart"]
