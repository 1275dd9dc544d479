/** The attach card: unit, mode, columns with questions to take, made-up rows, and the budget as it stands. */
import { widget } from '../parts/widget';
import { attachView } from './view';

export default widget(attachView);
