"""What TEACHING data allow and no other data: the truth, free draws of the same noise, laws of outcomes, and seeds.

Truth is computed in the kernel from the public source, by the reference evaluator; no curator is asked for it, and no message
exists in which it could be. Seeds belong to a curator of their own (:mod:`dpnb.teach.curator`), which opens nothing else.
"""

from dpnb.teach.prediction import predict, reveal

__all__ = ["predict", "reveal"]
