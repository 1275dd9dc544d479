/** The kernels of the cards on screen: a card's question goes to the notebook that it stands in. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';
import { answerCards, tellCards } from '../living';
import { ISessions, type Sessions } from '../sessions';

export const cards: JupyterFrontEndPlugin<void> = {
  id: 'dpnb:cards',
  description: 'Answers what cards ask, and tells them when their session has changed.',
  autoStart: true,
  requires: [INotebookTracker, ISessions],
  activate: (_app: JupyterFrontEnd, tracker: INotebookTracker, sessions: Sessions) => {
    answerCards(async (node, question) => {
      const client = sessions.of(tracker.find(one => one.node.contains(node)));
      return (await client?.ask(question)) ?? null;
    });
    sessions.changed.connect(() => tellCards(document.body));
  }
};
