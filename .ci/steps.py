"""The steps behind the Makefile: environments, the browser for the tests, and what runs in them.

Needs the standard library alone and runs under any Python 3.8 or newer, because it is what finds the
Python that dpnb needs. It never downloads a Python, Node or a browser of its own, and it removes only
environments that carry its stamp. What the steps do is in the modules of `tasks`, beside this file.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NoReturn

from tasks.benches import bench
from tasks.cleaning import clean
from tasks.looks import demo, docs, lab, reference, school, wheel
from tasks.project import Failure
from tasks.testing import check, soak, test

TARGETS = {
    "demo": demo,
    "lab": lab,
    "class": school,
    "wheel": wheel,
    "docs": docs,
    "reference": reference,
    "check": check,
    "test": test,
    "soak": soak,
    "bench": bench,
    "clean": clean,
}


def main() -> NoReturn:
    """Run one target."""
    # hundreds of processes import dpnb, and to compile it each time is half of such a start; `make clean` removes what is kept
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        succeeded = TARGETS[sys.argv[1]](sys.argv[2:])
    except Failure as failure:
        print("-- " + str(failure), file=sys.stderr)
        succeeded = False
    except subprocess.CalledProcessError as failure:
        print("-- This command failed: " + " ".join(map(str, failure.cmd)), file=sys.stderr)
        succeeded = False
    sys.exit(0 if succeeded else 1)


if __name__ == "__main__":
    main()
