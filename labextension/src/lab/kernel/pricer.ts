/** Asks for the price of a cell while it is typed: one question at a time, and only the newest text's answer counts. */

export type Answer = Readonly<Record<string, unknown>>;

interface Wanted {
  readonly cell: string;
  readonly key: string;
}

/** After so many milliseconds it is asked again what is stored, where the kernel could not tell at once: it was at work. */
const LATER = [500, 1000, 2000, 4000];

/** Whether a price was told without what of it is stored. */
const unsettled = (answer: Answer | null): boolean =>
  answer?.status === 'priced' && typeof answer.stored !== 'number';

/**
 * A question that is under way is not asked over: what was typed meanwhile is asked when its answer is there. So the kernel
 * never has more than one of a cell's questions to answer, however fast somebody types, and no answer is shown for another text.
 */
export class Pricer {
  constructor(
    private readonly _ask: (cell: string) => Promise<Answer | null>,
    private readonly _said: (answer: Answer | null) => void
  ) {}

  /** Want the price of a text; `key` changes when its price may have, though the text has not. */
  want(cell: string, key: string): void {
    if (this._wanted?.key === key) {
      return;
    }
    this._want({ cell, key }, LATER);
  }

  private _want(wanted: Wanted, later: readonly number[]): void {
    clearTimeout(this._waiting);
    [this._wanted, this._later] = [wanted, later];
    if (!this._asking) {
      void this._run();
    }
  }

  private async _run(): Promise<void> {
    this._asking = true;
    let asked: Wanted | null = null;
    while (this._wanted !== asked) {
      const now: Wanted = this._wanted!;
      asked = now;
      const answer = await this._ask(now.cell).catch(() => null);
      if (this._wanted === now) {
        this._said(answer);
        this._askLater(now, answer);
      }
    }
    this._asking = false;
  }

  private _askLater({ cell, key }: Wanted, answer: Answer | null): void {
    const [wait, ...rest] = this._later;
    if (unsettled(answer) && wait !== undefined) {
      this._waiting = setTimeout(() => this._want({ cell, key }, rest), wait);
    }
  }

  private _wanted: Wanted | null = null;
  private _asking = false;
  private _later: readonly number[] = LATER;
  private _waiting: ReturnType<typeof setTimeout> | undefined;
}

/** What is said of a cell's price: the words, why, and whether it is settled enough to be shown at once. */
export interface Price {
  readonly text: string;
  /** The loss alone, where one was read. */
  readonly loss?: string;
  readonly why: string;
  /** Every answer is stored: running the cell is free. */
  readonly free: boolean;
  /** A half-typed word is refused too: that is said when typing pauses. */
  readonly sure: boolean;
}

const NONE: Price = { text: '', why: '', free: false, sure: true };

/** Between a change of the text and its price. */
export const READING: Price = {
  text: '…',
  why: 'The price of this text is being read. Nothing is spent by reading it.',
  free: false,
  sure: true
};

/** What is told of the accuracy of a cell's questions, one by one. */
function accuracies({ questions }: Answer): { label: string; words: string }[] {
  const known = Array.isArray(questions) ? (questions as Readonly<Record<string, unknown>>[]) : [];
  return known.flatMap(({ label, accuracy }) =>
    typeof accuracy === 'string' && accuracy !== '' ? [{ label: String(label), words: accuracy }] : []
  );
}

/** The ± of one question, or of several the first by name, without what they are told for. */
function briefly(told: readonly { label: string; words: string }[]): string {
  const found = told.flatMap(({ label, words }) => {
    const people = /± [\d.,]+ (?:% of )?(?:people|rows)/;
    const width = (words.startsWith('right') ? people : /^unbounded|± [\d.,]+(?: to ± [\d.,]+)?/).exec(words);
    return width === null ? [] : [`${told.length > 1 ? `${label} ` : ''}${width[0]}`];
  });
  const more = found.length > SHOWN ? ', …' : '';
  return found.length === 0 ? '' : `${found.slice(0, SHOWN).join(', ')}${more} · `;
}

const SHOWN = 2;

function priced(answer: Answer): Price {
  const { label = '', stored, asked, left } = answer;
  const told = accuracies(answer);
  const each = told.map(one => (told.length > 1 ? `${one.label}: ${one.words}.` : `${one.words}.`)).join(' ');
  const fresh = typeof answer.new === 'string' ? answer.new : '';
  const free = typeof stored === 'number' && stored > 0 && stored === asked;
  if (free) {
    return {
      text: `${String(label)} · stored, free`,
      why: 'Every answer of this cell is stored: running it costs nothing.',
      free,
      sure: true
    };
  }
  const part = typeof stored === 'number' && stored > 0 ? ` · ${stored} stored, ${fresh} new` : '';
  if (typeof left === 'string' && left !== '') {
    const why = `This cell asks ${fresh}, and ${left} is left. It would be refused, and nothing spent.`;
    return { text: `${String(label)}${part} · only ${left} left`, why, free, sure: true };
  }
  const after =
    typeof answer.after === 'string' && answer.after !== '' ? ` · ${answer.after} left after` : '';
  const paid = part === '' ? '' : 'What is stored is free; the rest is charged.';
  return {
    text: `${briefly(told)}${String(label)}${part}${after}`,
    loss: part === '' ? String(label) : '',
    why: [paid, each].filter(Boolean).join(' '),
    free,
    sure: true
  };
}

/** What the kernel read from a cell's text, in a word or two, and why. */
export function priceOf(answer: Answer | null): Price {
  const why = typeof answer?.message === 'string' ? answer.message : '';
  switch (answer?.status) {
    case 'priced':
      return priced(answer);
    case 'unread':
      return {
        text: 'price: press Plan',
        why: `Plan it to see its price: ${why}`,
        free: false,
        sure: false
      };
    case 'nothing':
      return {
        text: 'asks nothing',
        why: 'This cell asks no question of a protected dataset: running it costs nothing.',
        free: false,
        sure: false
      };
    case 'error':
      return { text: `would be refused: ${why}`, why, free: false, sure: false };
    default:
      return NONE;
  }
}

/** Whether a price is shown when it comes. Half a word is no column, but that is not told to a hand that is still typing. */
export function atOnce(price: Price, shown: Price | null, typed: boolean): boolean {
  return price.sure || !typed || price.text === shown?.text;
}

/** What the words on a cell mean: only of a cell that ran it is said that it paid. */
export function tagTitle(was: string, price: Price): string {
  const ran =
    was === ''
      ? ''
      : was.startsWith('plan')
        ? 'Its plan spent nothing. '
        : 'First what this cell paid when it ran. ';
  if (price.why !== '') {
    return `${price.free ? '' : ran}${price.why}`;
  }
  return price.text === ''
    ? `${ran}A price is shown where the kernel can read one: dpnb loaded, and a dataset open.`
    : `${ran}What releasing this cell would cost, read from its text. Nothing is spent by reading it.`;
}

/** What a cell wears: what it paid when it ran, and what its text costs now. */
export function tagText(was: string, price: Price): string {
  if (was === '') {
    return price.text || 'protected';
  }
  const released = !was.startsWith('plan') && !was.startsWith('stored');
  if (price.free) {
    return released ? `${was} · stored` : was.startsWith('plan') ? price.text : was;
  }
  return price.text === '' || [price.text, price.loss].includes(was) ? was : `${was} · now ${price.text}`;
}
