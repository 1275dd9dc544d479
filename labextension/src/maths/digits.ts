/** Honest digits. Twin of `dpnb/cards/digits.py`: the same text for the same number. */

const MOST = 12;

/** A number with so many decimals; exact ties go to the even digit, as in Python. */
export function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  const twice = Math.abs(value) * 2 ** (decimals + 1);
  if (!Number.isInteger(twice)) {
    return text;
  }
  const scaled = Math.abs(value) * 10 ** decimals;
  if (Number.isInteger(scaled) || !Number.isInteger(2 * scaled)) {
    return text;
  }
  const below = Math.floor(scaled);
  const even = below % 2 === 0 ? below : below + 1;
  return ((Math.sign(value) * even) / 10 ** decimals).toFixed(decimals);
}

function grouped(text: string): string {
  const [whole = '', rest] = text.split('.');
  const commas = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return rest === undefined ? commas : `${commas}.${rest}`;
}

/** So many significant digits without trailing zeros: Python's `format(x, ".4g")`. */
export function significant(value: number, digits: number): string {
  if (value === 0) {
    return '0';
  }
  const [mantissa = '0', power = '0'] = value.toExponential(digits - 1).split('e');
  const exponent = Number(power);
  const bare = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  if (exponent < -4 || exponent >= digits) {
    const size = String(Math.abs(exponent)).padStart(2, '0');
    return `${bare}e${exponent < 0 ? '-' : '+'}${size}`;
  }
  const plain = fixed(value, Math.max(0, digits - 1 - exponent));
  return plain.includes('.') ? plain.replace(/\.?0+$/, '') : plain;
}

/** The decimals that show two significant digits of the smallest positive half-width, or null. */
export function decimalsFor(halfWidths: readonly (number | null)[]): number | null {
  const known = halfWidths.filter((w): w is number => w !== null && Number.isFinite(w) && w > 0);
  if (known.length === 0) {
    return null;
  }
  return Math.min(Math.max(0, 1 - Math.floor(Math.log10(Math.min(...known)))), MOST);
}

/** A number with so many decimals, or with four significant digits and every whole one from 1,000 on. */
export function number(value: number, decimals: number | null = null): string {
  if (Number.isNaN(value)) {
    return 'undefined';
  }
  if (!Number.isFinite(value)) {
    return value > 0 ? 'unbounded' : '-unbounded';
  }
  let text: string;
  if (decimals === null) {
    const size = Math.abs(value);
    const whole = size < 1e15 && (size >= 999.5 || Number.isInteger(value));
    text = whole ? grouped(fixed(value, 0)) : significant(value, 4);
  } else {
    text = grouped(fixed(value, decimals));
  }
  return text.startsWith('-') && !/[1-9e]/.test(text) ? text.slice(1) : text;
}

/** An interval: `0.433 to 0.494`. */
export function span(low: number, high: number, decimals: number | null = null): string {
  return `${number(low, decimals)} to ${number(high, decimals)}`;
}

/** A half-width with two significant digits. */
export function halfWidth(width: number): string {
  return number(width, decimalsFor([width]));
}

const FINEST = 6;

/**
 * A share in percent, rounded up with one decimal: a bound that is printed stays a bound. What is below all is never printed as 100 %:
 * it has as many decimals as it takes, up to six.
 */
export function atMostPercent(share: number): string {
  const tenths = Math.ceil(share * 1000 - 1e-9);
  if (tenths < 1000 || share >= 1) {
    return tenths % 10 === 0 ? `${tenths / 10} %` : `${(tenths / 10).toFixed(1)} %`;
  }
  for (let decimals = 2; decimals <= FINEST; decimals += 1) {
    const unit = 10 ** decimals;
    const parts = Math.ceil(share * 100 * unit - 1e-9);
    if (parts < 100 * unit) {
      return `${(parts / unit).toFixed(decimals)} %`;
    }
  }
  return 'nearly 100 %';
}

/** A number of people, rounded up; not all of them where it is none that is left out. */
export function atMostPeople(share: number, people: number): string {
  const many = Math.ceil(share * people - 1e-9);
  return many >= people && share < 1 ? `nearly ${grouped(String(people))}` : grouped(String(many));
}

/** How many times something is as large: with three digits, and nothing that needs powers of ten. */
export function manyTimes(value: number): string {
  return value >= 1e6
    ? 'more than a million'
    : value >= 1000
      ? number(Number(value.toPrecision(3)), 0)
      : significant(value, 3);
}

/** A loss as it is written: two significant digits are enough for a handle that is dragged. */
export function loss(value: number): string {
  return significant(value, 3);
}
