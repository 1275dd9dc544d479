"""The steps at which a test can end the curator. In a real curator every step is passed without effect.

The names of the steps are the order of a release; nothing outside the tests installs a hook, and no environment variable or
message can.
"""

from __future__ import annotations

from collections.abc import Callable

STEPS = (
    "received",
    "checked",
    "before-charge",
    "committing",
    "charged",
    "scanned",
    "noised",
    "before-store",
    "stored",
    "before-send",
)

_HOOK: list[Callable[[str], None]] = []


def at(step: str) -> None:
    """Pass a step."""
    for hook in _HOOK:
        hook(step)


def install(hook: Callable[[str], None] | None) -> None:
    """Call ``hook(step)`` at every step from now on; ``None`` removes it. For tests."""
    _HOOK.clear()
    if hook is not None:
        _HOOK.append(hook)
