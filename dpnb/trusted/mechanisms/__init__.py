"""Mechanisms: how an exact answer becomes a private one. One file each, one closed tuple.

A mechanism declares its shape and its exact sampler, and carries the proof; what it costs is derived
(:mod:`dpnb.trusted.measurements`). Its law, its simulator and its card stand outside (:mod:`dpnb.inference`). The registry
below is closed on purpose: nothing can add to it at run time.
"""

from __future__ import annotations

from typing import TypeAlias, get_args

from dpnb.trusted.mechanisms._base import AdditiveMechanism, Counts, Mechanism
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

MECHANISMS: tuple[type[AnyMechanism], ...] = get_args(AnyMechanism)

__all__ = [
    "MECHANISMS",
    "AdditiveMechanism",
    "AnyMechanism",
    "Counts",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "KSExponential",
    "LocatedSums",
    "Mechanism",
    "PermuteAndFlip",
    "QuantileSelection",
    "ThresholdedSums",
    "Thresholding",
]
