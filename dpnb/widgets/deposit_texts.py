"""The longer texts of a deposit's screen: said here, so that a page loads them with its state and not with its code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

TEXTS: Final[Mapping[str, Any]] = {
    "bounds": "Write what is known without this file: a law, a codebook, common sense. Never the largest value that you see in it: it is "
    "somebody’s. What is beyond counts as the bound.",
    "most": "Further rows are left out; all noise grows with this number.",
    "pool": "Files about the same people share one budget: give all of them the same word here. Blank: a budget of its own.",
    "seen": "Some bounds were chosen after a look at the rows",
    "rows": "They appear with “Who is protected” and one column.",
    "fit": "They fit this declaration and say nothing about the data.",
    "all": "One budget for the whole file, not one for each column or question: everything that is ever released is paid from it. It can "
    "be made smaller later; larger only as a recorded act with its reason.",
    "delta": "A δ is the chance that the promise of ε does not hold. It buys Gaussian noise, which is less for many questions; keep it far "
    "below one in the number of people. Without a reason, leave it at none.",
    "sample": [
        "Who was drawn stays secret, also from those who were drawn.",
        "It counts once: ten questions of ε 1 from one sample of 1 % are worth 5.40, not .17.",
        "It does not hold for clusters, quotas, chain referral, nor for a budget in ρ.",
    ],
    "looser": "This is looser than what was promised. It holds only as a recorded act, with its reason:",
    "near": "How near an answer will be follows from the declaration alone: no row is looked at.",
    "planned": "Drawn for means in the middle half of their range, equal groups, and values spread evenly over what is declared.",
    "again": "Released already. What you release now takes its place in what is published.",
    "page": "A folder with a page that stands alone, signed numbers that anybody can verify, a table, a dictionary. What is published is free "
    "for every analyst from then on. Close first, where the page should say so. It spends nothing.",
}
