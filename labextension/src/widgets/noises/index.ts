/** Two noises: what privacy adds and what sampling adds; as dots, densities or running totals; and where they cross. */
import { widget } from '../parts/widget';
import { noisesView } from './view';

export default widget(noisesView);
