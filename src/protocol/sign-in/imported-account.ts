import type { EpochMs } from '../../base/brand.ts'
import type { UserProfile } from '../openid/user-claims.ts'
import { isSameJson } from '../../base/json.ts'

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
  /** As the operator says it. */
  readonly groups: readonly { readonly groupId: string }[]
  readonly secondFactor: { readonly secret: string } | undefined
}

/** Whether an account is what an import would make of it. */
export function isAsImported(stored: Account, imported: Account): boolean {
  return differingMembers(stored, imported).length === 0
}

/**
 * The members that differ from what an import would make of an account, by their names in the neutral format of `src/import/records.ts`.
 * Further identities, memberships and groups were added here.
 */
export function differingMembers(stored: Account, imported: Account): readonly string[] {
  const [before, after] = [statementOf(stored), statementOf(imported)]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return [
    ...names.filter((name) => !isSameJson(before[name], after[name])),
    ...(hasAll(stored.identities, imported.identities, ({ key }) => key) ? [] : ['identities']),
    ...(hasAll(stored.memberships, imported.memberships, ({ organizationId }) => organizationId)
      ? []
      : ['organizations']),
    ...(hasAll(stored.groups, imported.groups, ({ groupId }) => groupId) ? [] : ['groups']),
  ]
}

/** The times are those of the import. */
function statementOf({ user, secondFactor }: Account): Readonly<Record<string, unknown>> {
  const { email, emailVerifiedAt, name, profile, passwordHash, disabledAt } = user
  return {
    email,
    email_verified: emailVerifiedAt !== undefined,
    name,
    password_hash: passwordHash,
    disabled: disabledAt !== undefined,
    totp: secondFactor?.secret,
    ...Object.fromEntries(Object.entries(profile).map(([claim, value]) => [`profile.${claim}`, value])),
  }
}

function hasAll<T>(stored: readonly T[], imported: readonly T[], keyOf: (one: T) => string): boolean {
  const known = new Set(stored.map(keyOf))
  return imported.every((one) => known.has(keyOf(one)))
}
