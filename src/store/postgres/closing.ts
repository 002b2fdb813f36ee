import pg from 'pg'
import { CLOSED_STORE } from '../../ports/store.ts'
import type { EpochMs } from '../../base/brand.ts'
import { BACKUP_TABLES } from '../backup/tables.ts'
import { CLOSED } from '../nouns/server/settings.ts'
import { revokeAllTokens } from '../nouns/token/not-before.ts'
import { isDistributed } from './distribution.ts'
import { CLOSED_CODE } from './connection/faults.ts'
import { CONTENTION } from './schema/migrate.ts'
import { withConnection } from './connection/single-connection.ts'
import { queryOf, runSteps } from './steps.ts'

const NAME = { name: 'close' }
/** The name of the trigger of each table, and of the function that they call. */
const TRIGGER = 'grantor_closed'
const REFUSE = `create or replace function ${TRIGGER}() returns trigger language plpgsql as
  $$ begin raise exception using errcode = '${CLOSED_CODE}', message = '${CLOSED_STORE}'; end $$`
const TABLES = `select relname as name from pg_class
  where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname = any($1) order by relname`

/** How long one attempt waits for the transactions that write, while later ones wait for it. */
const LOCK_TIMEOUT_MS = 2000
const ATTEMPTS = 10

/**
 * Rejects tables that Citus distributes: they cannot be closed in one transaction.
 *
 * @throws Error that says what works instead
 */
export function refuseDistributed(url: string): Promise<void> {
  return withConnection(url, NAME, async (client) => {
    if (!(await isDistributed(client))) return
    throw new Error(
      'The tables are distributed by Citus, on whose machines the writes cannot be stopped in one transaction. "grantor export" without --final works.',
    )
  })
}

/**
 * Closes the store in one transaction, which waits for the transactions that are writing: from then on triggers refuse the writes of
 * every node, also of one that noticed nothing yet.
 *
 * @throws Error if it is closed already, or other transactions write for too long
 */
export function closePostgres(url: string, now: EpochMs): Promise<void> {
  return withConnection(url, NAME, (client) =>
    change(client, async (tables) => {
      await client.query('insert into settings (name, value) values ($1, $2)', [CLOSED, String(now)])
      await client.query(REFUSE)
      for (const table of tables)
        await client.query(
          `create trigger ${TRIGGER} before insert or update or delete or truncate on ${table}
           for each statement execute function ${TRIGGER}()`,
        )
    }),
  )
}

/** Opens a closed store again. With `endedAt`, everything that was issued until that time is revoked in the same transaction. */
export function reopenPostgres(url: string, endedAt: EpochMs | undefined): Promise<void> {
  return withConnection(url, NAME, (client) =>
    change(client, async (tables) => {
      for (const table of tables) await client.query(`drop trigger if exists ${TRIGGER} on ${table}`)
      await client.query(`drop function if exists ${TRIGGER}()`)
      await client.query('delete from settings where name = $1', [CLOSED])
      if (endedAt === undefined) return
      await runSteps(queryOf(client), revokeAllTokens(endedAt))
    }),
  )
}

/** Runs `work` in a transaction in which no other connection writes to the tables. */
async function change(client: pg.Client, work: (tables: readonly string[]) => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ readonly name: string }>(TABLES, [Object.keys(BACKUP_TABLES)])
  const tables = rows.map(({ name }) => name)
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.query('begin')
      await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`)
      await client.query(`lock table ${tables.join(', ')} in share row exclusive mode`)
      await work(tables)
      await client.query('commit')
      return
    } catch (cause) {
      if (!(cause instanceof pg.DatabaseError) || !CONTENTION.includes(cause.code ?? '')) throw cause
      if (attempt === ATTEMPTS) {
        throw new Error(
          `The tables could not be locked in ${ATTEMPTS} attempts: ${cause.message}. Find the long transaction in pg_stat_activity, and run this command again.`,
          { cause },
        )
      }
      await client.query('rollback')
    }
  }
}
