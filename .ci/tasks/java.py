"""The Java that Spark's tests need: found, or installed from the distribution."""

from __future__ import annotations

import os
import shutil

from tasks.packages import APT_INSTALL, add_packages, may_add

JAVA = "openjdk-17-jre-headless"


def ensure_java() -> None:
    """Install a Java without windows where there is none and this user may; otherwise say what to type."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    if may_add():
        add_packages(JAVA)
    if not shutil.which("java"):
        hint = " ".join(("sudo", *APT_INSTALL, JAVA))
        print("-- No Java: the tests of Spark are left out. To have them: " + hint, flush=True)
