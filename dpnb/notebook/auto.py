"""``%dp auto``: ordinary cells that build questions are planned, or released, like ``%%dp`` cells.

A cell is rewritten to *begin; body; end* as a syntax tree, and only when :meth:`Auto.arm` was called for it,
which IPython does not do for silent executions: looking never spends. Whether a cell touches a protected handle is
seen while it runs, not guessed from its text. Only measurements that this very cell created are ever released.
One cell is rewritten once: what re-runs a body (``%timeit``) finds the transformer disarmed.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dpnb.estimate import Batch
from dpnb.notebook.cell import bound_names
from dpnb.notebook.options import CellOptions

if TYPE_CHECKING:
    from dpnb.notebook.magic import DPMagic

_CURRENT: list[Auto] = []


def begin() -> None:
    """Open the batch of an automatic cell. Called by rewritten cells."""
    for auto in _CURRENT:
        auto.begin()


def end(value: object = None, names: tuple[str, ...] = ()) -> object:
    """Settle the batch of an automatic cell and return its last value. Called by rewritten cells."""
    __tracebackhide__ = True
    for auto in _CURRENT:
        value = auto.end(value, names)
    return value


class Auto(ast.NodeTransformer):
    """The AST transformer of one shell, and the batch of its running cell."""

    def __init__(self, magic: DPMagic) -> None:
        self.magic = magic
        self.options = CellOptions()
        self._armed = False
        self._batch: Batch | None = None

    def install(self) -> None:
        """Attach to the shell."""
        _CURRENT[:] = [self]
        shell = self.magic.shell
        shell.ast_transformers.append(self)
        shell.events.register("pre_run_cell", self.arm)
        shell.events.register("post_run_cell", self.abandon)

    def uninstall(self) -> None:
        """Detach from the shell."""
        _CURRENT[:] = [auto for auto in _CURRENT if auto is not self]
        shell = self.magic.shell
        if self in shell.ast_transformers:
            shell.ast_transformers.remove(self)
        for event, action in (("pre_run_cell", self.arm), ("post_run_cell", self.abandon)):
            if action in shell.events.callbacks[event]:
                shell.events.unregister(event, action)

    def arm(self, info: object = None) -> None:
        """Let the next cell be rewritten; IPython calls this for cells that a person runs."""
        del info
        self._close()
        self._armed = self.magic.auto != "off"

    def abandon(self, result: object = None) -> None:
        """Close a batch that a failing cell left open; nothing is spent."""
        del result
        self._armed = False
        self._close()

    def visit(self, node: ast.AST) -> ast.AST:
        """Rewrite the module of an armed cell. Whatever goes wrong, the cell runs as it was written."""
        armed, self._armed = self._armed, False
        if not armed or not isinstance(node, ast.Module):
            return node
        try:
            return rewrite(node, self.magic.shell.ast_node_interactivity)
        except Exception:  # noqa: BLE001  a transformer that raises is unregistered by IPython
            return node

    def begin(self) -> None:
        """Open a batch; a ``%%dp`` cell inside it is its own affair."""
        self._close()
        self._batch = Batch(nests=True)
        self._batch.open()

    def end(self, value: object, names: tuple[str, ...]) -> object:
        """Plan or release what this cell created and still holds."""
        __tracebackhide__ = True
        from dpnb.notebook.cell_release import settle

        batch = self._batch
        if batch is None:
            return value
        self._close()
        leaves = batch.pending_leaves(own=True)
        if not leaves:
            return value
        verb = "release" if self.magic.auto == "release" else "plan"
        options = CellOptions(verb, self._values(verb), self.options.weights, self.options.fresh)
        shown = settle(self.magic, options, leaves, value=value, names=names, dropped=batch.dropped)
        return shown if verb == "release" else value

    def _values(self, verb: str) -> tuple[tuple[str, str], ...]:
        if self.options.loss is None and not self.magic.epsilon and verb == "plan":
            return (*self.options.values, ("epsilon", "1"))
        return self.options.values

    def _close(self) -> None:
        if self._batch is not None:
            self._batch.close()
            self._batch = None


def rewrite(tree: ast.Module, interactivity: str = "last_expr") -> ast.Module:
    """Return ``begin(); body; end(last, names)``, ``from __future__`` staying first.

    Parameters
    ----------
    tree : ast.Module
        A cell.
    interactivity : str
        IPython's ``ast_node_interactivity``; an assignment's name is the last value under
        ``last_expr_or_assign``.
    """
    body = list(tree.body)
    if not body:
        return tree
    head = [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    rest = [node for node in body if node not in head]
    names = bound_names(tree)
    last = _last_value(rest, interactivity)
    place = body[-1]
    calls = [
        _call("begin", []),
        _call("end", [last, ast.Tuple([ast.Constant(name) for name in names], ast.Load())]),
    ]
    for call in calls:
        for node in ast.walk(call):
            if "lineno" in getattr(node, "_attributes", ()) and not hasattr(node, "lineno"):
                ast.copy_location(node, place)
    return ast.Module([*head, calls[0], *rest, calls[1]], tree.type_ignores)


def _last_value(rest: list[ast.stmt], interactivity: str) -> ast.expr:
    if rest and isinstance(rest[-1], ast.Expr):
        last = rest.pop()
        assert isinstance(last, ast.Expr)
        return last.value
    target = _target(rest[-1]) if rest and interactivity == "last_expr_or_assign" else None
    return ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else ast.Constant(None)


def _target(node: ast.stmt) -> ast.expr | None:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return node.targets[0]
    return node.target if isinstance(node, ast.AnnAssign | ast.AugAssign) else None


def _call(name: str, arguments: list[ast.expr]) -> ast.Expr:
    imported = ast.Call(
        ast.Name("__import__", ast.Load()),
        [ast.Constant("dpnb.notebook.auto")],
        [ast.keyword("fromlist", ast.List([ast.Constant(name)], ast.Load()))],
    )
    return ast.Expr(ast.Call(ast.Attribute(imported, name, ast.Load()), arguments, []))
