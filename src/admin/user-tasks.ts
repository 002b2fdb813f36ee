import * as z from 'zod'
import type { UserRecord } from '../ports/records/user.ts'
import { describeUser, USER } from './describe-user.ts'
import { before, EMAIL, LIMIT, NAME, NEXT, PASSWORD, USER_ID } from './fields.ts'
import { JWT_ACCEPTANCE, withDeletion, withJwtAcceptance } from './jwt-acceptance.ts'
import { defineTask, type Task, type TaskContext } from './task.ts'
import {
  createUser,
  deleteUser,
  disableUser,
  enableUser,
  revokeTokensOfUser,
  findUser,
  listUsers,
  setPassword,
} from './users.ts'

const PATH = '/admin/v1/users'
const ONE = z.object({ user_id: USER_ID })

/** A task that changes one user and returns the changed user. */
function change(
  verb: string,
  summary: string,
  run: (context: TaskContext, id: string) => Promise<UserRecord>,
): Task<typeof ONE, typeof USER> {
  return defineTask({
    name: `user.${verb}`,
    method: 'POST',
    path: `${PATH}/{user_id}/${verb}`,
    access: 'write',
    anyClock: verb === 'disable',
    summary,
    input: ONE,
    output: USER,
    run: async (context, { user_id }) => describeUser(await run(context, user_id)),
  })
}

const ENDED_USER = USER.extend(JWT_ACCEPTANCE).meta({ id: 'EndedUser' })

/** A change that revokes the sessions and tokens of the user. */
function end(
  verb: string,
  summary: string,
  run: (context: TaskContext, id: string) => Promise<UserRecord>,
): Task<typeof ONE, typeof ENDED_USER> {
  return defineTask({
    ...change(verb, summary, run),
    output: ENDED_USER,
    run: async (context, { user_id }) => describeEnded(context, await run(context, user_id)),
  })
}

function describeEnded(context: TaskContext, user: UserRecord): Promise<z.output<typeof ENDED_USER>> {
  return withJwtAcceptance(context, describeUser(user), user)
}

export const USER_TASKS: readonly Task[] = [
  defineTask({
    name: 'user.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: 'List the users, newest first.',
    input: z.object({
      limit: LIMIT,
      before: before(USER_ID),
      email: EMAIL.optional().describe('Only the user with this address.'),
    }),
    output: z.object({ users: z.array(USER), next: NEXT }),
    async run(context, page) {
      const { rows, next } = await listUsers(context, { ...page, before: page.before })
      return { users: rows.map(describeUser), next: next ?? null }
    },
  }),
  defineTask({
    name: 'user.show',
    method: 'GET',
    path: `${PATH}/{user_id}`,
    access: 'read',
    summary: 'Show everything about a user except the password.',
    input: ONE,
    output: USER,
    run: async (context, { user_id }) => describeUser(await findUser(context, user_id)),
  }),
  defineTask({
    name: 'user.create',
    method: 'POST',
    path: PATH,
    access: 'write',
    creates: true,
    summary: 'Create a user.',
    input: z.object({
      email: EMAIL,
      password: PASSWORD,
      name: NAME.optional().describe('The name of the user, as the pages show it.'),
    }),
    output: USER,
    run: async (context, { email, password, name }) =>
      describeUser(await createUser(context, { email, password, name })),
  }),
  defineTask({
    name: 'user.set-password',
    method: 'PUT',
    path: `${PATH}/{user_id}/password`,
    access: 'write',
    summary: 'Set a new password, and revoke all sessions and grants of the user.',
    input: ONE.extend({ password: PASSWORD }),
    output: ENDED_USER,
    run: async (context, { user_id, password }) =>
      describeEnded(context, await setPassword(context, user_id, password)),
  }),
  end('disable', 'Disable a user: sessions and tokens of the user stop working.', disableUser),
  change('enable', 'Enable a disabled user. Revoked sessions and tokens stay revoked.', enableUser),
  end('revoke-tokens', 'Revoke all sessions and tokens of a user.', revokeTokensOfUser),
  defineTask({
    name: 'user.delete',
    method: 'DELETE',
    path: `${PATH}/{user_id}`,
    access: 'write',
    summary: 'Delete a user with all sessions, memberships and consents. Tokens of the user stop working.',
    input: ONE,
    output: z.object({ user_id: z.string(), email: z.string(), deleted: z.literal(true), ...JWT_ACCEPTANCE }),
    async run(context, { user_id }) {
      const { id, email } = await deleteUser(context, user_id)
      return withDeletion(context, { user_id: id, email, deleted: true as const })
    },
  }),
]
