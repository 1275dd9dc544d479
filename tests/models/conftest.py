"""The small dataset, opened by a session whose curator is in this process."""

from __future__ import annotations

from tests.client.conftest import session

__all__ = ["session"]
