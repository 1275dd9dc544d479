import { expect, it, vi } from 'vitest';
import {
  atOnce,
  Pricer,
  priceOf,
  READING,
  tagText,
  tagTitle,
  type Answer
} from '../../src/lab/kernel/pricer';

const priced = (more: Answer = {}): Answer => ({ status: 'priced', label: 'ε 0.75', message: '', ...more });

it('what cannot be read shows that only the plan can tell, and an answer that never came shows nothing', () => {
  expect(priceOf(priced()).text).toBe('ε 0.75');
  expect(priceOf({ status: 'unread', message: 'a while loop' })).toMatchObject({
    text: 'price: press Plan',
    sure: false
  });
  expect(priceOf({ status: 'error', message: 'no column' })).toMatchObject({
    text: 'would be refused: no column',
    why: 'no column',
    sure: false
  });
  expect(priceOf(null).text).toBe('');
});

it('what is stored of a cell is free and said so', () => {
  expect(priceOf(priced({ stored: 2, asked: 3, new: 'ε 0.25', left: '' })).text).toBe(
    'ε 0.75 · 2 stored, ε 0.25 new'
  );
  expect(priceOf(priced({ stored: 3, asked: 3, new: 'ε 0', left: '' }))).toMatchObject({
    text: 'ε 0.75 · stored, free',
    free: true
  });
  expect(priceOf(priced({ stored: 0, asked: 3, new: 'ε 0.75', left: '' })).text).toBe('ε 0.75');
  // a cell of public facts alone asks nothing of the store
  expect(priceOf(priced({ stored: 0, asked: 0, new: 'ε 0', left: '' })).free).toBe(false);
});

it('a price shows the ± that it buys, and what would be left', () => {
  const one = {
    label: 'collected',
    question: 'q',
    loss: 'ε 0.5',
    accuracy: '± 0.0014 for about 2,890 people'
  };
  const found = priceOf(priced({ questions: [one], stored: 0, asked: 1, left: '', after: 'ε 3.25' }));
  expect(found.text).toBe('± 0.0014 · ε 0.75 · ε 3.25 left after');
  expect(found.why).toBe('± 0.0014 for about 2,890 people.');
  expect(tagText('ε 0.75', found)).toBe('ε 0.75');
  const age = { label: 'age', accuracy: 'right to ± 3.2 % of people' };
  const many = [one, age, { ...one, label: 'third' }, { label: 'x', accuracy: 'depends on the data' }];
  expect(priceOf(priced({ questions: many })).text).toBe(
    'collected ± 0.0014, age ± 3.2 % of people, … · ε 0.75'
  );
  expect(priceOf(priced({ questions: many })).why).toContain('x: depends on the data.');
  const fit = { ...one, accuracy: '± 0.0012 to ± 0.071 of its coefficients for n = 4,820. If columns …' };
  expect(priceOf(priced({ questions: [fit] })).text).toBe('± 0.0012 to ± 0.071 · ε 0.75');
  const poor = { ...one, accuracy: 'unbounded coefficients in 92 % of simulated releases; epsilon=1.4 …' };
  expect(priceOf(priced({ questions: [poor] })).text).toBe('unbounded · ε 0.75');
  expect(priceOf(priced({ questions: 'no list' })).text).toBe('ε 0.75');
});

it('a price above what is left says what is left', () => {
  const found = priceOf(priced({ stored: 0, asked: 1, new: 'ε 0.75', left: 'ε 0.5' }));
  expect(found.text).toBe('ε 0.75 · only ε 0.5 left');
  expect(found.why).toContain('refused');
});

it('after a run a cell says what it paid, that its answers are stored, and what its text would cost since', () => {
  const free = priceOf(priced({ stored: 1, asked: 1, new: 'ε 0', left: '' }));
  const more = priceOf(priced({ stored: 1, asked: 2, new: 'ε 0.5', left: '' }));
  expect(tagText('', priceOf(null))).toBe('protected');
  expect(tagText('ε 0.75', free)).toBe('ε 0.75 · stored');
  expect(tagText('stored · ε 0', free)).toBe('stored · ε 0');
  expect(tagText('plan · nothing spent', free)).toBe('ε 0.75 · stored, free');
  expect(tagText('ε 0.75', priceOf(priced()))).toBe('ε 0.75');
  expect(tagText('ε 0.25', more)).toBe('ε 0.25 · now ε 0.75 · 1 stored, ε 0.5 new');
});

it('a cell that asks nothing says so, and while a price is read there is none', () => {
  const nothing = priceOf({ status: 'nothing', label: '', message: '' });
  expect(tagText('', nothing)).toBe('asks nothing');
  expect(nothing).toMatchObject({ free: false, sure: false });
  expect(tagText('', READING)).toBe('…');
  expect(tagText('ε 0.25', READING)).toBe('ε 0.25 · now …');
  expect(tagTitle('', READING)).toMatch(/being read/);
});

it('what half a word is refused for waits until the hand rests; what was not typed, or stands there already, does not', () => {
  const refused = priceOf({ status: 'error', message: 'no column' });
  expect(atOnce(refused, priceOf(priced()), true)).toBe(false);
  expect(atOnce(refused, priceOf(priced()), false)).toBe(true);
  expect(atOnce(refused, { ...refused }, true)).toBe(true);
  expect(atOnce(priceOf(priced()), refused, true)).toBe(true);
});

it('only of a cell that ran it is said that it paid', () => {
  const prices = [null, priced(), { status: 'nothing' }, { status: 'unread', message: 'a loop' }].map(
    priceOf
  );
  for (const price of [...prices, READING]) {
    expect(tagTitle('', price)).not.toMatch(/paid/);
    expect(tagTitle('plan · nothing spent', price)).toMatch(/^Its plan spent nothing/);
    expect(tagTitle('ε 0.25', price)).toMatch(/paid when it ran/);
  }
});

it('typing fast asks one question at a time, and shows the newest text its own answer', async () => {
  const waiting: { cell: string; answer: (found: Answer | null) => void }[] = [];
  const shown: (Answer | null)[] = [];
  const pricer = new Pricer(
    cell => new Promise(answer => waiting.push({ cell, answer })),
    answer => shown.push(answer)
  );
  const turn = (): Promise<void> => new Promise(done => setTimeout(done));
  for (const cell of ['a', 'ab', 'abc']) {
    pricer.want(cell, cell);
  }
  expect(waiting.map(one => one.cell)).toEqual(['a']);
  waiting[0]!.answer({ status: 'a' });
  await turn();
  expect(waiting.map(one => one.cell)).toEqual(['a', 'abc']);
  expect(shown).toEqual([]);
  waiting[1]!.answer({ status: 'abc' });
  await turn();
  expect(shown).toEqual([{ status: 'abc' }]);
  pricer.want('abc', 'abc');
  expect(waiting).toHaveLength(2);
  pricer.want('abc', 'another key');
  expect(waiting).toHaveLength(3);
  waiting[2]!.answer(null);
  await turn();
  expect(shown).toEqual([{ status: 'abc' }, null]);
});

it('what is stored is asked again, a few times, where a busy kernel could not tell it', async () => {
  vi.useFakeTimers();
  const told: (Answer | null)[] = [];
  let known = false;
  let asked = 0;
  const pricer = new Pricer(
    () => {
      asked += 1;
      return Promise.resolve(known ? priced({ stored: 1, asked: 1, new: 'ε 0' }) : priced());
    },
    answer => told.push(answer)
  );
  pricer.want('a', 'a');
  await vi.advanceTimersByTimeAsync(600);
  expect(asked).toBe(2);
  known = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toBe(3);
  expect(priceOf(told.at(-1)!).free).toBe(true);
  known = false;
  pricer.want('b', 'b');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toBe(8); // and then no more
  vi.useRealTimers();
});
