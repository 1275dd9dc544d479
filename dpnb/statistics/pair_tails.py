r"""What is supposed of the tails of two columns, so that the sampling error of their covariance and correlation is known.

With u and v the columns in their standard deviations the sampling variance of r is, in large samples,
:math:`E[(uv - r(u^2+v^2)/2)^2]/n`, and that of the covariance :math:`(E[u^2v^2] - r^2)/n`; of bivariate normal columns these are
:math:`(1-r^2)^2/n` and :math:`(1+r^2)/n`, and of columns without a connection 1/n both. How much larger they may be is an assumption, named
beside the interval. Of 229 pairs of columns in the built-in studies the ratios are 1.02 and 1.00 at the median, at most 1.65 and 1.38 for
95 % of them, and 3.7 and 5.2 for the worst (earnings in two years). With 1.5 an interval of 95 % covers at least 93.5 % up to a ratio of
1.69; beyond that it does not, and ``tails=4`` is there to be said. Fourth moments that would replace the assumption for a correlation
cost more than they save: nine further sums, whose noise at n ε = 10,000 exceeds what they measure.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpnb.errors import OptionError

TAILS = Fraction(3, 2)
"""How much larger than that of bivariate normal columns a sampling variance may be, unless said otherwise."""
_MOST_TAILS = 1000


def tails_of(asked: Any) -> float:
    """Return tails= as it was asked, checked.

    Raises
    ------
    OptionError
        When it is no number from 1 on.
    """
    good = isinstance(asked, int | float | Fraction) and not isinstance(asked, bool)
    if not good or not 1 <= asked <= _MOST_TAILS:
        raise OptionError(
            f"tails= says how much larger than that of normal columns the sampling variance may be: a number from 1 to {_MOST_TAILS:,}."
        )
    return float(asked)


def fishers_note(tails: float) -> str:
    """Say what the confidence interval of a correlation supposes."""
    if tails == 1:
        return "Fisher's z with noise: supposes about bivariate normal columns"
    return f"Fisher's z with noise: supposes a sampling variance of at most {tails:g} times that of normal columns (tails=)"


def products_note(tails: float) -> str:
    """Say what the confidence interval of a covariance supposes."""
    return f"supposes products of at most {tails:g} times the variance of normal columns' (tails=), and of what the bounds allow"
