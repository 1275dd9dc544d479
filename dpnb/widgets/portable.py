"""An interaction where no extension can be, as anywidget shows it: its view's code travels with the state.

This module alone needs the optional package anywidget, and :func:`dpnb.widgets.hosts.form` alone decides that it is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

if TYPE_CHECKING:
    from dpnb.widgets._base import Interaction


class Portable(anywidget.AnyWidget):
    """The double of an interaction: same facts, same settings, same messages."""

    facts = traitlets.Dict().tag(sync=True)
    chosen = traitlets.Dict().tag(sync=True)
    arrays = traitlets.Dict().tag(sync=True)

    def __init__(self, interaction: Interaction) -> None:
        self._kind = interaction.kind
        self._interaction = interaction
        super().__init__(facts=interaction.facts, chosen=interaction.chosen, arrays=interaction.arrays)
        traitlets.link((interaction, "chosen"), (self, "chosen"))
        traitlets.dlink((interaction, "arrays"), (self, "arrays"))  # before the facts that speak of them
        traitlets.dlink((interaction, "facts"), (self, "facts"))
        self.on_msg(lambda _, content, buffers: interaction._handle_custom_msg(content, buffers))  # noqa: SLF001 - the double's own

    @property
    def _esm(self) -> str:
        from dpnb.widgets._base import source

        return f"{source(f'{self._kind}.js')}\nexport default dpnbView.default;\n"

    @property
    def _css(self) -> str:
        from dpnb.widgets._base import source

        return source("widget.css") or ""

    def bundle(self, **options: object) -> Any:
        """Return what a notebook shows."""
        return self._repr_mimebundle_(**options)
