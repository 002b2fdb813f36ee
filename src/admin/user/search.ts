import type { StoreNeeds } from '../../ports/context.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import type { UserId } from '../../protocol/ids.ts'
import { asciiDomain, normalizeEmailStart } from '../../protocol/sign-in/email-address.ts'
import { subjectKey } from '../../protocol/sign-in/interaction.ts'
import { hasText, listPage, textPage, type Listed, type PageRequest } from '../page.ts'

/** Which users are meant. Of the filters one counts, the most exact. */
interface UserSearch {
  readonly email?: string | undefined
  readonly subject?: string | undefined
  readonly email_prefix?: string | undefined
  readonly text?: string | undefined
}

type Needs = StoreNeeds<'findIdentity' | 'findUser' | 'findUserByEmail' | 'listUsers' | 'listUsersByEmail'>

/** Returns a page of users, newest first, or those that a filter finds. */
export async function listUsers(
  context: Needs,
  page: PageRequest<UserId> & UserSearch,
): Promise<Listed<UserRecord, UserId>> {
  const { store } = context
  const { email, subject, email_prefix: prefix, text, limit } = page
  if (email !== undefined || subject !== undefined) {
    const identity = subject === undefined ? undefined : await store.findIdentity(subjectKey(subject))
    const user = await (email === undefined
      ? identity && store.findUser(identity.userId)
      : store.findUserByEmail(email))
    return { rows: user === undefined ? [] : [user], next: null }
  }
  if (prefix !== undefined) return { rows: await store.listUsersByEmail({ prefix, limit }), next: null }
  return text === undefined ? listPage(store.listUsers, page) : searchUsers(context, text, page)
}

/**
 * The first page begins with the users whose address begins with the text, however old they are, because an index has them. If they would
 * fill it, they are where their age is.
 */
async function searchUsers(
  { store }: Pick<Needs, 'store'>,
  text: string,
  { before, limit }: PageRequest<UserId>,
): Promise<Listed<UserRecord, UserId>> {
  const prefix = normalizeEmailStart(text)
  const indexed = prefix === '' ? [] : await store.listUsersByEmail({ prefix, limit })
  const first = indexed.length < limit ? indexed : []
  const known = new Set(first.map(({ id }) => id))
  const shown = before === undefined ? first : []
  const { rows, next } = await textPage(store.listUsers, (user) => !known.has(user.id) && isCalled(text, user), {
    before,
    limit: limit - shown.length,
  })
  return { rows: [...shown, ...rows], next }
}

/** Whether the name or the address has a text, in any case and in any spelling of a domain. */
export function isCalled(
  text: string,
  { name, email }: { readonly name?: string | null | undefined; readonly email?: string | null | undefined },
): boolean {
  return (
    hasText(text, name ?? undefined) ||
    [text, normalizeEmailStart(text), asciiDomain(text) ?? text].some((one) => hasText(one, email ?? undefined))
  )
}
