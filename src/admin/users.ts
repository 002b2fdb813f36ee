import * as z from 'zod'
import type { Context } from '../ports/context.ts'
import type { UserRecord } from '../ports/records/user.ts'
import { normalizeEmail } from '../protocol/account.ts'
import { mintUserId, parseUserId, type Random, type UserId } from '../protocol/ids.ts'
import { AdminError, conflict, unknown } from './admin-error.ts'
import { changeTasks } from './change-tasks.ts'
import { EMAIL, ISO, ISO_OR_NULL, iso, isoOrNull, LIMIT, NAME, NEXT, PASSWORD, USER_ID, pageStart } from './fields.ts'
import { JWT_ACCEPTANCE, withDeletion, withJwtAcceptance } from './jwt-acceptance.ts'
import { listPage, type Listed, type PageRequest } from './page.ts'
import { defineTask, type Task } from './task.ts'

/** A user in an answer, without the hash of the password. */
const USER_DOCUMENT = z
  .object({
    user_id: z.string(),
    email: z.string(),
    name: z.string().nullable(),
    created_at: ISO,
    disabled_at: ISO_OR_NULL,
    not_before: ISO.describe('The not-before time: sessions and tokens of the user issued earlier are revoked.'),
  })
  .meta({ id: 'User' })

export type UserDocument = z.output<typeof USER_DOCUMENT>

/** A user as the operator sees it, without the hash of the password. */
function describeUser({ id, email, name, createdAt, disabledAt, notBefore }: UserRecord): UserDocument {
  return {
    user_id: id,
    email,
    name: name ?? null,
    created_at: iso(createdAt),
    disabled_at: isoOrNull(disabledAt),
    not_before: iso(notBefore),
  }
}

const PATH = '/admin/v1/users'
const ONE = z.object({ user_id: USER_ID })
const { change, end } = changeTasks({
  noun: 'user',
  path: `${PATH}/{user_id}`,
  extent: 'server',
  input: ONE,
  output: USER_DOCUMENT,
  describe: describeUser,
  endOf: (user: UserRecord) => user,
})

export const USER_TASKS: readonly Task[] = [
  defineTask({
    name: 'user.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: 'List the users, newest first.',
    input: z.object({
      limit: LIMIT,
      before: pageStart(USER_ID),
      email: EMAIL.optional().describe('Only the user with this address.'),
    }),
    output: z.object({ users: z.array(USER_DOCUMENT), next: NEXT }),
    async run(context, page) {
      const { rows, next } = await listUsers(context, page)
      return { users: rows.map(describeUser), next: next ?? null }
    },
  }),
  defineTask({
    name: 'user.show',
    method: 'GET',
    path: `${PATH}/{user_id}`,
    access: 'read',
    summary: 'Show everything about a user except the password.',
    input: ONE,
    output: USER_DOCUMENT,
    run: async (context, { user_id }) => describeUser(await requireUser(context, user_id)),
  }),
  defineTask({
    name: 'user.create',
    method: 'POST',
    path: PATH,
    access: 'write',
    creates: true,
    summary: 'Create a user.',
    input: z.object({
      email: EMAIL,
      password: PASSWORD,
      name: NAME.optional().describe('The name of the user, as the pages show it.'),
    }),
    output: USER_DOCUMENT,
    run: async (context, { email, password, name }) =>
      describeUser(await createUser(context, { email, password, name })),
  }),
  defineTask({
    name: 'user.set-password',
    method: 'PUT',
    path: `${PATH}/{user_id}/password`,
    access: 'write',
    summary: 'Set a new password, and revoke all sessions and grants of the user.',
    input: ONE.extend({ password: PASSWORD }),
    output: USER_DOCUMENT.extend(JWT_ACCEPTANCE).meta({ id: 'EndedUser' }),
    async run(context, { user_id, password }) {
      const user = await setPassword(context, user_id, password)
      return withJwtAcceptance(context, describeUser(user), user)
    },
  }),
  end('disable', 'Disable a user: sessions and tokens of the user stop working.', (context, { user_id }) =>
    disableUser(context, user_id),
  ),
  change('enable', 'Enable a disabled user. Revoked sessions and tokens stay revoked.', (context, { user_id }) =>
    enableUser(context, user_id),
  ),
  end('revoke-tokens', 'Revoke all sessions and tokens of a user.', (context, { user_id }) =>
    revokeTokensOfUser(context, user_id),
  ),
  defineTask({
    name: 'user.delete',
    method: 'DELETE',
    path: `${PATH}/{user_id}`,
    access: 'write',
    summary: 'Delete a user with all sessions, memberships and consents. Tokens of the user stop working.',
    input: ONE,
    output: z.object({ user_id: z.string(), email: z.string(), deleted: z.literal(true), ...JWT_ACCEPTANCE }),
    async run(context, { user_id }) {
      const { id, email } = await deleteUser(context, user_id)
      return withDeletion(context, { user_id: id, email, deleted: true as const })
    },
  }),
]

/** 32 characters, 5 bits each, without those that are easily confused. */
const PASSWORD_ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'

type StoreNeeds<Name extends keyof Context['store']> = { readonly store: Pick<Context['store'], Name> }
/** A user is found by id or by e-mail address. */
type Finding = StoreNeeds<'findUser' | 'findUserByEmail'>
type Changing<Name extends keyof Context['store']> = Finding & StoreNeeds<Name> & Pick<Context, 'clock'>

/** Creates a user. @throws AdminError when the address is invalid or taken */
export async function createUser(
  context: StoreNeeds<'createUser'> & Pick<Context, 'clock' | 'random' | 'passwords'>,
  account: { readonly email: string; readonly password: string; readonly name: string | undefined },
): Promise<UserRecord> {
  const now = context.clock()
  const email = requireEmail(account.email)
  const user: UserRecord = {
    id: mintUserId(now, context.random),
    email,
    name: account.name,
    passwordHash: await context.passwords.hash(account.password),
    createdAt: now,
    disabledAt: undefined,
    notBefore: now,
  }
  if ((await context.store.createUser(user)) === 'email-taken') {
    throw conflict(`There is a user with the address ${email} already. See "grantor user list".`)
  }
  return user
}

/** Lists users, newest first, or the user with an address. @throws AdminError when the limit is invalid */
async function listUsers(
  { store }: StoreNeeds<'listUsers' | 'findUserByEmail'>,
  page: PageRequest<UserId> & { readonly email?: string | undefined },
): Promise<Listed<UserRecord, UserId>> {
  if (page.email !== undefined) {
    const user = await store.findUserByEmail(normalizeEmail(page.email))
    return { rows: user === undefined ? [] : [user], next: undefined }
  }
  return listPage(store.listUsers, page)
}

/** Returns a random password of 75 bits, in three groups that are easy to type. */
export function inventPassword(random: Random): string {
  const letters = [...random(15)].map((byte) => PASSWORD_ALPHABET[byte % PASSWORD_ALPHABET.length]).join('')
  return `${letters.slice(0, 5)}-${letters.slice(5, 10)}-${letters.slice(10)}`
}

/** Sets the password, and revokes all sessions and grants of the user. @throws AdminError when there is no such user */
export async function setPassword(
  context: Changing<'setPassword'> & Pick<Context, 'passwords'>,
  who: string,
  password: string,
): Promise<UserRecord> {
  const { id } = await requireUser(context, who)
  const passwordHash = await context.passwords.hash(password)
  await context.store.setPassword({ id, passwordHash, now: context.clock() })
  return requireUser(context, id)
}

/** Disables the user: sessions and tokens of the user stop working. @throws AdminError when there is no such user */
export async function disableUser(context: Changing<'disableUser'>, who: string): Promise<UserRecord> {
  const { id } = await requireUser(context, who)
  await context.store.disableUser({ id, now: context.clock() })
  return requireUser(context, id)
}

/** Enables the user. Sessions and tokens issued until now stay revoked. @throws AdminError when there is no such user */
export async function enableUser(context: Changing<'enableUser'>, who: string): Promise<UserRecord> {
  const { id } = await requireUser(context, who)
  await context.store.enableUser({ id, now: context.clock() })
  return requireUser(context, id)
}

/** Sets the not-before time of the user to now, which revokes all sessions and tokens. @throws AdminError when there is no such user */
async function revokeTokensOfUser(context: Changing<'revokeUserTokens'>, who: string): Promise<UserRecord> {
  const { id } = await requireUser(context, who)
  await context.store.revokeUserTokens({ id, now: context.clock() })
  return requireUser(context, id)
}

/** Deletes the user with all records. The address can be used again. @throws AdminError when there is no such user */
async function deleteUser(context: Finding & StoreNeeds<'deleteUser'>, who: string): Promise<UserRecord> {
  const user = await requireUser(context, who)
  if ((await context.store.deleteUser(user.id)) === 'unknown') throw noSuchUser(who)
  return user
}

/** Finds a user by id or e-mail address. @throws AdminError when there is no such user */
export async function requireUser({ store }: Finding, who: string): Promise<UserRecord> {
  const id = parseUserId(who)
  const user = await (id === undefined ? store.findUserByEmail(normalizeEmail(who)) : store.findUser(id))
  if (user === undefined) throw noSuchUser(who)
  return user
}

function noSuchUser(who: string): AdminError {
  const whom = parseUserId(who) === undefined ? `with the address ${who}` : who
  return unknown(`There is no user ${whom}. See "grantor user list".`)
}

function requireEmail(text: string): string {
  const email = normalizeEmail(text)
  if (email === '') throw new AdminError(`"${text}" is not an e-mail address.`)
  return email
}
