import { describe, expect, it } from 'vitest';
import { linesOf, release, waitingOf } from '../../src/lab/views/record';

const line = {
  name: 'm',
  question: 'hiv.got.mean()',
  paid: 'ε 0.5',
  entries: [{ key: '', value: 0.69712, privacy: [0.69, 0.705], confidence: [0.68, 0.71], n: 100, n_eff: 90 }],
  more: 0,
  unavailable: {},
  flags: [],
  mechanism: ['discrete Laplace, scale 4']
};

describe('the record of a release in words', () => {
  it('gives value and both intervals with the digits that the intervals bear', () => {
    const found = release({ format: 1, dataset: 'hiv', lines: [line] });
    expect(found?.title).toBe('Released from hiv');
    expect(found?.answers[0]?.rows[0]).toEqual({
      key: '',
      value: '0.6971',
      privacy: '0.6900 to 0.7050',
      confidence: '0.6800 to 0.7100'
    });
  });
  it('of one estimate has no dataset', () => {
    expect(release({ format: 1, ...line })?.answers[0]?.name).toBe('m');
  });
  it('says why an interval is missing, how many rows are not listed, and that an end is unbounded', () => {
    const entry = { key: 'a', value: null, privacy: [null, 3], confidence: null };
    const found = release({
      format: 1,
      ...line,
      entries: [entry],
      more: 7,
      unavailable: { confidence: 'a choice' },
      flags: ['arm too small']
    });
    const [answer] = found?.answers ?? [];
    expect(answer?.rows[0]).toMatchObject({
      value: 'undefined',
      privacy: '-unbounded to 3',
      confidence: '–'
    });
    expect(answer?.notes).toEqual([
      '… 7 more',
      'arm too small',
      'No confidence interval: a choice',
      'discrete Laplace, scale 4'
    ]);
  });
  it('that a stranger made without end is drawn in part, and says how much is not', () => {
    const entries = new Array(200_000).fill({ key: 'k'.repeat(3000), value: 1, privacy: [0, 2] });
    const flags = new Array(200_000).fill('x');
    const endless = { ...line, name: 'n'.repeat(100_000), entries, flags };
    const found = release({ format: 1, lines: new Array(20_000).fill(endless) });
    const answers = found?.answers ?? [];
    const rows = answers.flatMap(one => one.rows);
    expect(answers).toHaveLength(100);
    expect(rows).toHaveLength(1000);
    expect(answers[0]?.notes[0]).toBe('… 199000 more');
    expect(Math.max(...answers.map(one => one.notes.length))).toBe(50);
    expect([answers[0]?.name.length, rows[0]?.key.length]).toEqual([2001, 2001]);
  });
  it('that is none gives nothing', () => {
    for (const other of [
      null,
      3,
      'x',
      [],
      {},
      { format: 2, ...line },
      { format: 1 },
      { format: 1, lines: [{}] }
    ]) {
      expect(release(other)).toBeNull();
    }
  });
});

describe('the lines of a card that comes alive', () => {
  const lines = [{ ...line, releases: ['a', 'b'], again: 'ε' }, line];
  it('are those of its record, in order, with what their controls ask about', () => {
    expect(linesOf({ format: 1, lines })).toEqual([
      { name: 'm', question: 'hiv.got.mean()', releases: ['a', 'b'], again: 'ε' },
      { name: 'm', question: 'hiv.got.mean()', releases: [], again: '' }
    ]);
  });
  it('of one estimate is the record itself', () => {
    expect(linesOf({ format: 1, ...line, again: 'ρ' })?.[0]?.again).toBe('ρ');
  });
  it('have a control for a measure that is known, and for nothing else', () => {
    for (const again of [true, 1, 'epsilon', null, {}]) {
      expect(linesOf({ format: 1, ...line, again })?.[0]?.again).toBe('');
    }
  });
  it('are none where the record is pending, of another version, or wrong: the card stays still', () => {
    for (const other of [
      null,
      [],
      { format: 2, lines },
      { format: 1, lines: [{}] },
      { format: 1, lines: [3] },
      { format: 1, pending: true, question: 'x' }
    ]) {
      expect(linesOf(other)).toBeNull();
    }
  });
});

describe('the record of a question that waits', () => {
  const waits = { format: 1, question: 'hiv.got.mean()', pending: true, pays: 'ε', waiting: '0f' };
  it('has the key by which the kernel is asked, and none where there is nothing to balance', () => {
    expect(waitingOf(waits)).toEqual({ question: 'hiv.got.mean()', key: '0f' });
    expect(waitingOf({ ...waits, waiting: undefined })?.key).toBeNull();
    expect(waitingOf({ ...waits, waiting: 7 })?.key).toBeNull();
  });
  it('is no release, and a release is none that waits', () => {
    expect(linesOf(waits)).toBeNull();
    for (const other of [
      null,
      3,
      [],
      {},
      { ...waits, format: 2 },
      { ...waits, pending: 1 },
      { format: 1, ...line }
    ]) {
      expect(waitingOf(other)).toBeNull();
    }
  });
});
