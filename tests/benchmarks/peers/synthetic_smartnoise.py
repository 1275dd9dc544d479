"""SmartNoise-synth: MST and AIM at the ε and δ that this ρ is worth."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pandas as pd
from snsynth import Synthesizer

from .synthetic_study import NAMES, Synthetic


def made(data: np.ndarray) -> Iterator[Synthetic]:
    """Rows of one release of each algorithm."""
    frame = pd.DataFrame(data, columns=list(NAMES))
    for name in ("mst", "aim"):
        began = time.perf_counter()
        maker = Synthesizer.create(name, epsilon=1.0, delta=1e-6)
        maker.fit(frame, categorical_columns=list(NAMES), preprocessor_eps=0.0)
        rows = maker.sample(len(data))[list(NAMES)].to_numpy().astype(np.int64)
        yield Synthetic(name.upper(), time.perf_counter() - began, rows)
