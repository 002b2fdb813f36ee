import type { HashFormat } from '../../protocol/sign-in/password-formats.ts'
import { ok, type Finding } from './finding.ts'

const CHECK = 'passwords'

/** How many users have a hash that another system has made. `isEnded`: there is none, and failed sign-ins are no longer delayed. */
export interface ForeignHashes {
  readonly counts: ReadonlyMap<HashFormat, number>
  readonly isEnded: boolean
}

/** Reports the hashes that another system has made. A sign-in replaces one. */
export function checkForeignHashes({ counts, isEnded }: ForeignHashes): Finding {
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
      : 'No user has a password hash of another system. Failed sign-ins are delayed until this command runs an hour after the import.',
  )
}
