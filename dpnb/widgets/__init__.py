"""The interactions: every ε can be dragged, and what depends on it answers at once.

One Python module and one front-end module each; ``labextension/src/maths`` computes in the browser what the functions
named beside it compute here. :func:`built` says whether this installation brings that front end. Closed forms run while a hand drags; the kernel hears when it lets go. Moving a control
never spends, and on protected data only public metadata and past releases are drawn.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = [
    "attach",
    "attack_bench",
    "budget",
    "built",
    "clamp",
    "coverage_lab",
    "drag_person",
    "exhibits",
    "guide",
    "noises",
    "odds",
    "page",
    "panel",
    "plan",
    "remeasure",
    "seesaw",
    "stored",
]

_NAMES = {
    "attach": ("dpnb.widgets.attach_card", "Attach"),
    "attack_bench": ("dpnb.widgets.attack_board", "AttackBench"),
    "budget": ("dpnb.widgets.panels", "BudgetBar"),
    "built": ("dpnb.widgets._base", "built"),
    "panel": ("dpnb.widgets.panels", "panel"),
    "plan": ("dpnb.widgets.plan_board", "PlanBoard"),
    "clamp": ("dpnb.widgets.clamp_handles", "ClampHandles"),
    "coverage_lab": ("dpnb.widgets.coverage", "CoverageLab"),
    "remeasure": ("dpnb.widgets.remeasure_control", "Remeasure"),
    "drag_person": ("dpnb.widgets.one_person", "OnePerson"),
    "exhibits": ("dpnb.widgets.exhibit_gallery", "Exhibits"),
    "noises": ("dpnb.widgets.two_noises", "Noises"),
    "guide": ("dpnb.widgets.guide_screens", "Guide"),
    "odds": ("dpnb.widgets.odds_explorer", "Odds"),
    "page": ("dpnb.widgets.pages", "page"),
    "stored": ("dpnb.widgets.stored_answer", "StoredAnswer"),
    "seesaw": ("dpnb.widgets.see_saw", "Seesaw"),
}


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        module, attribute = _NAMES[name]
        return getattr(importlib.import_module(module), attribute)
    raise AttributeError(f"module 'dpnb.widgets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
