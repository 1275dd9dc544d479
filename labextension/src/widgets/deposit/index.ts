/** A deposit in four steps: declare a file, choose a budget, pick what is published, open or close. */
import { widget } from '../parts/widget';
import { depositView } from './view';

export default widget(depositView);
