"""The magic line: words in, one frozen :class:`CellOptions` out.

Options are written ``key=value`` or ``--key value``; both mean the same. Values stay text here: the plan room reads
numbers exactly. An unknown option, a value that is missing and two ways of asking for the same thing are refused
with the line to write. ``{eps}`` and ``$eps`` stand for values, as in IPython's own magics; the caller says where they
are looked up.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real

from IPython.utils.text import DollarFormatter

from dpnb.errors import DpnbError, OptionError

LOSSES = ("epsilon", "rho", "within")
VALUED = (*LOSSES, "weights", "assume_n")
FLAGS = ("fresh", "sql")
VERBS = ("plan", "release", "help")
WORDS = (*VALUED, *FLAGS, *VERBS)

CELL_HELP = """\
%%dp [sql] [plan | release] [epsilon=… | rho=… | within=…] [weights=name:2,other:1] [fresh] [assume_n=…]

The cell runs as ordinary Python. The questions that it built and still holds when it ends are released as one batch;
those that it overwrote, deleted or never kept are dropped and cost nothing.

  epsilon=1            pay ε 1 for the whole cell, split equally over its questions
  rho=0.1              the same in ρ, on a dataset whose budget is ρ or (ε, δ)
  within=0.02          set the accuracy instead: the 95 % privacy interval of each question is ± 0.02 in its unit
  weights=effect:2     give `effect` twice the share of the others; effect:0 leaves it out, pending
  fresh                pay for new noise even if there is a stored answer
  assume_n=2000        for previews: the size to assume if it is private (a number, or a released estimate)
  plan                 show the itemised plan and spend nothing
  sql                  the cell holds SQL: SELECT ...; or name << SELECT ...; once or several times; see %dp sql
  release              release even if %config DPMagic.mode = "ask"
  epsilon={eps}        the value of a variable or an expression, for every option; $eps means the same

--epsilon 1 means the same as epsilon=1. Defaults: %config DPMagic. More commands: %dp help
"""


@dataclass(frozen=True, slots=True)
class CellOptions:
    """What one magic line asks for.

    Attributes
    ----------
    verb : str
        ``""`` (as configured), ``"plan"``, ``"release"`` or ``"help"``.
    values : tuple of (str, str)
        The valued options as written, without ``weights``.
    weights : tuple of (str, Fraction)
        Names of the cell's estimates and their share.
    fresh : bool
        Whether stored answers are to be ignored.
    sql : bool
        Whether the body is SQL.
    """

    verb: str = ""
    values: tuple[tuple[str, str], ...] = ()
    weights: tuple[tuple[str, Fraction], ...] = ()
    fresh: bool = False
    sql: bool = False

    @property
    def loss(self) -> tuple[str, str] | None:
        """The one of ``epsilon``, ``rho``, ``within`` that was written."""
        return next(((key, text) for key, text in self.values if key in LOSSES), None)


def parse(line: str, *, magic: str = "%%dp") -> CellOptions:
    """Read a magic line.

    Parameters
    ----------
    line : str
        What follows the magic's name.
    magic : str
        The name to use in errors.

    Returns
    -------
    CellOptions

    Raises
    ------
    OptionError
        With the nearest valid spelling, or the option that lacks a value.

    Examples
    --------
    >>> parse("plan --epsilon 1/2 weights=effect:2").values
    (('epsilon', '1/2'),)
    """
    if "<<" in line.split():
        raise OptionError("A name stands below the magic line, in front of its query: pay << SELECT …")
    verb = ""
    flags: set[str] = set()
    values: dict[str, str] = {}
    for key, value in _pairs(_words(line), magic):
        if key in VERBS:
            verb = _only_verb(verb, key, magic)
        elif key in FLAGS:
            flags.add(key)
        else:
            values[key] = _once(values, key, value, magic)
    _one_loss(values, magic)
    weights = _weights(values.pop("weights", ""))
    return CellOptions(verb, tuple(values.items()), weights, "fresh" in flags, "sql" in flags)


def filled(line: str, value_of: Callable[[str], object], *, magic: str = "%%dp") -> str:
    """Put values in the place of ``{expression}`` and ``$name``; ``{{`` and ``$$`` stand for a brace and a dollar.

    Parameters
    ----------
    line : str
        What follows the magic's name.
    value_of : callable
        Returns the value of a Python expression; what it raises is passed on.
    magic : str
        The name to use in errors.

    Raises
    ------
    OptionError
        If a brace is not closed, or a value is neither a number nor text.

    Examples
    --------
    >>> filled("epsilon={eps}", {"eps": 0.5}.__getitem__)
    'epsilon=0.5'
    """
    if not re.search(r"[{}$]", line):
        return line
    try:
        fields = list(DollarFormatter().parse(line))
    except ValueError:
        msg = f"A brace stands alone in: {line.strip()}. The value of a variable is written {magic} epsilon={{eps}}"
        raise OptionError(msg) from None
    found = []
    for text, name, rest, conversion in fields:
        found.append(text)
        if name is not None:
            expression = name + (f"!{conversion}" if conversion else "") + (f":{rest}" if rest else "")
            found.append(_as_word(expression, value_of(expression.strip())))
    return "".join(found)


def evaluated(expression: str, names: dict[str, object]) -> object:
    """Return the value of an expression in a notebook's names.

    Raises
    ------
    OptionError
        With what has no value, and what to write.
    """
    try:
        return eval(expression, names)  # noqa: S307  the user's own line
    except DpnbError:
        raise
    except NameError as error:
        name = error.name or expression
        msg = f"{{{expression}}}: {name} has no value here. Run the cell that sets it first, for example {name} = 0.5"
    except SyntaxError:
        msg = f"{{{expression}}} is not a Python expression. Write for example {{eps}} or {{eps / 2}}"
    except Exception as error:  # noqa: BLE001  whatever the user's own code raises
        msg = f"{{{expression}}} could not be computed: {error} ({type(error).__name__})"
    raise OptionError(msg)


def _as_word(expression: str, value: object) -> str:
    if isinstance(value, str | Real | Decimal):
        return str(value)
    kind = "None" if value is None else f"of type {type(value).__name__}"
    msg = f"{{{expression}}} is {kind}; an option takes a number or a text."
    raise OptionError(msg)


def near(word: str, known: Iterable[str]) -> str:
    """The nearest known word as a question, or the whole list when nothing is near.

    Examples
    --------
    >>> near("epsilom", WORDS)
    'did you mean epsilon?'
    """
    known = list(known)
    match = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    if not match:
        match = [name for name in known if len(word) > 2 and name.startswith(word.lower())][:1]
    return f"did you mean {match[0]}?" if match else "use one of: " + ", ".join(known)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        msg = f"A quote is not closed in: {line.strip()}"
        raise OptionError(msg) from None


def _pairs(words: list[str], magic: str) -> Iterator[tuple[str, str]]:
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        dashed = name.startswith("--")
        key = _known(name, magic)
        if key not in VALUED:
            if equals and value.lower() not in {"true", "yes", "1"}:
                msg = f"{key} takes no value: write {key} alone, or leave it out."
                raise OptionError(msg)
            yield key, ""
            continue
        if not equals and dashed:
            value = next(rest, "")
        if not value or value.startswith("--"):
            msg = f"{key} needs a value: {magic} {key}={_sample(key)}"
            raise OptionError(msg)
        yield key, value


def _known(name: str, magic: str) -> str:
    key = name.removeprefix("--").replace("-", "_") if name.startswith("--") else name
    if key in {"h", "-h", "?"}:
        return "help"
    if key in WORDS:
        return key
    if key and key[0].isdigit():
        msg = f"{name!r} has no name: write {magic} epsilon={name}"
        raise OptionError(msg)
    if key.upper() in {"SELECT", "WITH"}:
        msg = f"A query begins below the magic line: {magic} sql epsilon=1, then {key.upper()} ... in the next line."
        raise OptionError(msg)
    msg = f"unknown option {key!r} for {magic}: {near(key, WORDS)}"
    raise OptionError(msg)


def _sample(key: str) -> str:
    return {"epsilon": "1", "rho": "0.1", "within": "0.02", "weights": "effect:2"}.get(key, "1000")


def _only_verb(old: str, new: str, magic: str) -> str:
    if old and old != new and "help" not in {old, new}:
        msg = f"{old} and {new} contradict each other: write {magic} {old}, or {magic} {new}."
        raise OptionError(msg)
    return "help" if "help" in {old, new} else new


def _once(values: dict[str, str], key: str, value: str, magic: str) -> str:
    if key in values and values[key] != value:
        msg = f"{key} is given twice, as {values[key]} and {value}: write it once, {magic} {key}={value}"
        raise OptionError(msg)
    return value


def _one_loss(values: dict[str, str], magic: str) -> None:
    given = [key for key in LOSSES if key in values]
    if len(given) > 1:
        first = given[0]
        msg = (
            f"{' and '.join(given)} ask for the same thing twice: write one, {magic} {first}={values[first]}"
        )
        raise OptionError(msg)


def _weights(text: str) -> tuple[tuple[str, Fraction], ...]:
    pairs = []
    for item in filter(None, text.split(",")):
        name, _, amount = item.partition(":")
        pairs.append((name.strip(), _weight(name.strip(), amount.strip())))
    return tuple(pairs)


def _weight(name: str, amount: str) -> Fraction:
    try:
        weight = Fraction(amount)
    except (ValueError, ZeroDivisionError):
        weight = Fraction(-1)
    if weight < 0 or not all(part.isidentifier() for part in name.split(".", 1)):
        meant = name.partition("=")[0] or "effect"
        msg = f"weights are written name:number, for example weights={meant}:2; 0 leaves a question out"
        raise OptionError(msg)
    return weight
