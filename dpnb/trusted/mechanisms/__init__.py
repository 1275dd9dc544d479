"""Mechanisms: how an exact answer becomes a private one. One file each, one closed tuple.

A mechanism declares its loss, its law, its exact sampler (for protected releases) and its simulator (for arrays), and carries
a card with assumptions and proof. The registry below is closed on purpose: nothing can add to it at run time.
"""

from __future__ import annotations

from typing import TypeAlias

from dpnb.trusted.mechanisms._base import AdditiveMechanism, Card, Counts, Mechanism, SelectionMechanism
from dpnb.trusted.mechanisms.exponential import QuantileSelection
from dpnb.trusted.mechanisms.gaussian import DiscreteGaussian
from dpnb.trusted.mechanisms.ks_exponential import KSExponential
from dpnb.trusted.mechanisms.laplace import DiscreteLaplace
from dpnb.trusted.mechanisms.located_sums import LocatedSums
from dpnb.trusted.mechanisms.permute_and_flip import PermuteAndFlip
from dpnb.trusted.mechanisms.thresholded_sums import ThresholdedSums
from dpnb.trusted.mechanisms.thresholding import Thresholding

AnyMechanism: TypeAlias = (
    DiscreteLaplace
    | DiscreteGaussian
    | QuantileSelection
    | PermuteAndFlip
    | KSExponential
    | LocatedSums
    | Thresholding
    | ThresholdedSums
)

MECHANISMS: tuple[type[AnyMechanism], ...] = (
    DiscreteLaplace,
    DiscreteGaussian,
    QuantileSelection,
    PermuteAndFlip,
    KSExponential,
    LocatedSums,
    Thresholding,
    ThresholdedSums,
)

__all__ = [
    "MECHANISMS",
    "AdditiveMechanism",
    "AnyMechanism",
    "Card",
    "Counts",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "KSExponential",
    "LocatedSums",
    "Mechanism",
    "PermuteAndFlip",
    "QuantileSelection",
    "SelectionMechanism",
    "ThresholdedSums",
    "Thresholding",
]
