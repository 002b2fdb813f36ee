import pg from 'pg'
import { StoreUnavailable } from '../../../ports/store.ts'
import type { Chains } from '../../../audit/chain.ts'
import type { Row } from '../../rows.ts'
import { openQuery, type Parameter, type Query, type Statement } from './query.ts'
import { allOrFirstFault, checkFault, isUnconfirmedCommit, unavailable } from './faults.ts'

/**
 * Names the statement that is sent together with the commit, so that it costs no extra round trip. Its rows are not
 * returned.
 */
export type Finish = (statement: Statement, parameters: readonly Parameter[]) => void

export interface PostgresOptions {
  /** postgres://user:password@host:port/database, with libpq's parameters such as sslmode. */
  readonly url: string
  readonly connections: number
  /** Writes the audit. Absent: no audit is written. */
  readonly audit?: Chains
  /** Whether to use the statements for tables that Citus distributes. Absent: the store looks whether they are. */
  readonly isDistributed?: boolean
}

/**
 * A database connection pool. Every method throws StoreUnavailable if the database is unreachable or did not respond in
 * time.
 */
export interface Database {
  readonly isDistributed: boolean
  /** Runs one statement in its own transaction. */
  readonly query: Query
  /**
   * Runs `work` in one transaction, which commits completely or not at all. `answerBy` is a deadline on the clock of
   * `performance`. After StoreUnavailable it is unknown whether the transaction committed; after any other error it did not.
   * `work` may run several times.
   */
  readonly transact: <T>(work: (query: Query, finish: Finish) => Promise<T>, answerBy: number) => Promise<T>
  /** The same for work that sends a single statement, which is the whole transaction and costs one round trip. */
  readonly once: <T>(work: (query: Query) => Promise<T>, answerBy: number) => Promise<T>
  /** Waits for what is running, then closes the pool. */
  readonly close: () => Promise<void>
}

/** The longest wait for a connection. It is part of the longest wait for a result. */
const CONNECT_TIMEOUT_MS = 3000
const ANSWER_TIMEOUT_MS = 4000
/** Shorter than the client's own limit, so that PostgreSQL, if it can, gives up first and reports why. */
const STATEMENT_TIMEOUT_MS = 3000
const LOCK_TIMEOUT_MS = 2000
/** The most requests that wait for a connection; more could not be served in time. Further ones fail at once. */
const WAITING_LIMIT = 1000
/** How often an attempt that changed nothing is repeated: more often than there are connections that can be stale. */
const TRIES = 5

/**
 * Settings that every connection must have. Every statement finds its rows by a key, so plans that read a whole table are
 * disabled: PostgreSQL chooses them while a table is small and not analyzed, and keeps them while the table grows.
 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  synchronous_commit: 'on',
  default_transaction_isolation: 'read committed',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
  statement_timeout: String(STATEMENT_TIMEOUT_MS),
  lock_timeout: String(LOCK_TIMEOUT_MS),
  idle_in_transaction_session_timeout: String(ANSWER_TIMEOUT_MS),
  client_min_messages: 'warning',
}

/** Citus chooses the shards of a statement by its parameters, which a plan that is made once does not have. */
const DISTRIBUTED_SETTINGS = { ...SESSION_SETTINGS, plan_cache_mode: 'force_custom_plan' }

const INT8 = 20

/** Statements without a name are not prepared. */
const BEGIN = { name: '', text: 'begin' }
const COMMIT = { name: '', text: 'commit' }
const ROLLBACK = { name: '', text: 'rollback' }

/** The settings that a connection must have. */
export function sessionSettings(isDistributed: boolean): Readonly<Record<string, string>> {
  return isDistributed ? DISTRIBUTED_SETTINGS : SESSION_SETTINGS
}

/** The options of every connection. */
export function connectionOptions(url: string, isDistributed = false): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'grantor',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    options: Object.entries(sessionSettings(isDistributed))
      .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
      .join(' '),
    // Milliseconds are exact as a number until the year 287396.
    types: { getTypeParser: (oid: number) => (oid === INT8 ? Number : String) },
  }
}

/** Opens a pool of connections. It connects on first use. */
export function openDatabase({ url, connections, isDistributed = false }: Omit<PostgresOptions, 'audit'>): Database {
  const pool = new pg.Pool({
    ...connectionOptions(url, isDistributed),
    max: connections,
    idleTimeoutMillis: 60_000,
    keepAliveInitialDelayMillis: 10_000,
    // `begin` and the first statement are sent together.
    pipeline: true,
  })
  // The pool drops a connection that breaks while it is idle. No caller is waiting for it.
  pool.on('error', () => undefined)
  // If a connection breaks while it is in use, its statements fail and report that. Without a listener the error would end
  // the process as well.
  pool.on('connect', (client) => client.on('error', () => undefined))
  const unconfirmed = new WeakSet<pg.ClientBase>()
  pool.on('connect', (client) => {
    client.on('notice', (notice) => void (isUnconfirmedCommit(notice) && unconfirmed.add(client)))
  })

  async function attempt<T>(work: (query: Query) => Promise<T>, answerBy: number): Promise<T> {
    const client = await connect(pool)
    let isUsable = false
    try {
      const result = await work(openQuery(client, answerBy, isDistributed))
      if (unconfirmed.has(client)) throw new StoreUnavailable('a machine of the database did not confirm a commit')
      isUsable = true
      return result
    } catch (cause) {
      // PostgreSQL responded, so the connection can be reused.
      isUsable = ['conflict', 'refused'].includes(checkFault(cause))
      throw cause
    } finally {
      // The connection is destroyed without a goodbye, because the server may not respond.
      if (!isUsable) client.connection.stream.destroy()
      client.release(!isUsable)
    }
  }

  /** Repeats an attempt that changed nothing because of another transaction or a broken connection. */
  async function persist<T>(work: (query: Query) => Promise<T>, answerBy: number): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        if (performance.now() >= answerBy) throw new StoreUnavailable('PostgreSQL was too slow')
        return await attempt(work, answerBy)
      } catch (cause) {
        const fault = checkFault(cause)
        if (fault !== 'conflict' && fault !== 'stale-connection') throw cause
        if (tries === TRIES) throw unavailable(cause)
      }
    }
  }

  let underWay = 0
  let whenIdle: () => void = () => undefined

  async function run<T>(work: (query: Query) => Promise<T>, answerBy: number): Promise<T> {
    underWay += 1
    try {
      return await persist(work, answerBy)
    } finally {
      underWay -= 1
      if (underWay === 0) whenIdle()
    }
  }

  async function runAlone(statement: Statement, parameters: readonly Parameter[] = []): Promise<readonly Row[]> {
    // No text in PostgreSQL contains this character, so no row matches.
    if (parameters.some((value) => typeof value === 'string' && value.includes('\0'))) return []
    return run((query) => query(statement, parameters), answerDeadline())
  }

  return {
    isDistributed,
    query: Object.assign(runAlone, { isDistributed }),
    transact: (work, answerBy) => run((query) => transact(query, work), answerBy),
    once: run,
    async close() {
      // A pool that is closing gives no connection to waiting callers.
      if (underWay > 0) await new Promise<void>((resolve) => (whenIdle = resolve))
      await pool.end()
    },
  }
}

/** Returns the deadline for a result that is requested now. */
export function answerDeadline(): number {
  return performance.now() + ANSWER_TIMEOUT_MS
}

async function transact<T>(query: Query, work: (query: Query, finish: Finish) => Promise<T>): Promise<T> {
  const begun = query(BEGIN)
  const last: Parameters<Finish>[] = []
  try {
    const [result] = await allOrFirstFault([work(query, (...statement) => void last.push(statement)), begun])
    // If one of them is rejected, the commit has nothing to commit and reports no error.
    await allOrFirstFault([...last.map((statement) => query(...statement)), query(COMMIT)])
    return result
  } catch (cause) {
    // If the database is unavailable, the connection is destroyed, which ends the transaction.
    if (checkFault(cause) !== 'unavailable') await query(ROLLBACK)
    throw cause
  }
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  if (pool.waitingCount >= WAITING_LIMIT) throw new StoreUnavailable('too many wait for a connection to PostgreSQL')
  try {
    return await pool.connect()
  } catch (cause) {
    throw unavailable(cause)
  }
}
