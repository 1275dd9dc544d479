"""What a file of SPSS, Stata or SAS, or a frame, says of its columns: a codebook, which a person wrote and no row decides.

Labels, labelled codes, codes for *missing* and measurement levels become lines of a draft, for its owner to read and sign.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpnb.owner.frame_codebook import said_of_stored
from dpnb.trusted.files.named_file import STATISTICS, NamedFile, format_of

_LABELLED = "# the codes that the file labels: add those that it does not"
_ONE_LABEL = "# One label names several codes: they stay groups of their own, since values has the codes."
_MOST_LABELS = 12
"""So many labelled codes are explained in a comment."""
_UNKNOWN = re.compile(
    r"(refus(al|ed)|do(es)?(n'?t| not) know|no (answer|response)|not (available|applicable|stated)|missing|n/?a|dk"
    r"|keine (angabe|antwort)|k\. ?a\.|wei(ß|ss) nicht|verweigert|trifft nicht zu|ne sait pas|refus|sans r[ée]ponse)[.]?",
    re.IGNORECASE,
)
"""Labels of codes for *unknown* in a file that marks them in no other way."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a codebook says of one column.

    Parameters
    ----------
    label : str
        Empty where there is none.
    labels : dict
        Each labelled code and its label, without codes for missing.
    missing : dict
        Codes for missing, each with its label, if it has one.
    measured : bool
        Whether it is a scale, on which labels only name some points.
    """

    label: str
    labels: Mapping[Any, str]
    missing: Mapping[Any, str]
    measured: bool

    def told(self, section: str) -> str:
        """Return a drafted section with what the codebook says; one that drafts nothing stays as it is."""
        if "[" not in section or "\nlabel = " not in section:
            return section
        if self.label:
            section = re.sub(
                r"(?m)^label = .*$", lambda _: f"label = {_written(self.label)}", section, count=1
            )
        if self.labels and not self.measured:
            section = f'{section[: section.index("type = ")]}type = "category"\nvalues = {_written(list(self.labels))}  {_LABELLED}\n'
        named = "; ".join(f"{code}: {' '.join(text.split())}" for code, text in self.labels.items())
        if named and len(self.labels) <= _MOST_LABELS:
            section += f"# {named}\n"
        if len({*self.labels.values()}) < len(self.labels) and not self.measured:
            section += f"{_ONE_LABEL}\n"
        if not self.missing:
            return section
        said = "; ".join(" ".join(text.split()) for text in self.missing.values() if text)
        return f"{section}missing_codes = {_written(list(self.missing))}{said and f'  # {said}'}\n"


def codebook(path: Path) -> dict[str, Entry]:
    """Read the codebook of a file, column by column; nothing of a file that has none.

    Raises
    ------
    OwnerError
        When the file is damaged, or the library that reads it is missing.
    """
    kind = format_of(path)
    if kind in ("parquet", "arrow") and path.is_file():
        return entries(said_of_stored(path))
    if kind not in STATISTICS or not path.is_file():
        return {}
    from dpnb.trusted.curator.engines.table_file import about

    with NamedFile.open(path) as file:
        return entries(about(file))


def entries(said: Any) -> dict[str, Entry]:
    """Give the entry of each column of which something is said, by a file's own metadata as pyreadstat reads them."""
    found = {name: _entry(name, said) for name in said.column_names} if said else {}
    return {name: one for name, one in found.items() if one.label or one.labels or one.missing}


def _entry(name: str, said: Any) -> Entry:
    texts = said.readstat_variable_types[name] == "string"
    labels = {
        _code(code): text
        for code, text in said.variable_value_labels.get(name, {}).items()
        if isinstance(code, str) == texts  # a letter among numbers is one of Stata's own kinds of missing
    }
    ranges = [(one["lo"], one["hi"]) for one in said.missing_ranges.get(name, ())]
    missing = {_code(low): labels.get(_code(low), "") for low, high in ranges if low == high}
    missing |= {
        code: text
        for code, text in labels.items()
        if _UNKNOWN.fullmatch(" ".join(text.split())) or any(_within(code, *ends) for ends in ranges)
    }
    kept = {code: text for code, text in labels.items() if code not in missing}
    label = " ".join((said.column_names_to_labels.get(name) or "").split())
    return Entry(label, kept, missing, said.variable_measure.get(name) == "scale")


def _within(code: Any, low: Any, high: Any) -> bool:
    return isinstance(code, str) == isinstance(low, str) and low <= code <= high


def _code(code: Any) -> Any:
    """A code as it is written: whole numbers without a point."""
    return int(code) if isinstance(code, float) and code.is_integer() else code


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
