/** Where an answer came from: what it cost and when, that asking again is free, what new noise would cost, and what more buys. */
import { widget } from '../parts/widget';
import { storedView } from './view';

export default widget(storedView);
