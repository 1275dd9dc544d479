/** Drag one person: what one row can do to a statistic, and the noise that hides it. Teaching arrays only. */
import { widget } from '../parts/widget';
import { personView } from './view';

export default widget(personView);
