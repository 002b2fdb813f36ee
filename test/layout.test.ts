import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { countImports, findDisorder, type SourceFile } from './layout.ts'

const files: readonly SourceFile[] = globSync('{src,test,bench,prove}/**/*.{ts,js}', {
  exclude: ['bench/peers/**'],
}).map((path) => ({
  path,
  text: readFileSync(path, 'utf8'),
}))

test('the house is tidy', () => {
  assert.ok(countImports(files) > 200, 'too few imports were found to have been read')
  assert.deepEqual(findDisorder(files), [])
})

const PLANTED: readonly (readonly [rule: string, file: SourceFile])[] = [
  [
    'protocol may not import from ports',
    { path: 'src/protocol/bad.ts', text: `import type { Store } from '../ports/store.ts'` },
  ],
  [
    'endpoints may not import from store',
    { path: 'src/endpoints/bad.ts', text: `import { openBatchingStore } from '../store/turns.ts'` },
  ],
  [
    'endpoints may not import the package hono',
    { path: 'src/endpoints/bad.ts', text: `import { html } from 'hono/html'` },
  ],
  ['endpoints may not import node:fs', { path: 'src/endpoints/bad.ts', text: `export * from 'node:fs'` }],
  ['web may not import from http', { path: 'src/web/bad.ts', text: `const later = import('../http/app.ts')` }],
  [
    'store may not import from endpoints',
    { path: 'src/store/sqlite/bad.ts', text: `import { PATHS } from '../../endpoints/paths.ts'` },
  ],
  ['is no layer', { path: 'src/extra/bad.ts', text: `import { a } from '../protocol/ids.ts'` }],
  ['reads the clock', { path: 'src/protocol/bad.ts', text: `import './ids.ts'\nexport const now = Date.now()` }],
  ['only config.ts reads the environment', { path: 'src/http/bad.ts', text: `import './app.ts'\nprocess.env['PORT']` }],
  ['nothing is caught here', { path: 'src/endpoints/bad.ts', text: `import './token.ts'\ntry { x() } catch { y() }` }],
  ['exports are named', { path: 'src/http/bad.ts', text: `import './app.ts'\nexport default 1` }],
  ['a file is named for the thing', { path: 'src/http/utils.ts', text: `import './app.ts'` }],
  ['file names are kebab-case', { path: 'src/http/badName.ts', text: `import './app.ts'` }],
  ['the limit is', { path: 'src/http/bad.ts', text: `import './app.ts'\n${'const a = 1\n'.repeat(300)}` }],
  ['must be imported with its ending', { path: 'src/http/bad.ts', text: `import { a } from './app'` }],
  ['Import cycle', { path: 'src/http/bad.ts', text: `import { a } from './bad.ts'` }],
  ['No imports were found', { path: 'src/http/bad.ts', text: `export const a = 1` }],
]

for (const [rule, file] of PLANTED) {
  test(`a planted violation is found: ${rule}`, () => {
    assert.ok(
      findDisorder([file]).some((line) => line.includes(rule)),
      `${rule} was not among: ${findDisorder([file]).join(' | ')}`,
    )
  })
}
