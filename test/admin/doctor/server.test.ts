import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkServer } from '../../../src/checks/server.ts'
import type { ServerFacts } from '../../../src/ports/inspection.ts'

/** What the doctor says of a server that nothing is wrong with, but for the difference. */
function findingsOf(difference: Partial<ServerFacts>): readonly string[] {
  const sound: ServerFacts = {
    kind: 'server',
    version: '18.4',
    role: 'grantor',
    isExposed: false,
    clockAheadMs: 2000,
    connections: { used: 90, limit: 100 },
    changedSettings: [],
    sharesPreparedStatements: false,
    cluster: undefined,
    unsafeSettings: [],
  }
  return checkServer('postgres://db.acme.test/grantor', { ...sound, ...difference })
    .filter(({ verdict }) => verdict !== 'ok')
    .map(({ check, message, remedy }) => `${check}: ${message} ${remedy}`)
}

test('a clock that differs from that of PostgreSQL by more than 2 s is a failure, because such a node is not ready', () => {
  assert.deepEqual(findingsOf({ clockAheadMs: 2000 }), [], 'A server without a fault has only ok findings.')
  assert.match(findingsOf({ clockAheadMs: 2001 })[0] ?? '', /^clock: .* 2 s ahead of this clock\. .* not ready\..*NTP/)
  assert.match(findingsOf({ clockAheadMs: -9000 })[0] ?? '', /^clock: .* 9 s behind this clock/)
})

test('doctor finds a PostgreSQL that can lose commits, or has wrong settings, a wrong pooler, no TLS or no free connection', () => {
  assert.match(findingsOf({ unsafeSettings: ['fsync'] })[0] ?? '', /^database: fsync is off.*Set fsync = on/)
  const settings = [{ name: 'enable_seqscan', value: 'on', wanted: 'off' }]
  assert.match(
    findingsOf({ changedSettings: settings, role: 'a"b' })[0] ?? '',
    /^settings: .*enable_seqscan is on instead of off.*alter role "a""b" set enable_seqscan = 'off';/,
  )
  assert.match(
    findingsOf({ sharesPreparedStatements: true })[0] ?? '',
    /^pooler: .*prepared statements.*max_prepared_statements = 200.*pool_mode = session/,
  )
  assert.match(findingsOf({ isExposed: true })[0] ?? '', /^connections: .*not encrypted.*sslmode=verify-full/)
  assert.match(findingsOf({ connections: { used: 91, limit: 100 } })[0] ?? '', /^connections: 91 of 100/)
})

test('doctor finds tables that Citus does not store as this release expects, and a machine with few prepared transactions', () => {
  const cluster = { machines: 2, misplaced: [], withFewPreparedTransactions: [] }
  assert.deepEqual(findingsOf({ cluster }), [])
  const misplaced = [{ table: 'users', by: 'local', wanted: 'user_id' }]
  assert.match(
    findingsOf({ cluster: { ...cluster, misplaced } })[0] ?? '',
    /^distribution: .*users \(local instead of user_id\).*grantor database distribute/,
  )
  assert.match(
    findingsOf({ cluster: { ...cluster, withFewPreparedTransactions: ['w1:5432'] } })[0] ?? '',
    /^distribution: max_prepared_transactions is less than max_connections on w1:5432/,
  )
})
