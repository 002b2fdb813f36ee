import { fold, gramsOf, hasWords, isLongWord, wordsOf } from '../../base/fold.ts'
import type { StoreNeeds } from '../../ports/context.ts'
import type { UserSlice } from '../../ports/operations/user-search.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import type { OrganizationId, UserId } from '../../protocol/ids.ts'
import { normalizeEmailStart } from '../../protocol/sign-in/email-address.ts'
import { subjectKey } from '../../protocol/sign-in/interaction.ts'
import { userTexts } from '../../protocol/sign-in/user-texts.ts'
import { EXAMINED_FOR_TEXT, listPage, textPage, type Listed, type PageRequest } from '../page.ts'

/** Which users are meant. Of an address, an id at the application, a beginning of addresses and the others one counts, the most exact. */
export interface UserSearch {
  readonly email?: string | undefined
  readonly subject?: string | undefined
  readonly email_prefix?: string | undefined
  readonly organization_id?: OrganizationId | undefined
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

/** A list of users that an index has, newest first, in slices. */
export type UserSource = (slice: { readonly before: UserId | undefined; readonly limit: number }) => Promise<UserSlice>

type Needs = StoreNeeds<'findIdentity' | 'findUser' | 'findUserByEmail' | 'listUsers' | 'listUsersByEmail'> &
  StoreNeeds<'findMembership' | 'listIndexedUsers' | 'listMembers' | 'listUnindexedUsers'>

/** Returns a page of users, newest first, or those that filters find. `among`: a list of which they are. */
export async function listUsers(
  context: Needs,
  page: PageRequest<UserId> & UserSearch,
  among: UserSource | undefined,
): Promise<ListedUsers> {
  const { text, organization_id: organization } = page
  if (page.email !== undefined || page.subject !== undefined || page.email_prefix !== undefined)
    return { ...(await findUsers(context, page)), searched: null }
  if (among !== undefined) return listNarrowed(among, page, (users) => membersAmong(context, users, organization))
  if (organization !== undefined) return listNarrowed(membersOf(context, organization), page, same)
  if (text !== undefined) return searchUsers(context, text, page)
  return { ...(await listPage(context.store.listUsers, page)), searched: null }
}

async function findUsers(
  { store }: Needs,
  { email, subject, email_prefix: prefix = '', limit }: PageRequest<UserId> & UserSearch,
): Promise<Listed<UserRecord, UserId>> {
  if (email === undefined && subject === undefined)
    return { rows: await store.listUsersByEmail({ prefix, limit }), next: null }
  const identity = subject === undefined ? undefined : await store.findIdentity(subjectKey(subject))
  const user = await (email === undefined ? identity && store.findUser(identity.userId) : store.findUserByEmail(email))
  return { rows: user === undefined ? [] : [user], next: null }
}

type Narrow = (users: readonly UserRecord[]) => Promise<readonly UserRecord[]>

const same: Narrow = async (users) => users

/** A page of the users of a list who have the text, if one is given. */
async function listNarrowed(
  source: UserSource,
  { text, ...page }: PageRequest<UserId> & UserSearch,
  narrow: Narrow,
): Promise<ListedUsers> {
  const words = text === undefined ? [] : wordsOf(text)
  const meant: Narrow = (users) => narrow(users.filter((user) => hasWords(words, ...userTexts(user))))
  const found = await collect(source, meant, page)
  const searched = text === undefined ? null : 'names_and_addresses'
  return { ...pageOf(found.users, found.from, page.limit), searched }
}

/** The members of an organization. */
function membersOf({ store }: StoreNeeds<'findUser' | 'listMembers'>, organizationId: OrganizationId): UserSource {
  return async (slice) => {
    const members = await store.listMembers({ ...slice, organizationId })
    const users = await Promise.all(members.map(({ userId }) => store.findUser(userId)))
    const next = members.length < slice.limit ? undefined : members.at(-1)?.userId
    return { users: users.filter((user) => user !== undefined), next }
  }
}

async function membersAmong(
  { store }: StoreNeeds<'findMembership'>,
  users: readonly UserRecord[],
  organizationId: OrganizationId | undefined,
): Promise<readonly UserRecord[]> {
  if (organizationId === undefined) return users
  const found = await Promise.all(users.map(({ id: userId }) => store.findMembership({ organizationId, userId })))
  return users.filter((_, index) => found[index] !== undefined)
}

/** A page of the users who have all words of a text. */
export async function searchUsers(
  { store }: StoreNeeds<'listIndexedUsers' | 'listUnindexedUsers' | 'listUsers' | 'listUsersByEmail'>,
  text: string,
  page: PageRequest<UserId>,
): Promise<ListedUsers> {
  const words = wordsOf(text)
  if (!words.some(isLongWord))
    return { rows: await startingWith(store, text, page.limit), next: null, searched: 'beginnings_of_addresses' }
  const searched = 'names_and_addresses'
  const isMeant = (user: UserRecord): boolean => hasWords(words, ...userTexts(user))
  const meant: Narrow = async (users) => users.filter(isMeant)
  // A user who is indexed meanwhile is found by the index, which is read later.
  const waiting = await collect(store.listUnindexedUsers, meant, page)
  const grams = gramsOf(words).slice(0, GRAMS_ASKED)
  let areMany = false
  const listIndexed: UserSource = async (slice) => {
    const found = await store.listIndexedUsers({ grams, ...slice })
    areMany ||= found === 'many'
    return found === 'many' ? { users: [], next: undefined } : found
  }
  const indexed = await collect(listIndexed, meant, page)
  if (areMany) return { ...(await textPage(store.listUsers, isMeant, page)), searched }
  const from = [waiting.from, indexed.from].reduce((one, other) => ((one ?? '') > (other ?? '') ? one : other))
  return { ...pageOf([...waiting.users, ...indexed.users], from, page.limit), searched }
}

/** Users who were found, each once and newest first. `from`: the last id that was examined; undefined: all were. */
function pageOf(found: readonly UserRecord[], from: UserId | undefined, limit: number): Listed<UserRecord, UserId> {
  const users = [...new Map(found.map((user) => [user.id, user])).values()]
    .filter(({ id }) => from === undefined || id >= from)
    .toSorted((one, other) => (one.id < other.id ? 1 : -1))
  const rows = users.slice(0, limit)
  return { rows, next: (users.length > rows.length ? rows.at(-1)?.id : from) ?? null }
}

/** Reads slices until there are more users than a page has, or enough were examined. `from`: the last id that was; undefined: all were. */
async function collect(
  list: UserSource,
  narrow: Narrow,
  { before: start, limit }: PageRequest<UserId>,
): Promise<{ readonly users: readonly UserRecord[]; readonly from: UserId | undefined }> {
  const users: UserRecord[] = []
  let before = start
  for (let examined = 0; examined < EXAMINED_FOR_TEXT && users.length <= limit; examined += SLICE) {
    const slice = await list({ before, limit: SLICE })
    users.push(...(await narrow(slice.users)))
    before = slice.next
    if (before === undefined) break
  }
  return { users, from: before }
}

/** Users whose address begins with a short text, as it was typed or without its marks. */
async function startingWith(
  store: StoreNeeds<'listUsersByEmail'>['store'],
  text: string,
  limit: number,
): Promise<readonly UserRecord[]> {
  const typed = normalizeEmailStart(text.trim())
  const prefixes = [...new Set([typed, fold(typed)])].filter((prefix) => prefix !== '')
  const found = await Promise.all(prefixes.map((prefix) => store.listUsersByEmail({ prefix, limit })))
  return [...new Map(found.flat().map((user) => [user.id, user])).values()].slice(0, limit)
}
