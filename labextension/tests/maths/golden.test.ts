/** What the browser computes is what Python computes: both meet the cases that Python wrote; `page` is computed here alone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as budget from '../../src/maths/budget';
import * as clamp from '../../src/widgets/clamp/model';
import * as composition from '../../src/maths/composition';
import * as curve from '../../src/maths/curve';
import * as digits from '../../src/maths/digits';
import * as forecast from '../../src/maths/forecast';
import * as laws from '../../src/maths/laws';
import * as noiseSum from '../../src/maths/noise_sum';
import * as odds from '../../src/maths/odds';
import * as person from '../../src/maths/person';
import * as scale from '../../src/maths/scale';
import { wilson } from '../../src/widgets/coverage/shared_model';
import { remedies } from '../../src/widgets/plan/remedies';

interface Case {
  call: string;
  args: unknown[];
  want: unknown;
}

type Called = Record<string, (...args: never[]) => unknown>;

const FILES: Record<string, Called> = {
  budget,
  clamp: {
    errors: (values: number[], low: number, high: number, noise: number) =>
      clamp.errors(clamp.sorted(values), low, high, noise)
  },
  composition,
  coverage: { wilson },
  curve,
  digits,
  forecast,
  laws,
  noise_sum: noiseSum,
  odds,
  page: { ...scale, ...budget },
  person: { statistic: person.statistic, worst: person.worst },
  ways: { ways: remedies }
};

function expectClose(found: unknown, want: unknown, where: string): void {
  if (typeof want === 'number' && typeof found === 'number') {
    const far = Math.abs(found - want) > 1e-9 * Math.abs(want) + 1e-13;
    expect(far, `${where}: ${found} is not ${want}`).toBe(false);
  } else if (typeof want === 'object' && want !== null) {
    expect(Object.keys(found as object), where).toEqual(Object.keys(want));
    for (const [key, value] of Object.entries(want)) {
      expectClose((found as Record<string, unknown>)[key], value, where);
    }
  } else {
    expect(found, where).toBe(want);
  }
}

describe.each(Object.entries(FILES))('%s', (name, functions) => {
  const path = join(import.meta.dirname, '../../../tests/golden/maths', `${name}.json`);
  const cases = JSON.parse(readFileSync(path, 'utf-8')) as Case[];
  it.each([...new Set(cases.map(one => one.call))])('%s meets its golden cases', call => {
    for (const one of cases.filter(other => other.call === call)) {
      const found = functions[call]!(...(one.args as never[]));
      expectClose(found, one.want, `${call}(${JSON.stringify(one.args).slice(0, 200)})`);
    }
  });
});
