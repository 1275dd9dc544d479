"""How randomness is drawn: exact integer samplers from random words, and where words come from.

``exact`` draws a law without any floating-point decision; ``secure`` is the operating system's entropy; only the curator may
import it, so this package never does. What a law says of a value, and its fast simulator, stand outside (:mod:`dpnb.inference.law`).
"""
