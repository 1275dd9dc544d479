"""What leaves the curator: the frozen record of a release.

Noised integers and public constants alone; there is no field for anything else. The record is permanent: ledgers and saved answers
hold it as JSON.
"""

from dpnb.trusted.releases.record import Release, ReleasedPart

__all__ = ["Release", "ReleasedPart"]
