import type * as z from 'zod'
import { AdminError } from '../../admin/admin-error.ts'
import { findByName, isAddress, type Referred, type Seeker } from '../../admin/find-by-name.ts'
import { pathParameters, placeOf, type Task } from '../../admin/task.ts'
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

/** How a record is found by what people call it. */
interface Named {
  readonly name: string
  readonly argument?: string
  readonly placeholder: string
  readonly meaning: string
  readonly member: 'client_id' | 'organization_id' | 'user_id'
  /** The record is looked for in the organization that was found before. */
  readonly isWithin?: true
  /** The task gives the user something. */
  readonly gives?: true
}

const REFERRED = { client_id: 'client', organization_id: 'organization', user_id: 'user' } as const

/** A subject that is given by its id, or by what `findByName` finds. */
function named({ member, isWithin, gives, ...subject }: Named): Subject {
  return {
    ...subject,
    members: [member],
    async find(text, perform, known) {
      const within = isWithin === undefined ? undefined : String(known['organization_id'])
      const found = await findByName(seekerOf(perform, within), REFERRED[member], text, gives === true)
      if (found instanceof AdminError)
        throw new AdminError(found.message.split('\n').map(visible).join('\n'), found.kind)
      return { [member]: found }
    },
  }
}

function seekerOf(perform: PerformTask, within: string | undefined): Seeker {
  return {
    within,
    see: (referred) => (within === undefined ? LISTED[referred] : listedIn(within, referred)),
    async perform(task, input) {
      try {
        return await perform<Members>(task, input)
      } catch (cause) {
        // What the credentials may not look for is taken for an id.
        const isFact = cause instanceof ForbiddenError || (cause instanceof AdminError && cause.kind === 'unknown')
        if (isFact) return cause
        throw cause
      }
    },
  }
}

/** The commands that list the records. */
const LISTED: Readonly<Record<Referred, string>> = {
  client: 'See "grantor client list".',
  organization: 'See "grantor org list".',
  user: 'See "grantor user list".',
}

function listedIn(organization: string, referred: Referred): string {
  if (referred === 'client') return `See "grantor org installations ${forShell(organization)}".`
  return `See "grantor org members ${forShell(organization)}".`
}

const CLIENT_WORDS = { argument: 'client', placeholder: '<client>', member: 'client_id' } as const
const CLIENT = named({
  ...CLIENT_WORDS,
  name: 'id',
  meaning: 'the client_id, or the name when exactly one client has it',
})
export const NEW_CLIENT = named({ ...CLIENT_WORDS, name: 'client', meaning: 'the client_id, or the name' })
/** Searched among the clients of the organization, because its administrators see no others. */
const INSTALLED_CLIENT = named({
  ...CLIENT_WORDS,
  name: 'client',
  meaning: 'the client_id, or the name',
  isWithin: true,
})
export const ORGANIZATION = named({
  name: 'organization',
  argument: 'organization',
  placeholder: '<organization>',
  member: 'organization_id',
  meaning: 'the id of the organization, its name, or a domain of its provider',
})
export const NAME = plain('name', 'name', 'the name, as the consent page shows it', '<name>')
export const GROUP = plain('group', 'group_id', 'the id of the group', '<id>')
const API = plain('resource', 'resource', 'the identifier of the API', '<uri>')
const KEY = plain('key', 'kid', 'the id of the key')
const ADMIN_CREDENTIAL = plain('id', 'credential_id', 'the id of the credentials, not the token')

const USER_WORDS = {
  name: 'email',
  placeholder: '<address>',
  meaning: 'the e-mail address or the id of the user, or the id at your application',
  member: 'user_id',
} as const
const USER = named(USER_WORDS)

/** The user of a task that gives: an address that may be of another person names none (threats.md CON-34). */
export const RECIPIENT = named({ ...USER_WORDS, gives: true })

/** A user who is not a member yet. */
export const NEW_MEMBER: Subject = {
  name: 'user',
  placeholder: '<address>',
  meaning: 'the e-mail address or the id of the user',
  members: ['email', 'user_id'],
  find: (text) => (isAddress(text) ? { email: text } : { user_id: text }),
}

/** Searched among the members of the organization, because its administrators see no other users. */
const MEMBER = named({
  name: 'user',
  placeholder: '<address>',
  meaning: 'the e-mail address or the id of the user',
  member: 'user_id',
  isWithin: true,
})

/** With an organization the user is searched among its members. */
export const USER_OR_MEMBER: Subject = {
  ...MEMBER,
  find: (text, perform, known) => (known['organization_id'] === undefined ? USER : MEMBER).find(text, perform, known),
}

/** The user of a filter. */
const USER_FILTER: Subject = {
  ...USER_OR_MEMBER,
  meaning: 'only of this user: the e-mail address, the id, or the id at your application',
}
/** The user about whose access a question is. */
export const EXPLAINED_USER: Subject = { ...USER_OR_MEMBER, meaning: USER_WORDS.meaning }
const CLIENT_FILTER: Subject = { ...NEW_CLIENT, meaning: 'only of this client: the client_id, or the name' }
const ORGANIZATION_FILTER: Subject = {
  ...ORGANIZATION,
  meaning: 'only of this organization: the id, the name, or a domain of its provider',
}

/** The records that the path parameters of tasks name. A parameter that is not here is given as it is. */
const BY_PARAMETER: Readonly<Record<string, Subject>> = {
  client_id: CLIENT,
  credential_id: ADMIN_CREDENTIAL,
  group_id: GROUP,
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
