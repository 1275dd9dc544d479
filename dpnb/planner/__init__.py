"""From questions to measurements with noise: column expressions, questions, check, split, price.

Everything here is a pure function of public facts: the question, the schema and the loss that is asked.
No function in this room takes data, so that a price can be shown before anything is spent. What a plan costs is derived
by the wing, in the kernel to show it and in the curator to charge it; how a loss is split, and which noise is best, is chosen here.
"""

from dpnb.planner.check import CheckedQuestion, check
from dpnb.planner.price import PricedBatch, PricedQuestion, PriceRow, price, total
from dpnb.planner.question import Question
from dpnb.planner.request import Ask, BatchPlan, Item

__all__ = [
    "Ask",
    "BatchPlan",
    "CheckedQuestion",
    "Item",
    "PriceRow",
    "PricedBatch",
    "PricedQuestion",
    "Question",
    "check",
    "price",
    "total",
]
