import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fitOlder } from '../../../src/store/backup/older.ts'
import { EMAIL, requestToken } from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { runHere } from '../../support/command.ts'
import { openPlace, type Place } from '../../support/process.ts'
import { openTestServer, temporaryFolder } from '../../support/server.ts'
import { withChecksum, withColumns, withHeader, withoutTable } from '../../support/store/backup-lines.ts'
import { openTestDatabase } from '../../support/store/postgres.ts'
import { perform } from '../../support/tasks.ts'

const GRANTOR_SECRET = 'a root secret that is long enough for it'
const MACHINE = { client_id: 'nightly', client_secret: 'a-secret-that-is-long-enough' }

test('BAK-02: a store of another version before 0.1.0 moves if its tables fit, with its credentials', async (t) => {
  const { place, lines } = await openExport(t)
  const reordered = withColumns(withoutTable(lines, 'figures'), 'users', (values) => values.toReversed())
  const fewer = withColumns(reordered, 'clients', (values, columns) =>
    values.toSpliced(columns.indexOf('pending_until'), 1),
  )
  const renamed = withColumns(fewer, 'roles', (values) => values.map(asBefore))
  const older = withColumns(renamed, 'grants', (values, columns) => [
    ...values,
    values === columns ? 'previous_hash' : 'x',
  ])
  for (const url of [`sqlite:${join(temporaryFolder(t), 'grantor.db')}`, await openTestDatabase(t)]) {
    const target = { DATABASE_URL: url, GRANTOR_SECRET }
    const { code, stdout, stderr } = await importLines(place, older, target)
    assert.deepEqual([code, /is valid, [^.]+, except:\n {2}refresh tokens: /.test(stdout)], [0, true], stderr)
    const moved = await openTestServer(t, { env: target })
    assert.equal((await requestToken(moved, MACHINE, { grant_type: 'client_credentials' })).statusCode, 200)
    const { roles } = await perform<{ readonly roles: readonly object[] }>(moved.context, 'role.list', {})
    assert.equal(roles.length, 1)
    await moved.close()
  }
})

test('BAK-02: tables of another version that do not fit are refused, and the message names the remedy', async (t) => {
  const { place, lines } = await openExport(t)
  const url = `sqlite:${join(temporaryFolder(t), 'grantor.db')}`
  for (const [changed, message] of [
    [
      withColumns(lines, 'organizations', (values, columns) => [...values, values === columns ? 'former' : 1]),
      /has a column of the table organizations that its schema does not have\. .* Restore it with that version/,
    ],
    [
      withColumns(lines, 'memberships', (values, columns) => values.toSpliced(columns.indexOf('not_before'), 1)),
      /lacks the column not_before of the table memberships/,
    ],
    [
      withColumns(lines, 'clients', (values, columns) =>
        values === columns ? values : values.with(columns.indexOf('secret_hash'), 'x'.repeat(43)),
      ),
      /table clients has credentials that this version cannot verify.*Restore it with that version/,
    ],
  ] as const) {
    const { code, stderr } = await importLines(place, changed, { DATABASE_URL: url, GRANTOR_SECRET })
    assert.deepEqual([code, message.test(stderr)], [1, true], stderr)
  }
})

test('a column that is in the list without a successor is left out, and a renamed one has its new name', () => {
  const slice = { table: 'users', columns: ['user_id', 'former', 'since'], rows: [['one', 1, 2]] }
  const list = [
    { table: 'users', column: 'former', becomes: undefined },
    { table: 'users', column: 'since', becomes: 'created_at' },
    { table: 'other', column: 'user_id', becomes: undefined },
  ]
  assert.deepEqual(fitOlder(slice, list), { table: 'users', columns: ['user_id', 'created_at'], rows: [['one', 2]] })
})

function asBefore(value: unknown): unknown {
  return value === 'set_at' ? 'created_at' : value
}

/** A final export of a store with a user who has a role, and a client with a secret. */
async function openExport(t: TestContext) {
  const own = { DATABASE_URL: `sqlite:${join(temporaryFolder(t), 'grantor.db')}`, GRANTOR_SECRET }
  const server = await openTestServer(t, { env: own })
  await createAda(server)
  await perform(server.context, 'client.create', { client_id: MACHINE.client_id, client_name: 'Nightly' })
  await perform(server.context, 'client.set-secret', MACHINE)
  const ada = await server.context.store.findUserByEmail(EMAIL)
  await perform(server.context, 'role.set', { user_id: ada?.id, access: 'write' })
  await server.close()
  const place = await openPlace(t)
  const file = join(place.folder, 'moved')
  const { code, stderr } = await runHere(place, ['export', '--to', file, '--final'], { environment: own })
  assert.equal(code, 0, stderr)
  return { place, lines: readFileSync(file, 'utf8').split(/(?<=\n)/) }
}

function importLines(place: Place, lines: readonly string[], environment: Readonly<Record<string, string>>) {
  const file = join(place.folder, 'older')
  writeFileSync(file, withChecksum(withHeader(lines, { schema_digest: 'another' }), GRANTOR_SECRET).join(''))
  return runHere(place, ['import', 'grantor', file], { environment })
}
