// What TypeScript and ESLint say of the front end, from one program: each alone would read and infer every type again.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import ts from 'typescript';

const here = dirname(fileURLToPath(import.meta.url));

/** Every source and test, with the options of tsconfig.tests.json. */
function programOf() {
  const config = ts.readConfigFile(join(here, 'tsconfig.tests.json'), ts.sys.readFile).config;
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, here);
  // ESLint walks a tree upwards too
  return ts.createProgram(fileNames, options, ts.createCompilerHost(options, true));
}

/** What TypeScript says, as tsc prints it. */
function faultsOf(program) {
  const found = ts.getPreEmitDiagnostics(program);
  return ts.formatDiagnostics(found, {
    getCanonicalFileName: name => name,
    getCurrentDirectory: () => here,
    getNewLine: () => '\n'
  });
}

/** What ESLint says with the types of this program, whatever it only warns of included. */
async function complaintsOf(program) {
  const eslint = new ESLint({
    cwd: here,
    overrideConfig: { languageOptions: { parserOptions: { programs: [program] } } }
  });
  const results = await eslint.lintFiles(['src', 'tests']);
  return (await eslint.loadFormatter('stylish')).format(results);
}

const program = programOf();
const said = faultsOf(program) + (await complaintsOf(program));
process.stdout.write(said);
process.exitCode = said === '' ? 0 : 1;
