/** The budget as a bar: a block for each charge, a ghost for the plan, hatching where it would not fit. */
import { usedShare } from '../../maths/budget';
import { svg, unique, type Child } from './dom';
import { brief, type Charge, type Dataset } from './state';

export interface Block {
  readonly from: number;
  readonly share: number;
  readonly title: string;
}

/** The charges that make up what is spent now, oldest first; what is not listed stands in front as one block. */
export function blocks(one: Pick<Dataset, 'cap' | 'left' | 'symbol' | 'ledger'>): Block[] {
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
    add(
      row.loss ?? 0,
      `${row.paid}: ${row.questions.join(', ')} · ${row.time.slice(0, 16).replace('T', ' ')}`
    );
  }
  return found;
}

const percent = (share: number): string => `${(100 * share).toFixed(2)}%`;

/** Draw the bar; `plan` is what the current plan would cost. */
export function bar(
  one: Pick<Dataset, 'cap' | 'left' | 'symbol' | 'ledger' | 'words'>,
  plan = 0
): SVGSVGElement {
  const listed = blocks(one);
  const spent = usedShare(one.cap - one.left, one.cap);
  const fits = plan <= one.left * (1 + 1e-9);
  const ghost = usedShare(Math.min(plan, one.left), one.cap);
  const hatch = unique('ghost');
  const parts: Child[] = listed.map(block =>
    svg(
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
    )
  );
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
    ...parts,
    ghost > 0 || !fits
      ? svg('rect', {
          x: percent(spent),
          width: percent(Math.max(ghost, 0.004)),
          y: 0,
          height: 10,
          fill: `url(#${hatch})`
        })
      : null
  );
}
