/** Clamp handles: drag two bounds over public values; bias falls and noise grows with the room between them. */
import { widget } from '../parts/widget';
import { clampView } from './view';

export default widget(clampView);
