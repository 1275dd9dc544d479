/** Several questions against ε in one picture, with what it lets others believe. */
import { widget } from '../parts/widget';
import { compareView } from './view';

export default widget(compareView);
