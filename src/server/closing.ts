import { AdminError } from '../admin/admin-error.ts'
import { asAdministrator, COMMAND_LINE } from '../admin/administrators.ts'
import type { Config } from '../config/config.ts'
import { locationOf } from '../config/database-url.ts'
import type { Context } from '../ports/context.ts'
import { StoreClosed, type Store } from '../ports/store.ts'
import type { EpochMs } from '../base/brand.ts'

/** Closes the store, unless it is closed: no process writes to it from then on, and its servers end within a second. */
export async function closeStore(
  { database }: Pick<Config, 'database'>,
  store: Pick<Store, 'findServerEnd' | 'recordEvent'>,
  now: EpochMs,
): Promise<void> {
  if ((await store.findServerEnd()).closedAt !== undefined) return
  const recordExport = () => store.recordEvent({ event: 'server.exported', details: {} })
  if (database.kind === 'postgres') {
    const { closePostgres, refuseDistributed } = await import('../store/postgres/closing.ts')
    await refuseDistributed(database.url)
    await recordExport()
    return closePostgres(database.url, now)
  }
  await recordExport()
  const { closeSqlite } = await import('../store/sqlite/closing.ts')
  closeSqlite(database.path, now)
}

/**
 * Opens a closed store again. Unless `keepsTokens`, everything that was issued before is revoked: another place may have imported the
 * store, and have revoked some of it since.
 *
 * @throws AdminError if the store is not closed
 */
export async function reopenStore(
  { database }: Pick<Config, 'database'>,
  context: Context,
  keepsTokens: boolean,
): Promise<void> {
  const { store } = asAdministrator(context, COMMAND_LINE)
  if ((await store.findServerEnd()).closedAt === undefined)
    throw new AdminError(`${locationOf(database)} is not closed.`)
  const endedAt = keepsTokens ? undefined : context.clock()
  if (database.kind === 'postgres') {
    const { reopenPostgres } = await import('../store/postgres/closing.ts')
    await reopenPostgres(database.url, endedAt)
  } else {
    const { reopenSqlite } = await import('../store/sqlite/closing.ts')
    reopenSqlite(database.path, endedAt)
  }
  await store.recordEvent({ event: 'server.reopened', details: { tokens_kept: keepsTokens } })
}

/**
 * Rejects a store that was closed.
 *
 * @throws StoreClosed
 */
export async function refuseClosedStore(store: Pick<Store, 'findServerEnd'>): Promise<void> {
  if ((await store.findServerEnd()).closedAt !== undefined) throw new StoreClosed()
}
