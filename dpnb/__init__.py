"""Differential privacy in the notebook: ask, see the price, release, and know how sure you may be."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"
__all__ = ["__version__", "load_ipython_extension"]


def load_ipython_extension(shell: Any) -> None:
    """Make ``%load_ext dpnb`` register the magics."""
    from dpnb import notebook

    notebook.load(shell)
