/** A first question in five small screens. The kernel writes and prices it; the last screen shows the cell that asks. */
import { widget } from '../parts/widget';
import { guideView } from './view';

export default widget(guideView);
