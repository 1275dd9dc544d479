"""Replication: every figure of the publications that dpnb builds on, recomputed beside what was printed.

``python -m tests.replication`` prints the table and writes one self-contained page with the figures. Nothing that is
called *ours* is written down here: each number is computed, with the standard error of its simulation. What was published is
quoted with the width of its rounding, and a row *agrees* when ours falls into it, three standard errors allowed. A row that
differs says why.

The publications: **000** Brawner and Honaker 2018, *Bootstrap Inference and Differential Privacy: Standard Errors for Free*;
**001** Mount and Zumel, *A simple differentially private-ish procedure*; **002** course notes on Wasserman and Zhou 2010;
**003** *Differential privacy: an illustrated primer*; **004** D'Orazio, Honaker and King 2015, *Differential Privacy for Social
Science Inference*.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.replication import beliefs, bootstrap, primer, social
from tests.replication.row import Quoted, Row, table_text

__all__ = ["Quoted", "Row", "replicate", "table_text"]

_SECTIONS = (bootstrap.rows, primer.rows, beliefs.rows, social.rows)


def replicate(*, quick: bool = False, seed: int = 2018) -> Iterator[Row]:
    """Yield every row, each computed now."""
    for section in _SECTIONS:
        yield from section(np.random.default_rng(seed), quick=quick)
