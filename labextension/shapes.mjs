// Writes src/kinds/<kind>.ts from the types of each interaction: the view, and the shape that its state must have to be drawn;
// and src/kinds/table.ts, the closed table of them.
// The types are read by TypeScript itself, so that what a view relies on and what is checked before it cannot differ.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const here = dirname(fileURLToPath(import.meta.url));
const widgets = join(here, 'src', 'widgets');
const target = join(here, 'src', 'kinds');
/** The lists that dpnb itself writes longer than others, by the name of their field. */
const LONG = {
  clamp: { values: 5000 },
  '*': { columns: 10_000, groups: 10_000, ledger: 10_000, events: 10_000 }
};

/** What tsconfig.json says. */
export const { options: compilerOptions } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(here, 'tsconfig.json'), ts.sys.readFile).config,
  ts.sys,
  here
);

const entry = kind => join(widgets, kind, 'view.ts');

/** The names of the interactions: each src/widgets/<kind>/view.ts is one. */
export function kinds() {
  return readdirSync(widgets)
    .filter(name => existsSync(entry(name)))
    .sort();
}

/** What a type admits, in the words of src/drawing/shape.ts. */
function shapeOf(type, checker, inside = []) {
  const again = one => shapeOf(one, checker, [...inside, type]);
  if (inside.includes(type)) {
    throw new Error(`a type that holds itself has no shape yet: ${checker.typeToString(type)}`);
  }
  if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return 'any';
  if (type.flags & ts.TypeFlags.Null) return 'null';
  if (type.flags & ts.TypeFlags.BooleanLike) return 'boolean';
  if (type.isStringLiteral() || type.isNumberLiteral()) return { is: [type.value] };
  if (type.flags & ts.TypeFlags.StringLike) return 'string';
  if (type.flags & ts.TypeFlags.NumberLike) return 'number';
  if (type.isUnion()) return unionOf(type, again);
  if (checker.isTupleType(type)) {
    const row = checker.getTypeArguments(type).map(again);
    const least = type.target.minLength; // the last entries may be left out
    return least < row.length ? { row, least } : { row };
  }
  if (checker.isArrayType(type)) return { list: again(checker.getTypeArguments(type)[0]) };
  if (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) return objectOf(type, checker, again);
  throw new Error(`no shape for ${checker.typeToString(type)}`);
}

function unionOf(type, again) {
  const parts = type.types.filter(one => !(one.flags & ts.TypeFlags.Undefined));
  const literal = parts.filter(one => one.isStringLiteral() || one.isNumberLiteral());
  const others = parts.filter(one => !literal.includes(one)).map(again);
  const shapes = [...(literal.length > 0 ? [{ is: literal.map(one => one.value) }] : []), ...others];
  const different = [...new Map(shapes.map(one => [JSON.stringify(one), one])).values()];
  return different.length === 1 ? different[0] : { one: different };
}

function objectOf(type, checker, again) {
  const index = checker.getIndexTypeOfType(type, ts.IndexKind.String);
  if (index !== undefined && index.flags & ts.TypeFlags.Never) return { all: {} };
  if (index !== undefined) return { each: again(index) };
  const [all, some] = [{}, {}];
  for (const property of checker.getPropertiesOfType(type)) {
    const optional = (property.flags & ts.SymbolFlags.Optional) !== 0;
    (optional ? some : all)[property.name] = again(checker.getTypeOfSymbol(property));
  }
  return Object.keys(some).length === 0 ? { all } : { all, some };
}

/** A shape, with the length that dpnb's own long lists may have. */
function lengthened(shape, long) {
  if (typeof shape !== 'object' || shape === null) return shape;
  if (Array.isArray(shape)) return shape.map(one => lengthened(one, long));
  return Object.fromEntries(
    Object.entries(shape).map(([name, one]) => {
      const made = lengthened(one, long);
      return [
        name,
        Object.hasOwn(long, name) && made?.list !== undefined ? { ...made, most: long[name] } : made
      ];
    })
  );
}

/** Facts and Set of `export default widget(draw)`. */
function argumentsOf(file, checker) {
  const exported = file.statements.find(one => ts.isExportAssignment(one));
  const parameter = checker.getResolvedSignature(exported.expression).parameters[0];
  const [facts, set] = checker.getTypeOfSymbol(parameter).aliasTypeArguments;
  return [facts, set].map(type => shapeOf(type, checker));
}

function text(kind, [facts, set]) {
  return `// made by shapes.mjs from the types of widgets/${kind}
import { checked } from '../drawing/shape';
import module from '../widgets/${kind}/view';

export default checked(module, ${JSON.stringify(facts)}, ${JSON.stringify(set)});
`;
}

/** The code of each kind, loaded when one is drawn. */
function tableOf(names) {
  const lines = names.map(kind => `  ['${kind}', () => import('./${kind}')]`);
  return `// made by shapes.mjs from the folders of widgets
import type { Module } from '../widgets/parts/widget';

type Load = () => Promise<{ readonly default: Module<never, never> }>;

export const TABLE: readonly (readonly [string, Load])[] = [
${lines.join(',\n')}
];
`;
}

function writeChanged(path, made) {
  if (!existsSync(path) || readFileSync(path, 'utf8') !== made) {
    writeFileSync(path, made);
  }
}

/** Write what changed, and remove what has no interaction any more. */
export function writeKinds() {
  const files = kinds().map(entry);
  const program = ts.createProgram(files, compilerOptions);
  const checker = program.getTypeChecker();
  mkdirSync(target, { recursive: true });
  kinds().forEach((kind, i) => {
    const long = { ...LONG['*'], ...LONG[kind] };
    const shapes = argumentsOf(program.getSourceFile(files[i]), checker);
    const made = text(
      kind,
      shapes.map(shape => lengthened(shape, long))
    );
    writeChanged(join(target, `${kind}.ts`), made);
  });
  writeChanged(join(target, 'table.ts'), tableOf(kinds()));
  for (const name of readdirSync(target)) {
    if (!['table', ...kinds()].includes(name.replace(/\.ts$/, ''))) {
      rmSync(join(target, name));
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeKinds();
}
