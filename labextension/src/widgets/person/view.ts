/** Drag one person: what one row can do to a statistic, and the noise that hides it. Teaching arrays only. */
import { number, significant } from '../../maths/digits';
import { moved, type People } from '../../maths/person';
import { announcer, html } from '../parts/dom';
import { dragState, losses as lossSlider } from '../parts/drag_state';
import { choice, figures, head, type Figures } from '../parts/layout';
import { lossWords } from '../parts/loss_words';
import { draggable } from '../parts/pointer';
import { widget, type Link, type View } from '../parts/widget';
import { nearest, peoplePicture, pointAt } from './drawing';
import {
  changeOf,
  changeWords,
  KINDS,
  largestMoves,
  NAMES,
  put,
  sensitivityWords,
  sentence,
  startOf,
  stepOf,
  uprightWords,
  type PersonFacts,
  type PersonSet
} from './model';

const LOSSES = { low: 0.1, high: 10 };
const ARMS = { low: 0, high: 1 };

function button(label: string, pressed: () => void, about: Record<string, string> = {}): HTMLElement {
  const node = html('button', { type: 'button', ...about }, label);
  node.addEventListener('click', pressed);
  return node;
}

/** The table as dragged: who is chosen, and how somebody is moved. */
function tableUnderHand(link: Link<PersonFacts, PersonSet>, draw: () => void) {
  const held = dragState(link, startOf(link.facts()), draw, {
    epsilon: LOSSES,
    kind: KINDS.map(([kind]) => kind),
    arms: ARMS,
    scores: ARMS
  });
  let person = 0;
  const lay = ({ values, arms, scores }: People): void =>
    held.move({ values: [...values], arms: [...arms], scores: [...scores] });
  const choose = (next: number): void => {
    if (next !== person) {
      lay(link.facts()); // one person elsewhere, everybody else where they were
      person = next;
    }
  };
  const place = (value: number, upward: { readonly score?: number; readonly arm?: number }): void =>
    lay(put(link.facts(), held.now, person, value, upward));
  return { held, person: () => person, lay, choose, place };
}

function report(told: Figures, words: string, most: string, facts: PersonFacts, { kind }: PersonSet): void {
  told.say(words, most, sensitivityWords(facts, kind));
  told.note(0, `the ${NAMES[kind]} moved by`);
  told.note(1, 'the most that anybody here can move it');
}

function personView(root: HTMLElement, link: Link<PersonFacts, PersonSet>): View {
  const { held, person, lay, choose, place } = tableUnderHand(link, () => show());
  const { now } = held;
  let largest = largestMoves(link.facts());
  const key = (across: number, up: number): void => {
    const step = stepOf(link.facts(), now, person(), across, up);
    if ('person' in step) {
      choose(step.person);
    } else {
      place(step.value, step.upward);
    }
    held.tell();
  };
  const plot = peoplePicture(key);
  const told = figures('', '', 'the most that anybody can move it in any table: the sensitivity');
  const said = announcer();
  const upright = html('p', { class: 'soft' });
  const losses = lossSlider(() => held, LOSSES);
  const kinds = choice('statistic', KINDS, now.kind, kind => {
    held.move({ kind });
    held.tell();
  });
  const worst = (): void => {
    const found = largest(now.kind);
    choose(found.person);
    lay(moved(link.facts(), found.person, found.to, found.arm, found.score));
    held.tell();
  };
  const back = (): void => {
    lay(link.facts());
    held.tell();
  };
  root.append(
    head('Drag one person', `${number(link.facts().values.length)} made-up or public people`),
    ...[kinds.node, upright, plot.node, told.node, losses.node, said],
    html(
      'div',
      { class: 'buttons' },
      button('Show the worst case', worst, { class: 'strong' }),
      button('Put everybody back', back)
    )
  );
  draggable(plot.node, {
    start: (at, height) => {
      const found = nearest(link.facts(), now, at, height);
      choose(found ?? person());
      return found !== null;
    },
    move: (at, height) => {
      const { value, upward } = pointAt(link.facts(), now, at, height);
      place(value, upward);
    },
    end: held.tell
  });

  function show(): void {
    const facts = link.facts();
    const change = changeOf(facts, now);
    const [words, name] = [changeWords(change.change), NAMES[now.kind]];
    plot.show(facts, now, person(), change);
    report(told, words, significant(Math.abs(largest(now.kind).change), 3), facts, now);
    upright.textContent = uprightWords(now.kind);
    said.textContent = sentence(facts, now, now.values[person()]!, change.change);
    const stands = change.to === null ? 'undefined' : number(change.to);
    plot.describe(`the ${name} is ${stands}, moved by ${words}. ${said.textContent}`);
    losses.words(lossWords('epsilon', now.epsilon, said.textContent));
    losses.show(now.epsilon);
    kinds.show(now.kind);
  }

  show();
  return {
    update: () => {
      largest = largestMoves(link.facts());
      held.follow();
    },
    dispose: held.stop
  };
}

export default widget(personView);
