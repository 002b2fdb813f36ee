import type { InstallationKey, MembershipKey } from '../../ports/operations/organization.ts'
import type { Reads } from '../../ports/store.ts'
import type { OrganizationId, SessionId, UserId } from '../../protocol/ids.ts'
import type { Belonging } from '../../protocol/access/belonging.ts'
import { readBelonging } from '../nouns/organization/group-members.ts'
import { installationKey, INSTALLATIONS } from '../nouns/organization/installations.ts'
import { membershipKey, MEMBERSHIPS } from '../nouns/organization/memberships.ts'
import { ORGANIZATIONS } from '../nouns/organization/organizations.ts'
import { SESSIONS } from '../nouns/user/sessions.ts'
import { USERS } from '../nouns/user/users.ts'
import { openBatchLoader, openKeyedBatchLoader } from './batch-loader.ts'
import { columns } from './connection/column-parameters.ts'
import type { Database } from './connection/database.ts'

const FIND_USERS = { name: 'find-users', text: 'select * from users where user_id = any($1::text[])' }
const FIND_SESSIONS = { name: 'find-sessions', text: 'select * from sessions where session_id = any($1::text[])' }
const FIND_ORGANIZATIONS = {
  name: 'find-organizations',
  text: 'select * from organizations where organization_id = any($1::text[])',
}
const FIND_MEMBERSHIPS = {
  name: 'find-memberships',
  text: `select m.* from unnest($1::text[], $2::text[]) as i (user_id, organization_id)
    join memberships as m on m.user_id = i.user_id and m.organization_id = i.organization_id
    /*citus where m.user_id = any($1::text[])*/`,
}
const FIND_BELONGINGS = {
  name: 'find-belongings',
  text: `select user_id, group_id, source, created_at, expires_at from group_members where user_id = any($1::text[])
    union all select user_id, organization_id, null, null, null from memberships
    where user_id = any($1::text[]) and disabled_at is null`,
}
const FIND_INSTALLATIONS = {
  name: 'find-installations',
  text: `select n.* from unnest($1::text[], $2::text[]) as i (client_id, organization_id)
    join installations as n on n.client_id = i.client_id and n.organization_id = i.organization_id
    /*citus where n.client_id = any($1::text[])*/`,
}

/** Finds the records of a turn, each kind with one statement. */
export function recordReads({ query }: Pick<Database, 'query'>) {
  return {
    findUser: openBatchLoader(async (ids: readonly UserId[]) => (await query(FIND_USERS, [ids])).map(USERS.read)),
    findSession: openBatchLoader(async (ids: readonly SessionId[]) =>
      (await query(FIND_SESSIONS, [ids])).map(SESSIONS.read),
    ),
    findOrganization: openBatchLoader(async (ids: readonly OrganizationId[]) =>
      (await query(FIND_ORGANIZATIONS, [ids])).map(ORGANIZATIONS.read),
    ),
    findMembership: openKeyedBatchLoader(membershipKey, async (keys: readonly MembershipKey[]) => {
      const ids = columns(keys, 'userId', 'organizationId')
      return (await query(FIND_MEMBERSHIPS, ids)).map(MEMBERSHIPS.read)
    }),
    findBelonging: openKeyedBatchLoader(
      ({ userId }: Pick<Belonging, 'userId'>) => userId,
      async (keys: readonly Pick<Belonging, 'userId'>[]) => {
        const found = await query(FIND_BELONGINGS, [keys.map(({ userId }) => userId)])
        const own = Map.groupBy(found, (row) => row['user_id'])
        return keys.map(({ userId }) => readBelonging(userId, own.get(userId) ?? []))
      },
    ),
    findInstallation: openKeyedBatchLoader(installationKey, async (keys: readonly InstallationKey[]) => {
      const ids = columns(keys, 'clientId', 'organizationId')
      return (await query(FIND_INSTALLATIONS, ids)).map(INSTALLATIONS.read)
    }),
  } satisfies { readonly [Name in keyof Reads]?: unknown }
}
