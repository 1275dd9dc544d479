"""The frozen record of a release: noised integers, the laws of their noise, the loss that was paid.

It holds nothing that the curator did not release. What may never change: the fields and their JSON, because stored
releases outlive versions.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

from dpnb.trusted.canonical import JsonObject, Record, is_record
from dpnb.trusted.errors import PlanError
from dpnb.trusted.privacy.loss import PrivacyLoss

ShareKind = Literal["epsilon", "rho"]
_SHARE_KINDS = get_args(ShareKind)
_PART: dict[str, type] = {"name": str, "law": dict, "values": list, "draw": str}
_OTHERS: dict[str, type] = {"parts": list, "loss": dict, "stored": bool, "entry": int}


@dataclass(frozen=True, slots=True)
class ReleasedPart:
    """One noised vector of a release.

    Parameters
    ----------
    name : str
        What the vector is, for example ``"sum"`` or ``"count"``.
    law : mapping
        The law of the noise, as JSON (``{"kind": "discrete-laplace", "scale": "12"}``).
    values : tuple of int
        The noised integers, row-major over the question's cells.
    draw : str
        The id of the draw: equal ids are the same noise.
    """

    name: str
    law: JsonObject
    values: tuple[int, ...]
    draw: str

    def __hash__(self) -> int:
        return hash((self.name, self.draw))

    def to_json(self) -> Record:
        """The part as plain JSON."""
        return {"name": self.name, "law": dict(self.law), "values": list(self.values), "draw": self.draw}

    @classmethod
    def from_json(cls, record: JsonObject) -> ReleasedPart:
        """Rebuild a part; an unknown or missing field, or one of another type, is an error."""
        if not is_record(record, _PART):
            raise _refusal("released part")
        law = (*record["law"], *record["law"].values())
        if not {*map(type, record["values"])} <= {int} or not {*map(type, law)} <= {str}:
            raise _refusal("released part")
        return cls(record["name"], dict(record["law"]), tuple(record["values"]), record["draw"])


@dataclass(frozen=True, slots=True)
class Release:
    """The frozen record of an answer. What crosses the wire is one for each measurement; a kernel puts a question's together.

    Parameters
    ----------
    id : str
        Hexadecimal id of the draw. Two releases with equal ids are the same noise.
    question : str
        Canonical text of the question, as the kernel that paid for it called it.
    dataset, data_version : str
        What was asked, and which version of the data answered.
    parts : tuple of ReleasedPart
        The noised integers with their laws.
    loss : PrivacyLoss
        What this answer costs alone, at the noise that it has. Answers that share draws cost less together: the ledger has the sum.
    share : str
        Exact text of the share of a loss that buys such noise: of what a kernel put together no part has more; of what crossed the
        wire, as it was asked.
    stored : bool
        True if this answer came from the store, at no new cost.
    time : str
        When it was drawn, ISO 8601.
    entry : int
        Row of the ledger that holds the charge.
    share_kind : {"epsilon", "rho"}
        What kind of loss the share was: in a ρ budget, a share of ε is paid in ρ.
    measured : str
        The curator's name of what was measured, whatever the question was called.
    """

    id: str
    question: str
    dataset: str
    data_version: str
    parts: tuple[ReleasedPart, ...]
    loss: PrivacyLoss
    share: str = "1"
    stored: bool = False
    time: str = ""
    entry: int = 0
    share_kind: ShareKind = "epsilon"
    measured: str = ""

    def __hash__(self) -> int:
        return hash(self.id)

    def part(self, name: str) -> ReleasedPart:
        """The part of that name."""
        for part in self.parts:
            if part.name == name:
                return part
        raise KeyError(name)

    def to_json(self) -> Record:
        """The release as plain JSON, exact."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        plain["parts"] = [part.to_json() for part in self.parts]
        plain["loss"] = self.loss.to_json()
        return plain

    @classmethod
    def from_json(cls, record: JsonObject) -> Release:
        """Rebuild a release; an unknown or missing field, or one of another type, is an error."""
        if not is_record(record, _RELEASE) or record["share_kind"] not in _SHARE_KINDS:
            raise _refusal("release")
        parts = tuple(map(ReleasedPart.from_json, record["parts"]))
        return cls(**{**record, "parts": parts, "loss": PrivacyLoss.from_json(record["loss"])})


_RELEASE: dict[str, type] = {**dict.fromkeys((field.name for field in fields(Release)), str), **_OTHERS}


def _refusal(what: str) -> PlanError:
    return PlanError(f"not a {what} of this version: a field is unknown, missing or of another type.")
