"""What all classifiers do: classes, probabilities with intervals from the law of the released noise, and scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from dpnb.client.columns import ColumnHandle
from dpnb.client.handles import Dataset
from dpnb.errors import OptionError
from dpnb.inference.elementwise import Floats
from dpnb.models.model import Model

DRAWS = 400
_CHUNK = 4_000_000


class Classifier(Model):
    """Base of the classifiers."""

    kind: ClassVar[str] = "classifier"
    _estimator_type = "classifier"

    def _chances(self, columns: Sequence[np.ndarray]) -> Floats:
        """Probabilities of rows, shape ``(rows, classes)``."""
        raise NotImplementedError

    def _drawn(self, columns: Sequence[np.ndarray], count: int) -> Floats | None:
        """Probabilities from tables that draws of the noise were taken from, shape ``(count, rows, classes)``; None without noise."""
        raise NotImplementedError

    def predict_proba(self, x: Any, *, interval: float | None = None) -> Any:
        """Return the probability of each class for rows of your own.

        Parameters
        ----------
        x : array of shape (rows, columns), or frame
        interval : float, optional
            A level such as 0.95: return the lower and upper ends of privacy intervals too. They say what this model would have answered
            without the released noise; a tree keeps its splits.

        Returns
        -------
        ndarray of shape (rows, classes), or three of them: probability, low, high
        """
        columns = self._columns(x, "predict_proba")
        found = self._chances(columns)
        if interval is None:
            return found
        if not 0 < interval < 1:
            raise OptionError("interval= is a level between 0 and 1, such as 0.95.")
        step = max(_CHUNK // (DRAWS * found.shape[1]), 1)
        tail, ends = (1 - interval) / 2, []
        for at in range(0, len(found), step):
            drawn = self._drawn([one[at : at + step] for one in columns], DRAWS)
            if drawn is None:
                return found, found.copy(), found.copy()
            ends.append(np.quantile(drawn, (tail, 1 - tail), axis=0))
        low, high = np.concatenate(ends, axis=1)
        return found, np.minimum(low, found), np.maximum(high, found)

    def predict(self, x: Any) -> np.ndarray:
        """Return the likeliest class for rows of your own."""
        chances = self._chances(self._columns(x, "predict"))
        return np.asarray(np.asarray(self.classes_)[chances.argmax(axis=1)])

    def predict_log_proba(self, x: Any) -> Floats:
        """Return the logarithm of :meth:`predict_proba`."""
        return np.asarray(np.log(self.predict_proba(x)))

    def decision_function(self, x: Any) -> Floats:
        """Return the log odds of the second of two classes; of more classes the logarithm of each probability."""
        found = np.log(np.maximum(self._chances(self._columns(x, "decision_function")), 1e-300))
        return np.asarray(found[:, 1] - found[:, 0] if found.shape[1] == 2 else found)

    def score(self, x: Any, y: Any = None, measure: str = "accuracy") -> Any:
        """Return the accuracy on rows of your own; of a handle ask it, and pay.

        Parameters
        ----------
        x : array, frame or Dataset
            Of a handle the score is a pending estimate, of the rows that it selects; on the rows that were fitted it is an in-sample score.
        y : array, optional
            The classes of the rows.
        measure : {"accuracy", "auc", "log_loss", "calibration"}
            What to ask of a handle. ``"accuracy"`` is the share of rows predicted rightly; the others are read from one table of 16 bins
            of the probability by class, so that a second of them is free.

        Returns
        -------
        float or Estimate
        """
        if isinstance(x, Dataset):
            from dpnb.models.score import ask_score

            return ask_score(self, x, measure)
        return float(np.mean(self.predict(x) == np.asarray(y)))

    def _score_column(self, people: Dataset) -> tuple[ColumnHandle, bool]:
        """Return an expression that ranks rows of a handle, and whether it is log odds (otherwise a probability)."""
        raise NotImplementedError
