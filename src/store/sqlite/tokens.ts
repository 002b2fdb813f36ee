import type { DatabaseSync } from 'node:sqlite'
import type { GrantRecord } from '../../ports/records/grant.ts'
import type { GrantFilter, Page } from '../../ports/store.ts'
import type { GrantId } from '../../protocol/ids.ts'
import { NO_SCOPE } from '../../protocol/scope.ts'
import { decideRotation } from '../refresh-rotation.ts'
import { grantOf, recordOf, type Row } from '../rows.ts'
import type { Handlers } from './handlers.ts'
import { slotOf } from './slot.ts'

export function tokenStatements(database: DatabaseSync) {
  const redeem = database.prepare(
    `update authorizations set status = 'redeemed', grant_id = ?
     where authorization_id = ? and code_hash = ? and status = 'approved' and expires_at > ?`,
  )
  const redeemed = database.prepare(
    `select grant_id from authorizations where authorization_id = ? and code_hash = ? and status = 'redeemed'`,
  )
  // The hash is also stored in `previous_hash`, where the first rotation will put it: a row that became longer would need
  // another page.
  const insert = database.prepare(
    `insert into grants (slot, grant_id, client_id, user_id, organization_id, scope, resources, created_at, expires_at,
       revoked_at, generation, live_hash, previous_hash, rotated_at, idle_expires_at, ungranted_scope)
     values (iif(exists (select 1 from grants where slot = ?1), null, ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, null, ?10, ?11,
       ?11, ?12, ?13, ?14)`,
  )
  const findAtSlot = database.prepare('select * from grants where slot = ? and grant_id = ?')
  const findById = database.prepare('select * from grants where grant_id = ?')
  const listAll = database.prepare('select * from grants where grant_id < ? order by grant_id desc limit ?')
  const listOfUser = database.prepare(
    `select * from grants where user_id = ?1 and grant_id < ?2
       and (?3 is null or client_id = ?3) and (?4 is null or organization_id = ?4)
     order by grant_id desc limit ?5`,
  )
  const listOfOrganization = database.prepare(
    `select * from grants where organization_id = ?1 and grant_id < ?2 and (?3 is null or client_id = ?3)
     order by grant_id desc limit ?4`,
  )
  const listOfClient = database.prepare(
    'select * from grants where client_id = ? and grant_id < ? order by grant_id desc limit ?',
  )
  const revoke = database.prepare('update grants set revoked_at = ? where grant_id = ? and revoked_at is null')
  const rotateAtSlot = prepareRotation('slot = ?4 and grant_id = ?5')
  const rotateById = prepareRotation('grant_id = ?5')

  function prepareRotation(place: string) {
    return database.prepare(
      `update grants set generation = generation + 1, previous_hash = live_hash, live_hash = ?1, rotated_at = ?2, idle_expires_at = ?3
       where ${place} and generation = ?6 and live_hash = ?7 and revoked_at is null and idle_expires_at > ?2 and expires_at > ?2`,
    )
  }

  function find(id: GrantId): GrantRecord | undefined {
    return recordOf(findAtSlot.get(slotOf(id), id) ?? findById.get(id), grantOf)
  }

  /** Searches by the filter that leaves the fewest rows. */
  function list({ before, limit, userId, organizationId, clientId }: Page<GrantId> & GrantFilter) {
    const start = before ?? '~'
    if (userId !== undefined) return listOfUser.all(userId, start, clientId ?? null, organizationId ?? null, limit)
    if (organizationId !== undefined) return listOfOrganization.all(organizationId, start, clientId ?? null, limit)
    return clientId === undefined ? listAll.all(start, limit) : listOfClient.all(clientId, start, limit)
  }

  return {
    redeemCode({ id, codeHash, now, grant }) {
      if (redeem.run(grant.id, id, codeHash, now).changes === 1) {
        const { family } = grant
        insert.run(
          slotOf(grant.id),
          grant.id,
          grant.clientId,
          grant.userId,
          grant.organizationId ?? null,
          grant.scope,
          JSON.stringify(grant.resources),
          grant.createdAt,
          grant.expiresAt,
          family?.generation ?? null,
          family?.liveHash ?? null,
          family?.rotatedAt ?? null,
          family?.idleExpiresAt ?? null,
          grant.ungrantedScope === NO_SCOPE ? null : grant.ungrantedScope,
        )
        return 'redeemed'
      }
      const spent = redeemed.get(id, codeHash) as Row | undefined
      if (spent === undefined) return 'unknown'
      // RFC 6749 §4.1.2: if a code is presented twice, the tokens issued for it are revoked.
      revoke.run(now, spent['grant_id'] ?? null)
      return 'replayed'
    },
    rotateRefreshToken(rotation) {
      const { grantId, generation, presentedHash, successorHash, now, idleExpiresAt } = rotation
      const values = [successorHash, now, idleExpiresAt, slotOf(grantId), grantId, generation, presentedHash] as const
      if (rotateAtSlot.run(...values).changes === 1 || rotateById.run(...values).changes === 1) {
        return { kind: 'rotated', rotatedAt: now }
      }
      const outcome = decideRotation(find(grantId), rotation)
      if (outcome.kind === 'reused') revoke.run(now, grantId)
      return outcome
    },
    findGrant: find,
    listGrants: (page: Page<GrantId> & GrantFilter): readonly GrantRecord[] =>
      list(page).map((row) => grantOf(row as Row)),
  } satisfies Partial<Handlers> & Record<string, unknown>
}
