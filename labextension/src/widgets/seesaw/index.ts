/** ε ↔ ±: drag either, the other follows. Moving them spends nothing. */
import { widget } from '../parts/widget';
import { seesawView } from './view';

export default widget(seesawView);
