import * as z from 'zod'
import type { RoleRecord } from '../../ports/records/role.ts'
import { nameUser } from '../../protocol/sign-in/account.ts'
import type { Context } from '../../ports/context.ts'
import { CONSOLE_CLIENT_ID } from '../../protocol/client/console.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { EpochMs } from '../../base/brand.ts'
import { forShell } from '../../base/shell.ts'
import { consoleOf } from '../../users/role.ts'
import { conflict, conflictIn, type AdminError } from '../admin-error.ts'
import { ISO, ISO_OR_NULL, iso, isoOrNull } from '../../base/iso.ts'
import { LIMIT, NEXT, ORGANIZATION_ID, pageStart, USER_ID } from '../fields.ts'
import { findNames, NAMES } from '../names.ts'
import { requireOrganization } from '../organization/organization.ts'
import { listPage } from '../page.ts'
import { tableOf } from '../../answers/table.ts'
import { REACH, reachOver, requireLasting } from '../administrators.ts'
import { defineTask, type Task } from '../task.ts'
import { hasSecondFactor } from './role-holder.ts'
import { changedMeanwhile, noSuchUser, requireUser } from './user.ts'

/** What an administrator may do who is a person. */
export const ROLE_ACCESSES = ['read', 'support', 'users', 'write'] as const
export const ACCESS_TEXT =
  'read: everything except secrets. support: see users, their sessions, apps and events; invite them, mail links, unlock, end sessions, revoke grants, reset the app, disable and enable; no account with a role. users: also change, delete and hand links of users, and members. write: everything.'

const PATH = '/admin/v1/users/{user_id}/role'
const ONE = z.object({ user_id: USER_ID })

const { row, table } = tableOf<RoleRecord>()

/** A role in an answer. */
export const ROLE = table({
  user_id: row(z.string(), ({ userId }) => userId),
  access: row(z.enum(ROLE_ACCESSES), ({ access }) => access),
  organization_id: row(
    z.string().nullable().describe('The one organization that the role is for; null: the whole server.'),
    ({ organizationId }) => organizationId ?? null,
  ),
  loopback_only: row(
    z.boolean().describe('The role counts only while the issuer is a loopback address.'),
    ({ isLoopbackOnly }) => isLoopbackOnly,
  ),
  set_at: row(ISO, ({ setAt }) => iso(setAt)),
})
export const ROLE_DOCUMENT = z.object(ROLE.shape).meta({ id: 'Role' })

export type RoleDocument = z.output<typeof ROLE_DOCUMENT>

const LISTED_ROLE = ROLE_DOCUMENT.extend({
  reach: REACH,
  has_second_factor: z
    .boolean()
    .nullable()
    .describe(
      'Whether the account has an authenticator app or a passkey. The console needs two factors. null: your application states them.',
    ),
  signed_in_at: ISO_OR_NULL.describe(
    'When the user last signed in to the console. null: never, or so long ago that the grant was removed.',
  ),
}).meta({ id: 'ListedRole' })

export type ListedRoleDocument = z.output<typeof LISTED_ROLE>

/** A session of the console is the grant of its sign-in (decision 0041). */
async function findSignIn({ store }: Context, userId: UserId): Promise<EpochMs | undefined> {
  const [grant] = await store.listGrants({ userId, clientId: CONSOLE_CLIENT_ID, before: undefined, limit: 1 })
  return grant?.createdAt
}

const SET_ROLE = ROLE_DOCUMENT.extend({
  previous: ROLE_DOCUMENT.nullable().describe('The role that was replaced; null: the user had none.'),
  console_url: z.string().nullable().describe('The address of the console; null: it is off.'),
  link_ended: z
    .boolean()
    .describe(
      'Whether an invitation or another link that an administrator handed over ended: its reader would have the role.',
    ),
}).meta({ id: 'SetRole' })

export type SetRoleDocument = z.output<typeof SET_ROLE>

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
            ...ROLE.show(role),
            // Whatever it is in: with a role it is as far out of reach as with a protected group.
            reach: reachOver(context.administrator, { role, memberships: [], protectedGroups: [] }),
            has_second_factor:
              context.settings.delegate === undefined ? await hasSecondFactor(context, role.userId) : null,
            signed_in_at: isoOrNull(await findSignIn(context, role.userId)),
          })),
        ),
        findNames(context, {
          users: rows.map(({ userId }) => userId),
          organizations: rows.map(({ organizationId }) => organizationId),
        }),
      ])
      return { roles, names, next }
    },
  }),
  defineTask({
    name: 'role.set',
    method: 'PUT',
    path: PATH,
    access: 'write',
    touches: 'account',
    gives: true,
    summary: 'Let a user use the console. Another role of the user is replaced, and a link from before ends.',
    needsRecentSignIn: true,
    input: ONE.extend({
      access: z.enum(ROLE_ACCESSES).describe(ACCESS_TEXT),
      organization_id: ORGANIZATION_ID.optional().describe(
        'The one organization that the role is for, whose grants the user sees; by default the whole server.',
      ),
      loopback_only: z
        .boolean()
        .default(false)
        .describe('Whether the role counts only while the issuer is a loopback address, for a trial.'),
      confirmed: z
        .boolean()
        .default(false)
        .describe(
          'Set a role that lasts although an administrator for a trial, or with less than write access, prepared the account, and may be able to sign in to it.',
        ),
    }),
    output: SET_ROLE,
    async run(context, input) {
      const { user_id: userId, access, organization_id: organizationId, loopback_only: isLoopbackOnly } = input
      if (!isLoopbackOnly) requireLasting(context.administrator, 'set a role that counts elsewhere too')
      if (organizationId !== undefined) await requireOrganization(context, organizationId)
      const previous = (await context.store.findRole(userId)) ?? null
      const role = { userId, access, organizationId, isLoopbackOnly, setAt: context.clock() }
      const links = await context.store.listLinks(userId)
      const hasLink = links.some(({ origin, expiresAt }) => origin === 'operator' && expiresAt > context.clock())
      const outcome = await context.store.setRole({ ...role, previous, isConfirmed: input.confirmed })
      if (outcome === 'conflict') throw changedMeanwhile(userId)
      if (outcome === 'unknown') throw noSuchUser(userId)
      if (outcome === 'prepared') throw preparedAccount(userId)
      return {
        ...ROLE.show(role),
        previous: previous && ROLE.show(previous),
        console_url: consoleOf(context) ?? null,
        link_ended: hasLink,
      }
    },
  }),
  defineTask({
    name: 'role.remove',
    method: 'DELETE',
    path: PATH,
    access: 'write',
    touches: 'account',
    summary: 'End the role of a user: the console refuses the next request.',
    input: ONE,
    output: z.object({ user_id: z.string(), removed: z.literal(true) }),
    async run(context, { user_id }) {
      const user = await requireUser(context, user_id)
      const outcome = await context.store.removeRole({ userId: user_id })
      if (outcome === 'removed') return { user_id, removed: true as const }
      throw conflict(`${nameUser(user)} has no role. See "grantor role list".`)
    },
  }),
]

/** The error for a first role that lasts, or protected group, of an account that was prepared by an administrator with bounds, perhaps to sign in to it (threats.md CON-37). */
export function preparedAccount(userId: UserId): AdminError {
  return conflictIn(
    'confirmed',
    `An administrator for a trial, or with less than write access, created this account, set its password or its address, or made a link for it, and may be able to sign in to it. Who did: grantor audit list --user ${forShell(userId)}. Create another account, or be sure of this one and confirm (--yes).`,
    'false',
  )
}
