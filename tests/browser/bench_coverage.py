"""How the coverage lab runs in a page: first paint, a thousand studies, and frames while 10⁶ studies stream in.

Measured in the page and printed, not asserted: the figures are the machine's as much as the code's.
Run ``pytest -m browser tests/browser/bench_coverage.py -s``. Aims: first paint 150 ms, 1,000 studies of a mean 1.5 s, half of all
frames within 8 ms of script and layout while studies come in, and 95 % of them while forty intervals shared.
"""

from __future__ import annotations

import time

import pytest

from dpnb import widgets
from dpnb.widgets.coverage_setup import METHODS
from tests.browser.test_coverage import button, show  # noqa: F401  a fixture

PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
FRAMES = """() => { window.times = []; const ask = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = f => ask(t => { const s = performance.now(); f(t);
        document.body.getBoundingClientRect(); window.times.push(performance.now() - s); }); }"""

# a drag of the loss to and fro, frame by frame: its event, what the lab draws for it, and the layout after both
DRAG = """async frames => {
    const svg = document.querySelector(".shared figure:nth-child(2) svg.plot");
    const box = svg.getBoundingClientRect(), found = [], real = window.requestAnimationFrame.bind(window);
    let spent = 0;
    const timed = act => { const start = performance.now(); act(); spent += performance.now() - start; };
    window.requestAnimationFrame = call => real(at => timed(() => call(at)));
    const move = (kind, x) => svg.dispatchEvent(new PointerEvent(kind, {
        clientX: box.left + x * box.width, clientY: box.top + 100, pointerId: 1, button: 0, bubbles: true
    }));
    svg.setPointerCapture = () => undefined;
    move("pointerdown", 0.5);
    for (let i = 0; i < frames; i++) {
        spent = 0;
        timed(() => move("pointermove", 0.16 + 0.6 * Math.abs(((i / 97) % 2) - 1)));
        await new Promise(done => real(() => { timed(() => document.body.getBoundingClientRect()); done(); }));
        found.push(spent);
        await new Promise(done => setTimeout(done)); // the frame is painted
    }
    return found.slice(20);
}"""


def told(name, times):
    """Print the median, the 95th percentile and the longest."""
    ordered = sorted(times)
    half, most = ordered[len(ordered) // 2], ordered[int(0.95 * len(ordered))]
    print(f"{name}: p50 {half:.1f} ms, p95 {most:.1f} ms, longest {ordered[-1]:.1f} ms, of {len(ordered)}")


def test_first_paint_and_a_thousand_studies(show):  # noqa: F811
    """The lab is made, drawn, started and done; how soon is printed."""
    widgets.coverage_lab()
    start = time.perf_counter()
    lab = widgets.coverage_lab()
    lab._repr_mimebundle_()
    made = time.perf_counter() - start
    page = show(lab)
    page.evaluate("() => new Promise(next => requestAnimationFrame(() => setTimeout(next)))")
    print(f"made in the kernel {1000 * made:.0f} ms, first paint of the page {page.evaluate(PAINT):.0f} ms")
    start = time.perf_counter()
    button(page, "Start").click()
    button(page, "Again").wait_for()
    print(
        f"1,000 studies of a mean, from click to the last number: {1000 * (time.perf_counter() - start):.0f} ms"
    )


def test_frames_while_a_million_studies_stream(show):  # noqa: F811
    """Frames of script and layout while blocks come in, with two methods, and with eight."""
    for name, asked in (
        ("two methods", {"methods": ["confidence", "naive"]}),
        ("eight methods", {"methods": [name for name in METHODS if name != "deconvolved"], "rho": 0.5}),
    ):
        lab = widgets.coverage_lab("proportion", "half", n=50, reps=1_000_000, k=10, **asked)
        page = show(lab)
        page.evaluate(FRAMES)
        button(page, "Start").click()
        page.wait_for_timeout(6000)
        button(page, "Pause").click()
        told(f"{name}, {lab.facts['studies']:,} studies", page.evaluate("window.times"))


@pytest.mark.parametrize("width", [1400, 800, 390])
def test_frames_while_forty_intervals_simulate_shared(show, width):  # noqa: F811
    """The loss is dragged over its whole axis, to and fro, in 500 frames."""
    page = show(widgets.coverage_lab("mean", "skewed", n=500, epsilon=0.5), width=width)
    page.locator(".shared path[stroke-width='2.6']").wait_for(state="attached")
    told(f"forty intervals shared, {width} px", page.evaluate(DRAG, 520))
