import type { HashFormat } from '../protocol/sign-in/password-formats.ts'
import { ok, type Finding } from './finding.ts'

const CHECK = 'passwords'

/** How many users have a hash that another system has made. `isEnded`: there is none, and failed sign-ins are no longer delayed. */
export interface ForeignHashes {
  readonly counts: ReadonlyMap<HashFormat, number>
  readonly isEnded: boolean
}

/** Reports the hashes that another system has made. A sign-in replaces one. */
export function checkForeignHashes(hashes: ForeignHashes | 'not-counted'): Finding {
  if (hashes === 'not-counted')
    return ok(
      CHECK,
      'Failed sign-ins are delayed, because an import stored password hashes of other systems. "grantor doctor --deep" counts them, and ends the delay when none is left.',
    )
  const { counts, isEnded } = hashes
  const found = [...counts].map(([format, count]) => `${count} of ${format}`)
  if (found.length > 0)
    return ok(
      CHECK,
      `Users have password hashes of other systems: ${found.join(', ')}. Until all are replaced, failed sign-ins are delayed.`,
    )
  return ok(
    CHECK,
    isEnded
      ? 'No user has a password hash of another system. Failed sign-ins are no longer delayed.'
      : 'No user has a password hash of another system. Failed sign-ins are delayed until "grantor doctor --deep" runs an hour after the import.',
  )
}
