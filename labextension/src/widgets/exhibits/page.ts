/** One exhibit as a page: the claim, two neighbours, the break, the repair. */
import { number } from '../../maths/digits';
import { html, svg, type Child } from '../parts/dom';
import { scrolling } from '../parts/scroll_region';
import type { Finding, Page } from './facts';

/** Everything above the lever, and everything below it. */
export function pageView(page: Page, heading: HTMLElement, lever: HTMLElement): HTMLElement[] {
  return [
    html('div', { class: 'head' }, heading, html('span', { class: 'badge' }, page.theme)),
    html(
      'div',
      { class: 'two' },
      part('The claim', html('p', { class: 'claim' }, page.claim), html('p', { class: 'soft' }, page.source)),
      part('Two neighbours', ...neighbours(page))
    ),
    part(
      'The break',
      bars(page.published),
      html('p', {}, `${sentence(page.how)} ${page.why}`),
      event(page),
      lever,
      html('p', { class: 'soft' }, page.exact ? 'Computed from the laws.' : 'Simulated, with a fixed seed.')
    ),
    html(
      'div',
      { class: 'two' },
      part(
        'The repair',
        html('p', {}, page.correction),
        bars(page.corrected),
        html('p', { class: 'soft' }, `Its price: ${page.cost}`)
      ),
      typed(page)
    ),
    more(page)
  ];
}

function part(title: string, ...children: Child[]): HTMLElement {
  return html('section', {}, html('h4', {}, title), ...children);
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** Claimed and actual, as two bars with their numbers. */
function bars(finding: Finding): HTMLElement {
  const line = (name: string, i: 0 | 1, fill: string, mark: string): HTMLElement =>
    html(
      'tr',
      {},
      html('th', { scope: 'row' }, name),
      html(
        'td',
        {},
        svg(
          'svg',
          { viewBox: '0 0 400 14', preserveAspectRatio: 'none', height: 14, 'aria-hidden': 'true' },
          svg('path', { class: 'room', d: 'M0 1H400V13H0Z' }),
          svg('path', { class: fill, d: `M0 1H${Math.max(400 * finding.shares[i], 2)}V13H0Z` })
        )
      ),
      html('td', { class: 'num' }, mark, html('strong', {}, finding.words[i]))
    );
  const sense = finding.sense === 'at most' ? 'claimed' : `claimed, ${finding.sense}`;
  return html(
    'table',
    { class: 'bars', 'aria-label': finding.text },
    html(
      'tbody',
      {},
      line(`${finding.unit} ${sense}`, 0, 'used', ''),
      line('actual', 1, finding.kept ? 'pv' : 'warn-fill', finding.kept ? '✓ ' : '✕ ')
    )
  );
}

function neighbours(page: Page): HTMLElement[] {
  const said = page.neighbours.map((text, i) => html('p', {}, html('strong', {}, `${'AB'[i] ?? ''} `), text));
  if (page.rows === null) {
    return said;
  }
  const line = (side: 0 | 1): HTMLElement =>
    html(
      'tr',
      {},
      html('th', { scope: 'row' }, 'AB'[side] ?? ''),
      ...page.rows!.rows.map(row =>
        row[2]
          ? html('td', { class: 'differs' }, html('strong', {}, row[side] === '' ? '–' : row[side]))
          : html('td', {}, row[side])
      )
    );
  const words = [page.rows.columns, page.left_out].filter(text => text !== '').join('; ');
  return [
    ...said,
    scrolling('both datasets', html('table', { class: 'rows' }, html('tbody', {}, line(0), line(1)))),
    html('p', { class: 'soft' }, words)
  ];
}

/** The event that tells both apart: how many of a thousand answers show it. */
function event(page: Page): HTMLElement | null {
  if (page.event === null) {
    return null;
  }
  const [words, ...counts] = page.event;
  return html(
    'p',
    {},
    `In ${number(counts[0])} of 1,000 answers under A, and in ${number(counts[1])} of 1,000 under B, `,
    html('strong', {}, words),
    '.'
  );
}

function typed(page: Page): HTMLElement {
  const copy = html('button', { type: 'button' }, 'Copy');
  const done = html('span', { class: 'soft', role: 'status' });
  copy.addEventListener('click', () => {
    void navigator.clipboard.writeText(page.cell).then(
      () => (done.textContent = 'Copied.'),
      () => (done.textContent = 'The browser does not let this page copy; select the text.')
    );
  });
  return part(
    'In dpnb, type',
    html('pre', {}, html('code', { class: 'cell' }, page.cell)),
    html('div', { class: 'buttons' }, copy, done),
    html('p', { class: 'soft' }, 'after ', html('code', {}, 'hiv = dpnb.open("hiv")'))
  );
}

function more(page: Page): HTMLElement {
  return html(
    'details',
    {},
    html('summary', {}, 'More figures'),
    html(
      'table',
      {},
      html(
        'tbody',
        {},
        ...page.more.map(([name, text]) =>
          html('tr', {}, html('th', { scope: 'row' }, name), html('td', {}, text))
        ),
        html(
          'tr',
          {},
          html('th', { scope: 'row' }, 'this page'),
          html('td', {}, html('code', {}, `%dp exhibits ${page.name}`))
        )
      )
    )
  );
}
