"""The line magic: ``%dp budget | ledger | schema | explain | export | auto | open | admin | help``.

Each command is one function of the magic and its words. ``open`` and ``auto`` change what later cells may do, and say so. None of
them spends but ``admin``, which is the owner's own command line.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython.display import display

from dpnb.client.handles import Dataset
from dpnb.errors import DpnbError, OptionError
from dpnb.estimate import Estimate
from dpnb.notebook.display import attach_bundle, draw
from dpnb.notebook.find_estimates import named
from dpnb.notebook.options import CELL_HELP, evaluated, filled, near, parse
from dpnb.planner.schema_words import cap_words
from dpnb.widgets.registry import INTERACTIONS, Entry

if TYPE_CHECKING:
    from dpnb.client.session import Session
    from dpnb.notebook.magic import DPMagic

LINE_HELP = """\
%dp budget               what is spent and what is left, from the ledger
%dp ledger [hiv]         every charge, and what it paid for
%dp schema hiv           the public facts: columns, bounds, privacy unit, dummy rows
%dp sql people           what a %%dp sql cell can say about people: columns, types, declared values
%dp statistics           what you can ask: what each statistic releases, its intervals and its reference
%dp explain effect       how a release was made, and what its intervals mean
%dp export report.html   the releases and interactions of this notebook as one interactive page
%dp auto on              plan ordinary cells that ask questions; auto release releases them; auto off
%dp open hiv             open a dataset under its own name
%dp attach hiv           its card: columns to search, questions to copy into a cell, the current budget
%dp panel                what is open and what was spent, updated after every cell; it spends nothing
%dp seesaw hiv.age.mean()    drag ε and ± of a question; also: plan, remeasure, guide, odds, noises, person, clamp
%dp stored effect        where an answer came from, and what it costs to ask again, with new noise or more accurately
%dp coverage mean skewed     simulate studies, and see which of their intervals contain the truth
%dp lecture              one question, one ε and forty studies, large enough for a projector; also of an estimate
%dp coverage effect      the same for an estimate: its question, size and loss, on rows that you declare
%dp attack linkage       run an attack on simulated people, and drag ε until it fails
%dp attack reconstruction secret=bits    the same on arrays of your own
%dp exhibits [matching]  published claims that do not hold: what each promises, how it breaks, what to type instead
%dp admin close people --reason "…" --yes    a command of the owner, as in a terminal
%dp options              the options of a %%dp cell, as %%dp --help shows them
"""


_NOT_FIRST = "%%dp must be the first line of its cell: move it to the top, above comments too. Nothing in this cell was run."


def run(magic: DPMagic, line: str) -> None:
    """Run one command line.

    Raises
    ------
    OptionError
        With the nearest command, or what the command needs.
    """
    __tracebackhide__ = True
    if line.startswith("%%dp"):  # it stood below the first line of a cell: see async_cells
        raise OptionError(_NOT_FIRST)
    name, _, rest = line.strip().partition(" ")
    if name in INTERACTION_COMMANDS:
        show_interaction(magic, name, rest.strip())
        return
    if name == "explain":  # what follows is Python, quotes and all
        _explain(magic, [rest.strip()] if rest.strip() else [])
        return
    if name != "admin":  # whose reasons are texts
        line = filled(line, partial(evaluated, names=magic.shell.user_ns), magic="%dp auto release")
    try:
        words = shlex.split(line) or ["help"]
    except ValueError:
        raise OptionError(f"A quote is not closed in: {line.strip()}") from None
    verb = words[0].removeprefix("--")
    if verb not in COMMANDS:
        raise OptionError(
            f"unknown command {words[0]!r} for %dp: {near(words[0], (*COMMANDS, *INTERACTION_COMMANDS))}"
        )
    COMMANDS[verb](magic, words[1:])


def _session() -> Session:
    from dpnb.notebook import cell_release

    return cell_release.current_session()


def _opened(magic: DPMagic, words: list[str]) -> list[Dataset]:
    """The datasets that are named, each by its own name or by the notebook's; all of them where none is."""
    opened = dict(_session().datasets)
    if not opened:
        raise OptionError('No dataset is open: hiv = dpnb.open("hiv")')
    called = {name: one.root for name, one in magic.shell.user_ns.items() if isinstance(one, Dataset)}
    known = {**opened, **{name: one for name, one in called.items() if not name.startswith("_")}}
    for word in words:
        if word not in known:
            raise OptionError(f"no dataset {word!r} is open: {near(word, known)}")
    return [known[word] for word in words] or list(opened.values())


def _budget(magic: DPMagic, words: list[str]) -> None:
    for dataset in _opened(magic, words):
        now = dataset.budget.state()
        text = f"{dataset.name}: spent {now.spent} of {now.cap}, left {now.left}{cap_words(now.whose)}"
        display(draw("budget_card", dataset.schema, now, text=text), raw=True)


def _ledger(magic: DPMagic, words: list[str]) -> None:
    datasets = _opened(magic, words)
    display(datasets[0].session.statement(datasets[0]) if words else _session().statement())


def _schema(magic: DPMagic, words: list[str]) -> None:
    for dataset in _opened(magic, words):
        display(attach_bundle(dataset), raw=True)


def _sql(magic: DPMagic, words: list[str]) -> None:
    from dpnb.client.sql import words as words_of

    for dataset in _opened(magic, words):
        print(words_of(dataset))  # noqa: T201


def _statistics(_: DPMagic, words: list[str]) -> None:
    from dpnb.cards.catalogue import catalogue_card

    del words
    display(catalogue_card().bundle(), raw=True)


def _explain(magic: DPMagic, words: list[str]) -> None:
    names = magic.shell.user_ns
    known = list(dict.fromkeys(re.split(r"[.\[]", name)[0] for name, _ in named(names)))
    if not words:
        raise OptionError(f"%dp explain needs a name: {', '.join(known) or 'release something first'}")
    from dpnb.widgets.registry import value_of

    text = words[0]
    unknown = text.isidentifier() and text not in names
    found = None if unknown else value_of(names, text, "%dp explain effect")
    answer = getattr(found, "estimate", None)  # of a regression, or of a table
    found = found if isinstance(found, Estimate) else answer
    if not isinstance(found, Estimate):
        raise OptionError(
            f"{text!r} is not an estimate: {near(text, known) if known else 'there is none yet'}"
        )
    display(found.explain().bundle(), raw=True)


def _export(magic: DPMagic, words: list[str]) -> None:
    from dpnb.widgets._base import shown
    from dpnb.widgets.pages import session_page

    if len(words) != 1:
        raise OptionError("%dp export needs one file name: %dp export report.html")
    found = {name: item for name, item in named(magic.shell.user_ns) if not item.pending}
    if not found and not shown():
        raise OptionError("Nothing is released yet, and no interaction is shown: run a %%dp cell first.")
    text, interactions = session_page(found)
    Path(words[0]).expanduser().write_text(text, encoding="utf-8")
    counted = [_counted(len(found), "release"), _counted(interactions, "interaction")]
    print(f"{' and '.join(filter(None, counted))} written to {words[0]}")  # noqa: T201


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}" if number else ""


def _auto(magic: DPMagic, words: list[str]) -> None:
    state = words[0] if words else magic.auto
    if state not in {"on", "off", "release"}:
        raise OptionError(f"unknown state {state!r} for %dp auto: {near(state, ('on', 'off', 'release'))}")
    options = parse(shlex.join(words[1:]), magic="%dp auto release")
    if options.sql:
        raise OptionError(
            "%dp auto is about cells of Python; SQL is asked in a cell of its own: %%dp sql epsilon=0.1"
        )
    if state == "release" and options.loss is None and not magic.epsilon:
        raise OptionError("%dp auto release needs a loss for each cell: %dp auto release epsilon=0.1")
    magic.automatic.options = options
    magic.auto = state
    print(_AUTO[state])  # noqa: T201


_AUTO = {
    "on": "auto on: a cell that asks a question shows its plan; nothing is spent.",
    "release": "auto release: a cell that asks a question releases what it still holds when it ends.",
    "off": "auto off: only %%dp cells release.",
}


def _open(magic: DPMagic, words: list[str]) -> None:
    from dpnb.client import opening

    if not words:
        raise OptionError("%dp open needs a dataset: %dp open hiv")
    name, _, mode = words[0], None, dict(word.partition("=")[::2] for word in words[1:])
    unknown = set(mode) - {"mode"}
    if unknown:
        raise OptionError(f"unknown option {min(unknown)!r} for %dp open: {near(min(unknown), ('mode',))}")
    handle = opening.open(name, mode=mode.get("mode"))
    label = str(handle.schema.name)
    if not label.isidentifier():
        raise DpnbError(f'{label} is not a Python name: data = dpnb.open("{name}")')
    magic.shell.user_ns[label] = handle
    print(f"{label} is open")  # noqa: T201


def _help(_: DPMagic, words: list[str]) -> None:
    del words
    print(LINE_HELP)  # noqa: T201


def _options(_: DPMagic, words: list[str]) -> None:
    del words
    print(CELL_HELP)  # noqa: T201


def _admin(_: DPMagic, words: list[str]) -> None:
    from dpnb.owner.deposit import run_act

    print(run_act(words or ["--help"]))  # noqa: T201


COMMANDS: dict[str, Callable[[DPMagic, list[str]], None]] = {
    "budget": _budget,
    "ledger": _ledger,
    "schema": _schema,
    "sql": _sql,
    "statistics": _statistics,
    "explain": _explain,
    "export": _export,
    "auto": _auto,
    "open": _open,
    "options": _options,
    "admin": _admin,
    "help": _help,
}


def _shown(entry: Entry, names: Mapping[str, object], text: str) -> Any:
    return entry.load().of_line(names, text)


def show_interaction(magic: DPMagic, name: str, text: str) -> None:
    """Show one interaction.

    Parameters
    ----------
    magic : DPMagic
        Its shell's names are what the text may use.
    name : str
        The command.
    text : str
        What follows it on the line.

    Raises
    ------
    OptionError
        When the text is missing, is no Python, or names what there is not.
    """
    __tracebackhide__ = True
    from dpnb.notebook.cell_release import current_session

    names = magic.shell.user_ns
    display(INTERACTION_COMMANDS[name]({**current_session().datasets, **names}, text))


INTERACTION_COMMANDS: dict[str, Callable[[Mapping[str, Any], str], Any]] = {
    entry.name: partial(_shown, entry) for entry in INTERACTIONS if entry.line
}
"""What each ``%dp`` word shows of the user's names and of what follows it."""
