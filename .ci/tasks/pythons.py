"""What may differ between Pythons, and so runs under each of them."""

from __future__ import annotations

import os

from tasks import project

# What may differ between Pythons, and why; the rest (laws, coverage, attacks, plans, displays) is arithmetic on numbers that
# these show to be the same, and runs under the first Python alone. tests/repo holds this table against the tests' imports.
DIFFERS = {
    "tests/notebook": "code objects, frames, tracebacks, cells that await, and a real kernel",
    "tests/wire": "sockets, threads, JSON and the errors of each",
    "tests/serving": "TLS, sockets, processes, TOML and clocks",
    "tests/curator/engines": "engines and sources under their contracts: how floats, decimals, dates and CSV are read",
    "tests/postgres/test_engine.py": "an engine under its contract, and what its driver makes of numbers",
    "tests/aggregate": "one cell, read by itself, and the numpy meaning of every question",
    "tests/noise": "laws under their contract: bits, fractions and roundings",
    "tests/mechanisms/test_additive.py": "mechanisms under their contract",
    "tests/statistics/test_golden_releases.py": "every statistic and every mechanism draws, bit for bit, what is on file",
    "tests/privacy/test_accountant.py": "sums of exact losses",
    "tests/privacy/test_conversion.py": "floats that are rounded upwards",
    "tests/privacy/test_event.py": "events, read and written exactly",
    "tests/privacy/test_loss.py": "decimals, fractions and pickles",
    "tests/estimate/test_collection.py": "weak references, and coroutines that ask",
    "tests/estimate/test_expression.py": "recursion, and how chains are freed",
    "tests/estimate/test_identity.py": "pickles, copies and hashes",
    "tests/estimate/test_table_formats.py": "CSV and JSON",
    "tests/cards/test_report_formats.py": "JSON, and processes that print",
    "tests/estimate/test_programs.py": "what a program still holds",
    "tests/estimate/test_readings.py": "pickles",
    "tests/estimate/test_texts.py": "pickles, and the errors' texts",
    "tests/client/test_archive.py": "zip files, CSV and JSON",
    "tests/client/test_frequent.py": "pickles",
    "tests/client/test_handles.py": "pickles, and attributes that are looked up",
    "tests/client/test_prepared.py": "TOML and CSV",
    "tests/client/test_session.py": "pickles",
    "tests/client/test_tables.py": "pickles",
    "tests/planner/test_compile.py": "pickles",
    "tests/planner/test_question.py": "pickles",
    "tests/curator/test_adoption_rules.py": "sqlite3, and threads that race",
    "tests/curator/test_home_attacks.py": "sqlite3, and file descriptors that a fork inherits",
    "tests/curator/test_ledger.py": "sqlite3: transactions, and what a damaged file raises",
    "tests/curator/test_mark.py": "sqlite3 and file descriptors",
    "tests/curator/test_ledger_tables.py": "sqlite3",
    "tests/curator/test_shares.py": "sqlite3, and threads that race",
    "tests/curator/test_together.py": "sqlite3, and threads that wait for one another",
    "tests/curator/test_content.py": "sqlite3, and digests of what a frame holds",
    "tests/curator/test_sources.py": "CSV, SQLite and files by descriptor",
    "tests/owner/test_holds.py": "sqlite3, and processes that are killed",
    "tests/owner/test_publication.py": "CSV and JSON, and a process that verifies",
    "tests/bad_input/test_cell.py": "what Python itself says of a mistake, in our words",
    "tests/bad_input/test_faults.py": "what the system says of a full disk and a lost curator",
    "tests/bad_input/test_files.py": "files as they come: CSV, encodings, Parquet",
    "tests/test_init.py": "names that are loaded when asked for",
    "tests/test_modules.py": "every module imports",
    "tests/test_schema.py": "TOML",
    "tests/widgets/test_deposit.py": "TOML",
}
# wire and pickles run under each of the other Pythons every day; each file of these places under each of them once in DAYS days.
# Thirteen has no factor in common with the turns of cases (`tests.examples`): each case meets each Python in the end. `make soak`
# runs all places under all of them.
DAYS = 13
IN_TURN = (
    "tests/notebook",
    "tests/curator/engines",
    "tests/noise",
    "tests/aggregate",
    "tests/postgres/test_engine.py",
    "tests/mechanisms/test_additive.py",
    "tests/statistics/test_golden_releases.py",
    "tests/serving",
    "tests/privacy/test_accountant.py",
    "tests/privacy/test_conversion.py",
    "tests/privacy/test_event.py",
    "tests/curator/test_adoption_rules.py",
    "tests/curator/test_home_attacks.py",
    "tests/curator/test_ledger.py",
    "tests/curator/test_mark.py",
    "tests/curator/test_shares.py",
    "tests/curator/test_together.py",
    "tests/curator/test_ledger_tables.py",
    "tests/curator/test_content.py",
    "tests/curator/test_sources.py",
    "tests/owner/test_holds.py",
    "tests/owner/test_publication.py",
    "tests/bad_input/test_cell.py",
    "tests/bad_input/test_faults.py",
    "tests/bad_input/test_files.py",
    "tests/test_schema.py",
    "tests/widgets/test_deposit.py",
)
REST = "not soak and not slow and not repo"


def may_differ(number: int, others: int) -> list[str]:
    """Return what one of the other Pythons runs today; within DAYS days each ran everything, and no two the same on one day."""
    today = int(os.environ["DPNB_ROTATION"]) + number * DAYS // others
    always = [place for place in DIFFERS if place not in IN_TURN]
    return always + [file for turn, file in enumerate(files_in_turn()) if (turn + today) % DAYS == 0]


def files_in_turn() -> list[str]:
    """Return the files of tests in the places that take turns."""
    found = []
    for place in IN_TURN:
        path = project.ROOT / place
        found += sorted(path.glob("test_*.py")) if path.is_dir() else [path]
    return [path.relative_to(project.ROOT).as_posix() for path in found]
