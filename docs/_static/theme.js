// Cards follow JupyterLab's mark of its theme; here the switch of the page sets it, also against what the system prefers.
const root = document.documentElement;
const follow = () => root.setAttribute("data-jp-theme-light", String(root.dataset.theme !== "dark"));
new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
follow();
