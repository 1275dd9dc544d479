"""``dpnb admin deposit people.csv``: the four steps as a page, for an owner who has no notebook open.

It writes one notebook beside the file, if it is not there, and starts JupyterLab on it, on this machine alone. The notebook holds the line
that shows the screen; every act leaves its cell there, so that the notebook is the record of the deposit.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

from dpnb.errors import OwnerError
from dpnb.owner.command_output import Output
from dpnb.owner.draft import fields_of
from dpnb.owner.ledger_acts import Acts
from dpnb.trusted.canonical import Record

_BEGIN = (
    "# Deposit {file}\n\nClick the cell below, and press **Shift** + **Enter**. Four steps appear: declare the file, choose its budget, pick "
    "what is published, open or close. No row is read until you release, and nothing is spent before."
)
_WITHOUT = 'JupyterLab is not installed here: pip install "dpnb[lab]". In a notebook that you have: %load_ext dpnb, then %dp deposit {file}'


def add_deposit(acts: Acts) -> None:
    """Add ``deposit``."""
    deposit = acts.add_parser(
        "deposit",
        help="declare, budget, pre-release, close: the four steps on one screen in the browser",
        description="Opens JupyterLab on a notebook beside the file. Only names and types of its columns are read. End it with Ctrl+C.",
        epilog="example: dpnb admin deposit people.csv",
    )
    deposit.add_argument("data", type=Path, help="people.csv, people.parquet or people.duckdb")
    deposit.add_argument(
        "--no-browser", action="store_true", help="print the address instead of opening a browser"
    )
    deposit.set_defaults(run=_deposit)


def _deposit(options: argparse.Namespace) -> Output:
    fields_of(options.data)  # what is wrong with the file is said here, not in a browser
    if importlib.util.find_spec("jupyterlab") is None:
        raise OwnerError(_WITHOUT.format(file=options.data))
    notebook = written(options.data)
    flags = ["--no-browser"] if options.no_browser else []
    command = [sys.executable, "-m", "jupyterlab", notebook.name, "--ServerApp.ip=127.0.0.1", *flags]
    try:
        ended = subprocess.run(command, cwd=notebook.parent.absolute(), check=False).returncode
    except KeyboardInterrupt:
        ended = 0
    if ended:
        raise OwnerError(f"JupyterLab ended with {ended}; its output is above. The notebook is {notebook}.")
    return Output(f"The deposit of {options.data} is in {notebook}.", {"notebook": str(notebook)})


def written(data: Path) -> Path:
    """Write the notebook of a deposit beside its file, and return where; one that is there is left as it is.

    Raises
    ------
    OwnerError
        Where it cannot be written.
    """
    path = data.with_suffix(".deposit.ipynb")
    try:
        with path.open("x", encoding="utf-8") as file:
            json.dump(_notebook(data.name), file, ensure_ascii=False, indent=1)
    except FileExistsError:
        pass
    except OSError as fault:
        raise OwnerError(f"{path} cannot be written: {fault.strerror}.") from None
    return path


def _notebook(name: str) -> Record:
    code = {
        "execution_count": None,
        "outputs": [],
        **_cell("code", "begin", f"%load_ext dpnb\n%dp deposit {json.dumps(name)}"),
    }
    return {
        "cells": [_cell("markdown", "read", _BEGIN.format(file=name)), code],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cell(kind: str, name: str, source: str) -> Record:
    return {"cell_type": kind, "id": name, "metadata": {}, "source": source}
