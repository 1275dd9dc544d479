/** Draws the record of a release where a notebook has it without its card. Text only: nothing of the record is markup. */
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';
import { html } from '../widgets/parts/dom';
import { release, type Answer } from './record';

export const MIME = 'application/vnd.dpnb.release+json';

function table(answer: Answer): HTMLElement {
  const keyed = answer.rows.length > 1;
  const asked = answer.name === answer.question ? answer.question : `${answer.name}: ${answer.question}`;
  const heads = [...(keyed ? ['group'] : []), 'value', 'privacy interval, 95 %', 'confidence interval, 95 %'];
  const cells = answer.rows.map(row => [...(keyed ? [row.key] : []), row.value, row.privacy, row.confidence]);
  return html(
    'div',
    { class: 'scroll' },
    html(
      'table',
      {},
      html('caption', {}, `${asked} · ${answer.paid}`),
      html('thead', {}, html('tr', {}, ...heads.map(head => html('th', { scope: 'col' }, head)))),
      html('tbody', {}, ...cells.map(row => html('tr', {}, ...row.map(cell => html('td', {}, cell)))))
    )
  );
}

class ReleaseWidget extends Widget implements IRenderMime.IRenderer {
  constructor() {
    super();
    this.addClass('dpnb-w');
    this.addClass('dpnb-Release');
  }

  renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const found = release(model.data[MIME]);
    this.node.replaceChildren(
      ...(found === null
        ? [html('p', {}, 'This release was written by another version of dpnb.')]
        : [
            html('h3', {}, found.title),
            ...found.answers.flatMap(answer => [
              table(answer),
              ...answer.notes.map(note => html('p', { class: 'soft' }, note))
            ])
          ])
    );
    return Promise.resolve();
  }
}

/** Rank 60: where a card in HTML stands beside the record, the card is drawn. */
const extension: IRenderMime.IExtension = {
  id: 'dpnb:renderer',
  description: 'Draws the record of a release in a notebook that has it without its card.',
  rendererFactory: { safe: true, mimeTypes: [MIME], createRenderer: () => new ReleaseWidget() },
  rank: 60,
  dataType: 'json'
};

export default extension;
