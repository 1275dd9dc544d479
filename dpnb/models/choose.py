"""Which classifier suits a dataset: decided from the number of rows and the ε, which are public."""

from __future__ import annotations

from typing import Any

from dpnb.client.handles import Dataset
from dpnb.errors import OptionError
from dpnb.models.bayes import CategoricalNB, GaussianNB
from dpnb.models.classifier import Classifier
from dpnb.models.linear import LogisticRegression
from dpnb.models.model import Means, planned_epsilon
from dpnb.models.tree import DecisionTree, Forest

ENOUGH = 80_000
"""Rows times ε from which one table of all columns beats naive Bayes; measured on census data of 8,000 and 20,000 rows."""
METHODS: dict[str, Any] = {
    "naive-bayes": CategoricalNB,
    "gaussian": GaussianNB,
    "tree": DecisionTree,
    "forest": Forest,
    "logistic": LogisticRegression,
    "discriminant": lambda: LogisticRegression("discriminant"),
}


def classify(people: Dataset, formula: str, method: str = "auto", *, epsilon: Any = None) -> Classifier:
    """Return a classifier of a formula, pending; see :meth:`dpnb.client.handles.Dataset.classify`."""
    if method in METHODS:
        found: Classifier = METHODS[method]().fit(people, formula, epsilon=epsilon)
        return found
    if method != "auto":
        raise OptionError(f'method= is "auto" or one of {", ".join(METHODS)}.')
    means = Means(people, planned_epsilon(epsilon))
    worth = means.rows * means.epsilon
    why = f"Chosen by n ε = {worth:,.0f}"
    if worth >= ENOUGH:
        try:
            found = DecisionTree().fit(people, formula, epsilon=epsilon)
        except OptionError:
            why += ": one table of all these columns would be mostly noise; naive Bayes needs a small one for each."
        else:
            found.why = f"{why}: from {ENOUGH:,} on a tree is usually better than naive Bayes."
            return found
    else:
        why += f": below {ENOUGH:,} naive Bayes is usually better than a tree."
    found = CategoricalNB().fit(people, formula, epsilon=epsilon)
    found.why = why
    return found
