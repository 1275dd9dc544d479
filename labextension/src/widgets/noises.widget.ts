/** Two noises: what privacy adds and what sampling adds, as a hundred dots each, and where they cross. */
import { halfWidth, number, significant } from '../maths/digits';
import { quantile, variance, type Law } from '../maths/laws';
import { normalQuantile } from '../maths/normal';
import { effectiveSize } from '../maths/budget';
import { announcer, eachFrame, html, picture, set, svg } from './parts/dom';
import { slider } from './parts/slider';
import { widget, type Link, type View } from './parts/widget';

export interface NoisesFacts {
  readonly question: string;
  /** The share that is estimated; its sampling variance is p(1 − p)/n. */
  readonly share: number;
  readonly n: number;
  readonly epsilon: number;
  /** The noise of the count at ε = 1, in rows. */
  readonly law: Law;
  readonly problem: string;
}

export interface NoisesSet {
  epsilon: number;
  n: number;
}

const [W, H, MIDDLE] = [640, 190, 86];
const DOTS = 100;

/** The n at which both noises are alike: 2/(ε²p(1 − p)) for Laplace noise of scale 1/ε. */
export function crossing(law: Law, epsilon: number, share: number): number {
  return variance({ kind: law.kind, scale: law.scale / epsilon }) / (share * (1 - share));
}

function draw(root: HTMLElement, link: Link<NoisesFacts, NoisesSet>): View {
  const facts = link.facts();
  let epsilon = link.chosen().epsilon ?? facts.epsilon;
  let n = link.chosen().n ?? facts.n;
  let outcome = 0;

  const stroke = { 'stroke-linecap': 'round', 'stroke-width': 7, fill: 'none' };
  const sampling = svg('path', { ...stroke, stroke: 'var(--ink)' });
  const privacy = svg('path', { ...stroke, stroke: 'var(--dp-accent)' });
  const shown = svg('path', { class: 'ink-line', 'stroke-dasharray': '4 3' });
  const scale = svg('g');
  const plot = picture('two noises', W, H, scale, sampling, privacy, shown);

  const people = html('strong');
  const cross = html('strong');
  const said = announcer();
  const frame = eachFrame(() => show());
  const tell = (): void => link.choose({ epsilon, n });
  const losses = slider({
    label: 'ε',
    range: { low: 0.01, high: 10 },
    value: epsilon,
    ends: ['more private', 'more accurate'],
    input: value => {
      epsilon = value;
      frame.ask();
    },
    change: tell
  });
  const sizes = slider({
    label: 'people',
    range: { low: 10, high: 100_000 },
    value: n,
    ends: ['10', '100,000'],
    write: value => number(Math.round(value)),
    input: value => {
      n = Math.round(value);
      frame.ask();
    },
    change: tell
  });
  const next = html('button', { type: 'button' }, 'Show another outcome');
  next.addEventListener('click', () => {
    outcome = (outcome + 37) % DOTS;
    frame.ask();
  });

  root.append(
    html(
      'div',
      { class: 'head' },
      html('div', {}, html('h3', {}, 'Two noises'), html('code', {}, facts.question)),
      html('span', { class: 'soft' }, 'Nothing is spent.')
    ),
    losses.node,
    sizes.node,
    plot.node,
    html(
      'p',
      { class: 'key' },
      html('span', { class: 'k' }, html('i'), 'above: sampling, 100 equally likely errors'),
      html('span', { class: 'p' }, html('i'), 'below: privacy, 100 equally likely errors')
    ),
    html(
      'div',
      { class: 'figures' },
      html('div', {}, people, html('span', { class: 'soft' }, 'what the noise costs, counted in people')),
      html('div', {}, cross, html('span', { class: 'soft' }, 'people make both noises alike at this ε'))
    ),
    said,
    html('div', { class: 'buttons' }, next)
  );

  /** A stack of dots: each error falls into a column, and columns grow away from the middle line. */
  function stack(errors: readonly number[], reach: number, up: boolean): string {
    const columns = errors.map(error =>
      Math.round((Math.min(Math.max(error / reach, -1), 1) * (W - 20)) / 2 / 8)
    );
    const heights = new Map<number, number>();
    for (const column of columns) {
      heights.set(column, (heights.get(column) ?? 0) + 1);
    }
    const gap = Math.min(7.4, (MIDDLE - 8) / Math.max(...heights.values()));
    heights.clear();
    let path = '';
    for (const column of columns) {
      const height = (heights.get(column) ?? 0) + 1;
      heights.set(column, height);
      const y = up ? MIDDLE - 4 - height * gap : MIDDLE + 4 + height * gap;
      path += `M${W / 2 + column * 8} ${y.toFixed(1)}h0`;
    }
    return path;
  }

  function show(): void {
    const { law, share } = link.facts();
    const noise: Law = { kind: law.kind, scale: law.scale / epsilon };
    const levels = Array.from({ length: DOTS }, (_, i) => (i + 0.5) / DOTS);
    const sd = Math.sqrt((share * (1 - share)) / n);
    const drawn = levels.map(level => sd * normalQuantile(level));
    const added = levels.map(level => quantile(noise, level) / n);
    const reach = Math.max(drawn.at(-1)!, added.at(-1)!) * 1.05;
    set(sampling, { d: stack(drawn, reach, true) });
    set(privacy, { d: stack(added, reach, false) });
    // one hypothetical release: an error of each kind, added
    const error = drawn[(outcome * 61 + 13) % DOTS]! + added[outcome]!;
    const at = W / 2 + (Math.min(Math.max(error / reach, -1), 1) * (W - 20)) / 2;
    set(shown, { d: `M${at.toFixed(1)} 0V${H - 20}` });
    scale.replaceChildren(
      svg('path', { class: 'axis', d: `M0 ${MIDDLE}H${W}M${W / 2} 0V${H - 20}` }),
      ...[-1, 0, 1].map(side =>
        svg(
          'text',
          {
            x: W / 2 + (side * (W - 20)) / 2,
            y: H - 4,
            'text-anchor': side === 0 ? 'middle' : side < 0 ? 'start' : 'end'
          },
          side === 0 ? 'the truth' : `${side < 0 ? '−' : '+'}${halfWidth(reach)}`
        )
      )
    );
    const extra = variance(noise) / (n * n);
    const effective = Math.floor(effectiveSize(n, sd * sd, extra));
    people.textContent = `as accurate as ${number(effective)} of ${number(n)} people`;
    cross.textContent = number(Math.ceil(crossing(law, epsilon, share)));
    const larger = extra > sd * sd ? 'privacy noise is the larger' : 'sampling noise is the larger';
    const words =
      `Sampling alone is off by about ± ${halfWidth(1.96 * sd)}, privacy alone by about ± ${halfWidth(Math.max(added[97]!, 1e-12))}: ` +
      `${larger}. This hypothetical release is off by ${error < 0 ? '−' : '+'}${halfWidth(Math.abs(error) || sd)}.`;
    said.textContent = words;
    plot.describe(words);
    losses.words(`ε ${significant(epsilon, 3)}: ${words}`);
    sizes.words(`${number(n)} people: ${words}`);
    losses.show(epsilon);
    sizes.show(n);
  }

  show();
  return {
    update: () => {
      epsilon = link.chosen().epsilon ?? epsilon;
      n = link.chosen().n ?? n;
      show();
    },
    dispose: frame.stop
  };
}

export default widget(draw);
