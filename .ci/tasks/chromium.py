"""The browser of the tests: found, or installed from the distribution."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess

from tasks.project import Failure, step

# the shell is Chromium's engine without windows: a page in it takes a quarter of the processor
SHELL = "chromium-headless-shell"
CHROMIUM_NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
APT_INSTALL = ("apt-get", "install", "-y", "--no-install-recommends")
FONTS = ("fonts-dejavu", "fonts-liberation")


def find_browser() -> str | None:
    """Return a Chromium on this machine."""
    asked = os.environ.get("DPNB_CHROMIUM")
    return asked or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def ensure_browser() -> None:
    """Install Chromium's shell, or else Chromium, from the distribution where this user may; otherwise say what to type."""
    if os.environ.get("DPNB_CHROMIUM") or shutil.which(SHELL):
        return
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        add_packages(SHELL, *FONTS)
        if not find_browser():
            add_packages("chromium", *FONTS)
    if not find_browser():
        hint = " ".join(("sudo", *APT_INSTALL, SHELL, *FONTS))
        print("-- No Chromium: the browser tests are left out. To have them: " + hint, flush=True)


def add_packages(*names: str) -> None:
    """Install packages of the distribution; a failure is said, and is not the end."""
    quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdout": subprocess.DEVNULL}
    with contextlib.suppress(Failure), step("install: " + " ".join(names)):
        for command in (("apt-get", "-qq", "update"), (*APT_INSTALL, "-qq", *names)):
            if subprocess.run(command, check=False, **quiet).returncode:
                raise Failure(" ".join(command[:2]))
