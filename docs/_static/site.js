// Cards follow JupyterLab's mark of its theme; here the switch of the page sets it, also against what the system prefers.
const root = document.documentElement;
const follow = () => root.setAttribute("data-jp-theme-light", String(root.dataset.theme !== "dark"));
new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
follow();

// A live interaction is as tall as it needs to be. A page that was opened as a file may not look into it: it keeps its first height.
const fit = (frame) => {
  const page = frame.contentDocument?.documentElement;
  if (page) new ResizeObserver(() => (frame.style.height = `${page.offsetHeight + 4}px`)).observe(page);
};
document.addEventListener("DOMContentLoaded", () => {
  for (const frame of document.querySelectorAll("iframe.live")) frame.addEventListener("load", () => fit(frame));
});
