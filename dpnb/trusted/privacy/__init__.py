"""What is promised: measures, losses in exact rationals, the privacy unit, events, and the accountant.

This room imports nothing but the errors. It refuses floats as amounts (they are read as their decimal text), sums
across measures, and refunds. The event vocabulary and the exact texts are permanent: ledgers outlive releases.
"""
