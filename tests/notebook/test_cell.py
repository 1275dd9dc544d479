"""The body of a cell: its lines, files, names and errors are the user's own."""

from __future__ import annotations

import ast
import linecache

import pytest

from dpnb.notebook.cell import CellSyntaxError, bound_names, prepare, run


def _enter(shell, raw):
    """Put a cell into the history, as running it does, and return the body that IPython hands to a magic."""
    shell.history_manager.store_inputs(shell.displayhook.prompt_count, raw)
    return raw.split("\n", 1)[1].rstrip("\n") + "\n"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("a = b = 1", ("a", "b")),
        ("a, (b, *c) = x", ("a", "b", "c")),
        ("t += q", ("t",)),
        ("d['k'] = q; s.x.y = q", ("d", "s")),
        ("(w := q)", ("w",)),
        ("[y := 1 for x in z]", ("y",)),
        ("{k: v for k, v in z}", ()),
        ("def f():\n    inner = 1\n    global g\n    g = 2", ("g",)),
        ("class A:\n    x = 1", ()),
        ("lambda: (z := 1)", ()),
        ("for i in z:\n    with a as b:\n        pass", ("i", "b")),
        ("try:\n    x = 1\nexcept E:\n    y = 2", ("x", "y")),
        ("f(x)[0].y = 1", ()),
        ("print(d['k'])", ()),
        ("n: int = 3", ("n",)),
        ("del r", ()),
    ],
)
def test_bound_names_are_those_the_cell_stores(source, names):
    """A name counts when the module itself stores it, or sets an item or attribute below it."""
    assert bound_names(ast.parse(source)) == names


def test_the_last_expression_is_returned_and_not_displayed(shell):
    """A body's last expression is the value of the run; the rest is executed."""
    body = prepare(shell, _enter(shell, "%%dp\nx = 6\nx * 7\n"))
    assert run(body, shell.user_ns) == 42
    assert shell.user_ns["x"] == 6
    assert body.names == ("x",)
    assert not body.silenced
    assert shell.drawn == []


def test_a_semicolon_silences(shell):
    """``;`` at the end is seen, also behind a comment; inside a text it is not one."""
    assert prepare(shell, _enter(shell, "%%dp\n1;")).silenced
    assert prepare(shell, _enter(shell, "%%dp\n1; # said\n")).silenced
    assert not prepare(shell, _enter(shell, "%%dp\n'a;'\n")).silenced


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("%%dp epsilon=1\n1\nraise ValueError", 3),
        ("%%dp epsilon=1\n\n\n1\nraise ValueError\n", 5),
        ("\n\n%%dp epsilon=1\nraise ValueError", 4),
        ("%%dp\nx = 1\n# comment\n\n\nraise ValueError # here", 6),
    ],
)
def test_tracebacks_count_the_lines_of_the_whole_cell(shell, raw, line):
    """Blank lines before and after the magic line do not move a traceback, and the text is the raw line."""
    shell.history_manager.store_inputs(shell.displayhook.prompt_count, raw)
    body = prepare(shell, raw[raw.index("%%") :].split("\n", 1)[1].rstrip("\n") + "\n")
    with pytest.raises(ValueError) as caught:
        run(body, shell.user_ns)
    frame = caught.traceback[-1].frame
    assert caught.traceback[-1].lineno + 1 == line
    assert linecache.getline(frame.code.raw.co_filename, line).startswith("raise ValueError")


def test_the_file_is_the_one_the_debugger_expects(shell):
    """The compiled file name is the compiler's own name for the raw cell."""
    raw = "%%dp\nimport sys\nname = sys._getframe().f_code.co_filename"
    run(prepare(shell, _enter(shell, raw)), shell.user_ns)
    assert shell.user_ns["name"] == shell.compile.get_code_name(raw, raw, shell.displayhook.prompt_count)
    assert shell.compile._filename_map[shell.user_ns["name"]] == shell.displayhook.prompt_count


def test_a_body_that_is_not_python_is_drawn_as_a_syntax_error(shell):
    """The drawing is IPython's own for a SyntaxError, with the line of the whole cell."""
    with pytest.raises(CellSyntaxError) as caught:
        prepare(shell, _enter(shell, "%%dp epsilon=1\nx = 1\nx = = 2\n"))
    drawn = "\n".join(caught.value._render_traceback_())
    assert "line 3" in drawn or ":3" in drawn
    assert "x = = 2" in drawn
    assert "SyntaxError" in drawn
    assert "dpnb" not in drawn


def test_ipython_syntax_works_in_a_body(shell, capsys):
    """Line magics, shell escapes and assignments from them are ordinary in a body."""
    body = prepare(shell, _enter(shell, "%%dp\nhere = %pwd\n%time y = 3\nhere\n"))
    assert run(body, shell.user_ns)
    assert shell.user_ns["y"] == 3


def test_an_await_at_top_level_is_seen(shell):
    """A body with a top-level await must be awaited; one that only defines a coroutine need not."""
    assert prepare(shell, _enter(shell, "%%dp\nimport asyncio\nawait asyncio.sleep(0)\n")).awaits
    assert not prepare(shell, _enter(shell, "%%dp\nasync def f():\n    await g()\n")).awaits
