/** The coverage lab: intervals of simulated studies stack up, misses are marked, and each method's coverage runs along. */
import { missed } from '../../maths/coverage';
import { number } from '../../maths/digits';
import { announcer, eachFrame, html } from '../parts/dom';
import { controls } from './controls';
import { LAST, reachOf, stack } from './intervals';
import { running } from './running';
import { sweepPicture } from './sweep';
import { beside, countsOf, head, sentences, table, whereOf } from './table';
import { why } from './why';
import type { CoverageFacts, CoverageSet, Stack } from './facts';
import { scrolling } from '../parts/scroll_region';
import type { Link, View } from '../parts/widget';

/** In so many steps a block of studies is played where motion is welcome, each this many milliseconds long. */
const [STEPS, STEP_MS] = [20, 35];
/** Long runs are not played: each block is drawn when it comes. */
const PLAYED = 5000;
const LATE_MS = 4000;
const LATE =
  'No answer from the kernel yet: it is busy with a cell, or gone. It goes on by itself when it is free.';
const GONE = 'The kernel is gone, and its simulation with it. What is drawn here stands still.';
const NONE = 'Nothing can be simulated on this page: run the cell in a notebook.';

const still = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

export function coverageView(root: HTMLElement, link: Link<CoverageFacts, CoverageSet>): View {
  let going = false;
  let asked = link.facts().pulled;
  let answered = link.facts();
  let reset = link.chosen().reset ?? 0;
  let seen = link.facts().studies;
  let played = STEPS;
  let timer = 0;
  let watchdog = 0;
  let setup = JSON.stringify([link.facts().setup, link.facts().view]);
  let before: Readonly<Record<string, Stack>> = {};
  let latest = stacksOf(link.facts());
  /** Whether there ever was a kernel to ask. */
  const began = link.alive?.() !== false;
  let gone = false;

  const frame = eachFrame(() => show());
  const title = html('code', {}, link.facts().question);
  const problem = html('p', { class: 'warn', role: 'status' });
  const late = html('p', { class: 'warn', role: 'status', hidden: '' }, LATE);
  const start = html('button', { type: 'button', class: 'strong' }, 'Start');
  const cancel = html('button', { type: 'button' }, 'Cancel');
  const bar = html('progress', { max: 1, value: 0, 'aria-label': 'studies simulated' });
  const count = html('span', { class: 'soft' });
  const said = announcer();
  const stacks = html('div', { class: 'stacks' });
  const curve = running();
  const reasons = why();
  const swept = sweepPicture();
  const where = html('p', { class: 'say' });
  const told = html('ul', { class: 'told' });
  const charge = html('p', { class: 'say' });
  const top = html('thead');
  const rows = html('tbody');
  const print = html('ul', { class: 'told' });
  const code = html('textarea', { readonly: '', rows: 5, 'aria-label': 'the code that reproduces this' });
  const reproduces = html('summary');
  const copy = html('button', { type: 'button' }, 'Copy');
  copy.addEventListener('click', () => {
    code.select();
    void navigator.clipboard.writeText(code.value).catch(() => undefined);
  });
  const hand = controls(link.facts(), chosen => link.choose(chosen));
  const studies = html(
    'div',
    {},
    stacks,
    html(
      'p',
      { class: 'soft' },
      '│ is what is true, ─ holds it, ✕ misses it; the last 40 studies, newest below'
    ),
    html('h4', { class: 'say' }, 'Running coverage, with its 95 % Wilson band'),
    curve.node,
    reasons.node
  );
  const sweep = html('div', {}, swept.node);

  const pull = (): void => {
    asked = Math.max(asked, link.facts().pulled) + 1;
    clearTimeout(watchdog);
    watchdog = window.setTimeout(
      () => {
        late.textContent = began ? LATE : NONE;
        late.hidden = false;
        frame.ask();
      },
      began ? LATE_MS : LATE_MS / 4
    );
    link.choose({ pull: asked });
  };
  const done = (): boolean => link.facts().studies >= link.facts().reps;
  /** Play what is there, then ask for more. */
  const onward = (): void => {
    clearTimeout(timer);
    if (!going) {
      return;
    }
    if (played < STEPS) {
      played += 1;
      frame.ask();
      timer = window.setTimeout(onward, STEP_MS);
    } else if (done() || link.facts().problem !== '') {
      going = false;
      frame.ask();
    } else if (link.facts().pulled >= asked) {
      pull();
    }
  };
  start.addEventListener('click', () => {
    going = !going;
    if (going && done() && played >= STEPS) {
      reset += 1;
      link.choose({ reset });
    }
    frame.ask();
    onward();
  });
  cancel.addEventListener('click', () => {
    going = false;
    reset += 1;
    link.choose({ reset });
    frame.ask();
  });

  root.append(
    html(
      'div',
      { class: 'head' },
      html('div', {}, html('h3', {}, 'Would this interval be right?'), title),
      html('span', { class: 'soft' }, 'Simulated: nothing is spent.')
    ),
    hand.node,
    html('div', { class: 'buttons' }, start, cancel, bar, count),
    problem,
    late,
    said,
    where,
    told,
    charge,
    studies,
    sweep,
    scrolling('coverage of each method', html('table', {}, top, rows)),
    print,
    html('details', {}, reproduces, code, html('div', { class: 'buttons' }, copy))
  );

  /** How many studies are on the screen: those before the last block, and the part of it that was played. */
  function shownStudies(): number {
    const { studies: all } = link.facts();
    return played >= STEPS ? all : Math.round(seen + ((all - seen) * played) / STEPS);
  }

  function show(): void {
    const facts = link.facts();
    const { run } = facts;
    const now = shownStudies();
    title.textContent = facts.question;
    problem.textContent = facts.problem;
    start.textContent = going
      ? 'Pause'
      : done() && now >= facts.reps
        ? 'Again'
        : now > 0
          ? 'Resume'
          : 'Start';
    start.disabled = gone;
    cancel.disabled = gone || (now === 0 && !going);
    cancel.textContent = done() && !going ? 'Clear' : 'Cancel';
    cancel.title = 'throws away what is simulated so far';
    bar.value = now / facts.reps;
    count.textContent = `${number(now)} of ${number(facts.reps)} studies, seed ${facts.setup.seed}`;
    studies.hidden = run === null;
    sweep.hidden = facts.sweep === null;
    reproduces.textContent = codeOf(facts);
    if (code.value !== facts.code) {
      code.value = facts.code;
    }
    if (run !== null) {
      const part = Math.min(played / STEPS, 1);
      const reach = reachOf(facts.shown.map(name => latest[name] ?? []));
      stacks.replaceChildren(
        ...run.rows
          .filter(row => facts.shown.includes(row.name))
          .sort((a, b) => facts.shown.indexOf(a.name) - facts.shown.indexOf(b.name))
          .map(row => {
            const newest = latest[row.name] ?? [];
            const upto = Math.round(newest.length * part);
            const seen_ = [...(before[row.name] ?? []), ...newest.slice(0, upto)].slice(-LAST);
            return stack(row, seen_, reach);
          })
      );
      curve.show(run, facts, now);
      reasons.show(run, facts);
    }
    if (facts.sweep !== null) {
      swept.show(facts.sweep, facts);
    }
    where.textContent = now === 0 ? '' : whereOf(facts, swept.at());
    where.hidden = where.textContent === '';
    told.replaceChildren(...sentences(facts, swept.at(), now));
    charge.textContent = facts.charge;
    charge.hidden = facts.charge === '';
    top.replaceChildren(head(facts));
    rows.replaceChildren(...table(facts, swept.at(), now));
    print.hidden = facts.compared === '';
    print.replaceChildren(...(print.hidden ? [] : beside(facts, swept.at(), now)));
    // told when it rests, not with every block
    if (!going) {
      const words = sentence(facts, swept.at(), now);
      if (said.textContent !== words) {
        said.textContent = words;
      }
      // seen as a list, heard as one sentence
      said.classList.toggle('hidden', now > 0);
    }
  }

  swept.moved(
    () => frame.ask(),
    () => link.choose({ at: swept.at() })
  );
  show();
  return {
    update: () => {
      if (began && link.alive?.() === false) {
        [gone, going] = [true, false];
        clearTimeout(watchdog);
        late.textContent = GONE;
        late.hidden = false;
      }
      const facts = link.facts();
      const now = JSON.stringify([facts.setup, facts.view]);
      if (facts !== answered) {
        // what the hand just set stands until the kernel has answered
        answered = facts;
        hand.show(facts);
      }
      if (facts.pulled >= asked && !gone) {
        clearTimeout(watchdog);
        late.hidden = true;
      }
      if (now !== setup || facts.studies < seen || facts.studies === 0) {
        setup = now;
        [before, latest] = [{}, stacksOf(facts)];
        [seen, played] = [facts.studies, STEPS];
      } else if (facts.run !== null && facts.studies > seen) {
        before = latest;
        latest = stacksOf(facts);
        played = going && !still() && facts.reps <= PLAYED ? 0 : STEPS;
      }
      if (played >= STEPS) {
        seen = facts.studies;
      }
      frame.ask();
      onward();
    },
    dispose: () => {
      going = false;
      clearTimeout(timer);
      clearTimeout(watchdog);
      frame.stop();
    }
  };
}

function stacksOf(facts: CoverageFacts): Readonly<Record<string, Stack>> {
  return Object.fromEntries(Object.entries(facts.run?.methods ?? {}).map(([name, one]) => [name, one.stack]));
}

/** What the code is good for: the studies that there are. */
export function codeOf({ studies, reps }: CoverageFacts): string {
  if (studies === 0) {
    return 'The code that simulates this';
  }
  return `The code that reproduces ${studies < reps ? `these ${number(studies)} studies` : 'this'}, to the bit`;
}

/** What the picture says, for who hears it. */
export function sentence(facts: CoverageFacts, at: number, now: number): string {
  const level = `${number(100 * facts.setup.level)} %`;
  if (now === 0) {
    return `Press Start: ${number(facts.reps)} studies are simulated, and intervals that claim ${level} are put to the test.`;
  }
  const found = facts.shown.flatMap(name => {
    const one = countsOf(facts, name, at, now);
    return one === null || one.studies === 0 ? [] : [missed(name, one.held, one.studies, facts.setup.level)];
  });
  const where = whereOf(facts, at);
  const words = [where, ...found, `${number(now)} studies, intervals that claim ${level}.`];
  return (where === '' ? [words.at(-1), ...found] : words).join(' ');
}
