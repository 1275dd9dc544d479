"""Exact questions: what an engine is asked, and what the answer means, spelled out in numpy.

This room holds a small integer algebra (:mod:`dpnb.trusted.aggregate.algebra`), its meaning
(:mod:`dpnb.trusted.aggregate.reference`: what engines run over their counts, and equal), and the one way in which a raw
table becomes integers on its declared grid (:mod:`dpnb.trusted.aggregate.preparation`). It refuses floats after the
quantiser, division by anything but a positive constant, and any result that depends on the order of rows.
The meaning of a node never changes: a released number depends on it.
"""
