/** What the kernel says about its session, and how it is put into words: pure functions, without JupyterLab. */

import type { Event } from '../../maths/composition';

import { significant } from '../../maths/digits';

export const PROTOCOL = 1;

/** A question ready to be asked: in words, and as a line of a cell. */
interface ReadyLine {
  readonly words: string;
  readonly line: string;
}

export interface Column {
  readonly name: string;
  readonly label: string;
  readonly kind: string;
  readonly missing: string;
  readonly numeric: boolean;
  /** How the notebook writes it: `hiv.age`. */
  readonly spoken: string;
  readonly asks: readonly ReadyLine[];
}

export interface Charge {
  readonly entry: number;
  readonly time: string;
  readonly kind: string;
  readonly loss: number | null;
  readonly paid: string;
  readonly questions: readonly string[];
  readonly mine: boolean;
  readonly note: string;
  /** Whether this session asked it. */
  readonly here: boolean;
  /** Whether its answers are stored, so that the same question is free. */
  readonly stored: boolean;
}

/** What a picture needs to count the charges of a budget by adding and by zCDP. */
export interface Counting {
  readonly kept: 'adding' | 'zcdp';
  readonly epsilon: number | null;
  readonly rho: number | null;
  readonly delta: number | null;
  readonly deltas: readonly number[];
  readonly events: readonly Event[];
  /** Whether these are all charges under the budget; of others a reader sees the total alone. */
  readonly whole: boolean;
}

export interface Dataset {
  readonly name: string;
  readonly title: string;
  readonly badge: string;
  readonly sentence: string;
  readonly unit: string;
  readonly symbol: string;
  readonly cap: number;
  readonly spent: number;
  readonly left: number;
  readonly used: number;
  readonly words: string;
  readonly own: string;
  readonly columns: readonly Column[];
  /** What the notebook calls it. */
  readonly handle: string;
  /** How many entries the ledger has; `ledger` has the newest. */
  readonly entries: number;
  readonly ledger: readonly Charge[];
  readonly counting: Counting;
}

export interface Snapshot {
  readonly protocol: number;
  readonly version: string;
  readonly seq: number;
  /** When it stood so. */
  readonly at: string;
  readonly datasets: readonly Dataset[];
  /** The current plan, in a word: its board is asked for. */
  readonly plan?: { readonly number: number; readonly dataset: string; readonly cost: string } | null;
  readonly problem: string;
  /** "gone" when the curator has ended: the datasets are then as they stood when they were read last. */
  readonly curator?: string;
  /** Changes when the names change from which prices are read. */
  readonly reading?: number;
  /** What the notebook calls each dataset: variable to dataset. */
  readonly names?: Readonly<Record<string, string>>;
}

export type Link =
  | 'no notebook'
  | 'no kernel'
  | 'no connection'
  | 'connecting'
  | 'busy'
  | 'not loaded'
  | 'restarted'
  | 'versions differ'
  | 'gone'
  | 'live';

/** Whether a kernel's message is of the protocol that this front end knows. */
export function speaks(x: unknown): boolean {
  return typeof x === 'object' && x !== null && (x as Record<string, unknown>).protocol === PROTOCOL;
}

export function isSnapshot(x: unknown): x is Snapshot {
  if (typeof x !== 'object' || x === null) {
    return false;
  }
  const found = x as Record<string, unknown>;
  return Number.isFinite(found.seq) && Number.isFinite(found.protocol) && Array.isArray(found.datasets);
}

/** The newer of two states: messages of two subshells may overtake each other. */
export function newer(a: Snapshot | null, b: Snapshot): Snapshot {
  return a !== null && a.seq > b.seq ? a : b;
}

/** Kernel and page are of different versions: which of them is older, and what to type there. */
function mismatch(state: Snapshot | null): string {
  const version = typeof state?.version === 'string' ? state.version : 'of an unknown version';
  return Number(state?.protocol) > PROTOCOL
    ? `The kernel has dpnb ${version}, which is newer than the extension of this page. Where JupyterLab runs, type: pip install dpnb==${version}. Then reload this page.`
    : `The kernel has dpnb ${version}, which is older than the extension of this page. Run: %pip install --upgrade dpnb. Then restart the kernel.`;
}

const ADVICE: Readonly<Record<Exclude<Link, 'live' | 'versions differ'>, string>> = {
  'no notebook': 'Open a notebook to see its privacy budget.',
  'no kernel': 'This notebook has no kernel. What was spent stays in the ledger.',
  'no connection': 'The connection to the kernel is lost. What was spent stays in the ledger.',
  connecting: 'Asking the kernel …',
  busy: 'A cell is running, and this kernel answers between cells only. Run, when it has ended: %pip install --upgrade ipykernel',
  'not loaded': 'dpnb is not loaded in this kernel. Run: %load_ext dpnb',
  gone: 'No kernel updates this: run its cell again in a notebook.',
  restarted: 'The kernel was restarted. What was spent stays in the ledger. Run: %load_ext dpnb'
};

const GONE = 'The curator has ended. What was spent stays in its ledger. Run %dp budget to start it again.';

/** What to type where nothing can be shown, or where what is shown is old. */
export function advice(link: Link, state: Snapshot | null): string {
  if (link === 'versions differ' || (link === 'live' && state !== null && !speaks(state))) {
    return mismatch(state);
  }
  if (link !== 'live') {
    return ADVICE[link];
  }
  if (state === null) {
    return ADVICE.connecting;
  }
  if (state.curator === 'gone') {
    return GONE;
  }
  return state.problem !== '' || state.datasets.length > 0
    ? state.problem
    : 'No dataset is open. Run: hiv = dpnb.open("hiv")';
}

/** A time of the ledger as people here write it: the hour alone where it is today. */
export function clock(time: string, now = new Date()): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) {
    return time.slice(0, 16).replace('T', ' ');
  }
  const two = (part: number): string => String(part).padStart(2, '0');
  const hour = `${two(at.getHours())}:${two(at.getMinutes())}`;
  return at.toDateString() === now.toDateString()
    ? hour
    : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${hour}`;
}

export interface Gauge {
  readonly text: string;
  /** What of the text a narrow window leaves out: the name before a number. */
  readonly name: string;
  readonly title: string;
  /** From 0 to 1; null where there is nothing to measure. */
  readonly used: number | null;
  readonly low: boolean;
}

const LOW = 0.9;

/** A loss with at most four significant digits, as the cards write it. */
export function brief(value: number): string {
  return significant(value, 4);
}

/** The text of the status bar: the dataset that was asked last, spent of total, in its own measure. */
export function gauge(link: Link, state: Snapshot | null): Gauge {
  const nothing = { name: '', used: null, low: false, title: advice(link, state) };
  if (link !== 'live' || state === null) {
    return {
      ...nothing,
      text: `dp: ${link === 'live' ? 'connecting' : link === 'busy' ? 'kernel busy' : link}`
    };
  }
  if (!speaks(state)) {
    return { ...nothing, text: 'dp: versions differ' };
  }
  if (state.curator === 'gone') {
    return { ...nothing, text: 'dp: curator ended' };
  }
  const latest = (one: Dataset): number => Math.max(0, ...one.ledger.map(row => row.entry));
  const [one] = [...state.datasets].sort((a, b) => latest(b) - latest(a));
  if (one === undefined) {
    return { ...nothing, text: state.problem === '' ? 'dp: no dataset' : 'dp: curator ended' };
  }
  const low = one.used >= LOW;
  const spent = one.cap - one.left;
  return {
    name: `${one.name}: `,
    text: `${one.name}: ${one.symbol} ${brief(spent)} of ${brief(one.cap)}${low ? ' · low' : ''}`,
    title: `${one.words}. ${low ? 'Little is left. ' : ''}Click for the ledger.`,
    used: one.used,
    low
  };
}
