"""How well a classifier does on a handle: questions that are bought, like any other.

Accuracy is the mean of a condition. The rest is read from one table, 16 equal bins of the predicted probability by class: the area under the ROC
curve counts ties within a bin as half, and log loss takes each bin's middle. Nothing here reads rows.
"""

from __future__ import annotations

import numpy as np

from dpnb.client.columns import ColumnHandle, column_of
from dpnb.client.handles import Dataset
from dpnb.errors import OptionError
from dpnb.estimate import Estimate
from dpnb.models.cells import read_formula
from dpnb.models.classifier import Classifier

BINS = 16
MEASURES = ("accuracy", "auc", "log_loss", "calibration")
_FAR = 60.0


def ask_score(model: Classifier, people: Dataset, measure: str) -> Estimate:
    """Return a score of a fitted model on a handle, pending; see :meth:`Classifier.score`.

    Raises
    ------
    OptionError
        For a measure that there is not, the log loss of a tree, and more than two classes.
    """
    if measure not in MEASURES:
        raise OptionError(f"measure= is one of {', '.join(MEASURES)}.")
    classes = model.classes_
    if len(classes) != 2:
        raise OptionError(
            f"A score on a handle needs two classes; this model has {len(classes)}. Predict a condition instead."
        )
    ranked, odds = model._score_column(people)  # noqa: SLF001 -- of its own room
    if measure == "log_loss" and not odds:
        raise OptionError(
            "The log loss is read from 16 bins of probability, too coarse for the few that a tree has. Ask accuracy, auc or calibration."
        )
    second = _second(model, people, classes[1])
    if measure == "accuracy":
        above = ranked >= (0 if odds else 0.5)
        return ((above & second) | (~above & ~second)).mean()
    edges = (
        np.round(np.log(np.arange(1, BINS) / (BINS - np.arange(1, BINS))), 4)
        if odds
        else np.arange(1, BINS) / BINS
    )
    table = people.crosstab(
        ranked.bin([-_FAR, *edges.tolist(), _FAR] if odds else [-1.0, *edges.tolist(), 2.0]), second
    )
    return table if measure == "calibration" else _read(table, measure)


def _second(model: Classifier, people: Dataset, label: object) -> ColumnHandle:
    formula = model._formula  # noqa: SLF001 -- of its own room
    response = column_of(people, read_formula(formula)[0]) if formula else None
    if response is None:
        raise OptionError("Fit the model with a formula to score it on a handle: it names the response.")
    return (
        response if response.is_condition else response == (label.item() if hasattr(label, "item") else label)
    )


def _read(table: Estimate, measure: str) -> Estimate:
    noughts, ones = table @ np.array([1.0, 0.0]), table @ np.array([0.0, 1.0])
    found: Estimate
    if measure == "log_loss":
        middle = (np.arange(BINS) + 0.5) / BINS
        found = -(ones @ np.log(middle) + noughts @ np.log(1 - middle)) / table.sum()
    else:
        below = np.tril(np.ones((BINS, BINS)), -1) + np.eye(BINS) / 2
        found = (ones @ (below @ noughts)) / (ones.sum() * noughts.sum())
    return found
