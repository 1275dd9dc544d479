/** The cards that JupyterLab draws alive, one entry each; the code of a kind is loaded with its first card. */
import type { Kind } from './living';
import { alone } from './alone';

export const KINDS: readonly Kind[] = [
  {
    mime: 'application/vnd.dpnb.release+json',
    description: 'Cards of released answers: pay more in place, and where stored answers came from.',
    grow: async () => (await import('../cards/released')).grow,
    alone
  }
];
