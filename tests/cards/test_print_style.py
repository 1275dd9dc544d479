"""A style file for print: matplotlib finds it by name, every key is one that it knows, and fonts are embedded."""

from __future__ import annotations

import warnings

import matplotlib as mpl
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from tests.cards import made


def test_the_style_is_found_by_its_name_and_says_nothing():
    """One column wide, and no key that matplotlib would warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with plt.style.context("dpnb.print"):
            assert plt.rcParams["figure.figsize"] == [3.4, 2.4]


@pytest.mark.parametrize("name", ["effect", "villages"])
def test_a_picture_in_print_style_embeds_its_fonts(tmp_path, name):
    """A PDF of one column, whose fonts are TrueType: journals refuse Type 3."""
    with plt.style.context("dpnb.print"):
        axes = made.estimate(name).plot()
        axes.figure.savefig(tmp_path / "figure.pdf")
    written = (tmp_path / "figure.pdf").read_bytes()
    assert b"/Type3" not in written
    assert b"/Type0" in written or b"/TrueType" in written
