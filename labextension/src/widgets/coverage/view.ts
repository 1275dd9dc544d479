/** The coverage lab: intervals of simulated studies stack up, misses are marked, and each method's coverage runs along. */
import { number } from '../../maths/digits';
import { codeBox } from '../parts/code_box';
import { announcer, button, eachFrame, html, sayCode, type Parts } from '../parts/dom';
import { fold, head as titleOf } from '../parts/layout';
import { scrolling } from '../parts/scroll_region';
import { widget, type Link, type View } from '../parts/widget';
import { sharedPart } from './shared';
import { arraysOf } from './shared_model';
import { controls } from './controls';
import { runningPicture, WIDE } from './curves';
import type { CoverageFacts, CoverageSet } from './facts';
import { reachOf, stack } from './intervals';
import { showSamples } from './looks';
import { begunAnew, buttonsOf, codeOf, isDone, nextOf, sentence, startOf, takeIn } from './model';
import { sweepPicture } from './sweep';
import { head, sentences, table, whereOf } from './table';
import { why } from './why';

const LATE_MS = 4000;
const LATE =
  'No answer from the kernel yet: it is running a cell, or has ended. This continues when the kernel is free.';
const GONE = 'The kernel has ended, and its simulation with it. This picture no longer changes.';
const PALE = 'Pale: results before the last change.';
const NONE = 'Nothing can be simulated on this page: run the cell in a notebook.';

/** A part of the lab; `at` is where the cursor of a sweep stands. */
type LabPart = Parts<[facts: CoverageFacts, at: number]>;

/** The simulation itself: asks for studies while it goes on. */
interface Simulation {
  readonly late: HTMLElement;
  readonly play: ReturnType<typeof startOf>;
  readonly gone: () => boolean;
  readonly toggle: () => void;
  readonly cancel: () => void;
  readonly update: () => void;
  readonly stop: () => void;
}

/** The warning that no answer comes, and the clock that brings it. */
function lateness(
  began: boolean,
  ask: () => void
): { node: HTMLElement; wait: () => void; stop: () => void; say: (words: string) => void } {
  const node = html('p', { class: 'warn', role: 'status', hidden: '' }, LATE);
  let watchdog = 0;
  const stop = (): void => clearTimeout(watchdog);
  const say = (words: string): void => {
    stop();
    node.textContent = words || node.textContent;
    node.hidden = words === '';
  };
  return {
    node,
    stop,
    say,
    wait: () => {
      stop();
      watchdog = window.setTimeout(
        () => {
          say(began ? LATE : NONE);
          ask();
        },
        began ? LATE_MS : LATE_MS / 4
      );
    }
  };
}

function simulation(link: Link<CoverageFacts, CoverageSet>, ask: () => void): Simulation {
  const play = startOf(link.facts(), link.chosen());
  /** Whether there ever was a kernel to ask. */
  const began = link.alive?.() !== false;
  const late = lateness(began, ask);
  let gone = false;
  const pull = (): void => {
    play.asked = Math.max(play.asked, link.facts().pulled) + 1;
    late.wait();
    link.choose({ pull: play.asked });
  };
  const again = (): void => {
    play.reset += 1;
    link.choose({ reset: play.reset });
  };
  const onward = (): void => {
    const next = nextOf(play, link.facts());
    if (next === 'end') {
      play.going = false;
      ask();
    } else if (next === 'ask') {
      pull();
    }
  };
  return {
    late: late.node,
    play,
    gone: () => gone,
    toggle: () => {
      play.going = !play.going;
      if (play.going && isDone(link.facts())) {
        again();
      }
      ask();
      onward();
    },
    cancel: () => {
      play.going = false;
      again();
      ask();
    },
    update: () => {
      if (began && link.alive?.() === false) {
        [gone, play.going] = [true, false];
        late.say(GONE);
      }
      const facts = link.facts();
      if (facts.pulled >= play.asked && !gone) {
        late.say('');
      }
      const again = begunAnew(play, facts) && !gone;
      takeIn(play, facts);
      play.going ||= again;
      ask();
      onward();
    },
    stop: () => {
      play.going = false;
      late.stop();
    }
  };
}

/** Start and cancel, and how far it is. */
function runPart({ play, gone, toggle, cancel }: Simulation): LabPart {
  const start = button('Start', toggle, { class: 'strong' });
  const stop = button('Cancel', cancel, { title: 'discards what was simulated so far' });
  const bar = html('progress', { max: 1, value: 0, 'aria-label': 'studies simulated' });
  const count = html('span', { class: 'soft' });
  return {
    nodes: [html('div', { class: 'buttons' }, start, stop, bar, count)],
    show: facts => {
      const { studies } = facts;
      const words = buttonsOf(play, facts);
      start.textContent = words.start;
      start.disabled = gone();
      stop.textContent = words.cancel;
      stop.disabled = gone() || (studies === 0 && !play.going);
      bar.value = studies / facts.reps;
      count.textContent = `${number(studies)} of ${number(facts.reps)} studies, seed ${facts.setup.seed}`;
    }
  };
}

const LEGEND = '│ the truth, ─ contains it, ✕ misses it; the last 40 studies, newest below';

/** The running coverage of all methods, and the key of its lines. */
function runningPart(): LabPart {
  const plot = runningPicture('running coverage', WIDE);
  const key = html('p', { class: 'key' });
  return {
    nodes: [html('div', {}, plot.node, key)],
    show: ({ run, shown, studies, reps, setup }) => {
      const found = shown.map(name => {
        const trail = run?.methods[name]?.trail ?? [];
        return { name, points: trail.map(([x, share, low, high]) => ({ x, share, low, high })) };
      });
      const known = found.filter(one => one.points.length > 0);
      plot.show(known, endOf(studies, reps), setup.level);
      showSamples(key, shown);
    }
  };
}

/** Where the axis of the studies ends: at all where they are few, and otherwise at a round number that they have not passed. */
function endOf(now: number, reps: number): number {
  const rounds = [1, 2, 5]
    .flatMap(digit => [4, 5, 6].map(power => digit * 10 ** power))
    .sort((a, b) => a - b);
  return Math.min(reps, rounds.find(end => end >= now) ?? reps);
}

/** The studies one by one: their intervals, the running coverage, and why intervals miss. */
function studiesPart(): LabPart {
  const stacks = html('div', { class: 'stacks' });
  const [curve, reasons] = [runningPart(), why()];
  const node = html(
    'div',
    {},
    stacks,
    html('p', { class: 'soft' }, LEGEND),
    html('h4', { class: 'say' }, 'Running coverage, with its 95 % Wilson band'),
    ...curve.nodes,
    reasons.node
  );
  let drawn: unknown = null;
  return {
    nodes: [node],
    show: (facts, at) => {
      const { run, shown, studies } = facts;
      node.hidden = run === null || (studies === 0 && facts.shared !== null);
      if (run === null || drawn === facts) {
        return;
      }
      drawn = facts;
      const reach = reachOf(shown.map(name => run.methods[name]?.stack ?? []));
      const rows = shown.flatMap(name => run.rows.filter(row => row.name === name));
      stacks.replaceChildren(...rows.map(row => stack(row, run.methods[row.name]?.stack ?? [], reach)));
      curve.show(facts, at);
      reasons.show(run, facts);
    }
  };
}

/** What was found, in sentences; heard as one when it rests. */
function findingsPart(play: Simulation['play']): LabPart {
  const said = announcer();
  const where = html('p', { class: 'say' });
  const told = html('ul', { class: 'told' });
  const charge = html('p', { class: 'say' });
  return {
    nodes: [said, where, told, charge],
    show: (facts, at) => {
      where.textContent = facts.studies === 0 ? '' : whereOf(facts, at);
      where.hidden = where.textContent === '';
      told.replaceChildren(...sentences(facts, at));
      charge.textContent = facts.charge;
      charge.hidden = facts.charge === '';
      if (play.going) {
        return; // told when it rests, not with every block
      }
      const words = sentence(facts, at);
      if (said.textContent !== words) {
        said.textContent = words;
      }
      said.classList.toggle('hidden', facts.studies > 0); // seen as a list, heard as one sentence
    }
  };
}

/** The coverage of each method in numbers, and beside the published ones. */
function tablePart(): LabPart {
  const [top, rows] = [html('thead'), html('tbody')];
  const print = html('ul', { class: 'told' });
  return {
    nodes: [scrolling('coverage of each method', html('table', {}, top, rows)), print],
    show: (facts, at) => {
      top.replaceChildren(head(facts));
      rows.replaceChildren(...table(facts, at));
      print.hidden = facts.beside.length === 0;
      print.replaceChildren(...facts.beside.map(words => html('li', {}, words)));
    }
  };
}

/** Opens a fold once for each view that has something to show there, and nowhere else. */
function opener(place: HTMLDetailsElement): (alone: boolean, facts: CoverageFacts) => void {
  let opened = '';
  return (alone, { view, studies }) => {
    const needed = alone && (view !== 'studies' || studies > 0) ? view : '';
    place.open ||= needed !== opened && needed !== '';
    opened = needed;
  };
}

function coverageView(root: HTMLElement, link: Link<CoverageFacts, CoverageSet>): View {
  let answered = link.facts();
  const frame = eachFrame(() => show());
  const simulated = simulation(link, frame.ask);
  const heading = titleOf('Would this interval be right?', 'Simulated: nothing is spent.', answered.question);
  const shared = sharedPart({
    arrays: () => arraysOf(link.arrays?.()),
    follow: (loss, words) => hand.follow(loss, words),
    rested: loss => link.choose({ setup: { ...link.facts().setup, loss } }),
    more: reached => link.choose({ reached }),
    page: (of, page) => link.choose({ page: [of, page] }),
    alive: () => link.alive?.() !== false
  });
  const hand = controls(answered, chosen => link.choose(chosen), shared.move);
  const problem = html('p', { class: 'warn', role: 'status' });
  const before = html('p', { class: 'soft', role: 'status', hidden: '' }, PALE);
  /** The view in which there were studies. */
  let drawn = '';
  const [run, studies, found, numbers] = [
    runPart(simulated),
    studiesPart(),
    findingsPart(simulated.play),
    tablePart()
  ];
  const swept = sweepPicture(frame.ask, at => link.choose({ at }));
  const sweep = html('div', {}, swept.node);
  const code = codeBox(5);
  const tables = [...found.nodes, ...studies.nodes, sweep, ...numbers.nodes, code.node];
  const anew = fold('Simulate anew, with tables', ...run.nodes, ...tables);
  const [open, other] = [opener(anew), fold('Other choices', hand.node)];
  const first = [heading, hand.sentence(shared.method), shared.node, problem, simulated.late, before];
  root.append(...first, other, anew);

  function show(): void {
    const facts = link.facts();
    sayCode(heading.querySelector('code')!, facts.question);
    problem.textContent = facts.problem;
    code.show(facts.code, codeOf(facts));
    shared.show(facts);
    shared.method.hidden = shared.node.hidden;
    open(shared.node.hidden, facts);
    hand.stand(shared.slot, shared.range());
    run.show(facts, swept.at());
    const pale = facts.studies === 0 && drawn === facts.view;
    before.hidden = !pale;
    for (const one of [...studies.nodes, sweep, ...numbers.nodes]) {
      one.style.opacity = pale ? '0.4' : '';
    }
    if (pale) {
      return; // what was found before stays until there is something else
    }
    drawn = facts.studies > 0 ? facts.view : '';
    sweep.hidden = facts.sweep === null;
    if (facts.sweep !== null) {
      swept.show(facts.sweep, facts);
    }
    for (const part of [studies, found, numbers]) {
      part.show(facts, swept.at());
    }
  }

  show();
  link.choose({ shared: true }); // the first picture needs no Start
  return {
    update: () => {
      if (link.facts() !== answered) {
        // what the user just set stays until the kernel has answered
        answered = link.facts();
        hand.show(answered);
      }
      simulated.update();
    },
    dispose: () => {
      simulated.stop();
      shared.stop();
      frame.stop();
    }
  };
}

export default widget(coverageView);
