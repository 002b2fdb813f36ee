import { asAdministrator, COMMAND_LINE } from '../admin/administrators.ts'
import type { Config } from '../config/config.ts'
import { locationOf } from '../config/database-url.ts'
import type { EpochMs } from '../base/brand.ts'
import { openRuntime } from '../server/context.ts'
import { makeNewKeys } from '../server/keys.ts'
import { createRestoreAdministrator } from './restore.ts'
import { beginFirstEra, newEra } from '../server/store-memory.ts'
import { openPlatform } from '../server/platform.ts'

export interface RestoreAnswer {
  readonly location: string
  /** The token of a new administrator. It is not stored and not shown again. undefined: nothing was lost, so nothing ended. */
  readonly adminToken: string | undefined
}

/**
 * Records the answer of the operator for a store that may have been restored by other means than `grantor restore`. Servers that
 * noticed it then serve again (docs/operations/backup.md). If the store went back, everything that it could revive ends in the same
 * commit, as with a restore.
 */
export async function answerForStore(config: Config, answer: 'went-back' | 'nothing-lost'): Promise<RestoreAnswer> {
  const { context, close } = await openRuntime(config, openPlatform({ ...config, logLevel: 'silent' }))
  const administration = asAdministrator(context, COMMAND_LINE)
  const { clock, clockCheck, random, store } = administration
  const location = locationOf(config.database)
  try {
    await beginFirstEra(store, administration.secrets)
    const era = newEra(random)
    const now = Math.max(clock(), (await clockCheck.databaseNow()) ?? 0) as EpochMs
    if (answer === 'nothing-lost') {
      await store.beginEra({ era, now, reason: answer, ending: undefined })
      await context.storeWatch.confirm()
      return { location, adminToken: undefined }
    }
    const keys = await makeNewKeys(administration, config, now)
    await store.beginEra({ era, now, reason: 'ended', ending: { keys } })
    const adminToken = await createRestoreAdministrator(administration)
    await context.storeWatch.confirm()
    return { location, adminToken }
  } finally {
    await close()
  }
}
