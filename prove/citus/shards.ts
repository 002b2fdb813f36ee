import pg from 'pg'
import { coversAll } from '../../src/endpoints/sign-in/changing-session.ts'
import type { StoreDriver } from '../../src/ports/store.ts'
import { after } from '../../src/base/brand.ts'
import { SHARD_KEYS } from '../../src/store/postgres/distribution.ts'
import { NAMED_BY } from '../../src/store/postgres/user-rows.ts'
import type { FigureRecord } from '../../src/ports/records/figures.ts'
import type { Findings } from '../findings.ts'
import { anOrganization } from './administration.ts'
import { anAccount } from './imports.ts'
import {
  aCode,
  aHash,
  anAssertedPerson,
  anEmailCode,
  anIdentity,
  aDevice,
  aPushedRequest,
  aSession,
  CLIENT_ID,
  HOUR_MS,
  link,
  now,
  perform,
  startOf,
} from './person.ts'

/** Few, so that the contract, which empties all of them before each case, takes less than a minute. */
export const SHARDS = 8

/** What operations and pages of a user may touch, if the user has two sessions with an app each, and two identities. */
export const CASES: readonly Case[] = [
  {
    name: 'sign in',
    most: 11,
    run: (store, { user }) => perform(store, 'startSession', startOf(user, aSession(user))),
  },
  {
    name: 'sign out',
    most: 15,
    run: (store, { session }) => perform(store, 'endSession', { id: session.id, ...endNow() }),
  },
  {
    name: 'sign out elsewhere',
    most: 20,
    run: (store, { user, session }) =>
      perform(store, 'endOtherSessions', { userId: user.id, keep: session.id, ...endNow() }),
  },
  {
    name: 'remove an app',
    most: 15,
    run: (store, { user }) =>
      perform(store, 'removeApp', { userId: user.id, clientId: CLIENT_ID, organizationId: undefined, ...endNow() }),
  },
  {
    name: 'change the password',
    most: 15,
    run: (store, { user: { id, passwordHash: previousHash }, session }) =>
      perform(store, 'changePassword', {
        id,
        previousHash,
        passwordHash: 'new',
        session: coversAll(session),
        mails: [],
      }),
  },
  {
    name: 'disable the user',
    // One for each shard looks for answers of the operator's application, which name no user (src/store/nouns/token/not-before.ts).
    most: SHARDS + 20,
    run: (store, { user: { id } }) => perform(store, 'disableUser', { id, now: now() }),
  },
  {
    name: 'show the apps',
    most: 7,
    async run(store, { user: { id: userId } }) {
      await store.listOpenCodes({ userId, ...endNow(), limit: 100 })
      await store.listGrantsByApp({ userId, now: now(), limit: 100 })
      await store.listConsents(userId, 100)
    },
  },
  {
    name: 'show the sessions',
    most: 3,
    run: (store, { user }) => store.listSessions({ userId: user.id, before: undefined, limit: 100 }),
  },
  {
    name: 'sign in, link an identity, open a grant by it, and remove it',
    most: 44,
    async run(store) {
      const { open, unlink } = await anAssertedPerson(store)
      await open(store)()
      await unlink(store)()
    },
  },
  { name: 'push a request', most: 1, run: (store) => aPushedRequest(store) },
  { name: 'start a device', most: 1, run: (store) => aDevice(store) },
  {
    name: 'create and confirm the code of an address',
    most: 16,
    async run(store, person) {
      const { confirm } = await anEmailCode(store, person)
      await confirm(store)()
    },
  },
  {
    name: 'import an account with two identities, an app and an organization',
    most: 13,
    run: (store) => perform(store, 'importUser', anAccount()),
  },
  {
    name: 'keep a better hash of the password',
    most: 2,
    run: (store, { user: { id, passwordHash: previousHash } }) =>
      perform(store, 'upgradePassword', { id, previousHash, passwordHash: 'better', format: 'bcrypt' }),
  },
  {
    name: 'find the client and the user of a token',
    most: 2,
    run: (store, { user }) => store.findCurrent({ clientId: CLIENT_ID, userId: user.id, organizationId: undefined }),
  },
  {
    // Each shard returns the ids of a slice.
    name: 'find the end of a list of clients, of grants and of the audit',
    most: 3 * SHARDS,
    async run(store) {
      for (const list of ['clients', 'grants', 'audit'] as const)
        await store.findListEnd({ list, before: undefined, size: 1000 })
    },
  },
  {
    // Each shard looks for what is left of an earlier one, in eight tables.
    name: 'create an organization with a chosen id',
    most: 3 + 8 * SHARDS,
    run: (store) => perform(store, 'createOrganization', anOrganization()),
  },
  {
    name: 'write figures',
    most: 1,
    run: (store) => perform(store, 'writeFigures', someFigures()),
  },
  {
    name: 'merge figures',
    most: 4,
    async run(store) {
      const figures = someFigures()
      await perform(store, 'writeFigures', figures)
      await perform(store, 'mergeFigures', figures)
    },
  },
  { name: 'show the identities', most: 3, run: (store, { user }) => store.listIdentities(user.id) },
]

type User = Awaited<ReturnType<typeof aUserOfTwo>>

/** An operation or a page. */
export interface Case {
  readonly name: string
  /** The most statements on shards. */
  readonly most: number
  readonly run: (store: StoreDriver, user: User) => Promise<unknown>
}

const EXTENSION = `select 1 from pg_extension where extname = 'pg_stat_statements'`
const MACHINES = `select nodename || ':' || nodeport as machine from pg_dist_node
  where noderole = 'primary' and isactive and shouldhaveshards`
/** The names of shards end with their numbers. */
const STATEMENTS = `select coalesce(sum(calls), 0)::int as count from pg_stat_statements join pg_database on oid = dbid
  where datname = current_database() and query ~ '_[0-9]{6}'`
/** Counts the statements on shards of operations alone, if all machines have the extension pg_stat_statements. */
export async function proveShards(url: string, store: StoreDriver, findings: Findings): Promise<readonly string[]> {
  const coordinator = await connect(url)
  const { rows } = await coordinator.query<{ readonly machine: string }>(MACHINES)
  const machines = await Promise.all(
    rows.map(({ machine }) => connect(Object.assign(new URL(url), { host: machine }).href)),
  )
  const lines: string[] = []
  const counts = await Promise.all(machines.map((machine) => machine.query(EXTENSION)))
  if (counts.some(({ rowCount }) => rowCount === 0))
    lines.push('statements on shards: not counted, without pg_stat_statements')
  else
    for (const { name, most, run } of CASES) {
      const user = await aUserOfTwo(store)
      await Promise.all(machines.map((machine) => machine.query('select pg_stat_statements_reset()')))
      await run(store, user)
      const found = await Promise.all(machines.map((machine) => machine.query<{ readonly count: number }>(STATEMENTS)))
      const count = found.reduce((sum, { rows: [row] }) => sum + Number(row?.count), 0)
      lines.push(`statements on shards to ${name}: ${count}`)
      if (count > most) findings.report(`${count} statements on shards to ${name}, more than ${most}`)
    }
  await Promise.all([coordinator, ...machines].map((client) => client.end()))
  return lines
}

/** Checks that each row of a user has its name (src/store/postgres/user-rows.ts). */
export async function proveNames(url: string, findings: Findings): Promise<string> {
  const client = await connect(url)
  let count = 0
  for (const [table, namedBy] of Object.entries(NAMED_BY)) {
    const key = SHARD_KEYS[table] ?? ''
    const named = await client.query({
      text: 'select user_id, row_key from user_rows where row_table = any($1)',
      values: [namedBy],
      rowMode: 'array',
    })
    const names = new Set(named.rows.map((row) => (row as unknown as readonly string[]).join(' ')))
    const owned = await client.query({
      text: `select user_id, ${key} from ${table} where user_id is not null`,
      rowMode: 'array',
    })
    count += owned.rows.length
    const unnamed = owned.rows.filter((row) => !names.has((row as unknown as readonly string[]).join(' ')))
    if (unnamed.length > 0) findings.report(`${unnamed.length} rows of ${table} have no name`)
  }
  if (count === 0) findings.report('there are no rows of users')
  await client.end()
  return `rows of users, each with its name: ${count}`
}

/** A user with two sessions, each with an app, and two identities. */
export async function aUserOfTwo(store: StoreDriver) {
  const { user, session, redeem } = await aCode(store)
  await redeem(store)()
  const other = aSession(user)
  await perform(store, 'startSession', startOf(user, other))
  const second = await aCode(store, { user, session: other })
  await second.redeem(store)()
  for (let identities = 0; identities < 2; identities += 1)
    await link(store, anIdentity({ user }), { kind: 'session', session: coversAll(session) })
  return { user, session }
}

function someFigures(): FigureRecord {
  return { id: aHash(), node: 'node', span: '5m', beganAt: now(), endedAt: now(), counts: {} }
}

function endNow() {
  const end = now()
  return { now: end, codesSince: after(end, -HOUR_MS) }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'prove:citus' })
  await client.connect()
  return client
}
