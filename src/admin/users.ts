import type { Context } from '../ports/context.ts'
import type { UserRecord } from '../ports/records.ts'
import { normalizeEmail } from '../protocol/account.ts'
import { mintUserId, parseUserId, type Random, type UserId } from '../protocol/ids.ts'
import { AdminError } from './admin-error.ts'
import { listPage, type Listed } from './page.ts'

const PASSWORD_MIN = 8
/** Bytes; what the sign-in page takes. */
const PASSWORD_MAX = 1024
/** Characters; what fits on a page. */
const NAME_MAX = 200
/** No letter that is mistaken for another when it is copied by hand; 32 of them are 5 bits each. */
const PASSWORD_ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'

type Needs = Pick<Context, 'clock' | 'random' | 'passwords'> & {
  readonly store: Pick<
    Context['store'],
    'createUser' | 'setPassword' | 'disableUser' | 'enableUser' | 'findUserByEmail'
  >
}

/** @throws AdminError when the address or password cannot be one, or the address is taken */
export async function createUser(
  context: Needs,
  account: { readonly email: string; readonly password: string; readonly name: string | undefined },
): Promise<UserRecord> {
  const now = context.clock()
  const email = requireEmail(account.email)
  const user: UserRecord = {
    id: mintUserId(now, context.random),
    email,
    name: account.name === undefined ? undefined : requireName(account.name),
    passwordHash: await context.passwords.hash(requirePassword(account.password)),
    createdAt: now,
    disabledAt: undefined,
    validFrom: now,
  }
  if ((await context.store.createUser(user)) === 'email-taken') {
    throw new AdminError(`There is a user with the address ${email} already. See "grantor user list".`)
  }
  return user
}

/** Newest first. @throws AdminError when the limit or the place to start is none */
export function listUsers(
  { store }: { readonly store: Pick<Context['store'], 'listUsers'> },
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<Listed<UserRecord, UserId>> {
  const before = page.before === undefined ? undefined : parseUserId(page.before)
  if (page.before !== undefined && before === undefined) {
    throw new AdminError(`"${page.before}" is not a user id. See "grantor user list".`)
  }
  return listPage(store.listUsers, { before, limit: page.limit })
}

/** A user as the operator sees it: everything but the hash of the password. */
export function describeUser({
  id,
  email,
  name,
  createdAt,
  disabledAt,
}: UserRecord): Readonly<Record<string, unknown>> {
  return {
    user_id: id,
    email,
    name: name ?? null,
    created_at: new Date(createdAt).toISOString(),
    disabled_at: disabledAt === undefined ? null : new Date(disabledAt).toISOString(),
  }
}

/** A password that nobody guesses and anybody can type: 75 random bits in three groups. */
export function inventPassword(random: Random): string {
  const letters = [...random(15)].map((byte) => PASSWORD_ALPHABET[byte % PASSWORD_ALPHABET.length]).join('')
  return `${letters.slice(0, 5)}-${letters.slice(5, 10)}-${letters.slice(10)}`
}

/** Ends every session and grant from before, too. @throws AdminError when there is no such user */
export async function setPassword(context: Needs, email: string, password: string): Promise<UserRecord> {
  const user = await requireUser(context, email)
  const passwordHash = await context.passwords.hash(requirePassword(password))
  await context.store.setPassword({ id: user.id, passwordHash, now: context.clock() })
  return user
}

/** Nothing of the user works from now on. @throws AdminError when there is no such user */
export async function disableUser(context: Needs, email: string): Promise<UserRecord> {
  const user = await requireUser(context, email)
  await context.store.disableUser({ id: user.id, now: context.clock() })
  return requireUser(context, user.email)
}

/** The user may sign in again; what ended stays ended. @throws AdminError when there is no such user */
export async function enableUser(context: Needs, email: string): Promise<UserRecord> {
  const user = await requireUser(context, email)
  await context.store.enableUser({ id: user.id, now: context.clock() })
  return requireUser(context, user.email)
}

async function requireUser(context: Needs, email: string): Promise<UserRecord> {
  const user = await context.store.findUserByEmail(normalizeEmail(email))
  if (user === undefined) throw new AdminError(`There is no user with the address ${email}. See "grantor user list".`)
  return user
}

function requireEmail(text: string): string {
  const email = normalizeEmail(text)
  if (email === '') throw new AdminError(`"${text}" is not an e-mail address.`)
  return email
}

function requireName(text: string): string {
  const name = text.trim()
  if (name === '' || [...name].length > NAME_MAX || /\p{Cc}/u.test(name)) {
    throw new AdminError(`A name has between 1 and ${NAME_MAX} characters and no control characters.`)
  }
  return name
}

function requirePassword(password: string): string {
  if ([...password].length < PASSWORD_MIN) throw new AdminError(`A password has at least ${PASSWORD_MIN} characters.`)
  if (Buffer.byteLength(password) > PASSWORD_MAX) throw new AdminError(`A password has at most ${PASSWORD_MAX} bytes.`)
  return password
}
