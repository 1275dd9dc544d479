/** Notebooks to begin with: a guided one, and a copy of the gallery. Made by the contents service, without a kernel. */
import type { Contents } from '@jupyterlab/services';

type Place = Pick<Contents.IManager, 'get' | 'save'>;

interface Written {
  readonly kind: 'markdown' | 'code';
  readonly source: string;
}

/** A notebook of these cells, as it is saved. */
export function written(cells: readonly Written[]): object {
  return {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { kernelspec: { name: 'python3', display_name: 'Python 3 (ipykernel)', language: 'python' } },
    cells: cells.map(({ kind, source }, i) => ({
      id: `dpnb-${i}`,
      cell_type: kind,
      metadata: {},
      source,
      ...(kind === 'code' ? { execution_count: null, outputs: [] } : {})
    }))
  };
}

/** Open a study, let the guide write the question, then read what it costs. Running it all spends nothing. */
export const GUIDED = written([
  {
    kind: 'markdown',
    source:
      '# A first question\n\nRun the two cells. The guide leads to a question and writes the cell that asks it; until that cell is run, nothing is spent.'
  },
  { kind: 'code', source: '%load_ext dpnb\nimport dpnb\n\nhiv = dpnb.open("hiv")' },
  { kind: 'code', source: '%dp guide hiv' }
]);

/** The gallery as it was when this extension was built: a file beside its scripts, fetched when somebody asks. */
export async function gallery(): Promise<unknown> {
  const answer = await fetch(new URL('./gallery.ipynb', import.meta.url));
  if (!answer.ok) {
    throw new Error(`The gallery could not be read from the server (status ${answer.status}).`);
  }
  return answer.json();
}

/** Save a notebook under a name that is free in a folder, and return where it is. */
export async function freshNotebook(
  place: Place,
  folder: string,
  name: string,
  content: unknown
): Promise<string> {
  // listed, not asked for one by one: a name that is free would be an error in the browser's console
  const { content: listed } = (await place.get(folder, { type: 'directory', content: true })) as {
    content: readonly { name: string }[];
  };
  const taken = new Set(listed.map(one => one.name));
  let free = `${name}.ipynb`;
  for (let i = 2; taken.has(free); i++) {
    free = `${name} ${i}.ipynb`;
  }
  const inside = folder === '' || folder.endsWith('/') || folder.endsWith(':') ? folder : `${folder}/`;
  await place.save(inside + free, { type: 'notebook', format: 'json', content });
  return inside + free;
}
