/** ε ↔ ±: drag either, the other follows. Moving them spends nothing. */
import { number } from '../../maths/digits';
import { announcer, html, set, type Parts } from '../parts/dom';
import { dragState, type DragState } from '../parts/drag_state';
import { figures, head } from '../parts/layout';
import { lossWords, oddsWords } from '../parts/loss_words';
import { onAxis, onUpright, upright } from '../parts/on_axis';
import { releaseButton } from '../parts/release';
import { slider, type Slider } from '../parts/slider';
import { widget, type Link, type View } from '../parts/widget';
import {
  balanceAt,
  cellFor,
  lossOf,
  neighbours,
  peopleTyped,
  rangeOf,
  widthOf,
  widthsOf,
  written,
  type Balance,
  type SeesawFacts,
  type SeesawSet
} from './model';
import { axisOf, balancePlot, uprightOf } from './plot';

type Held = DragState<{ loss: number }>;

/** The two sliders, each on the axis that it moves and each of which moves the other. */
function sliders(held: Held, first: SeesawFacts, reach: (width: number) => void): [Slider, Slider] {
  const losses = slider({
    label: first.symbol,
    range: rangeOf(first),
    value: held.now.loss,
    input: loss => held.move({ loss }),
    change: held.tell
  });
  const widths = slider({
    label: '±',
    range: widthsOf(first),
    value: widthOf(first, held.now.loss),
    ends: ['narrower', 'wider'],
    write: value => written(first, value),
    input: reach,
    change: held.tell
  });
  return [losses, widths];
}

/** How many people a question is planned for, where their true number is private; and what is wrong. */
function sizePart(choose: (size: number) => void): Parts<[SeesawFacts]> {
  const size = html('input', {
    type: 'text',
    inputmode: 'numeric',
    'aria-label': 'number of people to plan with'
  });
  const words = ['planned for ', size, ' people: the true number is private'];
  const line = html('p', { class: 'soft say' }, ...words);
  const problem = html('p', { class: 'warn', role: 'status' });
  const plan = (): void => {
    const people = peopleTyped(size.value);
    set(size, { 'aria-invalid': people === null ? 'true' : null });
    problem.textContent = people === null ? 'The number of people is a whole number above 0.' : '';
    if (people !== null) {
      choose(people);
    }
  };
  size.addEventListener('change', plan);
  size.addEventListener('keydown', event => {
    if (event.key === 'Enter') {
      plan();
    }
  });
  return {
    nodes: [line, problem],
    show: facts => {
      const { planned, asked } = facts.size;
      line.hidden = !asked;
      if (document.activeElement !== size) {
        size.value = planned === null ? '' : number(planned);
      }
      problem.textContent = facts.problem;
    }
  };
}

/** The Release button, where the facts tell of a name; what to do where they do not. */
function releasePart(link: Link<SeesawFacts, SeesawSet>, held: Held): Parts<[Balance]> {
  const release = releaseButton(() => cellFor(link.facts(), held.now.loss) ?? '', true);
  const words = 'Give it a name, such as answer = …, to release it from here.';
  const unnamed = html('p', { class: 'soft' }, words);
  const here = link.facts().name !== undefined;
  return {
    nodes: here ? [html('div', { class: 'buttons' }, release.node), unnamed] : [],
    show: ({ cell, releases }) => {
      release.node.hidden = cell === null;
      release.allow(releases);
      unnamed.hidden = cell !== null;
    }
  };
}

/** The figures: ±, people where they can be told, and the loss with what it leaves. */
function figuresPart(first: SeesawFacts): Parts<[Balance]> {
  const accurate = first.people === null ? [] : ['as accurate as, without noise'];
  const told = figures('95 % privacy interval', ...accurate, '');
  return {
    nodes: [told.node],
    show: ({ named, people, price, left, fits }) => {
      const said = people === null ? [] : [people];
      told.say(named, ...said, price);
      told.note(1 + said.length, left, !fits);
      if (said.length > 0) {
        told.note(1, 'people asked without noise, if values were spread evenly');
      }
    }
  };
}

/** The see-saw without a title, for a place that has one; with a Release button where the facts tell of a name. */
export function balance(root: HTMLElement, link: Link<SeesawFacts, SeesawSet>): View {
  const first = link.facts();
  const held: Held = dragState(link, { loss: first.start }, () => show(), { loss: rangeOf(first) });
  const reach = (width: number): void => held.move({ loss: lossOf(link.facts(), width) });
  const plot = balancePlot(first, { loss: loss => held.move({ loss }), end: held.tell });
  const [losses, widths] = sliders(held, first, reach);
  const drawing = upright(plot.node);
  onAxis(losses, axisOf(first));
  const [told, odds] = [figuresPart(first), announcer()];
  const others = html('p', { class: 'soft' });
  const [size, release] = [sizePart(people => link.choose({ size: people })), releasePart(link, held)];
  root.append(
    ...[drawing, losses.node, widths.node, ...told.nodes],
    ...[odds, others, ...size.nodes, ...release.nodes]
  );

  function lay(): void {
    const facts = link.facts();
    plot.lay(facts);
    widths.reach(widthsOf(facts));
    onUpright(drawing, widths, uprightOf(facts));
    size.show(facts);
  }

  function show(): void {
    const facts = link.facts();
    const { loss } = held.now;
    const found = balanceAt(facts, loss);
    plot.show(facts, found);
    losses.show(loss);
    widths.show(found.width);
    told.show(found);
    release.show(found);
    odds.textContent = oddsWords(facts.kind, loss);
    others.textContent = neighbours(facts.register, loss);
    losses.words(lossWords(facts.kind, loss, found.named));
    widths.words(`${found.named} costs ${found.price}`);
  }

  lay();
  show();
  return {
    update: () => {
      lay();
      held.follow();
    },
    dispose: held.stop
  };
}

function seesawView(root: HTMLElement, link: Link<SeesawFacts, SeesawSet>): View {
  root.append(head('What accuracy costs', 'Nothing is spent.', link.facts().question));
  return balance(root, link);
}

export default widget(seesawView);
