"""The receipt of a released answer: what a curator signs, written where anybody can verify it."""

from __future__ import annotations

import json
from pathlib import Path

from dpnb.client.arguments import checked_call
from dpnb.errors import OptionError, PlanError
from dpnb.estimate import Estimate
from dpnb.trusted.canonical import Record
from dpnb.trusted.wire.codec import exact_json


@checked_call("dpnb.receipt")
def receipt(answer: Estimate, to: str | Path) -> Record:
    """Write the signed receipt of a released answer, and the owner's public key beside it.

    Anybody can verify it without a server: ``dpnb verify mean.json --key mean.pub``. The key beside it only shows damage; a key that the
    owner publishes elsewhere shows who signed.

    Parameters
    ----------
    answer : Estimate
        An answer that was released to you under one charge.
    to : path
        A new file; the key is written beside it with the ending ``.pub``.

    Returns
    -------
    dict
        What was signed: ledger, principal, plan, draws with their laws and hashes, the hash of each answer's record (question, parts, time
        and all else that the file shows), loss, total, entry and head.

    Raises
    ------
    PlanError
        Before the release, for answers computed from several charges, and for answers that somebody else released.
    OptionError
        If the file exists already, or cannot be written.
    """
    if not hasattr(answer, "leaves"):
        raise PlanError('A receipt is for one released answer: dpnb.receipt(report["mean"], to=…).')
    asked = {(one.dataset, release.entry) for one in answer.leaves() for release in one.releases}
    if len(asked) != 1 or (found := next(iter(asked)))[0] is None:
        raise PlanError(
            f"A receipt is for one charge, and `{answer.text}` comes from {len(asked)}. Ask for each: dpnb.receipt(answer, to=…)."
        )
    dataset, entry = found
    told = dataset.session.receipt(dataset, entry)
    signed: Record = exact_json(told.signed)
    path = Path(to)
    for file, text in (
        (path, json.dumps(signed, ensure_ascii=False, indent=1) + "\n"),
        (path.with_suffix(".pub"), told.key),
    ):
        try:
            with file.open("x", encoding="utf-8") as found_file:
                found_file.write(text)
        except OSError as fault:
            raise OptionError(
                f"{file} cannot be written: {fault.strerror}. Name a new file with to=."
            ) from None
    return dict(signed["receipt"])
