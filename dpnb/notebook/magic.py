"""The magics: ``%%dp`` runs a cell and settles it, ``%dp`` runs a command.

This module only connects: options, body, batch and settlement are rooms of their own. A cell that fails settles
nothing, whatever it built before it failed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from traitlets import Bool, Enum, Unicode

from dpnb.client.plan_view import BatchReport, PlanView
from dpnb.errors import DpnbError
from dpnb.estimate import Batch, PendingQuestion
from dpnb.notebook import commands
from dpnb.notebook.auto import Auto
from dpnb.notebook.cell import Body, as_typed, prepare, run, run_async
from dpnb.notebook.cell_release import current_session, settle
from dpnb.notebook.comm import Link
from dpnb.notebook.display import Screen
from dpnb.notebook.find_estimates import pending_in
from dpnb.notebook.host import NotebookHost
from dpnb.notebook.options import CELL_HELP, CellOptions, evaluated, filled, parse
from dpnb.planner.request import Ask


@magics_class
class DPMagic(Magics):
    """Differential privacy in the notebook.

    ``%config DPMagic`` lists what can be configured.
    """

    mode = Enum(
        ("release", "ask"),
        default_value="release",
        help='"release": a %%dp cell releases. "ask": every cell stops at its plan; %%dp release releases.',
    ).tag(config=True)
    epsilon = Unicode(
        "", help="The ε of a cell that names no loss, as text: 0.5 or 1/3. Empty: an error."
    ).tag(config=True)
    auto = Enum(
        ("off", "on", "release"),
        default_value="off",
        help="What ordinary cells with questions do; see %dp auto.",
    ).tag(config=True)
    short_errors = Bool(default_value=True, help="Show a dpnb error as its message; %tb shows the rest.").tag(
        config=True
    )

    shell: InteractiveShell

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self.screen = Screen()
        self.automatic = Auto(self)
        self.last_report: BatchReport | None = None
        self.planned: tuple[PlanView | None, str | None, str] = (None, None, "")
        self.hooks: tuple[Callable[..., object], ...] = ()
        self.link = Link(shell, current_session, self.screen.waiting)
        self.host = NotebookHost(self.screen, self.link)

    def refresh(self, result: object = None) -> None:
        """Redraw what was released by whatever means since it was drawn."""
        del result
        self.screen.refresh()

    @no_var_expand
    @line_cell_magic
    def dp(self, line: str, cell: str | None = None) -> Any:  # noqa: D102  the docstring is the help text
        __tracebackhide__ = True
        if cell is None:
            return commands.run(self, line)
        options = parse(filled(line, partial(evaluated, names=self.shell.user_ns)))
        if options.verb == "help":
            print(CELL_HELP)  # noqa: T201
            return None
        if options.sql:
            return self._select(options, cell, line)
        body = prepare(self.shell, cell, f"%%dp {line}")
        return self._await(options, body) if body.awaits else self._run(options, body)

    dp.__doc__ = CELL_HELP

    def _run(self, options: CellOptions, body: Body) -> object:
        __tracebackhide__ = True
        with Batch(epsilon=self._loss(options)) as batch:
            value = run(body, self.shell.user_ns)
        return self._settle(options, body, batch, value)

    async def _await(self, options: CellOptions, body: Body) -> object:
        __tracebackhide__ = True
        with Batch(epsilon=self._loss(options)) as batch:
            value = await run_async(body, self.shell.user_ns)
        return self._settle(options, body, batch, value)

    def _select(self, options: CellOptions, cell: str, line: str) -> object:
        """Settle a cell of SQL."""
        __tracebackhide__ = True
        from dpnb.notebook.sql_cell import answers, in_sql

        names = self.shell.user_ns
        raw, above = as_typed(self.shell, cell, f"%%dp {line}")
        with in_sql(raw):
            with Batch() as batch:
                found = answers(cell, above, names)
            names.update(found.named)
            leaves = batch.pending_leaves()
            settle(
                self,
                options,
                leaves,
                names=tuple(found.labelled),
                dropped=batch.dropped,
                body=cell.rstrip("\n"),
                answers=found.labelled,
            )
        last = found.last
        if last is None or last.pending or not leaves:
            return None if last is None or last.pending else last
        self.shell.displayhook.update_user_ns(
            last
        )  # the card has shown it: it is _ and Out[n], and not drawn again
        return None

    def _loss(self, options: CellOptions) -> float | None:
        """The ε of the whole cell, as far as its line or the default says one."""
        kind, text = options.loss or ("epsilon", self.epsilon)
        with suppress(DpnbError):  # what is wrong with it is said when the cell has run
            asked: dict[str, Any] = {kind: text}
            return Ask.make(**asked).as_epsilon if text else None
        return None

    def _settle(self, options: CellOptions, body: Body, batch: Batch, value: object) -> object:
        __tracebackhide__ = True
        leaves = batch.pending_leaves()
        names = body.names
        held = [self.shell.user_ns[name] for name in names if name in self.shell.user_ns]
        older = pending_in([*held, value])
        return settle(
            self,
            options,
            _distinct(leaves, older),
            value=value,
            names=names,
            dropped=batch.dropped,
            silenced=body.silenced,
            body=body.text,
        )


def _distinct(*groups: list[PendingQuestion]) -> list[PendingQuestion]:
    return list({id(leaf): leaf for group in groups for leaf in group}.values())
