"""The process that holds the data: it checks, prices, charges, answers, stores and sends, in this order.

The room trusts nothing that a kernel computed, keeps no state outside the ledger and the prepared copies, and tells a kernel
nothing of a fault but its code. Only this room reaches a data engine, the ledger's database or secure bits.
"""
