/** The budget in the status bar and in a side panel. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import type { JSONObject } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';
import { mount } from '../../widgets/parts/widget';
import { Gauge } from '../views/gauge';
import { icon } from '../views/icon';
import { insertText } from '../cells/notebooks';
import { SessionPanel } from '../views/panel';
import { ISessions, Sessions } from '../kernel/sessions';

/** Put the gauge into the status bar, where there is one: Notebook 7 has none. */
function addGauge(app: JupyterFrontEnd, status: IStatusBar, sessions: Sessions): Gauge {
  const wanted = new Signal<object, void>({});
  sessions.settled.connect(() => wanted.emit());
  const gauge = new Gauge(() => void app.commands.execute('dpnb:open-panel'));
  status.registerStatusItem('dpnb:gauge', {
    item: gauge,
    align: 'left',
    rank: 20,
    priority: 1, // a narrow window keeps it
    isActive: () => sessions.shown.gauge,
    activeStateChanged: wanted
  });
  return gauge;
}

function addPanel(app: JupyterFrontEnd, tracker: INotebookTracker, sessions: Sessions): SessionPanel {
  const panel = new SessionPanel({
    insert: text => insertText(tracker.currentWidget, text),
    ask: async question => (await sessions.front?.ask(question as JSONObject)) ?? null,
    board: async facts =>
      mount((await import(/* webpackChunkName: "card-plan" */ '../../widgets/plan/view')).planControls, facts)
  });
  panel.title.icon = icon;
  app.shell.add(panel, 'right', { rank: 650 });
  app.commands.addCommand('dpnb:open-panel', {
    label: 'Open the privacy panel',
    icon,
    execute: () => app.shell.activateById(panel.id)
  });
  return panel;
}

export const session: JupyterFrontEndPlugin<Sessions> = {
  id: 'dpnb:session',
  description: 'The privacy budget in the status bar and in a side panel.',
  autoStart: true,
  provides: ISessions,
  requires: [INotebookTracker],
  optional: [IStatusBar, ISettingRegistry],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    status: IStatusBar | null,
    registry: ISettingRegistry | null
  ) => {
    const sessions = new Sessions(tracker);
    const views = [addPanel(app, tracker, sessions)];
    const gauge = status === null ? null : addGauge(app, status, sessions);
    const draw = (): void => {
      views.forEach(view => view.show_(sessions.front));
      gauge?.show_(sessions.front);
    };
    sessions.changed.connect(draw);
    draw();
    // read now, and again whenever somebody changes them
    void registry?.load(session.id).then(settings => {
      const read = (): void => sessions.settle(settings.composite);
      settings.changed.connect(read);
      read();
    });
    return sessions;
  }
};
