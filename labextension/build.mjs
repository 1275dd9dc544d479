// Builds the front end: the views of exported pages and of anywidget into dpnb/widgets/static, and two JupyterLab extensions:
// dist/dpnb, and dist/dpnb-widgets, which Voilà loads too.
// `node build.mjs --watch` builds again on every change. No step asks the network for anything.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  watch,
  writeFileSync
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import ts from 'typescript';
import { compilerOptions, kinds, writeKinds } from './shapes.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const widgets = join(here, 'src', 'widgets');
const target = join(here, '..', 'dpnb', 'widgets', 'static');
const builder = join(here, 'node_modules', '@jupyter', 'builder', 'lib', 'build-labextension.js');
const core = join(here, 'node_modules', '@jupyterlab', 'core-meta', 'core.package.json');

/** Each kind of interaction: src/kinds/<kind>.ts, with the shape of its state, becomes static/<kind>.js. */
function modules() {
  return Object.fromEntries(kinds().map(kind => [kind, join(here, 'src', 'kinds', `${kind}.ts`)]));
}

/** Built beside the place and moved into it: a build that fails leaves the last one standing. */
async function buildWidgets() {
  const made = `${target}.new`;
  rmSync(made, { recursive: true, force: true });
  await build({
    entryPoints: { ...modules(), widget: join(widgets, 'interactions.css') },
    bundle: true,
    minify: true,
    format: 'iife', // a page holds several of them in one script; dpnb/widgets/pages.py and portable.py give each its place
    globalName: 'dpnbView',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    outdir: made,
    logLevel: 'warning'
  });
  rmSync(target, { recursive: true, force: true });
  renameSync(made, target);
}

function run(...command) {
  const done = spawnSync(process.execPath, command, { cwd: here, stdio: 'inherit' });
  if (done.status !== 0) {
    throw new Error(`${command[0].split('node_modules/')[1] ?? command[0]} failed`);
  }
}

/** Each source without its types, which `npm run check` reads: to infer them all was most of a build. */
function stripTypes() {
  const source = join(here, 'src');
  for (const name of readdirSync(source, { recursive: true }).filter(each => each.endsWith('.ts'))) {
    const place = join(here, 'lib', name.replace(/\.ts$/, '.js'));
    const made = ts.transpileModule(readFileSync(join(source, name), 'utf8'), {
      compilerOptions,
      fileName: name
    });
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, made.outputText);
  }
}

async function buildExtensions() {
  rmSync(join(here, 'lib'), { recursive: true, force: true });
  stripTypes();
  rmSync(join(here, 'dist'), { recursive: true, force: true });
  await build({
    entryPoints: { widget: join(widgets, 'interactions.css'), index: join(here, 'style', 'index.css') },
    outdir: join(here, 'lib'),
    bundle: true,
    minify: true,
    charset: 'utf8'
  });
  copyFileSync(
    join(here, '..', 'notebooks', '01-gallery.ipynb'),
    join(here, 'lib', 'lab', 'plugins', 'gallery.ipynb')
  );
  run(builder, '--core-package-file', core, '.');
  run(builder, '--core-package-file', core, 'dpnb-widgets');
  for (const extension of ['dpnb', 'dpnb-widgets']) {
    copyFileSync(join(here, 'install.json'), join(here, 'dist', extension, 'install.json'));
  }
}

async function everything() {
  const start = performance.now();
  writeKinds();
  await buildWidgets();
  await buildExtensions();
  console.log(`front end built in ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

if (!existsSync(builder)) {
  throw new Error('run `npm ci` in labextension/ first');
}
if (!process.argv.includes('--watch')) {
  await everything();
} else {
  let waiting;
  const again = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => everything().catch(error => console.error(String(error))), 200);
  };
  for (const folder of [
    'src/maths',
    'src/cards',
    'src/widgets',
    'src/drawing',
    'src/lab',
    'style',
    'schema'
  ]) {
    watch(join(here, folder), again);
  }
  await everything().catch(error => console.error(String(error)));
}
