import { describe, expect, it } from 'vitest';
import { spokenAt } from '../../src/widgets/plan/spoken';

const RANK = (loss: number): string =>
  `rank within ± ${Number((15.22 / loss).toPrecision(4))} rows of the target`;
const said = [0.1, 0.178, 0.316, 0.562, 1].map(loss => [loss, RANK(loss)] as const);

describe('accuracy in words between two losses', () => {
  it('follows the true curve of a quantile, 15.22 / ε, and is no staircase', () => {
    for (let loss = 0.1; loss < 1; loss *= 1.03) {
      const told = Number(/± ([\d.]+)/.exec(spokenAt(said, loss)!)![1]);
      expect(told / (15.22 / loss)).toBeCloseTo(1, 3);
    }
  });
  it('is what the kernel said where the kernel said it', () => {
    expect(spokenAt(said, 0.316)).toBe(RANK(0.316));
    expect(spokenAt(said, 7)).toBe(RANK(1));
    expect(spokenAt(said, 0.05)).toBeNull();
    expect(spokenAt([], 1)).toBeNull();
  });
  it('leaves numbers that do not move, and keeps whole ones whole', () => {
    const words = (sd: string, rows: string): string =>
      `noise of sd ${sd} rows; needs about ${rows} rows (95 %)`;
    const moments = [
      [0.1, words('84.85', '8,000')],
      [0.4, words('21.21', '2,000')]
    ] as const;
    expect(spokenAt(moments, 0.2)).toBe(words('42.42', '4,000'));
  });
  it('says the smaller loss where the words change', () => {
    const changed = [
      [0.1, 'nothing can be said'],
      [0.4, 'about 3 bins']
    ] as const;
    expect(spokenAt(changed, 0.2)).toBe('nothing can be said');
  });
});
