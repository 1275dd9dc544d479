"""What crosses between a kernel and its curator: typed messages, a strict codec, transports, and where they meet.

The room refuses pickle, unknown fields, deep nesting and long bodies, before anything is built from them.
Numbers that a guarantee depends on travel as exact text. A message tag, once released, never changes meaning.
"""

from dpnb.trusted.wire.codec import decode_reply, decode_request, encode
from dpnb.trusted.wire.places import Home
from dpnb.trusted.wire.transport import InMemory, TcpTransport, Transport, UnixTransport

__all__ = [
    "Home",
    "InMemory",
    "TcpTransport",
    "Transport",
    "UnixTransport",
    "decode_reply",
    "decode_request",
    "encode",
]
