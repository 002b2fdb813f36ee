import { fold, gramsOf, hasWords, isLongWord, wordsOf } from '../../base/fold.ts'
import type { StoreNeeds } from '../../ports/context.ts'
import type { UserSlice } from '../../ports/operations/user-search.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import type { UserId } from '../../protocol/ids.ts'
import { normalizeEmailStart } from '../../protocol/sign-in/email-address.ts'
import { subjectKey } from '../../protocol/sign-in/interaction.ts'
import { userTexts } from '../../protocol/sign-in/user-texts.ts'
import { EXAMINED_FOR_TEXT, listPage, textPage, type Listed, type PageRequest } from '../page.ts'

/** Which users are meant. Of the filters one counts, the most exact. */
interface UserSearch {
  readonly email?: string | undefined
  readonly subject?: string | undefined
  readonly email_prefix?: string | undefined
  readonly text?: string | undefined
}

/** Users that are read at a time, and numbers of a text that the index compares. */
const SLICE = 500
const GRAMS_ASKED = 40

/** What was compared with a text. Short words alone are compared with the beginnings of addresses, because the index has three letters in a row. */
export const SEARCHED = ['names_and_addresses', 'beginnings_of_addresses'] as const

/** Users, and what of them was compared with a text; null: there was none. */
export interface ListedUsers extends Listed<UserRecord, UserId> {
  readonly searched: (typeof SEARCHED)[number] | null
}

type Needs = StoreNeeds<'findIdentity' | 'findUser' | 'findUserByEmail' | 'listUsers' | 'listUsersByEmail'> &
  StoreNeeds<'listIndexedUsers' | 'listUnindexedUsers'>

/** Returns a page of users, newest first, or those that a filter finds. */
export async function listUsers(context: Needs, page: PageRequest<UserId> & UserSearch): Promise<ListedUsers> {
  const { text } = page
  const isSearched = text !== undefined && page.email === undefined && page.subject === undefined
  if (isSearched && page.email_prefix === undefined) return searchUsers(context, text, page)
  return { ...(await findUsers(context, page)), searched: null }
}

async function findUsers(context: Needs, page: PageRequest<UserId> & UserSearch): Promise<Listed<UserRecord, UserId>> {
  const { store } = context
  const { email, subject, email_prefix: prefix, limit } = page
  if (email !== undefined || subject !== undefined) {
    const identity = subject === undefined ? undefined : await store.findIdentity(subjectKey(subject))
    const user = await (email === undefined
      ? identity && store.findUser(identity.userId)
      : store.findUserByEmail(email))
    return { rows: user === undefined ? [] : [user], next: null }
  }
  if (prefix !== undefined) return { rows: await store.listUsersByEmail({ prefix, limit }), next: null }
  return listPage(store.listUsers, page)
}

/** A page of the users who have all words of a text. */
async function searchUsers(
  { store }: Pick<Needs, 'store'>,
  text: string,
  page: PageRequest<UserId>,
): Promise<ListedUsers> {
  const words = wordsOf(text)
  if (!words.some(isLongWord))
    return { rows: await startingWith(store, text, page.limit), next: null, searched: 'beginnings_of_addresses' }
  const searched = 'names_and_addresses'
  const isMeant = (user: UserRecord): boolean => hasWords(words, ...userTexts(user))
  // A user who is indexed meanwhile is found by the index, which is read later.
  const waiting = await collect(store.listUnindexedUsers, isMeant, page)
  const grams = gramsOf(words).slice(0, GRAMS_ASKED)
  const indexed = await collect((slice) => store.listIndexedUsers({ grams, ...slice }), isMeant, page)
  if (indexed === 'many' || waiting === 'many') return { ...(await textPage(store.listUsers, isMeant, page)), searched }
  const from = [waiting.from, indexed.from].reduce((one, other) => ((one ?? '') > (other ?? '') ? one : other))
  const found = new Map([...waiting.users, ...indexed.users].map((user) => [user.id, user]))
  const users = [...found.values()]
    .filter(({ id }) => from === undefined || id >= from)
    .toSorted((one, other) => (one.id < other.id ? 1 : -1))
  const rows = users.slice(0, page.limit)
  return { rows, next: (users.length > rows.length ? rows.at(-1)?.id : from) ?? null, searched }
}

/** Reads slices until there are more users than a page has, or enough were examined. `from`: the last id that was; undefined: all were. */
async function collect(
  list: (slice: { readonly before: UserId | undefined; readonly limit: number }) => Promise<UserSlice | 'many'>,
  isMeant: (user: UserRecord) => boolean,
  { before: start, limit }: PageRequest<UserId>,
): Promise<{ readonly users: readonly UserRecord[]; readonly from: UserId | undefined } | 'many'> {
  const users: UserRecord[] = []
  let before = start
  for (let examined = 0; examined < EXAMINED_FOR_TEXT && users.length <= limit; examined += SLICE) {
    const slice = await list({ before, limit: SLICE })
    if (slice === 'many') return slice
    users.push(...slice.users.filter(isMeant))
    before = slice.next
    if (before === undefined) break
  }
  return { users, from: before }
}

/** Users whose address begins with a short text, as it was typed or without its marks. */
async function startingWith(
  store: Pick<Needs['store'], 'listUsersByEmail'>,
  text: string,
  limit: number,
): Promise<readonly UserRecord[]> {
  const typed = normalizeEmailStart(text.trim())
  const prefixes = [...new Set([typed, fold(typed)])].filter((prefix) => prefix !== '')
  const found = await Promise.all(prefixes.map((prefix) => store.listUsersByEmail({ prefix, limit })))
  return [...new Map(found.flat().map((user) => [user.id, user])).values()].slice(0, limit)
}
