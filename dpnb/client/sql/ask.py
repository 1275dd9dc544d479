"""``dpnb.sql``, the words of a dataset, and what can stand where a name or value is typed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import nullcontext
from typing import NamedTuple

from dpnb.client.api import spend
from dpnb.client.arguments import checked_call
from dpnb.client.handles import Dataset
from dpnb.client.sql.answer import Selected, translate
from dpnb.client.sql.names import found, tables_of
from dpnb.client.sql.reader import WORDS, statements
from dpnb.client.sql.refusals import QUOTED
from dpnb.errors import OptionError
from dpnb.estimate import current_host

_MOST_VALUES = 20


@checked_call("dpnb.sql")
def sql(
    text: str,
    *,
    epsilon: object = None,
    rho: object = None,
    within: object = None,
    fresh: bool = False,
    assume_n: object = None,
    **parameters: object,
) -> Selected | dict[str, Selected]:
    """Ask in SQL, DuckDB's dialect; several SELECTs are one batch, which pays once.

    Parameters
    ----------
    text : str
        ``SELECT … FROM people``; several as ``a << SELECT …; b << SELECT …``. A table is an open dataset, or one that a parameter names.
    epsilon, rho, within : number or str
        The loss of the batch, or the accuracy of each figure; give one of them. Without one the answer is pending: of the batch that is
        open, or for :func:`dpnb.release` of its ``.estimates``.
    fresh : bool
        Pay again for what is stored.
    assume_n : int, optional
        A size to plan ``within`` with.
    **parameters
        What ``:x`` stands for: a constant or released estimate; or a dataset or selection that FROM names.

    Returns
    -------
    Selected, or dict of str to Selected where several are named

    Raises
    ------
    PlanError
        With line and column, and what to write instead. Nothing is spent.

    Examples
    --------
    >>> pay = dpnb.sql("SELECT sex, AVG(income) AS pay FROM people GROUP BY sex", epsilon=1)  # doctest: +SKIP
    >>> pay["pay"], pay.to_frame()  # doctest: +SKIP
    """
    if not isinstance(text, str):
        raise OptionError('SQL is a text: dpnb.sql("SELECT COUNT(*) FROM people", epsilon=1).')
    asked, tables = statements(text), tables_of({**(current_host().names() or {}), **parameters})
    if len(asked) > 1 and len({one.name for one in asked if one.name}) < len(asked):
        raise OptionError("Several SELECTs need a name each: a << SELECT …; b << SELECT ….")
    loss = {"epsilon": epsilon, "rho": rho, "within": within}
    pays = any(one is not None for one in loss.values())
    with spend(**loss, fresh=fresh, assume_n=assume_n) if pays else nullcontext():
        made = [translate(one, tables, parameters) for one in asked]
    return (
        made[0]
        if len(made) == 1
        else {str(one.name): answer for one, answer in zip(asked, made, strict=True)}
    )


def words(dataset: Dataset) -> str:
    """Return what SQL about a dataset can name and what it understands, as text for ``%dp sql people``."""
    schema = dataset.schema
    lines = [f"FROM {dataset.name}"]
    for name in dataset.columns:
        column = schema[name]
        lines.append(f"  {name}  {column.describe()}" + (", can be NULL" if column.drops else ""))
    if schema.unit_column:
        lines.append(
            f"  {schema.unit_column}  who: COUNT(DISTINCT {schema.unit_column}), JOIN … USING ({schema.unit_column})"
        )
    lines += [
        f"  {one.name}  prepared: {one.take} of {one.source or 'rows'}.{one.of.name}"
        for one in schema.prepared
    ]
    for place, said in PLACES.items():
        lines += ["", said, *(f"  {word}: {meaning}" for word, meaning in WORDS[place].items())]
    return "\n".join(lines)


PLACES = {"figures": "Aggregates", "rows": "In each row", "released": "On released figures, free"}


class Completions(NamedTuple):
    """What can stand where something is typed.

    Parameters
    ----------
    start : int
        Where the word begins that an option replaces.
    options : tuple of str
        Texts to insert: names, or declared values with their quotes.
    """

    start: int
    options: tuple[str, ...]


_BEFORE_VALUE = re.compile(
    r"([\w.]+)\"?\s*(?:=|<>|!=|<=?|>=?|\bIN\s*\([^()]*|\b(?:I?LIKE|BETWEEN)\s)\s*('?[\w .#-]*)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w]*$")


def completions(text: str, position: int, tables: Mapping[str, Dataset]) -> Completions:
    """Return names and declared values that can stand at a place of a cell's text.

    Parameters
    ----------
    text : str
        The cell below its magic line.
    position : int
        Where the cursor is.
    tables : mapping of str to Dataset
    """
    before = text[:position]
    here = before[before.rfind(";") + 1 :] + text[position:].partition(";")[0]
    named = set(re.findall(r"(?:FROM|JOIN)\s+\"?(\w+)", here, re.IGNORECASE))
    used = [one for one in (found(name, tables) for name in named) if one is not None] or list(
        tables.values()
    )
    asked = _BEFORE_VALUE.search(before)
    if asked is not None:
        column = next((one.schema[name] for one in used for name in [_declared(one, asked[1])] if name), None)
        if column is not None and column.values is not None:
            typed = asked[2].lstrip("'").casefold()
            values = [f"'{one}'" if isinstance(one, str) else str(one).upper() for one in column.values]
            kept = [one for one in values if one.strip("'").casefold().startswith(typed)]
            return Completions(position - len(asked[2]), tuple(kept[:_MOST_VALUES]))
    word = _WORD.search(before)
    typed = word[0] if word else ""
    after_from = re.search(r"\b(?:FROM|JOIN)\s+\w*$", before, re.IGNORECASE)
    names = list(tables) if after_from else [name for one in used for name in one.columns]
    kept = [name for name in dict.fromkeys(names) if name.casefold().startswith(typed.casefold())]
    return Completions(
        position - len(typed),
        tuple(name if name.isidentifier() and name.upper() not in QUOTED else f'"{name}"' for name in kept),
    )


def _declared(dataset: Dataset, name: str) -> str | None:
    return found(name.rpartition(".")[2], {one: one for one in dataset.columns})
