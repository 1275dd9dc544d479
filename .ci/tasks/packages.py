"""Packages of the distribution, installed where this user may."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess

from tasks.project import Failure, step

APT_INSTALL = ("apt-get", "install", "-y", "--no-install-recommends")


def may_add() -> bool:
    """Tell whether this user may install packages of a distribution that has apt-get."""
    return bool(shutil.which("apt-get")) and hasattr(os, "geteuid") and os.geteuid() == 0


def add_packages(*names: str) -> None:
    """Install packages of the distribution; a failure is said, and is not the end."""
    quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdout": subprocess.DEVNULL}
    with contextlib.suppress(Failure), step("install: " + " ".join(names)):
        for command in (("apt-get", "-qq", "update"), (*APT_INSTALL, "-qq", *names)):
            if subprocess.run(command, check=False, **quiet).returncode:
                raise Failure(" ".join(command[:2]))
