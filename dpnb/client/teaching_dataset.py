"""A TEACHING dataset as a kernel holds it: a dataset whose public rows the kernel reads too, so that the truth can be shown.

No handle on protected data has them: what would be read is not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from dpnb.client.arguments import checked_calls
from dpnb.client.handles import Dataset, Opened
from dpnb.teach.public_rows import PublicRows

if TYPE_CHECKING:
    from dpnb.client.session import Session


@checked_calls
class TeachingDataset(Dataset):
    """Public or synthetic data, perhaps with a selection of rows and groups."""

    __slots__ = ("_public_rows",)
    _public_rows: PublicRows

    @classmethod
    def with_rows(cls, session: Session, opened: Opened, rows: PublicRows) -> TeachingDataset:
        """Return a handle on a whole dataset; its parts find the rows through it."""
        made = cls(session, opened)
        made._public_rows = rows
        return made

    @property
    def public_rows(self) -> PublicRows:
        """The rows, as the kernel reads them: truth, other draws and laws are computed from them."""
        return cast("TeachingDataset", self.root)._public_rows
