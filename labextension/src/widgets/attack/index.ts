/** The attack bench: choose an attack, drag ε, and read what it recovers beside guessing and beside what ε lets through. */
import { widget } from '../parts/widget';
import { attackView } from './view';

export default widget(attackView);
