"""What a built-in study is: a public schema, a citation, and raw columns on demand.

The rows lie beside this module or in the file that an installed package ships; nothing is downloaded, and neither
pandas nor statsmodels is imported for it. Bounds and levels come from codebooks and papers, never from the rows.
"""

from __future__ import annotations

import csv
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpnb.errors import OwnerError
from dpnb.trusted.aggregate.arrays import Cells
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Mode, Schema

Columns = dict[str, Cells]

EXTRA = 'pip install "dpnb[studies]"'


@dataclass(frozen=True, slots=True)
class Study:
    """A public or simulated study that can be opened by name.

    Attributes
    ----------
    schema : Schema
        Everything that is known of it without its rows.
    read : callable
        Makes the raw columns, missing values included.
    simulated : bool
        True when the rows are generated and about nobody.
    """

    schema: Schema
    read: Callable[[], Mapping[str, Cells]]
    simulated: bool = False

    @property
    def name(self) -> str:
        """The name by which it is opened."""
        return self.schema.name

    @property
    def citation(self) -> str:
        """How to cite it."""
        return self.schema.citation

    def load(self) -> Columns:
        """Return the raw columns that the schema declares.

        Returns
        -------
        dict of str to ndarray
            One array for each column, all of one length: numbers with NaN, or objects with None, for missing.

        Raises
        ------
        OwnerError
            When the package that ships the study is not installed; the message names the command.
        """
        raw = self.read()
        return {name: np.asarray(raw[name]) for name in self.schema.names}


def public_study(name: str, title: str, rows: int, columns: tuple[Column, ...], **facts: Any) -> Schema:
    """Describe a public study: change-one over its public number of rows, ε 4 for guard-rail use."""
    return Schema(
        name=name,
        title=title,
        columns=columns,
        unit=PrivacyUnit("change-one", rows=rows),
        budget=Budget.from_toml({"epsilon": 4}),
        mode=Mode.TEACHING,
        public=True,
        **facts,
    )


def flag(name: str, label: str) -> Column:
    """Declare a column of 0 and 1."""
    return Column.category(name, [0, 1], label=label)


def read_rows(name: str) -> Columns:
    """Read the columns of a study that dpnb ships.

    Notes
    -----
    They are the declared columns of files of causaldata 0.1.5 (copyright 2021 Nick Huntington-Klein, MIT licence), each value to the last bit.
    They were written by::

        folder = Path(causaldata.__file__).parent
        for name, file in {
            "hiv": "thornton_hiv",
            "nsw": "nsw_mixtape",
            "cps": "cps_mixtape",
            "nhefs": "nhefs",
        }.items():
            frame = pandas.read_stata(folder / file / f"{file}.dta")
            rows = {column: frame[column].to_numpy(float) for column in find(name).schema.names}
            numpy.savez_compressed(f"dpnb/datasets/rows/{name}.npz", **rows)
    """
    with np.load(Path(__file__).parent / "rows" / f"{name}.npz", allow_pickle=False) as columns:
        return dict(columns)


def read_delimited(package: str, *parts: str, delimiter: str = ",") -> Columns:
    """Read a text file of numbers, with a header line, that a package ships."""
    path = _shipped(package, *parts)
    with path.open(encoding="utf-8", newline="") as lines:
        names = [name.strip().strip("'\"") for name in next(csv.reader(lines, delimiter=delimiter))]
        table = np.loadtxt(lines, delimiter=delimiter, dtype=np.float64, ndmin=2)
    return dict(zip(names, table.T, strict=True))


def _shipped(package: str, *parts: str) -> Path:
    """Find a package's data file without importing the package."""
    found = importlib.util.find_spec(package)
    for folder in (found.submodule_search_locations or []) if found else []:
        path = Path(folder).joinpath(*parts)
        if path.is_file():
            return path
    raise OwnerError(f"this study comes with the package {package}, which is not installed. Run: {EXTRA}")
