"""What crosses between a kernel and its curator: typed messages, a strict codec, and where they meet.

The room refuses pickle, unknown fields, deep nesting and long bodies, before anything is built from them.
Numbers that a guarantee depends on travel as exact text. A message tag, once released, never changes meaning.
"""

from dpnb.trusted.wire.codec import decode_request, encode
from dpnb.trusted.wire.places import Home

__all__ = ["Home", "decode_request", "encode"]
