"""Charges whose measurements do not matter, for ledgers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.query.price import Charge


def charge_of(
    measured: str,
    texts: Iterable[str],
    events: Iterable[PrivacyEvent],
    share: Mapping[str, str] = {},
) -> Charge:
    """Return a charge of nothing measured, at these events."""
    bundle: Any = SimpleNamespace(
        texts=tuple(texts), share=SimpleNamespace(to_json=lambda: dict(share)), plan={}
    )
    return Charge(bundle, measured, tuple(events))
