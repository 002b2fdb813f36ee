import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { SESSION_SETTINGS, sessionSettings } from '../../../../src/store/postgres/connection/database.ts'

test('postgres: statements are planned once, and on Citus with their parameters, by which it chooses the shards', () => {
  assert.equal(sessionSettings(false)['plan_cache_mode'], 'force_generic_plan')
  assert.equal(sessionSettings(true)['plan_cache_mode'], 'force_custom_plan')
})

test('deploy/pgbouncer/role.sql gives a role every setting of a session', () => {
  const page = readFileSync('deploy/pgbouncer/role.sql', 'utf8')
  const settings = [...page.matchAll(/alter role grantor set (\w+) = '(.+)';/g)].map(([, ...pair]) => pair)
  assert.deepEqual(Object.fromEntries(settings), SESSION_SETTINGS)
})
