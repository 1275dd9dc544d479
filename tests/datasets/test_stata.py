"""Stata files are read as pandas reads them, without pandas."""

from __future__ import annotations

import importlib.util
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpnb.datasets import find, stata
from dpnb.errors import OwnerError

SHIPPED = (
    "thornton_hiv/thornton_hiv.dta",
    "nhefs/nhefs.dta",
    "nsw_mixtape/nsw_mixtape.dta",
    "cps_mixtape/cps_mixtape.dta",
)


def shipped(name: str) -> Path:
    return Path(importlib.util.find_spec("causaldata").submodule_search_locations[0]) / name


def same(ours, theirs) -> None:
    """The names, and every value with its missing ones, are those of a frame that pandas read."""
    assert list(ours) == list(theirs.columns)
    for name, values in ours.items():
        expected = theirs[name].to_numpy()
        if values.dtype == object:
            assert [one if one == one else None for one in values] == [  # noqa: PLR0124 (NaN)
                one if one == one else None  # noqa: PLR0124 (NaN)
                for one in expected.tolist()
            ]
        else:
            np.testing.assert_array_equal(values, expected.astype(np.float64))


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_file_is_read_as_pandas_reads_it(name):
    path = shipped(name)
    same(stata.read(path.read_bytes()), pd.read_stata(path))


@pytest.mark.parametrize("order", [">", "<"])
def test_every_type_label_and_missing_value_is_read_as_pandas_reads_it(order):
    frame = pd.DataFrame(
        {
            "a_byte": np.array([-127, 0, 100], dtype="i1"),
            "a_int": np.array([-32_767, 1, 32_740], dtype="i2"),
            "a_long": np.array([-2_147_483_647, 2, 2_147_483_620], dtype="i4"),
            "a_float": np.array([1.5, np.nan, -1e38], dtype="f4"),
            "a_double": [0.1, np.nan, 1e300],
            "text": ["", "Zürich", "a b"],
            "labelled": pd.Categorical(["no", "yes", None]),
            "other": pd.Categorical(["x", "y", "x"]),
        }
    )
    file = io.BytesIO()
    frame.to_stata(file, version=118, write_index=False, byteorder=order)
    same(stata.read(file.getvalue()), pd.read_stata(io.BytesIO(file.getvalue())))


@pytest.mark.parametrize("version", [114, 117])
def test_a_file_of_another_format_is_refused(version):
    file = io.BytesIO()
    pd.DataFrame({"x": [1.0]}).to_stata(file, version=version)
    with pytest.raises(ValueError, match="format 118"):
        stata.read(file.getvalue())


def test_long_texts_are_refused():
    file = io.BytesIO()
    pd.DataFrame({"x": ["a" * 3000]}).to_stata(file, version=118, convert_strl=["x"])
    with pytest.raises(ValueError, match="long texts"):
        stata.read(file.getvalue())


def test_a_study_whose_file_has_another_format_names_the_package_to_install(monkeypatch):
    monkeypatch.setattr(Path, "read_bytes", lambda self: b"another")
    with pytest.raises(OwnerError, match=r'thornton_hiv\.dta .*pip install "dpnb\[studies\]"'):
        find("hiv").load()
