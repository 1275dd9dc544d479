"""The owner's side: the commands of ``dpnb admin`` and their output. It is thin: code that could break the promise is in the trusted wing.

It refuses to act without a reason, asks once before anything that cannot be undone, and never prints private facts into a notebook.
"""
