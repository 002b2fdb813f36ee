import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { apiTypes } from '../../release/api-types.ts'
import { API_TYPES_FILE } from '../../release/manifest.ts'
import { API_PAGE, emitDeclarations, publicApi } from '../../release/public-api.ts'
import { temporaryFolder } from '../support/server.ts'

test('the types of settings and tasks are those of their tables (npm run docs)', () => {
  assert.equal(readFileSync(API_TYPES_FILE, 'utf8'), apiTypes())
})

test('docs/api.txt lists the public interface as the compiler emits it (npm run docs)', (t) => {
  const folder = temporaryFolder(t)
  emitDeclarations(folder)
  assert.equal(publicApi(folder), readFileSync(API_PAGE, 'utf8'))
})
