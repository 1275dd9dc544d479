r"""What a budget means for the population that a file is a secret random sample of: a display, which no ledger uses.

A mechanism that is (ε, δ)-private for the sample is :math:`(\ln(1 + q(e^ε - 1)), qδ)`-private for whoever might have been drawn, where each
was drawn with chance q: each by a coin of their own under add-remove, or a fixed number without replacement under change-one [1]_.

*Proof* (coins, add-remove). Let P be the law of the answer from a population without you, and :math:`qM_1 + (1-q)M_0` with you, the draw of
all others being fixed. Then :math:`M_0 = P` and :math:`M_1 ≤ e^ε P` give :math:`qM_1 + (1-q)P ≤ (1 + q(e^ε - 1))P`, and
:math:`P ≤ e^ε M_1` gives :math:`P/(qM_1 + (1-q)P) ≤ 1/(qe^{-ε} + 1 - q) ≤ 1 + q(e^ε - 1)`; averaging over the others' draw keeps both.

It holds once, for everything that is ever released from one sample: ten answers of ε 1 from one sample of 1 % are not ten samples
(:math:`\ln(1 + .01(e^{10} - 1)) = 5.40`, not :math:`10\ln(1 + .01(e - 1)) = .17`). It fails where others know who was drawn, where clusters,
quotas or chain referral bring people together, and it has no form for ρ here.

References
----------
.. [1] Balle, Barthe and Gaboardi (2018), "Privacy Amplification by Subsampling: Tight Analyses via Couplings and Divergences", Theorems 8, 9.
"""

from __future__ import annotations

from math import expm1, log1p

from dpnb.errors import LossError
from dpnb.risk.losses import non_negative
from dpnb.risk.odds import Number
from dpnb.trusted.privacy.loss import rational


def secrecy_of_the_sample(epsilon: Number, share: Number, delta: Number = 0) -> tuple[float, float]:
    r"""Return what the whole cap of a sample means for one person of the population: ε and δ.

    Parameters
    ----------
    epsilon, delta : number
        Of everything that is ever released from the sample, together; never of one question.
    share : number
        The chance q of being drawn, above 0 and at most 1.

    Raises
    ------
    LossError
        When the share is no chance.

    Examples
    --------
    >>> round(secrecy_of_the_sample(10, "0.01")[0], 2)
    5.4
    """
    q = float(rational(share, name="share"))
    if not 0 < q <= 1:
        raise LossError(
            f"share is above 0 and at most 1, not {share}. Write share=0.01 for one in a hundred."
        )
    return log1p(q * expm1(float(non_negative(epsilon)))), q * float(non_negative(delta))
