"""What a cell holds: pending estimates inside ordinary Python objects, their names, and what a magic line asks of them.

The open batch already knows every estimate that the cell built and still holds. This module adds the second rule:
estimates of earlier cells (or of threads) that are inside what the cell binds. It walks values breadth first with
a fixed depth and size, looks only, and never raises: a container that cannot be read holds nothing.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from dpnb.client.sql import Selected
from dpnb.errors import OptionError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.estimate.regression_summary import Regression
from dpnb.notebook.options import CellOptions, near
from dpnb.planner.request import Ask
from dpnb.synthetic.tables import PairTables

DEPTH = 5
MOST = 20_000
_LEAVES = (
    str,
    bytes,
    bytearray,
    int,
    float,
    complex,
    bool,
    type(None),
    type,
    ModuleType,
    BuiltinFunctionType,
)
_FOREIGN = ("dpnb", "IPython", "ipykernel", "traitlets", "matplotlib")


def estimates_in(values: Iterable[object], *, depth: int = DEPTH, most: int = MOST) -> Iterator[Estimate]:
    """Yield the estimates inside some values, each once.

    Parameters
    ----------
    values : iterable of object
        Where to start.
    depth : int
        How many containers deep to look.
    most : int
        How many objects to look at in all.
    """
    queue = deque((value, 0) for value in values)
    seen: set[int] = set()
    kept: list[object] = []  # an id is only good while its object lives
    while queue and len(seen) < most:
        value, level = queue.popleft()
        if isinstance(value, _LEAVES) or id(value) in seen:
            continue
        seen.add(id(value))
        kept.append(value)
        if isinstance(value, Estimate):
            yield value
        elif level < depth:
            queue.extend((child, level + 1) for child in islice(_safely(value), most))


def pending_in(values: Iterable[object]) -> list[PendingQuestion]:
    """Return the pending measurements behind the estimates inside some values, each once."""
    found: dict[int, PendingQuestion] = {}
    for estimate in estimates_in(values):
        for leaf in estimate.leaves():
            if not leaf.released:
                found.setdefault(id(leaf), leaf)
    return list(found.values())


def named(namespace: Mapping[str, object], first: Iterable[str] = ()) -> list[tuple[str, Estimate]]:
    """Return the names under which a namespace holds estimates, directly or one container deep.

    Names in ``first`` come first, in that order; names that begin with an underscore are the shell's own.
    """
    order = [name for name in dict.fromkeys((*first, *namespace)) if name in namespace]
    skip = {"In", "Out"}
    pairs = ((name, namespace[name]) for name in order if not name.startswith("_") and name not in skip)
    found: list[tuple[str, Estimate]] = []
    inside: list[tuple[str, Estimate]] = []
    for name, value in pairs:
        if isinstance(value, Estimate):
            found.append((name, value))
        else:
            inside.extend(_labelled(name, value))
    return found + inside


def figures(namespace: Mapping[str, object]) -> list[tuple[str, str, Estimate]]:
    """Return of each figure of the SELECTs that names hold: the SELECT's name, an expression for the figure, and the figure."""
    return [
        (name, f"{name}[{key!r}]", one)
        for name, value in namespace.items()
        if isinstance(value, Selected) and name.isidentifier() and not name.startswith("_")
        for key, one in value.estimates.items()
    ]


def _labelled(name: str, value: object) -> Iterator[tuple[str, Estimate]]:
    if type(value) is dict:
        parts: Iterable[tuple[str, object]] = (
            (f"{name}[{key!r}]", item) for key, item in islice(value.items(), 1000)
        )
    elif type(value) in {list, tuple}:
        parts = ((f"{name}[{place}]", item) for place, item in enumerate(islice(value, 1000)))  # type: ignore[call-overload]
    elif isinstance(value, Selected):
        parts = _parts(name, value)
    elif isinstance(value, Regression):
        yield f"{name}.coefficients", value.coefficients
        return
    elif isinstance(value, PairTables):
        yield name, value.estimate
        return
    elif isinstance(getattr(type(value), "answers", None), property):  # a model; its room need not be loaded
        yield from ((f"{name}.answers[{place}]", one) for place, one in enumerate(value.answers))  # type: ignore[attr-defined]
        return
    elif _foreign(value) or isinstance(value, _LEAVES) or not hasattr(value, "__dict__"):
        return
    else:
        parts = ((f"{name}.{key}", item) for key, item in islice(vars(value).items(), 1000))
    for label, item in parts:
        if isinstance(item, Estimate):
            yield label, item


def _parts(name: str, answer: Selected) -> Iterator[tuple[str, Estimate]]:
    """The figures of a SELECT, called by its name, their own, or both; then what HAVING or ORDER BY alone asks."""
    figures = answer.estimates
    for key, one in figures.items():
        yield key if not name else name if len(figures) == 1 else f"{name}.{key}", one
    shown = {id(leaf) for one in figures.values() for leaf in one.leaves()}
    for one in answer.bought:
        if any(id(leaf) not in shown for leaf in one.leaves()):
            yield f"in {name or 'HAVING'}", one


def _foreign(value: object) -> bool:
    return (type(value).__module__ or "").partition(".")[0] in _FOREIGN


def _safely(value: object) -> list[object]:
    try:
        return list(islice(_children(value), MOST))
    except Exception:  # noqa: BLE001  a stranger's container may raise anything; it then holds nothing
        return []


def _children(value: Any) -> Iterator[object]:
    kind = type(value).__module__ or ""
    if isinstance(value, dict):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from value
    elif kind.startswith("numpy"):
        if getattr(getattr(value, "dtype", None), "kind", "") == "O":
            yield from value.ravel().tolist()
    elif kind.startswith("pandas"):
        yield from _cells(value)
    elif isinstance(value, FunctionType):
        yield from (cell.cell_contents for cell in value.__closure__ or ())
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
    elif isinstance(value, functools.partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, MethodType):
        yield value.__self__
    elif not _foreign(value) or isinstance(value, Selected):
        yield from _attributes(value)


def _cells(value: Any) -> Iterator[object]:
    if hasattr(value, "select_dtypes"):
        yield from value.select_dtypes(include=object).to_numpy().ravel().tolist()
    elif getattr(getattr(value, "dtype", None), "kind", "") == "O":
        yield from value.to_numpy().tolist()


def _attributes(value: object) -> Iterator[object]:
    yield from getattr(value, "__dict__", {}).values()
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if not slot.startswith("__"):
                yield getattr(value, slot, None)


def labels_of(
    leaves: Sequence[PendingQuestion], pairs: Sequence[tuple[str, Estimate]]
) -> dict[PendingQuestion, str]:
    """Return a label for each measurement: its name, the name that contains it, or its line."""
    own: dict[int, str] = {}
    around: dict[int, str] = {}
    for name, estimate in pairs:
        if estimate.measurement is not None:
            own.setdefault(id(estimate.measurement), name)
        else:
            for leaf in estimate.leaves():
                around.setdefault(id(leaf), f"in {name}")
    return {leaf: own.get(id(leaf)) or around.get(id(leaf)) or _unnamed(leaf) for leaf in leaves}


def _unnamed(leaf: PendingQuestion) -> str:
    line = getattr(leaf.origin, "line", None)
    return "kept, unnamed" + (f", line {line}" if line else "")


def asked(
    options: CellOptions, leaves: Sequence[PendingQuestion], *, epsilon: str, names: Mapping[str, object]
) -> Ask:
    """Return what a magic line asks for its questions.

    Parameters
    ----------
    options : CellOptions
        The line.
    leaves : sequence of PendingQuestion
        The questions of the cell.
    epsilon : str
        The configured default; empty where there is none.
    names : mapping
        Where a released estimate that ``assume_n=`` names is looked up.
    """
    values: dict[str, Any] = dict(options.values)
    if options.loss is None and epsilon:
        values["epsilon"] = epsilon
    elif options.loss is None and any(_pays(leaf) for leaf in leaves):
        msg = 'This cell names no loss: write %%dp epsilon=1, or set a default: %config DPMagic.epsilon = "1"'
        raise OptionError(msg)
    size = names.get(values.get("assume_n", ""))
    if isinstance(size, Estimate):
        values["assume_n"] = max(1, round(float(size)))
    return Ask.make(**values, fresh=options.fresh)


def _pays(leaf: PendingQuestion) -> bool:
    """Whether a question needs a loss from the line: public answers are free, and some name their own."""
    return leaf.spend is None and getattr(leaf.checked, "public_value", None) is None


def weigh(
    options: CellOptions, names: Mapping[str, Estimate], leaves: Sequence[PendingQuestion]
) -> list[PendingQuestion]:
    """Set the weights of a magic line on the estimates that it names; return the questions that are asked, without those of weight 0."""
    out = set()
    for name, weight in options.weights:
        if name not in names:
            msg = f"weights={name}:… names no estimate of this cell: {near(name, names)}"
            raise OptionError(msg)
        if weight:
            names[name].weight(weight)
        else:
            out.add(id(_question(name, names[name])))
    return [leaf for leaf in leaves if id(leaf) not in out]


def _question(name: str, estimate: Estimate) -> PendingQuestion:
    if estimate.measurement is None:
        raise OptionError(
            f"weights={name}:0 leaves out a question; {name} is computed from others. Name one of those."
        )
    return estimate.measurement
