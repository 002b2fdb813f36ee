import { hash } from 'node:crypto'
import { EMAIL } from '../admin/fields.ts'
import { changeProfile } from '../admin/user/user.ts'
import type { EpochMs } from '../base/brand.ts'
import type { GroupMemberRecord } from '../ports/records/group.ts'
import { organizationOfGroup, parseGroupId } from '../protocol/access/group.ts'
import { isObject } from '../base/json.ts'
import { readForeignHash } from '../passwords/foreign-hash.ts'
import type { Context } from '../ports/context.ts'
import type { UserImport } from '../ports/operations/user.ts'
import type { IdentityRecord, ProviderRecord } from '../ports/records/provider.ts'
import { chosenClientId } from '../protocol/client/identifier.ts'
import { hashedId, isChosenId, type OrganizationId, type UserId } from '../protocol/ids.ts'
import type { UserProfile } from '../protocol/openid/user-claims.ts'
import { IMPORTED } from '../protocol/sign-in/account.ts'
import { APPLICATION, type ProviderId } from '../protocol/sign-in/authentication.ts'
import { SUBJECT_FORM, subjectKey } from '../protocol/sign-in/interaction.ts'
import { identityKey } from '../protocol/sign-in/provider-identity.ts'
import type { ProviderSettings } from '../protocol/sign-in/provider.ts'
import { base32Bytes } from '../protocol/sign-in/totp.ts'
import { newUser } from '../users/new-user.ts'
import { mayHavePassword } from '../users/provider-routing.ts'
import type { ImportReason } from './reasons.ts'
import type { ImportedUser } from './records.ts'

/** What an import knows about this server and about what its operator wants. */
export interface UserPlace {
  readonly context: Pick<Context, 'random' | 'settings'>
  readonly system: string
  readonly providers: readonly ProviderRecord[]
  /** Which provider here has the identities of one there. undefined: none has. */
  readonly providerOf: (there: string) => string | undefined
  /** Of which every user becomes a member. */
  readonly organizations: readonly OrganizationId[]
  readonly mayLoseFactors: boolean
}

/** A user as the import stores it, or why not. */
export type UserPlan = PlannedUser | { readonly kind: 'refused'; readonly reason: ImportReason }

/** A user that can be stored. */
export interface PlannedUser {
  readonly kind: 'planned'
  /** Without the second factor. */
  readonly account: Omit<UserImport, 'secondFactor' | 'replaces'>
  /** The secret of the authenticator app. */
  readonly appSecret: Buffer | undefined
  /** The costs of the password's hash. */
  readonly costs: string | undefined
  readonly notes: readonly ImportReason[]
  /** The providers whose identities are not taken, by their names there. */
  readonly dropped: readonly string[]
  /** The groups that cannot have the user, by their names there. */
  readonly droppedGroups: readonly string[]
}

/** NIST SP 800-63B-4 §3.1.4: at least 112 bits. RFC 4226 §4 R6: at least 128. */
const APP_SECRET = { min: 16, max: 64 }
/** Providers that give each client another `sub` of one person. */
const PAIRWISE = /^https:\/\/(login\.microsoftonline\.com|appleid\.apple\.com)(\/|$)/
const SUBJECT_BYTES = 255

/** Decides what becomes of a user of another system. */
export function planUser(place: UserPlace, record: ImportedUser, now: EpochMs): UserPlan {
  const { context, providers, system } = place
  const email = EMAIL.safeParse(record.email).data
  if (email === undefined && (record.email ?? '') !== '') return refused('email_malformed')
  const appSecret = appSecretOf(record.totp ?? {})
  const isWeakened = losesFactor(record)
  if (isWeakened && !place.mayLoseFactors) return refused('second_factor_lost')
  const profile = profileOf(record)
  if (profile === undefined) return refused('record_malformed')
  const id = userIdOf(system, record.id)
  const given = identitiesOf(place, record, { id, now })
  const organizationIds = [...new Set([...(record.organizations as OrganizationId[]), ...place.organizations])]
  const groups = groupsOf(record, { userId: id, organizationIds, now })
  const password = passwordOf(record, mayHavePassword(context.settings, providers, email), email)
  const account = { email, emailVerifiedAt: record.email_verified && email !== undefined ? now : undefined }
  const user = {
    ...newUser(context, now, { ...account, name: record.name ?? undefined, passwordHash: password.stored }),
    id,
    profile,
    firstSignedInAt: IMPORTED,
    disabledAt: record.disabled ? now : undefined,
  }
  const isStranded = password.stored === undefined && given.identities.length === 0 && !record.disabled
  const lacksAddress = email === undefined && (isStranded || typeof record.password_hash === 'string')
  return {
    kind: 'planned',
    account: {
      user,
      identities: given.identities,
      memberships: organizationIds.map((organizationId) => ({
        userId: id,
        organizationId,
        createdAt: now,
        disabledAt: undefined,
        notBefore: now,
      })),
      groups: groups.taken,
      clientId: chosenClientId(id),
      source: system,
    },
    appSecret,
    costs: password.costs,
    dropped: given.dropped,
    droppedGroups: groups.dropped,
    notes: [
      ...(id === record.id ? [] : ['id_replaced' as const]),
      ...(isWeakened ? ['second_factor_lost' as const] : []),
      ...password.notes,
      ...(given.dropped.length === 0 ? [] : ['identity_dropped' as const]),
      ...(lacksAddress ? ['address_absent' as const] : isStranded ? ['needs_link' as const] : []),
    ],
  }
}

/** Whether a user, as `IMPORTED` describes it, has a second factor that cannot be moved. Of another value it does not matter. */
export function losesFactor(record: unknown): boolean {
  return factorMembersOf(record).length > 0
}

/** The members of a user that tell of a second factor that cannot be moved. */
export function factorMembersOf(record: unknown): readonly string[] {
  if (!isObject(record)) return []
  const { has_second_factor: hasOther, totp } = record
  return [
    ...(hasOther === true ? ['has_second_factor'] : []),
    ...(isObject(totp) && appSecretOf(totp) === undefined ? ['totp'] : []),
  ]
}

/** The id that the user had, or one that is always made of it. It has no key, so that each store of the operator has the same. */
function userIdOf(system: string, id: string): UserId {
  if (isChosenId(id)) return id as UserId
  return `gus_${hashedId(hash('sha256', JSON.stringify([system, id]), 'buffer'))}` as UserId
}

function appSecretOf({ secret }: { readonly secret?: unknown }): Buffer | undefined {
  const bytes = typeof secret === 'string' ? base32Bytes(secret) : undefined
  return bytes !== undefined && bytes.length >= APP_SECRET.min && bytes.length <= APP_SECRET.max ? bytes : undefined
}

function profileOf({ profile }: ImportedUser): UserProfile | undefined {
  try {
    return changeProfile({}, profile ?? {})
  } catch {
    return undefined
  }
}

interface TakenPassword {
  readonly stored: string | undefined
  readonly costs: string | undefined
  readonly notes: readonly ImportReason[]
}

function passwordOf(
  { password_hash: text }: ImportedUser,
  isUsable: boolean,
  email: string | undefined,
): TakenPassword {
  const none = { stored: undefined, costs: undefined }
  if (typeof text !== 'string' || email === undefined) return { ...none, notes: [] }
  if (!isUsable) return { ...none, notes: ['password_not_used'] }
  const read = readForeignHash(text)
  return typeof read === 'string' ? { ...none, notes: [read] } : { ...read, notes: [] }
}

function identitiesOf(
  place: UserPlace,
  { identities: given }: ImportedUser,
  { id: userId, now }: { readonly id: UserId; readonly now: EpochMs },
): { readonly identities: readonly IdentityRecord[]; readonly dropped: readonly string[] } {
  const dropped: string[] = []
  const taken = given.flatMap(({ provider: there, subject }) => {
    const found = findKey(place, there, subject)
    if (found === undefined) {
      dropped.push(there)
      return []
    }
    return [{ ...found, userId, subject, email: undefined, linkedAt: now, usedAt: now } satisfies IdentityRecord]
  })
  const byKey = new Map(taken.map((one) => [one.key, one]))
  return { identities: [...byKey.values()], dropped }
}

/** A group of an organization has only members of it. */
function groupsOf(
  { groups }: ImportedUser,
  {
    userId,
    organizationIds,
    now,
  }: { readonly userId: UserId; readonly organizationIds: readonly OrganizationId[]; readonly now: EpochMs },
): { readonly taken: readonly GroupMemberRecord[]; readonly dropped: readonly string[] } {
  const read = [...new Set(groups)].map((text) => {
    const groupId = parseGroupId(text)
    const owner = groupId === undefined ? undefined : organizationOfGroup(groupId)
    return owner === undefined || organizationIds.includes(owner) ? { text, groupId } : { text, groupId: undefined }
  })
  return {
    taken: read.flatMap(({ groupId }) =>
      groupId === undefined ? [] : [{ userId, groupId, source: 'operator', createdAt: now, expiresAt: undefined }],
    ),
    dropped: read.filter(({ groupId }) => groupId === undefined).map(({ text }) => text),
  }
}

function findKey(
  { providerOf, providers }: UserPlace,
  there: string,
  subject: string,
): Pick<IdentityRecord, 'key' | 'providerId'> | undefined {
  const here = providerOf(there)
  if (here === APPLICATION)
    return SUBJECT_FORM.test(subject) ? { key: subjectKey(subject), providerId: APPLICATION } : undefined
  const provider = providers.find(({ id }) => id === here)
  if (provider === undefined || !mayBeSubject(provider.settings, subject)) return undefined
  const { id, settings } = provider
  return { key: identityKey({ id, issuer: settings.issuer }, subject), providerId: id satisfies ProviderId }
}

function mayBeSubject({ issuer, subjectClaim }: ProviderSettings, subject: string): boolean {
  if (!/^\P{C}+$/u.test(subject) || Buffer.byteLength(subject) > SUBJECT_BYTES) return false
  return subjectClaim === 'tenant-object' ? /^[^/]+\/[^/]+$/.test(subject) : !PAIRWISE.test(issuer)
}

function refused(reason: ImportReason): UserPlan {
  return { kind: 'refused', reason }
}
