"""Measures of the house: files, lines, lengths of functions, arrows between rooms, circles of imports.

`python -m tests.repo.measures [checkout]` prints them as a table, `--json` as JSON. Nothing is imported from what is
measured, so an earlier checkout can be measured by today's script.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import shutil
import statistics
import subprocess
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
FRONT_END_SCRIPT = ROOT / "labextension" / "measures.mjs"
SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}

Graph = Mapping[str, frozenset[str]]


# ---------------------------------------------------------------- lines


def documented(node: ast.AST) -> range:
    """Return the lines of a node's docstring; empty where it has none."""
    body = getattr(node, "body", None)
    if not isinstance(body, list) or not body or not isinstance(body[0], ast.Expr):
        return range(0)
    value = body[0].value
    if not (isinstance(value, ast.Constant) and isinstance(value.value, str)):
        return range(0)
    return range(body[0].lineno, (body[0].end_lineno or body[0].lineno) + 1)


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the numbers of the lines that docstrings take in a module."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {line for node in ast.walk(tree) if isinstance(node, kinds) for line in documented(node)}


def code_lines(text: str) -> int:
    """Count a module's lines of code: docstrings, comments and blank lines left out."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    spoken = [token for token in tokens if token.type not in SILENT]
    lines = {line for token in spoken for line in range(token.start[0], token.end[0] + 1)}
    return len(lines - docstring_lines(ast.parse(text)))


def function_lengths(text: str) -> list[int]:
    """Return the length of each function of a module in lines, its docstring and decorators left out."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    return [(node.end_lineno or node.lineno) - node.lineno + 1 - len(documented(node)) for node in functions]


# ---------------------------------------------------------------- imports


def module_names(package: Path) -> dict[str, Path]:
    """Map the dotted name of each module of a package to its file."""
    files = {}
    for path in sorted(package.rglob("*.py")):
        parts = (package.name, *path.relative_to(package).with_suffix("").parts)
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return files


def for_types_alone(node: ast.AST) -> bool:
    """Tell whether this is `if TYPE_CHECKING:`, whose imports never run."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def running(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree without what is there for types alone."""
    for child in ast.iter_child_nodes(node):
        if not for_types_alone(child):
            yield child
            yield from running(child)


def imported(tree: ast.Module, here: str, modules: Iterable[str], types: bool = False) -> frozenset[str]:
    """Return the package's modules that a module imports when it runs, inside its functions too; or for types as well."""
    known, found = frozenset(modules), set()
    for node in ast.walk(tree) if types else running(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (inside & known) or {node.module}
    return frozenset((found & known) - {here})


def import_graph(package: Path, types: bool = False) -> dict[str, frozenset[str]]:
    """Map each module to the modules of its package that it imports; with ``types``, for its types too."""
    files = module_names(package)
    return {name: imported(ast.parse(path.read_text()), name, files, types) for name, path in files.items()}


def room(module: str) -> str:
    """Return the room of a module: the first folder below the package, or the module itself; each of the wing's by itself."""
    parts = module.split(".")
    if parts[1:2] == ["trusted"] and len(parts) > 2:
        return f"trusted/{parts[2]}"
    return parts[1] if len(parts) > 1 else parts[0]


def arrows(graph: Graph) -> list[tuple[str, str]]:
    """Return each pair of rooms of which the first imports the second."""
    pairs = {(room(name), room(other)) for name, others in graph.items() for other in others}
    return sorted((one, other) for one, other in pairs if one != other)


def circles(graph: Graph) -> list[list[str]]:
    """Return the strongly connected components of more than one module, the largest first (Tarjan, 1972)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in graph[name]:
            if other not in order:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == order[name]:
            at = stack.index(name)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for name in graph:
        if name not in order:
            visit(name)
    return sorted((part for part in found if len(part) > 1), key=len, reverse=True)


def loaded_with(graph: Graph, modules: Iterable[str]) -> set[str]:
    """Return what importing some modules can load: what they import, at any time, and the folders above each."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in graph and name not in found:
            found.add(name)
            waiting += [*graph[name], *(above for above in [name.rpartition(".")[0]] if "." in above)]
    return found


# ---------------------------------------------------------------- tables


def spread(lengths: list[int]) -> dict[str, int]:
    """Return the median, the 95th percentile and the largest of some lengths."""
    ordered = sorted(lengths) or [0]
    return {
        "median": round(statistics.median(ordered)),
        "p95": ordered[int(0.95 * (len(ordered) - 1))],
        "max": ordered[-1],
    }


def library(checkout: Path) -> dict[str, object]:
    """Measure the library of a checkout."""
    package = checkout / "dpnb"
    texts = {path: path.read_text() for path in module_names(package).values()}
    graph = import_graph(package)
    return {
        "files": len(texts),
        "lines": sum(len(text.splitlines()) for text in texts.values()),
        "functions": spread([length for text in texts.values() for length in function_lengths(text)]),
        "rooms": len({room(name) for name in graph if "." in name}),
        "arrows": len(arrows(graph)),
        "circles": [len(circle) for circle in circles(graph)],
    }


def rooms(checkout: Path) -> dict[str, dict[str, int]]:
    """Count the files and the lines of code of each room."""
    table: dict[str, dict[str, int]] = {}
    for name, path in module_names(checkout / "dpnb").items():
        row = table.setdefault(room(name), {"files": 0, "code": 0})
        row["files"] += 1
        row["code"] += code_lines(path.read_text())
    return table


SERVICE = "trusted/serving"
"""The room of the wing that a service loads besides: who asks, and what they may."""

OWNER = "trusted/owner"
"""The room of the wing that no running curator loads: what an owner does at a terminal, which writes what a curator trusts."""

ENGINES = {"trusted/PostgreSQL": ("postgres", "server_table"), "trusted/Spark": ("spark", "lake_table")}
"""The engines beside DuckDB, by how the names of their files begin: those of their tables in the schema are theirs too."""

PARTS = {
    "the promise": 5960,
    "the curator": 8060,
    "PostgreSQL": 550,
    "Spark": 500,
    "the service": 1120,
    "the owner's acts": 550,
    "outside the wing, still loaded": 0,
}
"""Each part of what must be trusted, and how many lines of code it may have: docs/decisions/0013-limits-that-hold.md."""


def row_of(module: str) -> str:
    """Return the row of the table that a module is counted in: its room, or the further engine that it belongs to."""
    name = module.rpartition(".")[2]
    engines = (engine for engine, files in ENGINES.items() if name.startswith(files))
    return next(engines, room(module)) if room(module).startswith("trusted") else room(module)


def trusted(checkout: Path) -> dict[str, dict[str, int]]:
    """Count, room by room, what a running curator, a service and an owner's acts can load: all that could break the promise."""
    files, graph = module_names(checkout / "dpnb"), import_graph(checkout / "dpnb")
    table: dict[str, dict[str, int]] = {}
    roots = [name for name in graph if room(name) in {"trusted/curator", SERVICE, OWNER}]
    for name in sorted(loaded_with(graph, roots)):
        row = table.setdefault(row_of(name), {"files": 0, "code": 0})
        row["files"] += 1
        row["code"] += code_lines(files[name].read_text())
    return table


EFFECTS = ("trusted/curator", "trusted/wire", "trusted/files", "trusted/system")
"""The rooms of the wing that have effects; the others are the promise, pure functions."""


def part_of_the_wing(name: str) -> str:
    """Return which part a row that a curator or a service loads belongs to."""
    if name in ENGINES:
        return name.partition("/")[2]
    if name in {SERVICE, OWNER}:
        return "the service" if name == SERVICE else "the owner's acts"
    if name in EFFECTS:
        return "the curator"
    return "the promise" if name.startswith("trusted") else "outside the wing, still loaded"


def lines_of_parts(checkout: Path) -> dict[str, int]:
    """Count the lines of code of each part of what must be trusted."""
    counted = trusted(checkout).items()
    return {
        part: sum(row["code"] for name, row in counted if part_of_the_wing(name) == part) for part in PARTS
    }


def against(code: int, most: int) -> str:
    """Say how many lines of code a part may have, and whether it has more."""
    return f"{most:,}, exceeded" if code > most else f"{most:,}"


def trusted_table(checkout: Path) -> str:
    """Write what a running curator can load as a Markdown table, lines to the nearest ten, with a sum and a limit for each part."""
    counted = sorted(trusted(checkout).items(), key=lambda item: -item[1]["code"])
    lines = ["| room | files | lines of code | at most |", "|---|---|---|---|"]
    for part, most in PARTS.items():
        inside = [(name, row) for name, row in counted if part_of_the_wing(name) == part]
        files, code = (sum(row[key] for _, row in inside) for key in ("files", "code"))
        if len(inside) > 1:
            lines += [f"| `{name}` | {row['files']} | {round(row['code'], -1):,} | |" for name, row in inside]
        lines.append(f"| **{part}** | {files} | {round(code, -1):,} | {against(code, most)} |")
    return "\n".join(lines)


TABLE = re.compile(r"^\| room \|.*?(?=\n\n)", re.MULTILINE | re.DOTALL)
"""Where the table stands in ``SECURITY.md``."""


def write_table(checkout: Path) -> None:
    """Put the table of today in the place of the one in ``SECURITY.md``."""
    page = checkout / "SECURITY.md"
    page.write_text(TABLE.sub(trusted_table(checkout), page.read_text()))


def front_end(checkout: Path) -> dict[str, object] | None:
    """Measure the front end of a checkout; None where Node.js or TypeScript is missing."""
    node = shutil.which("node")
    if node is None:
        return None
    command = [node, str(FRONT_END_SCRIPT), str(checkout / "labextension" / "src")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    said = json.loads(done.stdout)
    return {"files": said["files"], "lines": said["lines"], "functions": spread(said["functions"])}


BEGAN_AND_AIMED = {
    "library: lines": (101_392, 76_000),
    "library: lines of code": (63_900, 48_000),
    "library: files": (616, 450),
    "tests: lines": (88_410, 55_000),
    "front end: lines": (17_900, 12_500),
    "pages: lines": (10_296, 6_000),
    "the promise": (5_500, 5_300),
    "the curator": (7_500, 6_300),
    "largest circle, imports for types counted": (37, 6),
    "`Any`": (3_149, 600),
}
"""What the third plan of the house found, and what it aimed at."""


def sizes(checkout: Path) -> dict[str, int]:
    """Measure what the third plan of the house aimed at; the front end where Node.js is there."""
    library = [path.read_text() for path in module_names(checkout / "dpnb").values()]
    pages, tests = (
        sum(len(path.read_text().splitlines()) for path in (checkout / folder).rglob(files))
        for folder, files in (("docs", "*.md"), ("tests", "*.py"))
    )
    parts, front = lines_of_parts(checkout), front_end(checkout)
    return {
        "library: lines": sum(len(text.splitlines()) for text in library),
        "library: lines of code": sum(map(code_lines, library)),
        "library: files": len(library),
        "tests: lines": tests,
        **({"front end: lines": int(str(front["lines"]))} if front else {}),
        "pages: lines": pages,
        **{part: parts[part] for part in ("the promise", "the curator")},
        "largest circle, imports for types counted": max(
            map(len, circles(import_graph(checkout / "dpnb", types=True))), default=0
        ),
        "`Any`": sum(len(re.findall(r"\bAny\b", text)) for text in library),
    }


def plan_table(checkout: Path) -> str:
    """Write the sizes beside what the third plan of the house found and aimed at, as a Markdown table."""
    rows = (
        f"| {name} | {BEGAN_AND_AIMED[name][0]:,} | {size:,} | {BEGAN_AND_AIMED[name][1]:,} |"
        for name, size in sizes(checkout).items()
    )
    return "\n".join(["| | began at | today | aimed at |", "|---|--:|--:|--:|", *rows])


def measures(checkout: Path) -> dict[str, object]:
    """Measure a checkout whole."""
    return {"library": library(checkout), "front end": front_end(checkout), "rooms": rooms(checkout)}


def main() -> None:
    """Print the measures of a checkout."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("checkout", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--trusted", action="store_true", help="print what a running curator can load")
    parser.add_argument("--write", action="store_true", help="and write it into SECURITY.md")
    options = parser.parse_args()
    if options.trusted:
        print(trusted_table(options.checkout))
        if options.write:
            write_table(options.checkout)
        return
    if options.json:
        print(json.dumps(measures(options.checkout), indent=1))
        return
    table = {"library": library(options.checkout), "front end": front_end(options.checkout)}
    print(plan_table(options.checkout))
    for part, measured in table.items():
        print(part, measured)
    for name, row in sorted(rooms(options.checkout).items()):
        print(f"  {name:<12} {row['files']:>4} files {row['code']:>6} lines of code")


if __name__ == "__main__":
    main()
