"""``dpnb admin``: every act of an owner, in the order in which one meets them."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from dpnb.owner import dataset_acts, deposit_page, ledger_acts, publication_acts, token_acts

_ACTS: tuple[Callable[[ledger_acts.Acts], None], ...] = (
    deposit_page.add_deposit,
    dataset_acts.add_schema,
    ledger_acts.add_check,
    dataset_acts.add_add,
    dataset_acts.add_budget,
    ledger_acts.add_loosen,
    dataset_acts.add_cap,
    dataset_acts.add_grant,
    publication_acts.add_release,
    publication_acts.add_publish,
    publication_acts.add_receipt,
    dataset_acts.add_freeze,
    dataset_acts.add_unfreeze,
    dataset_acts.add_close,
    ledger_acts.add_verify,
    ledger_acts.add_backup,
    ledger_acts.add_restore,
    token_acts.add_token,
)

_WAY = """on one screen, in the browser:
  dpnb admin deposit people.csv
or step by step:
  dpnb init people.csv                    draft a declaration; fill it in from outside knowledge
  dpnb admin check people.dpnb.toml       check the file against it: exact counts
  dpnb admin budget people.dpnb.toml      show what its budget means for one person
  dpnb admin add people.dpnb.toml         add it to the ledger
  dpnb admin release people.dpnb.toml --statistics s.toml --epsilon 1     see the accuracy, confirm, release
  dpnb admin close people --reason "…"    close it for ever; or leave the rest of the budget to analysts
  dpnb admin publish people.dpnb.toml --statistics s.toml --epsilon 1 --to published --reason "…"
Commands that cannot be undone ask once; use --yes in a script. --json prints the same facts for a program.
Each command is recorded in the ledger, with who, when and why. Exit status: 0 done, 2 refused."""


def add_admin(admin: argparse.ArgumentParser) -> None:
    """Add the acts of an owner to ``dpnb admin``."""
    admin.formatter_class = argparse.RawDescriptionHelpFormatter
    admin.epilog = _WAY
    acts = admin.add_subparsers(required=True, metavar="act")
    for add in _ACTS:
        add(acts)
