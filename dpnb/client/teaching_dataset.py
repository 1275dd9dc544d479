"""A TEACHING dataset as a kernel holds it: a dataset whose public rows the kernel reads too, so that the truth can be shown.

No handle on protected data has them: what would be read is not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnb.client.arguments import checked_calls
from dpnb.client.handles import Dataset, Opened
from dpnb.errors import Unavailable
from dpnb.teach.public_rows import PublicRows

if TYPE_CHECKING:
    from dpnb.client.session import Session
    from dpnb.planner.expression import Expr


@checked_calls
class TeachingDataset(Dataset):
    """Public or synthetic data, perhaps with a selection of rows and groups.

    Parameters
    ----------
    session, opened, where, by, root
        As of :class:`~dpnb.client.handles.Dataset`.
    rows : PublicRows, optional
        Of a whole dataset.
    """

    __slots__ = ("_public_rows",)

    def __init__(
        self,
        session: Session,
        opened: Opened,
        where: Expr | None = None,
        by: tuple[Expr, ...] = (),
        root: Dataset | None = None,
        *,
        rows: PublicRows | None = None,
    ) -> None:
        super().__init__(session, opened, where, by, root)
        self._public_rows = rows

    @property
    def public_rows(self) -> PublicRows:
        """The rows, as the kernel reads them: truth, other draws and laws are computed from them."""
        if self._public_rows is None:
            raise Unavailable(f"This kernel has no public rows of {self.name}. Open it again.")
        return self._public_rows
