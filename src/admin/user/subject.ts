import { MAXIMA } from '../../base/maxima.ts'
import { normalizeEmail, type EmailAddress } from '../../protocol/sign-in/email-address.ts'
import { type GroupId, organizationOfGroup } from '../../protocol/access/group.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { Context } from '../../ports/context.ts'
import type { IdentityRecord } from '../../ports/records/provider.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { newUser } from '../../users/new-user.ts'
import { APPLICATION } from '../../protocol/sign-in/authentication.ts'
import { subjectKey, type AcceptedSignIn } from '../../protocol/sign-in/interaction.ts'
import { conflict, unknown } from '../admin-error.ts'

/** What the application says about a person. */
type SubjectProfile = Pick<AcceptedSignIn, 'subject' | 'email' | 'isEmailVerified' | 'name' | 'groups'>

/**
 * Makes sure that a subject of the application has an account, with the name and the address that the application says. An address that
 * another account has is not used, and never links the two (threats.md DEL-11).
 */
export async function provisionSubject(context: Context, profile: SubjectProfile): Promise<void> {
  const { store, clock } = context
  const key = subjectKey(profile.subject)
  const identity = await store.findIdentity(key)
  if (identity === undefined) return create(context, profile)
  const user = await store.findUser(identity.userId)
  if (user === undefined) return
  await Promise.all([
    setGroups(context, user.id, profile),
    store.useIdentity({ key, userId: user.id, providerId: APPLICATION, email: provedAddressOf(profile), now: clock() }),
    renew(context, user, profile),
  ])
}

async function create(context: Context, profile: SubjectProfile): Promise<void> {
  const { store, clock } = context
  const now = clock()
  const email = addressOf(profile)
  const user = newUser(context, now, {
    email,
    emailVerifiedAt: email !== undefined && profile.isEmailVerified ? now : undefined,
    name: profile.name,
    passwordHash: undefined,
  })
  const { subject } = profile
  const identity: IdentityRecord = {
    key: subjectKey(subject),
    userId: user.id,
    providerId: APPLICATION,
    subject,
    email: provedAddressOf(profile),
    linkedAt: now,
    usedAt: now,
  }
  const outcome = await store.provisionUser({ user, identity })
  if (outcome === 'email-taken')
    await store.provisionUser({ user: { ...user, email: undefined, emailVerifiedAt: undefined }, identity })
  if (profile.groups === undefined) return
  // Another answer about the person may have created the account.
  const created = await store.findIdentity(identity.key)
  if (created !== undefined) await setGroups(context, created.userId, profile)
}

/** Replaces what the application says about the groups of the user, if it says anything. @throws AdminError when the user has no room for all */
async function setGroups({ store, clock }: Context, userId: UserId, { groups }: SubjectProfile): Promise<void> {
  if (groups === undefined) return
  const ever = { expiresAt: undefined, since: 0 as EpochMs }
  const outcome = await store.setGroupsOfSource({ userId, source: 'application', groups, ...ever, now: clock() })
  if (outcome.kind === 'too-many') {
    throw conflict(
      `With these groups the person would be in more than ${MAXIMA.groupsOfUser.most} groups of the server or of an organization, which is the maximum.`,
    )
  }
}

/** The groups that the application names and in which the person cannot be. */
export async function findGroupsElsewhere(
  { store }: Context,
  { subject, groups = [] }: SubjectProfile,
): Promise<readonly GroupId[]> {
  if (groups.length === 0) return []
  const identity = await store.findIdentity(subjectKey(subject))
  const memberships = identity === undefined ? [] : await store.listMemberships(identity.userId)
  const found = await Promise.all(groups.map((id) => store.findGroup(id)))
  return groups.filter((id, index) => {
    const owner = organizationOfGroup(id)
    const isMember = memberships.some((one) => one.organizationId === owner && one.disabledAt === undefined)
    return found[index] === undefined || (owner !== undefined && !isMember)
  })
}

/** Brings the account up to date with what the application says now. */
async function renew({ store, clock }: Context, user: UserRecord, profile: SubjectProfile): Promise<void> {
  const { name, isEmailVerified } = profile
  const now = clock()
  if (name !== undefined && name !== user.name) await store.renameUser({ id: user.id, name, now })
  const email = addressOf(profile)
  const isSame = email === user.email && isEmailVerified === (user.emailVerifiedAt !== undefined)
  if (email === undefined || isSame) return
  await store.setEmail({ id: user.id, email, emailVerifiedAt: isEmailVerified ? now : undefined, now, mails: [] })
}

function addressOf({ email }: SubjectProfile): EmailAddress | undefined {
  return normalizeEmail(email ?? '') || undefined
}

/** Of an address that was not proved, the identity has nothing (threats.md UP-36). */
function provedAddressOf(profile: SubjectProfile): EmailAddress | undefined {
  return profile.isEmailVerified ? addressOf(profile) : undefined
}

/**
 * Ends all sessions and grants of the person whom the application knows by this subject.
 *
 * @throws AdminError when no such person has signed in
 */
export async function revokeTokensOfSubject({ store, clock }: Context, subject: string): Promise<void> {
  const identity = await store.findIdentity(subjectKey(subject))
  const outcome =
    identity === undefined ? 'unknown' : await store.revokeUserTokens({ id: identity.userId, now: clock() })
  if (outcome === 'unknown') throw unknown('No person with this subject has signed in.')
}
