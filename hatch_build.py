"""The build step of the front end: what `pip install .` does beside copying Python files.

``DPNB_FRONTEND`` says how:

* ``auto`` (the default): use the built files that are there; else build them with Node.js; else do without, and say so;
* ``build``: build again, whatever is there;
* ``prebuilt``: never build; fail if the files are missing;
* ``none``: a package without the front end. Every answer still has its card; only dragging and the side panel are missing.

Built files are never committed. The sdist carries them, so that it installs without Node.js.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

EXTENSIONS = ("dpnb", "dpnb-widgets")
DIST = "labextension/dist"
WIDGETS = "dpnb/widgets/static"
BUILT = (*(f"{DIST}/{name}/package.json" for name in EXTENSIONS), f"{WIDGETS}/widget.css")
SHARE = "share/jupyter/labextensions"
WITHOUT = (
    "dpnb is installed without its front end, since there is no Node.js (20.19 or newer) to build it: interactions are still "
    "pictures. Install Node.js and install again, or install a wheel or sdist, which bring the front end built."
)
MODES = ("auto", "build", "prebuilt", "none")


class FrontEnd(BuildHookInterface[Any]):
    """Sees to the built files, and puts the JupyterLab extensions where JupyterLab and Voilà find them enabled."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Run before hatchling collects the files."""
        del version
        root, mode = Path(self.root), os.environ.get("DPNB_FRONTEND", "auto")
        if mode not in MODES:
            raise RuntimeError(f"DPNB_FRONTEND is one of {', '.join(MODES)}, not {mode!r}.")
        if mode == "none":
            return
        missing = [name for name in BUILT if not (root / name).is_file()]
        if mode == "auto" and missing and not has_node():
            self.app.display_warning(WITHOUT)
            return
        if mode == "build" or (mode == "auto" and missing):
            build(root, self.app.display_info)
        elif missing:
            raise RuntimeError(f"DPNB_FRONTEND=prebuilt, and there is no {' and no '.join(missing)}.")
        if self.target_name == "wheel":
            build_data["artifacts"].append(WIDGETS)
            for name in EXTENSIONS:
                build_data["shared_data"][f"{DIST}/{name}"] = f"{SHARE}/{name}"
        else:
            build_data["artifacts"] += [WIDGETS, DIST]


def has_node() -> bool:
    """Say whether Node.js and npm are there."""
    return None not in (shutil.which("npm"), shutil.which("node"))


def build(root: Path, say: Any = print) -> None:
    """Build the front end with npm.

    Raises
    ------
    RuntimeError
        Without Node.js: one sentence that names the ways out.
    """
    npm = shutil.which("npm")
    if npm is None or not has_node():
        raise RuntimeError("There is no Node.js (20.19 or newer) to build the front end with.")
    say("dpnb: building the front end with npm")
    for command in (("ci", "--no-audit", "--no-fund"), ("run", "-s", "build")):
        if subprocess.run([npm, *command], cwd=root / "labextension", check=False).returncode:
            raise RuntimeError(f"npm {command[0]} failed in labextension/: its message stands above.")
