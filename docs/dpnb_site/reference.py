"""The pages that the code writes about itself: ``make reference`` writes them anew, a test compares.

Each page has a head that people write and a body between two marks. The body is made from registries, docstrings and the tables
that the code itself reads, so that it cannot say what is not so.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from dpnb_site import live, name_list, statistics
from dpnb_site.links import ROOT
from dpnb_site.public_names import ROOMS

FOLDER = ROOT / "docs" / "reference"
BEGIN, END = "<!-- made by `make reference`; a test compares -->\n", "\n<!-- end -->\n"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    heads = list(heads)
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += [
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows
    ]
    return "\n".join(lines)


def first_line(thing: object) -> str:
    """Return the first sentence of a docstring, with the marks of its links turned into Markdown."""
    return plain((inspect.getdoc(thing) or "").split("\n\n")[0])


def plain(text: str) -> str:
    """Return the words of a docstring as Markdown."""
    text = re.sub(r":[a-z:]+:`~?(?:[\w.]+\.)?([^`]+)`", r"`\1`", text)
    text = re.sub(r" ?\[(\d+)\]_", "", text)
    return re.sub(r"\s+", " ", text.replace("``", "`")).strip()


def section(thing: object, title: str) -> str:
    """Return a section of a numpy-style docstring, in one paragraph for each blank line."""
    found = re.search(
        rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", inspect.getdoc(thing) or "", re.DOTALL | re.MULTILINE
    )
    if found is None:
        return ""
    text = re.sub(r"^\.\. \[(\d+)\] ?", r"\n\n", found[1], flags=re.MULTILINE)
    return "\n\n".join(plain(part) for part in text.split("\n\n") if part.strip())


def names() -> str:
    """Every public name, a line for each room; what each is, its docstring says."""
    rows = []
    for room in ROOMS:
        rows.append((room.title, plain(room.words), _listed(name for name, _ in room.members())))
        rows += [
            (f"what `{name}` has", first_line(thing), _listed(one for one in dir(thing) if one[0] != "_"))
            for name, thing in room.members()
            if room.methods and inspect.isclass(thing)
        ]
    return table(("room", "what it is", "names"), rows)


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def cells() -> str:
    """What the two magics print of themselves."""
    from dpnb.notebook.commands import LINE_HELP
    from dpnb.notebook.options import CELL_HELP

    return f"## `%%dp`\n\n```text\n{CELL_HELP.strip()}\n```\n\n## `%dp`\n\n```text\n{LINE_HELP.strip()}\n```\n\n## `%config DPMagic`\n\n{_settings()}"


def _settings() -> str:
    from dpnb.notebook.magic import DPMagic

    rows = [
        (f"`{name}`", f"`{trait.default()!r}`", plain(trait.help))
        for name, trait in sorted(DPMagic.class_own_traits(config=True).items())
    ]
    return table(("setting", "default", "what it does"), rows)


def command_line() -> str:
    """Every command with its help, as ``dpnb … --help`` prints it; words that many commands take stand once."""
    from dpnb.__main__ import _parser

    every = list(commands(_parser(), ""))
    counted = Counter(word for *_, words in every for word in words)
    many = [word for word, times in counted.most_common() if times >= _MANY]
    parts = [f"Words that many commands take:\n\n{table(('word', 'what it is'), many)}"]
    for name, said, words in every:
        own = [word for word in words if word not in many]
        shared = ", ".join(word for word, _ in words if (word, _) in many)
        told = f"{said}. Also {shared}." if shared else said
        parts.append(f"## `{name}`\n\n{told}" + (f"\n\n{table(('word', 'what it is'), own)}" if own else ""))
    return "\n\n".join(parts)


_MANY = 5
"""Commands that take a word with the same help, from which on it is described once."""


def commands(parser: argparse.ArgumentParser, said: str) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Yield each command: its name, its help, and its words with theirs."""
    deeper = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    if not deeper:
        words = [
            (f"`{', '.join(one.option_strings) or one.dest}`", one.help or "") for one in parser._actions[1:]
        ]
        yield parser.prog, said, words
    for group in deeper:
        helps = {one.dest: one.help or "" for one in group._choices_actions}
        for name, sub in group.choices.items():
            yield from commands(sub, helps.get(name, ""))


def toml_keys() -> list[tuple[str, list[str]]]:
    """Return the keys of each section of a declaration, then of a service, as their readers accept them."""
    from dpnb.trusted.files import dialect
    from dpnb.trusted.schema import owner
    from dpnb.trusted.serving import settings

    sections = {
        "[dataset]": owner._DATASET,
        "[budget]": owner._BUDGET,
        **{f'[columns.NAME] type = "{kind}"': keys for kind, keys in owner._COLUMN.items()},
        "[source]": dialect._KEYS,
        "[service]": sorted(settings._SERVICE),
        "[datasets.NAME]": sorted(settings._DATASET),
    }
    return [(section, list(keys)) for section, keys in sections.items()]


def toml() -> str:
    """The keys that the readers of the two files accept."""
    from dpnb.trusted.files import named_file

    rows = [
        (", ".join(f"`{part}`" for part in section.split(" ", 1)), ", ".join(f"`{key}`" for key in keys))
        for section, keys in toml_keys()
    ]
    reads = ", ".join(f"`{suffix}`" for suffix in named_file.FORMATS)
    return (
        f"## Every key of a declaration\n\n{table(('section', 'keys'), rows[:-2])}\n\nA `source` ends in {reads}, or is a folder of Parquet files, `visits/*.parquet`. An unknown key is refused, with the "
        f"nearest known one.\n\n## Every key of a service\n\n{table(('section', 'keys'), rows[-2:])}"
    )


def mechanisms() -> str:
    """Each mechanism: its words, its guarantee as its docstring proves it, its references."""
    from dpnb.trusted.mechanisms import MECHANISMS

    return "\n\n".join(_mechanism(mechanism) for mechanism in MECHANISMS)


def _mechanism(mechanism: Any) -> str:
    path = Path(inspect.getfile(mechanism)).relative_to(ROOT).as_posix()
    parts = (
        f"## {mechanism.title}",
        mechanism.summary,
        f"*In the code* [`{mechanism.name}`](../../{path}) · *status* proven",
        section(mechanism, "Notes"),
        f"**Reference:** {mechanism.reference}.",
    )
    return "\n\n".join(part for part in parts if part)


def events() -> str:
    """The kinds of event, and what each costs in each measure, computed."""
    from fractions import Fraction

    from dpnb.trusted.errors import LossError
    from dpnb.trusted.privacy.event import KINDS, VERSION, PrivacyEvent
    from dpnb.trusted.privacy.measure import Measure

    def cost(kind: str, measure: Any) -> str:
        one = Fraction(1)
        delta = Fraction(1, 10**6) if kind == "approximate" else Fraction(0)
        event = PrivacyEvent.laplace([[(one, one)]]) if kind == "laplace" else PrivacyEvent(kind, one, delta)
        try:
            loss = event.loss(measure)
        except LossError:
            return "not allowed"
        return f"{float(loss.amount):.4g}" + (f", δ {float(loss.delta):.0e}" if loss.delta else "")

    heads = ("kind, of amount 1", *(f"in a budget of {words}" for words in ("ε", "ρ", "ρ and δ")))
    rows = [(f"`{kind}`", *(cost(kind, measure) for measure in Measure)) for kind in KINDS]
    return f"Version {VERSION}.\n\n{table(heads, rows)}\n\n{section(PrivacyEvent, 'Parameters')}\n\n**References:**\n\n{section(PrivacyEvent, 'References')}"


def errors() -> str:
    """Each error, what kind of error it is, and its permanent code."""
    from dpnb import errors as tree

    rows = [
        (f"`{kind.__name__}`", _listed(one.__name__ for one in kind.__bases__), f"`{code}`", first_line(kind))
        for code, kind in tree.BY_CODE.items()
    ]
    return table(("error", "is a", "code", "when"), rows)


def formats() -> str:
    """The ledger's tables as they are made, and the messages of the wire as its types declare them."""
    from dpnb.trusted.curator.ledger_tables import COLUMNS
    from dpnb.trusted.wire import messages

    tables = [(f"`{name}`", f"`{columns}`") for name, columns in COLUMNS.items()]
    kinds = [
        thing
        for thing in vars(messages).values()
        if inspect.isclass(thing) and issubclass(thing, messages.Message)
    ]
    rows = [
        (
            f"`{kind.__struct_config__.tag}`",
            ", ".join(f"`{name}`" for name in kind.__struct_fields__) or "–",
            first_line(kind),
        )
        for kind in kinds
        if kind is not messages.Message
    ]
    return (
        f"## The ledger\n\n{table(('table', 'columns'), tables)}\n\n"
        f"## The wire, protocol {messages.PROTOCOL}\n\n{table(('tag', 'fields', 'what it is'), rows)}"
    )


def interactions() -> str:
    """The registry of interactions."""
    from dpnb.widgets.registry import INTERACTIONS

    rows = []
    for entry in INTERACTIONS:
        kind = entry.load()
        line = f"`%dp {entry.name}`" if entry.line else "–"
        rows.append(
            (
                f"[`{entry.name}`](../gallery.md#{entry.name})",
                f"`dpnb.widgets.{entry.public}`",
                line,
                first_line(kind),
            )
        )
    return table(("name", "in Python", "on a line", "what it shows"), rows)


def studies() -> str:
    """The built-in studies, from their schemas."""
    from dpnb.datasets import BUILT_IN

    rows = []
    for study in BUILT_IN:
        schema = study.schema
        kind = "made up" if study.simulated else "public"
        rows.append(
            (
                f"`{study.name}`",
                schema.title,
                kind,
                ", ".join(f"`{column.name}`" for column in schema.columns),
                schema.citation or schema.source_note or "–",
            )
        )
    return table(("name", "title", "rows are", "columns", "source"), rows)


def sql() -> str:
    """What SQL is understood where, and what is said of the rest: the translator's own tables."""
    from dpnb.client.sql.ask import PLACES
    from dpnb.client.sql.reader import WORDS
    from dpnb.client.sql.refusals import NEVER, SAID

    parts = [
        f"## {said}\n\n"
        + table(("SQL", "what it means"), ((f"`{word}`", meaning) for word, meaning in WORDS[place].items()))
        for place, said in PLACES.items()
    ]
    kinds: dict[str, list[str]] = {}
    for kind, said in NEVER.items():
        kinds.setdefault(said, []).append(kind.upper())
    rows = [(", ".join(named), _blank(said)) for said, named in kinds.items()]
    others = "\n".join(f"- {_blank(said)}" for said in SAID.values() if said not in kinds)
    return "\n\n".join([*parts, "## Refused", table(("read as", "what is said"), rows), others])


def _blank(said: str) -> str:
    """Return a refusal with an ellipsis for each part that is filled in."""
    return re.sub(r"\{\w+\}", "…", said).replace("*", "\\*").replace("<", "&lt;")


PAGES: dict[str, Callable[[], str]] = {
    "api": names,
    "cells": cells,
    "sql": sql,
    "command-line": command_line,
    "toml": toml,
    "statistics": statistics.page,
    "mechanisms": mechanisms,
    "events": events,
    "errors": errors,
    "formats": formats,
    "interactions": interactions,
    "studies": studies,
}


def written(name: str) -> str:
    """Return a page as it should stand: what people wrote, and between the marks what the code says today."""
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    head, mark, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not mark or not end:
        raise SystemExit(f"docs/reference/{name}.md needs the two marks between which it is written.")
    return f"{head}{BEGIN}{PAGES[name]()}{END}{tail}"


def main() -> int:
    """Write every page anew, the list of what a user can name, and what the gallery's notebook lacks."""
    for name in PAGES:
        (FOLDER / f"{name}.md").write_text(written(name), encoding="utf-8")
    name_list.GOLDEN.write_text(name_list.name_list(), encoding="utf-8")
    gallery = live.with_screens(json.loads(live.NOTEBOOK.read_text(encoding="utf-8")))
    live.NOTEBOOK.write_text(json.dumps(gallery, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
