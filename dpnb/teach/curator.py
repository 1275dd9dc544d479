"""``python -m dpnb.teach.curator --home FOLDER --seed TEXT``: a curator whose noise is a function of a seed.

It is the trusted wing's curator with its randomness replaced, in a home of its own, and it opens TEACHING data alone: whoever knows
the seed can take the noise off again. Noise depends on the seed, the dataset, what is measured and how often that was drawn, so
that students who run cells in another order see the same numbers.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dpnb.errors import OwnerError
from dpnb.inference.seeded_bits import SeededBits
from dpnb.trusted.canonical import canonical
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.open_dataset import Attached, Copy
from dpnb.trusted.curator.release import Randomness
from dpnb.trusted.curator.server import main
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.curator.sources import OpenedSource
from dpnb.trusted.schema import Mode, Schema
from dpnb.trusted.wire.places import Home, write_private

_MEASURED = ("measured", "events", "share")


@dataclass(frozen=True, slots=True)
class SeededRandomness(Randomness):
    """Randomness that a seed decides: bits and draw ids of each question by itself.

    Parameters
    ----------
    seed : str
        Any text.
    """

    seed: str = ""
    drawn: Counter[str] = field(default_factory=Counter)

    def of(self, dataset: str, question: Mapping[str, object]) -> Randomness:
        """Return the randomness of one draw of a question: the first draw has one, the second another."""
        facts = canonical([dataset, {name: question[name] for name in _MEASURED}])
        self.drawn[facts] += 1
        digests = _digests(f"{self.seed}\n{self.drawn[facts]}\n{facts}")
        bits = SeededBits(int(next(digests), 16))
        return Randomness(bits, lambda: next(digests)[:32], self.now)


def _digests(text: str) -> Iterator[str]:
    number = 0
    while True:
        yield hashlib.sha256(f"{number}\n{text}".encode()).hexdigest()
        number += 1


class TeachingCurator(Curator):
    """A curator that opens TEACHING data alone."""

    def _prepared(self, found: OpenedSource, principal: str) -> Copy:
        _refuse_protected(found.schema)
        return super()._prepared(found, principal)

    def _admitted(self, attached: Attached, principal: str) -> Attached:
        _refuse_protected(attached.schema)
        return super()._admitted(attached, principal)


def _refuse_protected(schema: Schema) -> None:
    if schema.mode is not Mode.TEACHING:
        raise OwnerError(
            f"{schema.name} is protected: with a seed, anybody could remove the noise. Open it without seed=."
        )


def opening(seed: str) -> Callable[[Config], Curator]:
    """Return what opens a curator under a seed."""

    def opened(config: Config) -> Curator:
        made = TeachingCurator.opened(config, SeededRandomness(seed=seed))
        if not config.home.key.exists():  # which rows of a person count depends on the key
            write_private(config.home.key, hashlib.sha256(f"key\n{seed}".encode()).digest())
        return made

    return opened


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m dpnb.teach.curator", description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--seed", required=True)
    parser.add_argument("--studies", metavar="MODULE")
    asked = parser.parse_args()
    settings = Config.from_environment(Home(asked.home.absolute()), asked.studies)
    sys.exit(main(settings, opening(asked.seed)))
