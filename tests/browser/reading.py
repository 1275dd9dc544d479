"""What makes a page hard to read, as the browser that drew it tells."""

from __future__ import annotations

# how large the letters of all drawings are on the screen, but for those of a lecture, which has a test of its own
LETTERS = """() => [...document.querySelectorAll("svg text")]
    .filter(one => one.textContent.trim() && one.checkVisibility() && !one.closest(".lecture"))
    .map(one => parseFloat(getComputedStyle(one).fontSize) * Math.sqrt(Math.abs(one.getScreenCTM().a * one.getScreenCTM().d)))"""
# words of code that a line's end cuts, though they would fit into a line
CUT = r"""code => [...document.querySelectorAll(code)].flatMap(node => [...node.childNodes]
    .filter(one => one.nodeType === 3).flatMap(text => [...text.data.matchAll(/\w+/g)].filter(word => {
        const range = document.createRange();
        range.setStart(text, word.index); range.setEnd(text, word.index + word[0].length);
        const lines = [...range.getClientRects()];
        return new Set(lines.map(one => Math.round(one.top))).size > 1 && word[0].length < 24;
    }).map(word => `${word[0]} of ${text.data}`)))"""
# letters of drawings that lie outside of the window and of everything that scrolls
OUTSIDE = """() => [...document.querySelectorAll("svg text")].filter(one => one.checkVisibility() && !one.closest(".scroll"))
    .filter(one => { const box = one.getBoundingClientRect();
        return box.width > 0 && (box.left < -0.5 || box.right > document.documentElement.clientWidth + 0.5); })
    .map(one => `${one.textContent} in ${one.closest("[data-name]")?.dataset.name}`)"""
# letters of a drawing that lie over others of it
OVER = """() => [...document.querySelectorAll("svg")].filter(one => !one.closest("svg svg")).flatMap(svg => {
    const boxes = [...svg.querySelectorAll("text")].filter(one => one.checkVisibility() && one.textContent.trim())
        .map(one => [one.textContent, one.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
    return boxes.flatMap(([words, a], i) => boxes.slice(i + 1)
        .filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 6)
        .map(([other]) => `over each other: ${words} | ${other}`));
})"""

# what is written in HTML and is seen: not the numbers of drawings, nor what a field or a select offers, nor code
_SEEN = """[...document.querySelectorAll(".dpnb-w *, .dpnb *")].filter(node =>
    [...node.childNodes].some(one => one.nodeType === 3 && one.data.trim()) && node.checkVisibility()
    && node.getBoundingClientRect().width > 1 && !node.closest("svg, code, select, textarea, style, [aria-live], .hidden"))"""
WORDS = f"""() => {_SEEN}.flatMap(node => [...node.childNodes].filter(one => one.nodeType === 3)
    .flatMap(one => one.data.match(/\\p{{L}}[\\p{{L}}'’-]+/gu) ?? []))"""
STYLES = f"""() => [...new Set({_SEEN}.map(node => getComputedStyle(node)).map(
    look => `${{look.fontSize}} ${{look.fontWeight}}${{look.fontStyle === "normal" ? "" : ` ${{look.fontStyle}}`}}`))].sort()"""
#: Sizes of letters, and how bold they are: those of a card and of everything that can be dragged.
SIZES, WEIGHTS = {"13px", "15px", "18px", "28px"}, {"400", "600"}


def unreadable(page, code):
    """Return the faults of a page's letters; `code` selects what must break between words."""
    return [*page.evaluate(CUT, code), *page.evaluate(OUTSIDE), *page.evaluate(OVER)]
