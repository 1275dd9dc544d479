/** What a hand holds: drawn once a frame while it moves, told when it lets go, in step with the other views. */
import type { Range } from '../../maths/scale';
import { eachFrame } from './dom';
import { slider, type Slider } from './slider';
import type { Link } from './widget';

export interface DragState<S> {
  readonly now: S;
  /** Move some of it: drawn with the next frame. */
  readonly move: (part: Partial<S>) => void;
  /** Let go: the kernel and the other views hear. */
  readonly tell: () => void;
  /** Take over what another view or the kernel set; not while this hand is moving. */
  readonly follow: () => void;
  readonly stop: () => void;
}

/** What a number lies between, or what a text is one of. */
type Allowed = Range | readonly string[];
type Ranges<S> = Partial<Record<keyof S, Allowed>>;

/** What was set where it is of the kind that it was, inside its range; else what stood there before. */
export function fitting<T>(before: T, set: unknown, allowed?: Allowed): T {
  if (typeof before === 'number') {
    return (Number.isFinite(set) ? inside(set as number, allowed) : before) as T;
  }
  if (Array.isArray(before)) {
    const good = Array.isArray(set) && set.length === before.length && set.every(one => Number.isFinite(one));
    return good ? ((set as number[]).map(one => inside(one, allowed)) as T) : before;
  }
  return typeof set === 'string' && (allowed as readonly string[]).includes(set) ? (set as T) : before;
}

function inside(value: number, allowed?: Allowed): number {
  const range = allowed as Range | undefined;
  return range === undefined ? value : Math.min(Math.max(value, range.low), range.high);
}

/** A hand over a view's numbers; what it held last is read from the model, and what is no such number is left out. */
export function dragState<S extends object>(
  link: Pick<Link<unknown, NoInfer<S>>, 'chosen' | 'choose'>,
  first: S,
  draw: () => void,
  ranges: Ranges<S> = {}
): DragState<S> {
  const now = { ...first };
  const frame = eachFrame(draw);
  let moving = false;
  const take = (part: Partial<S>): void => {
    for (const name of Object.keys(first) as (keyof S)[]) {
      if (part[name] !== undefined) {
        now[name] = fitting(now[name], part[name], ranges[name]);
      }
    }
  };
  take(first);
  take(link.chosen());
  return {
    now,
    move: part => {
      moving = true;
      take(part);
      frame.ask();
    },
    tell: () => {
      moving = false;
      link.choose({ ...now });
    },
    follow: () => {
      if (!moving) {
        take(link.chosen());
      }
      draw();
    },
    stop: frame.stop
  };
}

/** The ε that can be dragged. */
export const EPSILONS: Range = { low: 0.01, high: 10 };

/** The slider of the loss: logarithmic, with its ends in words. */
export function losses<S extends { epsilon: number }>(held: () => DragState<S>, range = EPSILONS): Slider {
  return slider({
    label: 'ε',
    range,
    value: held().now.epsilon,
    input: epsilon => held().move({ epsilon } as Partial<S>),
    change: () => held().tell()
  });
}
