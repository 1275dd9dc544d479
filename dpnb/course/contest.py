"""The contest: plan four answers about people whom nobody has seen; accuracy counts, and ε is taken off.

An entry is data: questions from a closed list, each with its ε. It is read out of a notebook as a literal (``entry = {…}``), never run,
and its score is found by running it again, with a curator of the teacher's, on people drawn from the teacher's seed. What a student
writes into an output, a file or a variable has no influence on it; truth and rows are nowhere a student's code runs.
"""

from __future__ import annotations

import ast
import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpnb.client import api, opening, sessions
from dpnb.client.handles import Dataset
from dpnb.errors import DpnbError, OptionError, OwnerError
from dpnb.estimate import Estimate
from dpnb.trusted.privacy.loss import positive, rational

Columns = dict[str, Any]

ROOMS: Mapping[str, float] = {"income": 4_000.0, "employed": 0.05, "age": 2.0, "effect": 4_000.0}
"""The targets, and the error at which each earns nothing."""
PENALTY = 25.0
"""Points that ε = 1 costs; four perfect answers earn 100."""
MOST = 4
"""The largest ε of an entry."""
_REPEATS = 200
_ROWS = 1_200
_STATISTICS = ("mean", "median", "difference")
_FIELDS = frozenset({"statistic", "column", "by", "clip", "epsilon"})
SCHEMA: Mapping[str, Any] = {
    "dataset": {
        "name": "contest",
        "adjacency": "change-one",
        "mode": "teaching",
        "public": True,
        "rows": _ROWS,
    },
    "budget": {"epsilon": MOST},
    "columns": {
        "income": {"type": "number", "lower": 0, "upper": 1_000_000, "step": 100},
        "employed": {"type": "integer", "lower": 0, "upper": 1},
        "age": {"type": "integer", "lower": 18, "upper": 99},
        "trained": {"type": "category", "values": [0, 1]},
    },
}
EXAMPLE: Mapping[str, Mapping[str, object]] = {
    "income": {"statistic": "mean", "column": "income", "clip": (0, 200_000), "epsilon": 0.4},
    "employed": {"statistic": "mean", "column": "employed", "epsilon": 0.1},
    "age": {"statistic": "median", "column": "age", "epsilon": 0.1},
    "effect": {
        "statistic": "difference",
        "column": "income",
        "by": "trained",
        "clip": (0, 200_000),
        "epsilon": 0.4,
    },
}
"""An entry to begin with."""


@dataclass(frozen=True, slots=True)
class Score:
    """What an entry earns.

    Parameters
    ----------
    name : str
    points : float
        Accuracy, at most 100, less the penalty.
    epsilon : float
        What its release was charged.
    accuracy : mapping of str to float
        Of each target, from 0 to 1: the mean over 200 draws of the noise.
    reason : str
        Why it earned nothing; empty else.
    """

    name: str
    points: float
    epsilon: float
    accuracy: Mapping[str, float]
    reason: str = ""

    @property
    def text(self) -> str:
        """The score in a line."""
        if self.reason:
            return f"{self.name}: not scored. {self.reason}"
        each = ", ".join(f"{name} {100 * share:.0f} %" for name, share in self.accuracy.items())
        return f"{self.name}: {self.points:.1f} points; ε {self.epsilon:.4g}; {each}"


def people(seed: str = "practice") -> Columns:
    """Return people to plan for; the same seed gives the same people.

    Examples
    --------
    >>> sorted(people())
    ['age', 'employed', 'income', 'trained']
    """
    rng = _generator(seed)
    trained, age = rng.integers(0, 2, _ROWS), rng.integers(18, 80, _ROWS)
    employed = (rng.random(_ROWS) < rng.uniform(0.5, 0.8)).astype(int)
    typical, effect = rng.uniform(25_000, 40_000), rng.uniform(0, 8_000)
    income = employed * (rng.lognormal(np.log(typical), 0.5, _ROWS) + effect * trained)
    return {"income": np.round(income, -2), "employed": employed, "age": age, "trained": trained}


def truth(rows: Columns) -> dict[str, float]:
    """Return the four targets, of rows as they are: not clamped."""
    income, trained = rows["income"], rows["trained"] == 1
    return {
        "income": float(income.mean()),
        "employed": float(rows["employed"].mean()),
        "age": float(np.median(rows["age"])),
        "effect": float(income[trained].mean() - income[~trained].mean()),
    }


def score(entry: object, seed: str = "practice", name: str = "your entry") -> Score:
    """Run an entry again on the people of a seed, and score it.

    Parameters
    ----------
    entry : mapping
        Each target's question: ``statistic``, ``column``, ``epsilon``, and ``by`` and ``clip`` where they belong.
    seed : str
        Whose people; the teacher's is nobody else's.
    name : str

    Returns
    -------
    Score
        With a reason, and without points, where the entry cannot be run.
    """
    before = sessions.current()
    try:
        return _scored(_checked(entry), seed, name)
    except DpnbError as refusal:
        return Score(name, 0.0, 0.0, {}, str(refusal))
    finally:
        sessions.opened_in(before)


def _scored(asked: Mapping[str, Mapping[str, Any]], seed: str, name: str) -> Score:
    """Release in a home of its own, where nothing is stored and nothing was spent."""
    rows = people(seed)
    data = opening.open(rows, schema=SCHEMA, seed=f"contest {secrets.token_hex(8)}", quiet=True)
    try:
        estimates = {target: _question(data, one) for target, one in asked.items()}
        api.release(estimates, epsilon=sum(rational(one["epsilon"]) for one in asked.values()))
        charged = float(data.budget.spent.amount)
        accuracy = _accuracy(estimates, truth(rows), _generator(f"noise {seed}"))
    finally:
        data.session.close()
    return Score(name, 100 * sum(accuracy.values()) / len(ROOMS) - PENALTY * charged, charged, accuracy)


def _generator(seed: str) -> np.random.Generator:
    return np.random.default_rng(int(hashlib.sha256(seed.encode()).hexdigest(), 16))


def _checked(entry: object) -> dict[str, Mapping[str, Any]]:
    """Return an entry whose questions are of the closed list, otherwise OptionError."""
    if not isinstance(entry, Mapping) or not entry or set(entry) - set(ROOMS):
        raise OptionError(f"An entry maps some of {', '.join(ROOMS)} to questions.")
    for target, one in entry.items():
        if (
            not isinstance(one, Mapping)
            or set(one) - _FIELDS
            or not {"statistic", "column", "epsilon"} <= set(one)
        ):
            raise OptionError(
                f"{target}: a question has statistic, column and epsilon, and may have by and clip."
            )
        if one["statistic"] not in _STATISTICS or one["column"] not in SCHEMA["columns"]:
            raise OptionError(
                f"{target}: the statistic is one of {', '.join(_STATISTICS)}, of a declared column."
            )
        if (one["statistic"] == "difference") != (one.get("by") == "trained"):
            raise OptionError(f'{target}: a difference takes by="trained", and nothing else does.')
        positive(one["epsilon"])
    if sum(rational(one["epsilon"]) for one in entry.values()) > MOST:
        raise OptionError(f"An entry spends ε = {MOST} at most.")
    return dict(entry)


def _question(data: Dataset, one: Mapping[str, Any]) -> Estimate:
    column = data[one["column"]]
    if one.get("clip") is not None:
        low, high = one["clip"]
        column = column.clip(low, high)
    if one["statistic"] == "difference":
        found: Estimate = column.difference(by=one["by"])
    else:
        found = column.mean() if one["statistic"] == "mean" else column.median()
    return found.spend(epsilon=one["epsilon"])


def _accuracy(
    estimates: Mapping[str, Estimate], right: Mapping[str, float], rng: np.random.Generator
) -> dict[str, float]:
    """The accuracy of each target; one that is not asked earns 0."""
    found = dict.fromkeys(ROOMS, 0.0)
    for target, estimate in estimates.items():
        draws = np.nan_to_num(estimate.redraw(_REPEATS, rng), nan=np.inf)
        off = np.minimum(np.abs(draws - right[target]) / ROOMS[target], 1.0)
        found[target] = float(1 - off.mean())
    return found


def read_entry(path: Path) -> Any:
    """Return the literal that a notebook, Python file or JSON file calls ``entry``; nothing in it is run.

    Raises
    ------
    OwnerError
        When there is none.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            return json.loads(text)
        for source in reversed(_sources(text) if path.suffix == ".ipynb" else [text]):
            for node in reversed(_statements(source)):
                if isinstance(node, ast.Assign) and any(
                    isinstance(one, ast.Name) and one.id == "entry" for one in node.targets
                ):
                    return ast.literal_eval(node.value)
    except (OSError, ValueError, KeyError, TypeError, RecursionError, MemoryError):
        raise OwnerError(
            f"{path.name} has no readable `entry = {{…}}`: plain texts, numbers and pairs."
        ) from None
    raise OwnerError(f"{path.name} has no `entry = {{…}}`.")


def _sources(text: str) -> list[str]:
    cells = json.loads(text)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def _statements(source: str) -> list[ast.stmt]:
    """The statements of a cell; none where it is not plain Python, as a cell with a magic."""
    try:
        return ast.parse(source).body
    except SyntaxError:
        return []


def ranked(folder: Path, seed: str) -> Sequence[Score]:
    """Score every entry of a folder, the best first; an entry that cannot be read is last, with its reason."""
    files = sorted(
        path for path in folder.rglob("*") if path.suffix in {".ipynb", ".py", ".json"} and path.is_file()
    )
    if not files:
        raise OwnerError(
            f"{folder} holds no entries: notebooks, Python files or JSON files, one for each team."
        )
    found = []
    for path in files:
        try:
            found.append(score(read_entry(path), seed, path.stem))
        except OwnerError as refusal:
            found.append(Score(path.stem, 0.0, 0.0, {}, str(refusal)))
    return sorted(found, key=lambda one: (bool(one.reason), -one.points, one.name))
