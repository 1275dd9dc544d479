"""``python -m dpnb.trusted.curator --home FOLDER``: the process that alone opens protected files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.server import main
from dpnb.trusted.wire.places import Home

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m dpnb.trusted.curator", description=__doc__)
    parser.add_argument(
        "--home", type=Path, help="the home (default: DPNB_HOME, else the user's data folder)"
    )
    parser.add_argument(
        "--studies", metavar="MODULE", help="where find(name) finds public studies (default: none is served)"
    )
    asked = parser.parse_args()
    home = Home(asked.home.absolute()) if asked.home else Home.current()
    sys.exit(main(Config.from_environment(home, asked.studies)))
