"""The trusted wing: what could break the promise if it were wrong.

From the ground up: ``privacy`` (measures, losses, events, the accountant), ``noise`` (laws, exact samplers, bits),
``schema`` (columns, grids, categories, an owner's file), ``releases`` (records of what left), ``aggregate`` (exact integer
questions and one reading of a cell), ``mechanisms``, ``measurements`` (what leaves, and what it costs), ``wire``
(messages), ``curator`` (the effects: engines, ledger, the order of the guarantee). ``docs/guarantee.md`` walks through
it rule by rule.

Nothing here imports another package of dpnb.
"""
