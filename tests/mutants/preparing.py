"""Wrong versions of what is prepared of a person's rows: another person's row takes part, the order of rows does, or a grid is left."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpnb.datasets import preparation
from dpnb.datasets.preparation import prepare as reference
from dpnb.errors import OwnerError
from dpnb.trusted.curator.engines import per_unit_sql, preparing
from dpnb.trusted.files.named_file import NamedFile, NamedFiles
from dpnb.trusted.schema import Column, owner
from tests.contracts.handed import prepare
from tests.curator.engines import test_prepared as prepared
from tests.datasets import test_prepare_section as section
from tests.mutants.table import Mutant, replaced


def drawn(seed: int) -> list[tuple[Any, ...]]:
    """Sixty rows of three people and of nobody, with bad cells."""
    rng = random.Random(seed)
    return [tuple(rng.choice(cells) for cells in prepared.CELLS.values()) for _ in range(60)]


def both_engines(folder: Path, *, joined: bool) -> None:
    """Engine and reference agree on drawn rows, of one table or of two."""
    lines, columns = prepared.lines_of("visits" if joined else "")
    own = (Column.integer("age", 0, 8),) if joined else ()
    schema = prepared.declared((*own, *columns), lines, most=2 if joined else 1)
    people = prepared.columns_of(drawn(1)[:9])
    visits = prepared.columns_of([row for row in drawn(2) if row[0] != "cy" or not joined])
    raw: Any = {"who": people["who"], "age": people["beds"]} if joined else visits
    wanted = reference(raw, schema, key=prepared.KEY, others={"visits": visits})
    if not joined:
        copy = prepare(raw, schema, folder / "copy.duckdb", key=prepared.KEY)
    else:
        for name, table in (("people", raw), ("visits", visits)):
            (folder / f"{name}.csv").write_text(prepared.as_csv(table))
        with NamedFile.open(folder / "people.csv") as one, NamedFile.open(folder / "visits.csv") as two:
            copy = prepare(NamedFiles(one, {"visits": two}), schema, folder / "copy.duckdb", key=prepared.KEY)
    assert prepared.in_engine(copy, schema.names) == prepared.in_reference(wanted, schema.names)


def own_rows(folder: Path) -> None:
    """One table."""
    both_engines(folder, joined=False)


def two_tables(folder: Path) -> None:
    """Two tables."""
    both_engines(folder, joined=True)


def sql(old: str, new: str) -> Callable[[Any], Any]:
    """The same statement with one thing written otherwise."""

    def make(real: Any) -> Any:
        def written(*arguments: Any) -> str:
            found: str = real(*arguments)
            return found.replace(old, new)

        return written

    return make


def of_everybody(real: Any) -> Any:
    """Take the rows of all people for each."""

    def per_unit(lines: Any, made: Any, units: Any, raw: Any) -> Any:
        (whole,) = real(lines, made, [None if unit is None else "all" for unit in units], raw).values() or [
            None
        ]
        return {unit: whole for unit in dict.fromkeys(units) if unit is not None}

    return per_unit


def any_column(_: Any) -> Any:
    """Join by whatever column is named."""
    return lambda table, unit, where: {
        column.name: column for column in owner._columns(table["columns"], where)
    }


def a_join_is_refused(_: Any) -> None:
    """A table that is joined by another column than the unit is refused with the reason."""
    content = section.changed(section.TWO, source__visits__on="age")
    with pytest.raises(OwnerError, match="joined only by the unit"):
        owner.load(content, source="people.csv")


MUTANTS = {
    "the mean of everybody": Mutant(
        "A person's row holds what all people's rows make: one person moves every row.",
        replaced(preparation, "per_unit", of_everybody),
        lambda _: prepared.test_one_persons_rows_move_one_row("add-remove"),
    ),
    "nobody's rows prepared as a person": Mutant(
        "Rows without a unit become a unit of unbounded rows.",
        replaced(preparing, "grouped", sql(' WHERE "##unit" IS NOT NULL', "")),
        own_rows,
    ),
    "a sum that leaves its grid": Mutant(
        "A prepared sum is not held to the declared end: one person moves a sum without a bound.",
        replaced(per_unit_sql, "_placed", sql("least(", "2 * least(")),
        own_rows,
    ),
    "a mean cut instead of rounded": Mutant(
        "A half goes down: the map is not the one that sensitivities come from.",
        replaced(per_unit_sql, "_placed", sql(' + CAST(count("cost") AS BIGINT) * ', " + 0 * ")),
        own_rows,
    ),
    "the latest by its place in the file": Mutant(
        "Of several rows of the last day the order of the file decides.",
        replaced(per_unit_sql, "_code", sql("nullif(max(", "nullif(last(")),
        own_rows,
    ),
    "people without a partner left out": Mutant(
        "Who has no row in the other table is not as declared, but gone.",
        replaced(preparing, "joined", sql("LEFT JOIN", "INNER JOIN")),
        two_tables,
    ),
    "a join by any column": Mutant(
        "A row meets the rows of many people.", replaced(owner, "_cells_of", any_column), a_join_is_refused
    ),
}
