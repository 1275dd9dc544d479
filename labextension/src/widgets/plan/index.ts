/** Plan before you spend: the questions of a cell, their shares under the hand, and a button that leaves the cell behind. */
import { widget } from '../parts/widget';
import { planView } from './view';

export default widget(planView);
