/** Odds: what ε and δ do to a belief about one person: in a table, in people, and in two worlds. */
import { widget } from '../parts/widget';
import { oddsView } from './view';

export default widget(oddsView);
