import pg from 'pg'
import { StoreUnavailable } from '../../ports/store.ts'
import type { Chains } from '../../audit/chain.ts'
import type { Row } from '../rows.ts'
import { arrayLiteral, type Scalar } from './column-parameters.ts'
import { allOrFirstFault, faultOf, checkFault, unavailable } from './faults.ts'

/** A statement that is prepared once for each connection, under its name. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** A parameter: a value, or the values of one column of many rows. */
export type Parameter = Scalar | readonly Scalar[]

/** Runs one statement and answers its rows. */
export type Query = (statement: Statement, parameters?: readonly Parameter[]) => Promise<readonly Row[]>

/** Says which statement is sent together with the commit, so that it costs no round trip. Nobody sees its rows. */
export type Finish = (statement: Statement, parameters: readonly Parameter[]) => void

export interface PostgresOptions {
  /** postgres://user:password@host:port/database, with what libpq's addresses may say, such as sslmode. */
  readonly url: string
  readonly connections: number
  /** What writes the audit; absent: nobody does. */
  readonly audit?: Chains
}

/** A database, and how to talk to it. Every method throws StoreUnavailable when it cannot be had or did not answer in time. */
export interface Database {
  /** One statement in a transaction of its own. */
  readonly query: Query
  /**
   * All or nothing, or StoreUnavailable at the moment `answerBy` on the clock of `performance`. Told StoreUnavailable,
   * nobody knows whether it was committed; told anything else, it was not. `work` may run several times.
   */
  readonly transact: <T>(work: (query: Query, finish: Finish) => Promise<T>, answerBy: number) => Promise<T>
  /** The same for work that sends one statement: it is the whole transaction, and costs one round trip. */
  readonly once: <T>(work: (query: Query) => Promise<T>, answerBy: number) => Promise<T>
  /** Lets what is under way finish. */
  readonly close: () => Promise<void>
}

/** Longest wait for a connection; part of the longest wait for an answer. */
const CONNECT_TIMEOUT_MS = 3000
const ANSWER_TIMEOUT_MS = 4000
/** Shorter, so that PostgreSQL itself gives up first and says why, where it can. */
const STATEMENT_TIMEOUT_MS = 3000
const LOCK_TIMEOUT_MS = 2000
/** More may wait for a connection than can be served in time. Beyond it they are told at once. */
const WAITING_LIMIT = 1000
/** How often something is tried of which nothing happened: more often than there are connections that can be stale. */
const TRIES = 5

/**
 * What must hold on every connection. Every statement finds its rows by a key, so the plans that would read a whole table
 * are switched off: PostgreSQL chooses them while a table is small and not analyzed, and keeps them while it grows.
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
}

const INT8 = 20

/** Without a name they are not prepared. */
const BEGIN = { name: '', text: 'begin' }
const COMMIT = { name: '', text: 'commit' }
const ROLLBACK = { name: '', text: 'rollback' }

/** How every connection is made. */
export function connectionOptions(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'grantor',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    options: Object.entries(SESSION_SETTINGS)
      .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
      .join(' '),
    // Milliseconds fit a number until the year 287396.
    types: { getTypeParser: (oid: number) => (oid === INT8 ? Number : String) },
  }
}

/** A pool of connections. Connects when it is first asked for something. */
export function openDatabase({ url, connections }: Omit<PostgresOptions, 'audit'>): Database {
  const pool = new pg.Pool({
    ...connectionOptions(url),
    max: connections,
    idleTimeoutMillis: 60_000,
    keepAliveInitialDelayMillis: 10_000,
    // `begin` and the first statement travel together.
    pipeline: true,
  })
  // A connection that breaks while it is idle is dropped by the pool, and nobody was waiting for it.
  pool.on('error', () => undefined)
  // One that breaks while it is in use fails its statements, which say so. Unheard, it would end the process as well.
  pool.on('connect', (client) => client.on('error', () => undefined))

  async function attempt<T>(work: (query: Query) => Promise<T>, answerBy: number): Promise<T> {
    const client = await connect(pool)
    let isSound = false
    try {
      const result = await work(openQuery(client, answerBy))
      isSound = true
      return result
    } catch (cause) {
      // PostgreSQL answered, and the connection is as before.
      isSound = ['conflict', 'refused'].includes(checkFault(cause))
      throw cause
    } finally {
      // Not asked to end: nobody may be there who would answer.
      if (!isSound) client.connection.stream.destroy()
      client.release(!isSound)
    }
  }

  /** Tries again what did not happen, because another transaction or the connection was in the way. */
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

  return {
    async query(statement, parameters = []) {
      // No text in PostgreSQL holds this character, so there is no row with it.
      if (parameters.some((value) => typeof value === 'string' && value.includes('\0'))) return []
      return run((query) => query(statement, parameters), answerDeadline())
    },
    transact: (work, answerBy) => run((query) => transact(query, work), answerBy),
    once: run,
    async close() {
      // A pool that ends gives no connection to those who wait for one.
      if (underWay > 0) await new Promise<void>((resolve) => (whenIdle = resolve))
      await pool.end()
    },
  }
}

/** By when an answer must be there that is asked for now. */
export function answerDeadline(): number {
  return performance.now() + ANSWER_TIMEOUT_MS
}

async function transact<T>(query: Query, work: (query: Query, finish: Finish) => Promise<T>): Promise<T> {
  const begun = query(BEGIN)
  const last: Parameters<Finish>[] = []
  try {
    const [result] = await allOrFirstFault([work(query, (...statement) => void last.push(statement)), begun])
    // When one of them is refused, the commit finds nothing that it could commit, and says no fault.
    await allOrFirstFault([...last.map((statement) => query(...statement)), query(COMMIT)])
    return result
  } catch (cause) {
    // What made the database unavailable ends the transaction with the connection.
    if (checkFault(cause) !== 'unavailable') await query(ROLLBACK)
    throw cause
  }
}

function openQuery(client: pg.PoolClient, answerBy: number): Query {
  return async ({ name, text }, parameters = []) => {
    // The network may swallow a statement or its answer; PostgreSQL's own limits cannot tell us then.
    const query_timeout = Math.ceil(answerBy - performance.now())
    if (query_timeout <= 0) throw new StoreUnavailable('PostgreSQL was too slow')
    try {
      const values = parameters.map((value) =>
        typeof value === 'object' && value !== null ? arrayLiteral(value) : value,
      )
      const config = { name, text, values, query_timeout }
      const { rows } = await client.query<Row>(config)
      return rows
    } catch (cause) {
      throw faultOf(cause)
    }
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
