"""Models of protected data with scikit-learn's words, read from tables and moments that are paid once.

``LogisticRegression().fit(people, "married ~ age + educ")`` is pending in a cell, as any question; ``fit(released, formula)`` is free;
``predict`` and ``score`` take rows of your own. Nothing here is trusted: a model is computed from released numbers and public facts. What must never
change: no model sees a row of a handle, bins follow from public facts alone, and a second model from the same answers charges nothing.
"""

from __future__ import annotations

from dpnb.models.bayes import CategoricalNB, GaussianNB
from dpnb.models.choose import classify
from dpnb.models.linear import LinearRegression, LogisticRegression, Ridge
from dpnb.models.tree import DecisionTree, Forest
from dpnb.models.unsupervised import PCA, KMeans, StandardScaler

__all__ = [
    "PCA",
    "CategoricalNB",
    "DecisionTree",
    "Forest",
    "GaussianNB",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "Ridge",
    "StandardScaler",
    "classify",
]
