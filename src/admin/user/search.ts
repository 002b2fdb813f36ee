import type { StoreNeeds } from '../../ports/context.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import type { UserId } from '../../protocol/ids.ts'
import { normalizeEmail } from '../../protocol/sign-in/account.ts'
import { subjectKey } from '../../protocol/sign-in/interaction.ts'
import { LIST_LIMIT, listPage, type Listed, type PageRequest } from '../page.ts'

/** Rows that one call examines for a name, which no statement finds: an index would cost each new user. */
const EXAMINED_LIMIT = 5000

/** Which users are meant. Of the filters one counts, the most exact. */
interface UserSearch {
  readonly email?: string | undefined
  readonly subject?: string | undefined
  readonly email_prefix?: string | undefined
  readonly name?: string | undefined
}

type Needs = StoreNeeds<'findIdentity' | 'findUser' | 'findUserByEmail' | 'listUsers' | 'listUsersByEmail'>

/** Returns a page of users, newest first, or those that a filter finds. */
export async function listUsers(
  { store }: Needs,
  page: PageRequest<UserId> & UserSearch,
): Promise<Listed<UserRecord, UserId>> {
  const { email, subject, email_prefix: prefix, name, limit } = page
  if (email !== undefined || subject !== undefined) {
    const identity = subject === undefined ? undefined : await store.findIdentity(subjectKey(subject))
    const user = await (email === undefined
      ? identity && store.findUser(identity.userId)
      : store.findUserByEmail(normalizeEmail(email)))
    return { rows: user === undefined ? [] : [user], next: null }
  }
  if (prefix !== undefined) return { rows: await store.listUsersByEmail({ prefix, limit }), next: null }
  return name === undefined ? listPage(store.listUsers, page) : findByName({ store }, name.toLowerCase(), page)
}

async function findByName(
  { store }: StoreNeeds<'listUsers'>,
  part: string,
  { limit, before: start }: PageRequest<UserId>,
): Promise<Listed<UserRecord, UserId>> {
  const rows: UserRecord[] = []
  let before = start
  for (let examined = 0; examined < EXAMINED_LIMIT; examined += LIST_LIMIT.most) {
    const slice = await store.listUsers({ before, limit: LIST_LIMIT.most })
    for (const user of slice) {
      if (rows.length === limit) return { rows, next: before ?? null }
      if (user.name?.toLowerCase().includes(part) === true) rows.push(user)
      before = user.id
    }
    if (slice.length < LIST_LIMIT.most) return { rows, next: null }
  }
  return { rows, next: before ?? null }
}
