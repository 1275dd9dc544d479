"""SQL in a cell and in a script: DuckDB's SELECT, read in the kernel, asked as the questions that Python would ask.

* :func:`statements` splits a cell's text into :class:`Statement`, each with ``.name`` (or None), ``.text``, ``.line`` and ``.column``.
* :func:`translate` builds the pending estimates of one in the batch that is open, and returns a :class:`Selected`. Every error is a
  ``DpnbError`` with the line and column in its message and, as numbers, in its ``.details``; nothing is spent.
* :class:`Selected` is the answer: ``.pending``, ``.columns``, ``.keys``, ``.notes``, ``.estimates`` (figures by name), ``answer["pay"]``,
  ``.table()``, ``.to_frame()`` and the files of every answer. Its card is ``dpnb.cards.select_card``, where there is one.
* :func:`tables_of` gives what FROM can name from a notebook's names, which are also good as `parameters`.
* :func:`sql` is ``dpnb.sql``; :func:`words` says what a dataset understands; :func:`completions` gives names and declared values.

No SQL that is typed reaches an engine.
"""

from __future__ import annotations

from dpnb.client.sql.answer import Selected, translate
from dpnb.client.sql.ask import Completions, completions, sql, words
from dpnb.client.sql.names import tables_of
from dpnb.client.sql.reader import Statement, statements

__all__ = [
    "Completions",
    "Selected",
    "Statement",
    "completions",
    "sql",
    "statements",
    "tables_of",
    "translate",
    "words",
]
