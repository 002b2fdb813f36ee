import type { ForeignHashes } from '../checks/passwords.ts'
import type { Config } from '../config/config.ts'
import type { Context, StoreNeeds } from '../ports/context.ts'
import type { StoreInspection } from '../ports/inspection.ts'
import type { Store } from '../ports/store.ts'
import { after } from '../base/brand.ts'
import type { UserId } from '../protocol/ids.ts'
import { readForeignFormats, writeForeignFormats, type HashFormat } from '../protocol/sign-in/password-formats.ts'
import { costliest } from '../passwords/formats.ts'
import { foreignFormatOf } from '../passwords/passwords.ts'
import { openRuntime } from '../server/context.ts'
import type { Platform } from '../server/platform.ts'

const PAGE = 1000
/** An import that is under way may store more. */
const SETTLED_MS = 60 * 60 * 1000

/**
 * Notes the costs of hashes that other systems have made (`readForeignHash`). An import calls it before it stores the first one, so that
 * failed sign-ins are delayed in time, and once more after the last one.
 */
export async function noteForeignHashes(
  { clock, store }: Pick<Context, 'clock'> & StoreNeeds<'findPasswordFormats' | 'setPasswordFormats'>,
  costs: readonly string[],
): Promise<void> {
  for (;;) {
    const previous = await store.findPasswordFormats()
    const known = readForeignFormats(previous).costs
    const value = writeForeignFormats({ costs: costliest([...known, ...costs]), notedAt: clock() })
    // Another import has changed it meanwhile.
    if ((await store.setPasswordFormats({ previous, value })) === 'changed') return
  }
}

/**
 * Counts the password hashes that other systems have made, for `grantor doctor`. If none is left, failed sign-ins are no longer delayed.
 * Returns undefined if no import has stored any, or the store cannot be changed. Counting reads all users.
 */
export async function settleForeignHashes(
  config: Config,
  { clients, database, secret }: StoreInspection,
  platform: Platform,
  isCounted: boolean,
): Promise<ForeignHashes | 'not-counted' | undefined> {
  const previous = clients?.passwordFormats
  const { costs, notedAt } = readForeignFormats(previous)
  const isChangeable =
    database.kind === 'opened' && database.closedAt === undefined && secret.kind.startsWith('matches')
  if (costs.length === 0 || !isChangeable) return undefined
  if (!isCounted) return 'not-counted'
  const { context, close } = await openRuntime(config, platform)
  try {
    const counts = await countForeignHashes(context.store)
    const isOver = counts.size === 0 && after(notedAt, SETTLED_MS) <= platform.clock()
    const value = writeForeignFormats({ costs: [], notedAt })
    const isEnded = isOver && (await context.store.setPasswordFormats({ previous, value })) === 'changed'
    return { counts, isEnded }
  } finally {
    await close()
  }
}

async function countForeignHashes(store: Pick<Store, 'listUsers'>): Promise<ReadonlyMap<HashFormat, number>> {
  const counts = new Map<HashFormat, number>()
  for (let before: UserId | undefined; ;) {
    const users = await store.listUsers({ before, limit: PAGE })
    for (const { passwordHash } of users) {
      const format = passwordHash === undefined ? undefined : foreignFormatOf(passwordHash)
      if (format !== undefined) counts.set(format, (counts.get(format) ?? 0) + 1)
    }
    before = users.at(-1)?.id
    if (before === undefined) return counts
  }
}
