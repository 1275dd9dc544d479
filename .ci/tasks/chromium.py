"""The browser of the tests: found, or installed from the distribution."""

from __future__ import annotations

import os
import shutil

from tasks.packages import APT_INSTALL, add_packages, may_add

# the shell is Chromium's engine without windows: a page in it takes a quarter of the processor
SHELL = "chromium-headless-shell"
CHROMIUM_NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FONTS = ("fonts-dejavu", "fonts-liberation")


def find_browser() -> str | None:
    """Return a Chromium on this machine."""
    asked = os.environ.get("DPNB_CHROMIUM")
    return asked or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def ensure_browser() -> None:
    """Install Chromium's shell, or else Chromium, from the distribution where this user may; otherwise say what to type."""
    if os.environ.get("DPNB_CHROMIUM") or shutil.which(SHELL):
        return
    if may_add():
        add_packages(SHELL, *FONTS)
        if not find_browser():
            add_packages("chromium", *FONTS)
    if not find_browser():
        hint = " ".join(("sudo", *APT_INSTALL, SHELL, *FONTS))
        print("-- No Chromium: the browser tests are left out. To have them: " + hint, flush=True)
