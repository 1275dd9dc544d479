/** Declare: a form over the columns, drafted from names and types; the TOML that it makes, live, and made-up rows that fit. */
import { html, set, type Part } from '../parts/dom';
import { checkField } from '../parts/layout';
import { madeUpRows } from '../parts/scroll_region';
import { choiceField, textField, type Field } from './fields';
import {
  fieldsOf,
  wordsOf,
  type ColumnFields,
  type DatasetFields,
  type DepositFacts,
  type Form
} from './model';

/** What every step is: what it draws, and how it follows. */
export interface Step {
  readonly node: HTMLElement;
  readonly show: (facts: DepositFacts) => void;
  readonly dispose?: () => void;
}

/** The form. */
export interface FormHand {
  readonly form: () => Form;
  readonly setDataset: (part: Partial<DatasetFields>) => void;
  readonly setColumn: (name: string, part: Partial<ColumnFields>) => void;
}

const TYPES = [
  ['', 'choose …'],
  ['integer', 'whole number'],
  ['number', 'number'],
  ['category', 'one of a few values'],
  ['text', 'text that nobody listed'],
  ['date', 'date'],
  ['datetime', 'date and time']
] as const;

const SEEN = 'seen on data';

const EXAMPLES: Readonly<Record<string, readonly [string, string]>> = {
  date: ['2020-01-01', '2024-12-31'],
  datetime: ['2020-01-01 00:00', '2024-12-31 23:00']
};

function columnPart(
  name: string,
  hand: FormHand
): Part<[facts: DepositFacts, one: ColumnFields, unit: string]> {
  const put = (field: keyof ColumnFields) => (value: string) => hand.setColumn(name, { [field]: value });
  const fields: Readonly<Record<string, Field>> = {
    type: choiceField('type', TYPES, put('type')),
    lower: textField('lowest', put('lower')),
    upper: textField('highest', put('upper')),
    values: textField('values, with commas', put('values'), { example: '0, 1', long: true }),
    length: textField('most characters', put('length'), { example: '32' }),
    missing: textField('a missing one counts as', put('missing'), { example: 'left out' }),
    label: textField('what it is', put('label'), { long: true })
  };
  const use = checkField('can be asked about', on => hand.setColumn(name, { use: on ? 'yes' : 'no' }));
  const note = html('span', { class: 'soft' });
  const body = html('div', { class: 'fields' }, ...Object.values(fields).map(one => one.node));
  const top = html('legend', {}, html('code', {}, name));
  return {
    node: html('fieldset', { class: 'column' }, top, html('div', { class: 'top' }, use.node, note), body),
    show: (facts, one, unit) => {
      const mine = unit === name;
      use.show(one.use === 'yes' && !mine);
      use.node.hidden = mine;
      note.textContent = mine ? 'identifies the person; it is never asked about' : '';
      body.hidden = one.use !== 'yes' || mine;
      const has = fieldsOf(one.type);
      for (const part of ['lower', 'upper', 'values', 'length'] as const) {
        fields[part]!.node.hidden = !has.includes(part);
      }
      fields.missing!.node.hidden = one.type === 'text';
      const examples = EXAMPLES[one.type] ?? ['', ''];
      ['lower', 'upper'].forEach((part, i) =>
        set(fields[part]!.node.querySelector('input')!, { placeholder: examples[i]! })
      );
      for (const [part, field] of Object.entries(fields)) {
        field.show(one[part as keyof ColumnFields], body.hidden ? '' : wordsOf(facts, name, part));
      }
    }
  };
}

/** Whom the promise is about: the unit in words, and whether their number is public. */
function personPart({ form, texts }: DepositFacts, hand: FormHand): Step {
  const put = (field: keyof DatasetFields) => (value: string) => hand.setDataset({ [field]: value });
  const units = form.columns.map(({ name }) => [name, `the column ${name} identifies the person`] as const);
  const fields: Readonly<Record<string, Field>> = {
    unit: choiceField(
      'Whose row is it?',
      [['', 'choose …'], ['row', 'each row is another person'], ...units],
      put('unit')
    ),
    most: textField('Most rows one person can have', put('most'), {
      example: '3',
      help: html('span', { class: 'soft' }, texts.most)
    }),
    adjacency: choiceField(
      'Is the number of people public?',
      [
        ['add-remove', 'no: it stays private'],
        ['change-one', 'yes: it is published']
      ],
      put('adjacency')
    ),
    size: textField('How many there are', put('size'), { example: '4820' }),
    name: textField('Its name in a notebook', put('name')),
    title: textField('Title for readers', put('title'), { long: true }),
    pool: textField('Budget shared with', put('pool'), {
      example: 'nothing',
      help: html('span', { class: 'soft' }, texts.pool)
    })
  };
  return {
    node: html('div', { class: 'fields' }, ...Object.values(fields).map(one => one.node)),
    show: facts => {
      const { dataset } = hand.form();
      fields.most!.node.hidden = dataset.unit === '' || dataset.unit === 'row';
      fields.size!.node.hidden = dataset.adjacency !== 'change-one';
      for (const [part, field] of Object.entries(fields)) {
        field.show(dataset[part as keyof DatasetFields], wordsOf(facts, '', part));
      }
    }
  };
}

export function declareStep(first: DepositFacts, hand: FormHand): Step {
  const { texts } = first;
  const person = personPart(first, hand);
  const seen = checkField(texts.seen, on => hand.setDataset({ bounds: on ? SEEN : '' }));
  const columns = new Map(first.form.columns.map(({ name }) => [name, columnPart(name, hand)] as const));
  const whole = html('p', { class: 'warn', role: 'alert' });
  const toml = html('code', {});
  const made = html('div', {});
  const file = html(
    'pre',
    { class: 'toml', tabindex: 0, role: 'region', 'aria-label': 'the declaration as TOML' },
    toml
  );
  const beside = html(
    'aside',
    {},
    html('h4', {}, first.declaration),
    file,
    html('h4', {}, 'Made-up rows'),
    made
  );
  let drawn = '';
  return {
    node: html(
      'div',
      { class: 'two' },
      html(
        'div',
        {},
        html('h4', {}, 'Who is protected'),
        person.node,
        html('h4', {}, 'Columns'),
        html('p', { class: 'soft' }, texts.bounds),
        seen.node,
        whole,
        ...[...columns.values()].map(one => one.node)
      ),
      beside
    ),
    show: facts => {
      person.show(facts);
      seen.show(hand.form().dataset.bounds === SEEN);
      const { columns: now, dataset } = hand.form();
      now.forEach(one => columns.get(one.name)?.show(facts, one, dataset.unit));
      whole.textContent = wordsOf(facts, '', 'columns');
      toml.textContent = facts.toml;
      const rows = JSON.stringify(facts.rows);
      if (rows !== drawn) {
        drawn = rows;
        made.replaceChildren(
          ...(facts.rows.length === 0
            ? [html('p', { class: 'soft' }, texts.rows)]
            : [html('p', { class: 'soft' }, texts.fit), madeUpRows(facts.rows, 'rows')])
        );
      }
    }
  };
}
