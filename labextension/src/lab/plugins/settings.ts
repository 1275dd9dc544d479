/** What a person wants to see, from JupyterLab's settings: everything, until it is switched off. */
export interface Shown {
  /** The budget in the status bar. */
  readonly gauge: boolean;
  /** The price on a `%%dp` cell. */
  readonly price: boolean;
  /** The Plan button of a `%%dp` cell. */
  readonly plan: boolean;
}

/** Read the settings; what is not said, or is no yes or no, is shown. */
export function shown(said: Readonly<Record<string, unknown>>): Shown {
  return { gauge: said.gauge !== false, price: said.price !== false, plan: said.plan !== false };
}
