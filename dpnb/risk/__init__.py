"""What a privacy loss means, and how losses compose: numbers for displays and exhibits, never for a ledger.

Odds for one person, composition and conversion curves, loss distributions, the price of a bootstrap, and a float sampler
whose low bits reveal what it should hide. It takes no data: losses and scales go in, probabilities and curves come out.
"""
