import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startPostgres } from '../test/support/postgres.ts'
import { accountName, compare, openSignInStage, type Comparison } from './enumeration-campaign.ts'
import { describeMachine, readWhole, stopOnSignal } from './run.ts'
import { largestT, medianOf } from './welch.ts'

/** `npm run prove:enumeration`. See docs/proofs.md. */

/** threats.md UI-08. */
const T_LIMIT = 4.5
/** The number of attempts after which an account is throttled. */
const ACCOUNT_LIMIT = 10
const MINUTE_MS = 60_000
/** The time that a run may take, because it must be within one minute of the audit's counts. */
const ROWS_MS = 40_000
const RUNS = 5
const WORD = '"sign-in.failed"'
/** The rows that attempts leave. A server also stores the counts of rate limits in windows of a minute, and heads of chains. */
const COUNTS: readonly (readonly [what: string, sql: string])[] = [
  ['counts', 'select count(*) as n from hits where window_end - window_start > 60000'],
  [
    'audit events',
    `select sum((length(events) - length(replace(events, '${WORD}', ''))) / ${WORD.length}) as n from audit_links`,
  ],
  ...['authorizations', 'sessions', 'browsers', 'consents', 'users', 'clients'].map(
    (table) => [table, `select count(*) as n from ${table}`] as const,
  ),
]

const { values } = parseArgs({
  options: { pairs: { type: 'string', default: '10000' }, hashed: { type: 'string', default: '1000' } },
})
const pairs = readWhole('pairs', values.pairs)
const hashed = readWhole('hashed', values.hashed)

/** Opens an empty database, and counts the rows of a database that no server uses any more. */
interface Place {
  readonly name: string
  readonly open: () => Promise<string>
  readonly count: (url: string, sql: string) => Promise<number>
}

const COMPARISONS: readonly (Comparison & { readonly name: string })[] = [
  {
    name: 'refused because of the network',
    status: 429,
    pairs,
    warmUp: 500,
    everyMs: 0,
    chooseAccount: () => 0,
    chooseNetwork: () => 0,
  },
  {
    name: 'refused because of the account',
    status: 429,
    pairs,
    warmUp: 500,
    everyMs: 0,
    chooseAccount: () => 1,
    chooseNetwork: (attempt) => 1 + attempt,
  },
  {
    name: 'allowed, with a hash',
    status: 401,
    pairs: hashed,
    warmUp: 20,
    // The server counts 1,500 attempts a minute of one network at the least.
    everyMs: 45,
    chooseAccount: (pair) => 2 + Math.floor(pair / ACCOUNT_LIMIT),
    chooseNetwork: (attempt) => 10_000_000 + attempt,
  },
]
const ACCOUNTS = 2 + Math.ceil((hashed + 20) / ACCOUNT_LIMIT) + 1

stopOnSignal()
const folder = mkdtempSync(join(tmpdir(), 'grantor-prove-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const postgres = await startPostgres({ settings: { fsync: 'on' } })
console.log(describeMachine())
for (const place of [sqlitePlace(), postgresPlace()]) {
  await compareTimes(place)
  await compareRows(place)
}
await postgres.remove()

async function compareTimes({ name, open }: Place): Promise<void> {
  const stage = await openSignInStage(await open(), ACCOUNTS)
  for (const comparison of COMPARISONS) {
    const { known, unknown } = await compare(stage, comparison)
    const t = largestT(known, unknown)
    const [median, other] = [known, unknown].map((times) => Math.round(medianOf(times) * 1000))
    const verdict = t < T_LIMIT ? 'kept' : 'BROKEN'
    console.log(
      `${name}, ${comparison.name}: 2 × ${known.length} attempts, median ${median} µs of a known account, ${other} µs of an unknown one, |t| ${t.toFixed(2)}: ${verdict}`,
    )
    if (t >= T_LIMIT) process.exitCode = 1
  }
  await stage.stop()
}

/** Thirty attempts from one network, of which the last ten are refused, must leave the same number of rows for both kinds of account. */
async function compareRows({ name, open, count }: Place): Promise<void> {
  const rows = [await countRows({ open, count }, true), await countRows({ open, count }, false)]
  const [known = [], unknown = []] = rows
  const isSame = known.join() === unknown.join()
  const said = COUNTS.map(([what], index) => `${what} ${known[index]} and ${unknown[index]}`).join(', ')
  console.log(`${name}, rows after 30 attempts: ${said}: ${isSame ? 'kept' : 'BROKEN'}`)
  if (!isSame) process.exitCode = 1
}

/** Repeats a run that was not within one minute, because the audit counts by the minute. */
async function countRows({ open, count }: Pick<Place, 'open' | 'count'>, isKnown: boolean): Promise<readonly number[]> {
  for (let run = 0; run < RUNS; run += 1) {
    const url = await open()
    const stage = await openSignInStage(url, 3)
    await delay(waitForMinute())
    const startedIn = minuteNow()
    for (let index = 0; index < 30; index += 1) await stage.attempt(accountName(isKnown, index % 3), 0)
    await stage.stop()
    if (minuteNow() !== startedIn) continue
    const counts = []
    for (const [, sql] of COUNTS) counts.push(await count(url, sql))
    return counts
  }
  throw new Error(`None of ${RUNS} runs of thirty attempts fell into one minute.`)
}

function minuteNow(): number {
  return Math.floor(Date.now() / MINUTE_MS)
}

function waitForMinute(): number {
  const left = MINUTE_MS - (Date.now() % MINUTE_MS)
  return left > ROWS_MS ? 0 : left
}

function sqlitePlace(): Place {
  let number = 0
  return {
    name: 'SQLite',
    open: async () => `sqlite:${join(folder, String((number += 1)), 'grantor.db')}`,
    async count(url, sql) {
      const database = new DatabaseSync(url.slice('sqlite:'.length))
      const row = database.prepare(sql).get()
      database.close()
      return Number(row?.['n'])
    },
  }
}

function postgresPlace(): Place {
  return {
    name: 'PostgreSQL',
    open: async () => (await postgres.createDatabase()).url,
    async count(url, sql) {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      const { rows } = await client.query<{ readonly n: string }>(sql)
      await client.end()
      return Number(rows[0]?.n)
    },
  }
}
