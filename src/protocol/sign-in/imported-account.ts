import type { EpochMs } from '../../base/brand.ts'
import type { UserProfile } from '../openid/user-claims.ts'

/** An account, as far as an import says what it is. */
interface Account {
  readonly user: {
    readonly email: string | undefined
    readonly emailVerifiedAt: EpochMs | undefined
    readonly name: string | undefined
    readonly profile: UserProfile
    readonly passwordHash: string | undefined
    readonly disabledAt: EpochMs | undefined
  }
  readonly identities: readonly { readonly key: string }[]
  readonly memberships: readonly { readonly organizationId: string }[]
  readonly secondFactor: { readonly secret: string } | undefined
}

/** Whether an account is what an import would make of it. Further identities and memberships were added here. */
export function isAsImported(stored: Account, imported: Account): boolean {
  return (
    stored.secondFactor?.secret === imported.secondFactor?.secret &&
    statementOf(stored) === statementOf(imported) &&
    hasAll(stored.identities, imported.identities, ({ key }) => key) &&
    hasAll(stored.memberships, imported.memberships, ({ organizationId }) => organizationId)
  )
}

/** The times are those of the import. */
function statementOf({ user }: Account): string {
  const { email, emailVerifiedAt, name, profile, passwordHash, disabledAt } = user
  const states = [emailVerifiedAt !== undefined, disabledAt !== undefined]
  return JSON.stringify([email, name, passwordHash, ...states, Object.entries(profile).toSorted(byName)])
}

function hasAll<T>(stored: readonly T[], imported: readonly T[], keyOf: (one: T) => string): boolean {
  const known = new Set(stored.map(keyOf))
  return imported.every((one) => known.has(keyOf(one)))
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}
