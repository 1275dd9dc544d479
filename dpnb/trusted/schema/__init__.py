"""What everybody may know about a dataset: columns, grids, categories, privacy unit, budget.

A column is first an integer on its declared grid, or missing; everything that is computed later is computed on
those integers. This room turns declared bounds into grids with exact rationals and says which code a value has.
It refuses bounds that are not finite, grids that no integer can hold, and categories that are not distinct.
It never sees a row: a schema is written by people, and nothing in it may be learnt from the data.

What never changes: a grid has an even number of steps (an odd one is halved), ``value = lower + step * code``,
a row's code is ``floor(t + 1/2)`` clamped to the grid, and a category's code is its place in the declared list.
"""

from dpnb.trusted.records import nearest
from dpnb.trusted.schema.column import Column, Value
from dpnb.trusted.schema.dataset import Mode, Schema

__all__ = ["Column", "Mode", "Schema", "Value", "nearest"]
