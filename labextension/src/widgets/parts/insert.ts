/** A question that is taken into the notebook: written into a cell where JupyterLab listens, copied elsewhere. It is never run. */

export const INSERT_EVENT = 'dpnb:insert';

export interface InsertRequest {
  /** One line of a cell: `average_age = hiv.age.mean()`. */
  readonly line: string;
}

/** Whether a text is one line as it looks: no line breaks, no control characters, no marks that turn its direction. */
export const isLine = (text: string): boolean => /^[^\p{Zl}\p{Zp}\p{Cc}\p{Cf}]+$/u.test(text);

export type Taken = 'written' | 'copied' | 'shown';

/** Offer a line to the notebook around an element; without one, put it on the clipboard. Resolves to what became of it. */
export async function take(from: Element, line: string): Promise<Taken> {
  const detail: InsertRequest = { line };
  const asked = new CustomEvent(INSERT_EVENT, { bubbles: true, cancelable: true, composed: true, detail });
  if (!from.dispatchEvent(asked)) {
    return 'written';
  }
  try {
    await navigator.clipboard.writeText(line);
    return 'copied';
  } catch {
    return 'shown'; // no permission, or a page that is not served over https
  }
}
