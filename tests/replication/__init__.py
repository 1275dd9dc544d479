"""Corrected procedures of the papers that dpnb builds on, on arrays: what several tests compare with.

Print beside ours is in ``notebooks/replication``.
"""
