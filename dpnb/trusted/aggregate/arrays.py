"""Columns as they are handed to a curator that reads no file: one array each, of numbers (NaN is missing) or of texts and ``None``.

Whatever else a column comes in becomes one of these before it is handed over (:mod:`dpnb.datasets.containers`); here it is refused.
Which of the two it is never shows: a number and its text are one cell (:mod:`dpnb.trusted.schema.cell`).
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpnb.trusted.errors import OwnerError
from dpnb.trusted.schema.cell import LARGEST_WHOLE

Use: TypeAlias = Literal["grid", "category", "unit", "comma"]
Cells: TypeAlias = NDArray[Any]  # of numbers, or of texts and None


def plain_array(column: object, name: str, use: Use) -> Cells:
    """Return a column that was handed over.

    Parameters
    ----------
    column : ndarray
        Of numbers or truths, or of objects that are texts or ``None``.
    name : str
        The column's name, for the error message.
    use : {"grid", "category", "unit", "comma"}
        What the column is read for: one that names the unit must be carried exactly.

    Raises
    ------
    OwnerError
        When it is none of these, or is to name units by floats of another width than 64 bits.
    """
    if not isinstance(column, np.ndarray) or column.ndim != 1:
        raise unreadable(name, f"a {type(column).__name__}")
    if column.dtype.kind in "biuf":
        return numeric(column, name, use)
    if column.dtype != object or not {*map(type, column.tolist())} <= {str, type(None)}:
        raise unreadable(name, f"an array of {column.dtype}")
    return column


def numeric(array: Cells, name: str, use: Use) -> Cells:
    """A numeric array in the machine's byte order, in a width that every engine knows.

    A number of 2^53 or more names no unit: had any row none, a library would have made floats of them all, and merged some.
    """
    if array.dtype.kind == "f":
        if use == "unit" and array.dtype.itemsize != 8:
            raise inexact(name)
        with np.errstate(over="ignore"):
            array = array.astype(np.float32 if array.dtype.itemsize < 8 else np.float64)
    elif not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    large = (array >= LARGEST_WHOLE) | (array <= -LARGEST_WHOLE) if use == "unit" else None
    return array if large is None or not large.any() else np.where(large, np.nan, array)


def unreadable(name: str, kind: str) -> OwnerError:
    """Say that a column is of a type which holds no cells."""
    return OwnerError(
        f'"{name}" holds {kind}, not numbers, texts or dates: '
        "convert it first, or remove the column from the schema."
    )


def declared_otherwise(name: str, declared: str, kind: str, fit: str) -> OwnerError:
    """Say that a column is declared as what it does not hold, and what would fit."""
    return OwnerError(
        f'"{name}" is declared {declared}, but the data hold {kind}: convert it first, or declare it type = "{fit}".'
    )


def written_otherwise(name: str, kind: str) -> OwnerError:
    """Say that a column holds numbers as such, of which no text has the declared form."""
    return OwnerError(
        f'"{name}" holds {kind}, which have a point whatever is declared: remove decimal = "," from the schema.'
    )


def inexact(name: str, kind: str = "floats of another width than 64 bits") -> OwnerError:
    """Say that a unit column is of a type that may have merged two units."""
    return OwnerError(
        f'The unit column "{name}" holds {kind}, which may have merged two units already: '
        "convert the column to integers or text where the numbers are still whole."
    )
