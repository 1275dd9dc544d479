"""How a dataset was opened, as it is typed: for a cell that needs a handle which no name of the notebook holds."""

from __future__ import annotations

import json

from dpnb.trusted.wire.messages import Attach, FileSource, StudySource


def typed(asked: Attach | None, seed: str | None = None) -> str | None:
    """Return the call that opens a dataset again; None for rows or a declaration that only the kernel held.

    Examples
    --------
    >>> from dpnb.trusted.wire.messages import Attach, StudySource
    >>> typed(Attach(source=StudySource(name="hiv"), mode="guard-rail"))
    'dpnb.open("hiv", mode="guard-rail")'
    """
    source = None if asked is None else asked.source
    if isinstance(source, StudySource):
        words = [_quoted(source.name)]
    elif isinstance(source, FileSource) and bytes(source.schema) == b"null":
        words = [_quoted(source.path)]
        words += [f"schema={_quoted(source.schema_path)}"] if source.schema_path else []
    else:
        return None
    words += [] if asked is None or not asked.mode else [f"mode={_quoted(asked.mode)}"]
    words += [] if seed is None else [f"seed={seed if seed.isdecimal() else _quoted(seed)}"]
    return f"dpnb.open({', '.join(words)})"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
