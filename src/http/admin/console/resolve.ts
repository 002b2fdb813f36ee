import { AdminError } from '../../../admin/admin-error.ts'
import type { AdminCredentialDocument } from '../../../admin/admin.ts'
import { COMMAND_LINE, LIBRARY, SERVER } from '../../../admin/administrators.ts'
import type { ClientDocument } from '../../../admin/client/document.ts'
import type { GrantDocument } from '../../../admin/grant.ts'
import { findField, type InputField, type Referred } from '../../../admin/input-fields.ts'
import type { InstallationDocument } from '../../../admin/organization/installation.ts'
import type { MemberDocument } from '../../../admin/organization/member.ts'
import type { OrganizationDocument } from '../../../admin/organization/organization.ts'
import { hasText, PAGE_LIMIT } from '../../../admin/page.ts'
import type { ProviderDocument } from '../../../admin/provider/settings.ts'
import type { UserDocument, WholeUserDocument } from '../../../admin/user/tasks.ts'
import { doubtfulAddress } from '../../../admin/user/user.ts'
import type { Members, Texts } from '../../../console/screen.ts'
import { asciiDomain } from '../../../protocol/sign-in/email-address.ts'
import { chosenClientId, parseClientReference } from '../../../protocol/client/identifier.ts'
import { isChosenId, parseAdminCredentialId, parseOrganizationId, parseUserId } from '../../../protocol/ids.ts'

/** Who looks for what a text names. */
export interface Seeker {
  /** Performs a task that reads, as the person may. */
  readonly read: (task: string, input: Members) => Promise<Members>
  /** The one organization that the role is for, among whose objects a name is looked for; undefined: among all. */
  readonly within: string | undefined
}

/** What a text may mean: an id, and what it is called. */
type Match = readonly [id: string, name: string]

/** What was found. `isPart`: more rows were not searched, so another one may have the name too. */
interface Matches {
  readonly matches: readonly Match[]
  readonly isPart: boolean
}

/** At most so many choices are named. */
const CHOICES = 5
/** Rows with a text in the name, among which there may be one with exactly this name. */
const SEARCHED = 100
/** Grants whose clients are looked at. Each costs several reads. */
const GRANTS_SEARCHED = 200
/** Actors that are no person and no credentials. */
const OWN_ACTORS: readonly string[] = [COMMAND_LINE.actor, LIBRARY.actor, SERVER.actor]

/**
 * Returns the filters of a list with the ids of what they name: people know addresses and names, and the tasks take ids.
 *
 * @throws AdminError when a text names nothing, or several
 */
export async function resolveFilters(seeker: Seeker, filters: readonly string[], query: Texts): Promise<Texts> {
  const pairs = await Promise.all(
    Object.entries(query).map(async ([name, text]): Promise<readonly [string, string]> => {
      const kind = filters.includes(name) ? kindsOf(seeker)[FILTERS[name] ?? ''] : undefined
      return [name, kind === undefined ? text : await idOfFilter(seeker, kind, name, text.trim())]
    }),
  )
  return Object.fromEntries(pairs)
}

/** The texts of a form with the ids of what they name, or the sentences beside the fields whose text names nothing, or several. */
export interface ResolvedFields {
  readonly values: Texts
  readonly errors: Texts
}

/** The same for the fields of a form, which do more than show: a text that is a part of a name, or a name that several may have, names nothing. */
export async function resolveFields(
  seeker: Seeker,
  fields: readonly InputField[],
  texts: Texts,
): Promise<ResolvedFields> {
  const values: Record<string, string> = {}
  const errors: Record<string, string> = {}
  for (const [path, text] of Object.entries(texts)) {
    values[path] = text
    const kind = kindsOf(seeker)[findField(fields, path)?.refersTo ?? '']
    if (kind === undefined || text.trim() === '') continue
    try {
      values[path] = await idOfField(seeker, kind, text.trim())
    } catch (cause) {
      if (!(cause instanceof AdminError)) throw cause
      errors[path] = cause.message
    }
  }
  return { values, errors }
}

/** What a text names. */
interface Kind {
  readonly noun: string
  readonly isId: (seeker: Seeker, text: string) => boolean | Promise<boolean>
  readonly named: (seeker: Seeker, text: string) => Promise<Matches>
  /** Whether a text that names nothing may be an id nevertheless: what exists elsewhere is not said (threats.md CON-08). */
  readonly mayBeId?: (text: string) => boolean
  /** Why a field takes no such name. */
  readonly refuses?: (text: string) => string | undefined
  /** Why a field takes what it found by a name only by the id. */
  readonly doubts?: (seeker: Seeker, id: string) => Promise<AdminError | undefined>
}

/** The kinds of what filters name. */
const FILTERS: Readonly<Record<string, Referred | 'actor'>> = {
  client_id: 'client',
  user_id: 'user',
  organization_id: 'organization',
  actor: 'actor',
}

const KINDS: Readonly<Record<string, Kind>> = {
  client: { noun: 'client', isId: isClient, named: clientsNamed },
  user: { noun: 'user', isId: isUser, named: usersNamed, refuses: withoutAddress, doubts: doubtsUser },
  organization: { noun: 'organization', isId: isOrganization, named: organizationsNamed },
  actor: {
    noun: 'user, and there are no credentials,',
    isId: async (seeker, text) =>
      OWN_ACTORS.includes(text) || parseAdminCredentialId(text) !== undefined || isUser(seeker, text),
    async named(seeker, text) {
      const [users, credentials] = await Promise.all([usersNamed(seeker, text), credentialsNamed(seeker, text)])
      return { matches: [...users.matches, ...credentials], isPart: users.isPart }
    },
  },
}

/** A role for one organization names what the lists of the organization show. */
const KINDS_WITHIN: Readonly<Record<string, Kind>> = {
  client: {
    noun: 'client',
    isId: (_, text) => chosenClientId(text) === undefined && parseClientReference(text) !== undefined,
    named: clientsWithin,
    mayBeId: (text) => chosenClientId(text) !== undefined,
  },
  user: {
    noun: 'member',
    isId: (_, text) => !isChosenId(text) && parseUserId(text) !== undefined,
    named: membersNamed,
    mayBeId: isChosenId,
    refuses: withoutAddress,
  },
}

function kindsOf({ within }: Seeker): Readonly<Record<string, Kind>> {
  return within === undefined ? KINDS : KINDS_WITHIN
}

/** Events come before names: strangers register clients, and sign up, with the name that the id of a deleted client or user was. */
async function idOfFilter(seeker: Seeker, kind: Kind, filter: string, text: string): Promise<string> {
  const { noun, isId, named, mayBeId } = kind
  if (await isId(seeker, text)) return text
  const events = mayBeId === undefined ? await searchEvents(seeker, filter, text) : 'none'
  if (events === 'some') return text
  const found = await named(seeker, text)
  // The task refused what can be no id, and takes each text for an actor.
  const isPossible = mayBeId?.(text) ?? (events === 'not found yet' && (filter !== 'actor' || isChosenId(text)))
  if (found.matches.length === 0 && isPossible) return text
  const exact = exactly(text, found.matches)
  if (exact.length === 0 && events === 'not found yet' && isPossible)
    throw new AdminError(
      `"${text}" is no whole name, and may be the id of what was deleted: the newest events do not name it. Give an id: ${choicesOf(found.matches)}`,
    )
  return only(noun, text, exact.length === 1 ? { matches: exact, isPart: false } : found)
}

async function idOfField(seeker: Seeker, kind: Kind, text: string): Promise<string> {
  const { noun, isId, named, mayBeId, refuses, doubts } = kind
  if (await isId(seeker, text)) return text
  const reason = refuses?.(text)
  if (reason !== undefined) throw new AdminError(reason)
  const { matches, isPart } = await named(seeker, text)
  const exact = exactly(text, matches)
  if (exact.length === 0 && mayBeId?.(text) === true) return text
  const found = only(noun, text, { matches: exact, isPart })
  // Anybody may register a client with the name of another one.
  if (isPart) throw new AdminError(`Not every ${noun} was searched: others may be called "${text}" too. Give an id.`)
  const doubt = await doubts?.(seeker, found)
  if (doubt !== undefined) throw doubt
  return found
}

/** An id that an operator chose looks like a name, so it counts only while there is a client that has it. */
async function isClient({ read }: Seeker, text: string): Promise<boolean> {
  if (chosenClientId(text) === undefined) return parseClientReference(text) !== undefined
  return (await unlessRefused(read('client.show', { client_id: text }))) !== undefined
}

async function isUser({ read }: Seeker, text: string): Promise<boolean> {
  if (!isChosenId(text)) return parseUserId(text) !== undefined
  return (await unlessRefused(read('user.show', { user_id: text }))) !== undefined
}

async function isOrganization({ read }: Seeker, text: string): Promise<boolean> {
  if (!isChosenId(text)) return parseOrganizationId(text) !== undefined
  return (await unlessRefused(read('organization.show', { organization_id: text }))) !== undefined
}

/** People choose their names themselves. */
function withoutAddress(text: string): string | undefined {
  return text.includes('@') ? undefined : 'Give the e-mail address or the id: several people may have one name.'
}

/** A form may give the user something (threats.md CON-34). */
async function doubtsUser({ read }: Seeker, id: string): Promise<AdminError | undefined> {
  const { is_address_doubtful: isDoubtful } = (await read('user.show', { user_id: id })) as WholeUserDocument
  return isDoubtful ? doubtfulAddress(id) : undefined
}

/**
 * Whether the audit has events about an id that the operator chose, of what was deleted. There is no index for it, so only the newest events
 * are searched: the list of events goes on with the older ones.
 */
async function searchEvents(
  { read }: Seeker,
  filter: string,
  text: string,
): Promise<'some' | 'none' | 'not found yet'> {
  const found = await unlessRefused(read('audit.list', { [filter]: text, limit: 1 }))
  if (found === undefined) return 'none'
  if ((found['events'] as readonly object[]).length > 0) return 'some'
  return found['next'] === null ? 'none' : 'not found yet'
}

async function unlessRefused(answer: Promise<Members>): Promise<Members | undefined> {
  try {
    return await answer
  } catch (cause) {
    if (cause instanceof AdminError) return undefined
    throw cause
  }
}

async function clientsNamed({ read }: Seeker, name: string): Promise<Matches> {
  const found = await read('client.list', { name, limit: SEARCHED })
  const clients = found['clients'] as readonly ClientDocument[]
  return matching(
    found,
    clients.map(({ client_id: id, client_name: called = '' }) => [id, called]),
  )
}

async function usersNamed({ read }: Seeker, text: string): Promise<Matches> {
  const isAddress = text.includes('@')
  const found = await read('user.list', isAddress ? { email: text } : { name: text, limit: SEARCHED })
  const users = found['users'] as readonly UserDocument[]
  return matching(
    found,
    users.map(({ user_id: id, name }) => [id, isAddress ? text : (name ?? '')]),
  )
}

/** A domain of a provider belongs to the organization of that provider, and to no other one. */
async function organizationsNamed({ read }: Seeker, text: string): Promise<Matches> {
  const [found, ofProviders] = await Promise.all([
    read('organization.list', { name: text, limit: SEARCHED }),
    read('provider.list', { name: text, limit: PAGE_LIMIT.most }),
  ])
  const domain = asciiDomain(text) ?? text
  const owner = (ofProviders['providers'] as readonly ProviderDocument[]).find(({ domains }) =>
    domains.includes(domain),
  )?.organization_id
  const named = (found['organizations'] as readonly OrganizationDocument[]).map(
    ({ organization_id: id, name }): Match => [id, name],
  )
  if (owner === undefined || owner === null) return matching(found, named)
  const others = named.filter(([id]) => id !== owner)
  // An organization may be called as a domain of another one.
  return { matches: [[owner, text], ...others], isPart: false }
}

async function credentialsNamed({ read }: Seeker, text: string): Promise<readonly Match[]> {
  const { credentials } = (await read('admin.list', {})) as { readonly credentials: readonly AdminCredentialDocument[] }
  return credentials.flatMap(({ credential_id: id, name }): readonly Match[] => (name === text ? [[id, name]] : []))
}

/** The clients that are installed, or that members allowed something, whatever the text is: the time says nothing about others. */
async function clientsWithin({ read, within }: Seeker, text: string): Promise<Matches> {
  const place = { organization_id: within }
  const [installed, allowed] = await Promise.all([
    read('installation.list', { ...place, limit: PAGE_LIMIT.most }),
    read('organization.list-grants', { ...place, limit: GRANTS_SEARCHED }),
  ])
  const names = allowed['names'] as Texts
  const all = new Map([
    ...(allowed['grants'] as readonly GrantDocument[]).map(({ client_id: id }): Match => [
      id,
      (Object.hasOwn(names, id) ? names[id] : undefined) ?? '',
    ]),
    ...(installed['installations'] as readonly InstallationDocument[]).map(
      ({ client_id: id, client_name: name }): Match => [id, name ?? ''],
    ),
  ])
  return matching({ next: installed['next'] ?? allowed['next'] }, havingText(text, [...all]))
}

async function membersNamed({ read, within }: Seeker, text: string): Promise<Matches> {
  const isAddress = text.includes('@')
  const input = isAddress ? { email: text } : { limit: PAGE_LIMIT.most }
  const found = await read('member.list', { organization_id: within, ...input })
  const members = (found['members'] as readonly MemberDocument[]).map(({ user_id: id, name }): Match => [
    id,
    isAddress ? text : (name ?? ''),
  ])
  return matching(found, havingText(text, members))
}

function havingText(text: string, all: readonly Match[]): readonly Match[] {
  return all.filter(([id, name]) => id === text || hasText(text, name))
}

function matching({ next }: Members, matches: readonly Match[]): Matches {
  return { matches, isPart: typeof next === 'string' }
}

/** What has exactly this id, or otherwise this name. */
function exactly(text: string, matches: readonly Match[]): readonly Match[] {
  const byId = matches.filter(([id]) => id === text)
  return byId.length > 0 ? byId : matches.filter(([, name]) => name.toLowerCase() === text.toLowerCase())
}

/** The only match. */
function only(what: string, text: string, { matches, isPart }: Matches): string {
  const [found, ...others] = matches
  if (found === undefined)
    throw new AdminError(
      isPart
        ? `Not every ${what} was searched, and none that was is called "${text}". Give an id.`
        : `There is no ${what} named "${text}".`,
    )
  if (others.length === 0) return found[0]
  throw new AdminError(`"${text}" means several. Give an id: ${choicesOf(matches)}`)
}

function choicesOf(matches: readonly Match[]): string {
  const choices = matches.slice(0, CHOICES).map(([id, name]) => `${name} (${id})`)
  return `${choices.join(', ')}${matches.length > CHOICES ? ', …' : ''}`
}
