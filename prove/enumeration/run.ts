import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startPostgres } from '../../tools/postgres/postgres.ts'
import { openReader } from '../../tools/postgres/database-reader.ts'
import { readOptions, whole } from '../../tools/options.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { largestT, median } from '../../tools/statistics.ts'
import { openFindings, printReport } from '../findings.ts'
import { compare, HOLDER_ATTEMPTS, openSignInServer, type Comparison } from './campaign.ts'

/** Neither times nor rows reveal which accounts exist. See docs/proofs.md. */

/** threats.md UI-08. */
const T_LIMIT = 4.5
/** The number of attempts after which an account is throttled. */
const ACCOUNT_LIMIT = 10
const MINUTE_MS = 60_000
/** The time that a run may take, because it must be within one minute of the audit's counts. */
const ROWS_MS = 40_000
/** A server adds to the counts of the minute before until it has written them, every ten seconds. */
const FLUSHED_MS = 11_000
const RUNS = 5
const WORD = '"sign-in.failed"'
/** The rows that attempts leave. A server also stores the counts of rate limits in windows of a minute, and heads of chains. */
const COUNTS: readonly (readonly [what: string, sql: string])[] = [
  ['counts', 'select count(*) from hits where window_end - window_start > 60000'],
  [
    'audit events',
    `select sum((length(events) - length(replace(events, '${WORD}', ''))) / ${WORD.length}) from audit_links`,
  ],
  ...['authorizations', 'sessions', 'browsers', 'consents', 'users', 'clients'].map(
    (table) => [table, `select count(*) from ${table}`] as const,
  ),
]

const { pairs, hashed } = readOptions({
  pairs: whole('pairs of refused attempts', 10_000, [1, 1e7]),
  hashed: whole('pairs of attempts with a hash', 1000, [1, 1e7]),
})

/** A kind of database: its name, and the URL of a new empty database. */
interface Store {
  readonly name: string
  readonly create: () => Promise<string>
}

/** Accounts that have a password alone; as many have an app or a passkey too. */
const ACCOUNTS = 2 + Math.ceil((hashed + 20) / ACCOUNT_LIMIT) + 1
/** Pairs below the 1,000 mails that a server sends in an hour because strangers ask for them, so that each known account gets one. */
const RESETS = 400
/** Pairs of changes of address: each sends a mail, so these and the resets stay below the same 1,000. */
const CHANGES = 150
const WARM_UP = 20
/** The server sends so many codes to an address in an hour. */
const CODES = 5
/** The server counts 1,500 attempts a minute of one network at the least. */
const EVERY_MS = 45
const COMPARISONS: readonly (Comparison & { readonly name: string })[] = [
  {
    name: 'refused because of the network',
    way: 'password',
    kinds: ['person', 'nobody'],
    status: 429,
    pairs,
    warmUp: 500,
    everyMs: 0,
    chooseAccount: () => 0,
    chooseNetwork: () => 0,
  },
  {
    name: 'refused because of the account',
    way: 'password',
    kinds: ['person', 'nobody'],
    status: 429,
    pairs,
    warmUp: 500,
    everyMs: 0,
    chooseAccount: () => 1,
    chooseNetwork: (attempt) => 1 + attempt,
  },
  {
    name: 'allowed, with a hash',
    way: 'password',
    kinds: ['person', 'nobody'],
    status: 401,
    pairs: hashed,
    warmUp: WARM_UP,
    everyMs: EVERY_MS,
    chooseAccount: (pair) => 2 + Math.floor(pair / ACCOUNT_LIMIT),
    chooseNetwork: (attempt) => 10_000_000 + attempt,
  },
  {
    name: 'allowed, with a hash, of an account with an app or a passkey',
    way: 'password',
    kinds: ['secure', 'nobody'],
    status: 401,
    pairs: hashed,
    warmUp: WARM_UP,
    everyMs: EVERY_MS,
    chooseAccount: (pair) => ACCOUNTS + Math.floor(pair / ACCOUNT_LIMIT),
    chooseNetwork: (attempt) => 20_000_000 + attempt,
  },
  {
    name: 'a passkey that no user has, for a user with an app or another one',
    way: 'passkey',
    kinds: ['secure', 'nobody'],
    status: 401,
    pairs: hashed,
    warmUp: WARM_UP,
    everyMs: EVERY_MS,
    chooseAccount: (pair) => ACCOUNTS + Math.floor(pair / ACCOUNT_LIMIT),
    chooseNetwork: (attempt) => 30_000_000 + attempt,
  },
  {
    name: 'an identity assertion for a person whom the provider did not sign in',
    way: 'assertion',
    kinds: ['person', 'nobody'],
    status: 400,
    pairs: hashed,
    warmUp: 20,
    everyMs: 0,
    chooseAccount: (pair) => pair % ACCOUNTS,
    chooseNetwork: (attempt) => 50_000_000 + attempt,
  },
  {
    name: 'a forgotten password',
    way: 'reset',
    kinds: ['person', 'nobody'],
    status: 200,
    pairs: Math.min(hashed, RESETS),
    warmUp: WARM_UP,
    everyMs: EVERY_MS,
    chooseAccount: (pair) => pair % ACCOUNTS,
    chooseNetwork: (attempt) => 40_000_000 + attempt,
  },
  {
    name: 'the new address of a user who is signed in',
    way: 'change',
    kinds: ['person', 'nobody'],
    status: 303,
    pairs: Math.min(hashed, CHANGES, CODES * ACCOUNTS - WARM_UP),
    warmUp: WARM_UP,
    everyMs: EVERY_MS,
    chooseAccount: (pair) => pair % ACCOUNTS,
    chooseNetwork: (attempt) => 50_000_000 + attempt,
  },
]
const AFTER_IMPORT = { way: 'password', status: 401, pairs: hashed, warmUp: WARM_UP, everyMs: EVERY_MS } as const
const IMPORTED: typeof COMPARISONS = [
  {
    ...AFTER_IMPORT,
    name: 'after an import, with a hash of another system',
    kinds: ['import', 'nobody'],
    chooseAccount: (pair) => 2 * ACCOUNTS + Math.floor(pair / ACCOUNT_LIMIT),
    chooseNetwork: (attempt) => 60_000_000 + attempt,
  },
  {
    ...AFTER_IMPORT,
    name: 'after an import, with a hash of the server',
    kinds: ['import', 'nobody'],
    chooseAccount: (pair) => 3 * ACCOUNTS + Math.floor(pair / ACCOUNT_LIMIT),
    chooseNetwork: (attempt) => 70_000_000 + attempt,
  },
]
/** The accounts whose pages are compared. */
const PAGE_ACCOUNTS = [
  ['person', 0],
  ['secure', 2],
  ['secure', 3],
  ['import', 4],
  ['nobody', 0],
] as const
/** The accounts of a server with two of each kind, by their number. */
const KNOWN = ['person', 'person', 'secure'] as const
const PAGE_WAYS = ['address', 'password', 'passkey', 'reset', 'change', 'assertion'] as const

beginSession()
const folder = openFolder()
const postgres = await startPostgres({ settings: { fsync: 'on' } })
let files = 0
const findings = openFindings()
const lines: string[] = []
for (const store of [
  { name: 'SQLite', create: async () => `sqlite:${join(folder, String((files += 1)), 'grantor.db')}` },
  { name: 'PostgreSQL', create: async () => (await postgres.createDatabase()).url },
]) {
  lines.push(`${store.name}: |t| at most ${(await compareTimes(store)).toFixed(2)}`)
  await comparePages(store)
  await compareRows(store)
}
await postgres.remove()
if (findings.violations.length === 0) lines.push('the same pages, rows and events')
printReport(`${pairs} refused pairs and ${hashed} with a hash of each kind`, lines, findings)

/** Prints a comparison, which is a violation unless both sides are the same. */
function tell(line: string, isKept: boolean): void {
  if (isKept) findings.progress(line)
  else findings.report(line)
}

/** Returns the largest difference, by Welch's test. */
async function compareTimes({ name, create }: Store): Promise<number> {
  let largest = 0
  const server = await openSignInServer(await create(), ACCOUNTS, holdersFor(2 * (CHANGES + WARM_UP)))
  for (const comparison of [...COMPARISONS, ...IMPORTED]) {
    if (comparison === IMPORTED[0]) await server.noteImport()
    const [times, others] = await compare(server, comparison)
    const t = largestT(times, others)
    const [first, second] = [times, others].map((some) => Math.round(median(some) * 1000))
    largest = Math.max(largest, t)
    tell(
      `${name}, ${comparison.name}: 2 × ${times.length} attempts, median ${first} µs of a known account, ${second} µs of an unknown one, |t| ${t.toFixed(2)}`,
      t < T_LIMIT,
    )
  }
  await server.stop()
  return largest
}

/** Until the password was right, every answer is the same for accounts with and without second factors and for unknown ones (PK-07). */
async function comparePages({ name, create }: Store): Promise<void> {
  const server = await openSignInServer(await create(), 2, holdersFor(PAGE_ACCOUNTS.length * (ACCOUNT_LIMIT + 1)))
  for (const way of PAGE_WAYS) {
    const answers: string[] = []
    // Those after the tenth attempt are refused, but for passkeys.
    for (let round = 0; round <= ACCOUNT_LIMIT; round += 1)
      for (const [kind, index] of PAGE_ACCOUNTS) {
        // A browser has too few attempts by passkey for an account that has none.
        if (way === 'passkey' && kind === 'import') continue
        const { status, page } = await server.attempt({ way, kind, index, network: answers.length + 1 })
        answers.push(`${round} ${status} ${page}`)
      }
    const different = new Set(answers).size
    tell(
      `${name}, pages by ${way}: ${answers.length} answers in ${ACCOUNT_LIMIT + 1} rounds, ${different} different ones`,
      different === ACCOUNT_LIMIT + 1,
    )
  }
  await server.stop()
}

function holdersFor(attempts: number): number {
  return Math.ceil(attempts / HOLDER_ATTEMPTS)
}

/** Thirty attempts from one network, of which the last ten are refused, must leave the same number of rows for both kinds of account. */
async function compareRows(store: Store): Promise<void> {
  const known = await countRows(store, true)
  const unknown = await countRows(store, false)
  const counts = COUNTS.map(([what], index) => `${what} ${known[index]} and ${unknown[index]}`).join(', ')
  tell(`${store.name}, rows after 30 attempts: ${counts}`, known.join() === unknown.join())
}

/**
 * Repeats a run that was not within one minute, because the audit counts by the minute, and one in which the server was too busy to check
 * a password, because such an attempt does not count.
 */
async function countRows({ create }: Store, isKnown: boolean): Promise<readonly number[]> {
  for (let run = 0; run < RUNS; run += 1) {
    const url = await create()
    const server = await openSignInServer(url, 2, 0)
    await delay(waitForMinute())
    const startedIn = minuteNow()
    let isBusy = false
    for (let count = 0; count < 30; count += 1) {
      const index = count % 3
      const kind = isKnown ? KNOWN[index] : 'nobody'
      const { status } = await server.attempt({ way: 'password', kind: kind ?? 'nobody', index, network: 0 })
      isBusy ||= status === 503
    }
    await server.stop()
    if (isBusy || minuteNow() !== startedIn) continue
    const reader = await openReader(url)
    const counts: number[] = []
    for (const [, sql] of COUNTS) counts.push(await reader.read(sql))
    await reader.close()
    return counts
  }
  throw new Error(`None of ${RUNS} runs of thirty attempts fell into one minute, with each password checked.`)
}

function minuteNow(): number {
  return Math.floor(Date.now() / MINUTE_MS)
}

function waitForMinute(): number {
  const at = Date.now() % MINUTE_MS
  return at >= FLUSHED_MS && at < MINUTE_MS - ROWS_MS ? 0 : (MINUTE_MS + FLUSHED_MS - at) % MINUTE_MS
}
