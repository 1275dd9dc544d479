/** The kernels of the cards on screen: a card's question goes to the notebook that it stands in. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';
import { advice, PROTOCOL } from '../../widgets/parts/session_state';
import type { Client } from '../kernel/client';
import { answerCards, tellCards } from '../views/live_card';
import { ISessions, type Sessions } from '../kernel/sessions';

const SILENT = 'The kernel did not answer. It may be busy: try again when it is not.';

export const cards: JupyterFrontEndPlugin<void> = {
  id: 'dpnb:cards',
  description: 'Answers what cards ask, and tells them when their session has changed.',
  autoStart: true,
  requires: [INotebookTracker, ISessions],
  activate: (_app: JupyterFrontEnd, tracker: INotebookTracker, sessions: Sessions) => {
    const around = (node: Element): Client | null =>
      sessions.of(tracker.find(one => one.node.contains(node)));
    const heard = ({ link, state }: Client): boolean =>
      link === 'live' && (state === null || state.protocol === PROTOCOL);
    answerCards(
      async (node, question) => {
        const client = around(node);
        if (client === null) {
          return null;
        }
        return heard(client)
          ? ((await client.ask(question)) ?? { problem: SILENT })
          : { problem: advice(client.link, client.state) };
      },
      node => {
        const client = around(node);
        return client !== null && heard(client) ? client.state : null;
      }
    );
    sessions.changed.connect(() => tellCards(document.body));
  }
};
