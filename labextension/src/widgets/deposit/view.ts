/** A deposit in four steps: declare a file, choose a budget, pick what is published, open or close. */
import { html } from '../parts/dom';
import { head } from '../parts/layout';
import { widget, type Link, type View } from '../parts/widget';
import { SILENT } from './act';
import { budgetStep } from './budget';
import { declareStep, type FormHand, type Step } from './declare';
import { endStep } from './end';
import { lacking, stepOf, STEPS, type DepositFacts, type DepositSet, type Form } from './model';
import { picksStep } from './picks';

type DepositLink = Link<DepositFacts, DepositSet>;

/** The form: what was typed last, whether or not the kernel has heard it. */
function formHand(link: DepositLink): FormHand {
  const form = (): Form => link.chosen().form ?? link.facts().form;
  return {
    form,
    setDataset: part => link.choose({ form: { ...form(), dataset: { ...form().dataset, ...part } } }),
    setColumn: (name, part) =>
      link.choose({
        form: {
          ...form(),
          columns: form().columns.map(one => (one.name === name ? { ...one, ...part } : one))
        }
      })
  };
}

interface Frame {
  readonly steps: HTMLElement;
  readonly why: HTMLElement;
  readonly done: HTMLElement;
  readonly back: HTMLButtonElement;
  readonly next: HTMLButtonElement;
}

/** What stands around every step: the title, the steps, what is lacking, what was written, and the way back and on. */
function frame(root: HTMLElement, file: string, bodies: readonly HTMLElement[]): Frame {
  const steps = html('ol', { class: 'steps' });
  const [why, done] = [
    html('p', { class: 'say', role: 'status' }),
    html('p', { class: 'soft', role: 'status' })
  ];
  const back = html('button', { type: 'button' }, 'Back');
  const next = html('button', { type: 'button', class: 'strong' }, 'Next');
  root.classList.add('deposit');
  root.append(
    head(`Deposit ${file}`, 'no row is read here'),
    steps,
    ...bodies,
    ...[why, done, html('div', { class: 'buttons' }, back, next)]
  );
  return { steps, why, done, back, next };
}

/** Write the declaration; what the kernel says of it, and whether it is written. */
async function declared(link: DepositLink): Promise<{ readonly words: string; readonly written: boolean }> {
  const { said, problem } = ((await link.ask?.({ ask: 'declare' })) ?? {}) as {
    readonly said?: unknown;
    readonly problem?: unknown;
  };
  if (typeof said === 'string') {
    const check = `dpnb admin check ${link.facts().declaration}`;
    return {
      words: `${said} To check your file against it, for your eyes only: ${check} in a terminal.`,
      written: true
    };
  }
  const words = typeof problem === 'string' ? problem : SILENT;
  return { words, written: false };
}

function depositView(root: HTMLElement, link: DepositLink): View {
  const first = link.facts();
  const hand = formHand(link);
  const choose = (part: Partial<DepositSet>): void => {
    link.choose(part);
    show();
  };
  const parts: readonly Step[] = [
    declareStep(first, hand),
    budgetStep(first, { ...link, ...hand, choose }),
    picksStep(link, choose),
    endStep(link, choose)
  ];
  const bodies = parts.map(one => html('div', { class: 'screen' }, one.node));
  const { steps, why, done, back, next } = frame(root, first.file, bodies);
  const at = (): number => stepOf(link.chosen());

  const go = (to: number): void => {
    choose({ step: to });
    bodies[at()]!.querySelector<HTMLElement>('input, select, button')?.focus();
  };
  const onwards = async (): Promise<void> => {
    const { words, written } = at() === 1 ? await declared(link) : { words: '', written: true };
    done.textContent = words;
    if (written) {
      go(at() + 1);
    }
  };
  back.addEventListener('click', () => go(at() - 1));
  next.addEventListener('click', () => {
    if (lacking(link.facts(), at()) === '') {
      void onwards();
    }
  });

  function show(): void {
    const [facts, now] = [link.facts(), at()];
    steps.replaceChildren(
      ...STEPS.map((name, i) => html('li', { 'aria-current': i === now ? 'step' : null }, name))
    );
    bodies.forEach((body, i) => (body.hidden = i !== now));
    parts[now]!.show(facts);
    why.textContent = facts.problem === '' ? lacking(facts, now) : facts.problem;
    back.disabled = now === 0;
    next.hidden = now === STEPS.length - 1;
    next.disabled = why.textContent !== '';
  }

  show();
  return { update: show, dispose: () => parts.forEach(one => one.dispose?.()) };
}

export default widget(depositView);
