"""Strictness: names, texts and records that have exactly the shape they should, and near matches for those that do not.

It refuses what it does not know; it never repairs.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from dpnb.trusted.canonical import Record, canonical
from dpnb.trusted.errors import LossError, OwnerError, SchemaError

Section: TypeAlias = Mapping[str, Any]  # of an owner's file, as TOML reads it
# How the names of columns begin that a prepared copy adds. One of them, the rank of a row in its unit, lowers a price.
RESERVED = "##"
LONGEST_NAME = 128
_DATASET_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}\Z")


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """Find the candidate that a misspelt word most probably meant.

    Parameters
    ----------
    word : str
        What was typed.
    candidates : iterable of str
        What could have been meant.

    Returns
    -------
    str or None
        The closest candidate, or None when none is close.

    Examples
    --------
    >>> nearest("gott", ["got", "any"])
    'got'
    """
    folded = {candidate.casefold(): candidate for candidate in reversed(list(candidates))}
    close = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def meant(word: object, candidates: Iterable[str], otherwise: str) -> str:
    """Ask whether the nearest candidate was meant; where none is near, say what else to do."""
    close = nearest(str(word), candidates)
    return f"did you mean {close}?" if close else otherwise


def one_of(word: str, value: object, known: Sequence[str | bool]) -> None:
    """Refuse what is none of the known values of a key, with what to write."""
    if value not in known or type(value) is not type(known[0]):
        listed = {str(one): str(one).lower() if one in (True, False) else f'"{one}"' for one in known}
        close = nearest(str(value), listed)
        hint = f"did you mean {listed[close]}?" if close else f"write {' or '.join(listed.values())}"
        raise SchemaError(f"{word} = {value!r}: {hint}")


def column_name(name: Any) -> str:
    """Check a column's name."""
    if not isinstance(name, str) or not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise SchemaError(
            f"a column's name is printable text of 1 to {LONGEST_NAME} characters: write a short one, and its name in the file as "
            'header = "…"'
        )
    if name.startswith(RESERVED):
        raise SchemaError(f'"{name}" begins with {RESERVED}, which is reserved: rename it in the data')
    return name


def text_of(value: Any, where: str) -> str:
    """Check a label or note."""
    if not isinstance(value, str) or len(value) > 10_000:
        raise SchemaError(f"{where}: labels and notes are text of at most 10,000 characters")
    return value


def check_dataset_name(name: Any, word: str) -> None:
    """Check the name of a dataset or pool."""
    if not isinstance(name, str) or not _DATASET_NAME.match(name):
        raise SchemaError(f"{word} = {name!r}: use a letter, then letters, digits, . _ or -, 64 at most")


def no_repeats(items: Iterable[Any], what: str) -> None:
    """Refuse a list that names something twice."""
    seen = set()
    for item in items:
        if item in seen:
            raise SchemaError(f"{what} {item!r} twice: keep one")
        seen.add(item)


def known(facts: Section, keys: Iterable[str], where: str, what: str = "key") -> None:
    """Refuse a key that an owner's section does not have, and name the one that was probably meant."""
    for key in facts:
        if key not in keys:
            raise OwnerError(
                f"{where}: unknown {what} {key}: {meant(key, keys, 'known: ' + ', '.join(keys))}"
            )


def read_keys(facts: Section, examples: Section, where: str) -> Record:
    """Read the optional keys of a section: each is of the type of its example, and no text is empty."""
    known(facts, examples, where)
    for key, value in facts.items():
        if not isinstance(value, type(examples[key])) or value == "":
            raise OwnerError(f"{where}: {key} = {value!r}: write {key} = {canonical(examples[key])}")
    return dict(facts)


def needed(facts: Section, key: str, where: str, fix: str) -> Any:
    """Return what a section says under a key, or refuse the section with what to write."""
    if key not in facts:
        raise OwnerError(f"{where}: {key} is missing: write {fix}")
    return facts[key]


@contextlib.contextmanager
def within(where: str, name: str = "") -> Iterator[None]:
    """Say of a refusal where in an owner's file it arose, instead of the name of the column."""
    try:
        yield
    except (SchemaError, LossError) as fault:
        raise OwnerError(f"{where}: {fault.message.removeprefix(f'{name}: ')}") from None
