/** What is done to a notebook when a person clicks: text put into a cell, and a cell put below another and run. */
import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';

/** Put a cell below the one that holds an element, and run it. */
export async function runBelow(panel: NotebookPanel, element: Element, source: string): Promise<void> {
  const place = panel.content.widgets.findIndex(cell => cell.node.contains(element));
  if (place >= 0) {
    panel.content.activeCellIndex = place;
  }
  NotebookActions.insertBelow(panel.content);
  panel.content.activeCell?.model.sharedModel.setSource(source);
  await NotebookActions.run(panel.content, panel.sessionContext);
}

/** Put text where the cursor of the active code cell is; false where there is none. */
export function insertText(panel: NotebookPanel | null, text: string): boolean {
  const cell = panel?.content.activeCell;
  if (cell?.editor == null || cell.model.type !== 'code') {
    return false;
  }
  cell.editor.replaceSelection?.(text);
  cell.editor.focus();
  return true;
}
