"""What the notebook calls a dataset, in texts that were written with the dataset's own name.

A question is recorded under its dataset's name, which the ledger keeps. A notebook may call the same dataset otherwise: what is shown
there can then be typed there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dpnb.client.handles import Dataset


def in_own_names(text: str, names: Mapping[str, object]) -> str:
    """Say what the notebook calls a dataset in the place of the dataset's own name, where that stands for nothing there.

    Examples
    --------
    >>> in_own_names("hiv has no column gott: hiv.got.mean()", {})
    'hiv has no column gott: hiv.got.mean()'
    """
    handles = {
        name: one for name, one in names.items() if isinstance(one, Dataset) and not name.startswith("_")
    }
    for name, one in handles.items():
        if one.name not in names and one is one.root:
            text = re.sub(_EXPRESSION.format(re.escape(one.name)), name, text)
    return text


_EXPRESSION = r"(?<![\w.\"'/]){}(?=[.\[](?:<wbr>)?(?:[\w\"'(]|&quot;))"
"""A name at the head of an expression, in text or in HTML that may break its line after an operator."""
