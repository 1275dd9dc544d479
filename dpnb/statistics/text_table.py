"""Rows of texts as aligned lines."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines of text: the first column to the left, the others to the right.

    Examples
    --------
    >>> aligned([["age", "n"], ["of all", "40"]])
    ['age      n', 'of all  40']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        numbers = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        lines.append("  ".join([first.ljust(widths[0]), *numbers]).rstrip())
    return lines
