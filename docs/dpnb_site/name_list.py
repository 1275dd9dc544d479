"""The list of every name that a user can type or meet, from the registries. It is a golden file, so that what goes is seen in a diff."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from dpnb_site.links import ROOT
from dpnb_site.public_names import ROOMS

GOLDEN = ROOT / "tests" / "golden" / "public_names.txt"


def python_names() -> Iterator[str]:
    """Yield the public names of each room with their parameters, and the methods of the classes that are shown with theirs."""
    for room in ROOMS:
        for name, thing in room.members():
            yield f"python {room.module}.{name}{_parameters(thing)}"
            if room.methods and inspect.isclass(thing):
                for method in dir(thing):
                    if not method.startswith("_"):
                        of = _parameters(getattr(thing, method))
                        yield f"python {room.module}.{name}.{method}{of}"


def _parameters(thing: object) -> str:
    if not callable(thing) or (inspect.isclass(thing) and issubclass(thing, Exception)):
        return ""
    try:
        signature = inspect.signature(thing)
    except ValueError:
        return ""
    words = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    names = [
        words.get(one.kind, "") + one.name for one in signature.parameters.values() if one.name != "self"
    ]
    return f"({', '.join(names)})"


def command_line() -> Iterator[str]:
    """Yield each `dpnb` command with its words."""
    from dpnb.__main__ import _parser
    from dpnb_site.reference import commands

    for name, _, words in commands(_parser(), ""):
        yield " | ".join([f"command {name}", *(word.strip("`") for word, _ in words)])


def magics() -> Iterator[str]:
    """Yield the words of `%dp` and `%%dp`, and the settings of `%config DPMagic`."""
    from dpnb.notebook import commands, options
    from dpnb.notebook.magic import DPMagic

    yield from (f"magic %dp {word}" for word in (*commands.COMMANDS, *commands.INTERACTION_COMMANDS))
    yield from (f"magic %%dp {word}" for word in options.WORDS)
    yield from (f"magic %config DPMagic.{name}" for name in DPMagic.class_own_traits(config=True))


def registries() -> Iterator[str]:
    """Yield statistics with their options, mechanisms, events, exhibits, interactions, studies and errors."""
    from dpnb.datasets import BUILT_IN
    from dpnb.errors import BY_CODE
    from dpnb.exhibits import EXHIBITS
    from dpnb.statistics import STATISTICS
    from dpnb.trusted.mechanisms import MECHANISMS
    from dpnb.trusted.privacy.event import KINDS
    from dpnb.widgets.registry import INTERACTIONS

    for one in STATISTICS:
        yield f"statistic {one.name}({', '.join(one.defaults)})"
        yield from (f"reading {one.name}.{name}" for name in one.readings)
    yield from (f"mechanism {one.name}" for one in MECHANISMS)
    yield from (f"event {kind}" for kind in KINDS)
    yield from (f"exhibit {one.name}" for one in EXHIBITS)
    yield from (f"interaction {one.name} {one.public}" for one in INTERACTIONS)
    yield from (f"study {one.name}: {', '.join(one.schema.names)}" for one in BUILT_IN)
    yield from (f"error {code} {kind.__name__}" for code, kind in BY_CODE.items())


def file_keys() -> Iterator[str]:
    """Yield the keys of the files that owners and operators write."""
    from dpnb_site.reference import toml_keys

    yield from (f"key {section} {key}" for section, keys in toml_keys() for key in keys)


def lessons() -> Iterator[str]:
    """Yield the notebooks: tour, gallery, guides, course."""
    folder = ROOT / "notebooks"
    yield from (f"notebook {path.relative_to(folder)}" for path in folder.rglob("*.ipynb"))


def name_list() -> str:
    """Return the list, sorted."""
    makers = (python_names, command_line, magics, registries, file_keys, lessons)
    return "\n".join(sorted({line for make in makers for line in make()})) + "\n"
