import { html, type Fragment } from '../web/markup.ts'
import type { Section } from './screen.ts'
import type { Frame } from './engine/form.ts'
import { organizationPath, sectionsOf } from './sections.ts'

/** Where the page of an object is. */
export function linkTo(
  kind: 'clients' | 'users' | 'groups' | 'grants' | 'organizations' | 'apis' | 'providers' | 'access-rules',
  object: string,
): string {
  return `/console/${kind}/${encodeURIComponent(object)}`
}

/** Where the page of an access rule is. `owner`: the organization that has it; null: the server. */
export function rulePath(rule: string, owner: string | null): string {
  return owner === null
    ? linkTo('access-rules', rule)
    : `${organizationPath(owner)}/access-rules/${encodeURIComponent(rule)}`
}

/** The parameter of an object's address that has the query of the list from which the person came. */
export const BACK = 'back'

/** The link of a row to its page, from which a link leads back to the list as it is: with its filters. */
export function fromList({ filters, place: { query } }: Pick<Frame, 'filters' | 'place'>, to: string): string {
  const names = ['before', ...filters.map(({ name }) => name)]
  const kept = names.flatMap((name): [string, string][] => {
    const value = query[name]
    return value === undefined ? [] : [[name, value]]
  })
  if (kept.length === 0) return to
  return `${to}?${new URLSearchParams({ [BACK]: new URLSearchParams(kept).toString() }).toString()}`
}

/** The lists that find a text, each by its filter. */
const NAMED_LISTS = {
  users: 'text',
  groups: 'name',
  'access-rules': 'text',
  organizations: 'name',
  clients: 'text',
  apis: 'name',
  providers: 'name',
} as const

export type NamedList = keyof typeof NAMED_LISTS

/** Where a list of what has a text is. */
export function namedAddress(list: NamedList, text: string): string {
  return listAddress(list, NAMED_LISTS[list], text)
}

/** Where all that has a text is, or all that is for one organization. */
export function foundAddress(organization: string | undefined, text: string): string {
  const above = organization === undefined ? '/console' : organizationPath(organization)
  return `${above}/found?${new URLSearchParams({ text }).toString()}`
}

/** Where a list with one filter is. */
export function listAddress(list: NamedList | 'grants' | 'audit', filter: string, text: string): string {
  return `/console/${list}?${new URLSearchParams({ [filter]: text }).toString()}`
}

/** Where the page of an object is for this person; undefined: the person has it not. */
export function linkFor(
  { organization, mayOpen }: Pick<Frame, 'mayOpen' | 'organization'>,
  kind: 'clients' | 'users' | 'groups' | 'grants' | 'organizations',
  object: string,
): string | undefined {
  const path =
    organization !== undefined && (kind === 'grants' || kind === 'groups')
      ? `${organizationPath(organization.id)}/${kind}/${encodeURIComponent(object)}`
      : linkTo(kind, object)
  return mayOpen(path) ? path : undefined
}

/** The entries of the side whose lists commands show, where the command has another noun. */
const OF_COMMANDS: Readonly<Record<string, Section>> = { org: 'organizations', admin: 'credentials' }

/** What a task says, with links to the screens that show what the commands in it list. A role for one organization has no such screens. */
export function withScreens({ organization }: Pick<Frame, 'organization'>, text: string): Fragment {
  if (organization !== undefined) return text
  return text.split(/"grantor ([^"]+)"/).map((part, index) => (index % 2 === 0 ? part : screenOf(part)))
}

function screenOf(command: string): Fragment {
  const [noun = '', verb = '', object = ''] = command.split(' ')
  const isWithin = noun === 'org' && object !== ''
  const section = isWithin ? verb : verb === 'list' ? (OF_COMMANDS[noun] ?? `${noun}s`) : undefined
  const to = sectionsOf(isWithin ? object : undefined).find((row) => row.section === section)
  return to === undefined ? `"grantor ${command}"` : html`<a href="${to.path}">${to.label}</a>`
}
