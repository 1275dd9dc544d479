/** Pre-release: statistics from a catalogue, how accurate each will be from public facts alone, and the split of the loss to drag. */
import { significant } from '../../maths/digits';
import { splitBar } from '../plan/split_bar';
import { announcer, button, coded, entered, html, svg, unique, type Part } from '../parts/dom';
import { integerField } from '../parts/integer_field';
import { dataTable } from '../parts/layout';
import { finder, matching } from '../parts/search';
import { slider } from '../parts/slider';
import type { Link } from '../parts/widget';
import { actButton } from './act';
import type { Step } from './declare';
import {
  equalised,
  keeping,
  nearness,
  pickedOf,
  pickedWords,
  toggled,
  type DepositFacts,
  type DepositSet,
  type Entry,
  type Picked
} from './model';

type DepositLink = Link<DepositFacts, DepositSet>;

/** A ± as a band around the middle of the whole of which it is a part. */
function band(entry: Entry, loss: number): HTMLElement {
  const { part, words } = nearness(entry, loss);
  const half = Math.min(50 * Math.min(2 * part, 1), 50);
  return html(
    'span',
    {},
    svg(
      'svg',
      { height: 14, role: 'img', 'aria-label': `${entry.name}: ${words}`, class: 'budget' },
      svg('rect', { x: 0, y: 2, width: '100%', height: 10, class: 'room' }),
      svg('rect', { x: `${50 - half}%`, y: 2, width: `${Math.max(2 * half, 0.6)}%`, height: 10, class: 'pv' })
    )
  );
}

type Row = Part<[picked: Picked]>;

function rowOf(entry: Entry, toggle: (name: string) => void): Row {
  const typed =
    entry.words === entry.text ? [] : [html('br'), html('code', { class: 'soft' }, ...coded(entry.text))];
  const box = html('input', { type: 'checkbox' });
  box.addEventListener('change', () => toggle(entry.name));
  box.disabled = entry.problem !== '';
  const [picture, words] = [html('td', {}), html('td', {})];
  const head = html(
    'th',
    { scope: 'row' },
    html('label', { class: 'check' }, box, html('span', {}, entry.words, ...typed))
  );
  return {
    node: html('tr', {}, head, picture, words),
    show: picked => {
      const at = picked.entries.findIndex(one => one.name === entry.name);
      const shares = [...picked.shares, 1 / (picked.entries.length + 1)];
      const loss = picked.loss * (at < 0 ? shares.at(-1)! : picked.shares[at]!);
      box.checked = at >= 0;
      words.textContent = entry.problem === '' ? nearness(entry, loss).words : entry.problem;
      words.className = entry.problem === '' ? (at < 0 ? 'soft' : '') : 'warn';
      picture.replaceChildren(...(entry.problem === '' ? [band(entry, loss)] : []));
    }
  };
}

/** The catalogue, with a field to find and one to type a further question. */
function cataloguePart(
  link: DepositLink,
  choose: (part: Partial<DepositSet>) => void
): Step & { readonly pick: (picked: Picked) => void } {
  const body = html('tbody');
  const find = finder('find a statistic', () => filter());
  const more = html('input', { type: 'text', id: unique('mine'), autocomplete: 'off', class: 'filling' });
  let [rows, drawn]: [readonly (readonly [Entry, Row])[], string] = [[], ''];
  const filter = (): void => {
    const seen = new Set(matching(rows, find.value, ([entry]) => `${entry.words} ${entry.text}`));
    rows.forEach(one => (one[1].node.hidden = !seen.has(one)));
  };
  const add = (): void => {
    if (more.value.trim() !== '') {
      choose({ typed: [...(link.chosen().typed ?? []), more.value.trim()] });
      more.value = '';
    }
  };
  entered(more, add);
  const toggle = (name: string): void => choose(toggled(pickedOf(link.facts(), link.chosen()), name));
  return {
    node: html(
      'div',
      {},
      html('p', { class: 'find' }, find),
      html(
        'div',
        { class: 'catalogue', tabindex: 0, role: 'region', 'aria-label': 'statistics to pick' },
        dataTable(['statistic', 'how accurate', '95 % of answers are within'], body, 'bars')
      ),
      html(
        'p',
        { class: 'say' },
        html('label', { for: more.id }, 'Another one, as it is typed in a notebook: '),
        more,
        ' ',
        button('Add', add)
      )
    ),
    show: facts => {
      const names = JSON.stringify(facts.catalogue.map(one => [one.name, one.text, one.curve]));
      if (names !== drawn) {
        drawn = names;
        rows = facts.catalogue.map(entry => [entry, rowOf(entry, toggle)] as const);
        body.replaceChildren(...rows.map(([, row]) => row.node));
        filter();
      }
    },
    pick: picked => rows.forEach(([, row]) => row.show(picked))
  };
}

/** How much is spent, and how it is split: sliders, dividers, two ready splits. */
function splitPart(
  link: DepositLink,
  choose: (part: Partial<DepositSet>) => void,
  moved: (picked: Picked) => void
): Part<[facts: DepositFacts, picked: Picked]> & { readonly dispose: () => void } {
  let now = pickedOf(link.facts(), link.chosen());
  const split = splitBar(
    true,
    shares => moved({ ...now, shares }),
    () => choose({ shares: [...now.shares] })
  );
  const losses = slider({
    label: 'spent on these, together',
    range: { low: 0.001, high: 10 },
    value: now.loss || 1,
    ends: ['less', 'all of the budget'],
    input: loss => moved({ ...now, loss }),
    change: loss => choose({ loss })
  });
  const even = button('Even out the relative ±', () => choose({ shares: equalised(now) }));
  const keep = button('Keep 20 %', () => choose({ loss: keeping(link.facts()) }));
  return {
    node: html('div', {}, losses.node, html('div', { class: 'buttons' }, even, keep), split.node),
    show: (facts, picked) => {
      now = picked;
      const { symbol, cap } = facts.budget;
      const lossOf = (i: number): number => picked.shares[i]! * picked.loss;
      split.show(
        picked.entries.map((one, i) => ({
          name: one.name,
          share: picked.shares[i]!,
          free: false,
          words: `${one.name} ${symbol} ${significant(lossOf(i), 3)}, ${nearness(one, lossOf(i)).words}`
        }))
      );
      split.node.hidden = picked.entries.length < 2;
      losses.reach({ low: Math.min(cap, 10) / 1000, high: cap || 1 });
      losses.show(picked.loss);
      losses.words(`${symbol} ${significant(picked.loss, 3)}: ${pickedWords(facts, picked)}`);
      even.disabled = picked.entries.length < 2;
    },
    dispose: split.dispose
  };
}

export function picksStep(link: DepositLink, choose: (part: Partial<DepositSet>) => void): Step {
  const said = announcer();
  const rows = integerField('About how many rows there are (for these pictures only)', [1, 1e9], value =>
    choose({ rows: value })
  );
  const catalogue = cataloguePart(link, choose);
  const split = splitPart(link, choose, picked => show(link.facts(), picked));
  const release = actButton('Release', 'release', link);
  const [known, again] = [html('p', { class: 'soft' }), html('p', { class: 'warn' })];

  function show(facts: DepositFacts, picked: Picked): void {
    const { length } = picked.entries;
    catalogue.pick(picked);
    split.show(facts, picked);
    said.textContent = pickedWords(facts, picked);
    const what = length === 1 ? 'this statistic' : `these ${length} statistics`;
    release.name(
      length === 0 ? 'Release' : `Release ${what} for ${facts.budget.symbol} ${significant(picked.loss, 3)}`
    );
    release.allow(length > 0 && picked.loss > 0);
  }

  return {
    node: html(
      'div',
      {},
      html('p', { class: 'say' }, link.facts().texts.near),
      ...[rows.node, known, catalogue.node, split.node, said, again, release.node]
    ),
    show: facts => {
      rows.show(facts.planned);
      rows.node.hidden = facts.public_size;
      known.textContent = facts.public_size ? '' : facts.texts.planned;
      again.textContent = facts.released ? facts.texts.again : '';
      catalogue.show(facts);
      show(facts, pickedOf(facts, link.chosen()));
    },
    dispose: split.dispose
  };
}
