/** Remeasure: drag what you would pay on top; the forecast interval shrinks, and the earlier ones stay as a trail. */
import { widget } from '../parts/widget';
import { remeasureView } from './view';

export default widget(remeasureView);
