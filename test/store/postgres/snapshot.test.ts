import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withPostgresSnapshot } from '../../../src/store/postgres/snapshot.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { openSession } from '../../support/store/postgres.ts'

/** What a database has if Citus distributes its tables, as far as a backup looks. */
const AS_DISTRIBUTED = `create table public.pg_extension (extname text);
  insert into public.pg_extension values ('citus');
  create table pg_dist_partition (logicalrelid regclass);
  insert into pg_dist_partition values ('authorizations')`

test('on Citus a backup leaves out the links of the last seconds, so that no chain has a gap', async (t) => {
  const url = await openMigratedDatabase(t)
  const client = await openSession(t, url)
  const old = await addLink('old', 60_000)
  const fresh = await addLink('fresh', 1000)
  assert.deepEqual(await linksOf(url), [old, fresh])
  await client.query(AS_DISTRIBUTED)
  await client.query(`alter database ${new URL(url).pathname.slice(1)} set search_path = public, pg_catalog`)
  assert.deepEqual(await linksOf(url), [old])

  async function addLink(chain: string, ageMs: number): Promise<string> {
    const id = `${(Date.now() - ageMs).toString(16).padStart(12, '0')}000000`
    await client.query(
      `insert into audit_links (link_id, chain_id, sequence, recorded_at, previous_hash, events, link_hash)
       values ($1, $2, 0, 0, '', '[]', '')`,
      [id, chain],
    )
    return id
  }
})

async function linksOf(url: string): Promise<readonly string[]> {
  const ids: string[] = []
  await withPostgresSnapshot(url, async ({ slices }) => {
    for await (const { columns, rows } of slices(['audit_links']))
      ids.push(...rows.map((row) => String(row[columns.indexOf('link_id')])))
  })
  return ids.toSorted()
}
