/** The two classes that a notebook can name: a model that is data, and a view that draws it with the code of its kind. */
import { DOMWidgetModel, DOMWidgetView } from '@jupyter-widgets/base';
import '../widget.css';
import { moduleOf } from './kinds';
import { MODULE, VERSION } from './name';
import { refusal } from '../widgets/parts/widget';

const UNKNOWN = 'This interaction was made by another version of dpnb. Run its cell again.';

export class Interaction extends DOMWidgetModel {
  override defaults(): Record<string, unknown> {
    return {
      ...(super.defaults() as Record<string, unknown>),
      _model_module: MODULE,
      _model_module_version: VERSION,
      _model_name: 'Interaction',
      _view_module: MODULE,
      _view_module_version: VERSION,
      _view_name: 'InteractionView',
      kind: '',
      facts: {},
      chosen: {}
    };
  }
}

export class InteractionView extends DOMWidgetView {
  override render(): void {
    super.render();
    void this._draw();
  }

  override remove(): void {
    this._gone = true;
    this._dispose?.();
    super.remove();
  }

  private async _draw(): Promise<void> {
    const module = await moduleOf(this.model.get('kind')).catch(() => null);
    if (this._gone) {
      return;
    }
    if (module === null) {
      this.el.append(refusal(UNKNOWN));
      return;
    }
    this._dispose = module.render({ model: this.model, el: this.el });
  }

  private _dispose: (() => void) | undefined;
  private _gone = false;
}
