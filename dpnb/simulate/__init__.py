"""Coverage and sweeps on arrays: a hundred thousand releases, simulated with seeded generators. It refuses handles."""
