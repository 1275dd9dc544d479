"""Audits and attacks: what a mechanism really gives away, measured on teaching arrays.

:func:`audit` takes any callable and two neighbouring datasets and returns a :class:`Verdict`: the exact loss if the law
can be enumerated, otherwise a lower bound that holds with stated certainty. :mod:`dpnb.audit.attacks` recovers secrets
from answers alone. Everything here takes arrays; nothing here can read the handle of a protected dataset. What must
never change: a bound is tested on other runs than those that chose its event.
"""

from dpnb.audit.auditing import SlowAudit, audit
from dpnb.audit.noise_fit import NoiseFit, fit_noise
from dpnb.audit.verdict import Side, Verdict

__all__ = ["NoiseFit", "Side", "SlowAudit", "Verdict", "audit", "fit_noise"]
