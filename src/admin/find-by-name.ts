import { parseDisplayText } from '../base/display-text.ts'
import { textsInLine } from '../base/localized-text.ts'
import { asciiDomain } from '../protocol/sign-in/email-address.ts'
import { SUBJECT_FORM } from '../protocol/sign-in/interaction.ts'
import { listedNameOf } from '../protocol/client/identity.ts'
import { chosenClientId, parseClientReference } from '../protocol/client/identifier.ts'
import { isChosenId } from '../protocol/ids.ts'
import { AdminError } from './admin-error.ts'
import type { ClientDocument } from './client/document.ts'
import type { GrantDocument } from './grant.ts'
import type { InstallationDocument } from './organization/installation.ts'
import type { MemberDocument } from './organization/member.ts'
import type { OrganizationDocument } from './organization/organization.ts'
import { hasText, PAGE_LIMIT } from './page.ts'
import type { ProviderDocument } from './provider/settings.ts'
import type { UserDocument, WholeUserDocument } from './user/tasks.ts'
import { doubtfulAddress } from './user/user.ts'

/** What people call by a name, and tasks by an id. */
export type Referred = 'client' | 'organization' | 'user'

type Members = Readonly<Record<string, unknown>>

/** Who looks for what a text names. */
export interface Seeker {
  /** Performs a task that reads. The error: there is no such record, or the administrator may not perform the task. */
  readonly perform: (task: string, input: Members) => Promise<Members | AdminError>
  /** The one organization among whose objects a name is looked for; undefined: among all. */
  readonly within: string | undefined
  /** Where the objects of a kind are listed, after the sentence that a text names none: `See "grantor user list".` */
  readonly see?: (referred: Referred) => string
}

/** What a text may mean: an id, what it is called, and what else. */
export type Match = readonly [id: string, name: string, ...others: string[]]

/** What was found. `isPart`: more rows were not searched, so another one may have the name too. */
export interface Matches {
  readonly matches: readonly Match[]
  readonly isPart: boolean
}

/** How a text names an object of one kind. */
export interface Kind {
  /** The noun in sentences. */
  readonly noun: string
  /** What a text is besides an id: `the name`. */
  readonly by: string
  readonly isId: (seeker: Seeker, text: string) => boolean | Promise<boolean>
  /** Objects that the text names, and others whose names have it. */
  readonly named: (seeker: Seeker, text: string) => Promise<Matches | AdminError>
  /** Those whose names or addresses have the text, of people, whose names name none: they choose them themselves. */
  readonly called?: (seeker: Seeker, text: string) => Promise<Matches | AdminError>
  /** Whether a text that names nothing may be an id nevertheless: what exists elsewhere is not said (threats.md CON-08). */
  readonly mayBeId?: (text: string) => boolean
}

/** Rows with a text in the name, among which there may be one with exactly this name. */
const SEARCHED = 100
/** Grants whose clients are looked at. Each costs several reads. */
const GRANTS_SEARCHED = 200
/** At most so many ids are named. */
const IDS_NAMED = 10

const KINDS: Readonly<Record<Referred, Kind>> = {
  client: { noun: 'client', by: 'the name', isId: isClient, named: clientsNamed },
  user: { noun: 'user', by: 'the address', isId: isUser, named: usersNamed, called: usersCalled },
  organization: { noun: 'organization', by: 'the name', isId: isOrganization, named: organizationsNamed },
}

/** Within one organization a text names what the lists of the organization show. */
const KINDS_WITHIN: Readonly<Partial<Record<Referred, Kind>>> = {
  client: {
    noun: 'client',
    by: 'the name',
    isId: (_, text) =>
      isOfServer(text) || (chosenClientId(text) === undefined && parseClientReference(text) !== undefined),
    named: clientsWithin,
    mayBeId: (text) => chosenClientId(text) !== undefined,
  },
  user: {
    noun: 'member',
    by: 'the address',
    isId: (_, text) => isOfServer(text),
    named: membersNamed,
    called: membersCalled,
    mayBeId: isChosenId,
  },
}

/** undefined: a text is an id. */
export function kindOf({ within }: Pick<Seeker, 'within'>, referred: Referred): Kind | undefined {
  return within === undefined ? KINDS[referred] : KINDS_WITHIN[referred]
}

/**
 * Finds the id of what a text names, for a task that does more than show: an id, which may look like a name and so comes first, or the whole
 * name of exactly one object. Anybody may register a client with the name of another one, so a name that others may have too names none.
 * `gives`: the task gives the user something, so an address that may be of another person names none (threats.md CON-34).
 */
export async function findByName(
  seeker: Seeker,
  referred: Referred,
  text: string,
  gives: boolean,
): Promise<string | AdminError> {
  const kind = kindOf(seeker, referred)
  if (kind === undefined || (await kind.isId(seeker, text))) return text
  // No name has characters that are not shown, and a list refuses them.
  const isName = parseDisplayText(text) !== undefined
  const found = isName ? await kind.named(seeker, text) : { matches: [], isPart: false }
  if (found instanceof AdminError) return found
  const exact = exactly(text, found.matches)
  const [first, ...others] = exact.map(([id]) => id)
  if (first === undefined && kind.mayBeId?.(text) === true) return text
  if (first === undefined || others.length > 0 || found.isPart) {
    const sentence = whyNone(kind, text, { ids: exact.map(([id]) => id), isPart: found.isPart })
    const see = seeker.see === undefined ? '' : ` ${seeker.see(referred)}`
    return new AdminError(sentence + see, first === undefined && !found.isPart ? 'unknown' : 'refused')
  }
  return (gives && referred === 'user' ? await doubtsUser(seeker, first, text) : undefined) ?? first
}

/** What has exactly this id, or otherwise this name. */
export function exactly(text: string, matches: readonly Match[]): readonly Match[] {
  const byId = matches.filter(([id]) => id === text)
  return byId.length > 0
    ? byId
    : matches.filter(([, ...names]) => names.some((name) => name.toLowerCase() === text.toLowerCase()))
}

/** Why a text names no object. `isPart`: others were not searched. */
function whyNone(
  { noun, by, called }: Kind,
  text: string,
  { ids, isPart }: { readonly ids: readonly string[]; readonly isPart: boolean },
): string {
  if (ids.length > 1) {
    const named = ids.slice(0, IDS_NAMED).join(', ')
    return `${ids.length} ${noun}s have the name "${text}". Give the id of one: ${named}.`
  }
  if (ids.length === 1) return `Not every ${noun} was searched: others may be called "${text}" too. Give the id.`
  if (isPart) return `Not every ${noun} was searched, and none that was is called "${text}". Give the id.`
  const elsewhere = noun === 'user' ? ', or with this id at your application' : ''
  const names = called === undefined || isAddress(text) ? '' : ' Several people may have one name, so it names none.'
  return `There is no ${noun} with the id or ${by} "${text}"${elsewhere}.${names}`
}

/** No id of a user has an @, so a text is the one or the other. */
export function isAddress(text: string): boolean {
  return text.includes('@')
}

/** Whether a text begins as the ids that the server makes, or is an address. No name does, so it is an id, and the task says what is wrong with it. */
function isOfServer(text: string): boolean {
  return /^(g[a-z]{2}_[^@]*$|https?:\/\/)/.test(text)
}

/** An id that an operator chose looks like a name, so it counts only while there is a client that has it. */
async function isClient(seeker: Seeker, text: string): Promise<boolean> {
  if (chosenClientId(text) === undefined) return isOfServer(text) || parseClientReference(text) !== undefined
  return exists(seeker, 'client.show', { client_id: text })
}

async function isUser(seeker: Seeker, text: string): Promise<boolean> {
  if (!isChosenId(text)) return isOfServer(text)
  return exists(seeker, 'user.show', { user_id: text })
}

async function isOrganization(seeker: Seeker, text: string): Promise<boolean> {
  if (!isChosenId(text)) return isOfServer(text)
  return exists(seeker, 'organization.show', { organization_id: text })
}

/** An administrator who may not look takes the text for an id: the task that is performed with it says whether there is one. */
async function exists({ perform }: Seeker, task: string, input: Members): Promise<boolean> {
  const answer = await perform(task, input)
  return !(answer instanceof AdminError) || answer.kind !== 'unknown'
}

async function clientsNamed({ perform }: Seeker, name: string): Promise<Matches | AdminError> {
  const found = await perform('client.list', { name, limit: SEARCHED })
  if (found instanceof AdminError) return found
  const clients = found['clients'] as readonly ClientDocument[]
  return matching(
    found,
    clients.map((client) => [client.client_id, ...textsInLine(listedNameOf(client) ?? '')]),
  )
}

/** By the address, and otherwise by the id at the application that signs users in. */
async function usersNamed({ perform }: Seeker, text: string): Promise<Matches | AdminError> {
  for (const [filter, isMeant] of [
    ['email', isAddress(text)],
    ['subject', SUBJECT_FORM.test(text)],
  ] as const) {
    if (!isMeant) continue
    const found = await perform('user.list', { [filter]: text })
    if (found instanceof AdminError) return found
    const [user] = found['users'] as readonly UserDocument[]
    if (user !== undefined) return { matches: [[user.user_id, text]], isPart: false }
  }
  return { matches: [], isPart: false }
}

async function usersCalled({ perform }: Seeker, text: string): Promise<Matches | AdminError> {
  const found = await perform('user.list', { text, limit: SEARCHED })
  if (found instanceof AdminError) return found
  return matching(found, peopleOf(found['users'] as readonly UserDocument[]))
}

/** The application itself says the ids that it has. */
async function doubtsUser({ perform, within }: Seeker, id: string, text: string): Promise<AdminError | undefined> {
  if (!isAddress(text)) return undefined
  // An administrator of one organization does not see it. The task does, where the address has a member of its own.
  if (within !== undefined) return new AdminError('Give the id here, or the address alone.', 'refused')
  const user = await perform('user.show', { user_id: id })
  if (user instanceof AdminError) return user
  return (user as WholeUserDocument).is_address_doubtful ? doubtfulAddress(id) : undefined
}

/** A domain of a provider belongs to the organization of that provider, and to no other one. */
async function organizationsNamed({ perform }: Seeker, text: string): Promise<Matches | AdminError> {
  const [found, ofProviders] = await Promise.all([
    perform('organization.list', { name: text, limit: SEARCHED }),
    perform('provider.list', { name: text, limit: PAGE_LIMIT.most }),
  ])
  if (found instanceof AdminError) return found
  const named = (found['organizations'] as readonly OrganizationDocument[]).map(
    ({ organization_id: id, name }): Match => [id, name],
  )
  const domain = asciiDomain(text) ?? text
  const providers = ofProviders instanceof AdminError ? [] : (ofProviders['providers'] as readonly ProviderDocument[])
  const owner = providers.find(({ domains }) => domains.includes(domain))?.organization_id
  if (owner === undefined || owner === null) return matching(found, named)
  const others = named.filter(([id]) => id !== owner)
  // An organization may be called as a domain of another one.
  return { matches: [[owner, text], ...others], isPart: false }
}

/** The clients that are installed, or that members allowed something, whatever the text is: the time says nothing about others. */
async function clientsWithin({ perform, within }: Seeker, text: string): Promise<Matches | AdminError> {
  const place = { organization_id: within }
  const [installed, allowed] = await Promise.all([
    perform('installation.list', { ...place, limit: PAGE_LIMIT.most }),
    perform('organization.list-grants', { ...place, limit: GRANTS_SEARCHED }),
  ])
  if (installed instanceof AdminError) return installed
  if (allowed instanceof AdminError) return allowed
  const names = allowed['names'] as Readonly<Record<string, string>>
  const all: readonly Match[] = [
    ...(allowed['grants'] as readonly GrantDocument[]).map(({ client_id: id }): Match => [
      id,
      ...textsInLine((Object.hasOwn(names, id) ? names[id] : undefined) ?? ''),
    ]),
    ...(installed['installations'] as readonly InstallationDocument[]).map(
      ({ client_id: id, client_name: name }): Match => [id, ...textsInLine(name ?? '')],
    ),
  ]
  const byId = new Map(all.map((one) => [one[0], one]))
  return matching({ next: installed['next'] ?? allowed['next'] }, havingText(text, [...byId.values()]))
}

async function membersNamed({ perform, within }: Seeker, text: string): Promise<Matches | AdminError> {
  if (!isAddress(text)) return { matches: [], isPart: false }
  const found = await perform('member.list', { organization_id: within, email: text })
  if (found instanceof AdminError) return found
  const members = found['members'] as readonly MemberDocument[]
  return { matches: members.map(({ user_id: id }) => [id, text]), isPart: false }
}

async function membersCalled({ perform, within }: Seeker, text: string): Promise<Matches | AdminError> {
  const found = await perform('member.list', { organization_id: within, text, limit: SEARCHED })
  if (found instanceof AdminError) return found
  return matching(found, peopleOf(found['members'] as readonly MemberDocument[]))
}

function peopleOf(rows: readonly Pick<UserDocument, 'user_id' | 'name' | 'email'>[]): readonly Match[] {
  return rows.map(({ user_id: id, name, email }) => [id, name ?? email ?? ''])
}

function havingText(text: string, all: readonly Match[]): readonly Match[] {
  return all.filter(([id, name]) => id === text || hasText(text, name))
}

function matching({ next }: Members, matches: readonly Match[]): Matches {
  return { matches, isPart: typeof next === 'string' }
}
