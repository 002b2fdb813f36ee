import pg from 'pg'
import { StoreUnavailable } from '../../ports/store.ts'
import type { Row, Value } from '../rows.ts'

/** A statement that is prepared once for each connection, under its name. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** A parameter: a value, or the values of one column of many rows. */
export type Parameter = Value | boolean | readonly (Value | boolean)[]

/** Runs one statement and answers its rows. */
export type Query = (statement: Statement, parameters?: readonly Parameter[]) => Promise<readonly Row[]>

export interface PostgresOptions {
  /** postgres://user:password@host:port/database, with what libpq's addresses may say, such as sslmode. */
  readonly url: string
  readonly connections: number
}

/** A database, and how to talk to it. Every method throws StoreUnavailable when it cannot be had or did not answer in time. */
export interface Database {
  /** One statement in a transaction of its own. */
  readonly query: Query
  /** All or nothing. Told StoreUnavailable, nobody knows whether it was committed; told anything else, it was not. */
  readonly transact: <T>(work: (query: Query) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

/** Longest wait for a connection, and for the answer to one statement. Together well below what clients wait for us. */
const CONNECT_TIMEOUT_MS = 2000
const STATEMENT_TIMEOUT_MS = 3000
const LOCK_TIMEOUT_MS = 2000
/** The network may have swallowed the statement or its answer; PostgreSQL's own limit cannot tell us then. */
const ANSWER_TIMEOUT_MS = 4000

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
export function openDatabase({ url, connections }: PostgresOptions): Database {
  const pool = new pg.Pool({
    ...connectionOptions(url),
    max: connections,
    query_timeout: ANSWER_TIMEOUT_MS,
    idleTimeoutMillis: 60_000,
    // `begin` and the first statement travel together.
    pipeline: true,
  })
  // An idle connection that breaks is dropped by the pool, and nobody was waiting for it.
  pool.on('error', () => undefined)

  async function withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await connect(pool)
    let isSound = false
    try {
      const result = await work(client)
      isSound = true
      return result
    } catch (cause) {
      // PostgreSQL answered and the connection is as before; any other connection may be poisoned and is dropped.
      isSound = cause instanceof pg.DatabaseError && !isStorageFault(cause)
      throw isSound ? cause : unavailable(cause)
    } finally {
      client.release(!isSound)
    }
  }

  return {
    query: (statement, parameters = []) => withClient((client) => ask(client)(statement, parameters)),
    transact: (work) =>
      withClient(async (client) => {
        const begun = client.query('begin')
        try {
          const [result] = await allOrFirstFault([work(ask(client)), begun])
          await client.query('commit')
          return result
        } catch (cause) {
          // Whatever broke the connection ends the transaction as well.
          if (cause instanceof pg.DatabaseError) await client.query('rollback')
          throw cause
        }
      }),
    close: () => pool.end(),
  }
}

function ask(client: pg.PoolClient): Query {
  return async ({ name, text }, parameters = []) => {
    const { rows } = await client.query<Row>({ name, text, values: [...parameters] })
    return rows
  }
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (cause) {
    throw unavailable(cause)
  }
}

/** Waits for all, then answers all, or throws what went wrong first: what comes after it only says that it did. */
export async function allOrFirstFault<T extends readonly unknown[]>(promises: {
  readonly [Index in keyof T]: Promise<T[Index]>
}): Promise<T> {
  const results = await Promise.allSettled(promises)
  const faults = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
  const fault = faults.find((cause) => !isFollowUp(cause)) ?? faults[0]
  if (fault !== undefined) throw fault
  return results.map((result) => (result.status === 'fulfilled' ? result.value : undefined)) as unknown as T
}

/** 25P02: the transaction was aborted by another statement. */
function isFollowUp(cause: unknown): boolean {
  return cause instanceof pg.DatabaseError && cause.code === '25P02'
}

/** The transaction lost against another one, and nothing of it happened: it may be tried again. */
export function isConflict(cause: unknown): boolean {
  return cause instanceof pg.DatabaseError && ['40001', '40P01'].includes(cause.code ?? '')
}

/**
 * https://www.postgresql.org/docs/current/errcodes-appendix.html: connection, read-only, no such database or login, no
 * resources, too complex, canceled or shutting down, lock or object not to be had, system and internal errors. The
 * database's fault, not a statement's.
 */
function isStorageFault({ code = '' }: pg.DatabaseError): boolean {
  return ['25006', '40003'].includes(code) || /^(08|28|3D|53|54|55|57|58|XX)/.test(code)
}

function unavailable(cause: unknown): StoreUnavailable {
  return cause instanceof StoreUnavailable ? cause : new StoreUnavailable('PostgreSQL did not answer', cause)
}

/** Many rows as one parameter a column: what `unnest` takes. */
export function columns<T>(rows: readonly T[], ...read: readonly ((row: T) => Value | boolean | undefined)[]) {
  return read.map((value) => rows.map((row) => value(row) ?? null))
}
