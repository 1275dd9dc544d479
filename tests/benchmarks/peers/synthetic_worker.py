"""One library's synthetic rows, so many releases of so many people each, a line of figures for each: ``python -m peers.synthetic_worker synthetic_ours 10000 3``."""

from __future__ import annotations

import argparse
import importlib
import json
import resource

from .synthetic_study import figures, sample


def main() -> None:
    """Run one library."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer")
    parser.add_argument("rows", type=int)
    parser.add_argument("runs", type=int)
    asked = parser.parse_args()
    module = importlib.import_module(f".{asked.peer}", __package__)
    for run in range(asked.runs):
        data = sample(asked.rows, 1_000 + run)
        for made in module.made(data):
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            line = {"method": made.method, "rows": asked.rows, "run": run, **figures(made, data)}
            print(json.dumps({**line, "seconds": made.seconds, "mib": most}), flush=True)


if __name__ == "__main__":
    main()
