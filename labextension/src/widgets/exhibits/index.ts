/** The exhibit gallery: an index to search, one page for each published claim, next and previous by key. */
import { widget } from '../parts/widget';
import { exhibitsView } from './view';

export default widget(exhibitsView);
