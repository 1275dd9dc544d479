/** The cards that JupyterLab draws alive, one entry each; the code of a kind is loaded with its first card. */
import type { Kind } from './live_card';

export const KINDS: readonly Kind[] = [
  {
    mime: 'application/vnd.dpnb.release+json',
    description: 'Cards of released answers: pay more in place, and where stored answers came from.',
    grow: async () => (await import(/* webpackChunkName: "card-released" */ '../../cards/release')).grow,
    plain: async () => (await import(/* webpackChunkName: "card-released" */ './plain_card')).plainCard
  },
  {
    mime: 'application/vnd.dpnb.plan+json',
    description: 'Plans of cells: the loss and its split under the hand, and the cell that releases it.',
    grow: async () => (await import(/* webpackChunkName: "card-plan" */ '../../cards/plan')).grow
  },
  {
    mime: 'application/vnd.dpnb.dataset+json',
    description: 'Cards of datasets: columns to search and open, questions to take, the budget as it stands.',
    grow: async () => (await import(/* webpackChunkName: "card-dataset" */ '../../cards/dataset')).grow
  }
];
