/** The coverage lab: intervals of simulated studies stack up, misses are marked, and each method's coverage runs along. */
import { widget } from '../parts/widget';
import { coverageView } from './view';

export default widget(coverageView);
