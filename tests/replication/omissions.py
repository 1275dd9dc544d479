"""What was published and is not repeated here, and why: said on the page beside what is."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

NOT_REPRODUCED: Mapping[str, str] = MappingProxyType(
    {
        "000 Figs 1, 4, 5, 9": "the paper is not at hand: multiplicities and the partition are drawn, without a number",
        "003 count, 99.5 % point 47": "the exact quantile of the discrete noise is 46",
        "003 std, privacy error .044": "ours is .046 to .047: the data are not printed, a clamped normal is assumed",
        "004 Table 1, printed cells": "not at hand: 54 cells of the same closed form stand in the table, on a grid that is assumed",
        "004 Fig 5, attenuation 6 to 13 %": "ours is 1 to 4 %: subsets and upper bound of print are unknown",
        "004 Figs 8, 11, 12": "the paper is not at hand: what their panels show is not known here, so none is called a repetition",
        "004 Fig 13, trimming on X": "distance, n, ε and δ are not printed: box noise beside clipping is shown instead, without a number",
    }
)
"""Figures, tables and numbers in print, each with the reason."""
