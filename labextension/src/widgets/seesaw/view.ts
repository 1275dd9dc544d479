/** ε ↔ ±: drag either, the other follows. Moving them spends nothing. */
import { effectiveSize } from '../../maths/budget';
import { lossFor, widthAt, type Curve } from '../../maths/curve';
import { halfWidth, number, significant } from '../../maths/digits';
import { tailRadius, type Law } from '../../maths/laws';
import { place, ticks, valueAt } from '../../maths/scale';
import { announcer, html, picture, set, svg, unique } from '../parts/dom';
import { dragState } from '../parts/drag_state';
import { figures, head, text } from '../parts/layout';
import { lossWords, oddsWords } from '../parts/loss_words';
import { draggable } from '../parts/pointer';
import { releaseButton } from '../parts/release';
import { slider } from '../parts/slider';
import type { Link, View } from '../parts/widget';

export interface SeesawFacts {
  readonly question: string;
  readonly dataset: string;
  readonly symbol: 'ε' | 'ρ';
  readonly kind: 'epsilon' | 'rho';
  readonly curve: Curve;
  /** Where the noise is one law: its scale (or σ) at a loss of 1. */
  readonly law: (Law & { readonly unit: number }) | null;
  readonly unit: string;
  readonly left: number;
  readonly size: { readonly planned: number | null; readonly asked: boolean };
  readonly start: number;
  /** The whole public range of the answer, for comparison. */
  readonly domain: readonly [number, number];
  /** What turns ± into people: sampling variance, and the sd of the noise at each loss of the curve. */
  readonly people: {
    readonly n: number;
    readonly sampling: number;
    readonly noise: readonly number[];
  } | null;
  /** Losses that others published with. */
  readonly register: readonly { readonly epsilon: number; readonly words: string }[];
  readonly problem: string;
  /** In a card: the name by which a cell releases the question, empty where it has none; and the verb of such a cell. */
  readonly name?: string;
  readonly verb?: string;
}

export interface SeesawSet {
  loss: number;
  size: number;
}

const [W, H, LEFT, TOP, BOTTOM] = [640, 216, 64, 24, 30];

const numbers = (x: unknown): boolean => Array.isArray(x) && x.length > 1 && x.every(Number.isFinite);

/** Whether an answer of the kernel can be drawn. */
export function isBalance(x: unknown): x is SeesawFacts {
  const found = x as Partial<SeesawFacts> | null;
  return (
    typeof found === 'object' &&
    found !== null &&
    typeof found.name === 'string' &&
    (found.kind === 'epsilon' || found.kind === 'rho') &&
    [found.left, found.start].every(Number.isFinite) &&
    numbers(found.curve?.loss) &&
    numbers(found.curve?.width) &&
    found.curve?.loss.length === found.curve?.width.length &&
    Array.isArray(found.register)
  );
}

/** The cell that releases the question at a loss; null where the notebook has no name for it. */
export function cellFor(facts: Pick<SeesawFacts, 'kind' | 'name' | 'verb'>, loss: number): string | null {
  const line = ['%%dp', facts.verb ?? '', `${facts.kind}=${significant(loss, 3)}`];
  return facts.name ? `${line.filter(word => word !== '').join(' ')}\n${facts.name}` : null;
}

/** The half-width at a loss: exact where the law is known, read from the priced curve elsewhere. */
export function widthOf(facts: SeesawFacts, loss: number): number {
  if (facts.law === null) {
    return widthAt(facts.curve, loss);
  }
  const shrink = facts.kind === 'epsilon' ? loss : Math.sqrt(loss);
  return facts.law.unit * tailRadius({ kind: facts.law.kind, scale: facts.law.scale / shrink }, 0.05);
}

/** How many people without noise would be as accurate as the answer at a loss, rounded down. */
export function effectiveAt(facts: Pick<SeesawFacts, 'people' | 'curve'>, loss: number): number | null {
  if (facts.people === null) {
    return null;
  }
  const sd = widthAt({ loss: facts.curve.loss, width: facts.people.noise }, loss);
  return Math.floor(effectiveSize(facts.people.n, facts.people.sampling, sd * sd));
}

/** The see-saw without a title, for a place that has one; with a Release button where the facts tell of a name. */
export function balance(root: HTMLElement, link: Link<SeesawFacts, SeesawSet>): View {
  const first = link.facts();
  const range = { low: first.curve.loss[0]!, high: first.curve.loss.at(-1)! };
  const held = dragState(link, { loss: first.start }, () => show(), { loss: range });
  const right = first.people === null ? 14 : 58;

  // the plot: both axes logarithmic, people at the right
  const x = (value: number): number => LEFT + place(range, value) * (W - LEFT - right);
  let tall = { low: 1, high: 10 };
  const y = (width: number): number => TOP + (1 - place(tall, width)) * (H - TOP - BOTTOM);
  const hatchId = unique('hatch');
  const over = svg('rect', { y: TOP, height: H - TOP - BOTTOM, fill: `url(#${hatchId})` });
  const grid = svg('g');
  const line = svg('path', { class: 'pv-line' });
  const cross = svg('path', { class: 'axis', 'stroke-dasharray': '3 3' });
  const point = svg('circle', { class: 'handle', r: 8 });
  const feet = svg('path', { class: 'pv' });
  const hatch = svg(
    'defs',
    {},
    svg(
      'pattern',
      { id: hatchId, width: 7, height: 7, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
      svg('path', { d: 'M0 0V7', class: 'hatch' })
    )
  );
  const plot = picture('accuracy bought by each loss', W, H, hatch, over, grid, cross, line, feet, point);

  const written = (value: number): string =>
    first.law === null ? halfWidth(value) : number(Math.round(value));
  const named = (value: number): string => `± ${written(value)}${first.unit === '' ? '' : ` ${first.unit}`}`;
  const narrowest = (): number => {
    const { curve, law } = link.facts();
    return law === null ? Math.max(curve.width.at(-1)!, curve.width[0]! * 1e-6) : law.unit;
  };
  const said = figures(
    '95 % privacy interval',
    ...(first.people === null ? [] : ['as accurate as, without noise']),
    ''
  );
  const odds = announcer();
  const others = html('p', { class: 'soft' });
  const problem = html('p', { class: 'warn', role: 'status' });

  const reach = (width: number): void =>
    held.move({ loss: Number((lossFor(link.facts().curve, width) ?? range.high).toPrecision(3)) });
  const losses = slider({
    label: first.symbol,
    range,
    value: held.now.loss,
    ends: ['more private', 'more accurate'],
    input: loss => held.move({ loss }),
    change: held.tell
  });
  const widths = slider({
    label: '±',
    range: { low: narrowest(), high: first.curve.width[0]! },
    value: widthOf(first, held.now.loss),
    ends: ['wider', 'narrower'],
    reversed: true,
    write: written,
    input: reach,
    change: held.tell
  });
  const size = html('input', {
    type: 'text',
    inputmode: 'numeric',
    'aria-label': 'number of people to plan with'
  });
  const sizeLine = html(
    'p',
    { class: 'soft say' },
    'planned for ',
    size,
    ' people: the true number is private'
  );
  const plan = (): void => {
    const typed = Number(size.value.trim().replaceAll(',', ''));
    const good = Number.isSafeInteger(typed) && typed > 0;
    set(size, { 'aria-invalid': good ? null : 'true' });
    problem.textContent = good ? '' : 'The number of people is a whole number above 0.';
    if (good) {
      link.choose({ size: typed });
    }
  };
  size.addEventListener('change', plan);
  size.addEventListener('keydown', event => {
    if (event.key === 'Enter') {
      plan();
    }
  });

  const release = releaseButton(() => cellFor(link.facts(), held.now.loss) ?? '', true);
  const unnamed = html(
    'p',
    { class: 'soft' },
    'Give it a name, such as answer = …, and it can be released from here.'
  );
  root.append(
    plot.node,
    losses.node,
    widths.node,
    said.node,
    odds,
    others,
    sizeLine,
    problem,
    ...(first.name === undefined ? [] : [html('div', { class: 'buttons' }, release.node), unnamed])
  );

  /** Where on the right axis so many people stand. */
  function level(people: number): number | null {
    const { curve, people: known } = link.facts();
    if (known === null || people >= known.n) {
      return null;
    }
    const sd = Math.sqrt(known.sampling * (known.n / people - 1));
    const loss = lossFor({ loss: curve.loss, width: known.noise }, sd);
    return loss === null || sd > known.noise[0]! ? null : y(widthOf(link.facts(), loss));
  }

  function peopleTicks(): SVGElement[] {
    const { people } = link.facts();
    if (people === null) {
      return [];
    }
    const found: SVGElement[] = [text(W, TOP - 10, 'people', 'end')];
    let last = TOP - 8;
    for (const tick of [0.01, 0.1, 0.5, 0.9, 0.99, 0.999].map(share => Math.floor(share * people.n))) {
      const at = tick > 0 ? level(tick) : null;
      if (at !== null && at - last > 22) {
        found.push(
          text(W - right + 8, at + 4, number(tick), 'start'),
          svg('path', { class: 'axis', d: `M${W - right} ${at}h5` })
        );
        last = at;
      }
    }
    return found;
  }

  function axes(): void {
    const { curve, left, register } = link.facts();
    tall = { low: narrowest() * 0.8, high: curve.width[0]! };
    widths.reach({ low: narrowest(), high: curve.width[0]! });
    const from = left >= range.high ? W - right : x(Math.max(left, range.low));
    const room = Math.max(W - right - from, 0);
    set(over, { x: from, width: room });
    grid.replaceChildren(
      svg('path', { class: 'axis', d: `M${LEFT} ${TOP}V${H - BOTTOM}H${W - right}V${TOP}` }),
      ...ticks(range)
        .filter(tick => /^[0.]*1/.test(String(tick)))
        .map(tick => text(x(tick), H - 10, `${first.symbol} ${tick}`)),
      ...ticks(tall)
        .filter(tick => /^[0.]*1|^1/.test(significant(tick, 1)))
        .map(tick => text(LEFT - 14, y(tick) + 4, number(tick), 'end')),
      ...peopleTicks(),
      svg(
        'path',
        { class: 'soft-line', d: register.map(one => `M${x(one.epsilon)} ${TOP - 7}V${TOP}`).join('') },
        svg('title', {}, register.map(one => `ε ${one.epsilon}: ${one.words}`).join('\n'))
      ),
      ...(register.length === 0
        ? []
        : [text(x(register[0]!.epsilon) - 6, TOP - 2, 'published by others', 'end')]),
      ...(room > 110 ? [text(from + room / 2, TOP + 18, 'more than is left')] : [])
    );
    let path = '';
    for (let i = 0; i <= 500; i++) {
      const at = range.low * (range.high / range.low) ** (i / 500);
      path += `${i === 0 ? 'M' : 'L'}${x(at).toFixed(1)} ${y(widthOf(link.facts(), at)).toFixed(1)}`;
    }
    set(line, { d: path });
    const { planned, asked } = link.facts().size;
    sizeLine.hidden = !asked;
    if (document.activeElement !== size) {
      size.value = planned === null ? '' : number(planned);
    }
    problem.textContent = link.facts().problem;
  }

  /** The published losses nearest below and above, in a line. */
  function neighbours(loss: number): string {
    const { register } = link.facts();
    const below = register.filter(one => one.epsilon <= loss).at(-1);
    const above = register.find(one => one.epsilon > loss);
    const told = [below, above].filter(one => one !== undefined);
    return told.length === 0
      ? ''
      : `Published by others: ${told.map(one => `ε ${one.epsilon} (${one.words})`).join('; ')}.`;
  }

  function show(): void {
    const facts = link.facts();
    const { loss } = held.now;
    const width = widthOf(facts, loss);
    const at = y(width);
    set(point, { cx: x(loss), cy: at });
    set(cross, {
      d: `M${LEFT} ${at}H${facts.people === null ? x(loss) : W - right}M${x(loss)} ${TOP}V${H - BOTTOM}`
    });
    const foot = H - BOTTOM;
    set(feet, { d: `M${x(loss)} ${foot}l-6 9h12ZM${LEFT} ${at}l-9 -6v12Z` });
    losses.show(loss);
    widths.show(width);
    const fits = loss <= facts.left * (1 + 1e-9);
    const people = effectiveAt(facts, loss);
    const asPeople =
      people === null || facts.people === null ? [] : [`${number(people)} of ${number(facts.people.n)}`];
    said.say(named(width), ...asPeople, `${facts.symbol} ${significant(loss, 3)}`);
    said.note(
      1 + asPeople.length,
      fits
        ? `${facts.symbol} ${significant(Math.max(facts.left - loss, 0), 3)} would be left in ${facts.dataset}`
        : `only ${facts.symbol} ${significant(facts.left, 3)} is left: this would be refused`,
      !fits
    );
    if (asPeople.length > 0) {
      said.note(1, 'people asked without noise, were values spread evenly');
    }
    const cell = cellFor(facts, loss);
    release.node.hidden = cell === null;
    release.button.disabled = Number(significant(loss, 3)) > facts.left * (1 + 1e-9) || facts.problem !== '';
    unnamed.hidden = cell !== null;
    const words = oddsWords(facts.kind, loss);
    odds.textContent = words;
    others.textContent = neighbours(loss);
    losses.words(lossWords(facts.kind, loss, named(width)));
    widths.words(`${named(width)} costs ${facts.symbol} ${significant(loss, 3)}`);
    plot.describe(
      `${named(width)} at ${facts.symbol} ${significant(loss, 3)}${asPeople.map(s => `, as accurate as ${s} people`).join('')}`
    );
  }

  let upright = false;
  draggable(plot.node, {
    start: at => {
      upright = at < LEFT; // along the axis of ±
      return true;
    },
    move: (at, height) => {
      if (upright) {
        const share = (height - TOP) / (H - TOP - BOTTOM);
        reach(tall.high * (tall.low / tall.high) ** Math.min(Math.max(share, 0), 1));
      } else {
        held.move({ loss: valueAt(range, (at - LEFT) / (W - LEFT - right)) });
      }
    },
    end: held.tell
  });

  axes();
  show();
  return {
    update: () => {
      axes();
      held.follow();
    },
    dispose: held.stop
  };
}

export function seesawView(root: HTMLElement, link: Link<SeesawFacts, SeesawSet>): View {
  root.append(head('What accuracy costs', 'Nothing is spent.', link.facts().question));
  return balance(root, link);
}
