import { orNull } from '../../protocol/null-meaning.ts'
import * as z from 'zod'
import { isAddressDoubtful } from '../../users/doubtful-address.ts'
import { IDENTITY } from '../../answers/identity.ts'
import { PASSKEY } from '../../answers/passkey.ts'
import { USER } from '../../answers/user.ts'
import { nameUser } from '../../protocol/sign-in/account.ts'
import { PASSKEY_ID_FORM, type PasskeyId } from '../../protocol/sign-in/passkey.ts'
import { ADDRESS_TEXTS, PROFILE_TEXTS, PROFILE_URLS } from '../../protocol/openid/user-claims.ts'
import { conflict, unknown } from '../admin-error.ts'
import { REACH, reachOver } from '../administrators.ts'
import { changeTasks } from '../change-tasks.ts'
import { ISO, iso } from '../../base/iso.ts'
import { EMAIL, NAME, PASSWORD, USER_ID } from '../fields.ts'
import { JWT_ACCEPTANCE, withDeletion, withJwtAcceptance } from '../jwt-acceptance.ts'
import { describeMembership, MEMBERSHIP_DOCUMENT } from '../organization/membership.ts'
import { defineTask, type Task } from '../task.ts'
import { LINK_TASKS } from './link.ts'
import { LIST_USERS, openLinksOf, USER_DOCUMENT } from './listed.ts'
import {
  APP_DOCUMENT,
  describeApp,
  describeSignIn,
  findSignInFacts,
  PASSKEY_DOCUMENT,
  SIGN_IN_DOCUMENT,
  STATE_DOCUMENT,
  stateOf,
  type Account,
} from './sign-in.ts'
import { ROLE, ROLE_DOCUMENT } from './role.ts'
import { createUser, noSuchUser, requireUser, setEmail, setPassword, unlockUser, updateUser } from './user.ts'
import { noticesWithoutBrowser } from '../../users/mails.ts'
import { revocationCutoff } from '../../tokens/revocation-cutoff.ts'

export type UserDocument = z.output<typeof USER_DOCUMENT>

/** A user with all sign-in methods. */
const WHOLE_USER = USER_DOCUMENT.extend({
  ...STATE_DOCUMENT.shape,
  reach: REACH,
  identities: z
    .array(z.object(IDENTITY.shape))
    .describe('The providers and the application at which the user signs in.'),
  authenticator_app: APP_DOCUMENT.nullable().describe('The app of the two-step sign-in; null: none.'),
  passkeys: z.array(PASSKEY_DOCUMENT).describe('The passkeys, the oldest first.'),
  is_address_doubtful: z
    .boolean()
    .describe(
      'Whether the address was never verified although the account is in use, so that it may be of another person than its address says. The command line then asks for the id before it gives the user something.',
    ),
  sign_in: SIGN_IN_DOCUMENT.describe('How the account can sign in by now.'),
  role: ROLE_DOCUMENT.nullable().describe('What the user may do by the console; null: nothing.'),
  organizations: z.array(MEMBERSHIP_DOCUMENT).describe('Of which the user is a member.'),
  link: z
    .object({ purpose: z.enum(['invitation', 'reset']), expires_at: ISO })
    .nullable()
    .describe('The link that is open, which the user has not used yet; null: none.'),
}).meta({ id: 'WholeUser' })

export type WholeUserDocument = z.output<typeof WHOLE_USER>

const TEXT = z
  .string()
  .min(1)
  .max(1024)
  .regex(/^\P{Cs}*$/u, { error: 'This is not text.' })
  .meta({ examples: ['Ada'] })

const URL_TEXT = z
  .string()
  .max(2048)
  .regex(/^https?:\/\/[\x21-\x7e]+$/, { error: 'This is not an http or https URL.' })
  .meta({ examples: ['https://acme.test/ada'] })

/** The changes of a user's profile, by the names of the claims. OpenID Connect Core 1.0 §5.1. */
export const PROFILE_CHANGE = z.strictObject({
  ...membersOf(PROFILE_TEXTS, TEXT.nullable().optional()),
  ...membersOf(PROFILE_URLS, URL_TEXT.nullable().optional()),
  phone_number_verified: z.boolean().nullable().optional(),
  address: z
    .strictObject(membersOf(ADDRESS_TEXTS, TEXT.optional()))
    .nullable()
    .optional()
    .describe('The whole address: parts that are not given are removed.'),
})

const PASSWORD_FORM =
  'of 15 characters or more (8 if a second factor is required) that are not easy to guess (docs/users.md)'

const PASSKEY_ID = z
  .string()
  .regex(PASSKEY_ID_FORM, { error: 'This is not the id of a passkey.' })
  .meta({ examples: ['q83vEjRWeJCrze8SNFZ4kA'] })
  .transform((text) => text as PasskeyId)

const PATH = '/admin/v1/users'
const ONE = z.object({ user_id: USER_ID })
const { change, end } = changeTasks({
  noun: 'user',
  path: `${PATH}/{user_id}`,
  extent: 'server',
  access: 'support',
  touches: 'account',
  input: ONE,
  output: USER_DOCUMENT,
  find: (context, { user_id: id }) => requireUser(context, id),
  missing: ({ user_id: id }) => noSuchUser(id),
  describe: USER.show,
  endOf: (user) => user,
})

export const USER_TASKS: readonly Task[] = [
  LIST_USERS,
  defineTask({
    name: 'user.show',
    method: 'GET',
    path: `${PATH}/{user_id}`,
    access: 'read-people',
    summary: 'Show everything about a user except the password.',
    input: ONE,
    output: WHOLE_USER,
    async run(context, { user_id }) {
      const user = await requireUser(context, user_id)
      const [found] = await context.store.listAccounts([user_id])
      if (found === undefined) throw noSuchUser(user_id)
      const account: Account = { ...found, user }
      const { identities, app, passkeys, role, links, memberships } = account
      const [facts, link] = await Promise.all([findSignInFacts(context, [account]), openLinksOf(context)(links)])
      return {
        ...USER.show(user),
        ...stateOf(context, account, { ...facts, link }),
        reach: reachOver(context.administrator, account),
        identities: identities.map(IDENTITY.show),
        authenticator_app: await describeApp(context, app),
        passkeys: passkeys.map(PASSKEY.show),
        is_address_doubtful: await isAddressDoubtful(context, user),
        sign_in: await describeSignIn(context, account, facts),
        role: role === undefined ? null : ROLE.show(role),
        organizations: await Promise.all(memberships.map((one) => describeMembership(context, one))),
        link: link === undefined ? null : { purpose: link.purpose, expires_at: iso(link.expiresAt) },
      }
    },
  }),
  defineTask({
    name: 'user.create',
    method: 'POST',
    path: PATH,
    access: 'support',
    creates: true,
    summary: 'Create a user.',
    next: 'user.create-link',
    input: z.object({
      email: EMAIL,
      email_verified: z.boolean().default(false).describe("Whether the address is known to be the user's."),
      password: PASSWORD.optional().describe(`The password, ${PASSWORD_FORM}; by default the user has none.`),
      name: NAME.optional().describe('The name of the user, as the pages show it.'),
      profile: PROFILE_CHANGE.optional().describe(
        'The claims that apps with the scopes profile, phone and address get.',
      ),
    }),
    output: USER_DOCUMENT,
    async run(context, { email, email_verified: isVerified, password, name, profile = {} }) {
      const { phone_number_verified: isPhoneVerified } = profile
      if (
        context.administrator.access === 'support' &&
        (password !== undefined || isVerified || isPhoneVerified === true)
      )
        throw conflict(
          'Your access (support) invites users, who choose a password and prove the address themselves, and states no phone number as verified. Mail the user a link.',
        )
      return USER.show(await createUser(context, { email, isVerified, password, name, profile }))
    },
  }),
  defineTask({
    name: 'user.set-password',
    method: 'PUT',
    path: `${PATH}/{user_id}/password`,
    access: 'users',
    touches: 'account',
    gives: true,
    summary: 'Set a new password, and revoke all sessions and grants of the user.',
    input: ONE.extend({ password: PASSWORD.describe(`The new password, ${PASSWORD_FORM}.`) }),
    output: USER_DOCUMENT.extend(JWT_ACCEPTANCE).meta({ id: 'EndedUser' }),
    async run(context, { user_id, password }) {
      const user = await setPassword(context, user_id, password)
      return withJwtAcceptance(context, USER.show(user), user)
    },
  }),
  defineTask({
    name: 'user.set-email',
    method: 'PUT',
    path: `${PATH}/{user_id}/email`,
    access: 'users',
    touches: 'account',
    gives: true,
    summary: 'Change the e-mail address that a user signs in with. Sessions and grants stay.',
    undo: 'user.set-email',
    needsRecentSignIn: true,
    input: ONE.extend({
      email: EMAIL,
      verified: z.boolean().default(false).describe("Whether the address is known to be the user's."),
    }),
    output: USER_DOCUMENT,
    async run(context, { user_id, email, verified }) {
      return USER.show(await setEmail(context, user_id, { email, isVerified: verified }))
    },
  }),
  defineTask({
    name: 'user.update',
    method: 'PATCH',
    path: `${PATH}/{user_id}`,
    access: 'users',
    touches: 'account',
    summary: 'Change the name and the profile of a user.',
    undo: 'user.update',
    input: ONE.extend({
      name: orNull(NAME, 'The name of the user.', 'none'),
      profile: PROFILE_CHANGE.default({}).describe('The claims to change; null removes a claim.'),
    }),
    output: USER_DOCUMENT,
    run: async (context, { user_id, name, profile }) =>
      USER.show(await updateUser(context, user_id, { name, profile })),
  }),
  ...LINK_TASKS,
  change(
    'unlock',
    'End a lock after wrong passwords or codes: they are checked again at once, by other processes within ten seconds.',
    (context, { user_id }) => unlockUser(context, user_id),
  ),
  defineTask({
    name: 'user.end-sessions',
    method: 'POST',
    path: `${PATH}/{user_id}/end-sessions`,
    access: 'support',
    touches: 'account',
    anyClock: true,
    summary:
      'Sign a user out of all browsers, and of the apps that signed the user in there. Other tokens keep working.',
    input: ONE,
    output: USER_DOCUMENT.extend({ sessions: z.int().describe('How many sessions ended.') }).meta({
      id: 'SignedOutUser',
    }),
    async run(context, { user_id: userId }) {
      const user = await requireUser(context, userId)
      const { ended } = await context.store.endOtherSessions({ userId, keep: undefined, ...revocationCutoff(context) })
      return { ...USER.show(user), sessions: ended }
    },
  }),
  change(
    'reset-second-factor',
    'Remove the authenticator app and the recovery codes of a user who has lost them, and end the sessions. Grants stay.',
    async (context, { user_id: userId }) => {
      const user = await requireUser(context, userId)
      const { id, email } = user
      const mails = noticesWithoutBrowser(context, user, 'two-step-reset')
      if ((await context.store.resetSecondFactor({ userId, mails })) === 'changed') return
      throw conflict(`${email ?? id} has no authenticator app. If a passkey is lost: "grantor user remove-passkey".`)
    },
    { needsRecentSignIn: true, isFinal: true },
  ),
  defineTask({
    name: 'user.list-passkeys',
    method: 'GET',
    path: `${PATH}/{user_id}/passkeys`,
    access: 'read-people',
    summary: 'List the passkeys of a user, the oldest first. A user has at most 20.',
    input: ONE,
    output: z.object({ passkeys: z.array(PASSKEY_DOCUMENT) }),
    async run(context, { user_id }) {
      const { id } = await requireUser(context, user_id)
      return { passkeys: (await context.store.listPasskeys(id)).map(PASSKEY.show) }
    },
  }),
  defineTask({
    name: 'user.remove-passkey',
    method: 'DELETE',
    path: `${PATH}/{user_id}/passkeys/{passkey_id}`,
    access: 'users',
    touches: 'account',
    summary: 'Remove a passkey of a user, and end the sessions. Grants stay. It may be the last sign-in method.',
    input: ONE.extend({
      passkey_id: PASSKEY_ID.describe('The id of the passkey, as user.list-passkeys returns it.'),
    }),
    output: USER_DOCUMENT,
    async run(context, { user_id, passkey_id: id }) {
      const user = await requireUser(context, user_id)
      const mails = noticesWithoutBrowser(context, user, 'passkey-removed')
      const outcome = await context.store.removePasskey({ userId: user_id, id, by: { kind: 'operator' }, mails })
      if (outcome !== 'removed')
        throw unknown(`${nameUser(user)} has no passkey ${id}. See "grantor user list-passkeys".`)
      return USER.show(user)
    },
  }),
  end('disable', 'Disable a user: sessions and tokens of the user stop working.', ({ store, clock }, { user_id: id }) =>
    store.disableUser({ id, now: clock() }),
  ),
  change(
    'enable',
    'Enable a disabled user. Revoked sessions and tokens stay revoked.',
    ({ store, clock }, { user_id: id }) => store.enableUser({ id, now: clock() }),
  ),
  end(
    'revoke-tokens',
    'Revoke all sessions and tokens of a user.',
    ({ store, clock }, { user_id: id }) => store.revokeUserTokens({ id, now: clock() }),
    { access: 'users' },
  ),
  defineTask({
    name: 'user.delete',
    method: 'DELETE',
    path: `${PATH}/{user_id}`,
    access: 'users',
    touches: 'account',
    summary: 'Delete a user with all sessions, memberships and consents. Tokens of the user stop working.',
    input: ONE,
    output: z.object({
      user_id: z.string(),
      email: z.string().nullable(),
      deleted: z.literal(true),
      ...JWT_ACCEPTANCE,
    }),
    async run(context, { user_id }) {
      const { email } = await requireUser(context, user_id)
      if ((await context.store.deleteUser({ id: user_id })) === 'unknown') throw noSuchUser(user_id)
      return withDeletion(context, { user_id, email: email ?? null, deleted: true as const })
    },
  }),
]

/** The same schema for each of the names. */
function membersOf<Name extends string, Schema extends z.ZodType>(names: readonly Name[], schema: Schema) {
  return Object.fromEntries(names.map((name) => [name, schema])) as Readonly<Record<Name, Schema>>
}
