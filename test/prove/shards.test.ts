import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { aUserOfTwo, CASES, SHARDS, type Case } from '../../prove/citus/shards.ts'
import { createProvider } from '../../prove/citus/person.ts'
import { COPIED_TABLES, SHARD_KEYS } from '../../src/store/postgres/distribution.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { hearPostgres, type SentStatement } from '../store/recorded-statements.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { openSession } from '../support/store/postgres.ts'

/** As `grantor database distribute` makes them if nothing else is named. */
const DEFAULT_SHARDS = 32

/** The operations that docs/scaling.md names, except an import: Citus divides the insert of a membership, which selects. */
const STATED = [
  'sign in',
  'sign out',
  'sign out elsewhere',
  'remove an app',
  'create and confirm the code of an address',
  'disable the user',
  'show the apps',
]
const STATED_WITH_MORE = ['sign out', 'show the apps']
const MORE = 500

const file = { after: (end: unknown): void => after(end as () => unknown) }
const url = await openMigratedDatabase(file)
const store = await openPostgresStore({ url, connections: 2, isDistributed: true })
after(() => store.close())
const client = await openSession(file, url)
await createProvider(store)

test('what a user does where Citus distributes the tables is sent to as few shards as prove citus allows', async () => {
  for (const one of CASES) {
    const count = await countOn(SHARDS, one, 0)
    assert.ok(count <= one.most, `${one.name}: ${count}, more than ${one.most}`)
  }
})

test('docs/scaling.md states the statements on shards of what a user does, also with 500 more grants', async () => {
  const page = readFileSync('docs/scaling.md', 'utf8').replaceAll(/\s+/g, ' ')
  const [few = '', many = ''] = page.slice(page.indexOf('Alone, of a user')).split(`With ${MORE} more grants: `)
  for (const [names, text, more] of [
    [STATED, few, 0],
    [STATED_WITH_MORE, many, MORE],
  ] as const)
    for (const one of CASES.filter(({ name }) => names.includes(name))) {
      const count = await countOn(DEFAULT_SHARDS, one, more)
      assert.match(text, new RegExp(`\\b${one.name} ${count}\\b`))
    }
})

/** The most statements on shards of a case, whichever shards the rows are on. */
async function countOn(shards: number, { run }: Case, more: number): Promise<number> {
  const user = await aUserOfTwo(store)
  await addGrants(user.user.id, more)
  const sent: SentStatement[] = []
  await hearPostgres(
    (statement) => void sent.push(statement),
    () => run(store, user),
  )
  return sent.reduce((sum, statement) => sum + statementsOn(shards, statement), 0)
}

/** Adds grants that are older than the others. */
async function addGrants(userId: string, count: number): Promise<void> {
  await client.query(
    `with added as (
       insert into grants (grant_id, client_id, user_id, scope, resources, created_at, expires_at)
       select '00' || $1 || number, '', $1, '', '[]', 0, 9e15 from generate_series(1, $2::int) as number
       returning user_id, grant_id)
     insert into user_rows (user_id, row_table, row_key) select user_id, 'authorizations', grant_id from added`,
    [userId, count],
  )
}

/** A statement that names the keys of rows is one for each of their shards, and any other is one for each shard of the table. */
function statementsOn(shards: number, { text, values = [] }: SentStatement): number {
  const tables = [...text.matchAll(/\b(?:from|into|update|join) (\w+)/g)].map(([, table]) => table ?? '')
  const table = tables.find((name) => name in SHARD_KEYS)
  if (table === undefined) return tables.some((name) => COPIED_TABLES.includes(name)) ? 1 : 0
  const key = SHARD_KEYS[table]
  if (text.startsWith('insert') || new RegExp(`\\b${key} = \\$`).test(text)) return 1
  const [, place] = new RegExp(`\\b${key} = any\\((?:string_to_array\\()?\\$(\\d+)`).exec(text) ?? []
  if (place === undefined) return shards
  return Math.min(shards, keysIn(values[Number(place) - 1] as string).length)
}

/** A list of ids has spaces between them, and an array commas and braces. */
function keysIn(list: string): readonly string[] {
  return list.split(/[ ,{}]/).filter((key) => key !== '')
}
