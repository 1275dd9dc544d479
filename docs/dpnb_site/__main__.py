"""``make docs``: the site in build-docs/html. Asks no network; a warning is a failure."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from dpnb_site import api, live, pages, search, source_pages
from dpnb_site.links import ROOT, SOURCES

OUT = ROOT / "build-docs"
PAPERS = ROOT / "notebooks" / "replication"


def forget_older_runs(cache: Path) -> None:
    """Remove the outputs of notebooks that another version of the code has run."""
    code = hashlib.sha256()
    for path in [*sorted((ROOT / "dpnb").rglob("*.py")), *sorted(PAPERS.glob("papers.*"))]:
        code.update(path.read_bytes())
    stamp = cache / "code"
    if not stamp.is_file() or stamp.read_text() != code.hexdigest():
        shutil.rmtree(cache, ignore_errors=True)
        cache.mkdir(parents=True)
        stamp.write_text(code.hexdigest())


def quiet_kernels(home: Path) -> str:
    """Return a folder of settings in which kernels do not warn of connections: they are to this machine, for as long as a notebook runs."""
    profile = home / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_kernel_config.py").write_text('get_config().IPKernelApp.log_level = "ERROR"\n')
    return str(profile.parent)


def main() -> int:
    """Build the site and return Sphinx's code."""
    from sphinx.cmd.build import build_main

    source = OUT / "source"
    shutil.rmtree(source, ignore_errors=True)
    forget_older_runs(OUT / ".jupyter_cache")
    with tempfile.TemporaryDirectory(prefix="dpnb-docs-") as home:
        # a notebook that types `dpnb` in a shell means this environment's
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        # small matrices on a shared machine: threads that wait for each other would run into the checks' time limits
        os.environ |= {
            "OPENBLAS_NUM_THREADS": "1",
            "DPNB_HOME": home,
            "PYTHONPATH": str(PAPERS),
            "PATH": path,
            "IPYTHONDIR": quiet_kernels(Path(home)),
        }
        extra = source / "_extra"
        drawn = live.write(extra / "live")
        for path in sorted(pages.stage(source, drawn)):
            source_pages.write(path, extra / SOURCES)
        shutil.copytree(ROOT / "docs" / "pictures", extra / "pictures")
        api.write(source / "reference")
        shutil.copy2(ROOT / "docs" / "conf.py", source)
        shutil.copytree(ROOT / "docs" / "_static", source / "_static")
        words = ["-W", "--keep-going", "-q", "-b", "html", "-d", str(OUT / "doctrees"), *sys.argv[1:]]
        code = int(build_main([*words, str(source), str(OUT / "html")]))
    faults = search.missing(OUT / "html" / "searchindex.js")
    print(*faults, sep="\n", end="\n" if faults else "")
    return code or len(faults)


if __name__ == "__main__":
    sys.exit(main())
