"""The statistics that an owner picks for publication, in a file: a name for each, and the question as it is typed in a notebook.

::

    [statistics]
    mean_age = "people.age.mean()"
    by_sex = "people.groupby('sex').count().weight(2)"
    rows = "people.synthetic('age', 'sex', 'married')"

The dataset has its own name. What is read is one expression of names of this dataset, calls, filters and constants; nothing else runs.
"""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpnb.cards.markup import clean
from dpnb.client.handles import Dataset
from dpnb.errors import DpnbError, OwnerError
from dpnb.estimate import Estimate
from dpnb.planner.expression import typed
from dpnb.synthetic.tables import PairTables

_NODES = (
    *(ast.Expression, ast.Call, ast.Attribute, ast.Subscript, ast.Name, ast.Load, ast.Constant, ast.keyword),
    *(ast.List, ast.Tuple, ast.Dict, ast.Slice, ast.Compare, ast.BinOp, ast.UnaryOp),
    *(ast.operator, ast.unaryop, ast.cmpop),
)
_NOT_ASKED = {"session", "root", "budget"}


def read_statistics(path: Path, dataset: Dataset) -> dict[str, Estimate | PairTables]:
    """Read a file of statistics as pending questions of a dataset, or as synthetic rows of it.

    Raises
    ------
    OwnerError
        Naming the statistic that cannot be asked as written, and why.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")).get("statistics")
    except OSError as fault:
        raise OwnerError(f"{path} cannot be read: {fault.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise OwnerError(f"{path.name} is not TOML: {fault}") from None
    if not isinstance(table, dict) or not table:
        raise OwnerError(
            f'{path.name} has no statistics: write [statistics] with mean_age = "{typed(dataset.name)}.age.mean()".'
        )
    return {name: _asked(name, text, dataset, path.name) for name, text in table.items()}


def questions_of(picked: Mapping[str, Estimate | PairTables]) -> dict[str, Estimate]:
    """Return the questions of some statistics by name: of synthetic rows, each of their tables."""
    found: dict[str, Estimate] = {}
    for name, one in picked.items():
        if isinstance(one, PairTables):
            found |= {f"{name}: {' by '.join(pair)}": table for pair, table in one.tables.items()}
        else:
            found[name] = one
    return found


def write_statistics(lines: Mapping[str, str], loss: Mapping[str, str]) -> str:
    """Return the text of a file of statistics, with the loss that they were picked for beside them."""
    quoted = [f"{json.dumps(name)} = {json.dumps(text, ensure_ascii=False)}" for name, text in lines.items()]
    spent = [f"{name} = {json.dumps(amount)}" for name, amount in loss.items()]
    return "\n".join(["[statistics]", *quoted, "", "[loss]", *spent, ""])


def read_loss(path: Path) -> dict[str, str]:
    """Return the loss that a file of statistics was picked for; nothing where it says none."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8")).get("loss", {})
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {}
    given = found.items() if isinstance(found, dict) else ()
    return {name: amount for name, amount in given if name in ("epsilon", "rho") and isinstance(amount, str)}


def _asked(name: str, text: object, dataset: Dataset, file: str) -> Estimate | PairTables:
    where = f"{file}, {clean(name)}"
    if not isinstance(text, str):
        raise OwnerError(f'{where}: write the question as text: "{typed(dataset.name)}.count()".')
    try:
        found = read_statistic(text, dataset)
    except DpnbError as error:
        raise OwnerError(f"{where}: {error}") from None
    if isinstance(found, PairTables) and not name.isidentifier():
        raise OwnerError(
            f"{where}: synthetic rows are a folder of this name. Use letters, digits and _ alone."
        )
    return found


def read_statistic(text: str, dataset: Dataset) -> Estimate | PairTables:
    """Read one statistic as a pending question of a dataset, or as synthetic rows of it.

    Raises
    ------
    DpnbError
        Where it is not one question of that dataset.
    """
    try:
        found = _value(text, dataset)
    except DpnbError:
        raise
    except (SyntaxError, TypeError, ValueError, AttributeError, LookupError, RecursionError) as fault:
        raise OwnerError(f"`{clean(text)}` cannot be read: {clean(str(fault))}") from None
    if isinstance(found, PairTables):
        return found
    if not isinstance(found, Estimate) or found.measurement is None:
        raise OwnerError(
            "publish a question; readers compute free what is derived from it (a regression from its moments)."
        )
    return found


def _value(text: str, dataset: Dataset) -> Any:
    tree, own = ast.parse(text.strip(), mode="eval"), typed(dataset.name)
    for node in ast.walk(tree):
        strange = not isinstance(node, _NODES)
        private = isinstance(node, ast.Attribute) and (node.attr.startswith("_") or node.attr in _NOT_ASKED)
        if strange or private or (isinstance(node, ast.Name) and node.id != own):
            raise OwnerError(f"`{clean(text)}` is not one question of {own}.")
    return eval(compile(tree, "<statistic>", "eval"), {"__builtins__": {}, own: dataset})  # noqa: S307 - of these nodes alone
