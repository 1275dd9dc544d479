"""Golden releases: what every statistic releases for fixed bits, and the file that pins it. ``python -m tests.statistics.golden`` writes it.

The file belongs to one MECHANISM_VERSION. A stored answer is served again only while mechanisms mean the same; so whoever changes
what is released for given bits (a sensitivity, a share, a scale, a sampler) raises the version first, and writing refuses otherwise. A new
statistic or mechanism changes no stored answer: what it releases is added to the version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpnb.datasets.exact_answers import answer
from dpnb.datasets.preparation import prepare
from dpnb.errors import LossError
from dpnb.inference.seeded_bits import SeededBits
from dpnb.trusted.curator.release import MECHANISM_VERSION
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.mechanism import contracts
from tests.contracts.questions import SAMPLES, asked, schema

FILE = Path(__file__).parents[1] / "golden" / "releases" / "releases.json"
DRAWS = FILE.with_name("draws.json")
LOSSES = {"epsilon": "0.75", "rho": "0.5", "approx": "0.75"}
UNITS = {
    "change-one": PrivacyUnit("change-one", rows=60),
    "add-remove": PrivacyUnit("add-remove"),
    "add-remove units": PrivacyUnit("add-remove", unit="who", max_rows=2),
    "change-one units": PrivacyUnit("change-one", unit="who", max_rows=2, units=30),
}
_FEW = 8
_ROWS = 60


def table() -> dict[str, np.ndarray[Any, Any]]:
    """Sixty rows, two of each person, some of them with something missing."""
    place = np.arange(_ROWS)
    return {
        "x": np.where(place % 11 == 3, np.nan, (place * 37) % 101).astype(float),
        "y": np.where(place % 13 == 5, np.nan, (place * 7) % 11).astype(float),
        "b": np.array([None if i % 17 == 9 else int(i % 3 == 0) for i in place], dtype=object),
        "g": np.array([None if i % 19 == 2 else "uvw"[i * i % 3] for i in place], dtype=object),
        "who": np.array([f"person {i // 2}" for i in place], dtype=object),
    }


def releases() -> dict[str, dict[str, Any]]:
    """Every sample question of every statistic, under every unit, for ε, ρ and (ε, δ) budgets, where they hold it."""
    found: dict[str, dict[str, Any]] = {}
    for unit, whom in UNITS.items():
        for kind in LOSSES:
            where = schema(whom, kind)
            prepared = prepare(table(), where)
            for statistic, samples in SAMPLES.items():
                for place, sample in enumerate(samples):
                    made = release(sample, statistic, where, kind, prepared)
                    if made is not None:
                        found[f"{statistic} {place}, {unit}, {kind}"] = made
    return found


def release(
    sample: dict[str, Any], statistic: str, where: Any, kind: str, prepared: Any
) -> dict[str, Any] | None:
    """One release: the events that are charged, and of every part its law and its numbers."""
    if kind == "approx" and statistic != "frequent_values":
        return None
    try:
        item = asked(sample, statistic, where, kind, LOSSES[kind])
    except LossError:
        return None
    bits, exact = SeededBits(13), answer(prepared, [part.request for part in item.parts])
    parts = {
        part.name: {"law": _text(part.mechanism.record), "values": _pinned(part.mechanism.noised(one, bits))}
        for part, one in zip(item.parts, exact, strict=True)
    }
    return {"events": _text([event.to_json() for event in item.events]), "parts": parts}


def draws() -> dict[str, str]:
    """The digest of many draws of every mechanism: a release is one draw, and hides a sampler that is off by little."""
    return {
        name: digest([_numbers(one.mechanism.noised(one.exact, bits)) for _ in range(one.times)])
        for contract in contracts().values()
        for name, one in contract.drawn().items()
        for bits in [SeededBits(13)]
    }


def _numbers(values: Sequence[Any]) -> list[int]:
    return [int(value) for value in values]


def _text(value: Any) -> str:
    """Short things as they are, long ones by their digest."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= 200 else f"sha256 {hashlib.sha256(text.encode()).hexdigest()}"


def _pinned(values: tuple[int, ...]) -> list[Any]:
    """A few numbers as they are, many by the first ones and their digest."""
    numbers = [int(value) for value in values]
    return numbers if len(numbers) <= _FEW else [*numbers[:3], len(numbers), _text(numbers)]


def digest(made: Any) -> str:
    """What the history keeps of a version."""
    return hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()


def read() -> dict[str, Any]:
    """The file: the digest of every version so far, and the releases of the last."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"versions": {}, "releases": {}}


def read_draws() -> dict[str, dict[str, str]]:
    """The digests of every version so far."""
    return json.loads(DRAWS.read_text(encoding="utf-8")) if DRAWS.exists() else {}


def write_draws() -> None:
    """Write the draws of this version; those of a version that is written already are never replaced, and a new mechanism's are added."""
    made, on_file = draws(), read_draws()
    kept = on_file.get(MECHANISM_VERSION, {})
    if any(made.get(name) != kept[name] for name in kept):
        raise SystemExit(
            "Draws changed: raise MECHANISM_VERSION in dpnb/trusted/curator/release.py, then write anew."
        )
    added = {name: one for name, one in made.items() if name not in kept}
    written = {**on_file, MECHANISM_VERSION: {**kept, **added}}
    DRAWS.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


def write() -> None:
    """Write the releases of this version; those of a version that is written already are never replaced, and a new statistic's are added."""
    made, on_file = releases(), read()
    known, kept = on_file["versions"].get(MECHANISM_VERSION), on_file["releases"]
    if known is not None and (known != digest(kept) or any(made.get(name) != kept[name] for name in kept)):
        raise SystemExit(
            "Releases changed: raise MECHANISM_VERSION in dpnb/trusted/curator/release.py, then write anew."
        )
    versions = {**on_file["versions"], MECHANISM_VERSION: digest(made)}
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(one)}" for name, one in made.items())
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(
        f'{{"versions": {json.dumps(versions)},\n"releases": {{\n{lines}\n}}}}\n', encoding="utf-8"
    )


if __name__ == "__main__":
    write()
    write_draws()
