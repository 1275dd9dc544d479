"""What an owner signs with the home's key and verifies: receipts of charges, a receipt's file, a publication, the whole ledger.

Nothing is changed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from dpnb.client.publication import read_publication
from dpnb.client.verification import verify_answers, verify_receipt, verify_released
from dpnb.errors import PlanError
from dpnb.owner.command_output import Output
from dpnb.trusted.canonical import Record, read_json
from dpnb.trusted.curator.audit_trail import Verification, examine
from dpnb.trusted.curator.database import aside
from dpnb.trusted.curator.guard import fault_of, journal_of, known_of, mark_at, owners_words, traces
from dpnb.trusted.curator.mark import Mark, advanced
from dpnb.trusted.curator.receipts import receipt_of, signed_receipt, signing_key
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.owner.owner_acts import acting
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.releases import Release
from dpnb.trusted.releases.signature import public_key, sign
from dpnb.trusted.wire.places import Home


def verify_receipt_file(path: Path, public: str) -> Output:
    """Verify a file with a signed receipt and its releases; no server and no ledger is asked.

    Raises
    ------
    OwnerError
        When it is no receipt, or a digit in it is not what was signed.
    """
    try:
        signed: Record = read_json(path.read_bytes())
        answers = signed.pop("releases")
        releases = [Release.from_json(one) for one in answers]
    except OSError as fault:
        raise OwnerError(f"{path} cannot be read: {fault.strerror}.") from None
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError, PlanError):
        raise OwnerError(f"{path.name} is not a receipt of dpnb, or it is damaged.") from None
    record = verify_receipt(signed, public)
    verify_released(releases, [record])
    verify_answers(answers, record)
    spent = PrivacyLoss.from_json(record["spent"])
    loss = PrivacyLoss.from_json(record["loss"])
    text = (
        f"{path.name}: entry {record['entry']} of ledger {record['ledger'][:12]} charged {record['principal']} {loss} for "
        f"{record['dataset']}, {spent} spent in all; {len(releases)} answers are what was signed. Head {record['head']}"
    )
    return Output(text, {"verified": True, **record})


def verify_file(path: Path, key: Path) -> Output:
    """Verify a published file, or a receipt, with a public key alone."""
    try:
        public = key.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        raise OwnerError(f"{key} is not a public key that can be read.") from None
    if not path.name.endswith(".releases.json"):
        return verify_receipt_file(path, public)
    record: Record = read_publication(path, public)
    count = len(record["statistics"])
    text = f"{path.name}: {count} statistics of {record['dataset']}, published {record['published']}; every number is what was signed."
    folders = _verified_folders(path.parent, record.get("synthetic", {}))
    for folder, there in folders.items():
        text += (
            f"\n{folder}: every synthetic table is what was signed."
            if there
            else f"\n{folder}: these synthetic tables are not beside the file, and were not verified."
        )
    facts = {"verified": True, "dataset": record["dataset"], "statistics": count, "synthetic": folders}
    return Output(text, facts)


def _verified_folders(beside: Path, signed: Mapping[str, str]) -> dict[str, bool]:
    """Verify the folders of synthetic tables that are there, and tell of each whether it is."""
    if not signed:
        return {}
    from dpnb.synthetic.files import verify_folder

    found = {folder: (beside / folder).is_dir() for folder in signed}
    for folder in (one for one, there in found.items() if there):
        verify_folder(beside / folder, signed[folder])
    return found


def receipts(home: Home, dataset: str, draws: Collection[str]) -> list[Record]:
    """Return the signed receipts of the charges of a dataset under which any of these draws was released, oldest first."""
    private, wanted = signing_key(home), set(draws)
    with acting(home) as ledger, ledger.showing() as db:
        query = "SELECT entry FROM charges WHERE dataset = ? AND principal <> '' ORDER BY entry"
        found = [receipt_of(db, entry) for (entry,) in db.execute(query, (dataset,)).fetchall()]
    return [
        {"receipt": one, "signature": sign("receipt", one, private)}
        for one in found
        if one is not None and not wanted.isdisjoint(part["draw"] for part in one["released"])
    ]


def receipt_file(home: Home, charge: int) -> Record:
    """Return the signed receipt of a charge with the answers that were stored under it.

    Raises
    ------
    OwnerError
        When the entry is no charge, or has no answer yet.
    """
    private = signing_key(home)
    with acting(home) as ledger, ledger.showing() as db:
        found = signed_receipt(db, charge, private, lambda _: True)
    if found is None:
        raise OwnerError(
            f"Entry {charge} is not a charge that was answered. The ledger's card and dpnb verify list those that were."
        )
    return found


def signed_publication(home: Home, record: Mapping[str, object]) -> Record:
    """Return a publication with the home's public key and signature."""
    private = signing_key(home)
    whole = {**record, "key": public_key(private)}
    return {**whole, "signature": sign("publication", whole, private)}


def verify(home: Home) -> str:
    """Recompute everything in a home's ledger: hashes, totals, tables, indexes, and that it is not below its mark.

    Parameters
    ----------
    home : Home

    Returns
    -------
    str
        What an intact ledger holds, in words.

    Raises
    ------
    OwnerError
        With the first bad entry and what to do.
    """
    if not home.ledger.exists():
        if traces(home.ledger) or journal_of(home.ledger).exists():
            raise OwnerError(owners_words("it is missing, with entry 1 and all after it"))
        raise OwnerError(f"There is no ledger in {home.root}. Set DPNB_HOME to the home that you mean.")
    found, now = examined(home.ledger)
    pools = [f"    {pool}: {total.spent} spent" for pool, total in sorted(now.totals.items())]
    return "\n".join([f"{home.ledger}: {found.entries} entries, intact. Head {found.head}", *pools])


def examined(ledger: Path) -> tuple[Verification, Mark]:
    """Examine a ledger whole, hold it to its mark and its notes, and return what was found with the mark that it would have.

    Raises
    ------
    OwnerError
        With the first bad entry and what to do.
    """
    mark = mark_at(ledger)
    known = [] if mark is None else known_of(ledger, mark)
    with aside(ledger) as db:
        found = examine(db)
        fault = found.fault or (
            fault_of(db, ledger, known)
            if known
            else "the mark beside it is missing or damaged, so that nothing says whether this is the newest copy"
        )
        if fault is not None:
            raise OwnerError(f"{ledger}\n{owners_words(fault)}")
        return found, advanced(None, db)
