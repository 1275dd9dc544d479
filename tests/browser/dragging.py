"""What is measured of dragging: the widgets in their largest form, and the scripts that time one event after another."""

from __future__ import annotations

import dpnb
from dpnb import widgets

MAKERS = {
    "seesaw, 500 points": lambda data: widgets.seesaw(data.x.mean(), assume_n=40),
    "seesaw, one law": lambda data: widgets.seesaw(data[data.g == 1].count()),
    "odds, 1,000 people": lambda _: widgets.odds(),
    "two noises, 200 dots": lambda _: widgets.noises(),
    "two noises, densities": lambda _: shaped("densities"),
    "two noises, distribution functions": lambda _: shaped("totals"),
    "one person of thirty": lambda _: widgets.drag_person(),
    "one person, matched pairs": lambda _: widgets.drag_person(kind="matched"),
    "clamp, 1,000 values": lambda _: widgets.clamp(),
    "clamp, declared": lambda data: widgets.clamp(data.x),
    "plan of three": lambda data: widgets.plan(
        dpnb.plan({"a": data.x.mean(), "b": data.y.mean(), "c": data.x.median()}, epsilon=1, assume_n=40)
    ),
    "remeasure": lambda data: widgets.remeasure(dpnb.release({"r": data.g.mean()}, epsilon=1)["r"], name="r"),
    "attack bench": lambda _: widgets.attack_bench("linkage"),
    "exhibit": lambda _: widgets.exhibits("resized-bootstrap"),
    "coverage lab": lambda _: widgets.coverage_lab(reps=1000).run(),
}


def shaped(shape):
    """Two noises, drawn in another shape."""
    made = widgets.noises()
    made.chosen = {"shape": shape}
    return made


# requestAnimationFrame runs at once, so that one event is one complete redraw, and layout is forced after it
AT_ONCE = "() => { window.requestAnimationFrame = f => { f(performance.now()); return 0; }; }"

# every slider and every handle of a drawing, moved to and fro
_MOVES = """
    const sliders = [...document.querySelectorAll("input[type=range]:enabled")]
        .filter(e => e.checkVisibility())
        .map(range => i => {
            range.value = String(20 + ((i * 37) % 960));
            range.dispatchEvent(new Event("input"));
        });
    const drawings = [...document.querySelectorAll("svg.plot")]
        .filter(plot => plot.querySelector(".handle, circle.dot"))
        .map(plot => {
            plot.setPointerCapture = () => undefined;
            const box = plot.getBoundingClientRect(), at = plot.querySelector(".handle, circle.dot").getBoundingClientRect();
            const y = at.top + at.height / 2;
            const send = (kind, x) => plot.dispatchEvent(
                new PointerEvent(kind, { pointerId: 1, button: 0, bubbles: true, clientX: x, clientY: y })
            );
            send("pointerdown", at.left + at.width / 2);
            return i => send("pointermove", box.left + box.width * (0.1 + 0.8 * (((i * 37) % 100) / 100)));
        });
    const moves = [...sliders, ...drawings];
"""
REDRAWS = f"""() => {{{_MOVES}
    const found = [];
    for (const move of moves) {{
        for (let i = 0; i < 200; i++) {{
            const start = performance.now();
            move(i);
            document.body.getBoundingClientRect();
            found.push(performance.now() - start);
        }}
    }}
    return found.sort((a, b) => a - b);
}}"""
# what a redraw does, whatever the machine: how many attributes and texts it sets, and how many nodes it makes anew
WORK = f"""() => {{{_MOVES}
    const watcher = new MutationObserver(() => undefined);
    watcher.observe(document.body, {{ attributes: true, childList: true, characterData: true, subtree: true }});
    const found = [];
    for (const move of moves) {{
        for (let i = 0; i < 20; i++) {{
            move(i);
            const records = watcher.takeRecords();
            const made = records.reduce((sum, one) => sum + one.addedNodes.length, 0);
            found.push([records.length, made]);
        }}
    }}
    return found;
}}"""
FRAMES = f"""() => new Promise(done => {{{_MOVES}
    const found = [];
    let i = 0, last = 0;
    const tick = now => {{
        if (last) found.push(now - last);
        last = now;
        if (i >= 60 * moves.length) return done(found.slice(5).sort((a, b) => a - b));
        moves[Math.floor(i / 60)](i);
        i += 1;
        requestAnimationFrame(tick);
    }};
    requestAnimationFrame(tick);
}})"""


def part(times, share):
    """Return the time that a share of all times does not exceed."""
    return times[min(int(share * len(times)), len(times) - 1)]
