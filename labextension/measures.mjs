// Lengths of the front end's functions, as JSON: node measures.mjs [folder]. tests/repo/measures.py prints them.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const HERE = dirname(fileURLToPath(import.meta.url));
const MADE = 'kinds';

function sources(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files.filter(name => name.endsWith('.ts') && !name.startsWith(MADE)).map(name => join(folder, name));
}

function lengths(text) {
  const file = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true);
  const lineOf = position => file.getLineAndCharacterOfPosition(position).line;
  const found = [];
  const visit = node => {
    if (ts.isFunctionLike(node) && node.body) {
      found.push(lineOf(node.end) - lineOf(node.getStart(file)) + 1);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const texts = sources(process.argv[2] ?? join(HERE, 'src')).map(path => readFileSync(path, 'utf8'));
const lines = texts.reduce((sum, text) => sum + text.trimEnd().split('\n').length, 0);
process.stdout.write(JSON.stringify({ files: texts.length, lines, functions: texts.flatMap(lengths) }));
