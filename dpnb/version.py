"""The version, in a module of its own: rooms that print it need not import the root, which offers the names of upper rooms."""

from __future__ import annotations

from typing import Final

__version__: Final = "0.1.0"
