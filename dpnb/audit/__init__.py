"""Audits and attacks: what a mechanism really gives away, measured on teaching arrays.

:func:`audit` takes any callable and two neighbouring datasets and returns a :class:`Verdict`: the exact loss where the law
can be enumerated, a lower bound that holds with stated certainty elsewhere. :mod:`dpnb.audit.attacks` recovers what it was
not shown, from answers alone. Everything here takes arrays; a handle of a protected dataset is refused by construction, for
nothing here can read one. What may never change: a bound is tested on runs that did not choose its event.
"""

from dpnb.audit.auditing import SlowAudit, audit
from dpnb.audit.noise_fit import NoiseFit, fit_noise
from dpnb.audit.verdict import Side, Verdict

__all__ = ["NoiseFit", "Side", "SlowAudit", "Verdict", "audit", "fit_noise"]
