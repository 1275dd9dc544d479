"""A receipt as a file: the signed receipt of one charge, with the released integers that it vouches for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dpnb.errors import OwnerError, PlanError
from dpnb.owner.said import Said
from dpnb.trusted.privacy import PrivacyLoss
from dpnb.trusted.releases import Release
from dpnb.trusted.releases.receipt import verify_receipt, verify_released


def verify_receipt_file(path: Path, public: str) -> Said:
    """Verify a file with a signed receipt and its releases; no server and no ledger is asked.

    Raises
    ------
    OwnerError
        When it is no receipt, or a digit in it is not what was signed.
    """
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        signed = {name: found[name] for name in ("receipt", "signature")}
        releases = [Release.from_json(one) for one in found["releases"]]
    except OSError as fault:
        raise OwnerError(f"{path} cannot be read: {fault.strerror}.") from None
    except (ValueError, TypeError, LookupError, PlanError):
        raise OwnerError(f"{path.name} is not a receipt of dpnb, or it is damaged.") from None
    record = verify_receipt(signed, public)
    verify_released(releases, [record])
    spent = PrivacyLoss.from_json(record["spent"])
    loss = PrivacyLoss.from_json(record["loss"])
    text = (
        f"{path.name}: entry {record['entry']} of ledger {record['ledger'][:12]} charged {record['principal']} {loss} for "
        f"{record['dataset']}, {spent} spent in all; {len(releases)} answers are what was signed. Head {record['head']}"
    )
    return Said(text, {"verified": True, **record})
