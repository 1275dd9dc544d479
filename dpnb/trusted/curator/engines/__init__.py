"""Data engines: they prepare an owner's table once, and answer exact integer questions about it in one scan.

An engine is an adapter. It equals :mod:`dpnb.trusted.aggregate.reference` bit for bit, raises on no data, adds no noise, keeps
nothing about the person who asks, and reports no size, count or progress. Its answers never leave the curator.
"""

from dpnb.trusted.curator.engines.copies import Engine
from dpnb.trusted.curator.engines.duckdb import DuckDBEngine
from dpnb.trusted.curator.engines.preparing import prepare

__all__ = ["DuckDBEngine", "Engine", "prepare"]
