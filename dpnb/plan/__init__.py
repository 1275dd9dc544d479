"""From questions to a priced batch: column expressions, questions, check, price, canonical form.

Everything here is a pure function of public facts: the question, the schema and the loss that is asked.
No function in this room takes data, so a price can be shown before anything is spent, and the curator repeats
the same steps with the same code. It refuses what the schema cannot bound. The canonical form of a question is
permanent: a stored answer is found by it.
"""

from dpnb.plan.check import CheckedQuestion, check
from dpnb.plan.price import PricedBatch, PricedQuestion, PriceRow, price, total
from dpnb.plan.question import QueryPlan
from dpnb.plan.request import Ask, BatchPlan, Item

__all__ = [
    "Ask",
    "BatchPlan",
    "CheckedQuestion",
    "Item",
    "PriceRow",
    "PricedBatch",
    "PricedQuestion",
    "QueryPlan",
    "check",
    "price",
    "total",
]
