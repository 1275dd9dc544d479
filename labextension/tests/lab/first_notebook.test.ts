import { expect, test } from 'vitest';
import { freshNotebook, GUIDED } from '../../src/lab/plugins/first_notebook';

function folder(...names: string[]): { saved: string[]; place: Parameters<typeof freshNotebook>[0] } {
  const saved: string[] = [];
  const place = {
    get: () => Promise.resolve({ content: names.map(name => ({ name })) }),
    save: (path: string) => {
      saved.push(path);
      return Promise.resolve({});
    }
  };
  return { saved, place: place as unknown as Parameters<typeof freshNotebook>[0] };
}

test('a notebook that is there already is never written over', async () => {
  const { saved, place } = folder('Gallery.ipynb', 'Gallery 2.ipynb', 'other.txt');
  expect(await freshNotebook(place, '', 'Gallery', {})).toBe('Gallery 3.ipynb');
  expect(await freshNotebook(place, 'a/b', 'Gallery', {})).toBe('a/b/Gallery 3.ipynb');
  expect(await freshNotebook(place, 'drive:', 'New', {})).toBe('drive:New.ipynb');
  expect(saved).toEqual(['Gallery 3.ipynb', 'a/b/Gallery 3.ipynb', 'drive:New.ipynb']);
});

test('the guided notebook opens a study and calls the guide; no cell of it releases', () => {
  const { cells } = GUIDED as { cells: { cell_type: string; source: string }[] };
  const code = cells.filter(cell => cell.cell_type === 'code').map(cell => cell.source);
  expect(code.join('\n')).toContain('%dp guide hiv');
  expect(code.join('\n')).not.toContain('%%dp');
});
