"""The pictures of the documentation: each interaction, light and dark, as a browser draws its live page.

``python -m tests.browser.pictures`` draws them anew into docs/pictures; a test draws some of them in every run and compares.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
WIDTH, TALLEST = 820, 900
SCHEMES = {"light": "", "dark": "-dark"}


def shot(browser: Any, page_file: Path, scheme: str) -> bytes:
    """Draw a live page without a network and return its picture."""
    context = browser.new_context(
        viewport={"width": WIDTH, "height": 600}, color_scheme=scheme, reduced_motion="reduce"
    )
    try:
        context.set_offline(True)
        page = context.new_page()
        page.goto(page_file.as_uri())
        section = page.locator("[data-dpnb]")
        section.locator("> div.dpnb-w").first.wait_for()
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        box = section.bounding_box()
        clip = {"x": 0, "y": box["y"] - 8, "width": WIDTH, "height": min(box["height"] + 16, TALLEST)}
        return page.screenshot(full_page=True, clip=clip)
    finally:
        context.close()


def smaller(png: bytes) -> bytes:
    """Return a picture in at most 128 colours: a quarter of the bytes, for a clone that stays light."""
    out = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(
        out, "PNG", optimize=True
    )
    return out.getvalue()


def difference(one: bytes, other: bytes) -> float:
    """Return how far two pictures are apart, from 0 to 1: the mean distance of their small grey forms, 1 where they differ in shape."""
    first, second = (Image.open(io.BytesIO(png)).convert("L") for png in (one, other))
    if first.width != second.width or abs(first.height - second.height) > 0.05 * first.height:
        return 1.0
    grey = [np.asarray(picture.resize((82, 60)), dtype=float) / 255 for picture in (first, second)]
    return float(np.abs(grey[0] - grey[1]).mean())


def write(names: Iterable[str] = ()) -> None:
    """Draw all pictures, or those of some interactions."""
    from dpnb_site import live
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import ARGUMENTS, CHROMIUM_NAMES

    found = next(filter(None, map(shutil.which, CHROMIUM_NAMES)))
    with tempfile.TemporaryDirectory() as home, sync_playwright() as play:
        os.environ["DPNB_HOME"] = home
        made = Path(home) / "live"
        drawn = sorted(live.write(made, list(names)))
        browser = play.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        for name in drawn:
            for scheme, mark in SCHEMES.items():
                picture = smaller(shot(browser, made / f"{name}.html", scheme))
                (FOLDER / f"{name}{mark}.png").write_bytes(picture)
        browser.close()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "docs"))
    write(sys.argv[1:])
