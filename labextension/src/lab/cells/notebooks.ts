/** What is done to a notebook when a person clicks: text put into a cell, and a cell put below another and run. */
import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import { isLine } from '../../widgets/parts/insert';
import { isGone, type ReleaseRequest } from '../../widgets/parts/release';
import { isProtected, isSql, isStatement, rewrites, withLine } from './magic';

/** The place of the cell that holds an element, made the active one; -1 where no cell holds it. */
function goTo(panel: NotebookPanel, element: Element): number {
  const place = panel.content.widgets.findIndex(cell => cell.node.contains(element));
  if (place >= 0) {
    panel.content.activeCellIndex = place;
  }
  return place;
}

/**
 * Run what a Release button asks for: in the cell that showed its plan, else in a cell below. Nothing is released from a view whose
 * kernel is gone, or that was drawn from a notebook's saved state. A plan that grew from a saved record is run only where the cell
 * itself says the same, else it is written below, to be read before it is run: the loss that it writes need not be the one that it
 * shows. What the kernel was asked for is no record's.
 */
export async function runReleased(
  panel: NotebookPanel,
  element: Element,
  { source, asked = false }: ReleaseRequest
): Promise<void> {
  const cell = panel.content.widgets[goTo(panel, element)];
  if (isGone(element)) {
    return;
  }
  if (cell !== undefined && rewrites(cell.model.sharedModel.getSource(), source)) {
    cell.model.sharedModel.setSource(source);
    await NotebookActions.run(panel.content, panel.sessionContext);
  } else if (!asked && isProtected(source) && element.closest('.dpnb-Card') !== null) {
    NotebookActions.insertBelow(panel.content);
    panel.content.activeCell?.model.sharedModel.setSource(source);
  } else {
    await runBelow(panel, element, source);
  }
}

/** Write a question into the `%%dp` cell below the one that holds an element, or into a new one there; nothing is run. */
export function writeBelow(panel: NotebookPanel, element: Element, line: string): void {
  if (!isLine(line)) {
    return;
  }
  const place = goTo(panel, element);
  const below = panel.content.widgets[place + 1];
  const source = below?.model.type === 'code' ? below.model.sharedModel.getSource() : '';
  if (below !== undefined && isProtected(source) && !isSql(source)) {
    below.model.sharedModel.setSource(withLine(source, line));
    return;
  }
  NotebookActions.insertBelow(panel.content);
  panel.content.activeCell?.model.sharedModel.setSource(withLine(null, line));
  panel.content.activeCellIndex = Math.max(place, 0); // the card stays in front: more may be taken from it
}

/** Put a cell below the one that holds an element, and run it. */
export async function runBelow(panel: NotebookPanel, element: Element, source: string): Promise<void> {
  goTo(panel, element);
  NotebookActions.insertBelow(panel.content);
  panel.content.activeCell?.model.sharedModel.setSource(source);
  await NotebookActions.run(panel.content, panel.sessionContext);
}

/**
 * Put text where the cursor of the active code cell is, a ready question on a line of its own at the end; false where there is no
 * such cell.
 */
export function insertText(panel: NotebookPanel | null, text: string): boolean {
  const cell = panel?.content.activeCell;
  if (cell?.editor == null || cell.model.type !== 'code') {
    return false;
  }
  const { sharedModel } = cell.model;
  const source = sharedModel.getSource();
  if (isStatement(text) && source.trim() !== '' && !isSql(source)) {
    sharedModel.setSource(withLine(source, text));
    cell.editor.setCursorPosition(cell.editor.getPositionAt(sharedModel.getSource().length)!);
  } else {
    cell.editor.replaceSelection?.(text);
  }
  cell.editor.focus();
  return true;
}
