import * as z from 'zod'
import type { RoleRecord } from '../../ports/records/role.ts'
import { nameUser } from '../../protocol/sign-in/account.ts'
import { conflict } from '../admin-error.ts'
import { ISO, iso, LIMIT, NEXT, pageStart, USER_ID } from '../fields.ts'
import { findNames, NAMES } from '../names.ts'
import { listPage } from '../page.ts'
import { defineTask, type Task } from '../task.ts'
import { hasSecondFactor } from './role-holder.ts'
import { noSuchUser, requireUser } from './user.ts'

const PATH = '/admin/v1/users/{user_id}/role'
const ONE = z.object({ user_id: USER_ID })

/** A role in an answer. */
const ROLE_DOCUMENT = z
  .object({
    user_id: z.string(),
    access: z.enum(['read', 'write']),
    loopback_only: z.boolean().describe('The role counts only while the issuer is a loopback address.'),
    set_at: ISO,
  })
  .meta({ id: 'Role' })

export type RoleDocument = z.output<typeof ROLE_DOCUMENT>

const LISTED_ROLE = ROLE_DOCUMENT.extend({
  has_second_factor: z
    .boolean()
    .describe('Whether the account has an authenticator app or a passkey. The console needs two factors.'),
}).meta({ id: 'ListedRole' })

export type ListedRoleDocument = z.output<typeof LISTED_ROLE>

function describeRole({ userId, access, isLoopbackOnly, createdAt }: RoleRecord): RoleDocument {
  return { user_id: userId, access, loopback_only: isLoopbackOnly, set_at: iso(createdAt) }
}

/** The tasks on what users may do by the console. */
export const ROLE_TASKS: readonly Task[] = [
  defineTask({
    name: 'role.list',
    method: 'GET',
    path: '/admin/v1/roles',
    access: 'read',
    summary: 'List the users who may use the console, newest users first.',
    input: z.object({ limit: LIMIT, before: pageStart(USER_ID) }),
    output: z.object({ roles: z.array(LISTED_ROLE), names: NAMES, next: NEXT }),
    async run(context, page) {
      const { rows, next } = await listPage(
        async (slice) => (await context.store.listRoles(slice)).map((role) => ({ ...role, id: role.userId })),
        page,
      )
      const [roles, names] = await Promise.all([
        Promise.all(
          rows.map(async (role) => ({
            ...describeRole(role),
            has_second_factor: await hasSecondFactor(context, role.userId),
          })),
        ),
        findNames(context, { users: rows.map(({ userId }) => userId) }),
      ])
      return { roles, names, next }
    },
  }),
  defineTask({
    name: 'role.set',
    method: 'PUT',
    path: PATH,
    access: 'write',
    summary: 'Let a user use the console. Another role of the user is replaced.',
    input: ONE.extend({
      access: z.enum(['read', 'write']).describe('read: everything except secrets. write: everything.'),
      loopback_only: z
        .boolean()
        .default(false)
        .describe('true: the role counts only while the issuer is a loopback address, for a trial.'),
    }),
    output: ROLE_DOCUMENT,
    async run(context, { user_id: userId, access, loopback_only: isLoopbackOnly }) {
      const role = { userId, access, isLoopbackOnly, createdAt: context.clock() }
      if ((await context.store.setRole(role)) === 'unknown') throw noSuchUser(userId)
      return describeRole(role)
    },
  }),
  defineTask({
    name: 'role.remove',
    method: 'DELETE',
    path: PATH,
    access: 'write',
    summary: 'End the role of a user: the console refuses the next request.',
    input: ONE,
    output: z.object({ user_id: z.string(), removed: z.literal(true) }),
    async run(context, { user_id }) {
      const user = await requireUser(context, user_id)
      if ((await context.store.removeRole(user_id)) === 'removed') return { user_id, removed: true as const }
      throw conflict(`${nameUser(user)} has no role. See "grantor role list".`)
    },
  }),
]
