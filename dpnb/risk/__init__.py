"""What a privacy loss means, and how losses compose: numbers for displays and exhibits, never for a ledger.

Odds for one person, composition and conversion curves, loss distributions, the price of a bootstrap, and a float sampler
whose low bits tell what it should hide. It refuses data: losses and scales go in, probabilities and curves come out.
"""
