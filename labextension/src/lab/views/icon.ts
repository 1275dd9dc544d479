/** The shield with a curve of noise in it. */
import { LabIcon } from '@jupyterlab/ui-components';

export const icon = new LabIcon({
  name: 'dpnb:icon',
  svgstr:
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><g class="jp-icon3" fill="#616161">' +
    '<path d="M12 2 4 5v6c0 5 3.4 9.7 8 11 4.6-1.3 8-6 8-11V5zm0 2.1 6 2.3V11c0 4-2.5 7.6-6 8.9C8.5 18.6 6 15 6 11V6.4z"/>' +
    '<path d="M8 16c1.6 0 2-7 4-7s2.4 7 4 7z"/></g></svg>'
});
