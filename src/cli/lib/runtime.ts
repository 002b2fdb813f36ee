import { AdminError } from '../../admin/admin-error.ts'
import { readConfig, type Config } from '../../config/config.ts'
import { locationOf } from '../../config/database-url.ts'
import type { Context } from '../../ports/context.ts'
import type { Terminal } from './terminal.ts'

/**
 * What a command does when the store does not exist. Only commands that create a record create the store. `migrate` also
 * applies the migrations that are missing.
 */
export type WhenMissing = 'create' | 'refuse' | 'migrate'

/** Runs a task on the store, with or without a running server. @throws AdminError when the store does not exist */
export async function withRuntime<T>(
  { complain }: Pick<Terminal, 'complain'>,
  whenMissing: WhenMissing,
  task: (context: Context) => Promise<T>,
): Promise<T> {
  const config = readConfig()
  const notice = await requireStore(config, whenMissing)
  const [{ openRuntime }, { openPlatform }] = await Promise.all([
    import('../../server/context.ts'),
    import('../../server/platform.ts'),
  ])
  // Standard output is for the result of the command, so nothing is logged there.
  const runtime = await openRuntime(config, openPlatform({ ...config, logLevel: 'silent' }))
  if (notice !== undefined) complain(`grantor: ${notice} A server with other settings does not use it.\n`)
  try {
    return await task(runtime.context)
  } finally {
    await runtime.close()
  }
}

/**
 * GRANTOR_ISSUER of a command counts, as for a copy of the store that is served at another address. Returns a function that reports once that
 * the servers have another issuer, when an answer has an address of this one.
 */
export function openIssuerNotice(
  { issuer, store }: Pick<Context, 'issuer' | 'store'>,
  { complain }: Pick<Terminal, 'complain'>,
): (answer: unknown) => Promise<void> {
  let isReported = false
  return async (answer) => {
    if (isReported || !JSON.stringify(answer).includes(issuer)) return
    const known = await store.findIssuer()
    if (known === undefined || known === issuer) return
    isReported = true
    complain(
      `grantor: GRANTOR_ISSUER is ${issuer}, and the servers of this database have the issuer ${known}. This command uses GRANTOR_ISSUER.\n`,
    )
  }
}

/**
 * Refuses a store that has a newer schema, and one that does not exist or has an older schema, unless the command
 * makes it. Returns what to report once the store is created; undefined: it exists. @throws AdminError
 */
export async function requireStore(config: Config, whenMissing: WhenMissing): Promise<string | undefined> {
  const { readSchema } = await import('../../server/store.ts')
  const { applied, missing, unknown } = await readSchema(config)
  if (applied.length > 0 && missing.length > 0 && whenMissing !== 'migrate') {
    throw new AdminError(`${locationOf(config.database)} has the schema of an older release. Run: grantor migrate`)
  }
  if (unknown.length > 0) {
    throw new AdminError(
      `${locationOf(config.database)} has the schema of a newer release. Run the command of that release, or let a running server perform it: --server.`,
    )
  }
  if (applied.length > 0) return undefined
  const { refusal, notice } = describeMissing(config)
  if (whenMissing === 'refuse') throw new AdminError(refusal)
  return notice
}

/** Both messages name the location, so that a mistyped DATABASE_URL is seen before data is written to a new store. */
function describeMissing({ database }: Config): { readonly refusal: string; readonly notice: string } {
  const location = locationOf(database)
  if (database.kind === 'postgres') {
    return {
      refusal: `${location} has no Grantor schema. Check DATABASE_URL, or create the schema with: grantor serve`,
      notice: `${location} had no Grantor schema; it was created.`,
    }
  }
  return {
    refusal: `There is no database at ${location}. Check DATABASE_URL, or create the database with: grantor serve`,
    notice: `There was no database at ${location}; it was created.`,
  }
}
