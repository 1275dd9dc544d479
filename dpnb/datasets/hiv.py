"""``hiv``: did money make people collect their HIV test results? (Thornton 2008, rural Malawi.)

Where the public bounds come from: the design (vouchers worth nothing to three US dollars, result centres placed so
that nearly everybody lived within five kilometres, some 120 villages) and common sense (ages).
"""

from __future__ import annotations

from functools import partial

from dpnb.datasets.study import Study, flag, public_study, read_rows
from dpnb.trusted.schema import Column

SCHEMA = public_study(
    "hiv",
    "Collecting one's HIV result: an experiment with cash incentives in Malawi",
    4820,
    (
        flag("got", "collected the HIV test result (1 = yes)"),
        flag("any", "was offered any money for collecting it (1 = yes)"),
        Column.number("tinc", 0, 3, step="0.01", label="money offered, in US dollars"),
        Column.number("distvct", 0, 6, step="0.01", label="distance to the result centre, in kilometres"),
        Column.integer("age", 0, 100, label="age in years"),
        Column.category(
            "hiv2004",
            [-1, 0, 1],
            label="HIV test result in 2004 (1 = positive, 0 = negative, -1 = indeterminate)",
        ),
        Column.integer("villnum", 0, 200, label="village number"),
    ),
    description=(
        "People tested for HIV in rural Malawi drew a voucher of random value, nothing included, "
        "to be paid when they came for their result. Half of the columns are missing for those who were not "
        "followed up."
    ),
    source_note="The file thornton_hiv of the Python package causaldata, after Cunningham, Causal Inference: The Mixtape",
    licence="Replication data of a published article, distributed with causaldata under the MIT licence",
    citation=(
        "Thornton, Rebecca L. 2008. The Demand for, and Impact of, Learning HIV Status. "
        "American Economic Review 98 (5): 1829-1863."
    ),
)

HIV = Study(SCHEMA, partial(read_rows, "hiv"))
