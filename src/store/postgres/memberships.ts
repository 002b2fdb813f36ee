import type { MembershipKey } from '../../ports/operation-inputs.ts'
import type { MembershipRecord } from '../../ports/records/organization.ts'
import { MEMBERSHIP_LIMIT, type Page, type Reads } from '../../ports/store.ts'
import type { Input } from '../../ports/operations.ts'
import type { OrganizationId, UserId } from '../../protocol/ids.ts'
import { membershipKey } from '../operation-table.ts'
import { membershipOf } from '../rows.ts'
import { columns } from './column-parameters.ts'
import type { Database } from './database.ts'
import { openKeyedBatchLoader } from './batch-loader.ts'
import { changeRow, eachAlone, type Handlers } from './handlers.ts'

const INSERT = {
  name: 'insert-membership',
  text: `insert into memberships (user_id, organization_id, created_at, disabled_at, valid_from)
    select $1, $2, $3::bigint, $4::bigint, $5::bigint
    where (select count(*) from (select 1 from memberships where user_id = $1 limit $6) as known) < $6
    on conflict (user_id, organization_id) do nothing returning user_id`,
}
const DISABLE = {
  name: 'disable-membership',
  text: `update memberships set disabled_at = coalesce(disabled_at, $3), valid_from = greatest(valid_from, $3)
    where user_id = $1 and organization_id = $2 returning user_id`,
}
const ENABLE = {
  name: 'enable-membership',
  text: `update memberships set disabled_at = null,
      valid_from = case when disabled_at is null then valid_from else greatest(valid_from, $3) end
    where user_id = $1 and organization_id = $2 returning user_id`,
}
const DELETE = {
  name: 'delete-membership',
  text: 'delete from memberships where user_id = $1 and organization_id = $2 returning user_id',
}
const FIND = {
  name: 'find-memberships',
  text: `select m.* from unnest($1::text[], $2::text[]) as i (user_id, organization_id)
    join memberships as m on m.user_id = i.user_id and m.organization_id = i.organization_id`,
}
const LIST_OF_USER = {
  name: 'list-memberships-of-user',
  text: 'select * from memberships where user_id = $1 order by organization_id limit $2',
}
const LIST_OF_ORGANIZATION = {
  name: 'list-memberships-of-organization',
  text: 'select * from memberships where organization_id = $1 and user_id < $2 order by user_id desc limit $3',
}

/** The rows that a change of a membership touches. Changes of one kind run one after the other in one wave. */
const sharing = {
  keys: (key: MembershipKey) => [membershipKey(key), key.userId, key.organizationId],
  isShared: true,
} as const

export function membershipStatements(database: Database) {
  const handlers = {
    addMember: {
      ...sharing,
      run: eachAlone(async (query, membership: MembershipRecord) => {
        const { userId, organizationId, createdAt, disabledAt, notBefore } = membership
        const row = [userId, organizationId, createdAt, disabledAt ?? null, notBefore]
        if ((await query(INSERT, [...row, MEMBERSHIP_LIMIT])).length === 1) return 'added'
        const found = await query(FIND, [[userId], [organizationId]])
        return found.length === 0 ? 'too-many' : 'member-already'
      }),
    },
    disableMember: {
      ...sharing,
      run: eachAlone((query, { userId, organizationId, now }: Input<'disableMember'>) =>
        changeRow(query, DISABLE, [userId, organizationId, now]),
      ),
    },
    enableMember: {
      ...sharing,
      run: eachAlone((query, { userId, organizationId, now }: Input<'enableMember'>) =>
        changeRow(query, ENABLE, [userId, organizationId, now]),
      ),
    },
    removeMember: {
      ...sharing,
      run: eachAlone(async (query, { userId, organizationId }: MembershipKey) =>
        (await query(DELETE, [userId, organizationId])).length === 1 ? 'removed' : 'unknown',
      ),
    },
  } satisfies Partial<Handlers>
  const reads = {
    findMembership: openKeyedBatchLoader(membershipKey, async (keys: readonly MembershipKey[]) => {
      const rows = await database.query(
        FIND,
        columns(
          keys,
          ({ userId }) => userId,
          ({ organizationId }) => organizationId,
        ),
      )
      return rows.map((row) => membershipOf(row))
    }),
    async listMemberships(userId: UserId): Promise<readonly MembershipRecord[]> {
      return (await database.query(LIST_OF_USER, [userId, MEMBERSHIP_LIMIT])).map((row) => membershipOf(row))
    },
    async listMembers({
      organizationId,
      before,
      limit,
    }: Page<UserId> & { readonly organizationId: OrganizationId }): Promise<readonly MembershipRecord[]> {
      const rows = await database.query(LIST_OF_ORGANIZATION, [organizationId, before ?? '~', limit])
      return rows.map((row) => membershipOf(row))
    },
  } satisfies Partial<Reads>
  return { handlers, reads }
}
