/** A sentence whose numbers drag, and a picture of what follows from them. */
import { widget } from '../parts/widget';
import { sentenceView } from './view';

export default widget(sentenceView);
