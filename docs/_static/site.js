// Cards follow JupyterLab's mark of its theme; here the switch of the page sets it, also against what the system prefers.
const root = document.documentElement;
const frames = () => document.querySelectorAll("iframe.live");
const dress = (page) => page?.setAttribute("data-jp-theme-light", String(root.dataset.theme !== "dark"));
const follow = () => {
  dress(root);
  for (const frame of frames()) theme(frame);
};
new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });

// A live interaction has the page's theme, and is as tall as it needs to be. A page that was opened as a file may not look into it: it
// follows the system then, and keeps its first height.
const theme = (frame) => {
  const page = frame.contentDocument?.documentElement;
  if (!page) return;
  dress(page);
  page.style.colorScheme = root.dataset.theme;
  Object.assign(page.ownerDocument.body.style, { color: "CanvasText", background: "Canvas" });
};
const fit = (frame) => {
  const page = frame.contentDocument?.documentElement;
  if (page) new ResizeObserver(() => (frame.style.height = `${page.offsetHeight + 4}px`)).observe(page);
};
document.addEventListener("DOMContentLoaded", () => {
  for (const frame of frames())
    frame.addEventListener("load", () => {
      theme(frame);
      fit(frame);
    });
  follow();
});
dress(root);
