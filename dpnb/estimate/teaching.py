"""What an estimate of TEACHING data can tell beside its answer: the truth, other draws of the noise, the law of the outcome.

The dataset holds its public rows and computes these; a dataset of protected data has none, and no way to ask for one.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dpnb.errors import Unavailable
from dpnb.inference.elementwise import Number

if TYPE_CHECKING:
    from dpnb.estimate.pending_question import PendingQuestion


class Taught:
    """Truth, free draws and laws, for estimates of TEACHING data alone."""

    __slots__ = ()

    @property
    def truth(self) -> Number:
        """The answer without noise, with the same rows, bounds and grid. TEACHING data only; free.

        Raises
        ------
        Unavailable
            For protected data, and for answers that were loaded without their dataset.
        """
        return self._taught("`.truth`").truth(self)

    @property
    def overlay(self) -> Number:
        """The truth, if cards and plots show it (all questions are about datasets opened with ``truth=True``); otherwise None."""
        roots = [one.dataset.root for one in self.leaves() if one.dataset is not None]  # type: ignore[attr-defined]
        shown = [root.public_rows.shown for root in roots if hasattr(type(root), "public_rows")]
        if all(shown) and len(shown) == len(self.leaves()):  # type: ignore[attr-defined]
            with suppress(Unavailable):
                return self.truth
        return None

    def redraw(self, count: int = 1000, rng: object = None) -> Any:
        """Draw this answer again with fresh noise of the same law, shape ``(count, *shape)``. TEACHING data only; free.

        Parameters
        ----------
        count : int
            How many draws, up to 100,000.
        rng : int or numpy Generator, optional
            The seed.

        Examples
        --------
        >>> hiv.got.mean().redraw(1000).std()  # doctest: +SKIP
        """
        return self._taught("`.redraw()`").redraw(self, count, rng)

    @property
    def law(self) -> Any:
        """The law of one released number: every value that it could have had, with its probability. TEACHING data only.

        For a selection these are the candidates; their probabilities follow from the true scores.
        """
        return self._taught("`.law`").law(self)

    def _taught(self, by: str) -> Any:
        """The public rows, if all questions are of such."""
        self._need(by)  # type: ignore[attr-defined]
        leaves: tuple[PendingQuestion, ...] = self.leaves()  # type: ignore[attr-defined]
        for one in leaves:
            if one.dataset is None:
                raise Unavailable(
                    "This answer was loaded without its dataset. Open the dataset and ask again."
                )
            if not hasattr(type(one.dataset.root), "public_rows"):
                raise Unavailable(
                    f"{one.dataset.name} is protected: {by} is for TEACHING data. "
                    'Open a public study with mode="teaching".'
                )
        return leaves[0].dataset.root.public_rows
