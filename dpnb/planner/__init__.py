"""From questions to measurements with noise: column expressions, questions, check, split, price.

Everything here is a pure function of public facts: the question, the schema and the requested loss.
No function in this package takes data, so a price can be shown before anything is spent. The wing derives what a plan costs,
in the kernel to show it and in the curator to charge it. This package chooses how a loss is split, and which noise is best.
"""

from dpnb.planner.check import CheckedQuestion, check
from dpnb.planner.price import PricedBatch, PricedQuestion, PriceRow, price
from dpnb.planner.question import Question
from dpnb.planner.request import Ask, Item

__all__ = [
    "Ask",
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
