import { AdminError } from '../../../admin/admin-error.ts'
import type { AdminCredentialDocument } from '../../../admin/admin.ts'
import { COMMAND_LINE, LIBRARY } from '../../../admin/administrators.ts'
import type { ClientDocument } from '../../../admin/client/document.ts'
import type { UserDocument } from '../../../admin/user/tasks.ts'
import type { Members, Texts } from '../../../console/screen.ts'
import { chosenClientId, parseClientReference } from '../../../protocol/client/identifier.ts'
import { isChosenId, parseAdminCredentialId, parseUserId } from '../../../protocol/ids.ts'

/** Performs a task that reads, as the person may. */
type List = (task: string, input: Members) => Promise<Members>

/** What a text may mean: an id, and what it is called. */
type Match = readonly [id: string, name: string]

/** At most so many choices are named. */
const CHOICES = 5
/** Actors that are no person and no credentials. */
const OWN_ACTORS: readonly string[] = [COMMAND_LINE.actor, LIBRARY.actor]

/**
 * Returns the filters of a list with the ids of what they name: people know addresses and names, and the tasks take ids.
 *
 * @throws AdminError when a text names nothing, or several
 */
export async function resolveFilters(list: List, filters: readonly string[], query: Texts): Promise<Texts> {
  const pairs = await Promise.all(
    Object.entries(query).map(async ([name, text]): Promise<readonly [string, string]> => {
      const kind = filters.includes(name) ? KINDS[name] : undefined
      return [name, kind === undefined ? text : await idOf(list, kind, name, text.trim())]
    }),
  )
  return Object.fromEntries(pairs)
}

/** What a filter names. */
interface Kind {
  readonly noun: string
  readonly isId: (list: List, text: string) => Promise<boolean>
  readonly named: (list: List, text: string) => Promise<readonly Match[]>
}

const KINDS: Readonly<Record<string, Kind>> = {
  client_id: { noun: 'client', isId: isClient, named: clientsNamed },
  user_id: { noun: 'user', isId: isUser, named: usersNamed },
  actor: {
    noun: 'user, and there are no credentials,',
    isId: async (list, text) =>
      OWN_ACTORS.includes(text) || parseAdminCredentialId(text) !== undefined || isUser(list, text),
    named: async (list, text) => (await Promise.all([usersNamed(list, text), credentialsNamed(list, text)])).flat(),
  },
}

/** Events come before names: strangers register clients, and sign up, with the name that the id of a deleted client or user was. */
async function idOf(list: List, { noun, isId, named }: Kind, filter: string, text: string): Promise<string> {
  if ((await isId(list, text)) || (await hasEvents(list, { [filter]: text }))) return text
  return only(noun, text, await named(list, text))
}

/** An id that an operator chose looks like a name, so it counts only while there is a client that has it. */
async function isClient(list: List, text: string): Promise<boolean> {
  if (chosenClientId(text) === undefined) return parseClientReference(text) !== undefined
  return (await unlessRefused(list('client.show', { client_id: text }))) !== undefined
}

async function isUser(list: List, text: string): Promise<boolean> {
  if (!isChosenId(text)) return parseUserId(text) !== undefined
  return (await unlessRefused(list('user.show', { user_id: text }))) !== undefined
}

/** Whether the audit has events about an id that the operator chose, of what was deleted. */
async function hasEvents(list: List, filter: Members): Promise<boolean> {
  const found = await unlessRefused(list('audit.list', { ...filter, limit: 1 }))
  return found !== undefined && (found['events'] as readonly object[]).length > 0
}

async function unlessRefused(answer: Promise<Members>): Promise<Members | undefined> {
  try {
    return await answer
  } catch (cause) {
    if (cause instanceof AdminError) return undefined
    throw cause
  }
}

async function clientsNamed(list: List, name: string): Promise<readonly Match[]> {
  const { clients } = (await list('client.list', { name, limit: CHOICES + 1 })) as {
    readonly clients: readonly ClientDocument[]
  }
  return clients.map(({ client_id: id, client_name: called = '' }) => [id, called])
}

async function usersNamed(list: List, text: string): Promise<readonly Match[]> {
  const input = text.includes('@') ? { email: text } : { name: text, limit: CHOICES + 1 }
  const { users } = (await list('user.list', input)) as { readonly users: readonly UserDocument[] }
  return users.map(({ user_id: id, email, name }) => [id, (text.includes('@') ? email : name) ?? ''])
}

async function credentialsNamed(list: List, text: string): Promise<readonly Match[]> {
  const { credentials } = (await list('admin.list', {})) as { readonly credentials: readonly AdminCredentialDocument[] }
  return credentials.flatMap(({ credential_id: id, name }): readonly Match[] => (name === text ? [[id, name]] : []))
}

/** The only match, or the only one with exactly this name. */
function only(what: string, text: string, matches: readonly Match[]): string {
  const exact = matches.filter(([, name]) => name.toLowerCase() === text.toLowerCase())
  const [found, ...others] = exact.length === 1 ? exact : matches
  if (found === undefined) throw new AdminError(`There is no ${what} named "${text}".`)
  if (others.length === 0) return found[0]
  const choices = matches.slice(0, CHOICES).map(([id, name]) => `${name} (${id})`)
  throw new AdminError(
    `"${text}" means several. Give an id: ${choices.join(', ')}${matches.length > CHOICES ? ', …' : ''}`,
  )
}
