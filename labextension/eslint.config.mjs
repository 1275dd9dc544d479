import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

export default defineConfig(
  { ignores: ['lib', 'dist', 'src/kinds', 'node_modules', '*.mjs'] },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { project: './tsconfig.tests.json', tsconfigRootDir: import.meta.dirname }
    },
    rules: {
      // Lumino's signals take a slot and its `this`: connect(this.slot, this)
      '@typescript-eslint/unbound-method': 'off',
      // numbers belong in templates here
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // an index that the loop's bounds guarantee is asserted, not checked again
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      'max-lines-per-function': ['error', { max: 80 }]
    }
  },
  prettier
);
