import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { searchUsers } from '../../src/admin/user/search.ts'
import { fold } from '../../src/base/fold.ts'
import { CLOCK_MARGIN_MS } from '../../src/base/clock.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Context } from '../../src/ports/context.ts'
import { normalizeEmail } from '../../src/protocol/sign-in/email-address.ts'
import { openUserIndexer } from '../../src/server/background/user-indexer.ts'
import { openRuntime } from '../../src/server/context.ts'
import { newUser } from '../../src/users/new-user.ts'
import type { BenchDatabase } from '../../tools/postgres/database.ts'
import { newSecret } from '../../tools/process/server.ts'
import { quantile } from '../../tools/statistics.ts'
import { runOnPostgres, runOnSqlite } from './fill.ts'
import { emailOf, fillUsers, FIRST_NAMES, nameOf, wordOf } from './users.ts'

/** What a search of users takes, and what the index costs. */
export interface SearchTimes {
  readonly searches: readonly { readonly text: string; readonly p50Ms: number; readonly p95Ms: number }[]
  /** Users that the index gets in a second, with the pauses of a server that has nothing else to do. */
  readonly indexedPerSecond: number
  /** Sign-ups while the index is not written, and while it lacks most users and is written. */
  readonly signUps: readonly SignUpTimes[]
}

export interface SignUpTimes {
  readonly state: 'alone' | 'indexed'
  readonly p50Ms: number
  readonly p99Ms: number
  /** The share of the sign-ups during which the index was written, and the p99 of the others: the machine was as busy for them. */
  readonly waitedShare: number
  readonly othersP99Ms: number
  /** Users that the index got in a second meanwhile. */
  readonly indexedPerSecond: number
}

const SEARCHES = 200
/** Far more than a server gets: nine million a day. The states take turns, so that other load on the machine affects both. */
const SIGN_UPS = { perSecond: 100, seconds: 5 } as const

/** Fills a store with users, indexes them, and searches. */
export async function measureSearch(
  users: number,
  rounds: number,
  folder: string,
  database: BenchDatabase | undefined,
): Promise<SearchTimes> {
  const path = join(folder, `search-${users}.db`)
  const url = database === undefined ? `sqlite:${path}` : (await database.open()).url
  const config = readConfig({ DATABASE_URL: url, GRANTOR_SECRET: newSecret(), LOG_LEVEL: 'silent' })
  await (await openRuntime(config, undefined, 'server')).close()
  if (database === undefined) runOnSqlite(path, fillUsers(users))
  else await runOnPostgres(url, fillUsers(users))
  const { context, close } = await openRuntime(config, undefined, 'server')
  try {
    const indexing = openIndexing(context)
    const signUps = await signUpInTurns(context, indexing, rounds)
    const before = { at: performance.now(), count: indexing.count() }
    await indexing.start()
    const indexedPerSecond = ((indexing.count() - before.count) * 1000) / (performance.now() - before.at)
    await delay(CLOCK_MARGIN_MS)
    await indexing.start()
    await database?.settle()
    const searches = []
    for (const [text, queryOf] of Object.entries(QUERIES))
      searches.push({ text, ...(await search(context, users, queryOf)) })
    return { searches, indexedPerSecond, signUps }
  } finally {
    await close()
  }
}

type Indexing = ReturnType<typeof openIndexing>

/** The indexer of a server. `start` resolves when all users are indexed, or after `stop`. */
function openIndexing(context: Context) {
  let isOn = false
  let count = 0
  let answered = 0
  const turns = { begun: 0, ended: 0 }
  const indexUsers: Context['store']['indexUsers'] = async (turn) => {
    turns.begun += 1
    const indexed = await context.store.indexUsers(turn)
    turns.ended += 1
    count += indexed.count
    return indexed
  }
  const load = { answered: () => answered, monotonic: () => performance.now() }
  const clockCheck = { ...context.clockCheck, differenceMs: () => 0 }
  const { round } = openUserIndexer({ ...context, clockCheck, store: { indexUsers } }, () => isOn, load)
  return {
    count: () => count,
    /** Runs a request, and returns whether a turn ran meanwhile. */
    request: async (run: () => Promise<unknown>): Promise<boolean> => {
      const { ended } = turns
      await run()
      answered += 1
      return turns.begun > ended
    },
    start() {
      isOn = true
      return round()
    },
    stop: () => void (isOn = false),
  }
}

const QUERIES: Readonly<Record<string, (index: number) => string>> = {
  'a part of a name, in lower case': (index) => nameOf(index).toLowerCase().slice(-7),
  'a part of an address': (index) => emailOf(index).slice(3, 14),
  'a name without its accents': (index) => fold(nameOf(index)),
  'no match': (index) => `${wordOf(index, 5)}qqx`,
  'a text of a twentieth of the users': (index) => FIRST_NAMES[index % 20] ?? '',
}

async function search({ store }: Context, users: number, queryOf: (index: number) => string) {
  const times: number[] = []
  for (let visit = 0; visit < SEARCHES; visit += 1) {
    const text = queryOf(Math.floor(users * ((visit * 0.618_033_988 + 0.1) % 1)))
    const before = performance.now()
    await searchUsers({ store }, text, { limit: 50, before: undefined })
    times.push(performance.now() - before)
  }
  return { p50Ms: quantile(times, 0.5), p95Ms: quantile(times, 0.95) }
}

async function signUpInTurns(context: Context, indexing: Indexing, rounds: number) {
  const states = [
    { state: 'alone' as const, times: [] as SignUpTime[], count: 0 },
    { state: 'indexed' as const, times: [] as SignUpTime[], count: 0 },
  ]
  for (let round = 0; round < rounds; round += 1) {
    for (const one of round % 2 === 0 ? states : states.toReversed()) {
      const before = indexing.count()
      const written = one.state === 'indexed' ? indexing.start() : undefined
      await signUp(context, indexing, one.times)
      indexing.stop()
      await written
      one.count += indexing.count() - before
    }
  }
  return states.map(({ state, times, count }) => {
    const others = times.filter(({ hasWaited }) => !hasWaited)
    return {
      state,
      p50Ms: quantile(
        times.map(({ ms }) => ms),
        0.5,
      ),
      p99Ms: quantile(
        times.map(({ ms }) => ms),
        0.99,
      ),
      waitedShare: 1 - others.length / times.length,
      othersP99Ms: quantile(
        others.map(({ ms }) => ms),
        0.99,
      ),
      indexedPerSecond: count / (SIGN_UPS.seconds * rounds),
    }
  })
}

interface SignUpTime {
  readonly ms: number
  readonly hasWaited: boolean
}

/** Creates users at a steady pace, each in a commit of its own. */
async function signUp(context: Context, { request }: Indexing, times: SignUpTime[]): Promise<void> {
  const start = performance.now()
  for (let count = 0; count < SIGN_UPS.perSecond * SIGN_UPS.seconds; count += 1) {
    await delay(Math.max(0, start + (count * 1000) / SIGN_UPS.perSecond - performance.now()))
    const user = newUser(context, context.clock(), {
      email: normalizeEmail(`${randomBytes(6).toString('hex')}@acme.test`),
      emailVerifiedAt: undefined,
      name: nameOf(count),
      passwordHash: undefined,
    })
    const before = performance.now()
    const hasWaited = await request(() => context.store.createUser(user))
    times.push({ ms: performance.now() - before, hasWaited })
  }
}
