import type * as z from 'zod'
import { AdminError, unknown } from '../../admin/admin-error.ts'
import type { UserDocument, WholeUserDocument } from '../../admin/user/tasks.ts'
import { doubtfulAddress } from '../../admin/user/user.ts'
import type { MemberDocument } from '../../admin/organization/member.ts'
import { pathParameters, placeOf, type Task } from '../../admin/task.ts'
import { SUBJECT_FORM } from '../../protocol/sign-in/interaction.ts'
import { ForbiddenError } from './ask-server.ts'
import { visible } from './columns.ts'
import { requireTask, type Members, type PerformTask } from './perform-task.ts'
import { forShell } from '../../base/shell.ts'

/** A record that a verb is about, given as an argument or with `--<name>`. */
export interface Subject {
  readonly name: string
  /** The name of the argument, when it differs from the option: `<client>`. */
  readonly argument?: string
  /** The placeholder of the option: `<id>`. */
  readonly placeholder: string
  readonly meaning: string
  /** The texts that it can have; absent: others. */
  readonly choices?: readonly string[] | undefined
  /** The members of the input that it sets. */
  readonly members: readonly string[]
  /** Returns the members of the input for the typed text. `known` has the members that were found before. */
  readonly find: (text: string, perform: PerformTask, known: Members) => Members | Promise<Members>
}

/** A subject whose text is a member of the input. */
function plain(name: string, member: string, meaning: string, placeholder = '<id>'): Subject {
  return { name, placeholder, meaning, members: [member], find: (text) => ({ [member]: text }) }
}

/** The rows that are searched for a name. In a longer list the name could occur again after them. */
const NAMES_LIMIT = 1000

/** How a record is found by its name. */
interface Named {
  readonly name: string
  readonly noun: 'client' | 'organization'
  readonly member: 'client_id' | 'organization_id'
  /** Whether a text is an id and not a name, whatever exists. */
  readonly isId: (text: string) => boolean
  /** The task that shows the record with a chosen id. undefined: only the list is searched. */
  readonly show: string | undefined
  readonly meaning: string
  /** The task that lists the records, the member of its answer with the rows, and the member of a row with the name. */
  readonly task: string
  readonly rows: string
  readonly label: string
  readonly input: (known: Members) => Members
  /** The command that lists them. */
  readonly command: string
}

/**
 * A subject that is given by id or by name. A chosen id, which may look like a name, is the first to be looked for. A name is accepted only
 * when exactly one record has it: anyone can register a client under any name, so a name that may not be unique is rejected.
 */
function named({ name, noun, member, isId, show, meaning, task, rows, label, input, command }: Named): Subject {
  return {
    name,
    argument: noun,
    placeholder: `<${noun}>`,
    meaning,
    members: [member],
    async find(text, perform, known) {
      if (isId(text) || (show !== undefined && (await exists(perform, show, { [member]: text })))) {
        return { [member]: text }
      }
      type Row = Readonly<Record<string, string | null | undefined>>
      const answer = await perform<Readonly<Record<string, unknown>>>(task, { ...input(known), limit: NAMES_LIMIT })
      if (answer['next'] !== null) {
        throw new AdminError(
          `Names are not supported with more than ${NAMES_LIMIT} ${noun}s. Give the id. See "${command}".`,
        )
      }
      const listed = answer[rows] as readonly Row[]
      if (listed.some((row) => row[member] === text)) return { [member]: text }
      const found = listed.filter((row) => row[label] === text)
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

/**
 * Whether a task finds its record. A text that is no id names none. Credentials of one organization cannot look for a client, so the text is
 * taken for an id, and the task that is performed with it finds whether there is such a client.
 */
async function exists(perform: PerformTask, task: string, input: Members): Promise<boolean> {
  const { shape } = requireTask(task).input
  if (Object.entries(input).some(([member, text]) => shape[member]?.safeParse(text).success !== true)) return false
  try {
    await perform(task, input)
    return true
  } catch (cause) {
    if (cause instanceof ForbiddenError) return true
    if (cause instanceof AdminError && cause.kind === 'unknown') return false
    throw cause
  }
}

const AMONG_CLIENTS = {
  noun: 'client',
  member: 'client_id',
  isId: (text: string) => /^(gci_|gcd_|gcc_|https?:\/\/)/.test(text),
  label: 'client_name',
} as const

const ALL_CLIENTS = {
  ...AMONG_CLIENTS,
  show: 'client.show',
  task: 'client.list',
  rows: 'clients',
  input: () => ({}),
  command: 'grantor client list',
} as const

const CLIENT = named({
  ...ALL_CLIENTS,
  name: 'id',
  meaning: 'the client_id, or the name when exactly one client has it',
})
export const NEW_CLIENT = named({ ...ALL_CLIENTS, name: 'client', meaning: 'the client_id, or the name' })
/** Searched among the installed clients, because administrators of the organization see no others. */
const INSTALLED_CLIENT = named({
  ...AMONG_CLIENTS,
  name: 'client',
  meaning: 'the client_id, or the name',
  show: undefined,
  task: 'installation.list',
  rows: 'installations',
  input: ({ organization_id }) => ({ organization_id }),
  command: 'grantor org installations <organization>',
})
export const ORGANIZATION = named({
  name: 'organization',
  noun: 'organization',
  member: 'organization_id',
  isId: (text) => text.startsWith('gor_'),
  show: 'organization.show',
  meaning: 'the id of the organization, or its name',
  task: 'organization.list',
  rows: 'organizations',
  label: 'name',
  input: () => ({}),
  command: 'grantor org list',
})
export const NAME = plain('name', 'name', 'the name, as the consent page shows it', '<name>')
const API = plain('resource', 'resource', 'the identifier of the API', '<uri>')
const KEY = plain('key', 'kid', 'the id of the key')
const ADMIN_CREDENTIAL = plain('id', 'credential_id', 'the id of the credentials, not the token')

/** Tasks take the id of a user; the command line also takes the address, and the id at the application that signs users in. */
const USER: Subject = {
  name: 'email',
  placeholder: '<address>',
  meaning: 'the e-mail address or the id of the user, or the id at your application',
  members: ['user_id'],
  async find(text, perform) {
    if (text.startsWith('gus_') || (await exists(perform, 'user.show', { user_id: text }))) return { user_id: text }
    for (const [filter, form] of [
      ['email', /@/],
      ['subject', SUBJECT_FORM],
    ] as const) {
      if (!form.test(text)) continue
      const { users } = await perform<{ readonly users: readonly UserDocument[] }>('user.list', { [filter]: text })
      if (users[0] !== undefined) return { user_id: users[0].user_id }
    }
    throw unknownUser(text)
  },
}

/** The user of a task that gives: an address that may be of another person names none (threats.md CON-34). */
export const RECIPIENT: Subject = {
  ...USER,
  async find(text, perform, known) {
    const found = await USER.find(text, perform, known)
    if (!isAddress(text)) return found
    const user = await perform<WholeUserDocument>('user.show', found)
    if (user.is_address_doubtful) throw doubtfulAddress(user.user_id)
    return found
  },
}

function unknownUser(text: string): AdminError {
  return unknown(
    `There is no user with the id or the address "${visible(text)}", or with this id at your application. See "grantor user list".`,
  )
}

/** An id of a user has no @, so that an argument is the one or the other. */
export function isAddress(text: string): boolean {
  return text.includes('@')
}

/** A user who is not a member yet. */
export const NEW_MEMBER: Subject = {
  name: 'user',
  placeholder: '<address>',
  meaning: 'the e-mail address or the id of the user',
  members: ['email', 'user_id'],
  find: (text) => (isAddress(text) ? { email: text } : { user_id: text }),
}

/** Searched among the members of the organization, because its administrators see no other users. */
const MEMBER: Subject = {
  ...NEW_MEMBER,
  members: ['user_id'],
  async find(text, perform, known) {
    if (!isAddress(text)) return { user_id: text }
    const organization = String(known['organization_id'])
    const found = await perform<{ readonly members: readonly MemberDocument[] }>('member.list', {
      organization_id: organization,
      email: text,
    })
    const [member] = found.members
    if (member === undefined) {
      throw unknown(
        `There is no member ${text} in the organization ${organization}. See "grantor org members ${forShell(organization)}".`,
      )
    }
    return { user_id: member.user_id }
  },
}

/** The user of a filter. With an organization the user is searched among its members. */
const USER_FILTER: Subject = {
  ...MEMBER,
  meaning: 'only of this user: the e-mail address, the id, or the id at your application',
  find: (text, perform, known) => (known['organization_id'] === undefined ? USER : MEMBER).find(text, perform, known),
}
const CLIENT_FILTER: Subject = { ...NEW_CLIENT, meaning: 'only of this client: the client_id, or the name' }
const ORGANIZATION_FILTER: Subject = {
  ...ORGANIZATION,
  meaning: 'only of this organization: the id, or the name',
}

/** The records that the path parameters of tasks name. A parameter that is not here is given as it is. */
const BY_PARAMETER: Readonly<Record<string, Subject>> = {
  client_id: CLIENT,
  credential_id: ADMIN_CREDENTIAL,
  kid: KEY,
  organization_id: ORGANIZATION,
  resource: API,
  user_id: USER,
}

/** The same below the path of an organization. */
const BY_PARAMETER_IN_ORGANIZATION: Readonly<Record<string, Subject>> = { client_id: INSTALLED_CLIENT, user_id: MEMBER }

/** The subjects of a task: the records in its path, in order. */
export function subjectsOf(task: Task): readonly Subject[] {
  const parameters = pathParameters(task)
  const inOrganization = parameters.includes('organization_id') ? BY_PARAMETER_IN_ORGANIZATION : {}
  const given = task.gives ? { user_id: RECIPIENT } : {}
  const by: Readonly<Record<string, Subject>> = { ...BY_PARAMETER, ...given, ...inOrganization }
  return parameters.map((name) => by[name] ?? argumentOf(task.name, name))
}

/** A member that is an argument: `<grant>` for `grant_id`. Its meaning is the description in the schema. */
export function argumentOf(task: string, member: string): Subject {
  const { description = '', options } = requireTask(task).input.shape[member] as z.ZodType & Partial<z.ZodEnum>
  const choices = options?.map(String)
  const meaning = description.charAt(0).toLowerCase() + description.slice(1).replace(/\.$/, '')
  const name = member.replace(/_id$/, '').replaceAll('_', '-')
  const listed = choices === undefined ? meaning : `${meaning}: ${choices.join(', ')}`
  return { ...plain(name, member, listed, name === member ? `<${name}>` : '<id>'), choices }
}

const FILTERS: Readonly<Record<string, Subject>> = {
  client_id: CLIENT_FILTER,
  user_id: USER_FILTER,
  organization_id: ORGANIZATION_FILTER,
}

/** The filters of a list: the records in its query. `within` adds its own option for the organization. */
export function filtersOf(task: Task, within: string | undefined): readonly Subject[] {
  return Object.entries(FILTERS).flatMap(([member, filter]) => {
    const isFilter = member in task.input.shape && placeOf(task, member) === 'query'
    return isFilter && !(within !== undefined && member === 'organization_id') ? [filter] : []
  })
}
