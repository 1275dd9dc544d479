/**
 * The object that all others inherit from, closed against new properties.
 *
 * ipywidgets puts the buffers of saved state where the state says, and looks at no word of it: `["__proto__", "trusted"]` makes
 * every plain object of the page "trusted", and JupyterLab then draws a stranger's Markdown with its scripts. It does so as soon as
 * the notebook has a kernel, and asks nobody. Once nothing can be added there, such a notebook's state is not restored, and its
 * outputs keep their still form. What is there already can be written as before: libraries that name a method `toString` still can.
 */
export function closePrototype(): void {
  Object.preventExtensions(Object.prototype);
}
