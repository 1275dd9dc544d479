"""How smooth every interaction is under the hand: redraws (script and layout) and frame intervals, in headless Chromium.

Measured in the page and printed, not asserted: the figures are the machine's as much as the code's.
Run ``pytest -m browser tests/browser/bench_drag.py -s``. Wanted: p95 of a redraw ≤ 8 ms, no frame interval > 34 ms.
"""

from __future__ import annotations

from tests.browser.dragging import AT_ONCE, FRAMES, MAKERS, REDRAWS, part


def test_dragging(show, data):
    """Each interaction was redrawn at least 200 times; how fast is printed."""
    print(f"\n{'':36}{'redraw p50':>12}{'p95':>8}{'frame p50':>12}{'longest':>9}  ms")
    for name, make in MAKERS.items():
        frames = show(make(data)).evaluate(FRAMES)
        page = show(make(data))
        page.evaluate(AT_ONCE)
        times = page.evaluate(REDRAWS)
        print(
            f"{name:36}{part(times, 0.5):12.1f}{part(times, 0.95):8.1f}{part(frames, 0.5):12.1f}{frames[-1]:9.1f}"
        )
        assert len(times) >= 200
