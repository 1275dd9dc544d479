"""The owner's side: the acts of ``dpnb admin``, and what they print. It is thin: what could break the promise is in the trusted wing.

It refuses to act without a reason, asks once before what cannot be taken back, and never prints what is not private into a notebook.
"""
