import { AdminError, unknown } from '../../admin/admin-error.ts'
import type { UserDocument } from '../../admin/describe-user.ts'
import type { MemberDocument } from '../../admin/member-tasks.ts'
import { parseUserId } from '../../protocol/ids.ts'
import { visible } from './columns.ts'
import type { Members, PerformTask } from './perform-task.ts'

/** What a verb is about: typed alone or behind `--<name>`. */
export interface Subject {
  readonly name: string
  /** What stands alone, where that is not the name of the option: `<client>`. */
  readonly argument?: string
  /** Of the value behind the option: `<id>`. */
  readonly placeholder: string
  readonly meaning: string
  /** The members of the task's input that stand for what was typed; `known`: those that are there already. */
  readonly find: (text: string, perform: PerformTask, known: Members) => Members | Promise<Members>
}

/** A subject that goes into the input as it was typed. */
function plain(name: string, member: string, meaning: string, placeholder = '<id>'): Subject {
  return { name, placeholder, meaning, find: (text) => ({ [member]: text }) }
}

/** Newest first. In a longer list a name may occur again beyond the rows that were read. */
const NAMES_LIMIT = 1000

/** How to look for what has a name. */
interface Named {
  readonly name: string
  readonly noun: 'client' | 'organization'
  readonly member: 'client_id' | 'organization_id'
  /** What ids begin with. */
  readonly prefix: string
  readonly meaning: string
  /** The task that lists them, the member of its answer that has the rows, and the member of a row that is the name. */
  readonly task: string
  readonly rows: string
  readonly label: string
  readonly input: (known: Members) => Members
  /** The command that lists them. */
  readonly command: string
}

/**
 * A subject that is typed as an id or as a name. A name is taken where exactly one has it: strangers choose the names of
 * clients, so one that is not unique, or not known to be, is never guessed.
 */
function named({ name, noun, member, prefix, meaning, task, rows, label, input, command }: Named): Subject {
  return {
    name,
    argument: noun,
    placeholder: `<${noun}>`,
    meaning,
    async find(text, perform, known) {
      if (text.startsWith(prefix)) return { [member]: text }
      type Row = Readonly<Record<string, string | null | undefined>>
      const answer = await perform<Readonly<Record<string, unknown>>>(task, { ...input(known), limit: NAMES_LIMIT })
      if (answer['next'] !== null) {
        throw new AdminError(
          `There are more than ${NAMES_LIMIT} ${noun}s, among which names are not looked for. Give the id. See "${command}".`,
        )
      }
      const found = (answer[rows] as readonly Row[]).filter((row) => row[label] === text)
      const [first, ...others] = found.map((row) => row[member])
      if (first === undefined || first === null) {
        throw unknown(`There is no ${noun} with the id or the name "${visible(text)}". See "${command}".`)
      }
      if (others.length > 0) {
        const ids = [first, ...others].slice(0, 10).join(', ')
        throw new AdminError(
          `${found.length} ${noun}s have the name "${visible(text)}". Give the id of one: ${ids}. See "${command}".`,
        )
      }
      return { [member]: first }
    },
  }
}

const AMONG_CLIENTS = {
  noun: 'client',
  member: 'client_id',
  prefix: 'gci_',
  label: 'client_name',
} as const

const ALL_CLIENTS = {
  ...AMONG_CLIENTS,
  task: 'client.list',
  rows: 'clients',
  input: () => ({}),
  command: 'grantor client list',
} as const

export const CLIENT = named({
  ...ALL_CLIENTS,
  name: 'id',
  meaning: 'its client_id, or its name where one client has it',
})
export const NEW_CLIENT = named({ ...ALL_CLIENTS, name: 'client', meaning: 'the client_id, or the name' })
/** Looked for among those that are installed, because administrators of the organization see no others. */
export const INSTALLED_CLIENT = named({
  ...AMONG_CLIENTS,
  name: 'client',
  meaning: 'the client_id, or the name',
  task: 'installation.list',
  rows: 'installations',
  input: ({ organization_id }) => ({ organization_id }),
  command: 'grantor org installations <organization>',
})
export const ORGANIZATION = named({
  name: 'organization',
  noun: 'organization',
  member: 'organization_id',
  prefix: 'gor_',
  meaning: 'the id of the organization, or its name',
  task: 'organization.list',
  rows: 'organizations',
  label: 'name',
  input: () => ({}),
  command: 'grantor org list',
})
export const NAME = plain('name', 'name', 'its name, as members see it', '<name>')
export const GRANT = plain('grant', 'grant_id', 'its id')
export const API = plain('resource', 'resource', 'its identifier', '<uri>')
export const KEY = plain('key', 'kid', 'its id')
export const ADMIN_CREDENTIAL = plain('id', 'credential_id', 'the id of the credentials, not the token')

/** Tasks take ids; people know addresses. */
export const USER: Subject = {
  name: 'email',
  placeholder: '<address>',
  meaning: 'whose: the e-mail address, or the id',
  async find(text, perform) {
    if (parseUserId(text) !== undefined) return { user_id: text }
    if (!text.includes('@')) throw unknownUser(text)
    const { users } = await perform<{ readonly users: readonly UserDocument[] }>('user.list', { email: text })
    const [user] = users
    if (user === undefined) throw unknownUser(text)
    return { user_id: user.user_id }
  },
}

function unknownUser(text: string): AdminError {
  return unknown(`There is no user with the id or the address "${visible(text)}". See "grantor user list".`)
}

/** Somebody who is no member yet. */
export const NEW_MEMBER: Subject = {
  name: 'user',
  placeholder: '<address>',
  meaning: 'whom: the e-mail address, or the id',
  find: (text) => (parseUserId(text) === undefined ? { email: text } : { user_id: text }),
}

/** Looked for among the members of the organization, because its administrators see nobody else. */
export const MEMBER: Subject = {
  ...NEW_MEMBER,
  async find(text, perform, known) {
    if (parseUserId(text) !== undefined) return { user_id: text }
    const organization = String(known['organization_id'])
    const found = await perform<{ readonly members: readonly MemberDocument[] }>('member.list', {
      organization_id: organization,
      email: text,
    })
    const [member] = found.members
    if (member === undefined) {
      throw unknown(
        `There is no member ${text} in the organization ${organization}. See "grantor org members ${organization}".`,
      )
    }
    return { user_id: member.user_id }
  },
}

/** The user of a filter: of an organization that is named, a member. */
export const USER_FILTER: Subject = {
  ...NEW_MEMBER,
  meaning: 'only of this user: the e-mail address, or the id',
  find: (text, perform, known) => (known['organization_id'] === undefined ? USER : MEMBER).find(text, perform, known),
}
export const CLIENT_FILTER: Subject = { ...NEW_CLIENT, meaning: 'only of this client: the client_id, or the name' }
export const ORGANIZATION_FILTER: Subject = {
  ...ORGANIZATION,
  meaning: 'only of this organization: the id, or the name',
}
