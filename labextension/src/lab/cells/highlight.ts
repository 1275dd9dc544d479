/** Colours the magic line of `%%dp` cells. */
import { RangeSetBuilder, type Extension } from '@codemirror/state';
import {
  Decoration,
  ViewPlugin,
  type DecorationSet,
  type EditorView,
  type ViewUpdate
} from '@codemirror/view';
import { marks } from './magic';

const LINE = Decoration.line({ class: 'dpnb-magic-line' });
const KINDS = {
  magic: Decoration.mark({ class: 'dpnb-magic' }),
  option: Decoration.mark({ class: 'dpnb-option' })
};

function decorate(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  const found = marks(view.state.doc.toString());
  if (found !== null) {
    const line = view.state.doc.lineAt(found.line).from;
    builder.add(line, line, LINE);
    for (const mark of found.marks) {
      builder.add(mark.from, mark.to, KINDS[mark.kind]);
    }
  }
  return builder.finish();
}

/** The editor extension; it looks at the text and at nothing else. */
export function highlight(): Extension {
  return ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;
      constructor(view: EditorView) {
        this.decorations = decorate(view);
      }
      update(update: ViewUpdate): void {
        if (update.docChanged) {
          this.decorations = decorate(update.view);
        }
      }
    },
    { decorations: plugin => plugin.decorations }
  );
}
