"""One row of each unit's rows, spelled out: what a line of ``[prepare]`` means (:mod:`dpnb.trusted.schema.unit_summary`).

The curator's SQL (:mod:`dpnb.trusted.curator.engines.per_unit_sql`) equals it bit for bit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from dpnb.trusted.aggregate.reference import Ints
from dpnb.trusted.schema import Column
from dpnb.trusted.schema.unit_summary import UnitSummary

Cells = Sequence[tuple[int | None, int | None]]
"""Of each row of one unit the code of the cell that is taken, and that of its order."""


def code_of(line: UnitSummary, made: Column, cells: Cells) -> int | None:
    """Return the code of a unit's prepared cell, of the codes of its rows in any order; ``None`` where it is missing."""
    known = [code for code, _ in cells if code is not None]
    code: int | None = None
    match line.take:
        case "count" if cells:
            code = _placed(line, made, len(cells), 0)
        case "sum" | "mean" if known:
            code = _placed(line, made, len(known), sum(known))
        case "any" if known:
            code = int(any(one in line.among for one in known))
        case "latest":
            last = max(
                ((by, -1 if code is None else code) for code, by in cells if by is not None), default=(0, -1)
            )
            code = None if last[1] < 0 else last[1]
    return made.missing_code if code is None else code


def _placed(line: UnitSummary, made: Column, rows: int, total: int) -> int:
    """Return the grid point nearest to a count, sum or mean: floor(t + ½), held to the grid."""
    a, b, c, q = line.scale(made)
    each = rows if line.take == "mean" else 1
    place = (2 * (rows * a + b * total - each * c) + each * q) // (2 * each * q)
    return min(max(place, 0), made.size - 1)


def per_unit(
    lines: Sequence[UnitSummary],
    made: Mapping[str, Column],
    units: Sequence[str | None],
    raw: Mapping[str, Ints],
) -> dict[str, list[int | None]]:
    """Return for each unit with a row, in the order of their first ones, the codes of its prepared cells."""
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for place, unit in enumerate(units):
        if unit is not None:
            rows[unit].append(place)
    codes = {name: column.tolist() for name, column in raw.items()}

    def cell(line: UnitSummary, places: Sequence[int]) -> int | None:
        order = [None] * len(units) if line.by is None else codes[line.by.name]
        cells = [(codes[line.of.name][place], order[place]) for place in places]
        return code_of(line, made[line.name], cells)

    return {unit: [cell(line, places) for line in lines] for unit, places in rows.items()}
