"""``nsw`` and ``cps``: what did a job-training programme do to earnings? (LaLonde 1986.)

Bounds: the programme served adults of working age; school years end at 20; yearly earnings above 50,000 dollars of
the time count as 50,000. The two samples have the same columns, so that the trial and its observational
counterpart can be compared.
"""

from __future__ import annotations

from functools import partial

from dpnb.datasets.study import Study, flag, public_study, read_rows
from dpnb.trusted.schema import Column

_COLUMNS = (
    flag("treat", "took part in the training programme (1 = yes)"),
    Column.integer("age", 15, 65, label="age in years"),
    Column.integer("educ", 0, 20, label="years of school"),
    flag("black", "black (1 = yes)"),
    flag("hisp", "hispanic (1 = yes)"),
    flag("marr", "married (1 = yes)"),
    flag("nodegree", "has no school degree (1 = yes)"),
    Column.number("re74", 0, 50_000, step=1, label="earnings in 1974, in dollars"),
    Column.number("re75", 0, 50_000, step=1, label="earnings in 1975, in dollars"),
    Column.number("re78", 0, 50_000, step=1, label="earnings in 1978, in dollars"),
)
_CITATION = (
    "LaLonde, Robert. 1986. Evaluating the Econometric Evaluations of Training Programs with Experimental Data. "
    "American Economic Review 76 (4): 604-620. Dehejia, Rajeev, and Sadek Wahba. 1999. Causal Effects in "
    "Nonexperimental Studies. Journal of the American Statistical Association 94 (448): 1053-1062."
)

NSW = Study(
    public_study(
        "nsw",
        "National Supported Work: a trial of job training",
        445,
        _COLUMNS,
        description="The Dehejia-Wahba sample of the trial: people at random were guaranteed a job for some months.",
        source_note="The file nsw_mixtape of the Python package causaldata",
        licence="Replication data of a published article, distributed with causaldata under the MIT licence",
        citation=_CITATION,
    ),
    partial(read_rows, "nsw"),
)
CPS = Study(
    public_study(
        "cps",
        "Current Population Survey: the comparison group to the job-training trial",
        15_992,
        _COLUMNS,
        description="People of a national survey, none of them trained: the observational counterpart of nsw.",
        source_note="The file cps_mixtape of the Python package causaldata",
        licence="Public domain",
        citation=_CITATION,
    ),
    partial(read_rows, "cps"),
)
