/** The living budget bar: a block for each release, a ghost for a plan, the ways out, in step with every cell of the session. */
import { widget } from '../parts/widget';
import { budgetView } from './view';

export default widget(budgetView);
