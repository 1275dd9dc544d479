"""The guide of a shop's log, executed cell by cell: from a raw file with undeclared products and post codes to a card."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from dpnb.client import api
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.wire.places import Home
from tests.notebook.conftest import Notebook

GUIDE = Path(__file__).parents[2] / "notebooks" / "guides" / "shop-log.ipynb"
PRODUCTS = {"tea": 4.0, "coffee": 6.0, "cake": 9.0, "bread": 3.0, "oat milk": 2.0}


@pytest.mark.slow
def test_the_guide_leads_from_a_file_to_a_card(shell, tmp_path, monkeypatch):
    """What many have is shown with its mean, what one customer alone has is nowhere, and three charges stand in the ledger."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPNB_HOME", str(tmp_path / "shop-home"))
    notebook = Notebook(shell, None)
    for cell in nbformat.read(GUIDE, as_version=4).cells:
        if cell.cell_type == "code":
            # of two hundred orders that one customer alone has, none is shown by chance either
            notebook(cell.source.replace('delta="1e-7"', 'delta="1e-10"'))
    products, towns = shell.user_ns["products"], shell.user_ns["towns"]
    assert set(products.keys) == set(PRODUCTS)
    for name, cost in PRODUCTS.items():
        low, high = products.means()[name].interval(1 - 1e-7, "privacy")
        assert low - 0.2 < cost < high + 0.2  # the mean of what was drawn is that near
        assert products.means()[name].interval(1 - 1e-6, "privacy").width < 4
    assert all(len(town) == 5 and town.startswith("01") for town in towns.keys)
    assert "special order" not in repr(products.to_frame()) + repr(shell.user_ns["quarters"].to_frame())
    api.close()
    with Ledger(Home(tmp_path / "shop-home").ledger) as ledger:
        assert [row.kind for row in ledger.statement("shop")] == ["attach", "charge", "charge", "charge"]
    assert b"special order" not in Home(tmp_path / "shop-home").ledger.read_bytes()
