import type { StoreNeeds } from '../../ports/context.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import type { UserId } from '../../protocol/ids.ts'
import { subjectKey } from '../../protocol/sign-in/interaction.ts'
import { listPage, namedPage, type Listed, type PageRequest } from '../page.ts'

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
      : store.findUserByEmail(email))
    return { rows: user === undefined ? [] : [user], next: null }
  }
  if (prefix !== undefined) return { rows: await store.listUsersByEmail({ prefix, limit }), next: null }
  return name === undefined ? listPage(store.listUsers, page) : namedPage(store.listUsers, name, page)
}
