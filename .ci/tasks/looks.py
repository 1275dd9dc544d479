"""What a person looks at: the tour, JupyterLab, a class, and the site."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

from tasks import project
from tasks.environments import ready
from tasks.frontend import find_npm, front_end
from tasks.interpreters import first_interpreter
from tasks.project import Failure, step


def demo(_arguments: list[str]) -> bool:
    """Run the tour and write the page."""
    python = ready(".venv", first_interpreter(), "demo")
    return subprocess.run([python, "-m", "dpnb.notebook.demo"], cwd=project.ROOT, check=False).returncode == 0


def lab(_arguments: list[str]) -> bool:
    """Open JupyterLab on the tour, with a front end that is built again whenever its sources change."""
    python = ready(".venv", first_interpreter(), "lab,studies")
    watching = None
    if front_end():
        watching = subprocess.Popen(
            [str(find_npm()), "run", "-s", "watch"], cwd=project.ROOT / "labextension"
        )
    try:
        link_front_end(project.ROOT / "labextension" / "dist", project.ROOT / ".venv")
        command = [python, "-m", "jupyterlab", "notebooks/00-tour.ipynb"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--allow-root")  # a container's only user is often root
        return subprocess.run(command, cwd=project.ROOT, check=False).returncode == 0
    except KeyboardInterrupt:
        return True
    finally:
        if watching is not None:
            watching.terminate()


def link_front_end(built: Path, environment: Path) -> None:
    """Let every Jupyter of an environment have the front end, as an installed wheel does: without it Notebook 7 shows an error for each interaction."""
    shared = environment / "share" / "jupyter" / "labextensions"
    for extension in built.glob("*/package.json"):
        link = shared / extension.parent.name
        if not link.exists():
            link.unlink(missing_ok=True)  # it led to a folder that is gone
            shared.mkdir(parents=True, exist_ok=True)
            link.symlink_to(extension.parent, target_is_directory=True)


def school(_arguments: list[str]) -> bool:
    """Start a class on this machine, for a look: a Hub, its proxy and a curator."""
    if not front_end():
        raise Failure("A JupyterHub needs Node.js for its proxy: install Node.js 20.19 or newer.")
    python = ready(".venv", first_interpreter(), "class")
    look = [python, str(project.ROOT / "notebooks" / "deploy" / "class" / "look.py")]
    with contextlib.suppress(KeyboardInterrupt):
        return subprocess.run(look, cwd=project.ROOT, check=False).returncode == 0
    return True


def wheel(_arguments: list[str]) -> bool:
    """Build the wheel that has everything, for machines without Node.js."""
    if not front_end():
        raise Failure("install Node.js (20.19 or newer): the wheel brings the front end built.")
    python = ready(".venv", first_interpreter(), "test")
    command = [python, "-m", "hatchling", "build", "-t", "wheel", "-d", "dist"]
    environment = {**os.environ, "DPNB_FRONTEND": "prebuilt"}
    return subprocess.run(command, cwd=project.ROOT, env=environment, check=False).returncode == 0


def docs(arguments: list[str]) -> bool:
    """Build the site, with every interaction live where the front end could be built; a warning is a failure."""
    front_end()
    python = ready(".venv-docs", first_interpreter(), "docs")
    with step("build: the site"):
        if site(python, "dpnb_site", arguments):
            raise Failure("the site was not built: see the messages above.")
    print("-- open build-docs/html/index.html", flush=True)
    return True


def reference(_arguments: list[str]) -> bool:
    """Write the pages that the code writes about itself, the lines to which the guarantee links, and the counts of what is trusted."""
    python = ready(".venv", first_interpreter(), "demo")
    programs = (["tests.repo.guarantee"], ["tests.repo.measures", "--trusted", "--write"])
    return site(python, "dpnb_site.reference", []) == 0 and not any(
        subprocess.run([python, "-m", *program], cwd=project.ROOT, check=False).returncode
        for program in programs
    )


def site(python: str, module: str, arguments: list[str]) -> int:
    """Run a program of the site's and return its code."""
    environment = {**os.environ, "PYTHONPATH": str(project.ROOT / "docs")}
    command = [python, "-m", module, *arguments]
    return subprocess.run(command, cwd=project.ROOT, env=environment, check=False).returncode
