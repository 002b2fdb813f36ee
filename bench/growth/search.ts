import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { searchUsers } from '../../src/admin/user/search.ts'
import { fold } from '../../src/base/fold.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { CLOCK_MARGIN_MS } from '../../src/base/clock.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Context } from '../../src/ports/context.ts'
import { mintUserId } from '../../src/protocol/ids.ts'
import { normalizeEmail } from '../../src/protocol/sign-in/email-address.ts'
import { openUserIndexer } from '../../src/server/background/user-indexer.ts'
import { openRuntime } from '../../src/server/context.ts'
import { newUser } from '../../src/users/new-user.ts'
import type { BenchDatabase } from '../../tools/postgres/database.ts'
import { newSecret } from '../../tools/process/server.ts'
import { quantile } from '../../tools/statistics.ts'
import { runOnPostgres, runOnSqlite } from './fill.ts'

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
  /** Users that the index got in a second meanwhile. */
  readonly indexedPerSecond: number
}

const FIRST =
  'Greta Hans Otto Zoë Anna Łukasz Søren José Chloé Emma Liam Noah Olivia Mia Jürgen Ivan Wei Yuki Omar Fatima'
const SYLLABLES = 'ka lo mi ra ne to su vi pe do gra bel hin mar tes fol wen sch bur zak'.split(' ')
const SPAN_MS = 30 * 24 * 60 * 60 * 1000
const YOUNGEST_MS = 120_000
const ROWS_OF_STATEMENT = 1000
const SEARCHES = 200
/** Far more than a server gets: nine million a day. The states take turns, so that other load on the machine affects both. */
const SIGN_UPS = { perSecond: 100, seconds: 5, turns: 12 } as const

/** Fills a store with users, indexes them, and searches. */
export async function measureSearch(
  users: number,
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
    const signUps = await signUpInTurns(context, indexing)
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

/** The indexer of a server. `start` resolves when all users are indexed, or after `stop`. */
function openIndexing(context: Context) {
  let isOn = false
  let count = 0
  let answered = 0
  const indexUsers: Context['store']['indexUsers'] = async (turn) => {
    const indexed = await context.store.indexUsers(turn)
    count += indexed.count
    return indexed
  }
  const load = { answered: () => answered, monotonic: () => performance.now() }
  const clockCheck = { ...context.clockCheck, differenceMs: () => 0 }
  const { round } = openUserIndexer({ ...context, clockCheck, store: { indexUsers } }, () => isOn, load)
  return {
    count: () => count,
    addAnswer: () => void (answered += 1),
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
  'a text of a twentieth of the users': (index) => FIRST.split(' ')[index % 20] ?? '',
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

async function signUpInTurns(context: Context, indexing: ReturnType<typeof openIndexing>) {
  const states = [
    { state: 'alone' as const, times: [] as number[], count: 0 },
    { state: 'indexed' as const, times: [] as number[], count: 0 },
  ]
  for (let turn = 0; turn < SIGN_UPS.turns; turn += 1) {
    for (const one of turn % 2 === 0 ? states : states.toReversed()) {
      const before = indexing.count()
      const round = one.state === 'indexed' ? indexing.start() : undefined
      await signUp(context, one.times, indexing.addAnswer)
      indexing.stop()
      await round
      one.count += indexing.count() - before
    }
  }
  return states.map(({ state, times, count }) => ({
    state,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    indexedPerSecond: count / (SIGN_UPS.seconds * SIGN_UPS.turns),
  }))
}

/** Creates users at a steady pace, each in a commit of its own. */
async function signUp(context: Context, times: number[], addAnswer: () => void): Promise<void> {
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
    await context.store.createUser(user)
    times.push(performance.now() - before)
    addAnswer()
  }
}

function* fillUsers(users: number): Generator<string> {
  const now = Date.now() - YOUNGEST_MS - SPAN_MS
  for (let from = 0; from < users; from += ROWS_OF_STATEMENT) {
    const rows = Array.from({ length: Math.min(ROWS_OF_STATEMENT, users - from) }, (_, row) => {
      const index = from + row
      const time = Math.floor(now + (index * SPAN_MS) / users) as EpochMs
      return `('${mintUserId(time, randomBytes)}', '${emailOf(index)}', '${nameOf(index)}', ${time}, ${time}, ${time})`
    })
    yield `insert into users (user_id, email, name, updated_at, created_at, not_before) values ${rows.join(', ')}`
  }
}

function nameOf(index: number): string {
  const word = wordOf(index, 3)
  return `${FIRST.split(' ')[index % 20]} ${word.charAt(0).toUpperCase()}${word.slice(1)}`
}

function emailOf(index: number): string {
  return `${wordOf(index * 7, 2)}.${wordOf(index, 3)}${index}@${wordOf(index % 1000, 2)}.example`
}

/** Syllables that follow from a number. */
function wordOf(index: number, length: number): string {
  let rest = (Math.imul(index + 1, 0x9e3779b1) >>> 0) % 3_200_000
  let word = ''
  for (let place = 0; place < length; place += 1) {
    word += SYLLABLES[rest % SYLLABLES.length] ?? ''
    rest = Math.floor(rest / SYLLABLES.length)
  }
  return word
}
