"""How soon the notebook answers: the price of a cell while it is typed, the gauge after a cell, and frames in between.

Measured in the page and printed, not asserted: the figures are the machine's as much as the code's.
Run ``pytest -m browser tests/browser/bench_latency.py -s``. The wait of 40 ms before a price is asked for is part of it.
"""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.test_extension import LOAD, OPEN

ROUNDS = 30
PRICE = """async ([cell, rounds]) => {
    const shown = window.jupyterapp.shell.currentWidget.content.widgets[cell];
    const tag = shown.node.querySelector('.dpnb-Tag');
    const found = [];
    for (let i = 1; i <= rounds; i++) {
        const loss = `0.${100 + i}`;
        const start = performance.now();
        const seen = new Promise(done => {
            const watcher = new MutationObserver(() => {
                if (tag.textContent.includes(Number(loss).toPrecision(3).replace(/0+$/, ''))) {
                    watcher.disconnect();
                    done(performance.now() - start);
                }
            });
            watcher.observe(tag, { childList: true, subtree: true, characterData: true });
        });
        shown.model.sharedModel.setSource(`%%dp epsilon=${loss}\\nq = hiv.age.mean()\\nr = hiv.got.mean()`);
        found.push(await Promise.race([seen, new Promise(done => setTimeout(done, 5000, 5000))]));
    }
    return found;
}"""
GAUGE = """async index => {
    const gauge = document.querySelector('.dpnb-Gauge');
    const notebook = window.jupyterapp.shell.currentWidget;
    notebook.content.activeCellIndex = index;
    const before = gauge.title;
    let changed = 0;
    const watcher = new MutationObserver(() => {
        if (gauge.title !== before && !changed) changed = performance.now();
    });
    watcher.observe(gauge, { attributes: true, subtree: true });
    const start = performance.now();
    await window.jupyterapp.commands.execute('notebook:run-cell');
    const done = performance.now();
    while (!changed) await new Promise(next => setTimeout(next, 5));
    watcher.disconnect();
    return [changed - done, changed - start];
}"""
FRAMES = """() => {
    window.dpnbFrames = [];
    let last = performance.now();
    const tick = now => {
        window.dpnbFrames.push(now - last);
        last = now;
        if (window.dpnbFrames !== null) window.dpnbTick = requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
}"""
STOP = "() => { cancelAnimationFrame(window.dpnbTick); return window.dpnbFrames.slice(1); }"


def told(name, times):
    """Print the median, the 95th percentile and the longest."""
    ordered = sorted(times)
    half, most = ordered[len(ordered) // 2], ordered[int(0.95 * len(ordered))]
    print(f"{name}: p50 {half:.0f} ms, p95 {most:.0f} ms, longest {ordered[-1]:.0f} ms, of {len(ordered)}")


def test_latency(open_):
    """Each price that was typed was shown, and each cell moved the gauge; how soon is printed."""
    asks = [f"%%dp epsilon=0.001\nq = hiv.age.clip(0, {80 + i}).mean()" for i in range(12)]
    lab = open_(LOAD, OPEN, "%%dp epsilon=1\nq = hiv.age.mean()", "import time; time.sleep(20)", *asks)
    lab.run_cell(0)
    lab.run_cell(1)
    expect(lab.cell(2).locator(".dpnb-Tag")).to_contain_text("ε 1")
    lab.page.evaluate(FRAMES)
    idle = lab.page.evaluate(PRICE, [2, ROUNDS])
    frames = lab.page.evaluate(STOP)
    told("price while typing, idle kernel", idle)
    told("frame interval while prices change", frames)
    gauge = [lab.page.evaluate(GAUGE, index) for index in range(4, 16)]
    told("gauge after the cell's reply", [after for after, _ in gauge])
    told("gauge after the cell was started", [whole for _, whole in gauge])
    lab.select(3)
    lab.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-cell') }")
    expect(lab.page.locator(".jp-Notebook .jp-InputPrompt").nth(3)).to_contain_text("*")
    busy = lab.page.evaluate(PRICE, [2, ROUNDS])
    told("price while typing, a cell is running", busy)
    assert max(*idle, *busy) < 5000, "a price never came"
