/** The budget in the status bar and in a side panel. */
import { type Actions, session as sessionView } from '../../widgets/panel/session';
import { gauge } from '../../widgets/parts/session_state';
import { mount } from '../../widgets/parts/widget';
import { insertText } from '../cells/notebooks';
import type { Client } from '../kernel/client';
import { ISessions, Sessions } from '../kernel/sessions';
import { icon } from '../views/icon';
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import type { JSONObject } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

/** The side panel: the session of the notebook in front. */
class SessionPanel extends Widget {
  constructor(private readonly _actions: Actions) {
    super();
    this.id = 'dpnb-panel';
    this.title.caption = 'Privacy budget';
    this.addClass('dpnb-Panel');
    this.node.tabIndex = 0;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'Privacy budget');
    this.show_(null);
  }

  /** Draw what a client says; null where no notebook is in front. */
  show_(client: Client | null): void {
    const root = this._rootOf(client);
    if (root.parentElement !== this.node) {
      this.node.replaceChildren(root);
    }
    sessionView(root, client?.link ?? 'no notebook', client?.state ?? null, this._actions);
  }

  /** Each notebook has a view of its own: what was typed or unfolded is there when it comes to the front again. */
  private _rootOf(client: Client | null): HTMLElement {
    const known = this._roots.get(client ?? this);
    if (known !== undefined) {
      return known;
    }
    const made = document.createElement('div');
    made.className = 'dpnb-w';
    made.dataset.lmSuppressShortcuts = 'true';
    this._roots.set(client ?? this, made);
    return made;
  }

  private readonly _roots = new WeakMap<object, HTMLElement>();
}

/** The status bar: dataset, spent of total in its own measure, and a small bar. Colour and text say when little is left. */
class Gauge extends Widget {
  constructor(open: () => void) {
    super({ node: document.createElement('button') });
    this.addClass('dpnb-Gauge');
    this.node.setAttribute('type', 'button');
    this._bar.className = 'dpnb-Gauge-bar';
    this._bar.append(this._fill);
    this._name.className = 'dpnb-Gauge-name';
    this.node.append(this._text, this._bar);
    this.node.addEventListener('click', open);
    this.show_(null);
  }

  /** Draw what a client says; null where no notebook is in front. */
  show_(client: Client | null): void {
    const said = gauge(client?.link ?? 'no notebook', client?.state ?? null);
    this._name.textContent = said.name;
    this._text.replaceChildren(this._name, said.text.slice(said.name.length));
    this.node.title = said.title;
    this.node.setAttribute('aria-label', `Privacy budget: ${said.text}. ${said.title}`);
    this.node.classList.toggle('dpnb-mod-low', said.low);
    this._bar.hidden = said.used === null;
    this._fill.style.width = `${(100 * (said.used ?? 0)).toFixed(1)}%`;
  }

  private readonly _name = document.createElement('span');
  private readonly _text = document.createElement('span');
  private readonly _bar = document.createElement('span');
  private readonly _fill = document.createElement('span');
}

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
