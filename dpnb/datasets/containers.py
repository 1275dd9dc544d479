"""A raw column, whatever holds it, as an array of numbers or of texts: each cell by itself.

numpy arrays of every type, masked arrays, lists, and columns of pandas, polars and Arrow become either a numeric array (NaN
is missing) or an object array of texts and ``None``. Which of the two is chosen never shows: a number and its text are
one cell (:mod:`dpnb.trusted.schema.cell`), so that a container that was upcast because of one row reads as it did before. What a
container declares to hold neither numbers, texts nor dates (nested values, bytes, spans of time) is refused by that type.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.datasets.cell_text import moment_texts, text_of
from dpnb.trusted.aggregate.arrays import Cells, Use, inexact, numeric, unreadable
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.schema import Column
from dpnb.trusted.schema.cell import LARGEST_WHOLE

_POLARS_TEXTS = {"String", "Utf8", "Categorical", "Enum"}
_POLARS_CELLS = {"Decimal", "Object", "Int128", "UInt128", "Null", "Boolean"}
_NOT_A_TIME = -(2**63)
_COLUMNS = {"pandas": "__array__", "polars": "to_list", "pyarrow": "null_count"}
"""What a column of a library has, and neither a cell nor a plan of one."""


def plain_column(raw: Any, name: str = "this column", use: Use = "category") -> Cells:
    """Return a raw column as a numeric array, or as an object array of texts and ``None``.

    Parameters
    ----------
    raw : array, list, or column of a frame
    name : str
        How a refusal calls it.
    use : {"grid", "category", "unit", "comma"}
        Dates have no place on a grid of numbers; a number that names a unit is exact in a binary64, or missing; beside texts with a
        comma it has one too, where each cell says whether it is a number.

    Raises
    ------
    OwnerError
        When the container's type holds what is no cell, or units' names as floats of 32 bits.
    """
    library = type(raw).__module__.partition(".")[0]
    if not _is_column(raw, library):
        kind = type(raw).__name__
        raise OwnerError(
            f'"{name}" is of type {kind}: a column is a list or an array, with a cell for each row.'
        )
    if isinstance(raw, np.ma.MaskedArray):
        return _masked(raw, name, use)
    make = {"pandas": _from_pandas, "pyarrow": _from_arrow, "polars": _from_polars}.get(library)
    if make is not None:
        return make(raw, name, use)
    if isinstance(raw, np.ndarray) or hasattr(raw, "__array__"):
        return _from_numpy(np.asarray(raw), name, use)
    return _from_cells(list(raw), use)


def _is_column(raw: object, library: str) -> bool:
    """Whether something holds a cell for each row, in their order, and can be read more than once."""
    if library in _COLUMNS:
        return hasattr(raw, _COLUMNS[library])
    cells = isinstance(raw, Sequence) and not isinstance(raw, str | bytes)
    return cells or (hasattr(raw, "__array__") and bool(np.ndim(raw)))


def _from_numpy(array: Cells, name: str, use: Use) -> Cells:
    kind = array.dtype.kind
    if array.ndim != 1 or kind not in "biufUTOM":
        raise unreadable(name, str(array.dtype) if array.ndim == 1 else f"arrays of {array.ndim} dimensions")
    if kind == "M":
        if use in ("grid", "comma"):
            raise _dates(name)
        return _objects(moment_texts(array))
    if kind in "UTO":
        return _from_cells(array.tolist(), use)
    return numeric(array, name, use)


def _from_cells(cells: Sequence[Any], use: Use) -> Cells:
    if {type(cell) for cell in cells} <= {str, type(None)} and _all_utf8(cells):
        return _objects([cell or None for cell in cells])
    return _objects([cell_as(cell, use) for cell in cells])


def use_of(column: Column) -> Use:
    """What a declared column is read for, unless it names the unit."""
    grid: Use = "comma" if column.cells.of_texts else "grid"
    return grid if column.type in ("integer", "number") else "category"


def cell_as(cell: object, use: Use) -> str | None:
    """A cell's own text as it is used: a number has a comma beside texts that have one, so that it is that number and no thousand of it."""
    text = None if use == "unit" and _is_large(cell) else text_of(cell)
    return text.replace(".", ",") if text and use == "comma" and not isinstance(cell, str) else text


def _is_large(cell: object) -> bool:
    """Whether a number of this kind may have lost digits before it came here, or would lose them in its text."""
    if isinstance(cell, Fraction):
        return cell.denominator != 1 and not _is_binary64(cell)
    if isinstance(cell, np.floating) and cell.itemsize > np.dtype(np.float64).itemsize:
        return True
    number: Any = cell
    known = isinstance(cell, int | float | np.integer | np.floating)
    return known and bool(number >= LARGEST_WHOLE or number <= -LARGEST_WHOLE)


def _is_binary64(number: Fraction) -> bool:
    try:
        return Fraction(float(number)) == number
    except OverflowError:
        return False


def _all_utf8(cells: Sequence[str | None]) -> bool:
    try:
        "".join(filter(None, cells)).encode()
    except UnicodeEncodeError:
        return False
    return True


def _masked(raw: np.ma.MaskedArray[Any, Any], name: str, use: Use) -> Cells:
    return _without(_from_numpy(np.ma.getdata(raw), name, use), ~np.ma.getmaskarray(raw))


def _without(plain: Cells, known: NDArray[np.bool_]) -> Cells:
    """Let cells be missing: whole numbers become binary64, which they are read as in any case."""
    absent, held = (None, plain) if plain.dtype == object else (np.nan, plain.astype(np.float64))
    cells = held.copy()
    cells[~known] = absent
    return cells


def _from_pandas(column: Any, name: str, use: Use) -> Cells:
    if column.ndim != 1:
        raise unreadable(name, "several columns of that name")
    dtype, array = column.dtype, getattr(column, "array", column)
    word = type(dtype).__name__
    if use == "unit" and dtype.kind == "f" and getattr(dtype, "subtype", dtype).itemsize < 8:
        raise inexact(name)
    if isinstance(dtype, np.dtype) or word == "SparseDtype":
        return _from_numpy(np.asarray(column), name, use)
    if word == "CategoricalDtype":
        codes = np.asarray(array.codes)
        levels = plain_column(array.categories, name, use)
        return _without(levels[codes], codes >= 0) if len(levels) else _objects([None] * len(codes))
    if word == "ArrowDtype":
        return _from_arrow(array.__arrow_array__(), name, use)
    if word == "DatetimeTZDtype":
        return _from_numpy(np.asarray(array.tz_convert(None)), name, use)
    if word in {"PeriodDtype", "IntervalDtype"}:
        raise unreadable(name, str(dtype))
    if dtype.kind in "biuf":
        return numeric(array.to_numpy(dtype=np.float64, na_value=np.nan), name, use)
    return _from_cells(array.to_numpy(dtype=object).tolist(), use)


def _from_arrow(column: Any, name: str, use: Use) -> Cells:
    from pyarrow import types

    kind = column.type
    if types.is_dictionary(kind):
        return _from_arrow(column.cast(kind.value_type), name, use)
    if types.is_integer(kind) or types.is_floating(kind):
        known = np.asarray(column.is_valid())
        filled = column if not column.null_count else column.fill_null(0)
        numbers = _from_numpy(np.asarray(filled), name, use)
        return numbers if not column.null_count else _without(numbers, known)
    if types.is_date(kind) or types.is_timestamp(kind):
        return _from_numpy(np.asarray(column).astype(_moment_type(kind)), name, use)
    texts = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    if texts or types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind):
        return _from_cells(column.to_pylist(), use)
    raise unreadable(name, str(kind))


def _moment_type(kind: object) -> str:
    return f"datetime64[{getattr(kind, 'unit', 'ms' if str(kind).startswith('date64') else 'D')}]"


def _from_polars(column: Any, name: str, use: Use) -> Cells:
    word = column.dtype.base_type().__name__
    if column.dtype.is_numeric() and word not in _POLARS_CELLS:
        known = ~np.asarray(column.is_null().to_numpy())
        numbers = _from_numpy(np.asarray(column.fill_null(0).to_numpy()), name, use)
        return numbers if known.all() else _without(numbers, known)
    if word in _POLARS_TEXTS:
        import polars as pl

        return _from_cells(column.cast(pl.String).to_list(), use)
    if word in _POLARS_CELLS:
        return _from_cells(column.to_list(), use)
    if word in {"Date", "Datetime"}:
        unit = getattr(column.dtype, "time_unit", "D")
        steps = np.array([_NOT_A_TIME if n is None else n for n in column.to_physical().to_list()], np.int64)
        return _from_numpy(steps.view(f"datetime64[{unit}]"), name, use)
    raise unreadable(name, str(column.dtype))


def _objects(cells: Sequence[str | None]) -> Cells:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def _dates(name: str) -> OwnerError:
    return OwnerError(
        f'"{name}" holds dates, and its schema declares numbers: convert it first, or declare it type = "date".'
    )
