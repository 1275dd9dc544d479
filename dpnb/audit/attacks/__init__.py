"""Attacks: six ways to learn, from answers alone, what was never shown. On teaching arrays.

Each is given what an outsider can see and returns an :class:`AttackResult`: the share recovered, the share that guessing
recovers, and, where the answers are private, the largest share that their ε allows. None is given the secret before its
guess is fixed; the secret then only marks the guess.
"""

from dpnb.audit.attacks.averaging import averaging
from dpnb.audit.attacks.benches import bench
from dpnb.audit.attacks.differencing import differencing
from dpnb.audit.attacks.floating_point import certain_origin, floating_point
from dpnb.audit.attacks.linkage import linkage
from dpnb.audit.attacks.membership import membership, membership_curve
from dpnb.audit.attacks.reconstruction import reconstruct, reconstruction
from dpnb.audit.attacks.result import AttackResult, AttackRow

__all__ = [
    "AttackResult",
    "AttackRow",
    "averaging",
    "bench",
    "certain_origin",
    "differencing",
    "floating_point",
    "linkage",
    "membership",
    "membership_curve",
    "reconstruct",
    "reconstruction",
]
