/** The budget as a bar: a block for each charge, a ghost for the plan, hatching where it would not fit. */
import { usedShare } from '../../maths/budget';
import { html, set, svg, unique, type Child, type Part } from './dom';
import { brief, clock, type Charge, type Dataset } from './session_state';

interface Block {
  readonly from: number;
  readonly share: number;
  readonly title: string;
}

type Budget = Pick<Dataset, 'cap' | 'left' | 'symbol' | 'ledger'>;

/** Blocks narrower than this part of the bar are drawn together. */
const THIN = 0.008;

/** The charges that make up what is spent now, oldest first; what is not listed stands in front as one block. */
export function blocks(one: Budget): Block[] {
  const spent = Math.max(one.cap - one.left, 0);
  const counted: Charge[] = [];
  let sum = 0;
  for (const row of [...one.ledger].reverse()) {
    const loss = row.loss ?? 0;
    if (loss > 0 && sum + loss <= spent * (1 + 1e-9) + 1e-12) {
      counted.unshift(row);
      sum += loss;
    }
  }
  const found: Block[] = [];
  let from = 0;
  const add = (loss: number, title: string): void => {
    const share = usedShare(loss, one.cap);
    found.push({ from, share, title });
    from += share;
  };
  if (spent - sum > 1e-9 * Math.max(one.cap, 1)) {
    add(spent - sum, `${one.symbol} ${brief(spent - sum)}: charged to others, or before this list`);
  }
  for (const row of counted) {
    add(row.loss ?? 0, `${row.paid}: ${row.questions.join(', ')} · ${clock(row.time)}`);
  }
  return found;
}

/** The blocks as they can be seen and reached: neighbours too thin for a finger become one. */
export function drawn(one: Budget): Block[] {
  const found: Block[] = [];
  let run: Block[] = [];
  const close = (): void => {
    const [first] = run;
    if (first !== undefined && run.length > 1) {
      const share = run.reduce((sum, block) => sum + block.share, 0);
      const title = `${one.symbol} ${brief(share * one.cap)}: ${run.length} small releases`;
      found.push({ from: first.from, share, title });
    } else if (first !== undefined) {
      found.push(first);
    }
    run = [];
  };
  for (const block of blocks(one)) {
    if (block.share >= THIN) {
      close();
      found.push(block);
      continue;
    }
    run.push(block);
    if (run.reduce((sum, thin) => sum + thin.share, 0) >= 2 * THIN) {
      close();
    }
  }
  close();
  return found;
}

const percent = (share: number): string => `${(100 * share).toFixed(2)}%`;

function rect(block: Block): SVGRectElement {
  return svg(
    'rect',
    {
      x: percent(block.from),
      width: `max(${percent(block.share)} - 1px, 1px)`,
      style: `width:max(calc(${percent(block.share)} - 1px), 1px)`,
      y: 0,
      height: 10,
      class: 'used'
    },
    svg('title', {}, block.title)
  );
}

/** Draw the bar; `plan` is what the current plan would cost, `parts` are its blocks. */
export function bar(one: Budget & Pick<Dataset, 'words'>, plan = 0, parts?: readonly Child[]): SVGSVGElement {
  const spent = usedShare(one.cap - one.left, one.cap);
  const fits = plan <= one.left * (1 + 1e-9);
  const ghost = usedShare(Math.min(plan, one.left), one.cap);
  const hatch = unique('ghost');
  const words =
    plan > 0
      ? `${one.words}; this plan ${one.symbol} ${brief(plan)}${fits ? '' : ', more than is left'}`
      : one.words;
  return svg(
    'svg',
    { height: 10, role: 'img', 'aria-label': `budget: ${words}`, class: 'budget' },
    svg('desc', {}, words),
    svg(
      'defs',
      {},
      svg(
        'pattern',
        { id: hatch, width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
        svg('path', { d: 'M0 0V6', class: fits ? 'pv-line' : 'hatch' })
      )
    ),
    svg('rect', { x: 0, y: 0, width: '100%', height: 10, class: 'room' }),
    ...(parts ?? blocks(one).map(rect)),
    ghost > 0 || !fits
      ? svg('rect', {
          x: percent(spent),
          width: percent(Math.max(ghost, 0.004)),
          y: 0,
          height: 10,
          class: 'ghost',
          fill: `url(#${hatch})`
        })
      : null
  );
}

const WAYS: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowRight: at => at + 1,
  ArrowLeft: at => at - 1,
  Home: () => 0,
  End: (_, last) => last
};

/** The bar whose blocks can be pointed at, or walked through with the arrow keys: each says what it paid for. */
export function livingBar(): Part<[one: Dataset, plan?: number]> {
  const place = html('div', {});
  const said = html('p', { class: 'soft read' });
  let [rest, at, held] = ['', 0, false];
  let reached: SVGRectElement[] = [];
  const tell = (text: string): void => {
    said.textContent = text;
  };
  const mark = (next: number): void => {
    reached.forEach((block, i) => set(block, { tabindex: i === next ? 0 : -1 }));
    at = next;
  };
  const step = (event: KeyboardEvent): void => {
    const way = WAYS[event.key];
    if (way !== undefined) {
      event.preventDefault();
      mark(Math.min(Math.max(way(at, reached.length - 1), 0), reached.length - 1));
      reached[at]?.focus();
    }
  };
  const made = (block: Block, i: number): SVGRectElement => {
    const node = rect(block);
    set(node, { role: 'img', 'aria-label': block.title });
    node.addEventListener('pointerenter', () => tell(block.title));
    node.addEventListener('pointerleave', () => tell(rest));
    node.addEventListener('focus', () => {
      held = true;
      mark(i);
      tell(block.title);
    });
    node.addEventListener('blur', () => {
      held = false;
      tell(rest);
    });
    node.addEventListener('keydown', step);
    return node;
  };
  return {
    node: html('div', {}, place, said),
    show: (one, plan = 0) => {
      const again = held;
      reached = drawn(one).map(made);
      const picture = bar(one, plan, reached);
      if (reached.length > 0) {
        set(picture, { role: 'group' }); // an image has nothing in it that can be reached
      }
      place.replaceChildren(picture);
      rest = reached.length > 0 ? 'Point at a block to see what it paid for.' : 'Nothing was charged yet.';
      tell(rest);
      mark(Math.min(at, Math.max(reached.length - 1, 0)));
      if (again) {
        reached[at]?.focus();
      }
    }
  };
}
