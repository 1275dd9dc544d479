/** The two drawings of a lecture on one upright axis: a study at every loss, and forty studies at this one. */
import { place, type Range } from '../../maths/scale';
import { drawnOf, endsAt, heldAt, nearestLoss, type SharedStudies } from '../coverage/shared_model';
import { picture, set, svg } from '../parts/dom';
import { leaving, text, under } from '../parts/layout';
import { marksOf, ownOf, spansAt, type Axis, type Both } from './model';

const [W, H, TOP, FLOOR] = [560, 340, 14, 310];
const [LEFT, RIGHT] = [64, 16];

/** Where the axis of losses runs. */
export const LOSSES = { wide: W, from: LEFT + 8, to: W - RIGHT - 8, below: H - FLOOR };

/** What is drawn. */
export interface Scene {
  readonly shared: SharedStudies;
  readonly both: Both;
  readonly axis: Axis;
  readonly percent: boolean;
  readonly symbol: string;
}

/** Where a value stands; what leaves the picture ends at its edge. */
function heightOf([low, high]: Axis): (value: number) => number {
  return value => {
    const share = Math.min(Math.max((value - low) / (high - low), 0), 1);
    return FLOOR - share * (FLOOR - TOP);
  };
}

const p = (value: number): string => value.toFixed(1);

/** Arrowheads where an interval leaves the picture. */
const heads = (x: number, [low, high]: readonly [number, number], axis: Axis): string =>
  leaving(x, [high > axis[1], low < axis[0]], [TOP, FLOOR], 6);

/** The axis on the left, and the truth across. */
function frame({ shared, axis, percent }: Scene, y: (value: number) => number): SVGElement[] {
  const lines = marksOf(axis, percent).flatMap(([value, words]) => [
    svg('path', { class: 'axis', d: `M${LEFT} ${p(y(value))}H${W - RIGHT}` }),
    text(LEFT - 10, y(value) + 5, words, 'end')
  ]);
  const truth = shared.parameter;
  return truth === null
    ? lines
    : [...lines, svg('path', { class: 'ink-line', d: `M${LEFT} ${p(y(truth))}H${W - RIGHT}` })];
}

/** One study at every loss: a funnel of what noise hides, dotted what noise and chance hide; its intervals stand where the handle is. */
export function funnelPicture() {
  const [back, marksBelow] = [svg('g'), svg('g')];
  const funnel = svg('path', { class: 'pv', opacity: 0.16 });
  const dotted = svg('path', { class: 'soft-line', 'stroke-dasharray': '2 5' });
  const cursor = svg('path', { class: 'soft-line' });
  const bar = svg('path', { class: 'pv-line', 'stroke-width': 18, style: 'stroke-width:18' });
  const whisker = svg('path', { class: 'ink-line', style: 'stroke-width:2.5' });
  const diamond = svg('path', { fill: 'var(--page)', stroke: 'var(--ink)', 'stroke-width': 1.5 });
  const plot = picture(
    'one study at every loss',
    W,
    H,
    back,
    funnel,
    dotted,
    cursor,
    bar,
    whisker,
    diamond,
    marksBelow
  );
  let range: Range = { low: 0.01, high: 10 };
  let key = '';
  const x = (loss: number): number => LOSSES.from + place(range, loss) * (LOSSES.to - LOSSES.from);
  const lay = (scene: Scene): void => {
    const { shared, both, symbol } = scene;
    const y = heightOf(scene.axis);
    range = { low: shared.values[0]!, high: shared.values.at(-1)! };
    const study = ownOf(shared);
    const along = (row: Both['privacy'], end: 0 | 1): string[] =>
      shared.values.map(loss => `${p(x(loss))} ${p(y(endsAt(shared, row, loss, study)[end]))}`);
    const [up, down] = [along(both.privacy, 1), along(both.privacy, 0)];
    set(funnel, { d: `M${up.join('L')}L${[...down].reverse().join('L')}Z` });
    set(dotted, { d: `M${along(both.confidence, 1).join('L')}M${along(both.confidence, 0).join('L')}` });
    back.replaceChildren(...frame(scene, y));
    const losses = [0.01, 0.1, 1, 10].filter(one => one >= range.low && one <= range.high);
    marksBelow.replaceChildren(...losses.map(one => under(x(one), FLOOR, `${symbol} ${one}`)));
  };
  return {
    node: plot.node,
    lossAt: (at: number): number => {
      const share = Math.min(Math.max((at - LOSSES.from) / (LOSSES.to - LOSSES.from), 0), 1);
      return Number((range.low * (range.high / range.low) ** share).toPrecision(3));
    },
    show: (scene: Scene, loss: number, words: string): void => {
      const now = `${scene.shared.of} ${scene.shared.first} ${scene.axis.join(' ')}`;
      if (now !== key) {
        key = now;
        lay(scene);
      }
      const y = heightOf(scene.axis);
      const [at, { privacy, confidence }] = [x(loss), spansAt(scene.shared, scene.both, loss)];
      const [low, high] = confidence.map(y) as [number, number];
      set(cursor, { d: `M${p(at)} ${TOP}V${FLOOR}` });
      set(bar, { d: `M${p(at)} ${p(y(privacy[0]))}V${p(y(privacy[1]))}` });
      set(whisker, {
        d: `M${p(at)} ${p(low)}V${p(high)}M${p(at - 12)} ${p(low)}h24M${p(at - 12)} ${p(high)}h24${heads(at, confidence, scene.axis)}`
      });
      const said = y(scene.shared.truths[0]!);
      set(diamond, { d: `M${p(at)} ${p(said - 7)}l7 7l-7 7l-7 -7Z` });
      plot.describe(words);
    }
  };
}

/** Forty studies at this loss, the one that is followed in ink; a miss has a cross. */
export function fortyBars() {
  const back = svg('g');
  const [holds, own] = [svg('path', { class: 'pv-line' }), svg('path', { class: 'ink-line' })];
  const [misses, crosses] = [svg('path'), svg('path')];
  set(holds, { style: 'stroke-width:4' });
  set(own, { style: 'stroke-width:4' });
  set(misses, { stroke: 'var(--dp-warn)', 'stroke-width': 4, fill: 'none' });
  set(crosses, { stroke: 'var(--dp-warn)', 'stroke-width': 2.5, fill: 'none' });
  const plot = picture('forty studies at this loss', W, H, back, holds, misses, crosses, own);
  let key = '';
  return {
    node: plot.node,
    show: (scene: Scene, loss: number, words: string): void => {
      const { shared, both, axis } = scene;
      const y = heightOf(axis);
      const now = `${shared.of} ${axis.join(' ')}`;
      if (now !== key) {
        key = now;
        back.replaceChildren(...frame(scene, y));
      }
      const at = nearestLoss(shared.values, loss);
      const drawn = { held: '', missed: '', cross: '', own: '' };
      for (const study of drawnOf(shared)) {
        const x = LEFT + 8 + ((study - shared.first + 0.5) / shared.places) * (W - LEFT - RIGHT - 16);
        const ends = endsAt(shared, both.confidence, loss, study);
        const path = `M${p(x)} ${p(y(ends[0]))}V${p(y(ends[1]))}${heads(x, ends, axis)}`;
        const missed = heldAt(shared, both.confidence, at, study) === false;
        drawn[study === ownOf(shared) && !missed ? 'own' : missed ? 'missed' : 'held'] += path;
        if (missed) {
          const above = ends[0] > (shared.parameter ?? ends[0]);
          const tip = above ? y(ends[1]) - 12 : y(ends[0]) + 12;
          drawn.cross += `M${p(x - 5)} ${p(tip - 5)}l10 10m0 -10l-10 10`;
        }
      }
      set(holds, { d: drawn.held });
      set(own, { d: drawn.own });
      set(misses, { d: drawn.missed });
      set(crosses, { d: drawn.cross });
      plot.describe(words);
    }
  };
}
