/** The class wall: a class's noisy answers to one question on one axis, filling in while they come. */
import { widget } from '../parts/widget';
import { wallView } from './view';

export default widget(wallView);
