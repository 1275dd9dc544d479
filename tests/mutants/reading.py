"""Wrong versions of the reading: a column, a container or an order of columns that has a say in what one cell becomes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.datasets import containers, preparation
from dpnb.datasets.containers import plain_column
from dpnb.trusted.curator import content
from dpnb.trusted.curator.engines import csv_rows, preparing, ruled_sql, table_file
from dpnb.trusted.files import csv_header, dialect
from dpnb.trusted.files.dialect import Dialect
from dpnb.trusted.files.named_file import NamedFile
from dpnb.trusted.schema import cell_rules, column, owner, written_forms
from dpnb.trusted.schema.cell import number_of
from tests.aggregate import test_cell_rules as ruled
from tests.curator import test_content as on_content
from tests.curator import test_sources as attached
from tests.curator.engines import test_file_kinds as kinds
from tests.curator.engines import test_row_locality as rows
from tests.mutants.table import Mutant, replaced


def columns_of_one_type(real: Any) -> Any:
    """Lines whose columns are read as a library does that looks for their types."""

    def blocks(*asked: Any) -> Any:
        for cells in real(*asked):
            for held in cells.values():
                numeric = np.array([number_of(cell) is not None for cell in held])
                if not numeric.all():
                    held[numeric] = None
            yield cells

    return blocks


def one_text_makes_the_column_texts(real: Any) -> Any:
    """A column in which any cell is no number holds no numbers."""

    def numbers(raw: Any, name: str = "this column") -> NDArray[np.float64]:
        found: NDArray[np.float64] = real(raw, name)
        plain = plain_column(raw, name, "grid")
        texts = plain.dtype == object and any(
            text is not None and np.isnan(number) for text, number in zip(plain, found, strict=True)
        )
        return np.full(len(found), np.nan) if texts else found

    return numbers


def lists_as_numpy_makes_them(real: Any) -> Any:
    """Cells of a list in the one type that numpy finds for all of them."""

    def from_cells(cells: Sequence[Any], use: Any) -> Any:
        try:
            held = np.array(cells)
        except (ValueError, OverflowError):
            held = np.array(cells, dtype=object)
        return real(held.tolist(), use)

    return from_cells


def as_they_are_declared(_: Any) -> Any:
    """Declared values matched by how they are written, not by the cell that they are."""
    return lambda column: {str(value): code for code, value in enumerate(column.values or ())}


def unsorted(patch: Any) -> None:
    """The engine writes a unit's rows in the order of the declaration."""
    patch.setattr(preparing, "sorted", list, raising=False)


def runs_alone_are_guessed(_: Any) -> Any:
    """Frames leave a mark unless every column is a constant or a run, however few tables they could be."""
    return lambda columns: all(map(content._foreseen, columns.values()))


def unstamped(patch: Any) -> None:
    """A file is what its bytes are at the end."""
    patch.setattr(NamedFile, "stamp", lambda _: ())


def nothing_is_read_below_a_total(_: Any) -> Any:
    """The rows of a CSV file end where the first line is left out below its header."""

    def rows_of(lines: Any, delimiter: str, dialect: Dialect, *, strict: bool = False) -> Any:
        rows = itertools.dropwhile(
            lambda row: not any(row) or not dialect.is_row(row),
            csv_header.parsed(lines, delimiter, dialect, strict=strict),
        )
        return itertools.takewhile(dialect.is_row, rows)

    return rows_of


def a_total_leaves_out_itself(folder: Path) -> None:
    """A line that is no row, above one that is."""
    text = "Codes\ncode,note\n01,a\nTotal\n02,b\n"
    rows.test_what_is_declared_is_read_exactly_so(folder, text, Dialect(skip=("Codes", "Total")), [0, 1])


def an_undone_change_is_seen(folder: Path) -> None:
    """A file that was overwritten while it was read, and is the old one again, is refused."""
    home, data = folder / "home", folder / "data"
    data.mkdir()
    attached.test_a_change_that_is_undone_while_a_file_is_read_is_seen(
        home, data, attached.overwritten, ".csv"
    )


def each_row_alone(folder: Path) -> None:
    """The contract for lists: one changed cell moves no other row's code."""
    for seed in range(40):
        rows.TestLists.check(seed, folder)


def a_code_beside_others(folder: Path) -> None:
    """A code is missing in every container, and the cells beside it are what they were."""
    ruled.test_a_cell_that_is_a_code_is_missing(*ruled.CODED[0], folder)


def day_before_month(real: Any) -> Any:
    """The pattern is the declared one, and the engine is told another."""

    def date_rule(form: str) -> Any:
        rule = real(form)
        return replace(rule, becoming=rule.becoming.replace("%m/%d", "%d/%m"))

    return date_rule


def dates_in_every_container(folder: Path) -> None:
    """A declared form is read as Python reads it."""
    ruled.test_a_date_is_read_as_its_form_is_declared(*ruled.FORMS[0], folder)


MUTANTS = {
    "a form of dates that the engine reads otherwise": Mutant(
        "8/7/2014 is a day in July.",
        replaced(cell_rules, "date_rule", day_before_month),
        dates_in_every_container,
    ),
    "groups of any length": Mutant(
        '1.23 under thousands = "." is read as 123.',
        replaced(written_forms, "_MARKED", lambda _: "[0-9]+(?:{mark}[0-9]+)*"),
        lambda folder: ruled.test_a_number_is_read_as_its_form_is_declared(*ruled.NUMBERS[0], folder),
    ),
    "floats under another decimal": Mutant(
        "A float 1.234 of a Parquet file is read as 1234.",
        replaced(preparing, "has_point", lambda _: lambda _: False),
        lambda folder: ruled.test_numbers_with_a_point_of_their_own_refuse_another_decimal(
            ".parquet", folder
        ),
    ),
    "yes and no by their place in the list": Mutant(
        "The code of a listed yes is where it stands, not that of true.",
        replaced(
            preparing,
            "_code_of",
            lambda _: lambda _, text, category: f"enum_code(TRY_CAST({text} AS {category}))",
        ),
        lambda folder: ruled.test_a_category_is_read_as_its_cells_are_written(*ruled.CATEGORIES[6], folder),
    ),
    "codes that SQL leaves as numbers": Mutant(
        "999 for unknown is clamped to the upper bound.",
        replaced(ruled_sql, "_without", lambda _: lambda *_, **__: lambda sql: sql),
        a_code_beside_others,
    ),
    "codes known by how they are written": Mutant(
        "999.0 is another cell than the code 999, so that what a cell becomes depends on the type of its column.",
        replaced(column, "alike", lambda _: lambda text, *_: text),
        a_code_beside_others,
    ),
    "rows that can be counted out leave a mark": Mutant(
        "A column of 0 and 1 is known again: N + 1 attaches of guesses tell how many rows hold a 1.",
        replaced(on_content, "may_be_guessed", runs_alone_are_guessed),
        lambda _: on_content.test_a_frame_can_be_guessed_that_is_foreseen_or_one_of_few(
            "two columns of two kinds"
        ),
    ),
    "a total that ends a file": Mutant(
        "What stands below a line that is left out is left out too: one person named Total removes everybody below.",
        replaced(csv_rows, "rows_of", nothing_is_read_below_a_total),
        a_total_leaves_out_itself,
    ),
    "a source known by its last bytes": Mutant(
        "A file changed between two of its readings and then changed back is filed as what it never was.",
        unstamped,
        an_undone_change_is_seen,
    ),
    "a column whose type decides": Mutant(
        "One text makes a column of numbers texts: every other row's number goes missing with it.",
        replaced(preparation, "numbers", one_text_makes_the_column_texts),
        each_row_alone,
    ),
    "lines of JSON with one type for a column": Mutant(
        "A text among numbers makes texts of the column, and every other row's number goes missing with it.",
        replaced(table_file, "_blocks_of_lines", columns_of_one_type),
        lambda folder: rows.TestJsonLines().test_one_cell_never_moves_another_rows_code(folder),
    ),
    "an encoding with states": Mutant(
        "An escape in one row of ISO-2022 changes what the bytes of every row below it mean.",
        replaced(dialect, "_ENCODINGS", lambda _: re.compile(".+")),
        lambda folder: kinds.test_a_declaration_that_would_mix_rows_is_refused(
            {"encoding": "iso2022_jp"}, "encoding"
        ),
    ),
    "a list that numpy converts": Mutant(
        "numpy finds one type for all cells of a list: a NaN beside a text becomes the text nan.",
        replaced(containers, "_from_cells", lists_as_numpy_makes_them),
        rows.test_a_nan_in_a_list_stays_missing_beside_a_text,
    ),
    "a unit's rows ranked in the order of columns": Mutant(
        "The same schema in another order of columns keeps other rows of a unit.",
        unsorted,
        rows.test_which_rows_a_unit_keeps_does_not_depend_on_the_order_of_columns,
    ),
    "categories matched as they are written": Mutant(
        "A declared 01 is a text alone, so that the number 1 is missing wherever its column holds texts.",
        replaced(preparation, "declared_texts", as_they_are_declared),
        lambda folder: rows.test_one_odd_cell_leaves_a_frames_other_codes("whole numbers", "itself", folder),
    ),
    "a unit that a header renames": Mutant(
        "The same rows under another header of the unit's column are charged for another unit.",
        replaced(owner.OwnedDataset, "__post_init__", lambda _: lambda _: None),
        lambda folder: attached.test_headers_that_a_kernel_sends_rename_no_unit(folder / "home", folder),
    ),
}
