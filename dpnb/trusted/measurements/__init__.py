"""What leaves, of a few closed kinds, and what it costs: derived from the request, the noise and the schema, never stated.

A measurement is an exact request in the integer algebra and the mechanism that protects its answer. How far one person can move the
answer is derived from these two and from the public schema, and so is the price. Whoever asks for a measurement says nothing of its
sensitivity, so that a statistic that errs, or lies, is refused or charged the truth. Each kind has its proof where it is priced.

==============  ===================  =====================================================================================
file            request              mechanism
==============  ===================  =====================================================================================
``sums``        Total                discrete Laplace, discrete Gaussian; two numbers together in ``products``, a shared factor in ``factors``
``box``         CrossMoments         discrete Laplace, discrete Gaussian; rows that are moved into a ball in ``matrix``
``selections``  ValueCounts          quantile selection, sums in a private range
                Total, CrossMoments  permute-and-flip
                Total of ones        Kolmogorov-Smirnov exponential mechanism
                ValueCounts,         thresholded counts; of LabelSums thresholded counts and sums, too
                LabelSums
==============  ===================  =====================================================================================

``facts`` says what follows from the schema alone: ranges, what can be missing, whose membership is private.
"""

from __future__ import annotations

from dpnb.trusted.measurements.derivation import Events, events
from dpnb.trusted.measurements.facts import Facts, Measurement, code_ranges

__all__ = ["Events", "Facts", "Measurement", "code_ranges", "events"]
