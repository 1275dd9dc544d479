"""The axes of what leaves: one direction of a vector, with a public key for each place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a vector: its keys are public.

    Parameters
    ----------
    name, label : str
        The column, and how to say it.
    keys : tuple
        One key for each place.
    """

    name: str
    label: str
    keys: tuple[Any, ...]
