/** The running coverage of each method, with its band, as the studies come in. */
import { wilson } from '../../maths/coverage';
import { number } from '../../maths/digits';
import { BOTTOM, H, LEFT, pathThrough, RIGHT, shares, W } from './axes';
import { html, picture, svg } from '../parts/dom';
import { text } from '../parts/layout';
import { lineNames } from '../parts/line_names';
import type { CoverageFacts, StudyFacts } from './facts';
import { band, layered, line, marker, percent, roomFor, showSamples } from './looks';

export interface Running {
  readonly node: HTMLElement;
  readonly show: (run: StudyFacts, facts: CoverageFacts, now: number) => void;
}

/** Where the axis ends: at all studies where they are few, and otherwise at a round number that the studies have not passed. */
export function endOf(now: number, reps: number): number {
  const rounds = [1, 2, 5]
    .flatMap(digit => [4, 5, 6].map(power => digit * 10 ** power))
    .sort((a, b) => a - b);
  return Math.min(reps, rounds.find(end => end >= now) ?? reps);
}

/** Coverage against the number of studies so far, for each method, with its band; the claim is dotted. */
export function running(): Running {
  const body = svg('g');
  const plot = picture('running coverage', W, H, body);
  const key = html('p', { class: 'key' });
  const show = (run: StudyFacts, facts: CoverageFacts, now: number): void => {
    const found = facts.shown.flatMap(name => {
      const points = (run.methods[name]?.trail ?? []).flatMap(([studies, known, held]) => {
        const band_ = wilson(held, known);
        return band_ === null || studies > now
          ? []
          : [{ studies, share: held / known, low: band_[0], high: band_[1] }];
      });
      return points.length === 0 ? [] : [{ name, points }];
    });
    const trails = layered(found);
    // the first few studies would make the axis jump
    const later = trails.flatMap(one => one.points.filter(p => p.studies >= Math.min(now, 100)));
    const lowest = Math.min(facts.setup.level, ...later.map(p => p.low));
    const { y, grid } = shares(lowest, facts.setup.level);
    const end = endOf(now, facts.reps);
    const x = (studies: number): number => LEFT + (studies / end) * (W - LEFT - RIGHT);
    const inside = (share: number): number => Math.min(y(share), H - BOTTOM);
    body.replaceChildren(
      ...grid,
      text(LEFT, H - 8, '0'),
      text(W - RIGHT, H - 8, `${number(end)} studies`, 'end'),
      ...trails.map(({ name, points }) =>
        band(
          points.map(p => [x(p.studies), inside(p.low), inside(p.high)] as const),
          name
        )
      ),
      ...trails.map(({ name, points }) =>
        line(name, pathThrough(points.map(p => [x(p.studies), inside(p.share)] as const)))
      ),
      ...lineNames(
        trails.map(({ name, points }) => [name, inside(points.at(-1)!.share)] as const),
        { x: W - RIGHT + 10, bottom: H - BOTTOM, ...roomFor(plot.node) }
      ),
      ...trails.map(({ name, points }) =>
        marker(name, x(points.at(-1)!.studies), inside(points.at(-1)!.share))
      )
    );
    showSamples(key, facts.shown);
    plot.describe(
      trails.length === 0
        ? 'nothing is simulated yet'
        : found.map(({ name, points }) => `${name} ${percent(points.at(-1)!.share)}`).join(', ')
    );
  };
  return { node: html('div', {}, plot.node, key), show };
}
