import { unknown } from '../admin/admin-error.ts'
import type { UserDocument } from '../admin/describe-user.ts'
import type { MemberDocument } from '../admin/member-tasks.ts'
import { parseUserId } from '../protocol/ids.ts'
import type { Members, PerformTask } from './perform-task.ts'

/** What a verb is about: typed alone or behind `--<name>`. */
export interface Subject {
  readonly name: string
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

export const CLIENT = plain('id', 'client_id', 'its client_id')
export const CLIENT_OF_ORGANIZATION = plain('client', 'client_id', 'the client_id')
export const ORGANIZATION = plain('organization', 'organization_id', 'the id of the organization')
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
    const { users } = await perform<{ readonly users: readonly UserDocument[] }>('user.list', { email: text })
    const [user] = users
    if (user === undefined) throw unknown(`There is no user with the address ${text}. See "grantor user list".`)
    return { user_id: user.user_id }
  },
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
