import { existsSync } from 'node:fs'
import { AdminError } from '../../admin/admin-error.ts'
import { openRuntime, openWorld } from '../../server/server.ts'
import { readConfig, type Config } from '../../config/config.ts'
import { locationOf } from '../../config/database-url.ts'
import { readSchema } from '../../server/store.ts'
import type { Context } from '../../ports/context.ts'
import type { Terminal } from './terminal.ts'

/** What becomes of a store that is not there yet: only for what creates something it is made. */
export type WhenMissing = 'create' | 'refuse'

/** Runs a task over the store, beside a server or without one. @throws AdminError when there is no store */
export async function withRuntime<T>(
  { stderr }: Pick<Terminal, 'stderr'>,
  whenMissing: WhenMissing,
  task: (context: Context) => Promise<T>,
): Promise<T> {
  const config = readConfig()
  if (await isMissing(config)) {
    const words = wordsOfMissing(config)
    if (whenMissing === 'refuse') throw new AdminError(words.refusal)
    stderr.write(`grantor: ${words.notice} A server with other settings does not know it.\n`)
  }
  // Standard output is the command's answer, so nothing is logged there.
  const workshop = await openRuntime(config, openWorld({ ...config, logLevel: 'silent' }))
  try {
    return await task(workshop.context)
  } finally {
    await workshop.close()
  }
}

async function isMissing(config: Config): Promise<boolean> {
  if (config.database.kind === 'postgres') return (await readSchema(config)).applied.length === 0
  return !existsSync(locationOf(config.database))
}

/** A mistyped address names nothing; whoever did not mean to begin anew must see it. */
function wordsOfMissing({ database }: Config): { readonly refusal: string; readonly notice: string } {
  const location = locationOf(database)
  if (database.kind === 'postgres') {
    return {
      refusal: `${location} has no Grantor schema. Check DATABASE_URL, or create the schema with: grantor serve`,
      notice: `${location} had no Grantor schema; it was created.`,
    }
  }
  return {
    refusal: `There is no database at ${location}. If there should be one, correct DATABASE_URL; a new one is made by: grantor serve`,
    notice: `There was no database at ${location}; a new one was made.`,
  }
}
