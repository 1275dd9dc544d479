/** Two noises: what privacy adds and what sampling adds; as dots, densities or running totals; and where they cross. */
import { number } from '../../maths/digits';
import { announcer, html } from '../parts/dom';
import { dragState, losses as lossSlider, type DragState } from '../parts/drag_state';
import { choice, figures, head } from '../parts/layout';
import { lossWords } from '../parts/loss_words';
import { onAxis } from '../parts/on_axis';
import { slider, type Slider } from '../parts/slider';
import { widget, type Link, type View } from '../parts/widget';
import { AXIS, crossingPicture } from './crossing';
import { errorPicture } from './errors';
import {
  alikeWords,
  crossingOf,
  effective,
  errorOf,
  nextOutcome,
  noisesAt,
  sentence,
  SIZES,
  type NoisesFacts,
  type NoisesSet,
  type Shape
} from './model';

const PACE = 700;

const SHAPES: readonly (readonly [Shape, string])[] = [
  ['dots', '100 equally likely errors each'],
  ['densities', 'densities'],
  ['totals', 'shares of errors below (CDF)']
];

/** Buttons that show other outcomes, one at a time or one after the other; where motion is unwelcome, one at a time alone. */
function player(
  another: () => void,
  playing: (on: boolean) => void
): { readonly node: HTMLElement; readonly dispose: () => void } {
  const next = html('button', { type: 'button' }, 'Show another outcome');
  next.addEventListener('click', another);
  const play = html('button', { type: 'button', 'aria-pressed': 'false' }, 'Play outcomes');
  let timer = 0;
  const turn = (on: boolean): void => {
    clearInterval(timer);
    timer = on ? window.setInterval(another, PACE) : 0;
    play.textContent = on ? 'Stop' : 'Play outcomes';
    play.setAttribute('aria-pressed', String(on));
    playing(on);
  };
  play.addEventListener('click', () => turn(timer === 0));
  const still = window.matchMedia('(prefers-reduced-motion: reduce)');
  const calm = (): void => {
    play.hidden = still.matches;
    if (still.matches) {
      turn(false);
    }
  };
  still.addEventListener('change', calm);
  calm();
  return {
    node: html('div', { class: 'buttons' }, play, next),
    dispose: () => {
      turn(false);
      still.removeEventListener('change', calm);
    }
  };
}

function sizeSlider(held: DragState<NoisesSet>): Slider {
  return slider({
    label: 'people',
    range: SIZES,
    value: held.now.n,
    ends: ['few people', 'many people'],
    write: value => number(Math.round(value)),
    input: value => held.move({ n: Math.round(value) }),
    change: held.tell
  });
}

export function noisesView(root: HTMLElement, link: Link<NoisesFacts, NoisesSet>): View {
  const { epsilon, n, question } = link.facts();
  const first: NoisesSet = { epsilon, n, shape: 'dots' };
  const held = dragState(link, first, () => show(), {
    epsilon: { low: 0.01, high: 10 },
    n: SIZES,
    shape: SHAPES.map(([shape]) => shape)
  });
  const { now } = held;
  let outcome = 0;
  const plot = errorPicture();
  const both = crossingPicture(size => held.move({ n: size }), held.tell);
  const told = figures(
    'as accurate as so many people without privacy noise',
    'people make both noises alike at this ε: n*'
  );
  const said = announcer();
  const [losses, sizes] = [lossSlider(() => held), sizeSlider(held)];
  onAxis(sizes, AXIS);
  const shapes = choice('drawn as', SHAPES, now.shape, shape => {
    held.move({ shape });
    held.tell();
  });
  const another = (): void => {
    outcome = nextOutcome(outcome);
    held.move({});
  };
  // a voice that reads every outcome aloud would never end
  const play = player(another, on => said.setAttribute('aria-live', on ? 'off' : 'polite'));
  root.append(
    head('Two noises', 'Nothing is spent.', question),
    ...[losses, both, sizes, told, shapes, plot].map(one => one.node),
    plot.keys,
    said,
    play.node
  );

  function show(): void {
    const facts = link.facts();
    const [noises, crossing] = [noisesAt(facts, now), crossingOf(facts, now.epsilon)];
    const error = errorOf(noises, outcome);
    const words = sentence(noises, error);
    plot.show(noises, now.shape, error);
    both.show(crossing);
    told.say(`${number(effective(noises))} of ${number(now.n)}`, alikeWords(crossing));
    said.textContent = words;
    plot.describe(words);
    losses.words(lossWords('epsilon', now.epsilon, words));
    sizes.words(`${number(now.n)} people: ${words}`);
    losses.show(now.epsilon);
    sizes.show(now.n);
    shapes.show(now.shape);
  }

  show();
  return {
    update: held.follow,
    dispose: () => {
      play.dispose();
      held.stop();
    }
  };
}

export default widget(noisesView);
