"""Cards: pure functions from schema, plan, release and ledger to HTML, SVG, text and JSON.

A card never computes a fact and is never the only place that states it: it shows what lower packages computed. It refuses
to load anything from outside, to trust a label, and to show more digits than the uncertainty supports. What must
never change: every card can be read as plain text and as HTML without styles and drawings; the two intervals are drawn with
different shapes and are always named.
"""

from dpnb.cards.attach import attach_card, schema_card
from dpnb.cards.budget import budget_card
from dpnb.cards.card import Card
from dpnb.cards.ledger import ledger_card
from dpnb.cards.plan import plan_card
from dpnb.cards.power import power_card
from dpnb.cards.released import estimate_card, release_card, select_card
from dpnb.cards.report import Report, report
from dpnb.estimate import provide_views
from dpnb.estimate.host import Views

__all__ = [
    "Card",
    "Report",
    "attach_card",
    "budget_card",
    "estimate_card",
    "ledger_card",
    "plan_card",
    "power_card",
    "release_card",
    "report",
    "schema_card",
    "select_card",
]


def views() -> Views:
    """Return what ``Estimate.plot`` and ``Estimate.explain`` call."""
    from dpnb.cards.explain import explain
    from dpnb.cards.plot import estimate_axes

    return estimate_axes, explain


provide_views(views)
