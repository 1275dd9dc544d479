"""A receipt as a file: the signed receipt of one charge, with the released integers that it vouches for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpnb.client.publication import read_publication
from dpnb.client.verification import verify_answers, verify_receipt, verify_released
from dpnb.errors import OwnerError, PlanError
from dpnb.owner.said import Said
from dpnb.trusted.canonical import read_json
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.releases import Release


def verify_receipt_file(path: Path, public: str) -> Said:
    """Verify a file with a signed receipt and its releases; no server and no ledger is asked.

    Raises
    ------
    OwnerError
        When it is no receipt, or a digit in it is not what was signed.
    """
    try:
        signed: dict[str, Any] = read_json(path.read_bytes())
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
    return Said(text, {"verified": True, **record})


def verify_file(path: Path, key: Path) -> Said:
    """Verify a published file, or a receipt, with a public key alone."""
    try:
        public = key.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        raise OwnerError(f"{key} is not a public key that can be read.") from None
    if not path.name.endswith(".releases.json"):
        return verify_receipt_file(path, public)
    record: Mapping[str, Any] = read_publication(path, public)
    count = len(record["statistics"])
    text = f"{path.name}: {count} statistics of {record['dataset']}, published {record['published']}; every number is what was signed."
    return Said(text, {"verified": True, "dataset": record["dataset"], "statistics": count})
