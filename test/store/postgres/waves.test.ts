import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import type { Operation } from '../../../src/ports/operations/index.ts'
import type { OrganizationId } from '../../../src/protocol/ids.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { cutIntoWaves } from '../../../src/store/postgres/waves.ts'
import { anOrganization } from '../../support/records.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { outcomesOf, perform, performAll, times } from '../contract/harness.ts'
import { anAdminCredential } from '../contract/server/administrators.ts'
import { OPERATIONS } from '../../../src/store/nouns.ts'

const disable = (id: string): Operation => ({ name: 'disableClient', input: { id, now: 1 } }) as unknown as Operation
const end = (id: string): Operation => ({ name: 'endSession', input: { id, now: 1 } }) as unknown as Operation
const hold = (id: string): Operation => ({ name: 'extendRetention', input: { id, until: 1 } }) as unknown as Operation

function cut(...operations: readonly Operation[]): readonly string[] {
  const waves = cutIntoWaves(
    operations,
    ({ input }) => [(input as { readonly id: string }).id],
    (name) => name === 'extendRetention',
    (name) => name === 'endSession',
    ({ input }) => (input as { readonly sharedKeys?: readonly string[] }).sharedKeys ?? [],
  )
  return waves.map((wave) =>
    wave.map(({ operation, index, keys }) => `${index}:${operation.name}:${keys.join()}`).join(' '),
  )
}

test('operations without a common key are one wave, sorted by kind and then by key', () => {
  assert.deepEqual(cut(hold('b'), disable('d'), hold('a'), disable('c')), [
    '3:disableClient:c 1:disableClient:d 2:extendRetention:a 0:extendRetention:b',
  ])
})

test('an operation with a key of an earlier operation is in a later wave', () => {
  assert.deepEqual(cut(disable('a'), disable('a'), hold('a'), disable('b')), [
    '0:disableClient:a 3:disableClient:b',
    '1:disableClient:a',
    '2:extendRetention:a',
  ])
})

test('operations of one kind may have a further key in common, which orders them with those of other kinds', () => {
  const approve = (id: string, user: string): Operation =>
    ({ name: 'approveAuthorization', input: { id, sharedKeys: [user] } }) as unknown as Operation
  assert.deepEqual(cut(approve('a', 'u'), approve('b', 'u'), disable('u'), approve('c', 'u'), approve('a', 'v')), [
    '0:approveAuthorization:a 1:approveAuthorization:b',
    '4:approveAuthorization:a 2:disableClient:u',
    '3:approveAuthorization:c',
  ])
})

test('an operation that finds its rows by another column is a wave of its own, after the earlier and before the later ones', () => {
  assert.deepEqual(cut(disable('b'), hold('a'), end('c'), hold('d'), disable('b'), end('c'), end('e')), [
    '0:disableClient:b 1:extendRetention:a',
    '2:endSession:c',
    '4:disableClient:b 3:extendRetention:d',
    '5:endSession:c',
    '6:endSession:e',
  ])
})

test('operations of a kind that may share a key are one statement', () => {
  assert.deepEqual(cut(hold('a'), hold('a'), disable('a')), [
    '0:extendRetention:a 1:extendRetention:a',
    '2:disableClient:a',
  ])
})

test('organizations with new ids are one wave, and those with a chosen id wait for each other', () => {
  const { keys } = OPERATIONS.createOrganization
  const wavesOf = (organizations: readonly ReturnType<typeof anOrganization>[]) =>
    cutIntoWaves(
      organizations.map((input) => ({ name: 'createOrganization', input })),
      ({ input }) => keys(input as ReturnType<typeof anOrganization>),
      () => false,
      () => false,
      () => [],
    ).length
  assert.equal(wavesOf(times(10, () => anOrganization())), 1)
  assert.equal(wavesOf(times(10, (index) => anOrganization({ id: `acme-${index}` as OrganizationId }))), 10)
})

test('two nodes that create credentials of several organizations never wait for each other’s locks', async (t) => {
  const url = await openMigratedDatabase(t)
  const options = { url, connections: 2 }
  const [first, second] = [await openPostgresStore(options), await openPostgresStore(options)]
  const organizations = times(5, () => anOrganization())
  await performAll(first, 'createOrganization', organizations)
  const made = (): Operation[] =>
    organizations.map(({ id, createdAt }) => ({
      name: 'createAdminCredential',
      input: anAdminCredential({ organizationId: id, organizationSince: createdAt }),
    }))
  for (let round = 0; round < 10; round += 1)
    for (const results of await Promise.all([first.commit(made()), second.commit(made().toReversed())]))
      assert.deepEqual(new Set(outcomesOf(results)), new Set(['created']))
  const [one] = organizations
  assert.ok(one)
  assert.equal(await perform(first, 'deleteOrganization', { id: one.id, now: one.createdAt }), 'deleted')
  // The sessions report what they counted when they end.
  await Promise.all([first.close(), second.close()])
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query('select deadlocks::int from pg_stat_database where datname = current_database()')
  await client.end()
  assert.deepEqual(rows, [{ deadlocks: 0 }])
})
