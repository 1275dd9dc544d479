"""Mechanisms: how an exact answer becomes a private one. One file each, one closed tuple.

A mechanism declares its shape and its exact sampler, and carries the proof and what a reader should know of it; what it costs
is derived (:mod:`dpnb.trusted.measurements`). Its law and its simulator stand outside (:mod:`dpnb.inference`). The registry
below is closed on purpose: nothing can add to it at run time.
"""

from __future__ import annotations

from typing import TypeAlias, get_args

from dpnb.trusted.mechanisms._base import AdditiveMechanism as AdditiveMechanism
from dpnb.trusted.mechanisms._base import Counts as Counts
from dpnb.trusted.mechanisms._base import Mechanism as Mechanism
from dpnb.trusted.mechanisms.exponential import QuantileSelection as QuantileSelection
from dpnb.trusted.mechanisms.gaussian import DiscreteGaussian as DiscreteGaussian
from dpnb.trusted.mechanisms.ks_exponential import KSExponential as KSExponential
from dpnb.trusted.mechanisms.laplace import DiscreteLaplace as DiscreteLaplace
from dpnb.trusted.mechanisms.located_sums import LocatedSums as LocatedSums
from dpnb.trusted.mechanisms.permute_and_flip import PermuteAndFlip as PermuteAndFlip
from dpnb.trusted.mechanisms.quantile_flip import QuantileFlip as QuantileFlip
from dpnb.trusted.mechanisms.thresholding import ThresholdedSums as ThresholdedSums
from dpnb.trusted.mechanisms.thresholding import Thresholding as Thresholding

AnyMechanism: TypeAlias = (
    DiscreteLaplace
    | DiscreteGaussian
    | QuantileSelection
    | QuantileFlip
    | PermuteAndFlip
    | KSExponential
    | LocatedSums
    | Thresholding
    | ThresholdedSums
)

MECHANISMS: tuple[type[AnyMechanism], ...] = get_args(AnyMechanism)
