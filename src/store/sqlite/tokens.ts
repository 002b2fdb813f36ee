import type { DatabaseSync } from 'node:sqlite'
import type { OpaqueTokenRecord } from '../../ports/records/api.ts'
import type { GrantRecord } from '../../ports/records/grant.ts'
import type { GrantId, OpaqueTokenId } from '../../protocol/ids.ts'
import { decideRotation } from '../../protocol/token/refresh-rotation.ts'
import { opaqueTokenOf } from '../nouns/token/access-tokens.ts'
import { recordOf } from '../rows.ts'
import { shared } from '../shared/statement.ts'
import { GRANTS, NEW_GRANT } from '../nouns/token/grants.ts'
import type { Handlers } from './handlers.ts'
import { prepareRow } from './row.ts'
import { slotOf } from './slot.ts'

export function tokenStatements(database: DatabaseSync) {
  const redeem = database.prepare(
    shared(
      // It does not read grants: SQLite would copy the row first. `or fail`, not abort: SQLite would copy each page first, so that it can undo a
      // part of the rows.
      `insert or fail into grants (slot, ${NEW_GRANT.names})
       select :slot, ${NEW_GRANT.parameters}
       from authorizations where authorization_id = :grant_id and code_hash = :code_hash and status = 'approved' and expires_at > :now
       on conflict do nothing`,
    ).sqlite,
  )
  const redeemed = database.prepare(
    `select 1 from authorizations join grants on grant_id = authorization_id where authorization_id = ? and code_hash = ?`,
  )
  const names = GRANTS.columns.map(({ name }) => name)
  const findAtSlot = prepareRow(database, names, 'from grants where slot = ? and grant_id = ?')
  const findById = prepareRow(database, names, 'from grants where grant_id = ?')
  const revoke = database.prepare('update grants set revoked_at = ? where grant_id = ? and revoked_at is null')
  const part = database.prepare('update grants set held_for = ? where grant_id = ?')
  const rotateAtSlot = prepareRotation('slot = ?4 and grant_id = ?5')
  const rotateById = prepareRotation('grant_id = ?5')

  function prepareRotation(place: string) {
    return database.prepare(
      `update grants set generation = generation + 1, live_hash = ?1, rotated_at = ?2, idle_expires_at = ?3,
         key_thumbprint = ?8, key_generation = case when key_thumbprint is ?8 then key_generation else generation + 1 end,
         network = ?9, held_for = null
       where ${place} and generation = ?6 and live_hash = ?7 and coalesce(key_thumbprint, ?8) is ?8 and coalesce(held_for, ?9) = ?9
         and revoked_at is null and idle_expires_at > ?2 and expires_at > ?2`,
    )
  }

  function find(id: GrantId): GrantRecord | undefined {
    return recordOf(findAtSlot(slotOf(id), id) ?? findById(id), GRANTS.read)
  }

  return {
    redeemCode({ codeHash, now, grant }) {
      const values = NEW_GRANT.write(grant)
      const isRedeemedAt = (slot: number | null): boolean => redeem.run(slot, ...values, codeHash, now).changes === 1
      // SQLite chooses the row number if another grant has that of the id.
      if (isRedeemedAt(slotOf(grant.id)) || isRedeemedAt(null)) return 'redeemed'
      if (redeemed.get(grant.id, codeHash) === undefined) return 'unknown'
      // RFC 6749 §4.1.2: if a code is presented twice, the tokens issued for it are revoked.
      return revoke.run(now, grant.id).changes === 1 ? 'replayed' : 'spent'
    },
    rotateRefreshToken(rotation) {
      const { grantId, generation, presentedHash, successorHash, now, idleExpiresAt, key = null, network } = rotation
      const place = [slotOf(grantId), grantId] as const
      const values = [successorHash, now, idleExpiresAt, ...place, generation, presentedHash, key, network] as const
      if (rotateAtSlot.run(...values).changes === 1) return { kind: 'rotated', rotatedAt: now }
      const atSlot = findAtSlot(...place)
      if (atSlot === undefined && rotateById.run(...values).changes === 1) return { kind: 'rotated', rotatedAt: now }
      const outcome = decideRotation(recordOf(atSlot ?? findById(grantId), GRANTS.read), rotation)
      if (outcome.kind === 'reused') revoke.run(now, grantId)
      // The row is as it was read, because the transaction is the only one that writes.
      if (outcome.kind === 'parted') part.run(network, grantId)
      return outcome
    },
    findGrant: find,
  } satisfies Partial<Handlers> & Record<string, unknown>
}

/** Opaque access tokens. */
export function opaqueTokenStatements(database: DatabaseSync) {
  const issue = database.prepare(
    'insert into opaque_tokens (token_id, token_hash, facts) values (?, ?, ?) on conflict (token_id) do nothing',
  )
  const find = database.prepare('select * from opaque_tokens where token_id = ?')

  return {
    issueToken({ id, hash, facts }) {
      issue.run(id, hash, JSON.stringify(facts))
      return 'issued'
    },
    findOpaqueToken: (id: OpaqueTokenId): OpaqueTokenRecord | undefined => recordOf(find.get(id), opaqueTokenOf),
  } satisfies Partial<Handlers> & Record<string, unknown>
}

/** Revocations of grants and of single access tokens. */
export function revocationStatements(database: DatabaseSync) {
  const revokeGrant = database.prepare('update grants set revoked_at = ? where grant_id = ? and revoked_at is null')
  const hasGrant = database.prepare('select 1 from grants where grant_id = ?')
  const revokeToken = database.prepare(
    'insert into revoked_tokens (token_id, expires_at) values (?, ?) on conflict (token_id) do nothing',
  )
  const find = database.prepare('select 1 from revoked_tokens where token_id = ?')

  return {
    revokeGrant({ id, now }) {
      if (revokeGrant.run(now, id).changes === 1) return 'revoked'
      return hasGrant.get(id) === undefined ? 'unknown' : 'known'
    },
    revokeToken: ({ tokenId, expiresAt }) => (revokeToken.run(tokenId, expiresAt).changes === 1 ? 'revoked' : 'known'),
    isTokenRevoked: (tokenId: string): boolean => find.get(tokenId) !== undefined,
  } satisfies Partial<Handlers> & Record<string, unknown>
}

/** The replay store: digests of values that are accepted once. */
export function consumedStatements(database: DatabaseSync) {
  const insert = database.prepare(
    'insert into consumed (digest, expires_at) values (?, ?) on conflict (digest) do nothing',
  )
  const remove = database.prepare('delete from consumed where digest = ?')

  return {
    consumeOnce(keys) {
      const added = keys.filter(({ digest, expiresAt }) => insert.run(digest, expiresAt).changes === 1)
      if (added.length === keys.length) return 'fresh'
      for (const { digest } of added) remove.run(digest)
      return 'seen'
    },
  } satisfies Partial<Handlers>
}
