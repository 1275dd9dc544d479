r"""The local model: everyone randomises at home, and nobody is trusted with the truth.

*Binary randomised response.* A bit is kept with probability :math:`p = e^ε/(1+e^ε)` and flipped otherwise.

*Proof.* For either answer the two probabilities are p and 1 - p, and p/(1-p) = e^ε. ∎ The share of ones among answers is
:math:`(2p-1)μ + 1-p`, so :math:`(\bar y - (1-p))/(2p-1)` is unbiased for the mean μ of the true bits.

*Unary encoding.* A category out of k becomes k bits, of which one is 1; a 1 stays 1 with probability p, a 0 becomes 1 with
probability q. Two categories differ in two bits, so the worst ratio of probabilities is p(1-q)/((1-p)q).

*Proof of the two choices.* Symmetric: p = e^{ε/2}/(1+e^{ε/2}), q = 1-p, so the ratio is (p/(1-p))² = e^ε. Optimised: p = 1/2,
q = 1/(e^ε+1), so it is (1-q)/q = e^ε. ∎ The optimised choice makes rare categories less noisy.

References
----------
.. [1] Warner (1965), "Randomized Response: A Survey Technique for Eliminating Evasive Answer Bias".
.. [2] Wang, Blocki, Li and Jha (2017), "Locally Differentially Private Protocols for Frequency Estimation".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dpnb.errors import OptionError
from dpnb.lessons.arguments import Floats, Integers, codes, generator, loss_of, whole

Kind = Literal["symmetric", "optimised"]


def response_law(bit: int, epsilon: float) -> dict[int, float]:
    """Return the law of one person's answer: a mapping from 0 and 1 to their probabilities.

    Examples
    --------
    >>> import math
    >>> {answer: round(p, 9) for answer, p in response_law(1, math.log(3)).items()}
    {0: 0.25, 1: 0.75}
    """
    truth = int(codes([bit], 2, "bit")[0])
    keep = _truth(epsilon)
    return {0: 1 - keep, 1: keep} if truth else {0: keep, 1: 1 - keep}


def _truth(epsilon: float) -> float:
    return 1 / (1 + math.exp(-loss_of(epsilon)))


def randomised_response(bits: ArrayLike, epsilon: float, rng: int | np.random.Generator) -> Integers:
    """Randomise everyone's bit, ε-private for each person.

    Parameters
    ----------
    bits : array of 0 and 1, shape (n,)
    epsilon : float
        What each answer loses.
    rng : int or numpy Generator

    Returns
    -------
    ndarray of int, shape (n,)

    Raises
    ------
    LossError, OptionError
        When ε is not above 0, or a bit is neither 0 nor 1.
    """
    truth = codes(bits, 2, "bits")
    lies = generator(rng).random(truth.size) >= _truth(epsilon)
    return np.where(lies, 1 - truth, truth)


@dataclass(frozen=True, slots=True)
class Debiased:
    """An unbiased estimate from randomised answers, and its standard error over the answers' randomness.

    Parameters
    ----------
    value, standard_error : float or ndarray
        In the unit of the estimate: a share, or counts of people.
    """

    value: float | Floats
    standard_error: float | Floats


def debiased_mean(answers: ArrayLike, epsilon: float) -> Debiased:
    r"""Estimate the mean of the true bits from randomised answers.

    The standard error is :math:`\sqrt{p(1-p)/n}/(2p-1)`, whatever the true bits are: these n people are fixed, and only their
    answers are random.
    """
    seen = codes(answers, 2, "answers")
    keep = _truth(epsilon)
    value = (seen.mean() - (1 - keep)) / (2 * keep - 1)
    return Debiased(float(value), _local_error(epsilon, seen.size))


def _local_error(epsilon: float, n: int) -> float:
    keep = _truth(epsilon)
    return math.sqrt(keep * (1 - keep) / n) / (2 * keep - 1)


def unary_probabilities(epsilon: float, kind: Kind = "optimised") -> tuple[float, float]:
    """Return p and q: how often a 1 is reported as 1, and a 0 as 1."""
    loss = loss_of(epsilon)
    if kind == "optimised":
        return 0.5, 1 / (math.exp(loss) + 1)
    if kind == "symmetric":
        return _truth(loss / 2), 1 - _truth(loss / 2)
    raise OptionError('kind is "symmetric" or "optimised".')


def unary_encoding(
    categories: ArrayLike, k: int, epsilon: float, rng: int | np.random.Generator, kind: Kind = "optimised"
) -> Integers:
    """Randomise everyone's category in unary encoding, ε-private for each person.

    Parameters
    ----------
    categories : array of int from 0 to k - 1, shape (n,)
    k : int
        Number of categories, public.
    epsilon : float
    rng : int or numpy Generator
    kind : {"optimised", "symmetric"}

    Returns
    -------
    ndarray of 0 and 1, shape (n, k)
    """
    size = whole(k, "k", 2)
    truth = codes(categories, size, "categories")
    p, q = unary_probabilities(epsilon, kind)
    chance = np.where(truth[:, None] == np.arange(size), p, q)
    return (generator(rng).random(chance.shape) < chance).astype(np.int64)


def debiased_counts(reports: ArrayLike, epsilon: float, kind: Kind = "optimised") -> Debiased:
    r"""Estimate how many people have each category, from reports of shape (n, k).

    With c people in a category, its column sums to a number of mean cp + (n-c)q; the estimate is (sum - nq)/(p-q), of variance
    :math:`(cp(1-p) + (n-c)q(1-q))/(p-q)^2`. The standard error puts the estimate, cut to [0, n], in place of c.
    """
    seen = np.asarray(reports)
    if seen.ndim != 2 or not seen.size or not np.isin(seen, (0, 1)).all():
        raise OptionError("reports is a table of 0 and 1, one row a person: what unary_encoding returns.")
    p, q = unary_probabilities(epsilon, kind)
    value = (seen.sum(axis=0) - len(seen) * q) / (p - q)
    held = np.clip(value, 0, len(seen))
    variance = held * p * (1 - p) + (len(seen) - held) * q * (1 - q)
    return Debiased(value, np.sqrt(variance) / (p - q))


@dataclass(frozen=True, slots=True)
class ModelErrors:
    """Standard errors of a mean of n bits at equal ε: everyone randomises, or a curator adds noise once.

    Parameters
    ----------
    local, central : float
        In the unit of the mean, from 0 to 1.
    """

    local: float
    central: float

    @property
    def ratio(self) -> float:
        """How many times larger the local error is."""
        return self.local / self.central


def local_and_central(epsilon: float, n: int) -> ModelErrors:
    r"""Return the expected error of a mean in the local model and in the central one.

    Local: :math:`e^{ε/2}/((e^ε-1)\sqrt n)`. Central: discrete Laplace noise on the count, public n, one person changes:
    :math:`\sqrt2\,e^{ε/2}/((e^ε-1)n)`. Their ratio is :math:`\sqrt{n/2}` for every ε: to match a curator, the local model needs
    the square of its people, halved.

    Examples
    --------
    >>> round(local_and_central(1, 20_000).ratio, 6)
    100.0
    """
    people, loss = whole(n, "n"), loss_of(epsilon)
    central = math.sqrt(2) * math.exp(loss / 2) / math.expm1(loss) / people
    return ModelErrors(_local_error(loss, people), central)
