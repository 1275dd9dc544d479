import { describe, expect, it } from 'vitest';
import { caseAt, curveOf, inside, keyed, saysAt, type SentenceFacts } from '../../src/widgets/sentence/model';

const facts: SentenceFacts = {
  pieces: [
    { kind: 'words', words: 'At ε = ', which: 0 },
    { kind: 'number', words: '', which: 0 },
    { kind: 'words', words: ' of ', which: 0 },
    { kind: 'number', words: '', which: 1 },
    { kind: 'words', words: ': ', which: 0 },
    { kind: 'told', words: '', which: 0 }
  ],
  numbers: [
    { name: 'ε', values: ['0.1', '1', '10'], start: 1 },
    { name: 'n', values: ['20', '200'], start: 0 }
  ],
  told: [['a', 'b', 'c', 'd', 'e', 'f']],
  picture: { heights: [0, 0.1, 0.2, 0.3, 0.4, 7], ends: ['0', '1'], label: 'share' },
  problem: ''
};

describe('a sentence whose numbers drag', () => {
  it('says the case in which its numbers stand, the last number fastest', () => {
    expect(saysAt(facts, [1, 0])).toBe('At ε = 1 of 20: c');
    expect(saysAt(facts, [2, 1])).toBe('At ε = 10 of 200: f');
    expect(caseAt(facts, [0, 1])).toBe(1);
  });
  it('moves one number by keys, to its ends and no further', () => {
    expect(keyed(facts, [1, 0], 0, 'ArrowUp')).toEqual([2, 0]);
    expect(keyed(facts, [2, 0], 0, 'ArrowRight')).toEqual([2, 0]);
    expect(keyed(facts, [2, 1], 0, 'Home')).toEqual([0, 1]);
    expect(keyed(facts, [0, 0], 1, 'End')).toEqual([0, 1]);
    expect(keyed(facts, [0, 1], 1, 'PageDown')).toEqual([0, 0]);
    expect(keyed(facts, [0, 0], 1, 'a')).toBeNull();
  });
  it('keeps what a saved notebook says inside its stops', () => {
    expect(inside(facts, [7.6, -3])).toEqual([2, 0]);
    expect(inside(facts, [])).toEqual([1, 0]);
  });
  it('draws the curve of the number that is moved, inside its frame', () => {
    expect(curveOf(facts, [1, 1], 0)).toEqual([0.1, 0.3, 1]);
    expect(curveOf(facts, [1, 1], 1)).toEqual([0.2, 0.3]);
  });
});
