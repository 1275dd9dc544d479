"""How randomness is drawn: declared laws, exact integer samplers, fast simulators, secure bits.

One law, two samplers: ``law`` declares it, ``exact`` draws it from random words without any floating-point decision,
``fast`` draws it from a numpy generator for simulation. ``secure`` is the operating system's entropy; only the curator may
import it, so this package never does. What a law means may never change: stored releases carry it as JSON.
"""

from dpnb.trusted.noise.bits import BitSource, SeededBits
from dpnb.trusted.noise.law import DiscreteGaussianLaw, DiscreteLaplaceLaw, Law, law_from_json

__all__ = ["BitSource", "DiscreteGaussianLaw", "DiscreteLaplaceLaw", "Law", "SeededBits", "law_from_json"]
