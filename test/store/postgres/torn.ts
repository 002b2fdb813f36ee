import pg from 'pg'
import type { TestContext } from 'node:test'
import type { Operation, OperationName } from '../../../src/ports/operations/index.ts'
import { operationOf, type Given } from '../contract/harness.ts'
import { authorizationStatements } from '../../../src/store/postgres/authorizations.ts'
import { connectionOptions, type Database } from '../../../src/store/postgres/connection/database.ts'
import { distributedHandlers } from '../../../src/store/postgres/distributed-keys.ts'
import { distributedUserHandlers } from '../../../src/store/postgres/distributed-users.ts'
import { SHARD_KEYS } from '../../../src/store/postgres/distribution.ts'
import type { Handlers } from '../../../src/store/postgres/handlers.ts'
import { openQuery, type Query } from '../../../src/store/postgres/connection/query.ts'
import { sharedHandlers } from '../../../src/store/postgres/steps.ts'
import { tokenStatements } from '../../../src/store/postgres/tokens.ts'

/**
 * Transactions whose parts become visible one after the other, as those of Citus do, on one PostgreSQL: the statements on the tables
 * of each shard key have a transaction of their own.
 */

/** The tables of one shard key are on one machine for one user, so their rows are committed together. */
export type Part = string

/** An authorization and its grant have one id, so they are on one shard. */
const SAME_SHARD: Readonly<Record<string, Part>> = { grant_id: 'authorization_id' }

const WITHOUT_READS = { query: undefined } as unknown as Database
const HANDLERS = {
  ...sharedHandlers,
  ...authorizationStatements(WITHOUT_READS).handlers,
  ...tokenStatements(WITHOUT_READS).handlers,
  ...distributedHandlers,
  ...distributedUserHandlers,
} as Partial<Handlers>

/** The statements that wait for other parts (src/store/postgres/settle.ts, nouns/organization/joined.ts). */
const SETTLING =
  /^insert into (sessions|identities|emails|grants) .* values \(\$1, ''|^insert into group_members .* 0, 0\)|set status = status/s
const HOLDING = 'update users set password_hash = password_hash where user_id = $1 returning email, email_verified_at'
const NOT_HOLDING = { name: 'not-holding', text: 'select email from users where user_id = $1' }

export interface Tearing {
  /** The parts that an operation changes, found by running it and rolling it back. */
  readonly partsOf: (operation: Operation) => Promise<readonly Part[]>
  /** Runs the operations one after the other, and returns their outcomes. */
  readonly runInOrder: (first: Operation, second: Operation) => Promise<readonly unknown[]>
  /** Runs the first operation, and then the others while all parts of the first but one are visible. */
  readonly runTorn: (first: Operation, late: Part, ...others: readonly Operation[]) => Promise<readonly unknown[]>
}

/** Opens the sessions. `isSettling`: false plants the fault that no statement waits for other parts. */
export async function openTearing(
  test: Pick<TestContext, 'after'>,
  url: string,
  { isSettling = true }: { readonly isSettling?: boolean } = {},
): Promise<Tearing> {
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client(connectionOptions(url, true))
    client.on('error', () => undefined)
    await client.connect()
    test.after(() => client.end())
    return client
  }
  const sessions = new Map<Part, pg.Client>()
  for (const part of new Set(Object.values(SHARD_KEYS).map(shardOf))) sessions.set(part, await connect())
  const [whole, observer] = [await connect(), await connect()]
  const { rows } = await whole.query<{ readonly pid: number }>('select pg_backend_pid() as pid')
  const wholeId = rows[0]?.pid

  function queryOf(clientOf: (text: string) => pg.Client | Promise<pg.Client>): Query {
    const run: Query = Object.assign(
      async (...[statement, parameters]: Parameters<Query>) => {
        if (!isSettling && SETTLING.test(statement.text)) return []
        const query = openQuery((await clientOf(statement.text)) as pg.PoolClient, performance.now() + 10_000, true)
        return query(!isSettling && statement.text === HOLDING ? NOT_HOLDING : statement, parameters)
      },
      { isDistributed: true },
    )
    return run
  }

  async function perform({ name, input }: Operation, query: Query): Promise<unknown> {
    const handler = HANDLERS[name] as unknown as {
      run: (query: Query, inputs: readonly unknown[]) => Promise<readonly unknown[]>
    }
    return (await handler.run(query, [input]))[0]
  }

  /** An operation that fails changes nothing. */
  async function runWhole(operation: Operation): Promise<unknown> {
    await whole.query('begin')
    try {
      const outcome = await perform(
        operation,
        queryOf(() => whole),
      )
      await whole.query('commit')
      return outcome
    } catch (cause) {
      await whole.query('rollback')
      return String(cause)
    }
  }

  async function runEach(operations: readonly Operation[]): Promise<readonly unknown[]> {
    const outcomes: unknown[] = []
    for (const operation of operations) outcomes.push(await runWhole(operation))
    return outcomes
  }

  /** Begins a transaction for each part that the operation needs, and adds its session to `begun`. */
  async function runInParts(operation: Operation, begun: Map<Part, Promise<pg.Client>>): Promise<unknown> {
    const begin = async (part: Part): Promise<pg.Client> => {
      const session = sessions.get(part) as pg.Client
      await session.query('begin')
      return session
    }
    return perform(
      operation,
      queryOf((text) => begun.getOrInsertComputed(partOf(text), begin)),
    )
  }

  async function isWaiting(): Promise<boolean> {
    const waiting = await observer.query('select 1 from pg_locks where not granted and pid = $1', [wholeId])
    return waiting.rowCount !== 0
  }

  return {
    async partsOf(operation) {
      const touched = new Set<Part>()
      await whole.query('begin')
      await perform(
        operation,
        queryOf((text) => {
          if (/^(insert|update|delete)\b/.test(text)) touched.add(partOf(text))
          return whole
        }),
      )
      await whole.query('rollback')
      return [...touched]
    },
    runInOrder: (first, second) => runEach([first, second]),
    async runTorn(first, late, ...others) {
      const begun = new Map<Part, Promise<pg.Client>>()
      const commit = async (part: Part): Promise<unknown> => (await begun.get(part))?.query('commit')
      const outcome = await runInParts(first, begun)
      await Promise.all([...begun.keys()].filter((part) => part !== late).map(commit))
      const following = runEach(others)
      // It ends by itself if it needs nothing of the late part.
      const end = following.then(() => true)
      while (!(await Promise.race([end, isWaiting()])));
      await commit(late)
      return [outcome, ...(await following)]
    },
  }
}

/** The shard key of the first distributed table of a statement. Copied tables are read with the users. */
function partOf(text: string): Part {
  const tables = [...text.matchAll(/\b(?:from|into|update|join)\s+(\w+)/g)].map(([, table]) => table ?? '')
  return shardOf(SHARD_KEYS[tables.find((table) => table in SHARD_KEYS) ?? 'users'] ?? '')
}

function shardOf(key: string): Part {
  return SAME_SHARD[key] ?? key
}

/** An operation whose input is checked by its name. */
export function aDeed<Name extends OperationName>(name: Name, input: Given<Name>): Operation {
  return operationOf(name, input)
}
