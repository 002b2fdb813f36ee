import type { Context } from '../../ports/context.ts'
import type { ProviderRecord } from '../../ports/records/provider.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { remedyOfDisabled } from '../../checks/providers.ts'
import { isAddressDoubtful } from '../../users/doubtful-address.ts'
import { newUser } from '../../users/new-user.ts'
import { findRequiredProvider } from '../../users/provider-routing.ts'
import { normalizeEmail } from '../../protocol/sign-in/email-address.ts'
import { PASSWORD_BYTES, shortestPassword, type PasswordFault } from '../../protocol/sign-in/password-rules.ts'
import { findNewPasswordFault } from '../../users/new-password.ts'
import { problem, type Problem, type ProblemType } from '../../base/validation.ts'
import { parseUserId, type Random, type UserId } from '../../protocol/ids.ts'
import { definedMembers } from '../../base/json.ts'
import type { UserProfile } from '../../protocol/openid/user-claims.ts'
import { AdminError, conflict, unknown } from '../admin-error.ts'
import { noticesWithoutBrowser } from '../../users/mails.ts'
import { codeBuckets, passwordBuckets } from '../../requests/attempt-bucket.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** 32 characters, 5 bits each, without those that are easily confused. */
const PASSWORD_ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'

/** Of the text that is stored. */
const PROFILE_BYTES = MAXIMA.profile.most

/** Creates a user. @throws AdminError when the address is taken, the profile too large, or the password must not be set */
export async function createUser(
  context: Context,
  account: {
    readonly email: string
    readonly password: string | undefined
    readonly name: string | undefined
    /** The operator knows that the address is the user's. */
    readonly isVerified?: boolean
    readonly profile?: ProfileChange
  },
): Promise<UserRecord> {
  const now = context.clock()
  const email = normalizeEmail(account.email)
  const profile = changeProfile({}, account.profile ?? {})
  const { name, password } = account
  const passwordHash = password === undefined ? undefined : await hashPassword(context, { email, name }, password)
  const emailVerifiedAt = account.isVerified === true ? now : undefined
  const user = { ...newUser(context, now, { email, emailVerifiedAt, name, passwordHash }), profile }
  if ((await context.store.createUser(user)) === 'email-taken') {
    throw emailTaken(email)
  }
  return user
}

/** Returns a random password of 75 bits, in three groups that are easy to type. */
export function inventPassword(random: Random): string {
  const letters = [...random(15)].map((byte) => PASSWORD_ALPHABET[byte % PASSWORD_ALPHABET.length]).join('')
  return `${letters.slice(0, 5)}-${letters.slice(5, 10)}-${letters.slice(10)}`
}

/**
 * Sets the password, and revokes all sessions and grants of the user.
 *
 * @throws AdminError when there is no such user, the password must not be set, a provider is required for the address, or the role of the
 * user counts longer than that of the administrator
 */
export async function setPassword(context: Context, who: string, password: string): Promise<UserRecord> {
  const user = await requireUser(context, who)
  const { id } = user
  refuseRouted(await context.store.listProviders(), user.email)
  const passwordHash = await hashPassword(context, user, password)
  const mails = noticesWithoutBrowser(context, user, 'password-changed')
  const change = { id, passwordHash, now: context.clock(), mails }
  await context.store.setPassword(change)
  return requireUser(context, id)
}

/** @throws AdminError when a provider is required for the address (threats.md UP-19) */
export function refuseRouted(providers: readonly ProviderRecord[], email: string | undefined): void {
  const required = findRequiredProvider(providers, email)
  if (required === undefined) return
  const { id, settings, disabledAt } = required
  const because = `${email} signs in at ${settings.name} only, because the provider ${id} is required for its domain`
  throw conflict(
    disabledAt === undefined
      ? `${because}. See "grantor provider update".`
      : `${because}, and it is disabled. ${remedyOfDisabled(id, settings.routing)}`,
  )
}

/** @throws AdminError when passwords are off, or the user must not get this one */
async function hashPassword(
  context: Context,
  user: Pick<UserRecord, 'email' | 'name'>,
  password: string,
): Promise<string> {
  const { passwords, settings } = context
  if (settings.passwords === 'off') throw withoutPasswords(settings)
  const fault = findNewPasswordFault(context, user, password)
  if (fault !== undefined) throw refusedPassword(fault, shortestPassword(settings))
  return passwords.hash(password, undefined)
}

function refusedPassword(fault: PasswordFault, shortest: number): AdminError {
  const refuse = (type: ProblemType, what: string, ctx: Problem['ctx'] = {}): AdminError => {
    const message = `${what} Four words are easy to remember.`
    return new AdminError(message, 'refused', [problem(['body', 'password'], type, message, null, ctx)])
  }
  switch (fault) {
    case 'password-too-short':
      return refuse('too_short', `A password has at least ${shortest} characters.`, { min_length: shortest })
    case 'password-too-long':
      return refuse('too_long', `A password has at most ${PASSWORD_BYTES} bytes.`, { max_bytes: PASSWORD_BYTES })
    case 'password-common':
      return refuse('password_common', 'This password is easy to guess.')
  }
}

/** Why users have no passwords. */
export function withoutPasswords({ delegate }: Pick<Context['settings'], 'delegate'>): AdminError {
  const reason =
    delegate === undefined ? 'GRANTOR_PASSWORDS is off' : 'your application signs them in (docs/delegated-sign-in.md)'
  return conflict(`Users have no passwords here, because ${reason}.`)
}

/**
 * Replaces the e-mail address. It counts as verified only if the operator says so.
 *
 * @throws AdminError when there is no such user, another user has the address, the role of the user counts longer than that of the
 * administrator, or the user was changed at the same time
 */
export async function setEmail(
  context: Context,
  who: string,
  { email: text, isVerified }: { readonly email: string; readonly isVerified: boolean },
): Promise<UserRecord> {
  const user = await requireUser(context, who)
  const { id } = user
  const email = normalizeEmail(text)
  const now = context.clock()
  // Both get a notice: the previous address may be that of the owner, or the new one.
  const emailVerifiedAt = isVerified ? now : undefined
  const addressees = email === user.email ? [] : [user, { ...user, email, emailVerifiedAt }]
  const mails = addressees.flatMap((one) => noticesWithoutBrowser(context, one, 'email-changed'))
  const outcome = await context.store.setEmail({ id, email, emailVerifiedAt, now, mails, previous: user })
  if (outcome === 'conflict') throw changedMeanwhile(id)
  if (outcome === 'email-taken') throw emailTaken(email)
  return requireUser(context, id)
}

/**
 * Ends what locks the account after wrong passwords and codes, also in browsers that it knows. This process checks passwords at once, another
 * one within seconds. A stranger learns of it only by another attempt.
 *
 * @throws AdminError when there is no such user, or the role of the user counts longer than that of the administrator
 */
export async function unlockUser(context: Context, who: string): Promise<UserRecord> {
  const user = await requireUser(context, who)
  const { id, email } = user
  const browsers = await context.store.listBrowsers(id)
  const passwords = email === undefined ? [] : passwordBuckets(context, email, browsers)
  const buckets = [...passwords, ...codeBuckets(context, id, browsers)]
  const outcome = await context.store.unlockUser({ id, buckets })
  if (outcome === 'unknown') throw noSuchUser(who)
  for (const name of buckets) context.spentBuckets.delete(name)
  return user
}

/** The changes of a profile, by the names of the claims. null removes a claim, undefined keeps it. */
export type ProfileChange = {
  readonly [Name in keyof UserProfile]?: UserProfile[Name] | null | undefined
}

/**
 * Changes the name and the profile of a user. What is undefined does not change.
 *
 * @throws AdminError when there is no such user, the profile is too large, or the user was changed at the same time
 */
export async function updateUser(
  context: Context,
  who: string,
  change: { readonly name: string | null | undefined; readonly profile: ProfileChange },
): Promise<UserRecord> {
  const previous = await requireUser(context, who)
  const { id } = previous
  const profile = changeProfile(previous.profile, change.profile)
  const name = change.name === undefined ? previous.name : (change.name ?? undefined)
  const outcome = await context.store.updateUser({ id, previous, name, profile, now: context.clock() })
  if (outcome === 'conflict') throw changedMeanwhile(id)
  return requireUser(context, id)
}

export function changedMeanwhile(id: UserId): AdminError {
  return conflict(`The user ${id} was changed or deleted at the same time. Try again.`)
}

/** Returns a profile with changes. @throws AdminError when it is too large, or has members that need another one */
export function changeProfile(previous: UserProfile, change: ProfileChange): UserProfile {
  const merged = Object.entries({ ...previous, ...definedMembers(change) }).filter(([, value]) => value !== null)
  const profile = Object.fromEntries(merged) as UserProfile
  if (profile.phone_number === undefined && profile.phone_number_verified !== undefined)
    throw new AdminError('A profile with phone_number_verified needs phone_number.')
  if (Buffer.byteLength(JSON.stringify(profile)) > PROFILE_BYTES)
    throw new AdminError(`A profile has at most ${PROFILE_BYTES} bytes.`)
  return profile
}

/** Finds a user by id or e-mail address. @throws AdminError when there is no such user */
export async function requireUser({ store }: Context, who: string): Promise<UserRecord> {
  const id = parseUserId(who)
  const user = await (id === undefined ? store.findUserByEmail(who) : store.findUser(id))
  if (user === undefined) throw noSuchUser(who)
  return user
}

/**
 * The same for an operation that gives something to the user.
 *
 * @throws AdminError also when an address may be that of another person than the one who has the account
 */
export async function requireRecipient(context: Context, who: string): Promise<UserRecord> {
  const user = await requireUser(context, who)
  if (user.id !== who && (await isAddressDoubtful(context, user))) throw doubtfulAddress(user.id)
  return user
}

/** Why an address names no account. */
export function doubtfulAddress(userId: string): AdminError {
  return conflict(
    `The address of ${userId} was never verified, and the account is in use, so it may be another person's. If you know the account, give the id instead of the address: ${userId}`,
  )
}

function emailTaken(email: string): AdminError {
  return conflict(`There is already a user with the address ${email}. See "grantor user list".`)
}

export function noSuchUser(who: string): AdminError {
  const whom = parseUserId(who) === undefined ? `with the address ${who}` : who
  return unknown(`There is no user ${whom}. See "grantor user list".`)
}
