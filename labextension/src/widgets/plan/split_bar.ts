/** The loss of a cell as one stacked bar with dividers to drag: by pointer, and by arrow keys. */
import { divide } from '../../maths/budget';
import { html, set, svg } from '../parts/dom';
import { draggable } from '../parts/pointer';
import type { Piece } from './split';

export interface SplitBar {
  readonly node: HTMLElement;
  readonly show: (pieces: readonly Piece[]) => void;
  readonly dispose: () => void;
}

const H = 34;
/** No piece is made smaller than this. */
export const LEAST = 0.01;

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

/** A divider behind each piece but the last; an arrow key moves it by a hundredth. */
function dividers(pieces: readonly Piece[], nudge: (i: number, by: number) => void): SVGRectElement[] {
  return pieces.slice(1).map((one, i) => {
    const handle = svg('rect', {
      y: 0,
      width: 9,
      height: H,
      rx: 3,
      class: 'handle',
      tabindex: 0,
      role: 'slider',
      'aria-label': `divider between ${pieces[i]!.name} and ${one.name}`,
      'aria-valuemin': 0,
      'aria-valuemax': 100
    });
    handle.addEventListener('keydown', event => {
      const step = STEPS[event.key];
      if (step !== undefined) {
        event.preventDefault();
        nudge(i, step * LEAST);
      }
    });
    return handle;
  });
}

/** Lay blocks, names and dividers out over a width; their elements are already there. */
function lay(board: SVGSVGElement, handles: readonly SVGRectElement[], pieces: readonly Piece[]): void {
  const blocks = board.querySelectorAll<SVGRectElement>('rect:not(.handle)');
  const texts = board.querySelectorAll('text');
  const W = board.clientWidth || 640;
  set(board, { viewBox: `0 0 ${W} ${H}` }); // a pixel is a pixel: blocks, names and dividers keep their size
  let from = 0;
  pieces.forEach(({ name, share, free, words }, i) => {
    const width = Math.max(share * W - 2, 1);
    set(blocks[i]!, { x: from * W, width, class: free ? 'outlined' : 'pv' });
    set(texts[i]!, {
      x: from * W + 12,
      class: free ? 'outside' : 'inside',
      visibility: width > name.length * 8 + 24 ? 'visible' : 'hidden'
    });
    from += share;
    const handle = handles[i];
    if (handle !== undefined) {
      set(handle, {
        x: from * W - 5.5,
        'aria-valuenow': Math.round(100 * from),
        'aria-valuetext': `${words}, ${pieces[i + 1]!.words}`
      });
    }
  });
}

/**
 * Draw the bar. `moved` is told the shares of the pieces while a divider moves, `settled` when the drag ends.
 * Where nothing can be written there are no dividers.
 */
export function splitBar(
  dragged: boolean,
  moved: (shares: readonly number[]) => void,
  settled: () => void
): SplitBar {
  const about = { class: 'plot', role: 'group', 'aria-label': 'how the loss is split' };
  const board = svg('svg', { viewBox: `0 0 640 ${H}`, height: H, ...about });
  let [last, drawn]: [readonly Piece[], string | null] = [[], null];
  let shares: readonly number[] = [];
  let handles: SVGRectElement[] = [];
  let held = 0;
  const wide = (): number => board.viewBox.baseVal.width;
  const edge = (i: number): number => shares.slice(0, i + 1).reduce((a, b) => a + b, 0);
  /** Several events may come before a frame is drawn: each goes on from the last. */
  const shift = (i: number, to: number): void => {
    shares = divide(shares, i, to, LEAST);
    moved(shares);
  };
  const nudge = (i: number, by: number): void => {
    shift(i, edge(i) + by);
    settled();
  };
  const show = (pieces: readonly Piece[]): void => {
    last = pieces;
    shares = pieces.map(one => one.share);
    const names = pieces.map(one => one.name);
    if (drawn !== names.join('\n')) {
      drawn = names.join('\n');
      handles = dragged ? dividers(pieces, nudge) : [];
      const blocks = pieces.map(() => svg('rect', { y: 4, height: H - 8 }));
      board.replaceChildren(...blocks, ...names.map(one => svg('text', { y: H / 2 + 5 }, one)), ...handles);
    }
    lay(board, handles, pieces);
  };
  draggable(board, {
    start: at => {
      const far = handles.map((_, i) => Math.abs(edge(i) * wide() - at));
      held = far.indexOf(Math.min(...far));
      return handles.length > 0 && far[held]! < 30;
    },
    move: at => shift(held, at / wide()),
    end: settled
  });
  const seen = new ResizeObserver(() => show(last));
  seen.observe(board);
  return { node: html('div', {}, board), show, dispose: () => seen.disconnect() };
}
