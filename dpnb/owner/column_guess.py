"""What a column seems to hold, by its name and its storage type: a guess for an owner to correct, never a look at a value.

A bound that stands in a guess is common sense about a word (nobody is younger than 0, a year has twelve months).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_STORED: Final[Mapping[str, str]] = {
    **dict.fromkeys((*_INTEGERS, *("U" + name for name in _INTEGERS)), "integer"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "REAL", "DECIMAL"), "number"),
    **dict.fromkeys(("VARCHAR", "ENUM"), "category"),
    "BOOLEAN": "boolean",
    "DATE": "date",
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "datetime"),
}


@dataclass(frozen=True, slots=True)
class Guess:
    """What a column seems to be.

    Parameters
    ----------
    kind : str
        ``"integer"``, ``"number"``, ``"category"``, ``"boolean"``, ``"text"`` (labels that are too many to list), ``"date"``,
        ``"datetime"``, ``"person"`` (it names somebody), ``"identifier"`` (it names something, or not surely one person), ``"index"``
        (pandas wrote it) or ``"unknown"``.
    lower, upper : int, optional
        Bounds that follow from the word alone.
    stored : bool
        Whether the storage type says so.
    """

    kind: str
    lower: int | None = None
    upper: int | None = None
    stored: bool = field(default=False, repr=False)


UNDRAFTED: Final = ("person", "identifier", "index")
"""Kinds of columns that no draft declares."""


_PEOPLE: Final = "person patient customer client user member respondent participant pupil employee"
_NAMED_BY_IDS: Final = frozenset(
    (
        f"{_PEOPLE} subject case passenger student teacher worker staff resident citizen voter driver tenant inmate donor applicant "
        "borrower taxpayer household hh resp pat pers cust emp citizen individual account my the row record unique"
    ).split()
)
"""Whom or what a column ending in *id* may name where people are the unit; of anything else (AgencyID) it names the thing."""
_INDEX: Final = re.compile(r"Unnamed: \d+(_level_\d+)?|__index_level_\d+__")


def _each(words: str, guess: Guess) -> dict[str, Guess]:
    return dict.fromkeys(words.split(), guess)


_BY_WORD: Final[Mapping[str, Guess]] = {
    **_each("id uid uuid guid ssn email mail phone telephone", Guess("person")),
    **_each("address street surname firstname lastname fullname url ip", Guess("identifier")),
    **_each(_PEOPLE, Guess("person")),
    **_each("date dob birthday birthdate born admitted discharged admission discharge", Guess("date")),
    **_each("timestamp datetime", Guess("datetime")),
    **_each("age ages", Guess("integer", 0, 120)),
    **_each("month", Guess("integer", 1, 12)),
    **_each("hour", Guess("integer", 0, 23)),
    **_each("year", Guess("integer")),
    **_each(
        "count number num n nr children kids rooms visits quantity qty persons size", Guess("integer", 0)
    ),
    **_each(
        "income salary pay wage wages earnings price cost costs amount revenue rent fee spent",
        Guess("number", 0),
    ),
    **_each("height weight bmi dose duration minutes hours days distance area", Guess("number", 0)),
    **_each("length stay", Guess("number", 0)),
    **_each("percent percentage pct", Guess("number", 0, 100)),
    **_each("score rate ratio temperature latitude longitude balance change", Guess("number")),
    **_each("any married smoker smokes employed insured treated paid flag", Guess("boolean")),
    **_each("sex gender race ethnicity religion language marital education educ degree", Guess("category")),
    **_each(
        "region state county country province city town district department ward insurance school",
        Guess("category"),
    ),
    **_each("status type kind category group class code level grade sector channel", Guess("category")),
    **_each(
        "postcode postalcode zip zipcode diagnosis icd product brand item occupation job title", Guess("text")
    ),
}
_UNKNOWN: Final = Guess("unknown")


def guess(name: str, stored: str = "unknown") -> Guess:
    """Say what a column seems to hold.

    Parameters
    ----------
    name : str
        The column's name.
    stored : str
        Its storage type, as its engine names it (``"INTEGER"``); ``"unknown"`` where a file has none.

    Returns
    -------
    Guess
        The storage type decides what it can be, the name what it is.

    Examples
    --------
    >>> guess("age_at_visit", "BIGINT")
    Guess(kind='integer', lower=0, upper=120)
    >>> guess("visit_date").kind
    'date'
    """
    by_name = _by_name(name)
    if stored == "unknown":
        return by_name
    known = _STORED.get(stored.split("(", maxsplit=1)[0].upper(), "unknown")
    if by_name.kind in _MAY_BE[known]:
        return by_name
    bounds = (
        (by_name.lower, by_name.upper) if {known, by_name.kind} <= {"integer", "number"} else (None, None)
    )
    return Guess(known, *bounds, stored=True)


_MAY_BE: Final[Mapping[str, tuple[str, ...]]] = {
    "integer": ("integer", "category", "text", "boolean", *UNDRAFTED),
    "number": ("number", "index"),
    "category": ("category", "text", "boolean", "date", "datetime", *UNDRAFTED),
    "boolean": (),
    "date": ("date",),
    "datetime": ("datetime",),
    "unknown": (),
}
"""What a name may make of a storage type: whole numbers are often codes, and texts often dates."""


def _by_name(name: str) -> Guess:
    words = [word.lower() for word in _WORD.findall(name)]
    if _INDEX.fullmatch(name):
        return Guess("index")
    if words[:1] in (["is"], ["has"]):
        return Guess("boolean")
    if words == ["name"]:
        return Guess("identifier")
    if len(words) > 1 and words[-1] in ("id", "uid", "uuid", "guid"):
        return Guess("person" if _NAMED_BY_IDS & set(words) else "identifier")
    if len(words) > 1 and words[-1] in ("on", "at"):
        return Guess("date" if words[-1] == "on" else "datetime")
    # two words may be one, post_code; what is last is the thing, what is first says more of it: `customer_age` is an age, `age_group` a group
    pairs = ["".join(pair) for pair in reversed(list(itertools.pairwise(words)))]
    found = [_BY_WORD[word] for word in (*pairs, *reversed(words[1:]), *words[:1]) if word in _BY_WORD]
    return found[0] if found else _UNKNOWN
