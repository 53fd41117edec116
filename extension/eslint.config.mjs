// What the compiler does not see: forgotten awaits, `any` that leaks, imports that cross from page code into worker code.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';
import nativeNodes from './scripts/lint/native-nodes.mjs';

export default tseslint.config(
  { ignores: ['dist/', 'dist-firefox/', 'node_modules/', 'src/generated/', 'test/pages/'] },
  js.configs.recommended,
  {
    files: ['src/**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: true }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
      '@typescript-eslint/no-base-to-string': 'off',
      'no-constant-condition': ['error', { checkLoops: false }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  {
    // What runs inside a page is bundled on its own and must not pull in the worker.
    files: ['src/page/**/*.ts', 'src/overlay/**/*.ts'],
    plugins: { bridged: { rules: { 'native-nodes': nativeNodes } } },
    rules: { 'bridged/native-nodes': 'error' },
  },
  {
    files: ['src/page/**/*.ts'],
    rules: {
      'no-restricted-imports': ['error', { patterns: [
        { group: ['**/methods/*', '**/connection/*', '**/tabs/*', '**/router*', '**/worker*', '**/errors*', '**/call*'], message: 'page code must not import worker code' }] }],
    },
  },
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: Object.fromEntries(
      'process console Buffer URL URLSearchParams setTimeout clearTimeout setInterval clearInterval setImmediate performance fetch AbortController AbortSignal WebSocket structuredClone TextEncoder TextDecoder crypto queueMicrotask document window location chrome'
        .split(' ').map((name) => [name, 'readonly'])) },
    rules: { 'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }], 'no-constant-condition': 'off' },
  },
);
