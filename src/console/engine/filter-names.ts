import type { AdminCredentialDocument } from '../../admin/admin.ts'
import { AdminError } from '../../admin/admin-error.ts'
import { COMMAND_LINE, LIBRARY, SERVER } from '../../admin/administrators.ts'
import {
  exactly,
  isAddress,
  kindOf,
  type Kind,
  type Match,
  type Matches,
  type Referred,
  type Seeker,
} from '../../admin/find-by-name.ts'
import type { Texts } from './form.ts'
import { isChosenId, parseAdminCredentialId } from '../../protocol/ids.ts'

/** The filters whose ids people know by names, and what those are of. An event has an actor, which is a user or credentials. */
const FILTERS: Readonly<Record<string, Referred | 'actor'>> = {
  client_id: 'client',
  user_id: 'user',
  organization_id: 'organization',
  actor: 'actor',
}
/** At most so many choices are named. */
const CHOICES = 20
/** Actors that are no user and no credentials. */
const OWN_ACTORS: readonly string[] = [COMMAND_LINE.actor, LIBRARY.actor, SERVER.actor]

/** The text of a filter is the name of no object, or of several, which the person chooses from. */
export class FilterUnresolved extends AdminError {
  readonly filter: string
  readonly choices: readonly Match[]
  /** Whether there is more to choose from: other objects were not searched, or are not named. */
  readonly isPart: boolean

  constructor(message: string, filter: string, { matches, isPart }: Matches) {
    super(message)
    this.filter = filter
    this.choices = matches.slice(0, CHOICES)
    this.isPart = isPart || matches.length > CHOICES
  }
}

/**
 * Returns the filters of a list with the ids of what they name. A filter only shows, so a part of a name is enough if only one object has it.
 * The error: a text names nothing, or several.
 */
export async function resolveFilters(
  seeker: Seeker,
  filters: readonly string[],
  query: Texts,
): Promise<Texts | AdminError> {
  const ids: Record<string, string> = {}
  for (const [name, text] of Object.entries(query)) {
    const kind = filters.includes(name) ? kindOfFilter(seeker, name) : undefined
    const id = kind === undefined ? text : await idOfFilter(seeker, kind, name, text.trim())
    if (id instanceof AdminError) return id
    ids[name] = id
  }
  return ids
}

function kindOfFilter(seeker: Seeker, filter: string): Kind | undefined {
  const meant = FILTERS[filter]
  if (meant === undefined) return undefined
  if (meant !== 'actor') return kindOf(seeker, meant)
  const user = kindOf(seeker, 'user')
  return seeker.within === undefined && user !== undefined ? actorOf(user) : undefined
}

function actorOf(user: Kind): Kind {
  const orCredentials = (find: Kind['named']) => async (seeker: Seeker, text: string) => {
    const [users, credentials] = await Promise.all([find(seeker, text), credentialsNamed(seeker, text)])
    if (users instanceof AdminError) return users
    if (credentials instanceof AdminError) return credentials
    return { matches: [...users.matches, ...credentials.matches], isPart: users.isPart }
  }
  return {
    ...user,
    noun: 'user, and there are no credentials,',
    isId: async (seeker, text) =>
      OWN_ACTORS.includes(text) || parseAdminCredentialId(text) !== undefined || user.isId(seeker, text),
    named: orCredentials(user.named),
    ...(user.called === undefined ? {} : { called: orCredentials(user.called) }),
  }
}

/** Events come before names: strangers register clients, and sign up, with the name that the id of a deleted client or user was. */
async function idOfFilter(seeker: Seeker, kind: Kind, filter: string, text: string): Promise<string | AdminError> {
  const { isId, named, called, mayBeId } = kind
  if (await isId(seeker, text)) return text
  const events = mayBeId === undefined ? await searchEvents(seeker, filter, text) : 'none'
  if (events === 'some') return text
  const found = await (isAddress(text) || called === undefined ? named(seeker, text) : called(seeker, text))
  if (found instanceof AdminError) return found
  // The task refused what can be no id, and takes each text for an actor.
  const isPossible = mayBeId?.(text) ?? (events === 'not found yet' && (filter !== 'actor' || isChosenId(text)))
  if (found.matches.length === 0 && isPossible) return text
  const exact = exactly(text, found.matches)
  if (exact.length === 0 && events === 'not found yet' && isPossible)
    return new FilterUnresolved(
      `"${text}" is no whole name, and may be the id of what was deleted: the newest events do not name it.`,
      filter,
      found,
    )
  const [only, ...others] = exact.length === 1 ? exact : found.matches
  if (only === undefined) return noneNamed(kind, filter, text, found)
  if (others.length > 0)
    return new FilterUnresolved(`Several have "${text}" in their names or addresses.`, filter, found)
  return only[0]
}

/**
 * Whether the audit has events about an id that the operator chose, of what was deleted. There is no index for it, so only the newest events
 * are searched: the list of events goes on with the older ones.
 */
async function searchEvents(
  { perform }: Seeker,
  filter: string,
  text: string,
): Promise<'some' | 'none' | 'not found yet'> {
  const found = await perform('audit.list', { [filter]: text, limit: 1 })
  if (found instanceof AdminError) return 'none'
  if ((found['events'] as readonly object[]).length > 0) return 'some'
  return found['next'] === null ? 'none' : 'not found yet'
}

async function credentialsNamed({ perform }: Seeker, text: string): Promise<Matches | AdminError> {
  const found = await perform('admin.list', {})
  if (found instanceof AdminError) return found
  const credentials = found['credentials'] as readonly AdminCredentialDocument[]
  const matches = credentials.flatMap(({ credential_id: id, name }): readonly Match[] =>
    name === text ? [[id, name]] : [],
  )
  return { matches, isPart: false }
}

function noneNamed({ noun }: Kind, filter: string, text: string, found: Matches): FilterUnresolved {
  return new FilterUnresolved(
    found.isPart
      ? `Not every ${noun} was searched, and none that was is called "${text}". Give an id.`
      : `There is no ${noun} named "${text}".`,
    filter,
    found,
  )
}
