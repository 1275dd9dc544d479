/** What a notebook calls our classes; `dpnb/widgets/_base.py` says the same. */
export const MODULE = 'dpnb-widgets';

/** Raised when the state of a notebook saved earlier can no longer be drawn. */
export const VERSION = '1.0.0';
