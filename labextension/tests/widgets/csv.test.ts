/** What leaves as a file: no text of a notebook's becomes a formula where it is opened. */
import { expect, it } from 'vitest';
import { csv, field } from '../../src/widgets/parts/ledger_rows';
import type { Charge } from '../../src/widgets/parts/session_state';

it.each([
  '=1+1',
  '+cmd',
  '-2+3',
  '@sum',
  '  =1',
  '\uFF1D1',
  '\u200b=1',
  '\0=1',
  '\ufeff +1+cmd',
  '=HYPERLINK("http://x")'
])('puts an apostrophe before %j', text => {
  expect(field(text).startsWith('"\'')).toBe(true);
  expect(field(text)).toBe(`"'${text.replaceAll('"', '""')}"`);
});

it.each(['-5', '+1.25', '-1e-9', '12', 'ε 0.5', 'a = b', "it's"])('leaves %j as it is', text => {
  expect(field(text)).toBe(`"${text}"`);
});

it('quotes every field, so that no text begins another one', () => {
  const row = {
    entry: 3,
    time: '2026-01-02T03:04:05',
    kind: 'charge',
    paid: 'ε 0.5',
    questions: ['a,"b"\r\n=c'],
    stored: true,
    note: '=note'
  } as unknown as Charge;
  expect(csv([row]).split('\r\n').slice(1).join('\r\n')).toBe(
    `"3","2026-01-02T03:04:05","charge","ε 0.5","a,""b""\r\n'=c","stored","'=note"`
  );
});

it.each([
  ['hiv[hiv.name == ";=1+1"]', 'hiv[hiv.name == ";\'=1+1"]'],
  ['\t=1', "'\t'=1"],
  ['\r=1', "'\r'=1"],
  ['\n=1', "'\n'=1"],
  ['a;\t +cmd', "a;\t '+cmd"],
  ['a\r\n@b', "a\r\n'@b"],
  ['a;"=1', 'a;"\'=1'],
  ['count(); sum()', 'count(); sum()']
])('where cells are parted by semicolons, %j has no formula either', (text, safe) => {
  expect(field(text)).toBe(`"${safe.replaceAll('"', '""')}"`);
});

it('a text of gaps alone is read once, not once for each of its places', () => {
  const gaps = `a;${'\n'.repeat(500_000)}`; // half an hour, where every gap reads all that follow it
  expect(field(gaps)).toBe(`"${gaps}"`);
  expect(field(`${gaps}=1`)).toBe(`"${gaps}'=1"`);
});
