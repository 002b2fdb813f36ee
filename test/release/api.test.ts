import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { apiTypes } from '../../release/api-types.ts'
import { API_TYPES_FILE } from '../../release/manifest.ts'

test('the types of settings and tasks are those of their tables (npm run docs)', () => {
  assert.equal(readFileSync(API_TYPES_FILE, 'utf8'), apiTypes())
})
