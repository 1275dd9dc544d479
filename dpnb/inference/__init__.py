"""From released integers and public constants to intervals: the laws of noise, inverted.

Functions here see noised integers and numbers that the schema publishes, never rows. Releases and simulations both use
them. Four modules are exceptions and say so: ``resampling``, ``standard_error``, ``arms`` and ``matching`` have corrected
published mechanisms *on arrays*, for simulated data and teaching; no plan names them and no curator calls them. There are
two intervals: the *privacy interval* covers what the noise hides about this dataset, the *confidence interval* what
sampling and noise together hide about the population.
"""

from dpnb.inference.invert import accepted, accepted_interval
from dpnb.inference.noise_sum import NoiseSum
from dpnb.inference.spread import effective_size, student_inflation

__all__ = ["NoiseSum", "accepted", "accepted_interval", "effective_size", "student_inflation"]
